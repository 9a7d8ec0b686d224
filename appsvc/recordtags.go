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

// setTag adds a tag, or moves it. A tag without a version is deleted.
func (t *writer) setTag(ctx context.Context, tag Tag) error {
	key := keyOf(tagKind, tag.AppID, tag.Name)
	if tag.AppVersion.IsZero() {
		return t.tx.Delete(ctx, key)
	}
	return t.tx.Put(ctx, storage.Entry{Key: key, Value: decimal(tag.AppVersion.Number())})
}

// storedMove is a TagMove as it is stored; -1 stands for no version.
type storedMove struct {
	At   int64  `json:"at"`
	By   string `json:"by"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
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
		return numberedMove{n, TagMove{At: m.At, By: m.By, From: versionOrNone(m.From), To: versionOrNone(m.To)}}, err
	})
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

func (t *writer) addMove(ctx context.Context, app, name string, m numberedMove) error {
	value, err := json.Marshal(storedMove{m.At, m.By, m.From.Number(), m.To.Number()})
	if err != nil {
		return err
	}
	puts := []storage.Entry{{Key: moveKey(app, name, m.number), Value: value}}
	if m.number == 1 {
		puts = append(puts, storage.Entry{Key: keyOf(movedKind, app, name)})
	}
	return t.tx.Put(ctx, puts...)
}

// restorations returns up to limit versions below before that Restore made, each with the version whose content it has. A version
// without a number is above all, and 0 for all.
func (r *reader) restorations(ctx context.Context, app string, before vitrine.Version, limit int) (map[vitrine.Version]vitrine.Version, error) {
	in := under(restoredKind, app)
	in.Reverse, in.Limit, in.Expect = true, limit, limit
	if n := before.Number(); n >= 0 {
		in.To = restoredKey(app, n)
	}
	out := map[vitrine.Version]vitrine.Version{}
	for e, err := range r.r.Scan(ctx, in) {
		if err != nil {
			return nil, err
		}
		version, err := rec.ParseNumber(partsOf(e.Key, restoredKind)[1])
		if err != nil {
			return nil, damaged(e.Key, err)
		}
		from, err := parseDecimal(e.Key, e.Value)
		if err != nil {
			return nil, err
		}
		out[versionOrNone(version)] = versionOrNone(from)
	}
	return out, nil
}

func (t *writer) addRestoration(ctx context.Context, app string, v, from vitrine.Version) error {
	return t.tx.Put(ctx, storage.Entry{Key: restoredKey(app, v.Number()), Value: decimal(from.Number())})
}
