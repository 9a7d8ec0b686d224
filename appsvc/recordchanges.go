package appsvc

import (
	"context"
	"encoding/json"
	"strings"

	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// removedAnswers is how many expired answers an update removes at most. That is more than it adds.
const removedAnswers = 100

// answer is the stored result of a write with an idempotency key. If the caller repeats the write, the Service returns
// this result and does not write again; see idempotency.go. It has only ids and versions, so that a repeat can tell a
// caller nothing that was hidden from it meanwhile.
type answer struct {
	By      string // URN of the caller
	Key     string
	Request []byte // digest of the operation and its input
	Result  []byte // ids and versions, as JSON
	Expires int64  // milliseconds since the epoch
}

// answer returns the answer that is kept for a caller's key, also when it has expired. found is false if there is none.
func (r *reader) answer(ctx context.Context, by, key string) (a answer, found bool, err error) {
	at := keyOf(answerKind, by, key)
	value, err := r.value(ctx, at)
	if err != nil || value == nil {
		return answer{}, false, err
	}
	if err := json.Unmarshal(value, &a); err != nil {
		return a, false, damaged(at, err)
	}
	return a, true, nil
}

// keepAnswer stores an answer in the place of the one that is kept for the same caller and key, and removes up to removedAnswers
// of those that expired at now, in milliseconds since the epoch, or before.
func (t *writer) keepAnswer(ctx context.Context, a answer, now int64) error {
	var gone []string
	in := under(expiresKind)
	in.To, in.Limit = under(expiresKind, rec.Number(now)).To, removedAnswers
	for e, err := range t.tx.Scan(ctx, in) {
		if err != nil {
			return err
		}
		// The key goes on after the time as that of the answer does after its kind, however long its parts are.
		_, name, _ := strings.Cut(strings.TrimPrefix(e.Key, rec.Prefix(appSpace, expiresKind)), " ")
		gone = append(gone, e.Key, rec.Prefix(appSpace, answerKind)+name)
	}
	old, found, err := t.answer(ctx, a.By, a.Key)
	if err != nil {
		return err
	}
	if found {
		gone = append(gone, expiresKey(old))
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

func expiresKey(a answer) string { return keyOf(expiresKind, rec.Number(a.Expires), a.By, a.Key) }
