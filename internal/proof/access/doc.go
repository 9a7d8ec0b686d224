// Package access shows who may do what over HTTP, cell by cell: every endpoint of the route table,
// asked by every kind of caller about a thing in every state, answers with the status that the
// contract gives it (contract, sections 4 and 5).
//
// What is expected stands in tables written by hand from the contract, a character for each caller and
// thing, and beside each endpoint the status for each character. Nothing of it is computed by the
// code under test. An endpoint of the route table without a row fails the test, and so does a row
// without an endpoint.
//
// Whatever is answered 404 because it is hidden is asked for once more with an id that does not
// exist: bodies, lengths and headers must be the same. A caller's lists, totals, values and links
// must be the same in a world that lacks all the caller may not see. And in random worlds the lists
// of random callers hold what these callers can read one by one, which a model of a few lines
// foretells.
//
// That the rows look is shown with faults put into the rules, one at a time, each of which they find.
//
// The long form, which prints its figures:
//
//	go test ./internal/proof/access -v -timeout 0 -args -worlds 2000 -mutants
package access
