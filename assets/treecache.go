package assets

// knownTree is the tree of folders of a library, in the cache or on the way to it. Every request
// needs the whole tree, since permissions are inherited along it. Reading and linking it anew would
// cost more than most requests.
//
// The cache needs no invalidation. Every change of a folder or a permission gives State.Tree a new
// random number, and a request reads that number in its own transaction. A cached tree with the
// same number is therefore the tree of that transaction, also if another process has changed the
// library since, or the change was rolled back.
type knownTree struct {
	number int64         // State.Tree of the snapshot that the tree is read in
	done   chan struct{} // closed when the tree was read, or reading it has failed
	tree   *tree         // set before done is closed; nil if reading it has failed
	size   int           // how much of maxCached it takes; guarded by Service.mu
}

// The trees that a Service caches have at most maxCached folders and permissions together, which are some 300 bytes
// each. A small tree counts as one with a 256th of that, so there are at most 256 trees. Tests change it.
var maxCached = 1 << 19

// treeOf returns the tree of a library. Requests that need the same tree at the same time read it once: the first one reads it, and
// the others wait. Callers share the tree and do not change it.
//
// In an update nobody waits, and nobody is waited for: updates that share a transaction go on one after the other.
func (s *Service) treeOf(r *records) (*tree, error) {
	if r.tx != nil {
		s.mu.Lock()
		known := s.trees[r.lib]
		s.mu.Unlock()
		if known != nil && known.number == r.state.Tree {
			select {
			case <-known.done:
				if known.tree != nil {
					return known.tree, nil
				}
			default:
			}
		}
		return newTree(r.folders())
	}
	for {
		known, first := s.recall(r.lib, r.state.Tree)
		if first {
			return s.fill(known, r)
		}
		select {
		case <-known.done:
		case <-r.ctx.Done():
			return nil, r.ctx.Err()
		}
		if known.tree != nil { // nil = the first request has failed, maybe since its client has gone
			return known.tree, nil
		}
	}
}

// fill reads a tree into the cache.
func (s *Service) fill(known *knownTree, r *records) (*tree, error) {
	defer func() { // also if reading panics
		if known.tree == nil {
			s.forget(r.lib, known)
		}
		close(known.done)
	}()
	t, err := newTree(r.folders())
	known.tree = t // nil with an error
	if err == nil {
		s.makeRoom(r.lib, known, len(t.nodes)+t.permissions)
	}
	return t, err
}

// makeRoom notes the size of a tree that was read, and takes the trees of arbitrary other libraries out of the cache until the
// others fit beside it.
func (s *Service) makeRoom(lib Library, known *knownTree, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known.size = max(size, maxCached/256)
	all := 0
	for _, k := range s.trees {
		all += k.size
	}
	for other, k := range s.trees {
		if all > maxCached && other != lib {
			delete(s.trees, other)
			all -= k.size
		}
	}
}

// recall returns the tree with this number. If it is neither cached nor on the way, first is true and the
// caller must fill it.
func (s *Service) recall(lib Library, number int64) (known *knownTree, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, found := s.trees[lib]
	if found && known.number == number {
		return known, false
	}
	known = &knownTree{number: number, done: make(chan struct{}), size: maxCached / 256}
	s.trees[lib] = known
	return known, true
}

// forget takes a tree that could not be read out of the cache.
func (s *Service) forget(lib Library, known *knownTree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trees[lib] == known {
		delete(s.trees, lib)
	}
}
