package sqlite

import (
	"container/list"
	"sync"
)

// cache holds values of one state of the store, the one that its stamp names, and so needs no
// transaction to read. Whoever reads compares that stamp with the present one: a commit of this
// process carries the cache on to the next state, where what the commit did not touch is still
// true; one of another process leaves it behind, and it starts anew.
type cache struct {
	limit   int // bytes
	present func() stamp

	mu     sync.Mutex
	at     stamp
	held   bool // a commit of this process is under way: it will carry the cache on
	size   int
	values map[any]*list.Element
	recent list.List // of cached, the last used first
}

// cached is a value with its key. Values are shared: nobody writes to one.
type cached struct {
	key, value any
	size       int
}

// effect is what a commit does to the cache: key has this value now. nil = unknown.
type effect cached

func newCache(limit int, present func() stamp) *cache {
	return &cache{limit: limit, present: present, at: present(), values: map[any]*list.Element{}}
}

// state returns the present state, if the cache is of it.
func (k *cache) state() (stamp, bool) {
	now := k.present()
	k.mu.Lock()
	defer k.mu.Unlock()
	return now, k.at == now
}

// get returns a value of the state at.
func (k *cache) get(key any, at stamp) (any, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, found := k.values[key]
	if !found || k.at != at {
		return nil, false
	}
	k.recent.MoveToFront(e)
	return e.Value.(*cached).value, true
}

// put keeps a value that was read in the state at, unless the cache is of another one.
func (k *cache) put(at stamp, e effect) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at == at {
		k.set(e)
	}
}

// adopt has the cache start anew with the state at, if that is the present one.
func (k *cache) adopt(at stamp) {
	k.mu.Lock()
	defer k.mu.Unlock()
	// The present state is asked for under the lock, so that a slow reader does not take the cache
	// back to a state that is over.
	if k.at != at && !k.held && k.present() == at {
		k.reset(at)
	}
}

// hold is called by the writer when it has the file's write lock: the present state stays until
// its own commit. It returns that state.
func (k *cache) hold() stamp {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held = true
	if now := k.present(); k.at != now {
		k.reset(now)
	}
	return k.at
}

// release ends what hold began. now is a state since the commit, sole whether none but this commit
// lies between the two, kept its effects.
func (k *cache) release(now stamp, sole bool, kept map[any]effect) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held = false
	if !sole {
		return // the stamp of this commit is not known; the next reader begins anew
	}
	k.at = now
	for _, e := range kept {
		k.set(e)
	}
}

func (k *cache) reset(at stamp) {
	k.at, k.size = at, 0
	clear(k.values)
	k.recent.Init()
}

func (k *cache) set(e effect) {
	if old, found := k.values[e.key]; found {
		k.remove(old)
	}
	if e.value == nil || e.size > k.limit/8 { // one value may not push out all others
		return
	}
	k.values[e.key] = k.recent.PushFront((*cached)(&e))
	for k.size += e.size; k.size > k.limit; {
		k.remove(k.recent.Back())
	}
}

func (k *cache) remove(e *list.Element) {
	c := k.recent.Remove(e).(*cached)
	delete(k.values, c.key)
	k.size -= c.size
}
