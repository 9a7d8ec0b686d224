package appsvc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// A program whose connection broke cannot know whether its write was done. It sends the write again with the same
// idempotency key, and the service does it at most once. The header Idempotency-Key over HTTP has this purpose.
//
// The stored result of a write has only ids and versions, from which the service reads what it returned the first time.
// A version never changes, so this is the same. The rights of the caller are checked again: they may have been revoked,
// or the app may have left the groups of the caller.

// resultLife is how long the result of a write is stored for a retry.
const resultLife = 24 * time.Hour

// keyHeader is the header that carries an idempotency key over HTTP.
const keyHeader = "Idempotency-Key"

// errRepeated rolls back a transaction because the same write was done before.
var errRepeated = errors.New("done before")

// idempotentWrite identifies a write by its caller and its idempotency key. When a client retries the write with the
// same key, the service returns the result of the first attempt and writes nothing. A write without a key is always
// done.
//
// The result of the first attempt is stored in the transaction of the write, so there is no moment at which the write
// is done and a retry would do it again.
//
// Each call of a method that takes a key makes one by newIdempotentWrite, and passes it to Service.write or
// writeVersion. A method whose caller needs a right to something that is stored sets may.
type idempotentWrite struct {
	by  vitrine.Caller
	key string // "" = none
	// SHA-256 of the operation and its input, to detect another request with the same key
	request []byte
	// checks the rights of the caller for a repeat; nil = the operation has checked them
	may func(context.Context, *reader) error
}

// newIdempotentWrite returns the write of an operation with this input. The name of the operation and the JSON of the
// input go into a digest that is stored for a day. So both must stay the same: otherwise a retry after an upgrade would
// be rejected as another request. It returns ErrInvalid if the key is malformed. Without a key the write is not
// idempotent, and nothing is stored for it.
func newIdempotentWrite(by vitrine.Caller, key, operation string, input any) (idempotentWrite, error) {
	w := idempotentWrite{by: by, key: key}
	if key == "" {
		return w, nil
	}
	if err := checkKey(key); err != nil {
		return w, err
	}
	text, err := json.Marshal(input)
	if err != nil {
		return w, fault.Invalid("", "%s", err)
	}
	sum := sha256.Sum256(append([]byte(operation+"\n"), text...))
	w.request = sum[:]
	return w, nil
}

// checkKey returns ErrInvalid unless a key has 1 to 255 visible ASCII characters. Callers do
// not pass the empty key, which means that the request has none.
func checkKey(key string) error {
	ok := len(key) <= 255
	for i := range len(key) {
		ok = ok && key[i] > ' ' && key[i] < 0x7f
	}
	if !ok {
		return fault.Invalid(keyHeader, "an idempotency key has 1 to 255 visible ASCII characters")
	}
	return nil
}

// replay returns errRepeated if this write was done before, and fills result with its stored result. It first checks by
// w.may that the caller has the rights now. It returns ErrUnprocessable with CodeKeyReused if the key was used for
// another request. now is the time in milliseconds since the epoch: a result that expires at now or before is ignored,
// even if the store still has it.
//
// It returns nil if the write has no key or was not done yet. Then the caller of replay continues with the write.
func (w idempotentWrite) replay(ctx context.Context, r *reader, now int64, result any) error {
	if w.key == "" {
		return nil
	}
	if w.may != nil {
		if err := w.may(ctx, r); err != nil {
			return err
		}
	}
	a, found, err := r.Result(ctx, w.by.URN, w.key)
	switch {
	case err != nil || !found || a.Expires <= now:
		return err
	case !bytes.Equal(a.Request, w.request):
		return fault.Unprocessable(vitrine.CodeKeyReused, keyHeader,
			"the key %q was used for another request within a day", w.key)
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return fmt.Errorf("stored result: %w", err)
	}
	return errRepeated
}

// remember stores the result for a retry, in the transaction of the write, until resultLife has passed. A write without
// a key stores nothing.
func (w idempotentWrite) remember(ctx context.Context, tx *writer, now int64, result any) error {
	if w.key == "" {
		return nil
	}
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return tx.PutResult(ctx, records.Result{By: w.by.URN, Key: w.key, Request: w.request, Result: text,
		Expires: now + resultLife.Milliseconds()}, now)
}

// write calls prepare, which may be nil, outside of any transaction and then fn in an Update. fn fills result, which is
// stored with the write. If the write was done before, write does not call fn; it fills result with what was stored and
// returns repeated as true. It looks for the result before prepare, and again in the Update: a retry may arrive while
// the first attempt is running. In that case prepare has been called. A write that fails stores no result, so a repeat
// with the same key is done like a first attempt.
func (s *Service) write(
	ctx context.Context, w idempotentWrite, result any, prepare func() error, fn func(*writer) error,
) (repeated bool, err error) {
	if w.key != "" {
		err := s.store.view(ctx, func(r *reader) error { return w.replay(ctx, r, s.millis(), result) })
		if err != nil {
			return errors.Is(err, errRepeated), ignore(err, errRepeated)
		}
	}
	if prepare != nil {
		if err := prepare(); err != nil {
			return false, err
		}
	}
	err = s.store.update(ctx, func(tx *writer) error {
		now := s.millis()
		if err := w.replay(ctx, tx.reader, now, result); err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		return w.remember(ctx, tx, now, result)
	})
	return errors.Is(err, errRepeated), ignore(err, errRepeated)
}

// ignore returns err, or nil if err wraps target.
func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

// versionRef is stored for a retry of a write that makes a version of an app. The names of its fields are in stores, so
// they must not change.
type versionRef struct {
	ID      string
	Version int64
}

// writeVersion is write for operations that return the version that they make. A repeat reads this version again, by
// Session.Version with the rights that the caller has now.
func (s *Service) writeVersion(
	ctx context.Context, w idempotentWrite, prepare func() error, fn func(*writer) (App, error),
) (App, error) {
	var ref versionRef
	var app App
	repeated, err := s.write(ctx, w, &ref, prepare, func(tx *writer) (err error) {
		app, err = fn(tx)
		ref = versionRef{app.ID, app.Version.Number()}
		return err
	})
	if err != nil {
		return App{}, err
	}
	if repeated {
		return s.As(w.by).Version(ctx, ref.ID, vitrine.NewVersion(ref.Version))
	}
	return app, nil
}
