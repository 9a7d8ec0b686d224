package storagetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var restorationRules = []appRule{
	// History shows by it from which version the content of a version came.
	{"a restoration belongs to one version of one app; other versions and apps yield none", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 3, "a", "b", "c")
		addRestored(t, s, "a", 3, 1)
		add(t, s, newHead("a", 4), "")
		addRestored(t, s, "b", 3, 0)
		checkEqual(t, "a", read(t, s, restorations(appsvc.VersionQuery{AppID: "a"})), []appsvc.Restoration{restored("a", 3, 1)})
		checkEqual(t, "b", read(t, s, restorations(appsvc.VersionQuery{AppID: "b"})), []appsvc.Restoration{restored("b", 3, 0)})
		for _, id := range []string{"c", "absent", ""} {
			checkEqual(t, id, read(t, s, restorations(appsvc.VersionQuery{AppID: id})), nil)
		}
	}},
	// Limit counts restorations, not versions: every second version of the test has none, and a driver that applies the
	// limit to versions returns too few.
	{"Restorations yields those of versions below Before, newest first, and stops after Limit restorations", func(t *testing.T, s appsvc.Store) {
		const count = 600
		addVersions(t, s, 1, "a", "b")
		var all []appsvc.Restoration
		update(t, s, func(w tx) error {
			all = nil
			for v := 1; v < count; v++ {
				h := newHead("a", v)
				if err := w.AddVersion(ctx, h, bodyOf(h, "")); err != nil {
					return err
				}
				if v%2 == 0 {
					continue
				}
				all = append(all, restored("a", v, v/2))
				if err := w.AddRestoration(ctx, restored("a", v, v/2)); err != nil {
					return err
				}
			}
			return nil
		})
		addRestored(t, s, "b", 1, 0)
		slices.Reverse(all) // newest first
		for _, before := range []vitrine.Version{{}, vitrine.NewVersion(0), vitrine.NewVersion(1), vitrine.NewVersion(2), vitrine.NewVersion(300), vitrine.NewVersion(count), vitrine.NewVersion(math.MaxInt64 - 1)} {
			for _, limit := range []int{0, 1, 7, count / 2, count, math.MaxInt32} {
				want := slices.DeleteFunc(slices.Clone(all), func(r appsvc.Restoration) bool { return !before.IsZero() && r.Version.Compare(before) >= 0 })
				if limit > 0 {
					want = want[:min(limit, len(want))]
				}
				got := read(t, s, restorations(appsvc.VersionQuery{AppID: "a", Before: before, Limit: limit}))
				checkEqual(t, fmt.Sprintf("before %s, limit %d", before, limit), got, want)
			}
		}
	}},
	// Otherwise a version that is added later could get the restoration of one that never existed.
	{"a restoration is visible to the Update that adds it, and is rolled back with it", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 2, "a")
		err := s.Update(ctx, func(w tx) error {
			h := newHead("a", 2)
			if err := w.AddVersion(ctx, h, bodyOf(h, "")); err != nil {
				return err
			}
			if err := w.AddRestoration(ctx, restored("a", 2, 0)); err != nil {
				return err
			}
			got, err := collect(w.Restorations(ctx, appsvc.VersionQuery{AppID: "a"}))
			checkEqual(t, "within the Update", got, []appsvc.Restoration{restored("a", 2, 0)})
			if err != nil {
				return err
			}
			return errRolledBack
		})
		checkError(t, err, errRolledBack, "Update")
		checkEqual(t, "after it", read(t, s, restorations(appsvc.VersionQuery{AppID: "a"})), nil)
		addRestored(t, s, "a", 2, 1)
		checkEqual(t, "after another", read(t, s, restorations(appsvc.VersionQuery{AppID: "a"})), []appsvc.Restoration{restored("a", 2, 1)})
	}},
}

// restored says that a version of the app id was made from the version from.
func restored(id string, version, from int) appsvc.Restoration {
	return appsvc.Restoration{AppID: id, Version: vitrine.NewVersion(version), From: vitrine.NewVersion(from)}
}

// addRestored stores a version with its restoration, in one Update.
func addRestored(t *testing.T, s appsvc.Store, id string, version, from int) {
	t.Helper()
	update(t, s, func(w tx) error {
		h := newHead(id, version)
		if err := w.AddVersion(ctx, h, bodyOf(h, "")); err != nil {
			return err
		}
		return w.AddRestoration(ctx, restored(id, version, from))
	})
}
