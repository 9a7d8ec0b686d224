package storage

import (
	"context"
	"crypto/rand"
	"time"
)

// Identity tells a store from its copies. Feeds of changes put it into their cursors, so that a cursor of the original
// is not valid in a copy.
type Identity struct {
	Secret []byte // SecretSize random bytes, which copies of the store have too
	Name   []byte // 16 random bytes, others in each copy
}

// Defaults are the values that services on a store use for options that are nil. A store for tests sets them, so that
// the same calls write the same bytes in each run.
type Defaults struct {
	Now      func() time.Time // nil = time.Now
	NewID    func() string    // nil = random ids
	Identity Identity         // the first one of the store; zero = a random one
}

// DefaultsOf returns the Defaults of a store, or the zero Defaults if the store has no such method.
func DefaultsOf(s Store) Defaults {
	if d, ok := s.(interface{ Defaults() Defaults }); ok {
		return d.Defaults()
	}
	return Defaults{}
}

// IdentitySpace is the space that contains only the Identity of a store: its Secret at the key IdentitySecret, and its
// Name at IdentityName.
const IdentitySpace, IdentitySecret, IdentityName = "store", "store secret", "store name"

// SecretSize is how many bytes the Secret of an Identity has.
const SecretSize = 32

// ReadIdentity returns the Identity of a store, the zero one if it has none yet.
func ReadIdentity(ctx context.Context, r Reader) (Identity, error) {
	values, err := r.Get(ctx, IdentitySecret, IdentityName)
	if err != nil {
		return Identity{}, err
	}
	return Identity{values[0], values[1]}, nil
}

// EnsureIdentity gives a store an Identity if it has none.
func EnsureIdentity(ctx context.Context, s Store) error {
	var id Identity
	err := s.View(ctx, func(r Reader) (err error) {
		id, err = ReadIdentity(ctx, r)
		return err
	})
	if err != nil || id.Name != nil {
		return err
	}
	return s.Update(ctx, IdentitySpace, UpdateOptions{}, func(t Tx) error {
		id, err := ReadIdentity(ctx, t)
		if err != nil || id.Name != nil {
			return err
		}
		if id = DefaultsOf(s).Identity; id.Name == nil {
			id = Identity{random(SecretSize), random(16)}
		}
		return t.Put(ctx, Entry{IdentitySecret, id.Secret}, Entry{IdentityName, id.Name})
	})
}

// RenewIdentity gives a store another Name, as a copy needs it, and a Secret if there is none. No other update runs
// meanwhile.
func RenewIdentity(ctx context.Context, s Store) error {
	return s.Update(ctx, IdentitySpace, UpdateOptions{Exclusive: true}, func(t Tx) error {
		id, err := ReadIdentity(ctx, t)
		if err != nil {
			return err
		}
		if id.Secret == nil {
			id.Secret = random(SecretSize)
		}
		return t.Put(ctx, Entry{IdentitySecret, id.Secret}, Entry{IdentityName, random(16)})
	})
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}
