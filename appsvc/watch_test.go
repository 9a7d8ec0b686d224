package appsvc_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A watch is woken by what its caller may see and asks for, and by nothing else; what it skips is nothing of that.
func TestWatchesAreWokenByWhatConcernsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		svc := appsvc.New(memory.New(), nil)
		const site1, site2 = "urn:vitrine:example.test:site=1", "urn:vitrine:example.test:site=2"
		user := func(name string, groups ...string) vitrine.Caller {
			return vitrine.Caller{URN: "urn:vitrine:example.test:user=" + name, Moderates: groups}
		}
		admin := user("admin", "urn:vitrine:example.test")
		admin.Components = true
		reader := user("reader")
		reader.Reads = []string{site1}
		one, err := svc.As(admin).CreateApp(ctx, appsvc.CreateAppRequest{Title: "One", Groups: []string{site1}})
		if err != nil {
			t.Fatal(err)
		}
		two, err := svc.As(user("owner", site2)).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: "Two", Groups: []string{site2}})
		if err != nil {
			t.Fatal(err)
		}
		type watch struct {
			name string
			next func(string) (string, <-chan struct{})
			by   vitrine.Caller
			in   appsvc.ChangesRequest
			at   string
			wake <-chan struct{}
		}
		var all []*watch
		read := func(w *watch) (events []appsvc.Event) {
			t.Helper()
			var from string
			from, w.wake = w.next(w.at)
			w.in.After = from
			page, err := svc.As(w.by).Changes(ctx, w.in)
			if err != nil {
				t.Fatal(err)
			}
			w.at = page.Next
			return page.Changes
		}
		for _, w := range []watch{
			{name: "all", by: admin}, {name: "reader", by: reader}, {name: "site2", by: user("two", site2)},
			{name: "owner", by: user("owner")}, {name: "key", by: notOwner(user("owner").URN)},
			{name: "app", by: admin, in: appsvc.ChangesRequest{AppID: one.ID}},
			{name: "hidden", by: reader, in: appsvc.ChangesRequest{AppID: two.ID}},
			{name: "tags", by: admin, in: appsvc.ChangesRequest{Types: []appsvc.ChangeType{appsvc.TagSet}}},
			{name: "left", by: reader, in: appsvc.ChangesRequest{Types: []appsvc.ChangeType{appsvc.AppLeft}}},
			{name: "nobody", by: user("nobody")},
		} {
			next, stop := svc.Watch(w.by, w.in)
			defer stop()
			w.next = next
			all = append(all, &w)
		}
		settle := func() {
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
		}
		settle()
		for _, w := range all {
			read(w)
		}
		expect := func(what string, want ...string) {
			t.Helper()
			settle()
			var woken []string
			for _, w := range all {
				select {
				case <-w.wake:
					woken = append(woken, w.name)
				default:
				}
				if events := read(w); (len(events) > 0) != slices.Contains(want, w.name) {
					t.Errorf("%s: %s reads %+v", what, w.name, events)
				}
			}
			if !slices.Equal(woken, want) {
				t.Errorf("%s wakes %q, want %q", what, woken, want)
			}
		}
		change := func(_ appsvc.App, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		expect("nothing")
		change(svc.As(admin).Edit(ctx, one.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
			p.SetTitle("One more")
			return nil
		}))
		expect("a change of one", "all", "reader", "app")
		change(svc.As(admin).Edit(ctx, two.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
			p.SetTitle("Two more")
			return nil
		}))
		expect("a change of two", "all", "site2", "owner")
		if _, err := svc.As(admin).PutTag(ctx,
			appsvc.PutTagRequest{AppID: two.ID, Name: "live", Version: vitrine.Latest}); err != nil {
			t.Fatal(err)
		}
		expect("a tag of two", "all", "site2", "owner", "tags")
		change(svc.As(admin).Edit(ctx, one.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
			p.SetGroups(site2)
			return nil
		}))
		expect("one moves", "all", "reader", "site2", "app", "left")
		if _, err := svc.As(admin).CreateComponent(ctx, appsvc.CreateComponentRequest{
			Manifest: strings.NewReader(`{"name":"c","version":"1","main":"/x.js","configSchema":{}}`)}); err != nil {
			t.Fatal(err)
		}
		expect("a component", "all", "reader", "site2", "owner", "key", "nobody")
	})
}

// Whoever follows meets what it may see once and in order, whatever it asks for, and however many others write.
func TestFollowersThatAreWokenSeldomMissNothing(t *testing.T) {
	const apps, changes = 6, 120
	ctx := t.Context()
	svc := appsvc.New(memory.New(), nil)
	group := func(i int) string { return fmt.Sprintf("urn:vitrine:example.test:site=%d", i) }
	admin := vitrine.Caller{URN: "urn:vitrine:example.test:user=admin", Moderates: []string{"urn:vitrine:example.test"}}
	var ids []string
	for i := range apps {
		app, err := svc.As(admin).CreateApp(ctx, appsvc.CreateAppRequest{Title: "App", Groups: []string{group(i)}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, app.ID)
	}
	type follower struct {
		by   vitrine.Caller
		in   appsvc.ChangesRequest
		got  []appsvc.Event
		done chan error
	}
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	const last = "last"
	var all []*follower
	for i := range 12 {
		f := &follower{by: admin, done: make(chan error, 1)}
		switch i % 4 {
		case 1:
			f.by = vitrine.Caller{URN: fmt.Sprintf("urn:vitrine:example.test:user=%d", i),
				Moderates: []string{group(i % apps)}}
		case 2:
			f.in.AppID = ids[i%apps]
		case 3:
			f.in.Types = []appsvc.ChangeType{appsvc.TagSet, appsvc.TagDeleted}
		}
		f.in.Limit = 1 + i%5
		all = append(all, f)
		go func() {
			for e, err := range svc.As(f.by).Follow(ctx, f.in) {
				if err != nil || e.Tag == last && e.Type == appsvc.TagDeleted {
					f.done <- err
					return
				}
				f.got = append(f.got, e)
			}
		}()
	}
	errs := make(chan error, apps)
	for _, id := range ids {
		go func() {
			var err error
			for n := 0; n < changes/apps && err == nil; n++ {
				_, err = svc.As(admin).Edit(ctx, id, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
					p.SetTitle(fmt.Sprint("App ", n))
					return nil
				})
				if n%5 == 0 {
					_, tagged := svc.As(admin).PutTag(ctx,
						appsvc.PutTagRequest{AppID: id, Name: "live", Version: vitrine.Latest})
					err = errors.Join(err, tagged)
				}
			}
			errs <- err
		}()
	}
	for range ids {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range ids {
		if _, err := svc.As(admin).PutTag(ctx,
			appsvc.PutTagRequest{AppID: id, Name: last, Version: vitrine.Latest}); err != nil {
			t.Fatal(err)
		}
		if err := svc.As(admin).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: last}); err != nil {
			t.Fatal(err)
		}
	}
	for i, f := range all {
		if err := <-f.done; err != nil {
			t.Fatalf("follower %d: %v", i, err)
		}
		f.in.Limit, f.in.After = 500, ""
		var want []appsvc.Event
		for more := true; more; {
			page, err := svc.As(f.by).Changes(ctx, f.in)
			if err != nil {
				t.Fatal(err)
			}
			want, more, f.in.After = append(want, page.Changes...), page.More, page.Next
		}
		end := slices.IndexFunc(want, func(e appsvc.Event) bool { return e.Tag == last && e.Type == appsvc.TagDeleted })
		if !reflect.DeepEqual(f.got, want[:end]) {
			t.Errorf("follower %d met %d changes, want %d", i, len(f.got), end)
		}
	}
}
