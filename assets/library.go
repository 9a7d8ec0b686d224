package assets

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"strings"

	"github.com/vitrine-go/vitrine/internal/urn"
)

// exists reports whether something was written to the library.
func exists(s State) bool { return s.Key != Key{} }

// newKey makes a library's key from a random string.
func newKey(random string) Key {
	sum := sha256.Sum256([]byte("library " + random))
	return Key(sum[:16])
}

// newTreeNumber returns a number for a tree of folders, by which caches recognize it. Numbers are random, so two different
// trees never have the same one. A counter would repeat numbers: after an update was rolled back, and after a failover that
// loses commits.
func newTreeNumber() int64 {
	var b [8]byte
	rand.Read(b[:])
	return int64(binary.BigEndian.Uint64(b[:]))
}

// checkLibrary returns ErrForbidden if the library's network cannot be one, and ErrInvalid if its ID is malformed.
func checkLibrary(l Library, networkURN string, maxID int) error {
	if err := urn.CheckGroup(networkURN); err != nil || strings.Contains(l.Network, ":") {
		return forbidden("", "%q is not the name of a network", l.Network)
	}
	if checkName("", l.ID, maxID) != nil {
		return invalid("", "the id of a library has 1 to %d characters of UTF-8, none of them a control character", maxID)
	}
	return nil
}

// Libraries yields every library that exists, for programs that act for the operator of the store. They are in the order
// of networks and then of ids, in bytes.
func (s *Service) Libraries(ctx context.Context) iter.Seq2[Library, error] {
	return s.store.Libraries(ctx)
}
