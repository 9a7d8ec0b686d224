// Package appsvc holds versioned apps. An app is made of elements, each element is powered by a component, every
// version stays readable, and tags point to versions.
//
// # Concepts
//
// An app is a list of elements with a title and the groups (networks and sites) that it belongs to.
// Every change of the title, the groups or the elements makes a new version: 0, then 1, and so on without gaps.
// A version never changes. App
// returns the latest version, and Patch starts from it. Restore stores the content of an older version as
// a new version. A tag, such as "production", points to one version of one app and can be moved.
//
// An element names a component and carries a config. When an element is added, or its component or its config
// changes, the component must exist, the config must conform to the component's configSchema, and the component's
// manifest is copied into the element. So an old version reads the same after its components were replaced or
// deleted, and Restore does not check it again. A config holds only what its creator gave; App.WithDefaults adds the defaults of the schema for display.
//
// A [Version] is a number. The zero Version names none: in a request it means "not given". [Latest] names the
// highest version that an app has.
//
// # Calling the service
//
// [New] returns a [Service] on a [Store]. Every method takes the [Caller] right after ctx. Service.As
// returns a [Session], which has the methods that act for a caller, without the parameter. The client of a
// remote service, adapters/client, has the methods of a Session.
//
// A method named ListX returns a [Page]: the items, and in Next the value of After for the next page. Next is ""
// on the last page. The method AllX beside it is an iterator that fetches page after page; it ends with the first
// error.
//
// # Errors
//
// An error about the input or the rights of the caller is an *[Error]. Its Kind is one of the sentinels of
// this package, which errors.Is finds; its Code is a stable word for programs; Pointer or Parameter names
// what is wrong, and Reason is a sentence for people. Over HTTP the error has the same code and place.
// A store that cannot serve a call returns an error that wraps ErrBusy, ErrFull or ErrUnknown. A call whose ctx is
// done returns the error of ctx. Any other error is internal.
//
// # Schemas
//
// A configSchema is JSON Schema of draft 04, 06, 07, 2019-09 or 2020-12, as its $schema says; without a $schema it is
// of 2020-12. It must be an object that is valid against the meta-schema of its draft, with at most 256 KiB, 64 levels
// and 4 KiB of patterns. It must be complete: each $ref names a place in the schema or a standard meta-schema, since
// the service fetches nothing. Its patterns are ECMA 262 in the Unicode form, with lookaheads, lookbehinds and
// back-references. A format is only an annotation unless the engine asserts formats; see SchemaOptions.
//
// Before a validation the service estimates its cost from the schema and the config. It
// never uses a clock for this, so a busy machine accepts and refuses the same configs as an idle one. The
// error of a config that breaks its schema is an *[Error] with Violations: the place, the keyword and the
// message of up to 100 values. SchemaWarnings reports the keywords and formats of a schema that have no effect.
//
// # Who may do what
//
// A caller may use an app, for reading and writing alike, when it owns the app or moderates one of the
// groups of the app's latest version. A moderator of a network moderates its sites. To create an app,
// the caller must moderate each of its groups. To add a group by Patch or Restore, it must moderate that
// group. To remove a group, it must moderate that group or own the app, since the removal hides the app
// from the group. An app that the caller may not even read gives the same errors as one that does not exist.
// To create or delete components, the caller needs Caller.ManageComponents. Every caller may read
// components, and may call TagsNamed. A caller with a malformed URN is ErrInvalid everywhere.
//
// Caller.Reads names networks and sites whose apps the caller may read, in every version, and not change: a write is
// ErrForbidden. Caller.TagsOnly restricts a caller to TaggedApp, for the tags in Caller.Tags and the apps of Reads.
// Every other method and every other tag is ErrForbidden, whether or not the tag is there, and an app outside of Reads
// is ErrNotFound. Owning or moderating the app counts for nothing then. The app that such a caller gets names no users
// and no groups, so the caller may be the public.
//
// A program adds rules of its own with Options.Check. It sees each [Change] before the change is committed,
// and may refuse it.
//
// A server can refuse a caller before it reads the body of a request: Service.AdmitChange, Service.AdmitTagChange and
// Service.AdmitCreateComponent return the errors that do not depend on the body.
//
// # Changing an app
//
// Patch takes a JSON Patch (RFC 6902). Its paths address {"apps":[app]}, the document that GET /apps/{id} returns over
// HTTP. One of its operations must be a test of /apps/0/version, so that nobody overwrites a version that they have not
// seen. The service checks the result of the patch, not its operations:
//
//   - Only title, groups and elements may differ from the version before.
//   - A new element is exactly {component:{name,version},config}.
//   - Any other element of the result is one of the old ones, which its id names. Only its config, component.name
//     and component.version may differ.
//
// An element whose config or component changes gets the current manifest of the component. The
// order of members in a config does not count as a change; the text of a number does.
//
// A [PatchBuilder] builds a patch in Go. Session.Edit and [EditApp] read an app, let a function build a patch, and
// send it; they start again when somebody else has changed the app meanwhile.
//
// # History
//
// ListHistory returns the history of an app: who made each version and when, which version Restore took
// its content from, which tags point to it now, and what changed since the version before, as the operations of a
// JSON Patch without their values. It returns no content, so a page stays small. The steps of
// comparing are limited to what takes about 50 ms. Entries beyond that have no Changes, and ChangesTruncated is set.
//
// Diff returns the difference between any two versions as a patch that Patch accepts while the first one is the
// latest version. It is meant for people, so it has one operation for each thing that changed:
//
//   - Elements are matched by their content, so an element that was inserted, removed or moved is one operation. An
//     element that was edited is found again if its config shares at least half of its members and words, or if it
//     has kept its place and its component.
//   - Configs are compared member by member, and lists in configs item by item. Strings are replaced whole.
//   - An element that was written again with the same config, for a component that had been made anew, is
//     replaced: this copies the manifest of the component again.
//
// The work is counted in steps and not measured by a clock, so equal versions have equal diffs on every machine.
//
// # Tags
//
// A tag points to one version of one app. PutTag creates or moves it, and DeleteTag removes it; both record the move in
// the same transaction. ListTagMoves returns the history of a tag: when, by whom, from where and to where. A tag that
// already points to the version does not move and has no new entry. Moves are kept for good, even after the tag is
// deleted. So two numbers are bounded: an app has at most Limits.Tags tags at a time, 1,000 by
// default, and 10,000 different names of tags ever.
//
// PutTagRequest.From is a guard for people and programs that act on what they have seen: with PointsTo(v) the tag moves
// only from v, with NoTag() it is only created. Otherwise the error has CodeMoved and says in PointsTo where the tag
// is. The caller's rights are checked before the guard. After a lost response, repeat the call with its idempotency
// key: a repeat without one gets CodeMoved if the first call has moved the tag.
//
// Options.ProtectedTags names tags, such as production, that decide what is delivered. Only a moderator of every
// group of the app may create, move or delete one; being the owner is not enough. The groups of the app decide who
// that is, so
// while an app has a protected tag, changing its groups by Patch or Restore takes a moderator of every group as well.
// Both rules are checked in the transaction of the write, on the latest version. The rule for tags is checked again
// before a repeat with an idempotency key is answered.
//
// # Checking a component
//
// CheckComponent says what a new version of a component would break before it is created. It validates the configs of
// all elements that have a component of this name, in the latest and the tagged versions of the apps that the caller
// may read, and stores nothing. Each element is judged as Patch judges it when only the version of its component
// changes. What depends on the app as a whole, the size of its JSON for instance, is not judged. A store keeps an index
// of the components that any version of an app has used; it is small and only grows. For an app from before v0.1.0 the
// index has only the latest version, so every check reads each such app that has older versions.
//
// # Idempotency keys
//
// A write may carry an idempotency key. If the same caller repeats the same call with the same key within a
// day, the write is not done again, and the caller gets the result of the first call. The service checks
// the caller's rights again before it answers. Any other call with that key is ErrUnprocessable. The
// service keeps only ids and versions for a repeat, so the repeat returns the version or the component that
// the first call made.
//
// # Changes
//
// Every change has an entry in the feed of changes, an [Event], written in the transaction of the change. A call that
// changes nothing adds no entry, and neither does a repeat with an idempotency key. Service.Changes returns a page of
// the feed, and Service.Follow waits for what comes. A follower that resumes from a cursor sees every later change
// exactly once, and the changes of one app, and those of components, come in the order of their commits. A caller sees
// the changes of the apps that it may read at the time of reading; a change that takes an app away from it is an event
// of type AppLeft. A caller that gains rights does not see the changes before its cursor. Cursors are encrypted and
// belong to the store. Entries are kept for Options.KeepChanges; an older cursor is [ErrGone], and so is one of a feed
// that has another identity, as after a restore from a backup. A store that an archive was imported into has a feed of
// its own, which knows no cursor of another store.
//
// # Stores
//
// The packages storage/memory, storage/sqlite and storage/postgres implement Store. Only authors of drivers
// need the types Store, Reader, Tx, Answer, Restoration, AppQuery, AppPosition, VersionQuery, TagQuery,
// TagMoveRecord, TagMoveQuery, UserQuery, ComponentUser, ComponentQuery, FeedEntry, FeedPosition and FeedState; they
// are declared in store.go and storequery.go, and the suite storage/storagetest.Apps checks a driver.
//
// A stored version is its [Meta] and a [Body], the JSON text of everything else. A read returns these
// bytes unchanged.
package appsvc
