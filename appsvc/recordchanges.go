package appsvc

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/google/uuid"

	"github.com/vitrine-go/vitrine"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

func (r *recordReader) Feed(ctx context.Context) (FeedState, error) { return r.s.feed.State(ctx, r.r) }

// isNamed is set in the first byte of the data of a stored entry, beside hasUUID, if the id of the app is the last of the names and not
// in the data: its number takes less.
const isNamed = 0x40

func (r *recordReader) Entries(ctx context.Context, after FeedPosition, limit int) iter.Seq2[FeedEntry, error] {
	return yields(ctx, limit, func(out func(FeedEntry) bool) error {
		for e, err := range r.s.feed.Entries(ctx, r.r, after, limit) {
			if err != nil {
				return err
			}
			if len(e.Data) > 0 && e.Data[0]&(hasUUID|isNamed) == hasUUID|isNamed && len(e.Names) > 0 {
				last := len(e.Names) - 1
				id, err := uuid.Parse(e.Names[last])
				if err != nil {
					return fmt.Errorf("the entry %d of the feed is damaged: %w", e.Position.Number, err)
				}
				e.Names = e.Names[:last:last]
				e.Data = append(append([]byte{e.Data[0] &^ isNamed}, id[:]...), e.Data[1:]...)
			}
			if !out(e) {
				return nil
			}
		}
		return nil
	})
}

func (t *recordTx) AddEntry(ctx context.Context, e FeedEntry) error {
	if len(e.Data) > 0 && e.Data[0]&hasUUID != 0 {
		if e.Data[0]&isNamed != 0 || len(e.Data) < 17 {
			return fmt.Errorf("the entry of the feed with the data %.20x is none that a service wrote", e.Data)
		}
		id, _ := uuid.FromBytes(e.Data[1:17])
		e.Names = append(e.Names[:len(e.Names):len(e.Names)], id.String())
		e.Data = append([]byte{e.Data[0] | isNamed}, e.Data[17:]...)
	}
	return t.s.feed.Add(ctx, t.tx, e)
}

func (t *recordTx) RemoveEntries(ctx context.Context, before int64, limit int) error {
	return t.s.feed.Remove(ctx, t.tx, before, limit)
}

// removedAnswers is how many expired answers an update removes at most. That is more than it adds.
const removedAnswers = 100

func decodeAnswer(key string, value []byte) (a Answer, err error) {
	if err := json.Unmarshal(value, &a); err != nil {
		return a, damaged(key, err)
	}
	return a, nil
}

func (r *recordReader) Answer(ctx context.Context, by, key string) (Answer, error) {
	answer := keyOf(answerKind, by, key)
	value, err := r.value(ctx, answer)
	if err == nil && value == nil {
		err = fmt.Errorf("%w: answer to key %q", vitrine.ErrNotFound, key)
	}
	if err != nil {
		return Answer{}, err
	}
	return decodeAnswer(answer, value)
}

func (r *recordReader) Answers(ctx context.Context) iter.Seq2[Answer, error] {
	return yields(ctx, 0, func(out func(Answer) bool) error {
		for e, err := range r.r.Scan(ctx, under(answerKind)) {
			if err != nil {
				return err
			}
			if a, err := decodeAnswer(e.Key, e.Value); err != nil || !out(a) {
				return err
			}
		}
		return nil
	})
}

func (t *recordTx) KeepAnswer(ctx context.Context, a Answer, now int64) error {
	gone, err := t.expired(ctx, now)
	if err != nil {
		return err
	}
	old, err := t.Answer(ctx, a.By, a.Key)
	if err == nil {
		gone = append(gone, expiresKey(old))
	} else if err = ignore(err, vitrine.ErrNotFound); err != nil {
		return err
	}
	value, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := t.tx.Delete(ctx, gone...); err != nil {
		return err
	}
	return t.tx.Put(ctx, storage.Entry{Key: keyOf(answerKind, a.By, a.Key), Value: value}, storage.Entry{Key: expiresKey(a)})
}

func expiresKey(a Answer) string { return keyOf(expiresKind, rec.Number(a.Expires), a.By, a.Key) }

// expired returns the keys of some answers that expired at now or before.
func (t *recordTx) expired(ctx context.Context, now int64) (keys []string, err error) {
	in := under(expiresKind)
	in.To, in.Limit = under(expiresKind, rec.Number(now)).To, removedAnswers
	for e, err := range t.tx.Scan(ctx, in) {
		if err != nil {
			return nil, err
		}
		// The key goes on after the time as that of the answer does after its kind, however long its parts are.
		_, name, _ := strings.Cut(strings.TrimPrefix(e.Key, rec.Prefix(appSpace, expiresKind)), " ")
		keys = append(keys, e.Key, rec.Prefix(appSpace, answerKind)+name)
	}
	return keys, nil
}
