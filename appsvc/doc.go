// Package appsvc stores the apps of web sites, and keeps every version of them.
//
// # Words
//
//   - An app is a part of a web site that people edit: a title, a list of elements, and the groups that the app belongs
//     to. A group is a network of sites, or one site. The groups decide who may read and change the app.
//   - An element is one part of an app, such as a poll. It names a component and carries a config: a JSON object with
//     the settings of this one poll.
//   - A component is a script that shows elements. It has a name, a version and a manifest.
//   - A manifest is the JSON object that describes a component. It has the URL of the script, and the configSchema: the
//     JSON Schema that configs must conform to.
//   - A version is the content of an app at one time. Every change of an app makes a new version. A version never
//     changes, and all versions stay readable. The versions of an app have numbers, and those of a component have names
//     such as "1.0.0".
//   - A tag, such as "production", points to one version of one app. Moving the tag publishes another version.
//   - A caller is the user for whom a method is called, with the rights of this user. The embedding program says who
//     the caller is; this package stores no users.
//
// Users and groups are named by URNs:
//
//	urn:vitrine:example.test           a network
//	urn:vitrine:example.test:site=1    a site of it
//	urn:vitrine:example.test:user=me   a user of it
//
// # A first program
//
// This creates a component and an app, changes the app, and publishes the change:
//
//	func firstApp(ctx context.Context) error {
//		db := memory.New() // or sqlite.Open, or postgres.Open
//		defer db.Close()
//		site := "urn:vitrine:example.test:site=1"
//		apps := appsvc.New(db, nil).As(vitrine.Caller{
//			URN:        "urn:vitrine:example.test:user=me",
//			Moderates:  []string{site},
//			Components: true,
//		})
//
//		manifest := strings.NewReader(`{"name": "poll", "version": "1.0.0", "main": "https://example.test/poll.js",
//			"configSchema": {"required": ["question"]}}`)
//		_, err := apps.CreateComponent(ctx, appsvc.CreateComponentRequest{Manifest: manifest})
//		if err != nil {
//			return err
//		}
//		app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{
//			Title:  "Front page",
//			Groups: []string{site},
//			Elements: []appsvc.NewElement{{
//				Component: appsvc.ComponentRef{Name: "poll", Version: "1.0.0"},
//				Config:    json.RawMessage(`{"question": "Tea?"}`),
//			}},
//		}) // version 0
//		if err != nil {
//			return err
//		}
//		app, err = apps.Edit(ctx, app.ID, func(_ appsvc.App, patch *appsvc.PatchBuilder) error {
//			patch.SetConfig(0, "/question", "Coffee?")
//			return nil
//		}) // version 1
//		if err != nil {
//			return err
//		}
//		_, err = apps.PutTag(ctx, appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version})
//		if err != nil {
//			return err
//		}
//		live, err := apps.TaggedApp(ctx, app.ID, "production") // version 1, until the tag moves
//		if err != nil {
//			return err
//		}
//		content, err := live.Body.Content()
//		if err != nil {
//			return err
//		}
//		fmt.Println(live.Version, content.Title, string(content.Elements[0].Config))
//		return nil
//	}
//
// [New] returns a [Service] on a [storage.Store], and [Service.As] a [Session], which has the methods that act for one
// [vitrine.Caller]. What acts for no caller, such as [Service.RunDue], is a method of the Service. The client of a
// remote service, adapters/client, has the methods of a Session, so a program can be written for both.
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
// # Patching
//
// The easy way to change an app in Go is [Session.Edit], or [EditApp] with any [Patcher]. It reads the app, lets a
// function build a patch with a [PatchBuilder], and sends the patch. If Patch returns ErrConflict, for instance because
// somebody else has changed the app, it starts over. It makes up to ten attempts in all.
//
// [Session.Patch] itself takes a JSON Patch (RFC 6902) for the latest version. Its paths address {"apps":[app]}, the
// document that GET /apps/{id} returns over HTTP. One operation must be a test of /apps/0/version with the version as a
// string, so that nobody overwrites a version that they have not seen. The service checks the result of the patch, not
// its operations:
//
//   - Only title, groups and elements may differ from the version before.
//   - A new element is exactly {component:{name,version},config}.
//   - Every other element must have the id of an element of the version before. Only config, component.name and
//     component.version may differ from that element, and its component may have these two alone.
//
// The id of an element is its index in the list, as a string. So it names the element within one version only. Its key
// stays with it while it is edited, moved and restored: it is the version and the index where the element first stood,
// such as "12.3". A patch may leave the key out of an element that it keeps, and must not change it. Of several
// elements with one key the first keeps it; the others are copies, and get one of their own, as new elements do.
//
// The order of members in a config does not count as a change; the text of a number does.
//
// [Session.Restore] stores the content of any version as a new version.
//
// # Tags
//
// PutTag creates or moves a tag, and DeleteTag removes it. If the tag already points to the requested version, PutTag
// changes nothing. An app may have Limits.Tags tags, by default 1,000. ListTagMoves returns the history of a tag: when
// it moved, by whom, from where and to where. Each move is recorded in the transaction that makes it, and is kept for
// good, even after the tag is deleted. So the different names of tags that an app may ever have had are bounded too
// (Limits.TagNames, 10,000 by default).
//
// PutTagRequest.From is a guard for those who act on what they have seen: with PointsTo(v) the tag moves only if it
// points to v, and with NoTag() it is only created. Otherwise the error has CodeMoved, and Error.PointsTo is where the
// tag points, even if the tag already points to the requested version. The rights of the caller are checked before the
// guard.
//
// With Rollback, PutTag goes back to where the tag pointed before its last move that was not rolled back. So two
// rollbacks undo two moves, and none redoes a move.
//
// SetTagRules says which tags, such as production, decide what is delivered; see "Rights".
//
// # Releases
//
// A [Release] is a list of up to 200 moves of tags that are made together: all at one moment, or none. CreateRelease
// stores it, UpdateRelease changes it, and RunRelease carries it out. Each move names where the tag must point before.
// If one tag points elsewhere, or another rule rejects a move, no tag is moved; the release is open then, and its
// Conflicts name all of these moves. UndoRelease rolls back all moves of a release. TaggedAppIn shows an app as it
// would be after the release. A request that changes, approves or runs a release names the version of it that the
// caller has seen.
//
// With a time, a release is scheduled. Service.RunDue runs each due release once, in whichever process: a program calls
// it every second. The rights of the person who set the time are stored, and checked at that time on the apps as they
// are then; Options.Rights returns the rights that the person has then. A release that is more than a day late is not
// run.
//
// A rule of a tag may require approvals (SetTagRules). Only a release moves such a tag, and RunRelease needs that many
// approvals. An approval counts if its person could run the release, has neither made nor changed it, was not invited
// or given rights by somebody who has, directly or through others, and is not a program. If the rule is Independent,
// nobody counts either who gave rights to somebody who has made or changed it, and of people who gave each other rights
// one counts. A change of moves removes all approvals.
//
// Whoever may make people can be two of them: one invites two, one of these makes the release, and the other one
// approves it. So let only those make people whom you would let release alone.
//
// # History
//
// ListHistory says of each version of an app who made it and when, which version Restore took its content from, which
// tags point to it now, and what has changed since the version before: up to 20 operations of a JSON Patch, without
// their values, and up to 1,024 bytes of them. ChangesTruncated says that more has changed. A page has no content of
// versions, so it stays small. The steps of comparing versions are counted and limited: for one comparison to about 50
// ms of work, and for all comparisons of a page to about 50 ms for each 50 entries that Limit asks for. An entry whose
// comparison exceeds either limit has no Changes, and its ChangesTruncated is set. Once the steps of the page are used
// up, the same is true of all further entries, except version 0, which is not compared.
//
// Diff returns the difference between any two versions as a JSON Patch. Patch accepts it while the first of the two is
// the latest version, unless the caller may not make this change, the patch or the app that it makes exceeds a limit,
// validating the configs costs too much, a component was deleted, or a component was deleted and created again and a
// config breaks its present configSchema. A diff is meant for people, so each thing that has changed is one operation:
//
//   - Elements are matched by their keys, so an element that was inserted, removed or moved is one operation, and each
//     field of it that has changed besides is one.
//   - Configs are compared member by member, and lists in configs item by item. Strings are replaced whole.
//   - An element that differs only in the order of members, or in its manifest because its component was deleted and
//     created again, is unchanged.
//
// If the patch would have more operations than Patch allows, or take too much work to apply or too many steps to find,
// its operations are coarser: they replace whole configs, all groups, or all elements. Elements keep their keys then,
// too.
//
// Steps are counted, and no clock is used, so equal versions have equal diffs on every machine.
//
// # Components and configs
//
// When an element is added, or its component or its config changes, the component must exist, the config must conform
// to its configSchema, and the component's manifest is copied into the element. All other elements stay as they are
// stored. So an old version reads the same after its components were deleted or created again, and Restore validates no
// config again.
//
// A config has only what was written into it. [App.WithDefaults] adds the defaults of the schema, for display.
//
// A configSchema is JSON Schema of draft 04, 06, 07, 2019-09 or 2020-12, as its $schema says; without a $schema it is
// of 2020-12. It must be
//
//   - valid against the meta-schema of its draft, and of this one draft;
//   - of at most 256 KiB, 64 levels, and 4 KiB for all patterns together;
//   - complete: each $ref names a place in the schema or a standard meta-schema, because the service fetches nothing;
//   - simple enough: at most 5,000 subschemas, of which at most 200 in a row apply to one value, and none to the value
//     that it applies to already.
//
// Patterns are ECMA 262 in the Unicode form, with lookaheads, lookbehinds and back-references. A format rejects no
// value, unless the schema engine (Options.Schemas) is one that asserts formats (see [SchemaOptions]), or unless it
// decides: where a value fits more than one alternative of a oneOf, those count whose formats it has.
//
// A validation counts its steps, and rejects a config that takes too many (CodeCost). A busy machine accepts and
// rejects the same configs as an idle one, except for patterns with lookarounds, back-references or repetitions above
// 1,000 times: such patterns have 250 ms a request, and texts of at most 128 KiB. The error of a config that breaks its
// schema has up to 100 Violations, each with the place, the keyword and a message. The Warnings of CheckComponent name
// the keywords and formats of a schema that have no effect.
//
// CheckComponent says what a new version of a component would break, before it is created. It stores nothing. It
// validates the configs of all elements that have a component of this name, in the latest and in the tagged versions of
// the apps that the caller may read. Each element is checked as Patch would check it if only the version of its
// component changed. Rules of the whole app, such as the size of its JSON, are not checked.
//
// Upgrade gives all apps with a component another version of it, with a JSON Patch for each config. Each app gets one
// new version, as Patch would store it, or is not changed, and the result says why. A dry run returns the same and
// stores nothing.
//
// For both, a store keeps an index of the components that any version of an app has used. It is small and only grows.
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
// # Feed of changes
//
// Every change has an entry in the feed of changes, an [Event], written in the transaction of the change. A call that
// changes nothing adds no entry, and neither does a repeat with an idempotency key. Session.Changes returns a page of
// the feed, and Session.Follow waits for what comes.
//
//   - A follower that resumes from a cursor sees every later change exactly once. The changes of one app come in the
//     order of their commits, and so do those of components.
//   - A caller sees the changes of components, and those of the apps that it may read at the time of reading. A change
//     that takes an app away from the caller is an event of type AppLeft. A caller that gains rights does not see the
//     changes before its cursor.
//   - Cursors are encrypted and belong to the store. Entries are kept for at least Options.KeepChanges, 30 days by
//     default, and later changes remove older ones. A cursor gives [vitrine.ErrGone] when an entry after it was
//     removed.
//   - A feed has an identity. Whoever restores a store from a backup must give the feed another one, by
//     storage.RenewIdentity; a copy made by Backup of storage/sqlite has another one already. Older cursors give
//     ErrGone then too. A store that was built from an archive (storage/archive) has a new feed, and no stored results
//     of idempotency keys. A cursor of the exported store is ErrGone there, and ErrInvalid if v0.2.0 made the archive.
//
// # Limits
//
// Options.Limits bounds what the service accepts and how large pages are. Every limit has a default; see [Limits],
// which also says which error a request over a limit gets. The limits of schemas are fixed; see "Components and
// configs".
//
// # Stores
//
// A Service keeps its records in a storage.Store: storage/memory, storage/sqlite and storage/postgres have one each.
// The file storedkeys.go has the keys of all records.
//
// A stored version is what the service knows of it, and a [Body], the JSON text of owner, title, groups and elements. A
// read returns these bytes unchanged, except that TaggedApp leaves out the owner and the groups for a caller with
// TagsOnly.
package appsvc
