package appsvc

import (
	"context"
	"encoding/json"
	"strings"

	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// mostRemoved is the maximum number of expired results that an update removes. That is more than it adds.
const mostRemoved = 100

// storedResult is the stored result of a write with an idempotency key. If the caller repeats the write, the Service
// returns this result and does not write again; see idempotency.go. It has only ids and versions, so that a repeat
// reveals nothing that was hidden from the caller meanwhile.
type storedResult struct {
	By      string // URN of the caller
	Key     string
	Request []byte // digest of the operation and its input
	Result  []byte // ids and versions, as JSON
	Expires int64  // milliseconds since the epoch
}

// storedResult returns the stored result for a caller's key, even if it has expired. found is false if there is none.
func (r *reader) storedResult(ctx context.Context, by, key string) (a storedResult, found bool, err error) {
	at := keyOf(resultKind, by, key)
	value, err := r.value(ctx, at)
	if err != nil || value == nil {
		return storedResult{}, false, err
	}
	if err := json.Unmarshal(value, &a); err != nil {
		return a, false, damaged(at, err)
	}
	return a, true, nil
}

// putResult stores a result in place of an earlier one for the same caller and key, and removes up to mostRemoved
// results that expired at now, in milliseconds since the epoch, or before.
func (t *writer) putResult(ctx context.Context, a storedResult, now int64) error {
	var gone []string
	in := under(expiresKind)
	in.To, in.Limit = under(expiresKind, rec.Number(now)).To, mostRemoved
	for e, err := range t.tx.Scan(ctx, in) {
		if err != nil {
			return err
		}
		// After the time, the key has the same parts as the key of the result after its kind.
		_, name, _ := strings.Cut(strings.TrimPrefix(e.Key, rec.Prefix(appSpace, expiresKind)), " ")
		gone = append(gone, e.Key, rec.Prefix(appSpace, resultKind)+name)
	}
	old, found, err := t.storedResult(ctx, a.By, a.Key)
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
	return t.tx.Put(ctx, storage.Entry{Key: keyOf(resultKind, a.By, a.Key), Value: value},
		storage.Entry{Key: expiresKey(a)})
}

func expiresKey(a storedResult) string { return keyOf(expiresKind, rec.Number(a.Expires), a.By, a.Key) }
