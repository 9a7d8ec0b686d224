package appsvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// office is a workshop of the people of a network: p0, p1 and so on, who moderate site 1, r0, who reads it, and x0, who
// has no rights. gave says who gave rights to whom.
func office(t *testing.T, people int, gave func() *givers) (*workshop, string) {
	rights := func(ctx context.Context, urn string) (vitrine.Caller, []string, error) {
		by, inviters, err := gave().rights(ctx, urn)
		switch name := urn[len(network+":user="):]; {
		case strings.HasPrefix(name, "r"):
			by.Moderates, by.Reads = nil, []string{site1}
		case strings.HasPrefix(name, "x"):
			by.Moderates = nil
		}
		return by, inviters, err
	}
	w, _ := releasing(t, appsvc.Options{Rights: rights,
		People: func(_ context.Context, of, query string) (list []appsvc.Person, err error) {
			if of != network {
				return nil, errors.New("another network")
			}
			for _, name := range append([]string{"r0", "x0"}, names(people)...) {
				if strings.Contains(name, query) {
					list = append(list, appsvc.Person{URN: personOf(name).URN, Name: name})
				}
			}
			return list, nil
		}})
	return w, w.tagged("live")
}

func names(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint("p", i))
	}
	return list
}

func called(list []appsvc.Person) (names []string) {
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names
}

func TestWhoCanBeMentioned(t *testing.T) {
	ctx := context.Background()
	gave := giversOf("p1!<")
	w, app := office(t, 40, func() *givers { return gave })
	list, err := w.As(personOf("p0")).Readers(ctx, app, "")
	if want := append([]string{"r0", "p0"}, names(20)[2:]...); err != nil ||
		!slices.Equal(called(list), append(want, "p20")[:20]) {
		t.Errorf("%q, %v", called(list), err)
	}
	list, err = w.As(personOf("p0")).Readers(ctx, app, "9")
	if err != nil || !slices.Equal(called(list), []string{"p9", "p19", "p29", "p39"}) {
		t.Errorf("%q, %v", called(list), err)
	}
	reads := vitrine.Caller{URN: network + ":user=r0", Reads: []string{site1}}
	_, err = w.As(reads).Readers(ctx, app, "")
	wantCode(t, err, vitrine.CodeForbidden)
	_, err = w.As(sue).Readers(ctx, app, "")
	wantCode(t, err, vitrine.CodeNotFound)
	_, err = w.As(personOf("p0")).Readers(ctx, app, strings.Repeat("x", 129))
	wantCode(t, err, vitrine.CodeInvalid)
}

// Whom Approvers lists, and nobody else, can be asked and can approve the release, and has it in the inbox, whoever
// gave rights to whom.
func TestApproversAreThoseWhoCanApprove(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	var gave *givers
	for round := range 60 {
		const people = 6
		text := ""
		for i := range people {
			if text += fmt.Sprint("p", i); rng.IntN(8) == 0 {
				text += "!"
			}
			text += "<"
			for range rng.IntN(3) {
				text += fmt.Sprint("p", rng.IntN(people), ",")
			}
			text = strings.TrimRight(text, ",") + " "
		}
		gave = giversOf(text)
		w, app := office(t, people, func() *givers { return gave })
		if err := w.SetTagRules(ctx, []appsvc.TagRule{
			{Name: "production", Approvals: 1, Independent: round%2 == 0}}); err != nil {
			t.Fatal(err)
		}
		rel := w.release(personOf("p0"), to(app, "production", 0))
		list, err := w.As(personOf("p5")).Approvers(ctx, rel.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(names(people), "r0", "x0") {
			by, listed := personOf(name), slices.Contains(called(list), name)
			if name[0] != 'p' {
				by.Moderates = nil
			}
			asked, wrong := w.As(personOf("p0")).UpdateRelease(ctx, appsvc.UpdateReleaseRequest{ID: rel.ID,
				Version: rel.Version, Name: rel.Name, Moves: rel.Moves, Ask: []string{by.URN}})
			if (wrong == nil) != listed {
				t.Errorf("%s: %s is listed: %t, and asked: %v", text, name, listed, wrong)
			}
			if wrong == nil {
				rel = asked
			}
			if gave.gone[name] {
				continue // who is disabled has no session
			}
			inbox, err := w.As(by).Inbox(ctx, appsvc.InboxRequest{})
			if waits := len(inbox.Items) > 0; err != nil || waits != listed {
				t.Errorf("%s: %s is listed: %t, and has %+v, %v", text, name, listed, inbox, err)
			}
		}
		for _, name := range names(people) {
			by := personOf(name)
			if gave.gone[name] {
				continue
			}
			approved, err := w.As(by).ApproveRelease(ctx, rel.ID, rel.Version)
			if listed := slices.Contains(called(list), name); (err == nil) != listed {
				t.Errorf("%s: %s is listed: %t, and approves: %v", text, name, listed, err)
			}
			if err == nil {
				rel = approved
			}
		}
	}
}

func TestWhomAReleaseAsks(t *testing.T) {
	ctx := context.Background()
	gave := giversOf("p1!< p2<p0")
	w, app := office(t, 5, func() *givers { return gave })
	create := func(by vitrine.Caller, ask ...string) (appsvc.Release, error) {
		for i, name := range ask {
			if !strings.Contains(name, ":") {
				ask[i] = personOf(name).URN
			}
		}
		return w.As(by).CreateRelease(ctx,
			appsvc.CreateReleaseRequest{Moves: []appsvc.ReleaseMove{to(app, "production", 0)},
				Ask: ask, IdempotencyKey: strings.Join(ask, "")})
	}
	said := map[string]bool{}
	for _, name := range []string{"p0", "p1", "p2", "r0", "x0", "nobody?", "urn:vitrine:far.test:user=far"} {
		gave.unknown["nobody?"] = true
		_, err := create(personOf("p0"), "p3", name)
		e := *wantCode(t, err, vitrine.CodeNotApplicable)
		said[fmt.Sprintf("%#v", e)] = true
	}
	if len(said) != 1 {
		t.Errorf("they are told apart: %v", said)
	}
	_, err := create(vitrine.Caller{URN: network + ":user=x0"}, "p3")
	wantCode(t, err, vitrine.CodeNotFound) // before anything about p3 is said
	_, err = create(personOf("p0"), "p3", "p3")
	wantCode(t, err, vitrine.CodeInvalid)
	rel, err := create(personOf("p0"), "p3", "p4")
	if err != nil || !slices.Equal(rel.Ask, []string{personOf("p3").URN, personOf("p4").URN}) {
		t.Fatalf("%+v, %v", rel, err)
	}
	gave.gone["p4"] = true
	again, err := create(personOf("p0"), "p3", "p4")
	if err != nil || again.ID != rel.ID {
		t.Errorf("the repeat: %+v, %v", again, err)
	}
	in := appsvc.UpdateReleaseRequest{ID: rel.ID, Version: rel.Version, Moves: rel.Moves, Ask: []string{rel.Ask[1]}}
	if rel, err = w.As(personOf("p3")).UpdateRelease(ctx, in); err != nil {
		t.Fatal(err) // p4 was asked before
	}
	if _, err := w.As(personOf("p3")).ApproveRelease(ctx, rel.ID, rel.Version); err != nil {
		t.Errorf("who changes whom to ask is no author: %v", err)
	}
}

func TestAnInbox(t *testing.T) {
	ctx := context.Background()
	gave := giversOf("")
	w, app := office(t, 3, func() *givers { return gave })
	tell := func(name string, in appsvc.InboxRequest) (out string) {
		t.Helper()
		inbox, err := w.As(personOf(name)).Inbox(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range inbox.Items {
			out += fmt.Sprintf("%s by %s; ", i.Kind, strings.TrimPrefix(i.By, network+":user="))
		}
		return out
	}
	check := func(name, want string) {
		t.Helper()
		if have := tell(name, appsvc.InboxRequest{}); have != want {
			t.Errorf("%s has %q, want %q", name, have, want)
		}
	}
	free := w.release(personOf("p0"), to(app, "live", 0))
	check("p1", "") // it needs no approval
	rel := w.release(personOf("p0"), to(app, "production", 0))
	check("p0", "")
	check("p1", "approve by p0; ")
	w.clock = w.clock.Add(time.Second)
	w.comment(personOf("p0"), appsvc.CreateCommentRequest{AppID: app, Mentions: []string{personOf("p1").URN}})
	check("p1", "mention by p0; approve by p0; ")
	w.clock = w.clock.Add(time.Second)
	rel, err := w.As(personOf("p1")).ApproveRelease(ctx, rel.ID, rel.Version)
	if err != nil {
		t.Fatal(err)
	}
	check("p1", "mention by p0; ")
	check("p0", "approved by p1; ")
	w.clock = w.clock.Add(time.Second)
	if err := w.As(personOf("p0")).SeeInbox(ctx, w.clock.Add(time.Hour).UnixMilli()); err != nil {
		t.Fatal(err)
	}
	check("p0", "")
	w.clock = w.clock.Add(time.Second)
	w.putTag(app, "live", vitrine.NewVersion(2))
	_, err = w.As(personOf("p2")).RunRelease(ctx, free.ID, free.Version)
	wantCode(t, err, vitrine.CodeConflicts)
	check("p0", "failed by ; ")
	w.clock = w.clock.Add(time.Second)
	if _, err := w.resolve(personOf("p2"), app, "1", true); err != nil {
		t.Fatal(err)
	}
	check("p1", "")
	if _, err := w.resolve(personOf("p2"), app, "1", false); err != nil {
		t.Fatal(err)
	}
	check("p1", "mention by p0; ")
	// in pages, each item once
	for i := range 9 {
		w.clock = w.clock.Add(time.Duration(i%2) * time.Second)
		w.comment(personOf("p0"),
			appsvc.CreateCommentRequest{AppID: w.tagged(), Mentions: []string{personOf("p1").URN}})
		w.release(personOf("p0"), to(app, "production", 0))
	}
	var all []appsvc.InboxItem
	for in := (appsvc.InboxRequest{Limit: 4}); ; {
		page, err := w.As(personOf("p1")).Inbox(ctx, in)
		if err != nil || len(page.Items) > 4 {
			t.Fatal(page, err)
		}
		all = append(all, page.Items...)
		if in.After = page.Next; in.After == "" {
			break
		}
	}
	whole, err := w.As(personOf("p1")).Inbox(ctx, appsvc.InboxRequest{})
	if err != nil || !reflect.DeepEqual(whole.Items, all) || len(all) != 19 {
		t.Errorf("%d in pages, %d in one: %v", len(all), len(whole.Items), err)
	}
	text, err := json.Marshal(whole)
	var back appsvc.Inbox
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil || !reflect.DeepEqual(back, whole) || !strings.HasSuffix(string(text), `"until":0,"next":null}`) {
		t.Errorf("%s, %v", text, err)
	}
	// An app that is out of sight takes its mentions with it.
	if err := w.As(personOf("p0")).DeleteApp(ctx, all[slices.IndexFunc(all, func(i appsvc.InboxItem) bool {
		return i.Kind == appsvc.InboxMention
	})].AppID); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(tell("p1", appsvc.InboxRequest{}), "mention"); n != 9 {
		t.Errorf("%d mentions", n)
	}
	key := personOf("p1")
	key.Key = "vt_1"
	_, err = w.As(key).Inbox(ctx, appsvc.InboxRequest{})
	wantCode(t, err, vitrine.CodeForbidden)
	wantCode(t, w.As(key).SeeInbox(ctx, 1), vitrine.CodeForbidden)
	wantCode(t, w.As(personOf("p1")).SeeInbox(ctx, 0), vitrine.CodeInvalid)
	_, err = w.As(personOf("p2")).Inbox(ctx, appsvc.InboxRequest{After: "x"})
	wantCode(t, err, vitrine.CodeInvalid)
}
