package assets

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"
)

// Service holds the rules of the asset manager: who may see and do what, what a request must be
// like, what a search finds. It is safe for concurrent use.
//
// Every method takes the caller and the library. It returns ErrInvalid for a caller with a malformed URN,
// ErrForbidden for a caller that does not belong to the network, ErrNotFound for a library that does not
// exist, and the errors of the Store.
type Service struct {
	store  Store
	now    func() time.Time
	newID  func() string
	vendor string
	limits Limits
	keep   time.Duration // of entries of the feeds; negative = for ever
	writes atomic.Uint32 // entries that this Service has written

	mu    sync.Mutex
	trees map[Library]knownTree // what snapshots had, by the number in their State
}

type knownTree struct {
	number int64
	tree   *tree
}

// Options are what a Service may be given; the zero value works.
type Options struct {
	Now    func() time.Time // default time.Now
	NewID  func() string    // makes ids of folders and permissions, random ones; default rand.Text
	Vendor string           // second segment of URNs; default "vitrine"
	Limits Limits

	// KeepChanges is how long entries stay in the feeds of changes; 0 = 30 days, negative = for ever. They are removed
	// in small steps, together with later changes of the same library.
	KeepChanges time.Duration
}

// Limits bound what a request may be. A zero field means the default.
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
	// Terms is how many different words, tags, folders, attributes and other terms the assets have
	// together that one request stores, each counted once an asset; 200,000. Nothing else writes meanwhile.
	Terms int
	// PageBytes is where a page ends, and how long the answer to a change of assets, attributes
	// or folders may be; one item goes through at any length; 16 MiB.
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
	change bool // the request is to change the library, be it judged in a view
	state  State
	wrote  bool
	begins bool // the library was not there before
	terms  int  // of the assets stored so far
	tree   *tree
	before *tree // as it was before a change of folders
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

// update runs fn in a transaction on the library, and keeps the state that it leaves.
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

// Admit reports what keeps a caller out of a library whatever it asks for: ErrInvalid for a caller with a
// malformed URN and for what cannot be the name of a library, ErrForbidden for a caller that does not belong
// to the network. Every method asks the same first; a server may ask before it reads a request.
func (s *Service) Admit(by Caller, lib Library) error {
	_, err := s.enter(by, lib)
	return err
}

// AdmitChange returns the error that every change of the library returns to the caller whatever it asks for: that of
// Admit, and ErrNotFound for a library that does not exist, which only a change of a moderator makes. A server calls
// it before it reads what the change is. The methods that change check again.
func (s *Service) AdmitChange(ctx context.Context, by Caller, lib Library) error {
	return s.admit(ctx, by, lib, func(*request) error { return nil })
}

// AdmitAssignAssets returns the error that AssignAssets returns to the caller whatever the assets are.
func (s *Service) AdmitAssignAssets(ctx context.Context, by Caller, lib Library, folder string) error {
	return s.admit(ctx, by, lib, func(ss *request) error {
		_, err := ss.folderToFill(folder)
		return err
	})
}

// AdmitChangePermissions returns the error that ChangePermissions returns to the caller whatever the permissions are.
func (s *Service) AdmitChangePermissions(ctx context.Context, by Caller, lib Library, folder string) error {
	return s.admit(ctx, by, lib, func(ss *request) error {
		_, err := ss.folderToGrantOn(folder)
		return err
	})
}

// admit applies the rules of a change that do not depend on what it asks for.
func (s *Service) admit(ctx context.Context, by Caller, lib Library, rules func(*request) error) error {
	return s.read(ctx, by, lib, true, rules)
}

// NetworkURN returns the URN of the network of a library.
func (s *Service) NetworkURN(lib Library) string { return "urn:" + s.vendor + ":" + lib.Network }

// enter says who the caller is in the network of the library.
func (s *Service) enter(by Caller, lib Library) (member, error) {
	network := s.NetworkURN(lib)
	m, err := memberOf(by, network)
	if err != nil {
		return member{}, err
	}
	return m, checkLibrary(lib, network, s.limits.Name)
}

// open reads the state and the tree. Only a write of a moderator may find no library, and makes it even
// where it changes nothing else: what answers it with success must not be absent to the next request.
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

// maxTrees is the number of libraries whose tree is kept at hand.
const maxTrees = 256

// remember keeps a tree at hand, by its number.
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

// recall returns the tree with this number, or nil.
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

// checkAnswer refuses a change of so many items when they make a longer answer than is allowed. A
// single one cannot be sent in parts.
func (s *Service) checkAnswer(items, bytes int) error {
	if items > 1 && bytes > s.limits.PageBytes {
		return invalid("", "the answer to the request would have more than %d bytes: send it in parts", s.limits.PageBytes)
	}
	return nil
}
