// Package httpapi serves the domains of this module over HTTP: one handler for the app service,
// the asset manager, the reviews import, the page cors.html and a description in OpenAPI.
//
// # Mounting
//
// [New] gives an [http.Handler] for the whole of a server. The app service, cors.html,
// openapi.json and the extensions below x/ start at [Config.BasePath]; the asset manager
// (/services/frontline/api/v4/assetManager//{network}/assetLibrary/{library}) and /healthz stay
// at the root.
//
// Do not put the handler below an [http.ServeMux]: a mux cleans paths by redirecting, so that
// the double slash of the asset manager, and every component name that holds an escaped slash,
// is answered with a redirect, which also repeats a token that came in the query. Give the
// handler to the [http.Server] itself, or choose between handlers by looking at the prefix of
// [net/url.URL.EscapedPath]. The handler itself never redirects.
//
// # Paths
//
// Paths are matched as they were sent, escaped; each parameter is unescaped once. So a component
// named @scope/name is at /components/%40scope%2Fname. A path that is not in canonical form
// (empty, "." or ".." segments, other case) is 404. Collections answer with and without the
// slash at their end.
//
// # Tokens
//
// Every request but OPTIONS and those for cors.html, openapi.json and /healthz carries one token,
// in the header "Authorization: svctoken <token>" or in the query parameter svctoken. What
// a token says is up to [Config.Authenticate]; [Tokens] is a default on signed JWTs. A token in
// the query is kept out of logs, errors, headers and URLs.
//
// # Watching
//
// [Config.Observer] is told of every request: its route, status, duration and bytes. [AccessLog]
// writes a log of that; the example of [Observer] counts for Prometheus.
//
// # Compression
//
// Answers from [Config.CompressFrom] on are sent in gzip to clients whose Accept-Encoding prefers it.
// The compressed form of a version has an ETag of its own, and If-None-Match is held against the form
// that would be sent.
//
// # Decisions
//
// What is said of a request that is wrong begins with what is wrong in it: a JSON pointer into the
// body ("/add/0/id: …"), the name of a parameter of the query or the path ("limit: …"), or "header"
// and the name of one. The kind of a domain's error is left to the status.
//
// In the bodies of the asset manager null is refused, for a member that may be left out too, but for
// role, group and user of a permission, which are answered with it, and inside content.
//
// Where the contract is silent: an empty usingComponent is none, and so is an empty name in after;
// an empty before is no version and an empty cursor no cursor: 400. A parameter of an endpoint that
// cannot be decoded, or is given twice where one is meant, is 400; what cannot be decoded and is
// none of them is passed over by reads and 400 on writes. A version that is no decimal number is
// 404 in a path and in a body. A body sent with DELETE is not looked at. A tag list and the list of
// components take after (a name) where a page ended early, and a tag list limit.
//
// A client that closes its side of the connection before it has the answer is taken for one that has gone,
// as net/http cannot tell the two apart: its request ends, and is 503 if it had not been worked off.
// Requests that net/http cannot read (malformed, headers over its limit, an unknown Expect) it refuses
// itself, in plain text and without the headers of other answers; examples/server writes those anew.
//
// Of a request that is refused while its client is still sending, up to four times [Limits.Body]
// are read, for 3 seconds at most, so that clients that look at the answer last find it. Timeouts
// belong to the [http.Server]; only this and the import of reviews, which may take as long as it
// likes, move the read deadline of their own connection.
package httpapi
