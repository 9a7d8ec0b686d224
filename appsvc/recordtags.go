package appsvc

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// storedMove is a TagMove as it is stored; -1 stands for no version.
type storedMove struct {
	At   int64  `json:"at"`
	By   string `json:"by"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
}

func decodeMove(e storage.Entry) (m storedMove, err error) {
	if err := json.Unmarshal(e.Value, &m); err != nil {
		return m, damaged(e.Key, err)
	}
	return m, nil
}

func (r *recordReader) Tags(ctx context.Context, q TagQuery) iter.Seq2[Tag, error] {
	return yields(ctx, q.Limit, func(out func(Tag) bool) error {
		if q.Name != "" {
			tag := keyOf(tagKind, q.AppID, q.Name)
			value, err := r.value(ctx, tag)
			if err != nil || value == nil || q.Name <= q.After {
				return err
			}
			n, err := parseDecimal(tag, value)
			if err == nil {
				out(Tag{AppID: q.AppID, Name: q.Name, AppVersion: versionOrNone(n)})
			}
			return err
		}
		in := under(tagKind, q.AppID)
		in.Limit, in.Expect = q.Limit, q.Limit
		if q.After != "" {
			in.From = keyAfter(keyOf(tagKind, q.AppID, q.After))
		}
		_, err := r.tags(ctx, out, in)
		return err
	})
}

// tags passes the tags in ranges to out, and returns false if that did.
func (r *recordReader) tags(ctx context.Context, out func(Tag) bool, in ...storage.Range) (bool, error) {
	for e, err := range r.r.Scan(ctx, in...) {
		var n int64
		if err == nil {
			n, err = parseDecimal(e.Key, e.Value)
		}
		if err != nil {
			return false, err
		}
		name := partsOf(e.Key, tagKind)
		if !out(Tag{AppID: name[0], Name: name[1], AppVersion: versionOrNone(n)}) {
			return false, nil
		}
	}
	return true, nil
}

func (t *recordTx) SetTag(ctx context.Context, tag Tag) error {
	return t.tx.Put(ctx, storage.Entry{Key: keyOf(tagKind, tag.AppID, tag.Name), Value: decimal(tag.AppVersion.Number())})
}

func (t *recordTx) DeleteTag(ctx context.Context, appID, name string) error {
	tag := keyOf(tagKind, appID, name)
	value, err := t.value(ctx, tag)
	if err == nil && value == nil {
		err = fmt.Errorf("%w: tag %q of app %q", vitrine.ErrNotFound, name, appID)
	}
	if err != nil {
		return err
	}
	return t.tx.Delete(ctx, tag)
}

func (r *recordReader) TagMoves(ctx context.Context, q TagMoveQuery) iter.Seq2[TagMoveRecord, error] {
	return yields(ctx, q.Limit, func(out func(TagMoveRecord) bool) error {
		in := under(moveKind, q.AppID, q.Name)
		in.Reverse, in.Limit, in.Expect = true, q.Limit, q.Limit
		if q.Before != 0 {
			in.To = moveKey(q.AppID, q.Name, q.Before)
		}
		for e, err := range r.r.Scan(ctx, in) {
			if err != nil {
				return err
			}
			m, err := decodeMove(e)
			if err != nil {
				return err
			}
			n, err := rec.ParseNumber(partsOf(e.Key, moveKind)[2])
			if err != nil {
				return damaged(e.Key, err)
			}
			move := TagMove{At: m.At, By: m.By, From: versionOrNone(m.From), To: versionOrNone(m.To)}
			if !out(TagMoveRecord{AppID: q.AppID, Name: q.Name, Number: n, TagMove: move}) {
				return nil
			}
		}
		return nil
	})
}

func (r *recordReader) TagNames(ctx context.Context, appID string) iter.Seq2[string, error] {
	return yields(ctx, 0, func(out func(string) bool) error {
		for e, err := range r.r.Scan(ctx, under(movedKind, appID)) {
			if err != nil || !out(partsOf(e.Key, movedKind)[1]) {
				return err
			}
		}
		return nil
	})
}

func (t *recordTx) AddTagMove(ctx context.Context, m TagMoveRecord) error {
	value, err := json.Marshal(storedMove{m.At, m.By, m.From.Number(), m.To.Number()})
	if err != nil {
		return err
	}
	puts := []storage.Entry{{Key: moveKey(m.AppID, m.Name, m.Number), Value: value}}
	if m.Number == 1 {
		puts = append(puts, storage.Entry{Key: keyOf(movedKind, m.AppID, m.Name)})
	}
	return t.tx.Put(ctx, puts...)
}

func (r *recordReader) Restorations(ctx context.Context, q VersionQuery) iter.Seq2[Restoration, error] {
	return yields(ctx, q.Limit, func(out func(Restoration) bool) error {
		in := under(restoredKind, q.AppID)
		in.Reverse, in.Limit, in.Expect = true, q.Limit, q.Limit
		if n := q.Before.Number(); n >= 0 {
			in.To = restoredKey(q.AppID, n)
		}
		for e, err := range r.r.Scan(ctx, in) {
			if err != nil {
				return err
			}
			version, err := rec.ParseNumber(partsOf(e.Key, restoredKind)[1])
			if err != nil {
				return damaged(e.Key, err)
			}
			from, err := parseDecimal(e.Key, e.Value)
			if err != nil {
				return err
			}
			if !out(Restoration{AppID: q.AppID, Version: versionOrNone(version), From: versionOrNone(from)}) {
				return nil
			}
		}
		return nil
	})
}

func (t *recordTx) AddRestoration(ctx context.Context, r Restoration) error {
	return t.tx.Put(ctx, storage.Entry{Key: restoredKey(r.AppID, r.Version.Number()), Value: decimal(r.From.Number())})
}
