// Package vitrine has the types that the domains share: the caller of a method with the caller's rights ([Caller]),
// errors and their kinds ([Error]), a page of a list ([Page]) and of changes ([ChangesPage]), and the version of an app
// ([Version]).
//
// This creates an app, changes it, publishes the change and reads the published version:
//
//	apps := appsvc.New(memory.New(), nil).As(vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}})
//	app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: "Hello", Groups: []string{network}})
//	if err == nil {
//		app, err = apps.Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
//			p.SetTitle("Hello again")
//			return nil
//		})
//	}
//	if err == nil {
//		_, err = apps.PutTag(ctx, appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version})
//	}
//	live, err := apps.TaggedApp(ctx, app.ID, "production") // live.Title is Hello again
//
// Each domain is a package, and none needs another:
//
//   - [github.com/vitrine-go/vitrine/appsvc] keeps apps and all their versions, components with schemas, and tags.
//   - [github.com/vitrine-go/vitrine/assets] keeps posts in folders with permissions, and searches them with exact
//     totals.
//   - [github.com/vitrine-go/vitrine/reviews] checks and imports the reviews of an older site.
//
// Each has a Service, which keeps its data in a store: storage/memory, storage/sqlite or storage/postgres. Service.As
// returns a Session for a Caller, whose methods check what this caller may do.
//
// A program adds rules by Options.Check of each: a function that is called with each change, in its transaction. It may
// refuse the change, keep rows, for which [Unique], [Holder] and [Reference] are helpers, and write tables of the
// program's own, such as those of a job queue: see SQL of storage/sqlite and storage/postgres. [Follow] calls a
// function with each change after its commit.
//
//   - adapters/httpapi serves them over HTTP, and adapters/client calls such a server with the methods of a Session.
//   - adapters/console is a page for people, adapters/page shows apps on other pages, adapters/signin signs people in
//     with passkeys, adapters/webhook delivers changes, and adapters/mcp has tools for assistants.
//   - examples/embed is a small program with all of it and rows of its own, to begin with; examples/vitrine is the
//     binary, and examples/otel has traces and metrics.
package vitrine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/agent"
	"github.com/vitrine-go/vitrine/internal/lease"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// Caller is a user with rights, which the embedding program has determined: a Service checks no tokens and keeps no
// users. Service.As returns a Session with its rights. No method changes the slices of a Caller, so
// goroutines may share one.
//
// A Caller with only a URN may create nothing, and may use the apps that it owns. Every method returns ErrInvalid for a
// Caller with a malformed URN, so that a mistake never gives a right; the zero Caller is malformed. The comments of the
// domains say what each right allows there.
type Caller struct {
	URN       string   // of the user: urn:<vendor>:<network>:user=<id>
	Moderates []string // URNs of networks and sites; a network includes its sites
	Reads     []string // URNs of networks and sites: the caller may read their apps, and not change them

	// TagsOnly restricts the caller to appsvc's TaggedApp, for the tags in Tags and the apps of Reads. Its other rights
	// do not count, and every other method returns ErrForbidden. The apps that it reads name no users and no groups.
	// Such a Caller suits a token that stands in a public page.
	TagsOnly bool
	Tags     []string // names of tags. Tags without TagsOnly are ErrInvalid in every method

	Roles      []string // ids of roles, for permissions on folders
	Groups     []string // URNs of groups; a permission of a group is for callers with exactly this URN
	Components bool     // the caller may create and delete components

	// Key is the prefix of the API key if a program calls for a person, and empty if the person calls: a program cannot
	// approve a release.
	Key string

	// Agent is the name of an API key for an assistant that works for a person, and empty for everybody else. An agent
	// has Key too. It reads what its rights let it read, writes versions, proposes releases, comments and adds assets;
	// it calls no other method of a Session, so it publishes and deletes nothing. Histories, feeds, releases and
	// comments have the name.
	Agent string

	// NotOwner leaves the caller only the rights in its lists: apps that the user owns and permissions that are granted
	// to the user by name count for nothing. The caller still belongs to the network of the user. It suits an API key
	// that may do less than its maker.
	NotOwner bool

	// PublicReviews lets a caller with TagsOnly read the reviews that pages show, in the networks of Reads. Tags may be
	// empty then.
	PublicReviews bool

	// PublicFolders lets a caller with TagsOnly show the assets in these folders of asset libraries. Each is
	// <name of the network>/<library>/<id of the folder>. Tags may be empty then.
	PublicFolders []string

	// PublicList lets a caller with TagsOnly list the apps that a tag of Tags publishes, of those in Reads.
	PublicList bool

	// Operator gives the program itself, such as a command line, all rights over reviews. Never set it from a request.
	Operator bool
}

// Check returns ErrInvalid for a Caller with a malformed URN or a text that is not UTF-8 or has U+0000, and for one
// that has Tags without TagsOnly, since it looks restricted and would have all its other rights, or Agent without Key.
func (c Caller) Check() error {
	reason := ""
	if err := urn.CheckUser(c.URN); err != nil {
		reason = "the caller: " + err.Error()
	}
	for _, group := range append(c.Moderates[:len(c.Moderates):len(c.Moderates)], c.Reads...) {
		if err := urn.CheckGroup(group); err != nil && reason == "" {
			reason = "a right of the caller: " + err.Error()
		}
	}
	for _, text := range slices.Concat(c.Roles, c.Groups, c.Tags, []string{c.Agent, c.Key}) {
		if reason == "" && (!utf8.ValidString(text) || strings.ContainsRune(text, 0)) {
			reason = fmt.Sprintf("the caller: the role, group, tag, agent or key %q is not valid UTF-8 or has U+0000",
				text)
		}
	}
	if reason == "" && len(c.Tags) > 0 && !c.TagsOnly {
		reason = "the caller has Tags without TagsOnly: want both or none"
	}
	if reason == "" && c.Agent != "" && c.Key == "" {
		reason = "the caller has Agent without Key: want both or Key alone"
	}
	if reason == "" {
		return nil
	}
	return &Error{Kind: ErrInvalid, Code: CodeInvalid, Reason: reason}
}

// CheckMethod returns the error of Check, and ErrForbidden for an agent unless it may call the method of a Session with
// this name, such as appsvc.Patch. Every method of a Session begins with it or with CheckUnrestricted. The name ""
// stands for what no agent may do.
func (c Caller) CheckMethod(name string) error {
	err := c.Check()
	if err == nil && c.Agent != "" && !agent.May(name) {
		err = &Error{Kind: ErrForbidden, Code: CodeForbidden,
			Reason: "this is the key of an agent, which reads, writes versions of apps, proposes releases without a " +
				"time, comments and adds assets: ask a person for anything else"}
	}
	return err
}

// CheckUnrestricted returns the error of CheckMethod, and ErrForbidden for a Caller with TagsOnly.
func (c Caller) CheckUnrestricted(method string) error {
	if err := c.CheckMethod(method); err != nil {
		return err
	}
	if c.TagsOnly {
		return &Error{Kind: ErrForbidden, Code: CodeForbidden,
			Reason: fmt.Sprintf("this caller may read what pages show, apps by the tags %q, and do nothing else",
				c.Tags)}
	}
	return nil
}

// Owns reports whether the caller has what a user has by name: the apps that the user owns, and the permissions that
// are granted to the user. It is the only rule about that: no domain compares the URN of a caller with an owner itself.
func (c Caller) Owns(user string) bool { return c.URN == user && !c.NotOwner }

// The kinds of errors. errors.Is matches the kind of an error that a Service or the client of a remote one returns, and
// errors.As finds an *Error with the details. The last four kinds are those of package storage.
var (
	// ErrInvalid means that the input is malformed or breaks a limit.
	ErrInvalid = errors.New("invalid input")
	// ErrForbidden means that the caller may see the object but lacks the right for this method, or that no such caller
	// may call it.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound means that the object does not exist, or that the caller may not see it. The two cases look the same.
	ErrNotFound = errors.New("not found")
	// ErrConflict means that the object has changed since the caller read it, that a test of a patch failed, or that an
	// object to be added exists already.
	ErrConflict = errors.New("conflict")
	// ErrTooLarge means that the input or the result has more bytes or items than a limit allows.
	ErrTooLarge = errors.New("too large")
	// ErrUnprocessable means that the request is well-formed, but cannot be applied to the stored data.
	ErrUnprocessable = errors.New("cannot be applied")
	// ErrGone means that a cursor of a feed of changes is no longer valid: entries after it were removed, or the feed
	// has another identity now, as in a copy of the store.
	ErrGone = errors.New("gone")

	// ErrBusy means that the store could not reach its data in time, or that a search took too long. Nothing was
	// written, and a retry may succeed.
	ErrBusy = storage.ErrBusy
	// ErrFull means that the store has no room to write. Nothing was written, and reads still work.
	ErrFull = storage.ErrFull
	// ErrUnknown means that the store lost its connection to the data during a commit, so the write may have been
	// committed or not. A Service does not retry it. Read the data to find out, or repeat the call with the same
	// idempotency key.
	ErrUnknown = storage.ErrUnknown
	// ErrClosed means that the store was closed. All calls fail from then on, and goroutines that wait for changes of a
	// feed get this error.
	ErrClosed = storage.ErrClosed
)

// The codes of errors. A code never changes, so programs can rely on it; over HTTP it is the member "code". Responses
// have further ones, such as unauthorized, which adapters/httpapi/README.md lists.
const (
	CodeInvalid   = "invalid"   // ErrInvalid
	CodeExists    = "exists"    // ErrInvalid: there is such a component; see Same
	CodeForbidden = "forbidden" // ErrForbidden
	// ErrForbidden: the person has to sign in again, with the passkey or at the provider
	CodeConfirm  = "needs_confirmation"
	CodeNotFound = "not_found" // ErrNotFound
	// ErrConflict: the app, or a component, changed meanwhile; read it and try again
	CodeStaleVersion = "stale_version"
	CodeTestFailed   = "test_failed" // ErrConflict: a test operation of a patch failed
	// ErrConflict: a tag or an asset is elsewhere than the request says; see PointsTo and ID
	CodeMoved        = "moved"
	CodeNeedsRelease = "needs_release" // ErrForbidden: the tag needs approvals, so only a release moves it
	// ErrConflict: this cannot be done as things are, such as changing a release that was run
	CodeWrongState    = "wrong_state"
	CodeNeedsApproval = "needs_approval" // ErrConflict: too few people have approved the release
	CodeConflicts     = "conflicts"      // ErrConflict: moves of a release cannot be made; see Conflicts
	CodeGone          = "gone"           // ErrGone
	CodeTooLarge      = "too_large"      // ErrTooLarge
	// ErrUnprocessable: an operation does not apply, or the result of the patch is not an app
	CodeNotApplicable = "not_applicable"
	// any kind: a rule of the embedding program rejects the change; Reason is its sentence for people
	CodeRule = "rule"
	// ErrUnprocessable: a patch changes a member that only the service writes
	CodeReadOnly         = "read_only"
	CodeUnknownComponent = "unknown_component" // ErrUnprocessable: there is no such component
	CodeSchema           = "schema"            // ErrUnprocessable: a config breaks its schema; see Violations
	CodeCost             = "cost"              // ErrUnprocessable: validating a config would take too long
	CodeLimit            = "limit"             // ErrUnprocessable: a count or a length over a limit
	CodeKeyReused        = "key_reused"        // ErrUnprocessable: the idempotency key was used for another request
	CodeUnavailable      = "unavailable"       // ErrBusy: a search took longer than it may
	CodeMediaType        = "media_type"        // ErrUnprocessable: files of this type are not taken
	CodePrecondition     = "precondition"      // ErrInvalid: the ETag of what is to be changed is missing
	CodeChanged          = "changed"           // ErrConflict: it has another ETag now; read it again
)

// Error says what is wrong, where, and what would be right. Kind, Code and Reason are always set; the other fields are
// set where they apply. Over HTTP its JSON is sent with the sentence. The client of a remote service returns the same
// values, so a program handles both alike:
//
//	if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Code == vitrine.CodeStaleVersion {
//		… // read the app again: it is at e.Version
//	}
type Error struct {
	Kind error  `json:"-"`    // one of the kinds above
	Code string `json:"code"` // one of the codes above

	// Pointer is the JSON pointer (RFC 6901) of the wrong value, or of a missing member, in the request body that HTTP
	// has. If the result of a patch breaks a rule, it points into the patched document; if an operation of a patch does
	// not apply, it points to the operation.
	Pointer string `json:"pointer,omitempty"`
	// Parameter is the name of the wrong query parameter or header of HTTP.
	Parameter string `json:"parameter,omitempty"`
	// Reason is the sentence without Pointer and Parameter.
	Reason string `json:"-"`
	// Value is the value that Unique found taken; it is not sent over HTTP.
	Value string `json:"-"`
	// Violations are the values in a config that break its schema, 100 at most. Their pointers are relative to the
	// config, to which Pointer points.
	Violations []Violation `json:"violations,omitempty"`
	// Problems are all that is wrong in the items of a request that adds and removes assets, 100 at most. The other
	// fields say it of the first one.
	Problems []Problem `json:"problems,omitempty"`
	// Version is the latest version of the app or the release, for CodeStaleVersion, CodeTestFailed, CodeMoved and
	// CodeWrongState.
	Version Version `json:"version,omitzero"`
	// PointsTo is where the tag points, for CodeMoved; zero if the app has no such tag.
	PointsTo Version `json:"pointsTo,omitzero"`
	// Conflicts are the moves of a release that cannot be made, for CodeConflicts.
	Conflicts []Conflict `json:"conflicts,omitempty"`
	// ID is the id of the asset that exists already, for CodeMoved; empty if the same request added it.
	ID string `json:"id,omitempty"`
	// Same reports, for CodeExists, whether the stored component equals the one in the request. Then nothing is left to
	// do. It is nil for other codes.
	Same *bool `json:"same,omitempty"`
}

// Error returns one sentence with Parameter or Pointer, and Reason.
func (e *Error) Error() string {
	where := e.Pointer
	if e.Parameter != "" {
		where = e.Parameter
	}
	if where == "" {
		return e.Reason
	}
	return where + ": " + e.Reason
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Violation is one value in a config that breaks the schema.
type Violation struct {
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901) into the config, "" for the whole of it
	Keyword string `json:"keyword"` // keyword of the schema that rejects it, "" if the engine does not name one
	Message string `json:"message"` // what is wrong there, in words
}

// String returns the violation as part of a sentence.
func (v Violation) String() string {
	if v.Pointer == "" {
		return v.Message
	}
	return v.Pointer + ": " + v.Message
}

// Problem is what is wrong in one item of a request.
type Problem struct {
	Item    int    `json:"item"`    // place of the item in its list, from 0
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901) into the request, such as /add/2/content/lang
	Message string `json:"message"` // what is wrong there, in words
}

// Conflict says why a release cannot make one of its moves. Its JSON is {"app", "tag", "pointsTo", "error", "reason"};
// pointsTo is null if the app has no such tag, and app and tag are left out if the conflict concerns the whole release.
type Conflict struct {
	App      string  `json:"app,omitzero"`
	Tag      string  `json:"tag,omitzero"`
	PointsTo Version `json:"pointsTo"` // where the tag points
	Code     string  `json:"error"`    // one of the codes, or ConflictMissed
	Reason   string  `json:"reason"`   // a sentence
}

// ConflictMissed is the Code of a Conflict of a release that was overdue by more than a day when a process could run
// it.
const ConflictMissed = "missed"

// Page is one page of a list. To read a whole list, repeat the request with Next as its After until Next is empty, or
// use the iterator beside the method. A page may have fewer items than the request asks for, and only Next says whether
// there are more.
//
// Each page shows the list at the time of its call. An item that is added or changes its place between two calls may be
// missed or listed twice.
type Page[T any] struct {
	Items []T
	Next  string // goes into After of the request for the next page; "" on the last page
}

// Now, as the After of a request for changes, is the end of the feed at the time of the call: only later changes.
const Now = "now"

// ChangesRequest asks for entries of a feed of changes. A program stores Next of the last page that it has handled, or
// the cursor of the last change, and continues from there after a restart.
type ChangesRequest struct {
	After string // a cursor: only entries after it; "" = from the oldest that is kept; Now = only later entries
	Limit int    // of entries: 1 to the Limits.Page of the service, 500 by default; 0 = 100
}

// ChangesPage is a page of a feed of changes.
type ChangesPage[T any] struct {
	Changes []T    `json:"changes"` // oldest first
	Next    string `json:"next"`    // After of the next page; always a cursor, also if Changes is empty
	More    bool   `json:"more"`    // the page ends before the end of the feed, also if Changes is empty
}

// Version is the number of a version of one app: 0, 1, 2 and so on, without gaps. In JSON it is a string of decimal
// digits, and null for the zero Version. The zero Version means "not given" in a request, and a method that needs a
// version returns ErrInvalid for it. So a program that forgets to set a version never gets version 0 by mistake.
// Versions are compared with == and Compare.
type Version struct {
	next uint64 // the number plus one; 0 = none, math.MaxUint64 = Latest
}

// Latest is, in a request, the highest version that the app has at the time of the call. An App never has it.
var Latest = Version{math.MaxUint64}

// NewVersion returns the version with this number. It panics if the number is negative.
func NewVersion[Int int | int64](number Int) Version {
	if number < 0 {
		panic(fmt.Sprintf("vitrine: a version cannot have the number %d", number))
	}
	return Version{uint64(number) + 1}
}

// ParseVersion reads the decimal form of a number of at most 63 bits. It returns ErrInvalid for anything
// else, such as a sign or a leading zero.
func ParseVersion(s string) (Version, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || strconv.FormatUint(n, 10) != s {
		return Version{}, &Error{Kind: ErrInvalid, Code: CodeInvalid,
			Reason: fmt.Sprintf("%q is not a version: a version is a decimal number without leading zeros, such as "+
				"0 or 12", s)}
	}
	return Version{n + 1}, nil
}

// IsZero reports whether v is the zero Version.
func (v Version) IsZero() bool { return v == Version{} }

// Number returns the number of the version, which stores keep. It is -1 for the zero Version and for Latest, which have
// none.
func (v Version) Number() int64 {
	if v == Latest {
		return -1
	}
	return int64(v.next) - 1
}

// Next returns the version after v. The one after the zero Version is version 0, and so is the one after Latest.
func (v Version) Next() Version { return NewVersion(v.Number() + 1) }

// Compare is negative if v is lower than w, and positive if it is higher. The zero Version and Latest are equal here,
// and lower than all others.
func (v Version) Compare(w Version) int { return cmp.Compare(v.Number(), w.Number()) }

// String returns the decimal form, "latest" for Latest, and "" for the zero Version.
func (v Version) String() string {
	switch {
	case v == Latest:
		return "latest"
	case v.IsZero():
		return ""
	}
	return strconv.FormatInt(v.Number(), 10)
}

// MarshalText returns the same as String.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalJSON writes the result of String as a JSON string, and null for the zero Version.
func (v Version) MarshalJSON() ([]byte, error) {
	if v.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + v.String() + `"`), nil
}

// UnmarshalText reads the decimal form, as ParseVersion does. It returns ErrInvalid for anything else, also for
// "latest".
func (v *Version) UnmarshalText(text []byte) (err error) {
	*v, err = ParseVersion(string(text))
	return err
}

// Feed is a feed of changes for Follow. The method Feed of a Service returns one with every change, for a program of
// the operator.
type Feed[E any] struct {
	// Read returns a page of the feed.
	Read func(ctx context.Context, in ChangesRequest) (ChangesPage[E], error)
	// Changed returns a channel that is closed when there may be new changes. It is called before Read. nil = Read is
	// called every second.
	Changed func() <-chan struct{}
	// Cursor returns the cursor of a change.
	Cursor func(E) string
}

// FollowOptions are options of Follow. The zero value works.
type FollowOptions struct {
	// Begin says from where on a follower handles changes: "" is the oldest change that is kept, Now only later ones,
	// and a cursor those after it. It is called if the store has no position under the name yet (why is nil), and if
	// the feed does not go on from the position: changes were removed, or the store was restored, built from an
	// archive, or is another one (why is the error of Read, mostly ErrGone). A follower that has a copy of the data
	// reads all of it in Begin and returns Now, which then is the moment before the call, so that no change is missed.
	// Begin is called again if it fails.
	//
	// nil = a new follower begins with the oldest change, and Follow returns the error of a feed that does not go on.
	Begin func(ctx context.Context, why error) (after string, err error)
	// Log gets a warning for what failed and will be tried again. nil = slog.Default.
	Log *slog.Logger
}

// The wait before something that failed is tried again: it doubles each time.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// Follow calls handle with each change of a feed, in their order, until ctx is done, and returns the error of ctx. The
// position after the last change that was handled is in the store db under the name, which has 1 to 200 bytes. Of all
// processes that follow under one name, one at a time calls handle; when it ends or dies, another one goes on within 25
// seconds.
//
// If handle returns an error, the same change is tried again after a second, and then more and more rarely, up to once
// a minute. If the process dies between handle and the write of the position, the change is handled again. The context
// of handle ends with ctx, and if the process can no longer be sure to be the only one.
//
// Follow also returns ErrInvalid for a name of another length and for what is nil, ErrClosed if the store was closed,
// and the error of a feed that does not go on from the position, as after a restore, unless FollowOptions.Begin says
// where to begin. examples/embed does this.
func Follow[E any](
	ctx context.Context, db storage.Store, name string, from Feed[E], handle func(ctx context.Context, e E) error,
	options ...FollowOptions,
) error {
	if name == "" || len(name) > 200 || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return &Error{Kind: ErrInvalid, Code: CodeInvalid,
			Reason: fmt.Sprintf("%.200q is no name of a follower: want 1 to 200 bytes of UTF-8", name)}
	}
	if db == nil || from.Read == nil || from.Cursor == nil || handle == nil {
		return &Error{Kind: ErrInvalid, Code: CodeInvalid, Reason: "Follow wants a store, a feed with Read and " +
			"Cursor, such as the Feed of a Service, and a function that handles changes; one of these is nil"}
	}
	f := &follower[E]{Feed: from, db: db, key: "follow position/" + name, handle: handle}
	for _, o := range options {
		f.FollowOptions = o
	}
	if f.Log == nil {
		f.Log = slog.Default()
	}
	f.Log = f.Log.With("follower", name)
	for ctx.Err() == nil {
		l, valid := lease.Acquire(ctx, db, "follow lease/"+name, f.Log)
		if l == nil {
			break
		}
		work, stop := context.WithCancel(valid)
		unwatch := context.AfterFunc(ctx, stop)
		err := f.run(work, valid, l)
		unwatch()
		stop()
		l.Release(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return ctx.Err()
}

// follower is a call of Follow.
type follower[E any] struct {
	Feed[E]
	FollowOptions
	db     storage.Store
	key    string // of the position
	handle func(ctx context.Context, e E) error
}

// position is how far a follower is, as it is stored.
type position struct {
	After string `json:"after"` // a cursor, or "" for the beginning of the feed
}

// run follows until ctx is done, and returns nil then, or an error after which Follow ends. valid is done when the
// lease is lost, which may be later: what was handled by then is stored.
func (f *follower[E]) run(ctx, valid context.Context, l *lease.Lease) error {
	var p position
	var why error
	begun := false
	err := f.again(ctx, "the position cannot be read", func() (err error) {
		begun, err = lease.Read(ctx, f.db, f.key, &p)
		return err
	})
	for err == nil && ctx.Err() == nil {
		if !begun {
			if why != nil { // the identity may have changed, with which the lease was lost: it is acquired before Begin
				if err = l.Store(valid, f.key, p); err != nil {
					continue
				}
			}
			if err = f.begin(ctx, why, &p); err == nil && ctx.Err() == nil {
				err = l.Store(valid, f.key, p)
				begun = err == nil
			}
			continue
		}
		var wake <-chan struct{}
		if f.Changed != nil {
			wake = f.Changed()
		}
		var page ChangesPage[E]
		err = f.again(ctx, "the feed cannot be read", func() error {
			page, why = f.Read(ctx, ChangesRequest{After: p.After})
			if e, ok := errors.AsType[*Error](why); ok && (e.Kind == ErrGone || e.Parameter == "after") {
				begun = false
				return nil
			}
			return why
		})
		if err != nil || !begun {
			continue
		}
		for _, e := range page.Changes {
			handled := false
			err = f.again(ctx, "a change cannot be handled", func() error {
				err := f.handle(ctx, e)
				handled = err == nil
				return err
			})
			if !handled {
				break
			}
			p.After = f.Cursor(e)
			if err = l.Store(valid, f.key, p); err != nil {
				break
			}
		}
		if err != nil || ctx.Err() != nil || page.More {
			continue
		}
		if wake == nil {
			lease.Wait(ctx, time.Second)
			continue
		}
		select {
		case <-wake:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil || errors.Is(err, lease.ErrLost) {
		return nil
	}
	return err
}

// begin sets the position to where the follower begins.
func (f *follower[E]) begin(ctx context.Context, why error, p *position) error {
	if f.FollowOptions.Begin == nil {
		if p.After = ""; why != nil {
			why = fmt.Errorf("%w; FollowOptions.Begin says where the follower begins then", why)
		}
		return why
	}
	return f.again(ctx, "the follower cannot begin", func() error {
		now, err := f.Read(ctx, ChangesRequest{After: Now})
		if err == nil {
			p.After, err = f.FollowOptions.Begin(ctx, why)
		}
		if p.After == Now {
			p.After = now.Next
		}
		return err
	})
}

// again calls do until it returns nil, or ErrClosed, which it returns. It returns nil when ctx is done.
func (f *follower[E]) again(ctx context.Context, what string, do func() error) error {
	for wait := firstRetry; ctx.Err() == nil; wait = min(2*wait, lastRetry) {
		err := do()
		if err == nil || errors.Is(err, ErrClosed) {
			return err
		}
		if ctx.Err() == nil {
			f.Log.Warn("follow: "+what+", trying again", "cause", err.Error(), "in", wait)
			lease.Wait(ctx, wait/2+rand.N(wait))
		}
	}
	return nil
}

// Unique is for a rule in Options.Check by which no two objects have the same value, such as a slug. rows are those of
// a name that nothing else uses (Change.Rows), id is the object, and before and after are its values before and after
// the change: after is empty for an object that is deleted. Values that the object no longer has are free. With a
// function of the program that reads slugs from the content of an app:
//
//	if c.Tag == "" { // moving a tag gives an app no other slug
//		err = vitrine.Unique(ctx, c.Rows("slugs"), c.AppID, slugs(c.Old), slugs(c.New))
//	}
//
// So the latest versions have no slug twice. What a tag shows may be an older version, with a slug that has become free
// since. If another object has a value, Unique returns an *Error with ErrUnprocessable, the code CodeRule, the first
// such Value, and a Reason that names it. Set its Pointer to where the value is. Holder finds the object that has it.
func Unique(ctx context.Context, rows storage.Tx, id string, before, after []string) error {
	all := slices.Concat(after, before)
	owners, err := rows.Get(ctx, hashed(all)...)
	if err != nil {
		return err
	}
	var gone []string
	for i, value := range all {
		switch mine := string(owners[i]) == id; {
		case i < len(after) && owners[i] != nil && !mine:
			return &Error{Kind: ErrUnprocessable, Code: CodeRule, Value: value,
				Reason: fmt.Sprintf("%q is taken", value)}
		case i >= len(after) && mine:
			gone = append(gone, hash(value))
		}
	}
	if err := rows.Delete(ctx, gone...); err != nil {
		return err
	}
	for _, value := range after {
		if err := rows.Put(ctx, storage.Entry{Key: hash(value), Value: []byte(id)}); err != nil {
			return err
		}
	}
	return nil
}

// Holder returns the id of the object that has a value by Unique, or "" if none has it. rows is where Unique keeps it:
// the space, which is apps, assets/<network>/<library> or reviews/<network>, then a blank, x/, the name that
// Change.Rows got (without blanks and slashes), and a slash. A misspelled name gives "", as rows do in which nothing is
// yet. Holder reads what is committed; do not call it in a rule.
//
//	id, err := vitrine.Holder(ctx, db, "apps x/slugs/", "news")
func Holder(ctx context.Context, db storage.Store, rows, value string) (id string, err error) {
	if space, name, _ := strings.Cut(rows, " "); space == "" || !strings.HasPrefix(name, "x/") ||
		!strings.HasSuffix(name, "/") {
		return "", &Error{Kind: ErrInvalid, Code: CodeInvalid, Reason: fmt.Sprintf(
			"%.200q is not where Unique keeps rows: want the space, a blank, x/, and the name of the rows with a "+
				`slash, as "apps x/slugs/" for Change.Rows("slugs")`, rows)}
	}
	err = db.View(ctx, func(r storage.Reader) error {
		found, err := r.Get(ctx, rows+hash(value))
		if err == nil {
			id = string(found[0])
		}
		return err
	})
	return id, err
}

// Reference is for a rule in Options.Check by which nothing is deleted that another object refers to. rows, id, before
// and after are as those of Unique, but before and after are the ids of the objects that the object refers to.
// References that the object no longer has are free. Referenced is the other half of the rule.
func Reference(ctx context.Context, rows storage.Tx, id string, before, after []string) error {
	for _, to := range before {
		if err := rows.Delete(ctx, hash(to)+hash(id)); err != nil {
			return err
		}
	}
	for _, to := range after {
		if err := rows.Put(ctx, storage.Entry{Key: hash(to) + hash(id), Value: []byte(id)}); err != nil {
			return err
		}
	}
	return nil
}

// Referenced returns ErrUnprocessable with the code CodeRule if objects refer to the one with an id, which is about to
// be deleted: rows are those of Reference. References of the object to itself do not count.
func Referenced(ctx context.Context, rows storage.Tx, id string) error {
	for e, err := range rows.Scan(ctx, storage.Prefix(hash(id))) {
		if err != nil {
			return err
		}
		if string(e.Value) != id {
			return &Error{Kind: ErrUnprocessable, Code: CodeRule, Reason: fmt.Sprintf("%s refers to it", e.Value)}
		}
	}
	return nil
}

// hash returns the key of a value, which may be longer than a key.
func hash(value string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(value))) }

func hashed(values []string) []string {
	keys := make([]string, len(values))
	for i, value := range values {
		keys[i] = hash(value)
	}
	return keys
}
