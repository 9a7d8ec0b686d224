package assets

import "context"

// request is one request within one transaction.
type request struct {
	*Service
	member
	ctx        context.Context
	lib        Library
	r          Reader
	tx         Tx   // nil in a view
	change     bool // the request changes the library, though its rules may be checked in a View
	state      State
	wrote      bool
	creates    bool // the request creates the library
	terms      int  // index entries stored so far
	tree       *tree
	treeBefore *tree // the tree before a change of folders; nil without one
	seal       seal

	changes changeSet // that the request has made so far
}

// view runs fn on a snapshot of the library.
func (s *Service) view(ctx context.Context, by Caller, lib Library, fn func(*request) error) error {
	return s.read(ctx, by, lib, false, fn)
}

// read runs fn on a snapshot of the library, for a request that reads or for one that is to change the library.
func (s *Service) read(ctx context.Context, by Caller, lib Library, change bool, fn func(*request) error) error {
	m, err := s.enter(by, lib)
	if err != nil {
		return err
	}
	return s.store.View(ctx, lib, func(r Reader) error {
		req := &request{Service: s, member: m, ctx: ctx, lib: lib, r: r, change: change}
		if err := req.load(); err != nil {
			return err
		}
		s.remember(lib, req.state.Tree, req.tree)
		return fn(req)
	})
}

// update runs fn in a transaction on the library. If fn has changed something, it stores the library's State and adds an entry
// to the feed.
func (s *Service) update(ctx context.Context, by Caller, lib Library, fn func(*request) error) error {
	m, err := s.enter(by, lib)
	if err != nil {
		return err
	}
	return s.store.Update(ctx, lib, func(tx Tx) error {
		req := &request{Service: s, member: m, ctx: ctx, lib: lib, r: tx, tx: tx, change: true}
		if err := req.load(); err != nil {
			return err
		}
		if err := fn(req); err != nil || !req.wrote && !req.creates {
			return err
		}
		if err := tx.SetState(ctx, req.state); err != nil {
			return err
		}
		return req.addToFeed()
	})
}

// load reads the State and the tree of folders. If the library does not exist, a moderator's change creates it, even if it
// changes nothing else: a request that succeeded must not be followed by a 404. Any other request is ErrNotFound.
func (req *request) load() error {
	state, err := req.r.State(req.ctx)
	if err != nil {
		return err
	}
	if !exists(state) {
		if req.lib.ID != req.lib.Network {
			if !req.change || !req.moderator {
				return notFound("", "there is no such library")
			}
			req.creates = true
		}
		if req.tx != nil {
			state.Key = newKey(req.newID())
		}
	}
	req.state, req.seal = state, newSeal(state.Key)
	req.tree = req.recall(req.lib, state.Tree)
	if req.tree == nil {
		req.tree, err = readTree(req.ctx, req.r)
	}
	return err
}
