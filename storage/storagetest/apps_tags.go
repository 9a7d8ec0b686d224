package storagetest

import (
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var tagRules = []appRule{
	// An app has at most one tag of a name. Tags of the same name in other apps are not touched, and two calls in one
	// Update leave the second.
	{"SetTag adds a tag, or moves the tag of the same app and name", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 3, "a", "b")
		setTags(t, s, tag("a", "live", vitrine.NewVersion(0)), tag("a", "test", vitrine.NewVersion(1)), tag("b", "live", vitrine.NewVersion(0)))
		setTags(t, s, tag("a", "live", vitrine.NewVersion(2)), tag("a", "live", vitrine.NewVersion(1)))
		checkEqual(t, "tags of a", read(t, s, tags(appsvc.TagQuery{AppID: "a"})), []appsvc.Tag{tag("a", "live", vitrine.NewVersion(1)), tag("a", "test", vitrine.NewVersion(1))})
		checkEqual(t, "tags of b", read(t, s, tags(appsvc.TagQuery{AppID: "b"})), []appsvc.Tag{tag("b", "live", vitrine.NewVersion(0))})
	}},
	// A tag stays at its version until somebody moves it: this is what makes a tag usable as a release.
	{"a new version moves no tag", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 2, "a")
		setTags(t, s, tag("a", "live", vitrine.NewVersion(1)), tag("a", "old", vitrine.NewVersion(0)))
		add(t, s, newHead("a", 2), "")
		checkEqual(t, "tags", read(t, s, tags(appsvc.TagQuery{AppID: "a"})), []appsvc.Tag{tag("a", "live", vitrine.NewVersion(1)), tag("a", "old", vitrine.NewVersion(0))})
	}},
	// Tags with a similar name, and tags of this name in other apps, stay.
	{"DeleteTag removes one tag and nothing else; an absent tag is ErrNotFound", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a", "b")
		kept := []appsvc.Tag{tag("a", "Live", vitrine.NewVersion(0)), tag("a", "live ", vitrine.NewVersion(0)), tag("a", "lives", vitrine.NewVersion(0))}
		setTags(t, s, append(kept, tag("a", "live", vitrine.NewVersion(0)), tag("b", "live", vitrine.NewVersion(0)))...)
		for _, want := range []error{nil, vitrine.ErrNotFound} {
			err := s.Update(ctx, func(w tx) error { return w.DeleteTag(ctx, "a", "live") })
			checkError(t, err, want, "DeleteTag(a, live)")
		}
		err := s.Update(ctx, func(w tx) error { return w.DeleteTag(ctx, "c", "live") })
		checkError(t, err, vitrine.ErrNotFound, "DeleteTag(c, live)")
		checkEqual(t, "tags of a", read(t, s, tags(appsvc.TagQuery{AppID: "a"})), kept)
		checkEqual(t, "tags of b", read(t, s, tags(appsvc.TagQuery{AppID: "b"})), []appsvc.Tag{tag("b", "live", vitrine.NewVersion(0))})
	}},
	// Nothing of the deleted tag is left behind that could refuse the new one.
	{"a deleted tag can be set again", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 2, "a")
		setTags(t, s, tag("a", "live", vitrine.NewVersion(0)))
		update(t, s, func(w tx) error { return w.DeleteTag(ctx, "a", "live") })
		setTags(t, s, tag("a", "live", vitrine.NewVersion(1)))
		checkEqual(t, "tags", read(t, s, tags(appsvc.TagQuery{AppID: "a"})), []appsvc.Tag{tag("a", "live", vitrine.NewVersion(1))})
	}},
	// After need not be the name of a tag. Limit 0 means all.
	{"Tags yields tags by name in byte order, after the name After, and stops after Limit", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "A", "a", "b")
		var set []appsvc.Tag
		for i := range oddNames {
			name := oddNames[i*7%len(oddNames)] // each name once, and not in byte order
			set = append(set, tag("a", name, vitrine.NewVersion(0)), tag("A", name, vitrine.NewVersion(0)), tag("b", name+"b", vitrine.NewVersion(0)))
		}
		setTags(t, s, set...)
		for _, after := range append([]string{"", "A ", "aa", "\U0001f601"}, oddNames...) {
			for _, limit := range []int{0, 1, 4, len(oddNames) + 1} {
				var want []appsvc.Tag
				for _, name := range oddNames {
					if name > after && (limit == 0 || len(want) < limit) {
						want = append(want, tag("a", name, vitrine.NewVersion(0)))
					}
				}
				what := fmt.Sprintf("tags after %q, limit %d", after, limit)
				checkEqual(t, what, read(t, s, tags(appsvc.TagQuery{AppID: "a", After: after, Limit: limit})), want)
			}
		}
	}},
	// Name is compared byte by byte. After still applies: a tag is not after its own name.
	{"Tags with a Name yields that one tag or nothing", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a", "b")
		set := []appsvc.Tag{tag("b", "b", vitrine.NewVersion(0))}
		for _, name := range oddNames {
			set = append(set, tag("a", name, vitrine.NewVersion(0)))
		}
		setTags(t, s, set...)
		for _, name := range oddNames {
			checkEqual(t, name, read(t, s, tags(appsvc.TagQuery{AppID: "a", Name: name})), []appsvc.Tag{tag("a", name, vitrine.NewVersion(0))})
			checkEqual(t, name+" after itself", read(t, s, tags(appsvc.TagQuery{AppID: "a", Name: name, After: name})), nil)
			checkEqual(t, name+" after what is before", read(t, s, tags(appsvc.TagQuery{AppID: "a", Name: name, After: " "})), []appsvc.Tag{tag("a", name, vitrine.NewVersion(0))})
		}
		for _, q := range []appsvc.TagQuery{{AppID: "a", Name: "absent"}, {AppID: "c"}, {AppID: "c", Name: "a"}, {AppID: ""}} {
			checkEqual(t, fmt.Sprintf("%+v", q), read(t, s, tags(q)), nil)
		}
	}},
	// All of them are listed, in one query and in pages.
	{"an app may have a thousand tags", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a")
		var want []appsvc.Tag
		for i := range 1000 {
			want = append(want, tag("a", fmt.Sprintf("t%03d", i), vitrine.NewVersion(0)))
		}
		setTags(t, s, want...)
		checkEqual(t, "tags", read(t, s, tags(appsvc.TagQuery{AppID: "a"})), want)
		var paged []appsvc.Tag
		for q := (appsvc.TagQuery{AppID: "a", Limit: 99}); len(paged) < len(want); q.After = paged[len(paged)-1].Name {
			page := read(t, s, tags(q))
			paged = append(paged, page...)
			if len(page) == 0 {
				break
			}
		}
		checkEqual(t, "pages of tags", paged, want)
	}},
}

// tag returns a tag of an app that points to v.
func tag(appID, name string, v vitrine.Version) appsvc.Tag {
	return appsvc.Tag{AppID: appID, Name: name, AppVersion: v}
}

// setTags sets tags in one Update.
func setTags(t *testing.T, s appsvc.Store, tags ...appsvc.Tag) {
	t.Helper()
	update(t, s, func(w tx) error {
		for _, tag := range tags {
			if err := w.SetTag(ctx, tag); err != nil {
				return err
			}
		}
		return nil
	})
}

// addVersions stores apps with count versions each, in one Update.
func addVersions(t *testing.T, s appsvc.Store, count int, ids ...string) {
	t.Helper()
	update(t, s, func(w tx) error {
		for _, id := range ids {
			for v := range count {
				if err := w.AddVersion(ctx, newHead(id, v), bodyOf(newHead(id, v), "")); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
