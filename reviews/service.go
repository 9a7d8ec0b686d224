package reviews

import (
	"cmp"
	"context"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/required"
	"github.com/vitrine-go/vitrine/storage"
)

// Service imports reviews into a store, exports, lists and erases them, and counts their ratings. It applies all rules
// of the domain; the storage.Store only has keys and values. It is safe for concurrent use, and several services and
// processes may use one store.
//
// As returns a Session, which has the methods that act for a caller. Each works in the network of its request. A
// request may leave the network out if the caller moderates exactly one; Delete always needs its name. The methods,
// except Show, return ErrForbidden for a caller that does not moderate the network as a whole, urn:<vendor>:<network>,
// or has TagsOnly set, and ErrInvalid for a malformed caller or network; to moderate some sites of the network is not
// enough. An operator (Caller.Operator) may do everything in every network, but must name it. The reviews of one
// network never influence a result about another one: the same source and id in two networks are two collections.
//
// # What is stored
//
//   - The content of a record is its members and their values. White space, the order of members and the escapes of a
//     string are not part of it: they are not kept, and a file that differs in nothing else changes nothing. Whether a
//     member is absent, null or empty is part of it.
//   - A line is stored in one transaction. A transaction stores lines of up to about 1 MiB together.
//   - A collection of which every review was rejected is not made, and a stored one stays as it is. A collection that
//     has no reviews in the file is made or changed.
//   - A stored collection keeps the order of its dimensions. A file may have the same dimensions in another order: the
//     ratings of its reviews go by the names, and importing it again changes nothing. Other names are an error
//     (stored-dimensions) as long as the collection has reviews.
//   - The count of a collection is exact, and so is its mean before it is rounded to two decimals: every import and
//     every deletion updates the number of reviews with each rating. A list of reviews compares times as moments, in
//     microseconds. What is finer makes no difference.
//
// # Errors
//
// Errors wrap ErrInvalid, ErrForbidden, ErrNotFound or ErrBusy of package vitrine, ErrFull or ErrUnknown if the method
// writes, or ErrClosed if the store was closed. For the first three, errors.As finds a [*vitrine.Error]
// that says what is wrong and where. Errors of reading a file, of writing to one, and of a context are returned as they
// are. A fault in the text of a file is a Problem and not an error: the check or the import goes on.
type Service struct {
	db     storage.Store
	vendor string
	limits Limits
	feeds  *feed.Feeds
	// of the feed, and of imports whose options name no clock
	now   func() time.Time
	check func(ctx context.Context, by vitrine.Caller, c Change) error // Options.Check; nil = allows everything
}

// Options are the options of New. The zero value works.
type Options struct {
	Vendor string // second segment of URNs; default "vitrine"
	Limits Limits // a zero field means the default of that limit

	// KeepChanges is how long entries stay in the feeds of changes; 0 = 30 days, negative = for ever. Old entries of a
	// network are removed in small steps by later changes of the same network.
	KeepChanges time.Duration

	// Check, if it is not nil, is a rule of the program. It is asked, in the transaction, about each collection that
	// Import or Delete changes, when all other rules allow the change. If it returns an error for one of them, nothing
	// of the transaction is done, and Import or Delete ends with it. The error becomes an *Error as that of
	// appsvc.Options.Check does. It may be called again for the same change, and calls no method of a Service.
	Check func(ctx context.Context, by vitrine.Caller, c Change) error
}

// Limits bound the pages of lists and the lines of imports. Zero means the default, which is the number at the end of
// the comment, and New panics for a negative number.
type Limits struct {
	Line      int // the maximum length of a line of an import in bytes; 32 MiB
	Page      int // the maximum number of items of a page; 500
	PageBytes int // a page ends before the item that would bring it above this size, unless it is the first; 4 MiB
}

// New returns a service on a store, such as that of storage/memory, storage/sqlite or storage/postgres. o may be nil;
// New panics if the store is, or a limit is negative.
func New(db storage.Store, o *Options) *Service {
	required.Argument("reviews.New", "store", db)
	// Set the defaults of absent options.
	if o == nil {
		o = &Options{}
	}
	required.Limits("reviews.New", o.Limits)
	s := &Service{db: db, vendor: cmp.Or(o.Vendor, "vitrine"), limits: o.Limits, feeds: feed.New(db, o.KeepChanges),
		now: keyval.Clock(db, nil), check: o.Check}
	s.limits.Page = cmp.Or(s.limits.Page, 500)
	s.limits.PageBytes = cmp.Or(s.limits.PageBytes, 4<<20)
	return s
}

// made returns the Service, and panics if it is a zero value. Each method calls it before it uses the store.
func (s *Service) made() *Service {
	required.Made(s != nil && s.db != nil, "reviews.Service")
	return s
}
