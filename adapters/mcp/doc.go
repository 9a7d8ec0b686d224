// Package mcp lets assistants work with apps, assets and reviews by the Model Context Protocol: they find and read,
// write versions that nobody sees yet, and propose releases, which people approve. They publish nothing.
//
// A server that has a handler of httpapi adds the endpoint POST x/mcp to it:
//
//	httpapi.New(httpapi.Config{Apps: apps, Assets: library, Authenticate: people.Authenticate,
//		Extras: append(people.Endpoints(), mcp.Endpoint(apps, library, stored)), …})
//
// A handler that has nothing but this endpoint has neither Apps nor Assets in its Config.
//
// The endpoint is for keys of agents alone (vitrine.Caller.Agent; in signin a secret key with "agent": true). Any other
// caller is 403, and nobody 401 with WWW-Authenticate: Bearer. It is stateless: each POST has one message and its
// response in JSON, and there are no sessions. A page of another site may not send it requests.
//
// Each tool calls methods of a Session with the rights of the key, which refuse what no agent may do. So the tools are
// a convenience, and no boundary: what the key may over HTTP is the same.
//
// A result has at most 25,000 characters, as text and as structured content; what does not fit follows at its cursor. A
// failed call is a result with isError and with the members that errors have over HTTP: error, code, pointer and
// others. An edit of a version that is not the latest one is answered with the latest version and the difference to it,
// so that an assistant can repair its edit.
package mcp
