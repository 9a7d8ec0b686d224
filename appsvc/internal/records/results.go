package records

import (
	"context"
	"strings"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// mostRemoved is the maximum number of expired results that an update removes. That is more than it adds.
const mostRemoved = 100

// Result is the stored result of a write with an idempotency key. If the caller repeats the write, the Service
// returns this result and does not write again; see idempotency.go. It has only ids and versions, so that a repeat
// reveals nothing that was hidden from the caller meanwhile.
type Result struct {
	By      string // URN of the caller
	Key     string
	Request []byte // digest of the operation and its input
	Result  []byte // ids and versions, as JSON
	Expires int64  // milliseconds since the epoch
}

// Result returns the stored result for a caller's key, even if it has expired. found is false if there is none.
func (r Reader) Result(ctx context.Context, by, key string) (a Result, found bool, err error) {
	found, err = keyval.Read(ctx, r, Key(ResultKind, by, key), &a)
	return a, found, err
}

// PutResult stores a result in place of an earlier one for the same caller and key, and removes up to mostRemoved
// results that expired at now, in milliseconds since the epoch, or before.
func (t Writer) PutResult(ctx context.Context, a Result, now int64) error {
	var gone []string
	in := Under(ExpiresKind)
	in.To, in.Limit = Under(ExpiresKind, keyval.Number(now)).To, mostRemoved
	for e, err := range t.Tx.Scan(ctx, in) {
		if err != nil {
			return err
		}
		// After the time, the key has the same parts as the key of the result after its kind.
		_, name, _ := strings.Cut(strings.TrimPrefix(e.Key, keyval.Prefix(Space, ExpiresKind)), " ")
		gone = append(gone, e.Key, keyval.Prefix(Space, ResultKind)+name)
	}
	old, found, err := t.Rows.Result(ctx, a.By, a.Key)
	if err != nil {
		return err
	}
	if found {
		gone = append(gone, expiresKey(old))
	}
	if err := t.Tx.Delete(ctx, gone...); err != nil {
		return err
	}
	return t.Tx.Put(ctx, keyval.JSON(Key(ResultKind, a.By, a.Key), a),
		storage.Entry{Key: expiresKey(a)})
}

func expiresKey(a Result) string { return Key(ExpiresKind, keyval.Number(a.Expires), a.By, a.Key) }
