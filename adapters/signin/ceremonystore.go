package signin

import (
	"context"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// A ceremony is the state between two requests of a browser: the challenge for a passkey, or the request to a provider.
// It is in the store, so that another process may serve the second request, which removes it, right or wrong: a
// ceremony is used once.

// putCeremony stores a ceremony and returns its name, which only the browser that began it knows: when it ends, and a
// secret.
func (s *Service) putCeremony(ctx context.Context, c ceremony) (name string, err error) {
	now := s.millis()
	expires := now + ceremonyLife.Milliseconds()
	secret, hash := newSecret("")
	err = s.db.Update(ctx, transient, storage.UpdateOptions{}, func(t storage.Tx) error {
		// Expired ones are deleted.
		old := storage.Range{From: keyval.Prefix(transient, "ceremony/"),
			To: keyval.Key(transient, "ceremony/", keyval.Number(now))}
		if err := t.DeleteRange(ctx, old); err != nil {
			return err
		}
		return t.Put(ctx, keyval.JSON(ceremonyKey(expires, hash), c))
	})
	return strconv.FormatInt(expires, 36) + "." + secret, err
}

// takeCeremony removes a ceremony from the store and returns it. It returns an error if there is none with this name
// and of this kind.
func (s *Service) takeCeremony(ctx context.Context, name, kind string) (c *ceremony, err error) {
	when, secret, _ := strings.Cut(name, ".")
	expires, err := strconv.ParseInt(when, 36, 64)
	if err != nil || expires <= s.millis() {
		return nil, failed("the ceremony has ended")
	}
	key := ceremonyKey(expires, hashOf(secret))
	err = s.db.Update(ctx, transient, storage.UpdateOptions{}, func(t storage.Tx) (err error) {
		if c, err = read[ceremony](ctx, t, key); err != nil || c == nil {
			return err
		}
		return t.Delete(ctx, key)
	})
	if err == nil && (c == nil || c.Kind != kind) {
		err = failed("there is no such ceremony: it was used before")
	}
	return c, err
}
