package sqlite

import (
	"sync"

	"github.com/vitrine-go/vitrine/internal/lru"
)

// cache keeps values of one state of the store, which its stamp names, so that they can be read without a
// transaction. A reader compares that stamp with the current one. After a commit of this process the cache moves to
// the new state: values that the commit changed are replaced, and the others stay. After a commit of another process the
// stamps differ, and the cache is emptied.
type cache struct {
	limit   int // bytes
	present func() stamp

	mu     sync.Mutex
	at     stamp
	held   bool // a transaction of this process is running, and its commit will move the cache to the new state
	values *lru.Cache[any, any]

	hits, misses uint64 // of get
}

// effect is a value of a key that was read, or that a commit has set; nil = the value is not known and must be read. size is
// how many bytes it takes in the cache, about. Values are shared and must not be changed.
type effect struct {
	key, value any
	size       int
}

func newCache(limit int, present func() stamp) *cache {
	return &cache{limit: limit, present: present, at: present(), values: lru.New[any, any](limit)}
}

// state returns the current state of the store, and whether the cache has values of this state.
func (k *cache) state() (stamp, bool) {
	now := k.present()
	k.mu.Lock()
	defer k.mu.Unlock()
	return now, k.at == now
}

// get returns the value of key in the state at, if it is cached.
func (k *cache) get(key any, at stamp) (any, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at == at {
		if value, found := k.values.Get(key); found {
			k.hits++
			return value, true
		}
	}
	k.misses++
	return nil, false
}

// put caches a value that was read in the state at. It does nothing if the cache has the values of another state.
func (k *cache) put(at stamp, e effect) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at == at {
		k.set(e)
	}
}

// adopt empties the cache and moves it to the state at, if the cache has another state and at is the current state of the
// store. It does nothing between hold and release.
func (k *cache) adopt(at stamp) {
	k.mu.Lock()
	defer k.mu.Unlock()
	// The current state is read under the lock, so that a slow reader does not move the cache back to an old
	// state.
	if k.at != at && !k.held && k.present() == at {
		k.reset(at)
	}
}

// hold is called by the writer when it has the file's write lock, so that the state cannot change before its own
// commit. It returns that state.
func (k *cache) hold() stamp {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held = true
	if now := k.present(); k.at != now {
		k.reset(now)
	}
	return k.at
}

// release is called when the transaction has ended, with a commit or without. now is a state after it. sole is true if the
// transaction was committed, and no other commit lies between the state of hold and now; then the cache moves to now, and kept
// are the values that the commit has set. Otherwise the cache stays at its state, which is still right after a rollback.
func (k *cache) release(now stamp, sole bool, kept map[any]effect) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held = false
	if !sole {
		return // if there were commits, the next reader empties the cache
	}
	k.at = now
	for _, e := range kept {
		k.set(e)
	}
}

func (k *cache) reset(at stamp) {
	k.at = at
	k.values.Clear()
}

func (k *cache) set(e effect) {
	if e.value == nil || e.size > k.limit/8 { // one value must not push out most others
		k.values.Remove(e.key)
		return
	}
	k.values.Put(e.key, e.value, e.size)
}
