package assets

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"
)

// Service holds the rules of the asset manager: who may see and change what, which requests are valid, and which assets a
// search finds. It is safe for concurrent use.
//
// Every method takes the caller and the library. It returns ErrInvalid if the caller has a malformed URN, ErrForbidden if the
// caller does not belong to the network, ErrNotFound if the library does not exist, and the errors of the Store.
type Service struct {
	store  Store
	now    func() time.Time
	newID  func() string
	vendor string
	limits Limits
	keep   time.Duration // of entries of the feeds; negative = for ever
	writes atomic.Uint32 // entries that this Service has written

	mu    sync.Mutex
	trees map[Library]knownTree // a cache of folder trees, valid while State.Tree has the same number
}

// knownTree is a cached tree of folders with its number, State.Tree.
type knownTree struct {
	number int64
	tree   *tree
}

// Options are the options of New; the zero value works.
type Options struct {
	Now    func() time.Time // default time.Now
	NewID  func() string    // makes ids of folders and permissions, random ones; default rand.Text
	Vendor string           // second segment of URNs; default "vitrine"
	Limits Limits

	// KeepChanges is how long entries stay in the feeds of changes; 0 = 30 days, negative = for ever. They are removed
	// in small steps, together with later changes of the same library.
	KeepChanges time.Duration
}

// Limits bound the requests to a Service. A zero field means the default, which is the number at the end of each comment.
type Limits struct {
	Page       int // items a page may have; 500
	Name       int // characters of a label, a generator id, a tag, an attribute's key, a library's id; 128
	Subject    int // characters of what a permission names; 512
	Text       int // characters of a foreign id and an attribute's value; 1,024
	Tags       int // of an asset; 100
	Attributes int // of an asset, and in one list of a change; 1,000
	// AssetFolders is the number of folders that an asset may be in; 1,000.
	AssetFolders int
	Content      int // bytes of an asset's content, as it is sent; 256 KiB
	Permissions  int // of one folder; 1,000
	Depth        int // levels of folders; 64
	Query        int // bytes of a search text; 512
	Words        int // of a search text; 16
	SearchTags   int // that a search asks for; 16
	// SearchAttributes is the number of attributes that a search asks for; 16.
	SearchAttributes int
	Facets           int // of a search; 8
	IDs              int // that a list of folders asks for, and likewise paths; 100
	// SearchTime is how long a search may take; 2 s. One that takes longer is ErrBusy.
	SearchTime time.Duration
	// Terms bounds the index entries that one request may store: the different words, tags, folders and attributes of
	// each asset, added up over its assets. Other writes wait while they are stored. 200,000.
	Terms int
	// PageBytes is the size at which a page ends, and the largest response to a change of assets, attributes or folders.
	// A response with a single item may be longer. 16 MiB.
	PageBytes int
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *int
		value int
	}{
		{&l.Page, 500}, {&l.Name, 128}, {&l.Subject, 512}, {&l.Text, 1024}, {&l.Tags, 100},
		{&l.Attributes, 1000}, {&l.AssetFolders, 1000}, {&l.Content, 256 << 10},
		{&l.Permissions, 1000}, {&l.Depth, 64}, {&l.Query, 512}, {&l.Words, 16}, {&l.Terms, 200_000}, {&l.PageBytes, 16 << 20},
		{&l.SearchTags, 16}, {&l.SearchAttributes, 16}, {&l.Facets, 8}, {&l.IDs, 100},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if l.SearchTime == 0 {
		l.SearchTime = 2 * time.Second
	}
	return l
}

// defaultPage is the number of items of a page when a request names none.
const defaultPage = 50

// New returns a service on a store. opts may be nil.
func New(store Store, opts *Options) *Service {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	if o.Vendor == "" {
		o.Vendor = "vitrine"
	}
	if o.KeepChanges == 0 {
		o.KeepChanges = keepChanges
	}
	return &Service{
		keep:  o.KeepChanges,
		store: store, now: o.Now, newID: o.NewID, vendor: o.Vendor,
		limits: o.Limits.withDefaults(), trees: map[Library]knownTree{},
	}
}

// request is one request within one transaction.
type request struct {
	*Service
	member
	ctx    context.Context
	lib    Library
	r      Reader
	tx     Tx   // nil in a view
	change bool // the request changes the library, though its rules may be checked in a View
	state  State
	wrote  bool
	begins bool // the request creates the library
	terms  int  // index entries stored so far
	tree   *tree
	before *tree // the tree before a change of folders; nil without one
	seal   seal

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
		ss := &request{Service: s, member: m, ctx: ctx, lib: lib, r: r, change: change}
		if err := ss.open(); err != nil {
			return err
		}
		s.remember(lib, ss.state.Tree, ss.tree)
		return fn(ss)
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
		ss := &request{Service: s, member: m, ctx: ctx, lib: lib, r: tx, tx: tx, change: true}
		if err := ss.open(); err != nil {
			return err
		}
		if err := fn(ss); err != nil || !ss.wrote && !ss.begins {
			return err
		}
		if err := tx.SetState(ctx, ss.state); err != nil {
			return err
		}
		return ss.addToFeed()
	})
}

// Admit checks whether the caller may ask anything at all about a library. It returns ErrInvalid if the caller has a malformed
// URN or the name of the library is malformed, and ErrForbidden if the caller does not belong to the network. Every method
// checks the same first. A server calls Admit before it reads the body of a request.
func (s *Service) Admit(by Caller, lib Library) error {
	_, err := s.enter(by, lib)
	return err
}

// AdmitChange checks whether the caller may change anything at all in a library. It returns the errors of Admit, and
// ErrNotFound if the library does not exist and the caller is no moderator: only a moderator's change creates a library. A
// server calls it before it reads the body of a change. The method that makes the change checks again.
func (s *Service) AdmitChange(ctx context.Context, by Caller, lib Library) error {
	return s.admit(ctx, by, lib, func(*request) error { return nil })
}

// AdmitAssignAssets returns the errors of AssignAssets that do not depend on the assets.
func (s *Service) AdmitAssignAssets(ctx context.Context, by Caller, lib Library, folder string) error {
	return s.admit(ctx, by, lib, func(ss *request) error {
		_, err := ss.folderToFill(folder)
		return err
	})
}

// AdmitChangePermissions returns the errors of ChangePermissions that do not depend on the permissions.
func (s *Service) AdmitChangePermissions(ctx context.Context, by Caller, lib Library, folder string) error {
	return s.admit(ctx, by, lib, func(ss *request) error {
		_, err := ss.folderToGrantOn(folder)
		return err
	})
}

// admit applies rules that a change must satisfy whatever its body is.
func (s *Service) admit(ctx context.Context, by Caller, lib Library, rules func(*request) error) error {
	return s.read(ctx, by, lib, true, rules)
}

// NetworkURN returns the URN of the network of a library.
func (s *Service) NetworkURN(lib Library) string { return "urn:" + s.vendor + ":" + lib.Network }

// enter returns the caller as a member of the library's network, after the checks of Admit.
func (s *Service) enter(by Caller, lib Library) (member, error) {
	network := s.NetworkURN(lib)
	m, err := memberOf(by, network)
	if err != nil {
		return member{}, err
	}
	return m, checkLibrary(lib, network, s.limits.Name)
}

// open reads the State and the tree of folders. If the library does not exist, a moderator's change creates it, even if it
// changes nothing else: a request that succeeded must not be followed by a 404. Any other request is ErrNotFound.
func (ss *request) open() error {
	state, err := ss.r.State(ss.ctx)
	if err != nil {
		return err
	}
	if !exists(state) {
		if ss.lib.ID != ss.lib.Network {
			if !ss.change || !ss.moderator {
				return notFound("", "there is no such library")
			}
			ss.begins = true
		}
		if ss.tx != nil {
			state.Key = newKey(ss.newID())
		}
	}
	ss.state, ss.seal = state, newSeal(state.Key)
	ss.tree = ss.recall(ss.lib, state.Tree)
	if ss.tree == nil {
		ss.tree, err = readTree(ss.ctx, ss.r)
	}
	return err
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

// pageLimit returns the number of items a page may have.
func (s *Service) pageLimit(asked int) (int, error) {
	switch {
	case asked == 0:
		return defaultPage, nil
	case asked < 0 || asked > s.limits.Page:
		return 0, invalid("limit", "want 1 to %d", s.limits.Page)
	}
	return asked, nil
}

// checkAnswer returns ErrInvalid if the response to a change is longer than Limits.PageBytes. A change of one item is always
// allowed, since it cannot be sent in parts.
func (s *Service) checkAnswer(items, bytes int) error {
	if items > 1 && bytes > s.limits.PageBytes {
		return invalid("", "the answer to the request would have more than %d bytes: send it in parts", s.limits.PageBytes)
	}
	return nil
}
