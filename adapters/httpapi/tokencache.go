package httpapi

import (
	"crypto/sha256"
	"sync"
	"time"
)

// verified remembers tokens whose signature was good, by their SHA-256 digest, so that the next request with the same
// token costs a look-up in place of a verification. It holds no token, and at most twice limit entries: when young is
// full it becomes old, and what was old and not used since then is forgotten. It is safe for concurrent use.
type verified struct {
	mu         sync.RWMutex
	limit      int
	young, old map[digest]grant
}

// digest is the SHA-256 of a token. So the cache holds no token that could be read from memory.
type digest = [sha256.Size]byte

// grant is what a verified token says. The entry counts until expires.
type grant struct {
	principal Principal
	expires   time.Time
}

// newVerified returns a cache that has no entry yet.
func newVerified(limit int) *verified {
	return &verified{limit: limit, young: map[digest]grant{}}
}

// get returns who the token stands for. It reports false for a token that is not remembered or has expired. An entry that is
// found among the old ones is young again, so a token is forgotten only if at least limit others were put since its last use.
func (v *verified) get(d digest, now time.Time) (Principal, bool) {
	v.mu.RLock()
	g, ok := v.young[d]
	old, kept := v.old[d]
	v.mu.RUnlock()
	if !ok && kept {
		g, ok = old, true
		v.put(d, g.principal, g.expires)
	}
	return g.principal, ok && now.Before(g.expires)
}

// put remembers a token.
func (v *verified) put(d digest, p Principal, expires time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.young) >= v.limit {
		v.old, v.young = v.young, map[digest]grant{}
	}
	v.young[d] = grant{p, expires}
}
