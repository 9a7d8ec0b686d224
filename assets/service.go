package assets

import (
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
	store       Store
	now         func() time.Time
	newID       func() string
	vendor      string
	limits      Limits
	keepChanges time.Duration // of entries of the feeds; negative = for ever
	writes      atomic.Uint32 // entries that this Service has written

	mu    sync.Mutex
	trees map[Library]knownTree // a cache of folder trees, valid while State.Tree has the same number
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
		o.KeepChanges = defaultKeepChanges
	}
	return &Service{
		keepChanges: o.KeepChanges,
		store:       store, now: o.Now, newID: o.NewID, vendor: o.Vendor,
		limits: o.Limits.withDefaults(), trees: map[Library]knownTree{},
	}
}

// NetworkURN returns the URN of the network of a library.
func (s *Service) NetworkURN(lib Library) string { return "urn:" + s.vendor + ":" + lib.Network }
