package storagetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var tagMoveRules = []appRule{
	// The history of a tag exists without the tag, and even without the app: a driver must not join it with either.
	{"TagMoves yields the moves of one tag and no other, newest first", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a", "b")
		var kept []appsvc.TagMoveRecord
		for _, app := range []string{"a", "b", "absent"} {
			for _, name := range []string{"live", "Live", "live ", "lives"} {
				for n := range int64(3) {
					kept = append(kept, move(app, name, n+1))
				}
			}
		}
		addMoves(t, s, kept...)
		for _, app := range []string{"a", "b", "absent"} {
			for _, name := range []string{"live", "Live", "live ", "lives"} {
				want := []appsvc.TagMoveRecord{move(app, name, 3), move(app, name, 2), move(app, name, 1)}
				checkEqual(t, app+" "+name, read(t, s, moves(appsvc.TagMoveQuery{AppID: app, Name: name})), want)
			}
		}
		for _, q := range []appsvc.TagMoveQuery{{AppID: "a", Name: "liv"}, {AppID: "c", Name: "live"}, {AppID: "a"}, {Name: "live"}} {
			checkEqual(t, fmt.Sprintf("%+v", q), read(t, s, moves(q)), nil)
		}
	}},
	// Before 0 means from the newest, and Limit 0 means all. Before may be higher than every Number.
	{"TagMoves yields the moves with a Number below Before, newest first, and stops after Limit", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a")
		const most = 600
		var all []appsvc.TagMoveRecord
		for n := range int64(most) {
			all = append(all, move("a", "live", n+1))
		}
		addMoves(t, s, all...)
		slices.Reverse(all)
		for _, before := range []int64{0, 1, 2, 3, 300, most, most + 1, most + 9, math.MaxInt64} {
			for _, limit := range []int{0, 1, 2, 255, 256, 257, most, most + 1} {
				want := slices.DeleteFunc(slices.Clone(all), func(m appsvc.TagMoveRecord) bool { return before > 0 && m.Number >= before })
				if limit > 0 {
					want = want[:min(limit, len(want))]
				}
				what := fmt.Sprintf("moves before %d, limit %d", before, limit)
				checkEqual(t, what, read(t, s, moves(appsvc.TagMoveQuery{AppID: "a", Name: "live", Before: before, Limit: limit})), want)
			}
		}
	}},
	// From is absent when a tag is new, and To when it is deleted. An absent version is not version 0.
	{"a move keeps its time, its caller and its versions, which may be absent", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a")
		want := []appsvc.TagMoveRecord{
			{AppID: "a", Name: "live", Number: 3, TagMove: appsvc.TagMove{At: math.MinInt64, By: editor, From: vitrine.NewVersion(1 << 40)}},
			{AppID: "a", Name: "live", Number: 2, TagMove: appsvc.TagMove{At: -1, By: "", From: vitrine.NewVersion(0), To: vitrine.NewVersion(1 << 40)}},
			{AppID: "a", Name: "live", Number: 1, TagMove: appsvc.TagMove{At: math.MaxInt64, By: "é\x00 ", To: vitrine.NewVersion(0)}},
		}
		addMoves(t, s, want[2], want[1], want[0])
		checkEqual(t, "moves", read(t, s, moves(appsvc.TagMoveQuery{AppID: "a", Name: "live"})), want)
	}},
	// Only AddTagMove writes this history; the Service calls it beside SetTag and DeleteTag, so a driver that added
	// moves itself would add each twice.
	{"the moves of a tag outlive the tag, and SetTag and DeleteTag add no moves", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a")
		setTags(t, s, tag("a", "live", vitrine.NewVersion(0)), tag("a", "test", vitrine.NewVersion(0)))
		addMoves(t, s, move("a", "live", 1))
		update(t, s, func(w tx) error { return errors.Join(w.DeleteTag(ctx, "a", "live"), w.DeleteTag(ctx, "a", "test")) })
		checkEqual(t, "moves of live", read(t, s, moves(appsvc.TagMoveQuery{AppID: "a", Name: "live"})), []appsvc.TagMoveRecord{move("a", "live", 1)})
		checkEqual(t, "moves of test", read(t, s, moves(appsvc.TagMoveQuery{AppID: "a", Name: "test"})), nil)
		checkEqual(t, "names", read(t, s, tagNames("a")), []string{"live"})
	}},
	// These include names of tags that were deleted, and leave out tags that never moved.
	{"TagNames yields each name that has moves once, in byte order", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "A", "a", "b")
		for i := range oddNames {
			name := oddNames[i*7%len(oddNames)] // each name once, and not in byte order
			addMoves(t, s, move("a", name, 1), move("A", name, 1), move("a", name, 2), move("b", name+"b", 1), move("a", name, 3))
		}
		checkEqual(t, "names", read(t, s, tagNames("a")), oddNames)
		checkEqual(t, "names of an app without any", read(t, s, tagNames("c")), nil)
	}},
	// TagNames must not depend on how many rows the driver reads at a time.
	{"an app may have moves of tags with ten thousand names", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a")
		var all []appsvc.TagMoveRecord
		var want []string
		for i := range 10_000 {
			want = append(want, fmt.Sprintf("t%04d", i))
			all = append(all, move("a", want[i], 1))
		}
		addMoves(t, s, all...)
		checkEqual(t, "names", read(t, s, tagNames("a")), want)
	}},
	// The Update itself reads its move, and the name of the tag, before it commits.
	{"a move is committed or rolled back with the Update that adds it", func(t *testing.T, s appsvc.Store) {
		addVersions(t, s, 1, "a")
		err := s.Update(ctx, func(w tx) error {
			if err := errors.Join(w.SetTag(ctx, tag("a", "live", vitrine.NewVersion(0))), w.AddTagMove(ctx, move("a", "live", 1))); err != nil {
				return err
			}
			own, err := collect(w.TagMoves(ctx, appsvc.TagMoveQuery{AppID: "a", Name: "live"}))
			if err != nil {
				return err
			}
			checkEqual(t, "the update's own move", own, []appsvc.TagMoveRecord{move("a", "live", 1)})
			names, err := collect(w.TagNames(ctx, "a"))
			if err != nil {
				return err
			}
			checkEqual(t, "the update's own names", names, []string{"live"})
			return errRolledBack
		})
		checkError(t, err, errRolledBack, "Update")
		checkEqual(t, "moves", read(t, s, moves(appsvc.TagMoveQuery{AppID: "a", Name: "live"})), nil)
		checkEqual(t, "names", read(t, s, tagNames("a")), nil)
	}},
}

// move returns the move of a tag that has this Number. Each Number has another time and other versions.
func move(appID, name string, number int64) appsvc.TagMoveRecord {
	return appsvc.TagMoveRecord{AppID: appID, Name: name, Number: number,
		TagMove: appsvc.TagMove{At: 1000 * number, By: editor, From: vitrine.NewVersion(number), To: vitrine.NewVersion(number + 1)}}
}

// addMoves adds moves in one Update.
func addMoves(t *testing.T, s appsvc.Store, moves ...appsvc.TagMoveRecord) {
	t.Helper()
	update(t, s, func(w tx) error {
		for _, m := range moves {
			if err := w.AddTagMove(ctx, m); err != nil {
				return err
			}
		}
		return nil
	})
}
