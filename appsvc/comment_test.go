package appsvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

// rea reads site 1, and sue site 2.
var rea = vitrine.Caller{URN: network + ":user=rea", Reads: []string{site1}}
var sue = vitrine.Caller{URN: network + ":user=sue", Reads: []string{site2}}

// known knows ann, ben, rea, sue and far, who belongs to another network, and gone, who was disabled.
func known(_ context.Context, urn string) (vitrine.Caller, []string, error) {
	far := vitrine.Caller{URN: "urn:vitrine:far.test:user=far", Moderates: []string{site1}}
	for _, c := range []vitrine.Caller{ann, ben, rea, sue, far} {
		if c.URN == urn {
			return c, nil, nil
		}
	}
	if urn == network+":user=gone" {
		return vitrine.Caller{}, nil, vitrine.ErrForbidden
	}
	return vitrine.Caller{}, nil, vitrine.ErrNotFound
}

// talking is a workshop with people, and an app of it.
func talking(t *testing.T) (*workshop, storage.Store, string) {
	w, db := releasing(t, appsvc.Options{Rights: known})
	w.component(`{"name":"text","version":"1.0.0","main":"/text.js","configSchema":{}}`)
	w.component(`{"name":"any","version":"1","main":"/any.js","configSchema":{}}`)
	return w, db, w.app().ID
}

func (w *workshop) comment(by vitrine.Caller, in appsvc.CreateCommentRequest) appsvc.Comment {
	w.t.Helper()
	if in.Text == "" {
		in.Text = "too long"
	}
	c, err := w.As(by).CreateComment(context.Background(), in)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *workshop) resolve(by vitrine.Caller, app, id string, resolved bool) (appsvc.Comment, error) {
	return w.As(by).UpdateComment(context.Background(),
		appsvc.UpdateCommentRequest{AppID: app, ID: id, Resolved: &resolved})
}

// comments are the ids of the comments of an app, newest first, in pages of two.
func (w *workshop) comments(app string, open bool) (ids []string) {
	w.t.Helper()
	for c, err := range w.As(ann).AllComments(context.Background(),
		appsvc.ListCommentsRequest{AppID: app, Open: open, Limit: 2}) {
		if err != nil {
			w.t.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	return ids
}

func TestATalkAboutAField(t *testing.T) {
	ctx := context.Background()
	w, _, app := talking(t)
	begun := w.clock.UnixMilli()
	c := w.comment(rea, appsvc.CreateCommentRequest{AppID: app, Element: "0.0", Pointer: "/size", Text: "<b>1</b>?",
		Mentions: []string{ann.URN, ann.URN}})
	want := appsvc.Comment{ID: "1", Version: vitrine.NewVersion(0), Element: "0.0", Pointer: "/size", Text: "<b>1</b>?",
		By: rea.URN, CreatedAt: begun, Mentions: []string{ann.URN}}
	if !reflect.DeepEqual(c, want) {
		t.Fatalf("have %+v", c)
	}
	w.clock = w.clock.Add(time.Second)
	reply, err := w.As(ann).ReplyToComment(ctx, appsvc.ReplyRequest{AppID: app, Comment: "1", Text: "yes, @ben",
		Mentions: []string{ben.URN, ann.URN}})
	if err != nil || reply != (appsvc.Reply{ID: "1", Text: "yes, @ben", By: ann.URN, CreatedAt: begun + 1000}) {
		t.Fatalf("%+v, %v", reply, err)
	}
	text := "really 1?"
	if _, err = w.As(rea).UpdateComment(ctx,
		appsvc.UpdateCommentRequest{AppID: app, ID: "1", Text: &text}); err != nil {
		t.Fatal(err)
	}
	if c, err = w.resolve(ann, app, "1", true); err != nil {
		t.Fatal(err)
	}
	want.Text, want.EditedAt, want.ResolvedAt, want.ResolvedBy = text, begun+1000, begun+1000, ann.URN
	want.Mentions, want.Replies = []string{ann.URN, ben.URN}, []appsvc.Reply{reply}
	if !reflect.DeepEqual(c, want) {
		t.Fatalf("have %+v", c)
	}
	wire, err := json.Marshal(c)
	back := appsvc.Comment{}
	if err == nil {
		err = json.Unmarshal(wire, &back)
	}
	if err != nil || !reflect.DeepEqual(back, want) {
		t.Errorf("%s is read as %+v, %v", wire, back, err)
	}
	w.comment(rea, appsvc.CreateCommentRequest{AppID: app})
	wire, _ = json.Marshal(w.comment(ann, appsvc.CreateCommentRequest{AppID: app, Text: "plain"}))
	if want := fmt.Sprintf(`{"id":"3","version":"0","text":"plain","createdAt":%d,"replies":[],"mentions":[],`+
		`"element":null,"pointer":null,"by":{"urn":%q},"editedAt":null,"resolvedAt":null,"resolvedBy":null}`,
		begun+1000, ann.URN); string(wire) != want {
		t.Errorf("have %s\nwant %s", wire, want)
	}
	if all, open := w.comments(app, false), w.comments(app, true); !slices.Equal(all, []string{"3", "2", "1"}) ||
		!slices.Equal(open, []string{"3", "2"}) {
		t.Errorf("all %q, open %q", all, open)
	}
	list, err := w.As(rea).ListApps(ctx, appsvc.ListAppsRequest{Summary: true})
	if err != nil || list.Items[0].OpenComments != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if err := w.As(rea).DeleteComment(ctx, app, "2"); err != nil {
		t.Fatal(err)
	}
	if c := w.comment(rea, appsvc.CreateCommentRequest{AppID: app}); c.ID != "4" {
		t.Errorf("the number of a removed comment is used again: %s", c.ID)
	}
	page, err := w.As(rea).Changes(ctx, appsvc.ChangesRequest{Types: []appsvc.ChangeType{appsvc.AppCommented}})
	var events []string
	for _, e := range page.Changes {
		events = append(events, fmt.Sprint(e.By[len(network)+6:], e.Comment, e.Mentions))
	}
	wantEvents := []string{"rea1[" + ann.URN + "]", "ann1[" + ben.URN + "]", "rea1[]", "ann1[]", "rea2[]", "ann3[]",
		"rea2[]", "rea4[]"}
	if err != nil || !slices.Equal(events, wantEvents) {
		t.Errorf("%q, %v", events, err)
	}
}

// A comment stays with its element while that is moved and changed, and through a time without it.
func TestACommentStaysWithItsElement(t *testing.T) {
	w, _, app := talking(t)
	w.comment(rea, appsvc.CreateCommentRequest{AppID: app, Element: "0.1", Pointer: "/list/0"})
	for _, step := range []struct {
		op   string // "" restores version 0
		gone bool
	}{{`{"op":"move","from":"/apps/0/elements/1","path":"/apps/0/elements/0"}`, false},
		{`{"op":"replace","path":"/apps/0/elements/0/config","value":{}}`, false},
		{`{"op":"remove","path":"/apps/0/elements/0"}`, true}, {"", false}} {
		if step.op != "" {
			w.patch(editor, app, step.op)
		} else if _, err := w.As(editor).Restore(context.Background(), appsvc.RestoreRequest{AppID: app,
			Version: vitrine.NewVersion(0)}); err != nil {
			t.Fatal(err)
		}
		page, err := w.As(rea).ListComments(context.Background(), appsvc.ListCommentsRequest{AppID: app})
		changed, wrong := w.resolve(ann, app, "1", false)
		if err != nil || wrong != nil || page.Items[0].Gone != step.gone || changed.Gone != step.gone {
			t.Errorf("after %s: %+v, %+v, %v, %v", step.op, page, changed, err, wrong)
		}
	}
	_, err := w.As(rea).CreateComment(context.Background(), appsvc.CreateCommentRequest{AppID: app, Text: "x",
		Element: "0.1", Version: vitrine.NewVersion(3)})
	wantCode(t, err, vitrine.CodeNotApplicable)
}

// What callers may do with the comment of rea: read, write one, change its text, resolve it, delete it. The letters are
// a yes, forbidden and not found.
func TestWhoMayComment(t *testing.T) {
	ctx := context.Background()
	key := func(c vitrine.Caller) vitrine.Caller { c.Key = "vt_1"; return c }
	agent := key(ann)
	agent.Agent = "writer"
	narrow := key(vitrine.Caller{URN: rea.URN, Moderates: []string{site1}, NotOwner: true})
	for name, test := range map[string]struct {
		by   vitrine.Caller
		want string
	}{
		"its author":                         {rea, "yyyyy"},
		"a key of the author that reads":     {key(rea), "yffff"},
		"a narrow key of the author":         {narrow, "yyfyf"},
		"who may change the app":             {ann, "yyfyf"},
		"a key of who may change the app":    {key(ann), "yyfyf"},
		"an agent of who may change the app": {agent, "yyfff"},
		"another reader": {vitrine.Caller{URN: network + ":user=x", Reads: []string{network}},
			"yyfff"},
		"somebody else":                     {sue, "nnnnn"},
		"who made it, and reads it no more": {vitrine.Caller{URN: rea.URN}, "nnnnn"},
		"a page": {vitrine.Caller{URN: rea.URN, Reads: []string{site1}, TagsOnly: true},
			"fffff"},
		"nobody": {vitrine.Caller{}, "iiiii"},
	} {
		w, _, app := talking(t)
		w.comment(rea, appsvc.CreateCommentRequest{AppID: app})
		text, yes := "changed", true
		s := w.As(test.by)
		_, list := s.ListComments(ctx, appsvc.ListCommentsRequest{AppID: app})
		made, create := s.CreateComment(ctx, appsvc.CreateCommentRequest{AppID: app, Text: "x"})
		_, reply := s.ReplyToComment(ctx, appsvc.ReplyRequest{AppID: app, Comment: "1", Text: "x"})
		_, edit := s.UpdateComment(ctx, appsvc.UpdateCommentRequest{AppID: app, ID: "1", Text: &text})
		_, resolve := s.UpdateComment(ctx, appsvc.UpdateCommentRequest{AppID: app, ID: "1", Resolved: &yes})
		remove := s.DeleteComment(ctx, app, "1")
		have := ""
		if made.Agent != test.by.Agent {
			t.Errorf("%s: made by %+v", name, made)
		}
		for _, err := range []error{list, create, edit, resolve, remove} {
			for letter, kind := range map[string]error{"f": vitrine.ErrForbidden, "n": vitrine.ErrNotFound,
				"i": vitrine.ErrInvalid} {
				if errors.Is(err, kind) {
					have += letter
				}
			}
			if err == nil {
				have += "y"
			}
		}
		if have != test.want || (reply == nil) != (create == nil) {
			t.Errorf("%s: %s, want %s; reply: %v", name, have, test.want, reply)
		}
	}
}

// Whoever cannot be mentioned gets one answer, whatever the reason.
func TestWhoIsMentioned(t *testing.T) {
	w, _, app := talking(t)
	said := map[string]bool{}
	for _, name := range []string{network + ":user=sue", network + ":user=nobody", network + ":user=gone",
		"urn:vitrine:far.test:user=far"} {
		_, err := w.As(rea).CreateComment(context.Background(), appsvc.CreateCommentRequest{AppID: app, Text: "x",
			Mentions: []string{ann.URN, name}})
		said[fmt.Sprintf("%#v", *wantCode(t, err, vitrine.CodeNotApplicable))] = true
		if len(said) > 1 {
			t.Errorf("%s is told apart: %v", name, said)
		}
	}
	many := slices.Repeat([]string{ann.URN}, 300)
	_, err := w.As(rea).CreateComment(context.Background(), appsvc.CreateCommentRequest{AppID: app, Text: "x",
		Mentions: many})
	wantCode(t, err, vitrine.CodeInvalid)
	if ids := w.comments(app, false); ids != nil {
		t.Errorf("stored: %q", ids)
	}
}

func TestCommentsHaveLimits(t *testing.T) {
	ctx := context.Background()
	w, db, app := talking(t)
	as := func(i int) *appsvc.Session {
		return w.As(vitrine.Caller{URN: fmt.Sprintf("%s:user=%d", network, i), Reads: []string{site1}})
	}
	post := func(i int) error {
		_, err := as(i).CreateComment(ctx, appsvc.CreateCommentRequest{AppID: app, Text: "x"})
		return err
	}
	for i := range 1000 {
		if err := post(i / 100); err != nil {
			t.Fatal(i, err)
		}
	}
	wantCode(t, post(5), vitrine.CodeLimit)
	wantCode(t, post(10), vitrine.CodeLimit) // of the app
	if _, err := w.resolve(ann, app, "1", true); err != nil {
		t.Fatal(err)
	}
	wantCode(t, post(5), vitrine.CodeLimit) // of the person
	if err := post(0); err != nil {
		t.Fatal(err)
	}
	_, err := w.resolve(ann, app, "1", false)
	wantCode(t, err, vitrine.CodeLimit)
	for i := range 100 {
		if _, err := as(i).ReplyToComment(ctx, appsvc.ReplyRequest{AppID: app, Comment: "1", Text: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = as(0).ReplyToComment(ctx, appsvc.ReplyRequest{AppID: app, Comment: "1", Text: "x"})
	wantCode(t, err, vitrine.CodeLimit)
	put := func(counts string) {
		if err := db.Update(ctx, "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
			return tx.Put(ctx, storage.Entry{Key: "apps talk/" + app, Value: []byte(counts)})
		}); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"last":9999,"all":9999,"open":1}`)
	if err := post(11); err != nil {
		t.Fatal(err)
	}
	wantCode(t, post(11), vitrine.CodeLimit) // of resolved ones, too
	put(`{"last":10000,"all":1002,"open":1001}`)
	for text, want := range map[string]string{strings.Repeat("ü", 4096): "", strings.Repeat("ü", 4097): "invalid",
		"": "invalid", " \n": "invalid", "a\x00": "invalid", "\xff": "invalid"} {
		_, err := w.As(ann).CreateComment(ctx, appsvc.CreateCommentRequest{AppID: w.app().ID, Text: text})
		wantCode(t, err, want)
	}
	for _, in := range []appsvc.CreateCommentRequest{{Pointer: "/a"}, {Element: "0.0", Pointer: "a"},
		{Element: "0.0", Pointer: "/~"}, {Element: "0.0", Pointer: "/" + strings.Repeat("a", 1024)},
		{Mentions: []string{"ann"}}} {
		in.AppID, in.Text = app, "x"
		_, err := w.As(ann).CreateComment(ctx, in)
		wantCode(t, err, vitrine.CodeInvalid)
	}
	no := false
	for _, in := range []appsvc.UpdateCommentRequest{{}, {Text: new(string), Resolved: &no},
		{Resolved: &no, Mentions: []string{}}} {
		in.AppID, in.ID = app, "1"
		_, err := w.As(ann).UpdateComment(ctx, in)
		wantCode(t, err, vitrine.CodeInvalid)
	}
	for _, id := range []string{"0", "01", "+1", "10001", "x", "-1", ""} {
		wantCode(t, w.As(ann).DeleteComment(ctx, app, id), vitrine.CodeNotFound)
	}
}

// Of two who resolve a comment at the same time, one is its ResolvedBy, and both are told so.
func TestTwoResolveAComment(t *testing.T) {
	w, _, app := talking(t)
	w.comment(rea, appsvc.CreateCommentRequest{AppID: app})
	var all sync.WaitGroup
	have := make([]appsvc.Comment, 8)
	for i := range have {
		all.Go(func() {
			var err error
			if have[i], err = w.resolve([]vitrine.Caller{ann, ben}[i%2], app, "1", true); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, c := range have {
		if c.ResolvedBy == "" || c.ResolvedBy != have[0].ResolvedBy {
			t.Errorf("%+v", have)
		}
	}
	if c := w.comment(rea, appsvc.CreateCommentRequest{AppID: app}); c.ID != "2" {
		t.Errorf("%+v", c)
	}
}

// count returns how many records of a store have a text in the key or the value.
func count(t *testing.T, db storage.Store, prefix, text string) (n int) {
	t.Helper()
	err := db.View(context.Background(), func(r storage.Reader) error {
		n = 0
		for e, err := range r.Scan(context.Background(), storage.Prefix(prefix)) {
			if err != nil {
				return err
			}
			if strings.Contains(e.Key+string(e.Value), text) {
				n++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCommentsAreErased(t *testing.T) {
	ctx := context.Background()
	w, db, a := talking(t)
	b := w.app().ID
	for _, app := range []string{a, b} {
		w.comment(rea, appsvc.CreateCommentRequest{AppID: app, Text: "secret of rea", Mentions: []string{ben.URN}})
		w.comment(ann, appsvc.CreateCommentRequest{AppID: app, Text: "of ann"})
		for _, by := range []vitrine.Caller{rea, ben} {
			if _, err := w.As(by).ReplyToComment(ctx, appsvc.ReplyRequest{AppID: app, Comment: "2",
				Text: "secret of " + by.URN, Mentions: []string{ann.URN, by.URN}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.As(ann).DeleteApp(ctx, b); err != nil {
		t.Fatal(err)
	}
	if err := w.EraseComments(ctx, rea.URN); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"secret of rea": 0, "secret of " + rea.URN: 0, "of ann": 2,
		"secret of " + ben.URN: 2} {
		if n := count(t, db, "apps comment/", text); n != want {
			t.Errorf("%d comments with %q, want %d", n, text, want)
		}
	}
	for _, kind := range []string{"commenter/", "commented/", "open/", "mentioned/"} {
		if n := count(t, db, "apps "+kind, rea.URN); n != 0 {
			t.Errorf("%d records %s of rea", n, kind)
		}
	}
	page, err := w.As(ann).ListComments(ctx, appsvc.ListCommentsRequest{AppID: a})
	if err != nil || len(page.Items) != 1 || len(page.Items[0].Replies) != 1 ||
		!slices.Equal(page.Items[0].Mentions, []string{ben.URN}) {
		t.Errorf("%+v, %v", page, err)
	}
	if err := w.As(ann).EraseApp(ctx, b); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"comment/", "talk/", "commenter/", "commented/", "open/", "mentioned/"} {
		if n := count(t, db, "apps "+kind, b); n != 0 {
			t.Errorf("%d records %s of the erased app", n, kind)
		}
	}
}

// The audit finds each record of comments that is missing, and one that no Service has written.
func TestTheAuditOfComments(t *testing.T) {
	w, db, app := talking(t)
	w.comment(rea, appsvc.CreateCommentRequest{AppID: app, Mentions: []string{ann.URN}})
	change := func(entries ...storage.Entry) {
		if err := db.Update(context.Background(), "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
			for _, e := range entries {
				err := tx.Delete(context.Background(), e.Key)
				if err == nil && e.Value != nil {
					err = tx.Put(context.Background(), e)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	var kept []storage.Entry
	for _, kind := range []string{"comment/", "talk/", "open/", "mentioned/", "commenter/", "commented/"} {
		if err := db.View(context.Background(), func(r storage.Reader) error {
			for e, err := range r.Scan(context.Background(), storage.Prefix("apps "+kind)) {
				if err != nil {
					return err
				}
				kept = append(kept, e)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) != 6 {
		t.Fatalf("%d records", len(kept))
	}
	audit := func() (n int) {
		for _, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(context.Background(), db) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	broken := func(was, is string) storage.Entry {
		return storage.Entry{Key: kept[0].Key, Value: []byte(strings.Replace(string(kept[0].Value), was, is, 1))}
	}
	wrong := []storage.Entry{broken(`"version":0`, `"version":1`), broken(rea.URN, "rea"), broken("too long", ""),
		broken("too long", strings.Repeat("x", 5000)), broken(`"text"`, `"pointer":"/a","text"`),
		broken(`"text"`, `"resolvedAt":1,"text"`), broken(`"text"`, `"element":"x","text"`),
		{Key: kept[1].Key, Value: []byte(`{"last":1,"all":1,"open":2}`)}, {Key: kept[2].Key, Value: []byte("x")},
		{Key: kept[0].Key + "0", Value: kept[0].Value}, {Key: kept[5].Key, Value: []byte(ann.URN)}}
	for _, e := range kept {
		wrong = append(wrong, storage.Entry{Key: e.Key})
	}
	for _, e := range wrong {
		if change(e); audit() == 0 {
			t.Errorf("no fault is found in %s %s", e.Key, e.Value)
		}
		change(storage.Entry{Key: e.Key})
		change(kept...)
	}
	if n := audit(); n != 0 {
		t.Errorf("%d faults at the end", n)
	}
}
