// Package httpapi serves the domains of this module over HTTP: one handler for the app service, the asset manager, the
// reviews import, the page cors.html and a description in OpenAPI. README.md in this directory is the contract: every
// endpoint with its parameters, bodies, responses, limits and error codes.
//
// # Mounting
//
// [New] gives an [http.Handler] for the whole of a server. The app service, cors.html, openapi.json and the extensions
// below x/ start at [Config.BasePath]; the asset manager
// (/services/frontline/api/v4/assetManager//{network}/assetLibrary/{library}) and /healthz stay at the root, unless
// Config.AssetPrefix puts the asset manager elsewhere, such as below the base path. A router that strips the prefix, as
// http.StripPrefix does, takes a BasePath without it; one that keeps the whole path, as a ServeMux and chi do, takes
// the whole. Addresses in responses are right in both cases. [Known] authenticates the callers of a program's own
// routes, and [WriteError] writes their errors in the same form.
//
// Do not put the handler below an [http.ServeMux] if clients write the path of the asset manager with two slashes. A
// mux redirects such a path to the one with one slash (307). That redirect repeats the query, and with it a token in
// the query; and a browser follows no redirect of a preflight request. A mux leaves all other paths unchanged, also a
// component name with an escaped slash (%2F). Give the handler to the [http.Server] itself, or choose between handlers
// by the prefix of [net/url.URL.EscapedPath], as the example of session cookies does. The handler itself never
// redirects.
//
// # Paths
//
// Paths are matched as they were sent, escaped; each parameter is unescaped once. So a component named @scope/name is
// at /components/%40scope%2Fname. A path that is not in canonical form (empty, "." or ".." segments, other case) is
// 404, except for the double slash of the asset manager. Collections have the same path with and without the slash at
// its end.
//
// # Tokens
//
// [Config.Authenticate] gets each request, except OPTIONS and those for cors.html, openapi.json and /healthz, and
// returns the [Principal] that sends it. [Tokens] is a default with signed JWTs. [RequestToken] finds the token of a
// request, for Authenticate functions with tokens of their own: it is in the header "Authorization: svctoken <token>",
// which may also be "Bearer <token>", or in the query parameter svctoken. A request with two tokens is rejected. Tokens
// appear in no log, error, header or URL of a response.
//
// An error that wraps [ErrUnauthenticated] becomes a 401. The client learns the reason only from a [TokenError], which
// Tokens returns if the signature is good. Any other error of Authenticate is 503, so an identity provider that is down
// does not look like a bad token.
//
// An identity that does not come from RequestToken is ambient: a browser sends a cookie or a client
// certificate by itself, with requests of other sites too. For an ambient identity, every method but GET, HEAD and
// OPTIONS must pass [http.CrossOriginProtection], else the response is 403, and an import of reviews must be
// application/x-ndjson, which no form can send. A token in the query makes no difference to this if
// the request also carries a cookie or a client certificate, as a form of another site can name any token.
//
// Principal.Reads makes a reading token: its holder reads the apps of these networks and sites, and changes
// nothing. TagsOnly with Tags makes a delivery token: its holder may read GET /apps/{id}/tagged/{tag} for these
// tags and the apps of Reads, and nothing else, whatever else the Principal has. The responses name no users
// and no groups, so a delivery token may stand in a public page.
//
// Principal.Expires says when the identity ends, if that is known. GET /x/me tells the caller. The handler does not
// check it: Authenticate must return an error for an expired identity.
//
// # Caching
//
// A version of an app that is read by its number may be kept for a year, since it never changes, and cors.html for a
// day. All other responses are used again only after the client has asked whether they are still good; reads of one
// version have an ETag for that. The response to a request with a token in its query is not stored anywhere, and
// neither are exports and event streams.
//
// # Query parameters
//
// A query parameter that an endpoint does not know is 400: a misspelt filter would find everything, and a misspelt user
// would be the caller. Only the reads that README.md marks, cors.html, openapi.json and /healthz ignore unknown
// parameters.
//
// # Idempotency keys
//
// Creating and restoring an app, setting and deleting a tag, and creating and deleting components take the header
// Idempotency-Key. Any other writing operation rejects it with 400, and reads ignore it.
//
// # Watching
//
// [Config.Observer] is told of every request: its route, status, duration and bytes, its address and its caller.
// [AccessLog] writes a log of that; the example of [Observer] counts for Prometheus. [LoadOf] tells how much of
// the limits of [LimitsOf] is in use, and [Streams.Lag] how far the event streams are behind.
//
// [Config.Log] gets a line for each response with 401 or 403: the address, the reason and, if the signature of the
// token is good, the URN of the caller. It writes at most 10 of these lines a second, and then one that counts the
// others.
//
// # Behind a proxy
//
// The handler believes no X-Forwarded header. A server that trusts its proxy sets [http.Request].Host and RemoteAddr
// and marks the context with [Scheme], as examples/vitrine does with -trust-proxy.
//
// # Compression
//
// Responses of at least [Config.CompressFrom] bytes are compressed with gzip for clients whose Accept-Encoding names
// it. The compressed form of a version has its own ETag, and If-None-Match is compared with the form that would be
// sent.
//
// # Limits
//
// What many requests share is limited by slots: so many in all, and so many of a caller. A caller is known by its URN;
// a delivery token stands in public pages, so its requests are counted for the address of the client, and those of IPv6
// for its network of 64 bits. A slot that becomes free goes to the caller who has got one the longest ago. A request
// that finds no slot within a second is rejected with Retry-After, before it has changed anything. While it waits, the
// slowest request with such a slot is cut off, if the server has waited for its client for more than ten seconds and
// the client has sent or read less than 64 KiB/s. Only the time in which the server waits for the client counts.
//
//   - Reads that are at work: 16, or four for each processor if that is more; four of a caller, or two for each
//     processor. The others wait, and are not rejected. Sending a response is no work.
//   - Requests with a body or a response above 64 KiB, and those whose work needs as much, have a slot for each MiB of
//     memory: [Limits.Memory], 256 MiB, an eighth of them a caller, else 503. A single request may exceed the eighth. A
//     body counts four times. A picture that is decoded has slots, too, up to three quarters of all; it waits for ten
//     seconds, and counts in no caller's eighth.
//   - Uploads of reviews: 32, 8 for a network and 4 of a caller, else 429 ([Limits.Uploads] and the two after it). An
//     upload that pauses for [Limits.Pause], 30 seconds, is ended. One that is ended or cut off gets 200, the report of
//     what was imported, and "Connection: close". A line has at most [Limits.Line], 16 MiB; a longer one is an error in
//     the report. Lines of more than 1 MiB are in memory of four uploads at a time ([Limits.LongLines]); the others
//     wait for that.
//   - Exports of reviews, since each keeps a snapshot open: 8, and 4 of a caller, else 503 ([Limits.Exports],
//     [Limits.ExportsOfCaller]).
//   - Event streams: 2,000, and 16 of a caller, else 429 ([Limits.Streams] and [Limits.StreamsOfCaller]).
//
// Slow clients: a body and a response above 64 KiB may take a minute, and a second more for each 64 KiB, and a page of
// an event stream 30 seconds in place of the minute. Smaller ones are limited by the timeouts of the server.
//
// The process needs more memory than Limits.Memory: for the store, for garbage that is not collected yet, 1 to 20 MiB
// for each upload, about 60 MiB for each that stores a large review, and 16 bytes for each collection of an upload and
// each review of its longest line. Set GOMEMLIMIT, or [runtime/debug.SetMemoryLimit] as examples/vitrine does. Limit
// the number of connections too, and mark requests beyond it with [Overloaded]. Close connections that [Draining] names
// first.
//
// /healthz responds within a second: [Config.Ready] is asked once at a time and has 800 milliseconds.
//
// # Rejected requests
//
// An error sentence begins with the place of the mistake: a JSON pointer into the body ("/add/0/id: …"), the name of a
// parameter of the query or the path ("limit: …"), or "header" and the name of a header. It does not repeat the status.
//
// In the bodies of the asset manager null is rejected, also for a member that may be left out. The exceptions are role,
// group and user of a permission, which responses have as null too, and values inside content.
//
// An empty usingComponent, or an empty name in after, counts as not given. An empty before or an empty cursor is 400. A
// parameter that the endpoint knows is 400 if it cannot be decoded, or if it is given twice and is no list. A version
// that is not a decimal number is 404, in a path and in a body. A body sent with DELETE is ignored. The list of tags
// and the list of components take after, the last name of the page before; the list of tags takes limit too.
//
// If a client closes its side of the connection before it has the response, its request ends, and is 503 if it was not
// finished: net/http cannot distinguish this from a client that has disconnected. net/http itself rejects requests that
// it cannot read (malformed ones, headers over its limit, an unknown Expect), in plain text and without the headers of
// other responses. On a listener of [NewListener] these responses have the form of all other errors.
//
// If an endpoint does not need the body of a request, or rejects the request before the body is read, the handler reads
// up to four times [Limits.Body] of it before the response, for a second at most, since many clients read the response
// only after they have sent everything. Of a body whose Content-Length is larger than that it reads nothing. If the
// body has not come by then, the connection is closed after the response. Event streams and exports are 400 then.
// [Draining] tells a server which connections wait for such a body. Timeouts belong to the [http.Server]. The handler
// changes the deadlines of a connection only for this, to disconnect a slow client, and during imports and exports of
// reviews and event streams. These have no limit of time as a whole, but their clients may be disconnected as described
// above.
//
// Over HTTP/2 a deadline resets one stream, with a frame that is sent over the connection. A client that reads nothing
// at all of its connection never takes that frame, and its request stays open. Set WriteByteTimeout of
// [http.Server].HTTP2, as examples/vitrine does, so that such a client is disconnected.
package httpapi
