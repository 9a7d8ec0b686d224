package signin

import (
	"context"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// A ceremony is a question to a browser that is answered with a second request: what a passkey has to sign, or what a provider is asked. It
// is in the store, so that another process may get the answer, and is taken out with the first answer, right or wrong: nothing can be
// answered twice.

// ask stores a ceremony and returns its name, which only the browser that began it knows: when it ends, and a secret.
func (s *Service) ask(ctx context.Context, c ceremony) (name string, err error) {
	now := s.millis()
	expires := now + ceremonyLife.Milliseconds()
	secret, hash := newSecret("")
	err = s.db.Update(ctx, passed, storage.UpdateOptions{}, func(t storage.Tx) error {
		// Those that were not answered in time go.
		old := storage.Range{From: record.Prefix(passed, "ceremony/"), To: record.Key(passed, "ceremony/", record.Number(now))}
		if err := t.DeleteRange(ctx, old); err != nil {
			return err
		}
		return t.Put(ctx, stored(ceremonyKey(expires, hash), c))
	})
	return strconv.FormatInt(expires, 36) + "." + secret, err
}

// answered takes a ceremony out of the store. It is an error if there is none with this name and of this kind.
func (s *Service) answered(ctx context.Context, name, kind string) (c *ceremony, err error) {
	when, secret, _ := strings.Cut(name, ".")
	expires, err := strconv.ParseInt(when, 36, 64)
	if err != nil || expires <= s.millis() {
		return nil, failed("the ceremony has ended")
	}
	key := ceremonyKey(expires, hashOf(secret))
	err = s.db.Update(ctx, passed, storage.UpdateOptions{}, func(t storage.Tx) (err error) {
		if c, err = read[ceremony](ctx, t, key); err != nil || c == nil {
			return err
		}
		return t.Delete(ctx, key)
	})
	if err == nil && (c == nil || c.Kind != kind) {
		err = failed("there is no such ceremony: it was answered before")
	}
	return c, err
}
