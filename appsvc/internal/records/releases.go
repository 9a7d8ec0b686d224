package records

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// ReleaseLists says in which lists a release is. Each has a record of its own.
type ReleaseLists struct {
	ID     string
	Number int64 // its position in lists; 0 = the release is not stored, and in no list
	State  string
	Apps   []string // of its moves
	Due    int64    // when the schedule runs or ends it; 0 = never
	Ends   bool     // the schedule ends it
}

// The kinds of lists of releases, as parts of keys of ListedKind.
const (
	allReleases   = "all"
	releasesIn    = "state" // a state
	releasesOf    = "app"   // an app
	releasesDueOf = "due"   // an app, of those that are due at a time
)

// Index returns the records of the lists.
func (r ReleaseLists) Index() (out []storage.Entry) {
	if r.Number == 0 {
		return nil
	}
	put := func(key string) { out = append(out, storage.Entry{Key: key, Value: []byte(r.ID)}) }
	add := func(list, of string) { put(Key(ListedKind, list, of, keyval.Number(r.Number))) }
	add(allReleases, "")
	add(releasesIn, r.State)
	for _, app := range r.Apps {
		if add(releasesOf, app); r.Due != 0 {
			add(releasesDueOf, app)
		}
	}
	switch {
	case r.Due != 0 && r.Ends:
		put(Key(DueKind, keyval.Number(r.Due), "", r.ID))
	case r.Due != 0:
		put(Key(DueKind, keyval.Number(r.Due), r.ID))
	}
	return out
}

// PutRelease stores a release in place of its earlier form, and moves it from the lists of that to its own.
func (t Writer) PutRelease(ctx context.Context, was, now ReleaseLists, value any) error {
	return t.Replace(ctx, was.Index(), now.Index(), keyval.JSON(Key(ReleaseKind, now.ID), value))
}

// Releases yields the records of releases of a state or an app, newest first, with numbers below before; 0 means no
// limit. With both, it yields those of the app.
func (r Reader) Releases(
	ctx context.Context, state, app string, before int64, expect int,
) iter.Seq2[storage.Entry, error] {
	in := Under(ListedKind, allReleases, "")
	switch {
	case app != "":
		in = Under(ListedKind, releasesOf, app)
	case state != "":
		in = Under(ListedKind, releasesIn, state)
	}
	in.Reverse, in.Expect = true, expect+1
	if before > 0 {
		in.To = in.From + keyval.Number(before)
	}
	ids := keyval.Map(r.Scan(ctx, in), func(e storage.Entry) (string, error) {
		return Key(ReleaseKind, string(e.Value)), nil
	})
	return keyval.Load(ctx, r, ids, min(expect+1, AtOnce))
}

// ScheduledRelease returns the id of a release that is due at a time and moves a tag of the app, or "" if there is
// none.
func (r Reader) ScheduledRelease(ctx context.Context, app string) (string, error) {
	in := Under(ListedKind, releasesDueOf, app)
	in.Limit = 1
	for e, err := range r.Scan(ctx, in) {
		return string(e.Value), err
	}
	return "", nil
}

// DueReleases returns the ids of up to limit releases whose time is at or before now. Of one time, those to be ended
// come first.
func (r Reader) DueReleases(ctx context.Context, now int64, limit int) (ids []string, err error) {
	in := Under(DueKind)
	in.To, in.Limit = Under(DueKind, keyval.Number(now)).To, limit
	for e, err := range r.Scan(ctx, in) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, string(e.Value))
	}
	return ids, nil
}
