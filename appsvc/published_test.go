package appsvc_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const publisher = "urn:vitrine:example.test"

// publishing has a store in which ann moderates everything, with a clock that ticks.
func publishing(t *testing.T) (storage.Store, *appsvc.Service, *appsvc.Session) {
	clock := time.UnixMilli(1_000_000)
	db := memory.New()
	svc := appsvc.New(db, &appsvc.Options{Now: func() time.Time { clock = clock.Add(time.Second); return clock }})
	return db, svc, svc.As(vitrine.Caller{URN: publisher + ":user=ann",
		Moderates: []string{publisher, "urn:vitrine:other.test"}})
}

// publish makes an app with two versions, whose tag points to the first one, with this title.
func publish(t *testing.T, by *appsvc.Session, title, group, tag string) string {
	t.Helper()
	app, err := by.CreateApp(t.Context(), appsvc.CreateAppRequest{Title: title, Groups: []string{group}})
	if err == nil {
		_, err = by.PutTag(t.Context(), appsvc.PutTagRequest{AppID: app.ID, Name: tag, Version: vitrine.NewVersion(0)})
	}
	if err == nil {
		retitle(t, by, app.ID, "a secret of "+title)
	}
	if err != nil {
		t.Fatal(err)
	}
	return app.ID
}

func retitle(t *testing.T, by *appsvc.Session, id, title string) {
	t.Helper()
	if _, err := by.Edit(t.Context(), id, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
		p.SetTitle(title)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// The list has what the key may read, by the titles that are published, whatever happens to tags and apps.
func TestListPublished(t *testing.T) {
	db, svc, ann := publishing(t)
	page := svc.As(vitrine.Caller{URN: publisher + ":user=page", Reads: []string{publisher + ":site=a"}, TagsOnly: true,
		Tags: []string{"live"}, PublicList: true})
	titles := func(by *appsvc.Session) string {
		t.Helper()
		var out []string
		for p, err := range by.AllPublished(t.Context(), appsvc.ListPublishedRequest{Tag: "live", Limit: 1}) {
			if err != nil {
				t.Fatal(err)
			}
			if p.Tag != "live" || p.UpdatedAt == 0 || p.PublishedAt < p.UpdatedAt {
				t.Errorf("%+v", p)
			}
			out = append(out, p.Title+" "+p.Version.String())
		}
		for fault, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(t.Context(), db) {
			t.Errorf("%+v, %v", fault, err)
		}
		return strings.Join(out, ", ")
	}
	is := func(want string) {
		t.Helper()
		if have := titles(page); have != want {
			t.Errorf("the page lists %s, want %s", have, want)
		}
	}
	is("")
	b := publish(t, ann, "b", publisher+":site=a", "live")
	a := publish(t, ann, "a", publisher+":site=a", "live")
	publish(t, ann, "draft", publisher+":site=a", "staging")
	elsewhere := publish(t, ann, "c", publisher+":site=b", "live")
	publish(t, ann, "other", "urn:vitrine:other.test", "live")
	long := strings.Repeat("z", 900)
	publish(t, ann, long, publisher+":site=a", "live")
	is("a 0, b 0, " + long + " 0")
	if have := titles(ann); have != "a 0, b 0, c 0, other 0, "+long+" 0" {
		t.Errorf("ann lists %s", have)
	}

	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(id string, v int64) {
		t.Helper()
		_, err := ann.PutTag(t.Context(), appsvc.PutTagRequest{AppID: id, Name: "live", Version: vitrine.NewVersion(v)})
		do(err)
	}
	put(b, 1)
	is("a 0, a secret of b 1, " + long + " 0")
	delivered, err := page.Deliver(t.Context(), "live", []string{b, elsewhere, "absent"})
	list, listErr := page.ListPublished(t.Context(), appsvc.ListPublishedRequest{Tag: "live"})
	if do(cmp.Or(err, listErr)); delivered[0].PublishedAt != list.Items[1].PublishedAt ||
		delivered[0].UpdatedAt != list.Items[1].UpdatedAt || delivered[0].PublishedAt == 0 ||
		delivered[0].PublishedAt <= delivered[0].UpdatedAt || delivered[1].PublishedAt != 0 {
		t.Errorf("delivered %+v, listed %+v", delivered, list)
	}
	put(b, 0)
	do(ann.DeleteTag(t.Context(), appsvc.DeleteTagRequest{AppID: a, Name: "live"}))
	is("b 0, " + long + " 0")
	put(a, 0)
	do(ann.DeleteApp(t.Context(), b))
	is("a 0, " + long + " 0")
	_, err = ann.UndeleteApp(t.Context(), b)
	do(err)
	is("a 0, b 0, " + long + " 0")
	// Its groups of now decide, and not those of the version.
	_, err = ann.Edit(t.Context(), elsewhere, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
		p.SetGroups(publisher + ":site=a")
		return nil
	})
	do(err)
	is("a 0, b 0, c 0, " + long + " 0")
	do(ann.DeleteApp(t.Context(), b))
	do(ann.EraseApp(t.Context(), b))
	is("a 0, c 0, " + long + " 0")
}

// Keys without the right, other tags, and wrong requests are refused.
func TestListPublishedRefuses(t *testing.T) {
	_, svc, ann := publishing(t)
	publish(t, ann, "a", publisher, "live")
	first, err := ann.ListPublished(t.Context(), appsvc.ListPublishedRequest{Tag: "live"})
	if err != nil || len(first.Items) != 1 || first.Next != "" {
		t.Fatalf("%+v, %v", first, err)
	}
	key := vitrine.Caller{URN: publisher + ":user=page", Reads: []string{publisher}, TagsOnly: true,
		Tags: []string{"live"}}
	lists := key
	lists.PublicList = true
	for name, c := range map[string]struct {
		by   vitrine.Caller
		in   appsvc.ListPublishedRequest
		want error
	}{
		"a key without list": {key, appsvc.ListPublishedRequest{Tag: "live"}, vitrine.ErrForbidden},
		"another tag":        {lists, appsvc.ListPublishedRequest{Tag: "staging"}, vitrine.ErrForbidden},
		"no tag": {vitrine.Caller{URN: publisher + ":user=x"}, appsvc.ListPublishedRequest{Tag: "?"},
			vitrine.ErrNotFound},
		"a limit":             {lists, appsvc.ListPublishedRequest{Tag: "live", Limit: 501}, vitrine.ErrInvalid},
		"a cursor":            {lists, appsvc.ListPublishedRequest{Tag: "live", After: "x"}, vitrine.ErrInvalid},
		"a caller of nothing": {vitrine.Caller{}, appsvc.ListPublishedRequest{Tag: "live"}, vitrine.ErrInvalid},
	} {
		if page, err := svc.As(c.by).ListPublished(t.Context(), c.in); !errors.Is(err, c.want) || len(page.Items) > 0 {
			t.Errorf("%s: %+v, %v", name, page, err)
		}
	}
}

// A page looks at 1,000 tags. The tags of a store of an older release are publisher as others are.
func TestListPublishedOfAnOlderStore(t *testing.T) {
	db, _, ann := publishing(t)
	group := func(i int) string { return fmt.Sprintf("%s:site=%t", publisher, i == 1100) }
	var ids []string
	for i := range 1101 {
		ids = append(ids, publish(t, ann, fmt.Sprintf("%04d", i), group(i), "live"))
	}
	if err := ann.DeleteApp(t.Context(), ids[3]); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(t.Context(), "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.DeleteRange(t.Context(), storage.Prefix("apps published/"))
	}); err != nil {
		t.Fatal(err)
	}
	audit := func() {
		t.Helper()
		for fault, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(t.Context(), db) {
			t.Errorf("%+v, %v", fault, err)
		}
	}
	audit()
	svc := appsvc.New(db, nil)
	page := svc.As(vitrine.Caller{URN: publisher + ":user=page", Reads: []string{group(1100)}, TagsOnly: true,
		Tags: []string{"live"}, PublicList: true})
	first, err := page.ListPublished(t.Context(), appsvc.ListPublishedRequest{Tag: "live"})
	if err != nil || len(first.Items) > 0 || first.Next == "" {
		t.Errorf("the first page looks at 1,000 apps of others, and is %+v, %v", first, err)
	}
	second, err := page.ListPublished(t.Context(), appsvc.ListPublishedRequest{Tag: "live", After: first.Next})
	if err != nil || len(second.Items) != 1 || second.Items[0].ID != ids[1100] || second.Next != "" {
		t.Errorf("the second page is %+v, %v", second, err)
	}
	var all []string
	for p, err := range svc.As(vitrine.Caller{URN: publisher + ":user=ann",
		Moderates: []string{publisher}}).AllPublished(
		t.Context(), appsvc.ListPublishedRequest{Tag: "live", Limit: 400}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p.ID)
	}
	if !slices.Equal(all, slices.Delete(slices.Clone(ids), 3, 4)) {
		t.Errorf("%d apps are listed", len(all))
	}
	if _, err := ann.UndeleteApp(t.Context(), ids[3]); err != nil {
		t.Fatal(err)
	}
	audit()
}
