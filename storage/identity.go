package storage

import (
	"context"
	"crypto/rand"
	"time"
)

// Identity tells a store from its copies. Feeds of changes put it into their cursors, so that nobody goes on in a copy where the
// original stood.
type Identity struct {
	Secret []byte // 32 random bytes, which copies of the store have too
	Name   []byte // 16 random bytes, others in each copy
}

// Defaults are what services on a store take for their options that are nil. A store for tests has them, so that the same calls give the
// same bytes in each run.
type Defaults struct {
	Now      func() time.Time // nil = time.Now
	NewID    func() string    // nil = random ids
	Identity Identity         // the first one of the store; zero = a random one
}

// DefaultsOf returns what the method Defaults of a store does, the zero Defaults for a store without one.
func DefaultsOf(s Store) Defaults {
	if d, ok := s.(interface{ Defaults() Defaults }); ok {
		return d.Defaults()
	}
	return Defaults{}
}

// IdentitySpace is the space that has nothing but the Identity of a store.
const IdentitySpace, secretKey, nameKey = "store", "store secret", "store name"

// ReadIdentity returns the Identity of a store, the zero one if it has none yet.
func ReadIdentity(ctx context.Context, r Reader) (Identity, error) {
	values, err := r.Get(ctx, secretKey, nameKey)
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
			id = Identity{random(32), random(16)}
		}
		return t.Put(ctx, Entry{secretKey, id.Secret}, Entry{nameKey, id.Name})
	})
}

// RenewIdentity gives a store another Name, as a copy needs it, and a Secret if there is none. No other update runs meanwhile.
func RenewIdentity(ctx context.Context, s Store) error {
	return s.Update(ctx, IdentitySpace, UpdateOptions{Exclusive: true}, func(t Tx) error {
		id, err := ReadIdentity(ctx, t)
		if err != nil {
			return err
		}
		if id.Secret == nil {
			id.Secret = random(32)
		}
		return t.Put(ctx, Entry{secretKey, id.Secret}, Entry{nameKey, random(16)})
	})
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}
