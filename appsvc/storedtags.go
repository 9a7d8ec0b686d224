package appsvc

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// pointsTo returns the version that a tag points to, or the zero Version if the app has no such tag.
func (r *reader) pointsTo(ctx context.Context, app, name string) (v vitrine.Version, err error) {
	tag := keyOf(tagKind, app, name)
	value, err := r.value(ctx, tag)
	if err != nil || value == nil {
		return v, err
	}
	n, err := parseDecimal(tag, value)
	return versionOrNone(n), err
}

// tagsAfter returns the range of up to limit tags of an app with names after a name. "" means the beginning, and 0
// means no limit.
func tagsAfter(app, after string, limit int) storage.Range {
	in := under(tagKind, app)
	in.Limit, in.Expect = limit, limit
	if after != "" {
		in.From = keyAfter(keyOf(tagKind, app, after))
	}
	return in
}

// tags yields the tags in ranges of tagsAfter, those of one app by name in byte order.
func (r *reader) tags(ctx context.Context, in ...storage.Range) iter.Seq2[Tag, error] {
	return rec.Map(r.r.Scan(ctx, in...), func(e storage.Entry) (Tag, error) {
		n, err := parseDecimal(e.Key, e.Value)
		name := partsOf(e.Key, tagKind)
		return Tag{AppID: name[0], Name: name[1], AppVersion: versionOrNone(n)}, err
	})
}

// tagsOf returns the tags of apps, by name, in one trip.
func (r *reader) tagsOf(ctx context.Context, apps []appHead) (map[string][]Tag, error) {
	out, ranges := map[string][]Tag{}, make([]storage.Range, len(apps))
	for i, h := range apps {
		ranges[i] = tagsAfter(h.ID, "", 0)
	}
	for t, err := range r.tags(ctx, ranges...) {
		if err != nil {
			return nil, err
		}
		out[t.AppID] = append(out[t.AppID], t)
	}
	return out, nil
}

// move is a stored TagMove. -1 means no version.
type move struct {
	number int64 // 1 for the first move of the tag, then 2, 3 …; in the key

	At   int64  `json:"at"`
	By   string `json:"by"`
	From int64  `json:"from"`
	To   int64  `json:"to"`

	Rollback bool `json:"rollback,omitzero"`
	// of a rollback: number of the last move before it that was not rolled back; 0 = none
	Top     int64  `json:"top,omitzero"`
	Release string `json:"release,omitzero"`
	Note    string `json:"note,omitzero"`
}

// top returns the number of the last move that was not rolled back, after this move.
func (m move) top() int64 {
	if m.Rollback {
		return m.Top
	}
	return m.number
}

func decodeMove(e storage.Entry) (m move, err error) {
	if err = json.Unmarshal(e.Value, &m); err == nil {
		m.number, err = rec.ParseNumber(partsOf(e.Key, moveKind)[2])
	}
	if err != nil {
		err = damaged(e.Key, err)
	}
	return m, err
}

// moves yields up to limit moves of a tag, newest first, with numbers below before; 0 means no bound. Neither the tag
// nor the app need exist.
func (r *reader) moves(ctx context.Context, app, name string, before int64, limit int) iter.Seq2[move, error] {
	in := under(moveKind, app, name)
	in.Reverse, in.Limit, in.Expect = true, limit, limit
	if before != 0 {
		in.To = moveKey(app, name, before)
	}
	return rec.Map(r.r.Scan(ctx, in), decodeMove)
}

// lastMove returns the last move of a tag; its number is 0 if there is none.
func (r *reader) lastMove(ctx context.Context, app, name string) (last move, err error) {
	for m, err := range r.moves(ctx, app, name, 0, 1) {
		return m, err
	}
	return last, nil
}

// rollback returns the move that returns a tag of the app with this head to where it pointed before its last move that
// was not rolled back. last is its last move. If release is set, that must be a move of this release. It returns
// ErrNotFound if the tag never existed, and ErrConflict with CodeWrongState if there is no such move.
func (r *reader) rollback(ctx context.Context, h appHead, name string, last move, release string) (m move, err error) {
	if last.number == 0 {
		at, err := r.pointsTo(ctx, h.ID, name)
		if err == nil && at.IsZero() {
			err = noTag(h.ID, name)
		}
		if err != nil {
			return m, err
		}
	}
	top := last.top()
	if top == 0 {
		return m, fault.Conflict(vitrine.CodeWrongState, h.Version, "no move of the tag %q is left to roll back", name)
	}
	var undone, before move
	for m, err := range r.moves(ctx, h.ID, name, top+1, 2) {
		if err != nil {
			return m, err
		}
		if m.number == top {
			undone = m
		} else {
			before = m
		}
	}
	if release != "" && undone.Release != release {
		return m, fault.Conflict(vitrine.CodeMoved, h.Version, "the tag %q was moved after this release", name)
	}
	return move{From: last.To, To: undone.From, Rollback: true, Release: release, Top: before.top()}, nil
}

// movedTags yields the names of the tags of an app that have moves, in byte order. Neither the tags nor the app need
// exist.
func (r *reader) movedTags(ctx context.Context, app string) iter.Seq2[string, error] {
	return rec.Map(r.r.Scan(ctx, under(movedKind, app)), func(e storage.Entry) (string, error) {
		return partsOf(e.Key, movedKind)[1], nil
	})
}

// keepMove adds a move to the history of a tag. The first one also adds moved/.
func (t *writer) keepMove(ctx context.Context, app, name string, m move) error {
	value, err := json.Marshal(m)
	if err != nil {
		return err
	}
	puts := []storage.Entry{{Key: moveKey(app, name, m.number), Value: value}}
	if m.number == 1 {
		puts = append(puts, storage.Entry{Key: keyOf(movedKind, app, name)})
	}
	return t.tx.Put(ctx, puts...)
}

// addMove adds a move to the history of a tag, and moves the tag.
func (t *writer) addMove(ctx context.Context, app, name string, m move) error {
	if err := t.keepMove(ctx, app, name, m); err != nil {
		return err
	}
	tag := keyOf(tagKind, app, name)
	if m.To < 0 {
		return t.tx.Delete(ctx, tag)
	}
	return t.tx.Put(ctx, storage.Entry{Key: tag, Value: decimal(m.To)})
}

// ofVersions returns the values of up to limit records of a kind for versions below before, decoded by value. A version
// without a number is above all versions, and a limit of 0 means all.
func ofVersions[T any](
	ctx context.Context, r *reader, kind, app string, before vitrine.Version, limit int,
	value func(storage.Entry) (T, error),
) (map[vitrine.Version]T, error) {
	in := under(kind, app)
	in.Reverse, in.Limit, in.Expect = true, limit, limit
	if n := before.Number(); n >= 0 {
		in.To = keyOf(kind, app, rec.Number(n))
	}
	out := map[vitrine.Version]T{}
	for e, err := range r.r.Scan(ctx, in) {
		if err != nil {
			return nil, err
		}
		version, err := rec.ParseNumber(partsOf(e.Key, kind)[1])
		if err != nil {
			return nil, damaged(e.Key, err)
		}
		if out[versionOrNone(version)], err = value(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// notes returns the notes of up to limit versions below before that have one.
func (r *reader) notes(
	ctx context.Context, app string, before vitrine.Version, limit int,
) (map[vitrine.Version]string, error) {
	return ofVersions(ctx, r, noteKind, app, before, limit, func(e storage.Entry) (string, error) {
		return string(e.Value), nil
	})
}

// restorations returns up to limit versions below before that Restore made, each with the version whose content it has.
func (r *reader) restorations(
	ctx context.Context, app string, before vitrine.Version, limit int,
) (map[vitrine.Version]vitrine.Version, error) {
	return ofVersions(ctx, r, restoredKind, app, before, limit, func(e storage.Entry) (vitrine.Version, error) {
		from, err := parseDecimal(e.Key, e.Value)
		return versionOrNone(from), err
	})
}

func (t *writer) addRestoration(ctx context.Context, app string, v, from vitrine.Version) error {
	return t.tx.Put(ctx, storage.Entry{Key: restoredKey(app, v.Number()), Value: decimal(from.Number())})
}
