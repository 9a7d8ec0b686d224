// Package webhook posts the changes of apps, assets and reviews to the endpoints of other programs, signed as Standard
// Webhooks (standardwebhooks.com) says.
//
// # Endpoints
//
// [Parse] reads the endpoints from a JSON array. Each has a name, a URL, and a secret that signs its deliveries:
//
//	[{"name": "cdn", "url": "https://cdn.example/purge", "secret": "whsec_…",
//	  "types": ["tag.set", "tag.deleted", "app.deleted", "app.undeleted"], "groups": ["urn:vitrine:example.test"]}]
//
// A secret is whsec_ and the base64 of 24 to 64 random bytes. While an endpoint changes from one secret to another,
// secret is a list of both, and each delivery has two signatures.
//
// An endpoint without types gets all types of changes ([Types]), and one without groups gets the changes of all apps,
// components, assets and reviews. With groups, which are URNs of networks and sites, it gets
//
//   - the changes of the apps that have a group which is one of these or in one of them;
//   - app.left, with the id of the app alone, for an app that left these groups with the change;
//   - the changes of the assets and the reviews of these networks;
//   - no changes of components.
//
// An endpoint that builds a site asks for tags, headers and a wait:
//
//	[{"name": "build", "url": "https://ci.example/build", "secret": "whsec_…",
//	  "tags": ["production"], "headers": {"Authorization": "Bearer …"}, "wait": "30s"}]
//
// With tags it gets the moves of these alone, tag.set and tag.deleted; of the tags that a release moves, the first one
// alone comes, and data has the id of the release. Apps that are deleted move no tag. Each delivery has the headers;
// Host, Content-Type, Content-Length and those of the signature are not among them. With wait, 1s to 1h, changes are
// held until none has come for so long, at most for ten times as long, and then come as one delivery of the type batch:
// data is {"changes": [{"type", "timestamp", "data"}], "truncated"}, with the first 1,000, and truncated is true if
// there were more. An attempt at a batch that is repeated has the changes that have come since, and another webhook-id.
//
// # Deliveries
//
// [New] returns a [Deliverer]. Its Set takes the endpoints, and its Run delivers until the context is done:
//
//	d := webhook.New(db, webhook.Services{Apps: apps}, nil)
//	if err := d.Set(ctx, endpoints); err != nil { … }
//	go d.Run(ctx)
//
// A delivery is a POST with the body {"type", "timestamp", "data"}: data is the entry of the feed of changes as it
// reads over HTTP, without its cursor, and timestamp is the time of the change. An entry of assets has a member
// library, {"network", "id"}, in addition. The headers webhook-id, webhook-timestamp and webhook-signature let the
// receiver verify it with any library of Standard Webhooks, or with an HMAC-SHA256; see the example.
//
// Each endpoint gets its changes one at a time, in the order of the feed; changes of several feeds, of apps, of each
// library and of the reviews of each network, are ordered by time. A change is delivered at least once: after a crash
// it may be delivered again. The webhook-id shows it: each change has a random one for each endpoint, which stays the
// same for every attempt, whichever process makes it.
//
// # Failures
//
// The status line decides, and it must come within 15 seconds. At most 64 KiB of the response are read. A status of 200
// to 299 accepts the delivery. 410 switches the endpoint off until its URL, a header or a secret changes; then
// deliveries go on where they were. After any other status, or without an answer, the delivery is tried again: after 5
// seconds, and then after twice as long each time, up to 8 hours, ± 20 %. Later changes wait for it. It is skipped,
// with an error in the log, when the change is three days old, or when the receiver has rejected it with 400, 413 or
// 422 five times. While an endpoint fails, the changes that wait for it are skipped as they become three days old. An
// endpoint that fails delays no other.
//
// # Positions
//
// The position of each endpoint is stored under its name, in the store of the services. A new name begins with the
// changes that come after Set, and a name that the store knows goes on where it was, also after it was missing from the
// endpoints for a while. An endpoint that asks for more types or groups gets the changes that come. If the feed no
// longer has the entries after the position, or has a new identity because the store was copied or its feed was reset,
// deliveries go on with the changes since five minutes before the last delivery, and the log says so. A backup has the
// positions, an archive does not.
//
// # Several processes
//
// Each process that uses a store may run a Deliverer, with the same endpoints. The one that has the lease in the store
// delivers. If it ends, another goes on within seconds; if it dies, within 30 seconds. The clocks of the processes may
// differ. A process that stalls and loses the lease without noticing stores no position: at the worst one change is
// delivered to an endpoint by both.
//
// # Addresses
//
// Deliveries go to public addresses only, and to the networks that the operator allows ([ParseAllow]). The address is
// checked when the connection is made, after the name was resolved. Loopback, private, link-local, multicast and
// reserved addresses are blocked, those at which clouds serve metadata, and IPv6 addresses that stand for such IPv4
// addresses. Redirects are not followed, and proxies that the environment names are not used.
//
// # Secrets
//
// A secret, or the value of a header, is in no log, in no error and in no text that a value of this package is printed
// or marshaled as. Logs name an endpoint by its name, since its URL may contain a secret too, and repeat nothing that a
// receiver sent.
package webhook
