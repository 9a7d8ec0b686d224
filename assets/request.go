package assets

import (
	"context"
	"sync"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/rule"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// request is one call of a Service method within one transaction of the store. It has the caller, what was read of the
// library at the start, and what the call has changed so far. The rules of the package are its methods.
//
// A change such as AssignAssets takes these steps:
//
//  1. update calls authorize, which checks the caller and the names, and begins a transaction;
//  2. load reads the State of the library, and takes the tree of folders from the cache or the store;
//  3. the method finds assets and folders by the rules in access.go, writes records, and
//     notes in changes what the feed will say;
//  4. update stores the State and the entry of the feed, and the store commits all of it.
//
// The store may run a transaction again, for example after a conflict with another one. Each run
// has a request of its own, so a method must not keep results of an earlier run. A request is used by
// one goroutine.
type request struct {
	*Service
	member        // the caller; its methods are the rules of access
	*records      // of the library; an update puts their State at the end if it wrote anything
	change   bool // the caller wants to change the library; true also in a View that only checks whether the caller may

	ids     idCipher // encrypts and decrypts the ids and cursors of the library
	first   bool     // nothing was written to the library yet
	creates bool     // the library does not exist yet, and this request creates it
	wrote   bool     // the request has changed something

	tree       *tree // the folders: shared with other requests, or a clone of its own after cloneTree
	treeBefore *tree // the folders before the request; nil unless it changes folders

	terms   int       // the number of index entries that the request has stored, at most Limits.Terms
	changes changeSet // what the feed will say of the request
}

// view returns the result of fn on a snapshot of the library, for a request that only reads. It returns the errors of
// authorize and load, and those of fn.
func view[T any](ctx context.Context, s *Session, lib Library, fn func(*request) (T, error)) (out T, err error) {
	err = s.onSnapshot(ctx, lib, false, func(req *request) (err error) {
		if err = req.load(); err == nil {
			out, err = fn(req)
		}
		return err
	})
	return out, err
}

// onSnapshot runs fn on a snapshot of the library. fn must call load first. change is true if the caller wants to
// change the library: for a moderator about to create it, a missing library is then no error.
func (s *Session) onSnapshot(ctx context.Context, lib Library, change bool, fn func(*request) error) error {
	m, err := s.authorize(lib)
	if err != nil {
		return err
	}
	return s.service.snapshot(ctx, lib, m, change, fn)
}

// snapshot is onSnapshot for a member.
func (s *Service) snapshot(ctx context.Context, lib Library, m member, change bool, fn func(*request) error) error {
	return s.db.View(ctx, func(r storage.Reader) error {
		in, err := openRecords(ctx, lib, s.segments, r, nil)
		if err != nil {
			return err
		}
		return fn(&request{Service: s, member: m, records: in, change: change})
	})
}

// update returns the result of fn in a transaction on the library, for a request that changes it. Nothing is committed
// if fn returns an error. If fn has written something, or if the request creates the library, update also stores the
// State. If fn has changed something, update adds an entry to the feed. It returns ErrInvalid if the request has too
// many items. A heavy request waits while the caller has another one under way.
func update[T any](
	ctx context.Context, s *Session, lib Library, in size, fn func(*request) (T, error),
) (out T, err error) {
	if _, err := s.authorize(lib); err != nil {
		return out, err
	}
	if err := in.check(); err != nil {
		return out, err
	}
	if in.heavy() {
		end, err := s.service.turns.take(ctx, s.by.URN)
		if err != nil {
			return out, err
		}
		defer end()
	}
	err = s.updateAs(ctx, lib, storage.UpdateOptions{Large: in.heavy()}, func(req *request) (err error) {
		out, err = fn(req)
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return out, nil
}

// updateAs is update without limits and without a result.
func (s *Session) updateAs(ctx context.Context, lib Library, o storage.UpdateOptions, fn func(*request) error) error {
	m, err := s.authorize(lib)
	if err == nil {
		err = rule.Outside(ctx)
	}
	if err == nil {
		err = s.service.feeds.Identify(ctx) // before the first change, so that a backup with it has the identity
	}
	if err != nil {
		return err
	}
	space := spaceOf(lib)
	ahead := append(feed.Feed{Space: space}.Keys(urn.Author(s.by.URN, s.by.Agent)), keyval.Key(space, stateKind),
		index.Index{Space: space, Rules: int(oldRules)}.Key(), index.Index{Space: space, Rules: int(newRules)}.Key())
	return keyval.Update(ctx, s.service.db, space, o, func(t *keyval.Tx) error {
		if err := t.Ahead(ctx, ahead...); err != nil {
			return err
		}
		in, err := openRecords(ctx, lib, s.service.segments, t, t)
		if err != nil {
			return err
		}
		req := &request{Service: s.service, member: m, records: in, change: true}
		if err := req.load(); err != nil {
			return err
		}
		if err := fn(req); err != nil || !req.wrote && !req.creates {
			return err // nothing to commit, and no entry for the feed
		}
		if err := req.checkRule(); err != nil {
			return err
		}
		if err := req.putState(req.state, req.first); err != nil {
			return err
		}
		if err := req.addToFeed(); err != nil {
			return err
		}
		return req.finish()
	})
}

// load reads the folders of the library. It returns ErrNotFound if the library does not exist and the request does not
// create it.
func (req *request) load() (err error) {
	if req.first = !wasWritten(req.state); req.first {
		if req.creates, err = req.createsLibrary(); err != nil {
			return err
		}
		if req.tx != nil {
			random, err := req.newID()
			if err != nil {
				return err
			}
			// stored with the State if the request writes anything
			req.state.Key, req.state.Rules = newKey(random), newRules
		}
	}
	req.ids = newIDCipher(req.state.Key)
	req.tree, err = req.trees.of(req.records)
	return err
}

// fill calls Fill of a request for a change, if there is one, once the rules that do not depend on what it fills in
// allow the change.
func fill[In any](
	ctx context.Context, s *Session, lib Library, in *In, fill func(*In) error, rules func(*request) error,
) error {
	if fill == nil {
		return nil
	}
	if err := s.allowed(ctx, lib, rules); err != nil {
		return err
	}
	return fill(in)
}

// allowed returns the error of rules, which may be nil, for a change of the library before its body is read.
func (s *Session) allowed(ctx context.Context, lib Library, rules func(*request) error) error {
	return s.onSnapshot(ctx, lib, true, func(req *request) error {
		if err := req.load(); err != nil || rules == nil {
			return err
		}
		return rules(req)
	})
}

// CheckMember returns the error that every other method returns for a caller who may ask nothing about the library. It
// does not read the store, so it does not tell whether the library exists. A server asks it before it reads the
// parameters of a request.
//
// It returns ErrInvalid if the caller has a malformed URN or the id of the library is malformed, and ErrForbidden if
// the caller does not belong to the network or has TagsOnly set, or if the network's name cannot be one.
func (s *Session) CheckMember(lib Library) error {
	s = s.calls("CheckMember")
	_, err := s.authorize(lib)
	return err
}

// listSize is how many items a list of a request has. at is the pointer to it.
type listSize struct {
	at    string
	items int
}

// size is the size of a request for a change.
type size struct {
	lists []listSize
	limit int // of the items of the lists together
	more  int // what else the request stores: permissions of new folders, attributes
	bytes int // of content
}

// items returns the number of items of all lists.
func (s size) items() (n int) {
	for _, l := range s.lists {
		n += l.items
	}
	return n
}

// check returns ErrInvalid if the lists have more items together than the limit. The error points to
// the list with the first item that is too many.
func (s size) check() error {
	before := 0
	for _, l := range s.lists {
		if before += l.items; before > s.limit {
			return fault.Invalid(l.at, "the request has %d items, at most %d are allowed: send it in parts", s.items(),
				s.limit)
		}
	}
	return nil
}

// heavy reports whether other changes have to wait for this one for so long that its caller may make
// only one such change at a time; see turns.
func (s size) heavy() bool { return s.items()+s.more > 256 || s.bytes > 1<<20 }

// turns lets each caller make one heavy change, or decode one picture, at a time. A caller who sends many at once makes
// them one after the other, so a change of somebody else waits for one of them, and not for all. The zero value is
// ready for use.
type turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // the heavy changes under way, by the URN of the caller; closed at their end
}

// take waits until the caller has no heavy change under way, and begins one that ends when end is
// called. It returns the error of ctx if that is done before.
func (t *turns) take(ctx context.Context, caller string) (end func(), err error) {
	for {
		t.mu.Lock()
		other := t.taken[caller]
		if other == nil {
			mine := make(chan struct{})
			if t.taken == nil {
				t.taken = map[string]chan struct{}{}
			}
			t.taken[caller] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				delete(t.taken, caller)
				t.mu.Unlock()
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
