// Package storagetest has the tests that every storage driver must pass. The tests of a driver call the
// suite of each store that the driver implements:
//
//	func TestApps(t *testing.T) {
//		storagetest.Apps(t, func(t *testing.T) appsvc.Store { return open(t) })
//	}
//
// Every rule of a store is a subtest, and its name states the rule. The comment above the rule in the source says why the
// rule exists and which mistakes of a driver it finds. Each rule gets an empty store of its own, which the driver can
// remove with t.Cleanup. The suites use the store from several goroutines, but never call it from within a transaction.
//
// The rules follow the comments of the interfaces that a driver implements: appsvc.Store, assetstore.Store,
// reviewstore.Store and webhookstore.Store. What a query means is defined there by Match and Compare, with which the
// suites compare the results of random queries.
//
// AppsEqual, AppFeedsEqual and AssetFeedsEqual go further. They run the same random operations on two stores and compare
// everything that both return. One of the stores is usually that of package memory.
//
// The package imports only the standard library and the packages of the domains, so drivers outside this module can use
// it too.
package storagetest
