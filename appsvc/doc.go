// Package appsvc holds versioned apps: apps made of elements, elements powered by components,
// versions that stay readable for good, and tags that point to them.
//
// # Concepts
//
// An app is a list of elements with a title and the groups (networks and sites) it belongs to.
// Every change makes a new version: "0", then "1", and so on without gaps. A version never
// changes; the latest is what App returns and what Patch starts from. Restore brings an older
// version back as a new one. A tag, such as "production", points to one version of one app and can
// be moved.
//
// An element names a component and carries a config. When an element is written, that is, when it
// is new or its component or config changes, the component must be known to the service, the
// config must conform to the component's configSchema, and the component's manifest is copied into
// the element. So an old version answers the same for good, whatever becomes of its components. A
// config holds what its creator gave; WithDefaults shows it with the schema's defaults filled in.
//
// # Who may do what
//
// Every method takes the Caller right after ctx. A caller may use an app, for reading and writing
// alike, when it owns the app or moderates one of the groups that the app's latest version has; a
// moderator of a network moderates its sites. To create an app needs a moderator of every one of
// its groups, and to add a group by Patch or Restore a moderator of that group. An app that the
// caller may not use does not exist for it: the errors are the same. Creating and deleting
// components takes Caller.ManageComponents; reading them, and TagsNamed, takes any caller.
//
// # Changing an app
//
// Patch takes a JSON Patch (RFC 6902) against the document {"apps":[App]} that a read answers. It
// must hold a test of /apps/0/version, so that nobody overwrites what they have not seen. Then the
// result is judged, not the operations: outside title, groups and elements nothing may differ, and
// an element of the result is either new, exactly {component:{name,version},config}, or one of the
// old ones, named by its id, with at most another config, component.name or component.version. An
// element whose config or component changes gets the manifest as the service knows it now. Member
// order in a config does not count as a change; the text of a number does.
//
// Where a write carries an Idempotency-Key, the same caller's repeat within a day gets the first
// answer, as long as the caller may still see what it shows.
//
// # Storing
//
// A Service stands on a Store: storage/memory, storage/sqlite and storage/postgres are three, and
// storage/storagetest.Apps says what another one has to do. A stored version is its Meta and a
// Body, the JSON text of all else; reading serves these bytes as they are.
//
// Errors wrap the sentinels ErrInvalid, ErrForbidden, ErrNotFound, ErrConflict, ErrTooLarge,
// ErrUnprocessable, ErrBusy, ErrFull and ErrUnknown.
package appsvc
