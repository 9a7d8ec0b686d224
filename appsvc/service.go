package appsvc

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/required"
	"github.com/vitrine-go/vitrine/storage"
)

// Service applies the rules of apps, versions, tags, releases and components, and keeps them in a storage.Store. A
// program creates one with New and shares it: the methods are safe for concurrent use. Several Services may share a
// store, and the Services of several processes may work on the same database.
//
// As returns a Session, which has the methods that act for a caller. Each checks what this caller may do. A method that
// reads works on one snapshot of the store, and an iterator on a snapshot for each page. A
// method that writes stores everything in one transaction, or nothing. Slow work, such as applying a patch and
// validating configs, is done before the transaction, so that other writers need not wait for it. The transaction
// checks that what the work was based on has not changed. If it has, the method either uses the present state or
// returns an error, such as ErrConflict.
//
// Between calls a Service keeps nothing but caches, a counter, and the list of those who follow its feed. So nothing is
// lost with it, and another Service on the same store goes on.
//
// # Errors
//
// In an error about the input or the rights of the caller, errors.As finds an *[vitrine.Error]. Its Kind is one of the
// sentinels of this package, which errors.Is finds. Its Code is a stable word for programs. Pointer or Parameter says
// where the mistake is, and Reason is a sentence for people. Over HTTP the error has the same code, pointer and
// parameter.
//
// A store that cannot serve a call returns an error that wraps [vitrine.ErrBusy] (try again), [vitrine.ErrFull] (no
// room to write), [vitrine.ErrUnknown] (it is not known whether the write was committed) or [vitrine.ErrClosed]. A call
// whose ctx is done returns the error of ctx. Session.Edit also returns the error of its function, and that of a
// mistake in the use of its PatchBuilder. Any other error is internal.
//
// # Stores
//
// A Service keeps its records in a storage.Store: storage/memory, storage/sqlite and storage/postgres have one each.
// The file internal/records/keys.go has the keys of all records.
//
// A stored version is what the service knows of it, and a [Body], the JSON text of owner, title, groups and elements. A
// read returns these bytes unchanged, except that TaggedApp leaves out the owner and the groups for a caller with
// TagsOnly.
type Service struct {
	store     *store
	now       func() time.Time
	newID     func() (string, error)
	newSecret func() [32]byte
	schemas   *schemas

	limits Limits
	check  func(ctx context.Context, by vitrine.Caller, c Change) error // Options.Check; nil = allows everything

	// Options.Rights; nil = those that are kept count
	rights func(ctx context.Context, urn string) (vitrine.Caller, []string, error)
	people func(ctx context.Context, network, query string) ([]Person, error) // Options.People; nil = knows nobody
	// those who follow the feed of changes
	watches     *watches
	keepDeleted time.Duration // Options.KeepDeleted
}

// Options configure a Service. The zero value of a field means its default.
type Options struct {
	Now func() time.Time // default: the clock of the store, else time.Now
	// gives ids of apps, components and releases, never ""; default: that of the store, else random UUIDs (version 4)
	NewID   func() string
	Schemas SchemaEngine // default NewSchemaEngine(nil)
	Limits  Limits       // a zero field means the default of that limit

	// KeepChanges is how long entries stay in the feed of changes; 0 = 30 days, negative = for ever. They are removed
	// some at a time by later changes, the first and every 64th that a Service writes, so nothing is removed while
	// nothing changes.
	KeepChanges time.Duration

	// KeepDeleted is how long a deleted app can be brought back: EraseDeleted removes what was deleted before; 0 = for
	// ever.
	KeepDeleted time.Duration

	// Rights says what a user may do now, and the URNs of those who invited it or gave it rights: only the immediate
	// ones, since Rights is asked about these too, and so on. It is asked when a scheduled release is run, and about
	// those who make and approve releases, never within a transaction. With ErrForbidden the user was disabled or
	// deleted; the inviters count all the same, and should be known for ever. ErrNotFound stands for a user that is not
	// known: the rights that it had then count, and it has no inviters. After any other error the release is tried
	// again later. nil knows nobody.
	Rights func(ctx context.Context, urn string) (by vitrine.Caller, inviters []string, err error)

	// People returns the people of a network whose names match a query, "" for any, in an order that people expect. It
	// looks at 1,000 at most. It is asked by those who choose somebody, never within a transaction, and Rights says who
	// of them is offered. The query is matched with names alone: an address that it finds would be told by it. nil
	// knows nobody.
	People func(ctx context.Context, network, query string) ([]Person, error)

	// Check is a rule of the embedding program; nil allows everything. It is called inside the writing
	// transaction, after a change has passed every other rule. If it returns an error, the transaction is rolled back
	// and the caller gets the error:
	//
	//   - To reject the change, return an *Error with a Kind and a Reason, which people read. ErrUnprocessable and
	//     ErrForbidden are right; without a Kind it is ErrForbidden. ErrConflict is not: callers take it for a stale
	//     version, read the app again and repeat the change. Leave the Code empty, which stands for CodeRule, or take
	//     one of package vitrine's, since clients over HTTP know no others. The Pointer leads into the app, such as
	//     /elements/0/config/slug; an error of Patch has it in the patched document.
	//   - An error that wraps one of these Kinds becomes such an *Error: ErrInvalid, ErrForbidden, ErrNotFound,
	//     ErrConflict, ErrTooLarge and ErrUnprocessable.
	//   - Any other error means that the rule has failed, such as one of the store, of SQL, or sql.ErrNoRows. It is
	//     returned as "Options.Check has failed: …", in which errors.Is and errors.As find it, and is an internal error
	//     over HTTP, whose text is logged and not sent. If it means that the change is wrong, as one of a foreign key
	//     may, return an *Error in its place. ErrBusy, ErrFull, ErrUnknown, context.Canceled and
	//     context.DeadlineExceeded count as failures, whatever else the error wraps, and are returned as they are.
	//
	// Where it becomes an *Error, errors.Is and errors.As also find the error that Check has returned. With CodeRule
	// the console shows the sentence of the rule. For ErrNotFound and ErrTooLarge, whose codes are those of the kinds,
	// it shows a sentence of its own.
	//
	// Check is not called for a call that changes nothing, nor for a repeat with an idempotency key. It may be called
	// several times for one call, since a store may run a transaction again. Other writers may wait while it runs, so
	// it should decide from its arguments and from rows of its own (Change.Rows), and ask nothing over a network. It
	// must call no Service: with its ctx a write fails, and with another one it waits for itself. The default log gets
	// a warning of a rule that takes longer than three seconds. For EraseDeleted by is the zero Caller.
	Check func(ctx context.Context, by vitrine.Caller, c Change) error
}

// New returns a Service on a store; opts may be nil. It panics if the store is nil or a limit negative. It does not
// read the store. There is nothing to close: a Service runs a goroutine only while somebody follows its feed.
//
//	apps := appsvc.New(memory.New(), nil).As(caller)
//	app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: "Front page", Groups: []string{site}})
func New(db storage.Store, opts *Options) *Service {
	var o Options
	if opts != nil {
		o = *opts
	}
	required.Argument("appsvc.New", "store", db)
	required.Limits("appsvc.New", o.Limits)
	store := newStore(db, o.KeepChanges)
	return &Service{store: store, now: keyval.Clock(db, o.Now), newID: keyval.IDs(db, o.NewID, uuid.NewString),
		newSecret: keyval.Secrets(db),
		schemas:   newSchemas(o.Schemas), limits: o.Limits.withDefaults(),
		check: o.Check, rights: o.Rights, people: o.People, watches: newWatches(store), keepDeleted: o.KeepDeleted}
}

// made returns the Service, and panics if it is a zero value. Each method calls it before it uses a field, or one of
// records.
func (s *Service) made() *Service {
	required.Made(s != nil && s.store != nil, "appsvc.Service")
	return s
}

// millis returns the present time of the clock in Options.Now, in milliseconds since the Unix epoch.
func (s *Service) millis() int64 { return s.made().now().UnixMilli() }
