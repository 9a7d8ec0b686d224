package httpapi

import (
	"crypto/sha256"
	"time"

	"github.com/vitrine-go/vitrine/internal/lru"
)

// verified remembers tokens whose signature was good, by their SHA-256 digest, so that the next request with the same
// token costs a look-up in place of a verification. It holds no token. It is safe for concurrent use.
type verified struct {
	grants *lru.Cache[digest, grant]
}

// digest is the SHA-256 of a token. So the cache holds no token that could be read from memory.
type digest = [sha256.Size]byte

// grant is what a verified token says. The entry counts until expires.
type grant struct {
	principal Principal
	expires   time.Time
}

// newVerified returns a cache of this many tokens, those that were used last.
func newVerified(limit int) *verified { return &verified{grants: lru.New[digest, grant](limit)} }

// get returns who the token stands for. It reports false for a token that is not remembered or has expired.
func (v *verified) get(d digest, now time.Time) (Principal, bool) {
	g, ok := v.grants.Get(d)
	return g.principal, ok && now.Before(g.expires)
}

// put remembers a token.
func (v *verified) put(d digest, p Principal, expires time.Time) {
	v.grants.Put(d, grant{p, expires}, 1)
}
