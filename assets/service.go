package assets

import (
	"context"
	"crypto/rand"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/required"
	"github.com/vitrine-go/vitrine/storage"
)

// Service applies the rules of the asset manager: who may see and change what, which requests are valid, and which
// assets a search finds. It keeps its records in a storage.Store. A Service is safe for concurrent use, and several of
// them, in one process or in many, may share a store.
//
// As returns a Session, which has the methods that act for a caller:
//
//   - assets: Search, AllAssets, Asset, ChangeAssets, AssignAssets, Attributes, ChangeAttributes;
//   - files: Upload, EditFile, ReplaceFile;
//   - folders: ListFolders, AllFolders, Folder, ChangeFolders, Permissions, ChangePermissions, Explain;
//   - the feed of changes: Changes, Follow.
//
// A method that reads sees one consistent state of the library. An iterator such as AllAssets reads
// one page at a time, each in a state of its own. A method that changes something does all of it or
// nothing, except where its comment says that each asset has a status of its own. When it returns
// without an error, the change is as durable as the store can make it.
//
// Besides the errors that its comment names, every method of a Session returns
// ErrInvalid if the caller has a malformed URN or the id of the library is malformed, ErrForbidden
// if the caller does not belong to the network or has TagsOnly set, and ErrNotFound if the library
// does not exist, unless the method is a change by a moderator, which creates the library. A method
// also returns the error of the context when that is done, and the errors of the store: ErrBusy,
// ErrFull, ErrUnknown and ErrClosed.
type Service struct {
	db        storage.Store
	segments  *index.Cache
	feeds     *feed.Feeds
	now       func() time.Time
	newID     func() (string, error)
	newSecret func() [32]byte // for ids of files
	vendor    string
	limits    Limits
	rule      func(ctx context.Context, by vitrine.Caller, c Change) error // Options.Check; nil = allows everything

	trees *trees
	turns *turns // of callers with large changes

	files    Files
	decoding *decoding
	listed   *atomic.Int64 // when Upkeep listed the names of all bytes last, in milliseconds since the epoch
	base     string        // see Options.BasePath
}

// Options are the options of New. The zero value works.
type Options struct {
	Now func() time.Time // default: the clock of the store, else time.Now
	// NewID makes the ids of folders and permissions, and the string from which the key of a new library is derived,
	// and never gives ""; default: that of the store, else rand.Text. Whoever can guess that string can read the
	// library's ids.
	NewID  func() string
	Vendor string // second segment of URNs; default "vitrine"
	Limits Limits

	// BasePath is the path of the API as clients see it, such as /app-service/v4. The addresses of files in the content
	// of assets begin with it: <base path>/x/file/<id>/<name>. "" is the root and, over HTTP, the path of the handler;
	// a program that calls a Session itself, or has the tools of adapters/mcp, sets it.
	BasePath string

	// KeepChanges is how long entries stay in the feeds of changes; 0 = 30 days, negative = for ever. Old entries of a
	// library are removed in small steps by later changes of the same library, when the first and every 64th of the
	// entries that a Service writes is one of it. So a library that nobody changes keeps its entries.
	KeepChanges time.Duration

	// Check, if it is not nil, is a rule of the program. It is asked, in the transaction, about each folder and each
	// asset that a request of a caller changes, when all other rules allow the request. If it returns an error for one
	// of them, nothing of the request is done. The error becomes an *Error as that of appsvc.Options.Check does. It may
	// be called again for the same change, and calls no method of a Service.
	Check func(ctx context.Context, by vitrine.Caller, c Change) error

	// Files keeps the bytes of files; nil = the store does. A program that gives it changes it never: the bytes are
	// found by their names alone.
	Files Files
}

// New returns a Service on a store. opts may be nil; New panics if the store is, or a limit is negative. The Service
// starts no goroutines and needs no closing; whoever has opened the store closes it.
func New(db storage.Store, opts *Options) *Service {
	var o Options
	if opts != nil {
		o = *opts
	}
	required.Argument("assets.New", "store", db)
	required.Limits("assets.New", o.Limits)
	// Set the defaults of absent options.
	if o.Vendor == "" {
		o.Vendor = "vitrine"
	}
	now := keyval.Clock(db, o.Now)
	if o.Files == nil {
		o.Files = storeFiles{db, now}
	}
	limits := o.Limits.withDefaults()
	return &Service{
		db: db, rule: o.Check, segments: index.NewCache(segmentBytes), feeds: feed.New(db, o.KeepChanges),
		now: now, newID: keyval.IDs(db, o.NewID, rand.Text), newSecret: keyval.Secrets(db), vendor: o.Vendor,
		limits: limits, trees: newTrees(), turns: &turns{}, listed: &atomic.Int64{}, files: o.Files,
		decoding: newDecoding(limits.Decoding, runtime.GOMAXPROCS(0)),
		base:     strings.TrimRight("/"+strings.Trim(o.BasePath, "/"), "/"),
	}
}

// made returns the Service, and panics if it is a zero value. Each method calls it before it uses the store.
func (s *Service) made() *Service {
	required.Made(s != nil && s.db != nil, "assets.Service")
	return s
}

// BasePath returns Options.BasePath without a slash at its end.
func (s *Service) BasePath() string { return s.made().base }

// Below returns the Service with this base path, in the form of BasePath. It shares all else with s.
func (s *Service) Below(basePath string) *Service {
	below := *s.made()
	below.base = basePath
	return &below
}

// NetworkURN returns the URN of the network of a library: urn:<vendor>:<network>, with
// Options.Vendor.
func (s *Service) NetworkURN(lib Library) string { return "urn:" + s.made().vendor + ":" + lib.Network }
