// Package httpapi serves the domains of this module over HTTP: one handler for the app service, the asset manager, the
// reviews import, the page cors.html and a description in OpenAPI.
//
//	api, err := httpapi.New(httpapi.Config{Apps: apps, BasePath: "/vitrine", Authenticate: authenticate})
//	mux.Handle("/vitrine/", api)
//
// README.md in this directory is the contract: every endpoint with its parameters, bodies, responses, limits and error
// codes. examples/embed is a program around the handler, with a session cookie, the console and a route of its own.
//
//	go doc httpapi.Config            where the API lies, who calls, what is observed
//	go doc httpapi.Known             callers for routes of the program's own; httpapi.WriteError: their errors
//	go doc httpapi.Tokens            callers with signed JWTs; httpapi.RequestToken: with other tokens
//	go doc httpapi.Principal         keys that only read, and keys that stand in pages
//	go doc httpapi.Observer          metrics and logs of requests
//	go doc httpapi.Streams           event streams, which end when the server stops
//	go doc httpapi.Limits            what many requests share, slow clients, memory
//	go doc httpapi.Extra             endpoints of other packages
//
// # Mounting
//
// The app service, cors.html, openapi.json and the extensions below x/ start at [Config.BasePath]; the asset manager
// (/services/frontline/api/v4/assetManager//{network}/assetLibrary/{library}) and /healthz stay at the root, unless
// [Config.AssetPrefix] puts the asset manager elsewhere, such as below the base path. A router that strips the prefix,
// as http.StripPrefix does, takes a BasePath without it; one that keeps the whole path, as a ServeMux and chi do, takes
// the whole. Addresses in responses are right in both cases.
//
// Do not put the handler below an http.ServeMux if clients write the path of the asset manager with two slashes. A mux
// redirects such a path to the one with one slash (307). That redirect repeats the query, and with it a token in the
// query; and a browser follows no redirect of a preflight request. Give the handler to the [http.Server] itself, or
// choose between handlers by the prefix of [net/url.URL.EscapedPath], as the example of session cookies does. The
// handler itself never redirects. Paths are matched as they were sent, escaped.
//
// # The server around it
//
// Timeouts belong to the [http.Server]. The handler changes the deadlines of a connection only to disconnect a slow
// client, while it waits for a body that it does not need, and during event streams and imports and exports of reviews,
// which have no limit of time as a whole. Over HTTP/2 a client that reads nothing at all of its connection keeps its
// request open: set WriteByteTimeout of [http.Server].HTTP2, as examples/vitrine does.
//
// net/http itself rejects requests that it cannot read, in plain text; on a listener of [NewListener] these responses
// have the form of all other errors. If a client closes its side of the connection before it has the response, its
// request ends, and is 503 if it was not finished.
//
// If an endpoint does not need the body of a request, or rejects the request before the body is read, the handler reads
// up to four times [Limits.Body] of it before the response, for a second at most, since many clients read the response
// only after they have sent everything. Of a body whose Content-Length is larger than that it reads nothing. If the
// body has not come by then, the connection is closed after the response. Event streams and exports are 400 then.
//
// A server that limits its connections marks requests beyond the limit with [Overloaded], and closes those first that
// [Draining] names. The handler believes no X-Forwarded header: a server that trusts its proxy sets
// [http.Request].Host and RemoteAddr and marks the context with [Scheme], as examples/vitrine does with -trust-proxy.
package httpapi
