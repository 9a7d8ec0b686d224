package appsvc_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// tagged is an app of three versions, as the editor has it, with these tags at version 1.
func (w *workshop) tagged(names ...string) string {
	w.t.Helper()
	id := w.titledApp("x").ID
	for range 2 {
		if _, err := w.As(editor).Restore(context.Background(),
			appsvc.RestoreRequest{AppID: id, Version: vitrine.NewVersion(0)}); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, name := range names {
		w.putTag(id, name, vitrine.NewVersion(1))
	}
	return id
}

func (w *workshop) putTag(id, name string, v vitrine.Version) {
	w.t.Helper()
	if _, err := w.As(editor).PutTag(context.Background(),
		appsvc.PutTagRequest{AppID: id, Name: name, Version: v}); err != nil {
		w.t.Fatal(err)
	}
}

// tagVersion is the version that a tag points to, the zero Version if there is no tag.
func (w *workshop) tagVersion(id, name string) vitrine.Version {
	tag, err := w.As(editor).Tag(context.Background(), appsvc.TagRequest{AppID: id, Name: name})
	if err != nil {
		return vitrine.Version{}
	}
	return tag.AppVersion
}

func TestPutTagCreatesAndMoves(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id := w.tagged()
	for _, v := range []vitrine.Version{vitrine.NewVersion(1), vitrine.NewVersion(0), vitrine.NewVersion(2),
		vitrine.NewVersion(2), vitrine.Latest} {
		tag, err := w.As(editor).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: "live", Version: v, Embed: true})
		want := v
		if v == vitrine.Latest {
			want = vitrine.NewVersion(2)
		}
		if err != nil || tag.AppID != id || tag.Name != "live" || tag.AppVersion != want || tag.App == nil ||
			tag.App.Version != want {
			t.Errorf("put at %s: %+v, %v", v, tag, err)
		}
		if got := w.tagVersion(id, "live"); got != want {
			t.Errorf("put at %s: it points to %s", v, got)
		}
		app, err := w.As(editor).TaggedApp(ctx, id, "live")
		if err != nil || app.Version != want {
			t.Errorf("put at %s: the tagged app is version %s, %v", v, app.Version, err)
		}
	}
	for _, v := range []vitrine.Version{vitrine.NewVersion(3), vitrine.NewVersion(int64(1) << 40)} {
		_, err := w.As(editor).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: "live", Version: v})
		checkKind(t, err, vitrine.ErrNotFound)
	}
	if got := w.tagVersion(id, "live"); got.Number() != 2 {
		t.Errorf("a tag that could not be moved points to %s", got)
	}
}

func TestACallerForTagsReadsItsOwn(t *testing.T) {
	w := newWorkshop(t)
	id := w.tagged("live", "draft")
	by := vitrine.Caller{URN: network + ":user=t", Reads: []string{network}, TagsOnly: true, Tags: []string{"live"}}
	if app, err := w.As(by).TaggedApp(context.Background(), id, "live"); err != nil || app.ID != id {
		t.Errorf("its tag: %+v, %v", app, err)
	}
	for _, name := range []string{"draft", "none"} {
		_, err := w.As(by).TaggedApp(context.Background(), id, name)
		checkKind(t, err, vitrine.ErrForbidden)
	}
}

func TestTagsStayWhereTheyAre(t *testing.T) {
	w := newWorkshop(t)
	id, other := w.tagged("live"), w.tagged("live")
	w.regroup(id, []string{site1, site2})
	if _, err := w.As(admin).Restore(context.Background(),
		appsvc.RestoreRequest{AppID: id, Version: vitrine.NewVersion(0)}); err != nil {
		t.Fatal(err)
	}
	w.putTag(other, "live", vitrine.NewVersion(0))
	if got := w.tagVersion(id, "live"); got.Number() != 1 {
		t.Errorf("after a patch, a restore and another app's tag: %d, want 1", got)
	}
}

func TestDeleteTag(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id := w.tagged("live", "Live", "live2")
	for _, want := range []error{nil, vitrine.ErrNotFound} {
		checkKind(t, w.As(editor).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: "live"}), want)
	}
	if w.tagVersion(id, "live") != (vitrine.Version{}) || w.tagVersion(id, "Live").Number() != 1 ||
		w.tagVersion(id, "live2").Number() != 1 {
		t.Error("another tag is gone, or the one is still there")
	}
}

func TestTagNames(t *testing.T) {
	ctx := context.Background()
	for name, valid := range map[string]bool{
		"a": true, "_": true, "0": true, "A.b-c_d": true, "a..": true, "a-": true, strings.Repeat("x", 128): true,
		"": false, ".": false, "..": false, "-a": false, ".a": false, "a b": false, "a/b": false, "a%2Fb": false,
		"ä": false, "aä": false,
		"a\n": false, "\na": false, "a\x00": false, "\xff": false, "a:b": false, strings.Repeat("x", 129): false,
	} {
		w := newWorkshop(t)
		id := w.tagged("another")
		_, err := w.As(editor).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: name, Version: vitrine.NewVersion(1)})
		if valid != (err == nil) {
			t.Errorf("put %q: %v", name, err)
		}
		if valid {
			continue
		}
		checkKind(t, err, vitrine.ErrInvalid)
		_, err = w.As(editor).Tag(ctx, appsvc.TagRequest{AppID: id, Name: name, Embed: true})
		checkKind(t, err, vitrine.ErrNotFound)
		_, err = w.As(editor).TaggedApp(ctx, id, name)
		checkKind(t, err, vitrine.ErrNotFound)
		checkKind(t, w.As(editor).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: name}), vitrine.ErrNotFound)
		_, err = w.As(editor).TagsNamed(ctx, name, []string{id})
		checkKind(t, err, vitrine.ErrNotFound)
	}
}

func TestTagsAreListedByName(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	names := []string{"0", "10", "2", "A", "B", "_", "a", "a-", "a.", "aB", "ab", "b"}
	id := w.tagged("b", "_", "a.", "A", "ab", "10", "a", "0", "B", "a-", "2", "aB")
	w.putTag(id, "a", vitrine.NewVersion(2))
	for limit := range len(names) + 2 {
		var got []string
		in := appsvc.ListTagsRequest{AppID: id, Limit: limit, Embed: true}
		for more := true; more; {
			page, err := w.As(editor).ListTags(ctx, in)
			if err != nil || len(page.Items) == 0 || limit > 0 && len(page.Items) > limit {
				t.Fatalf("limit %d after %q: %+v, %v", limit, in.After, page, err)
			}
			for _, tag := range page.Items {
				got = append(got, tag.Name)
				if tag.App.Version != tag.AppVersion || tag.App.ID != id {
					t.Errorf("tag %+v comes with version %s", tag, tag.App.Version)
				}
			}
			more, in.After = page.Next != "", page.Next
		}
		if !slices.Equal(got, names) {
			t.Errorf("limit %d: %v, want %v", limit, got, names)
		}
	}
	page, err := w.As(editor).ListTags(ctx, appsvc.ListTagsRequest{AppID: w.tagged()})
	if err != nil || len(page.Items) > 0 || page.Next != "" {
		t.Errorf("of none: %+v, %v", page, err)
	}
}

func TestAPageOfTagsCountsTheAppsInIt(t *testing.T) {
	ctx := context.Background()
	w := bench(t, appsvc.Limits{PageBytes: 2500})
	id := w.titledApp(strings.Repeat("x", 1000)).ID
	for i := range 6 {
		w.putTag(id, fmt.Sprint("t", i), vitrine.NewVersion(0))
	}
	page, err := w.As(editor).ListTags(ctx, appsvc.ListTagsRequest{AppID: id})
	if err != nil || len(page.Items) != 6 || page.Next != "" || page.Items[0].App != nil {
		t.Errorf("tags alone: %d of 6, %v", len(page.Items), err)
	}
	page, err = w.As(editor).ListTags(ctx, appsvc.ListTagsRequest{AppID: id, Embed: true})
	if err != nil || len(page.Items) != 1 || page.Next == "" || page.Items[0].App == nil {
		t.Errorf("with apps of 1,000 bytes on a page of 2,500: %d tags, next %q, %v", len(page.Items), page.Next, err)
	}
}

func TestTagsNamed(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	first, second, without, hidden := w.tagged("live"), w.tagged("live"), w.tagged("Live"), w.tagged("live")
	w.putTag(second, "live", vitrine.NewVersion(2))
	w.regroup(hidden, []string{site2})
	by := moderator(site1)
	tag := func(id string, v vitrine.Version) appsvc.Tag {
		return appsvc.Tag{AppID: id, Name: "live", AppVersion: v}
	}
	many := slices.Repeat([]string{second}, 100)
	for _, test := range []struct {
		name string
		ids  []string
		want []appsvc.Tag
		err  error
	}{
		{"in the order asked for", []string{second, first},
			[]appsvc.Tag{tag(second, vitrine.NewVersion(2)), tag(first, vitrine.NewVersion(1))}, nil},
		{"each once", []string{first, second, first},
			[]appsvc.Tag{tag(first, vitrine.NewVersion(1)), tag(second, vitrine.NewVersion(2))}, nil},
		{"without those that have none, are hidden or absent",
			[]string{without, hidden, absentID, "", "versions", first}, []appsvc.Tag{tag(first, vitrine.NewVersion(1))},
			nil},
		{"nothing at all", []string{hidden}, nil, nil},
		{"of a hundred", many, []appsvc.Tag{tag(second, vitrine.NewVersion(2))}, nil},
		{"of a hundred and one", append(many, first), nil, vitrine.ErrInvalid},
		{"of none", nil, nil, vitrine.ErrInvalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := w.As(by).TagsNamed(ctx, "live", test.ids)
			checkKind(t, err, test.err)
			if !slices.Equal(got, test.want) {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

func TestAnAppHasOnlySoManyTags(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id, other := w.app().ID, w.app().ID
	for n := range 1000 {
		w.putTag(id, fmt.Sprint("tag-", n), vitrine.NewVersion(0))
	}
	before := w.everything(id)
	_, err := w.As(editor).PutTag(ctx,
		appsvc.PutTagRequest{AppID: id, Name: "one-more", Version: vitrine.NewVersion(0)})
	checkKind(t, err, vitrine.ErrUnprocessable)
	if after := w.everything(id); after != before {
		t.Error("the tag was stored all the same")
	}
	w.regroup(id, []string{site1, site2})
	w.putTag(id, "tag-7", vitrine.NewVersion(1)) // one that is there may be moved
	w.putTag(other, "one-more", vitrine.NewVersion(0))
	if err := w.As(editor).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: "tag-8"}); err != nil {
		t.Fatal(err)
	}
	w.putTag(id, "one-more", vitrine.NewVersion(0))
}
