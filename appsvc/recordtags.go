package appsvc

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/vitrine-go/vitrine"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// pointsTo returns the version that a tag points to, the zero Version if the app has no such tag.
func (r *reader) pointsTo(ctx context.Context, app, name string) (v vitrine.Version, err error) {
	tag := keyOf(tagKind, app, name)
	value, err := r.value(ctx, tag)
	if err != nil || value == nil {
		return v, err
	}
	n, err := parseDecimal(tag, value)
	return versionOrNone(n), err
}

// tagsAfter returns the range of up to limit tags of an app with names after one; "" is before all names, and 0 for all.
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

// storedMove is a TagMove as it is stored; -1 stands for no version.
type storedMove struct {
	At   int64  `json:"at"`
	By   string `json:"by"`
	From int64  `json:"from"`
	To   int64  `json:"to"`

	Rollback bool   `json:"rollback,omitzero"`
	Top      int64  `json:"top,omitzero"` // of a roll back: number of the last move that was not rolled back after it, 0 for none
	Release  string `json:"release,omitzero"`
}

// top returns the number of the last move that was not rolled back, after this move with a number.
func (m storedMove) top(number int64) int64 {
	if m.Rollback {
		return m.Top
	}
	return number
}

func (m storedMove) move() TagMove {
	return TagMove{At: m.At, By: m.By, From: versionOrNone(m.From), To: versionOrNone(m.To), Rollback: m.Rollback, Release: m.Release, top: m.Top}
}

// numberedMove is a TagMove with its number: 1 for the first move of the tag, then 2, 3 …
type numberedMove struct {
	number int64
	TagMove
}

// moves yields up to limit moves of a tag, newest first, with numbers below before; 0 is for all of them. Neither the tag nor the app
// need exist.
func (r *reader) moves(ctx context.Context, app, name string, before int64, limit int) iter.Seq2[numberedMove, error] {
	in := under(moveKind, app, name)
	in.Reverse, in.Limit, in.Expect = true, limit, limit
	if before != 0 {
		in.To = moveKey(app, name, before)
	}
	return rec.Map(r.r.Scan(ctx, in), func(e storage.Entry) (numberedMove, error) {
		m, err := decodeMove(e)
		if err != nil {
			return numberedMove{}, err
		}
		n, err := rec.ParseNumber(partsOf(e.Key, moveKind)[2])
		return numberedMove{n, m.move()}, err
	})
}

// lastMove returns the last move of a tag; its number is 0 if there is none.
func (r *reader) lastMove(ctx context.Context, app, name string) (last numberedMove, err error) {
	for m, err := range r.moves(ctx, app, name, 0, 1) {
		return m, err
	}
	return last, nil
}

// storedMove returns a move by its number, the zero move if there is none.
func (r *reader) storedMove(ctx context.Context, app, name string, number int64) (m storedMove, err error) {
	key := moveKey(app, name, number)
	value, err := r.value(ctx, key)
	if err != nil || value == nil {
		return m, err
	}
	return decodeMove(storage.Entry{Key: key, Value: value})
}

// rollback returns the move that rolls a tag of the app with this head back to where it pointed before its last move that was not rolled
// back. With a release, that must be a move of it. It returns ErrNotFound if there never was such a tag, and ErrConflict with
// CodeWrongState if there is no such move.
func (r *reader) rollback(ctx context.Context, h Head, name, release string) (move TagMove, err error) {
	last, err := r.lastMove(ctx, h.ID, name)
	if err != nil {
		return move, err
	}
	if last.number == 0 {
		at, err := r.pointsTo(ctx, h.ID, name)
		if err == nil && at.IsZero() {
			err = noTag(h.ID, name)
		}
		if err != nil {
			return move, err
		}
	}
	top := last.number
	if last.Rollback {
		top = last.top
	}
	if top == 0 {
		return move, conflict(vitrine.CodeWrongState, h.Version, "no move of the tag %q is left to roll back", name)
	}
	m, err := r.storedMove(ctx, h.ID, name, top)
	if err != nil {
		return move, err
	}
	if release != "" && m.Release != release {
		return move, conflict(vitrine.CodeMoved, h.Version, "the tag %q was moved after this release", name)
	}
	before, err := r.storedMove(ctx, h.ID, name, top-1)
	return TagMove{From: last.To, To: versionOrNone(m.From), Rollback: true, Release: release, top: before.top(top - 1)}, err
}

func decodeMove(e storage.Entry) (m storedMove, err error) {
	if err := json.Unmarshal(e.Value, &m); err != nil {
		return m, damaged(e.Key, err)
	}
	return m, nil
}

// movedTags yields the names of the tags of an app that have moves, in byte order. Neither the tags nor the app need exist.
func (r *reader) movedTags(ctx context.Context, app string) iter.Seq2[string, error] {
	return rec.Map(r.r.Scan(ctx, under(movedKind, app)), func(e storage.Entry) (string, error) { return partsOf(e.Key, movedKind)[1], nil })
}

// moveEntries returns the records of a move: itself, and moved/ for the first one.
func moveEntries(app, name string, m numberedMove) ([]storage.Entry, error) {
	value, err := json.Marshal(storedMove{m.At, m.By, m.From.Number(), m.To.Number(), m.Rollback, m.top, m.Release})
	puts := []storage.Entry{{Key: moveKey(app, name, m.number), Value: value}}
	if m.number == 1 {
		puts = append(puts, storage.Entry{Key: keyOf(movedKind, app, name)})
	}
	return puts, err
}

// addMove adds a move to the history of a tag, and moves the tag.
func (t *writer) addMove(ctx context.Context, app, name string, m numberedMove) error {
	puts, err := moveEntries(app, name, m)
	if err != nil {
		return err
	}
	if tag := keyOf(tagKind, app, name); !m.To.IsZero() {
		puts = append(puts, storage.Entry{Key: tag, Value: decimal(m.To.Number())})
	} else if err := t.tx.Delete(ctx, tag); err != nil {
		return err
	}
	return t.tx.Put(ctx, puts...)
}

// ofVersions returns what up to limit versions below before have in records of a kind. A version without a number is above all, and 0 is
// for all.
func (r *reader) ofVersions(ctx context.Context, kind, app string, before vitrine.Version, limit int) (map[vitrine.Version]storage.Entry, error) {
	in := under(kind, app)
	in.Reverse, in.Limit, in.Expect = true, limit, limit
	if n := before.Number(); n >= 0 {
		in.To = keyOf(kind, app, rec.Number(n))
	}
	out := map[vitrine.Version]storage.Entry{}
	for e, err := range r.r.Scan(ctx, in) {
		if err != nil {
			return nil, err
		}
		version, err := rec.ParseNumber(partsOf(e.Key, kind)[1])
		if err != nil {
			return nil, damaged(e.Key, err)
		}
		out[versionOrNone(version)] = e
	}
	return out, nil
}

// notes returns the notes of up to limit versions below before that have one.
func (r *reader) notes(ctx context.Context, app string, before vitrine.Version, limit int) (map[vitrine.Version]string, error) {
	records, err := r.ofVersions(ctx, noteKind, app, before, limit)
	out := map[vitrine.Version]string{}
	for v, e := range records {
		out[v] = string(e.Value)
	}
	return out, err
}

// restorations returns up to limit versions below before that Restore made, each with the version whose content it has.
func (r *reader) restorations(ctx context.Context, app string, before vitrine.Version, limit int) (map[vitrine.Version]vitrine.Version, error) {
	records, err := r.ofVersions(ctx, restoredKind, app, before, limit)
	out := map[vitrine.Version]vitrine.Version{}
	for v, e := range records {
		from, err := parseDecimal(e.Key, e.Value)
		if err != nil {
			return nil, err
		}
		out[v] = versionOrNone(from)
	}
	return out, err
}

func (t *writer) addRestoration(ctx context.Context, app string, v, from vitrine.Version) error {
	return t.tx.Put(ctx, storage.Entry{Key: restoredKey(app, v.Number()), Value: decimal(from.Number())})
}
