// Package access tests who may do what over HTTP. Callers with tokens, secret keys and sessions send a request to every
// endpoint of the route table, and of people and keys, about a thing in every state, and must get the status that the
// tables here name.
//
// The tables are written by hand from the access rules, which the comments of the domains state. A
// table has a character for each caller and thing; each endpoint has a status for each character. The code
// under test computes none of it. An endpoint of the route table without a row fails the test, and so does
// a row without an endpoint.
//
// A request that is answered with 404 because the thing is hidden is sent again with an id that does not
// exist: bodies, lengths and headers must be the same. A caller's lists, totals, values and links
// must be the same in a world without everything that the caller may not see.
//
// Single responses do not show whether several steps together give too many rights. So in random libraries a few
// callers take random allowed steps together, and nobody may have a right afterwards that they could not give.
//
// The long form, which prints its figures:
//
//	go test -tags proof ./internal/proof/access -v -timeout 0 -args -plots 100000
package access
