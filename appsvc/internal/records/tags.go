package records

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// PointsTo returns the version that a tag points to, or the zero Version if the app has no such tag.
func (r Reader) PointsTo(ctx context.Context, app, name string) (v vitrine.Version, err error) {
	tag := TagKey(app, name)
	value, err := r.Value(ctx, tag)
	if err != nil || value == nil {
		return v, err
	}
	n, err := ParseDecimal(tag, value)
	return VersionOrNone(n), err
}

// TagsAfter returns the range of up to limit tags of an app with names after a name. "" means the beginning, and 0
// means no limit.
func TagsAfter(app, after string, limit int) storage.Range {
	in := Under(TagKind, app)
	in.Limit, in.Expect = limit, limit
	if after != "" {
		in.From = keyAfter(TagKey(app, after))
	}
	return in
}

// DecodeTag decodes the record of a tag.
func DecodeTag(e storage.Entry) (app, name string, at vitrine.Version, err error) {
	n, err := ParseDecimal(e.Key, e.Value)
	of := Parts(e.Key, TagKind)
	return of[0], of[1], VersionOrNone(n), err
}

// Move is a stored TagMove. -1 means no version.
type Move struct {
	Number int64 `json:"-"` // 1 for the first move of the tag, then 2, 3 …; in the key

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

// LastKept returns the number of the last move that was not rolled back, after this move.
func (m Move) LastKept() int64 {
	if m.Rollback {
		return m.Top
	}
	return m.Number
}

func DecodeMove(e storage.Entry) (m Move, err error) {
	if err = json.Unmarshal(e.Value, &m); err == nil {
		m.Number, err = keyval.ParseNumber(Parts(e.Key, MoveKind)[2])
	}
	if err != nil {
		err = keyval.Damaged(e.Key, err)
	}
	return m, err
}

// Moves yields up to limit moves of a tag, newest first, with numbers below before; 0 means no bound. Neither the tag
// nor the app need exist.
func (r Reader) Moves(ctx context.Context, app, name string, before int64, limit int) iter.Seq2[Move, error] {
	in := Under(MoveKind, app, name)
	in.Reverse, in.Limit, in.Expect = true, limit, limit
	if before != 0 {
		in.To = MoveKey(app, name, before)
	}
	return keyval.Map(r.Scan(ctx, in), DecodeMove)
}

// LastMove returns the last move of a tag; its number is 0 if there is none.
func (r Reader) LastMove(ctx context.Context, app, name string) (last Move, err error) {
	for m, err := range r.Moves(ctx, app, name, 0, 1) {
		return m, err
	}
	return last, nil
}

// LastMoves returns the last moves of tags, each an app and a name, in one trip. It has no entry for a tag that never
// moved.
func (r Reader) LastMoves(ctx context.Context, tags [][2]string) (map[[2]string]Move, error) {
	ranges := make([]storage.Range, len(tags))
	for i, tag := range tags {
		ranges[i] = Under(MoveKind, tag[0], tag[1])
		ranges[i].Reverse, ranges[i].Limit, ranges[i].Expect = true, 1, 1
	}
	last := map[[2]string]Move{}
	for e, err := range r.Scan(ctx, ranges...) {
		if err != nil {
			return nil, err
		}
		m, err := DecodeMove(e)
		if err != nil {
			return nil, err
		}
		name := Parts(e.Key, MoveKind)
		last[[2]string{name[0], name[1]}] = m
	}
	return last, nil
}

// MovedTags yields the names of the tags of an app that have moves, in byte order. Neither the tags nor the app need
// exist.
func (r Reader) MovedTags(ctx context.Context, app string) iter.Seq2[string, error] {
	return keyval.Map(r.Scan(ctx, Under(MovedKind, app)), func(e storage.Entry) (string, error) {
		return Parts(e.Key, MovedKind)[1], nil
	})
}

// AddMove adds a move to the history of a tag, and moves the tag. from and to are what the tag publishes before and
// after the move; they are not used where the move has no version.
func (t Writer) AddMove(ctx context.Context, app, name string, m Move, from, to Published) error {
	puts, tag := []storage.Entry{keyval.JSON(MoveKey(app, name, m.Number), m)}, TagKey(app, name)
	if m.Number == 1 {
		puts = append(puts, storage.Entry{Key: Key(MovedKind, app, name)})
	}
	var gone []string
	if m.From >= 0 {
		gone = append(gone, from.Key())
	}
	if m.To < 0 {
		gone = append(gone, tag)
	} else {
		puts = append(puts, storage.Entry{Key: tag, Value: decimal(m.To)}, keyval.JSON(to.Key(), to))
	}
	if err := t.Tx.Delete(ctx, gone...); err != nil {
		return err
	}
	return t.Tx.Put(ctx, puts...)
}
