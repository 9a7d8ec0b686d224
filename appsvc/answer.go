package appsvc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Answer is the outcome of a write that its caller gave an Idempotency-Key: a repeat is answered
// with it instead of being done again.
type Answer struct {
	By      string // URN of the caller
	Key     string
	Request []byte // digest of the operation and its input
	Result  []byte
	Expires int64 // milliseconds since the epoch
}

// answerLife is how long an answer is kept for a repeat.
const answerLife = 24 * time.Hour

// errRepeated ends a transaction because the write was done before.
var errRepeated = errors.New("done before")

// once is a write of a caller that may be a repeat of an earlier one. The zero key is no key: such
// a write is always done.
type once struct {
	by      Caller
	key     string
	request []byte
}

func newOnce(by Caller, key, operation string, input any) (once, error) {
	o := once{by: by, key: key}
	if key == "" {
		return o, nil
	}
	if err := checkKey(key); err != nil {
		return o, err
	}
	text, err := json.Marshal(input)
	if err != nil {
		return o, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	sum := sha256.Sum256(append([]byte(operation+"\n"), text...))
	o.request = sum[:]
	return o, nil
}

func checkKey(key string) error {
	ok := len(key) <= 255
	for i := range len(key) {
		ok = ok && key[i] > ' ' && key[i] < 0x7f
	}
	if !ok {
		return fmt.Errorf("%w: Idempotency-Key: want 1 to 255 visible ASCII characters", ErrInvalid)
	}
	return nil
}

// answered returns errRepeated, with the first result in result, when this write was done before,
// and ErrUnprocessable when the key was used for another one.
func (o once) answered(ctx context.Context, r Reader, now int64, result any) error {
	if o.key == "" {
		return nil
	}
	a, err := r.Answer(ctx, o.by.URN, o.key)
	switch {
	case errors.Is(err, ErrNotFound) || err == nil && a.Expires <= now:
		return nil
	case err != nil:
		return err
	case !bytes.Equal(a.Request, o.request):
		return fmt.Errorf("%w: Idempotency-Key: %q was used for another request within a day", ErrUnprocessable, o.key)
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return fmt.Errorf("stored answer: %w", err)
	}
	return errRepeated
}

func (o once) keep(ctx context.Context, tx Tx, now int64, result any) error {
	if o.key == "" {
		return nil
	}
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return tx.KeepAnswer(ctx, Answer{o.by.URN, o.key, o.request, text, now + answerLife.Milliseconds()}, now)
}

// write runs prepare, which may be nil, and then fn in an Update. fn fills result. A write that was
// done before is not done again: result gets what it was the first time.
func (s *Service) write(ctx context.Context, o once, result any, prepare func() error, fn func(Tx) error) (repeated bool, err error) {
	if o.key != "" {
		err := s.store.View(ctx, func(r Reader) error { return o.answered(ctx, r, s.millis(), result) })
		if err != nil {
			return errors.Is(err, errRepeated), ignore(err, errRepeated)
		}
	}
	if prepare != nil {
		if err := prepare(); err != nil {
			return false, err
		}
	}
	err = s.store.Update(ctx, func(tx Tx) error {
		now := s.millis()
		if err := o.answered(ctx, tx, now, result); err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		return o.keep(ctx, tx, now, result)
	})
	return errors.Is(err, errRepeated), ignore(err, errRepeated)
}

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

// versionRef names a version of an app: what is kept of an answer that shows one.
type versionRef struct {
	ID      string
	Version Version
}

// writeVersion is write for operations that answer with the version they make.
func (s *Service) writeVersion(ctx context.Context, o once, prepare func() error, fn func(Tx) (App, error)) (App, error) {
	var ref versionRef
	var app App
	repeated, err := s.write(ctx, o, &ref, prepare, func(tx Tx) (err error) {
		app, err = fn(tx)
		ref = versionRef{app.ID, app.Version}
		return err
	})
	if err != nil {
		return App{}, err
	}
	if repeated {
		return s.Version(ctx, o.by, ref.ID, ref.Version)
	}
	return app, nil
}
