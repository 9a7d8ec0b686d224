// Package storagetest has the tests that every storage driver must pass. The tests of a driver call the
// suite of each store that the driver implements:
//
//	func TestApps(t *testing.T) {
//		storagetest.Apps(t, func(t *testing.T) appsvc.Store { return open(t) })
//	}
//
// Apps, Assets, Reviews and Webhooks test the four stores, and Closing what happens when a driver is closed.
//
// Every rule of a store is a subtest, and its name states the rule. The comment above the rule in the source says why the
// rule exists and which mistakes of a driver it finds. Each rule gets an empty store of its own, which the driver can
// remove with t.Cleanup. The suites use the store from several goroutines, but the function of a transaction never calls the
// store itself.
//
// The rules follow the comments of the interfaces that a driver implements: appsvc.Store, assetstore.Store,
// reviewstore.Store and webhookstore.Store. What a query means is defined there by Match and Compare, with which the
// suites compare the results of random queries.
//
// AppsEqual goes further. It runs the same random transactions on the apps of two stores and compares everything that both
// return. One of the stores is usually that of package memory.
//
// The package imports only the standard library and the packages of the domains, so drivers outside this module can use
// it too.
//
// # Writing a driver
//
// A driver is a type with a method for each store that it has: Apps, Assets, Reviews, Webhooks. A program that needs no
// reviews needs no driver that stores them. Begin with the store of apps and run its suite. Its rules go from single rows to
// transactions and random data, so the first rule that fails is usually the simplest one. Package memory is the shortest
// driver, sqlite one with a single writer, and postgres one whose writers run in parallel and lock what they read.
//
// These decisions shape a driver, and most rules are about them:
//
//   - How are Updates serializable? Either one runs at a time, or each locks what it reads before it reads it. Snapshot
//     isolation alone is not enough.
//   - How does a failed Update leave no trace? What the driver caches or numbers in memory must be rolled back too.
//   - When may a reader see an entry of a feed? Not as long as an entry with a lower position may still be committed. If
//     Updates run one at a time, a counter meets this.
//   - How are texts compared and ordered? Byte by byte, whatever characters they have and however long they are. Collations
//     of a locale, case folding, trimmed spaces and limits of an index must not show.
//   - How do iterators run? Other reads may run between their steps, a caller may leave them early, and one that cannot go on
//     ends with an error.
//   - Which errors does it return? The errors of the store's own package, or errors that wrap them, each only where the
//     comment of the method says so.
package storagetest
