package appsvc

import (
	"context"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// Session is a Service for one caller: it has the methods that act for a caller, and each checks what this caller may
// do. The client of a remote service (adapters/client) has these methods too, so a program can be written for both.
//
// Service.As makes one, at no cost. A Session keeps the rights that the Caller had then, so a server makes one for each
// request. It is safe for concurrent use.
//
// # Reading
//
// Versions are numbered 0, 1, 2 and so on, without gaps. [Session.App] returns the latest version, and
// [Session.Version] any. A [vitrine.Version] is made by [vitrine.NewVersion] or [vitrine.ParseVersion]. The zero
// Version names no version; in a request it means "not given". Version 0 is NewVersion(0). [vitrine.Latest] stands for
// the highest version that an app has.
//
// A method named ListX returns a [vitrine.Page]: the items, and in Next the value of After for the next page. Next is
// "" on the last page. In most lists a page ends when it has as many items as the request asks for, or before the item
// that would bring it above Limits.PageBytes, unless that is its first. A page of ListComponents, and one of ListTags
// if Limit is 0, may have any number of items, so only their bytes end it. ListHistory and ListTagMoves have bounds of
// their own, which their comments state.
//
// The partner of ListX, AllX, is an iterator, which fetches page after page and ends with the first error.
//
// # Rights
//
// A caller may use an app, for reading and writing alike, when it owns the app or moderates one of the groups of the
// app's latest version. Whoever created an app owns it. A moderator of a network moderates its sites. Beyond that:
//
//   - To create an app, the caller must moderate each of its groups.
//   - To add a group by Patch or Restore, it must moderate that group.
//   - To remove a group, it must moderate that group or own the app, because the removal hides the app from the group.
//   - To create, change, approve, run, cancel or undo a release, it must be able to make each of its moves by PutTag or
//     DeleteTag, apart from missing approvals. To see a release, it must be able to read every app of it.
//   - To create, check or delete components, it needs Caller.Components.
//
// Every caller without TagsOnly may read components, and may call TagsNamed, which leaves out the apps that the caller
// may not read. A method that takes the id of one app returns the same errors for an app that the caller may not read
// as for one that does not exist. Every method that returns an error returns ErrInvalid for a caller with a malformed
// URN, or with Tags but without TagsOnly.
//
// Three more fields of Caller are about reading. Reads adds a right. TagsOnly takes rights away, and Tags says what
// remains:
//
//   - Reads names networks and sites whose apps the caller may read, in every version, but not change: a write returns
//     ErrForbidden, unless the caller owns the app or moderates one of its groups.
//   - TagsOnly restricts a caller to one method, TaggedApp, which returns the version that a tag points to. The caller
//     may read the apps of Reads by the tags in Caller.Tags; owning or moderating an app counts for nothing then. An
//     app outside of Reads is ErrNotFound. Any other tag, whether it is there or not, and any other method is
//     ErrForbidden. The app that such a caller gets names no users and no groups, so the caller may stand for the
//     public.
//
// A tag is protected if a rule of the store says so (SetTagRules). Only a moderator of every group of an app may
// create, move or delete a protected tag of it; owning the app is not enough. While an app has a protected tag, only a
// moderator of every group that the app has may change the groups, by Patch or by Restore. Otherwise an owner could
// first take away the groups of others. Both rules are checked in the transaction of the write, on the latest version.
// The rule for tags is checked again before a repeat with an idempotency key returns its result. If a rule requires
// approvals too, only a release or a rollback moves the tag.
//
// A program adds rules of its own with Options.Check. The function sees each [Change] before it is committed, and may
// reject it.
//
// Rights that do not depend on the body of a request are checked before it is read: a patch and a manifest are an
// io.Reader, and [PutTagRequest] and [CheckComponentRequest] have Fill. The error of a reader is returned as it is.
//
// # Idempotency
//
// Every request that writes, except a patch, has a field IdempotencyKey. If the same caller repeats a call that
// succeeded, with the same key within a day, the write is not done again, and the caller gets the result of the first
// call. A call that failed stores nothing, so its repeat is a new call. Another call of this caller with the key
// returns ErrUnprocessable. The service checks the rights of the caller again before a repeat returns its result. Of
// the first call it stores a digest of the request, and ids and versions of the result. A repeat returns the version or
// the component that the first call made, or the tag as the first call set it.
//
// Patch needs no key, because its test of the version lets it happen only once. After a lost response, repeat PutTag
// with its key: a repeat with a guard and without the key gets CodeMoved if the first call has moved the tag.
//
// # Languages
//
// A program may give a store languages by SetLanguages, the first of which is the base. From then on, a string in a
// config may be a text in several of them: an object with at least one member, whose names are all lang: and a
// language, and whose values are all strings, such as {"lang:en": "Tea", "lang:de": "Tee"}. Without languages, such an
// object is an object like any other. Versions, patches and differences have texts as they are stored.
//
// A text that is written may only have languages of the store, in canonical form; Restore alone copies what there is. A
// config must conform to its schema in the base and in each language that it has, with the string of that language in
// place of each text. The pointer of a violation in a text names the member, such as /title/lang:de. All of this takes
// from one budget of time.
//
// [Session.In] answers versions in one language. Deliver always does, in the base unless In names another one. A text
// is answered in the language that was asked for or, by the lookup of RFC 4647, in a wider one, from de-AT to de; then
// in the base, and then in the first other language of the store that it has. Texts among the defaults of a schema are
// answered in the same way.
type Session struct {
	service *Service
	by      vitrine.Caller
	within  int    // bytes; 0 = any number
	method  string // that was called, if an agent may call it; see calls
	lang    string // see In
}

// As returns a Session for this caller.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{service: s.made(), by: by} }

// Within returns a Session whose calls return a *MemoryError when they would take more than about this many bytes of
// memory for the content of a large app, before they read or change more. A page of a list takes Limits.PageBytes at
// most, whatever its Session is. A server bounds with it what its requests take together.
func (s *Session) Within(bytes int) *Session {
	other := *s
	other.within = bytes
	return &other
}

// Trying returns a Session whose calls change nothing: they check everything, return what they would have made, and are
// rolled back.
func (s *Session) Trying() *Session {
	tried := *s
	service := *s.service
	service.store = service.store.trying()
	tried.service = &service
	return &tried
}

// calls returns the Session for the rest of its method with this name. Methods that an agent may call begin with it. In
// all others check returns ErrForbidden for an agent.
func (s *Session) calls(method string) *Session {
	if s.by.Agent == "" { // saves others the copy
		return s
	}
	named := *s
	named.method = method
	return &named
}

// check returns the error of Caller.CheckUnrestricted for the method that was called.
func (s *Session) check() error { return s.by.CheckUnrestricted("appsvc." + s.method) }

// In returns a Session whose App, Version, TaggedApp, TaggedAppIn and Deliver answer texts in a language, a tag of BCP
// 47 such as de-AT, or return ErrInvalid with the Parameter lang if it is malformed. The language need not be one of
// the store. With "" these answer texts as they are stored, but for Deliver. No other method depends on it: Edit
// patches what is stored. What it answers is for display, and no patch is made for it.
func (s *Session) In(lang string) *Session {
	other := *s
	other.lang = lang
	return &other
}

// checkLanguage returns ErrInvalid if In was called with what is no language.
func (s *Session) checkLanguage() error {
	if s.lang == "" || wellFormed(s.lang) {
		return nil
	}
	return fault.Invalid("lang", "%q is no language: want a tag of BCP 47, such as de or de-AT", s.lang)
}

// answered returns an app in the language of In.
func (s *Session) answered(ctx context.Context, r *reader, app App) (App, error) {
	if s.lang == "" {
		return app, nil
	}
	rule, err := r.languages(ctx)
	if err == nil {
		err = s.mayTake(2 * len(app.Body))
	}
	if err != nil {
		return App{}, err
	}
	return app.in(rule.reading(s.lang))
}

// MemoryError is the error of a call that would take more memory than its Session may. The call has changed nothing.
type MemoryError struct {
	Bytes int // what it would take, at least
}

// Error says how much memory the call would take.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("this takes about %d bytes of memory, which is more than Session.Within allows", e.Bytes)
}

// mayTake returns a *MemoryError if a call may not take so many bytes.
func (s *Session) mayTake(bytes int) error {
	if s.within > 0 && bytes > s.within {
		return &MemoryError{bytes}
	}
	return nil
}
