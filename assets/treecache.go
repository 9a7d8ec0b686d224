package assets

// knownTree is the cached tree of folders of a library. Every request needs the whole tree, since
// permissions are inherited along it. Reading and linking it anew would cost more than most
// requests.
//
// The cache needs no invalidation. Every change of a folder or a permission gives State.Tree a new
// random number, and a request reads that number in its own transaction. A cached tree with the
// same number is therefore the tree of that transaction, also if another process has changed the
// library since, or the change was rolled back.
type knownTree struct {
	number int64 // State.Tree of the snapshot that the tree was read in
	tree   *tree
}

// maxTrees is the number of libraries whose trees a Service caches.
const maxTrees = 256

// remember caches the tree of a library with its number. When the cache is full, it evicts the tree
// of an arbitrary other library. Only Views call it, since the tree of an Update may be rolled
// back.
func (s *Service) remember(lib Library, number int64, t *tree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.trees[lib]; !known && len(s.trees) >= maxTrees {
		for other := range s.trees {
			delete(s.trees, other)
			break
		}
	}
	s.trees[lib] = knownTree{number, t}
}

// recall returns the cached tree of the library, or nil if none with this number is cached. Callers
// share the tree and do not change it.
func (s *Service) recall(lib Library, number int64) *tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.trees[lib]; ok && known.number == number {
		return known.tree
	}
	return nil
}
