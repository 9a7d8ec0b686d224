package keyval

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// Clock returns now, the option of a service on a store, or what takes its place if it is nil: the clock of the store,
// else time.Now.
func Clock(db storage.Store, now func() time.Time) func() time.Time {
	if now == nil {
		now = storage.DefaultsOf(db).Now
	}
	if now == nil {
		now = time.Now
	}
	return now
}

// Secrets returns a function that gives 32 bytes that nobody can guess. On a store for golden tests they are derived
// from its identity and its next id.
func Secrets(db storage.Store) func() [32]byte {
	d := storage.DefaultsOf(db)
	return func() (secret [32]byte) {
		if d.NewID == nil || len(d.Identity.Secret) == 0 {
			_, _ = rand.Read(secret[:]) // never fails
			return secret
		}
		return sha256.Sum256([]byte("secret " + string(d.Identity.Secret) + d.NewID()))
	}
}

// IDs returns newID, the option of a service on a store, or what takes its place if it is nil: that of the store, else
// random. The function that it returns fails for an id of no characters, which would be an invalid key or the same as
// no id.
func IDs(db storage.Store, newID, random func() string) func() (string, error) {
	if newID == nil {
		newID = storage.DefaultsOf(db).NewID
	}
	if newID == nil {
		newID = random
	}
	return func() (string, error) {
		id := newID()
		if id == "" {
			return "", errors.New(`Options.NewID has returned ""`)
		}
		return id, nil
	}
}
