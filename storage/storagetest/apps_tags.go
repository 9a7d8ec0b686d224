package storagetest

import (
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

var tagRules = []appRule{
	{"SetTag adds a tag, and moves the one with the same app and name", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 3, "a", "b")
		setTags(t, s, tag("a", "live", appsvc.NewVersion(0)), tag("a", "test", appsvc.NewVersion(1)), tag("b", "live", appsvc.NewVersion(0)))
		setTags(t, s, tag("a", "live", appsvc.NewVersion(2)), tag("a", "live", appsvc.NewVersion(1)))
		checkEqual(t, "tags of a", read(t, s, tags(appsvc.TagQuery{AppID: "a"})), []appsvc.Tag{tag("a", "live", appsvc.NewVersion(1)), tag("a", "test", appsvc.NewVersion(1))})
		checkEqual(t, "tags of b", read(t, s, tags(appsvc.TagQuery{AppID: "b"})), []appsvc.Tag{tag("b", "live", appsvc.NewVersion(0))})
	}},
	{"a new version moves no tag", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 2, "a")
		setTags(t, s, tag("a", "live", appsvc.NewVersion(1)), tag("a", "old", appsvc.NewVersion(0)))
		add(t, s, newHead("a", 2), "")
		checkEqual(t, "tags", read(t, s, tags(appsvc.TagQuery{AppID: "a"})), []appsvc.Tag{tag("a", "live", appsvc.NewVersion(1)), tag("a", "old", appsvc.NewVersion(0))})
	}},
	{"DeleteTag removes that tag alone; one that is not there is ErrNotFound", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a", "b")
		kept := []appsvc.Tag{tag("a", "Live", appsvc.NewVersion(0)), tag("a", "live ", appsvc.NewVersion(0)), tag("a", "lives", appsvc.NewVersion(0))}
		setTags(t, s, append(kept, tag("a", "live", appsvc.NewVersion(0)), tag("b", "live", appsvc.NewVersion(0)))...)
		for _, want := range []error{nil, appsvc.ErrNotFound} {
			err := s.Update(ctx, func(w tx) error { return w.DeleteTag(ctx, "a", "live") })
			checkError(t, err, want, "DeleteTag(a, live)")
		}
		err := s.Update(ctx, func(w tx) error { return w.DeleteTag(ctx, "c", "live") })
		checkError(t, err, appsvc.ErrNotFound, "DeleteTag(c, live)")
		checkEqual(t, "tags of a", read(t, s, tags(appsvc.TagQuery{AppID: "a"})), kept)
		checkEqual(t, "tags of b", read(t, s, tags(appsvc.TagQuery{AppID: "b"})), []appsvc.Tag{tag("b", "live", appsvc.NewVersion(0))})
	}},
	{"a tag that was deleted can be set again", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 2, "a")
		setTags(t, s, tag("a", "live", appsvc.NewVersion(0)))
		update(t, s, func(w tx) error { return w.DeleteTag(ctx, "a", "live") })
		setTags(t, s, tag("a", "live", appsvc.NewVersion(1)))
		checkEqual(t, "tags", read(t, s, tags(appsvc.TagQuery{AppID: "a"})), []appsvc.Tag{tag("a", "live", appsvc.NewVersion(1))})
	}},
	{"tags go by name in byte order, after After and up to Limit", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "A", "a", "b")
		var set []appsvc.Tag
		for i := range oddNames {
			name := oddNames[i*7%len(oddNames)] // not in the order that is wanted
			set = append(set, tag("a", name, appsvc.NewVersion(0)), tag("A", name, appsvc.NewVersion(0)), tag("b", name+"b", appsvc.NewVersion(0)))
		}
		setTags(t, s, set...)
		for _, after := range append([]string{"", "A ", "aa", "\U0001f601"}, oddNames...) {
			for _, limit := range []int{0, 1, 4, len(oddNames) + 1} {
				var want []appsvc.Tag
				for _, name := range oddNames {
					if name > after && (limit == 0 || len(want) < limit) {
						want = append(want, tag("a", name, appsvc.NewVersion(0)))
					}
				}
				what := fmt.Sprintf("tags after %q, limit %d", after, limit)
				checkEqual(t, what, read(t, s, tags(appsvc.TagQuery{AppID: "a", After: after, Limit: limit})), want)
			}
		}
	}},
	{"Tags of a name holds that tag or nothing", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a", "b")
		set := []appsvc.Tag{tag("b", "b", appsvc.NewVersion(0))}
		for _, name := range oddNames {
			set = append(set, tag("a", name, appsvc.NewVersion(0)))
		}
		setTags(t, s, set...)
		for _, name := range oddNames {
			checkEqual(t, name, read(t, s, tags(appsvc.TagQuery{AppID: "a", Name: name})), []appsvc.Tag{tag("a", name, appsvc.NewVersion(0))})
			checkEqual(t, name+" after itself", read(t, s, tags(appsvc.TagQuery{AppID: "a", Name: name, After: name})), nil)
			checkEqual(t, name+" after what is before", read(t, s, tags(appsvc.TagQuery{AppID: "a", Name: name, After: " "})), []appsvc.Tag{tag("a", name, appsvc.NewVersion(0))})
		}
		for _, q := range []appsvc.TagQuery{{AppID: "a", Name: "absent"}, {AppID: "c"}, {AppID: "c", Name: "a"}, {AppID: ""}} {
			checkEqual(t, fmt.Sprintf("%+v", q), read(t, s, tags(q)), nil)
		}
	}},
	{"an app may have a thousand tags", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a")
		var want []appsvc.Tag
		for i := range 1000 {
			want = append(want, tag("a", fmt.Sprintf("t%03d", i), appsvc.NewVersion(0)))
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

func tag(appID, name string, v appsvc.Version) appsvc.Tag {
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
