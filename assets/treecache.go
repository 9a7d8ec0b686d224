package assets

// knownTree is a cached tree of folders with its number, State.Tree.
type knownTree struct {
	number int64
	tree   *tree
}

// maxTrees is the number of libraries whose trees are cached.
const maxTrees = 256

// remember caches a tree with its number. It evicts any other when the cache is full.
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

// recall returns the cached tree of the library if it has this number, or nil.
func (s *Service) recall(lib Library, number int64) *tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.trees[lib]; ok && known.number == number {
		return known.tree
	}
	return nil
}
