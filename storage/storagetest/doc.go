// Package storagetest has the tests that every storage driver must pass. The tests of a driver call the
// suite of each store that the driver implements:
//
//	func TestApps(t *testing.T) {
//		storagetest.Apps(t, func(t *testing.T) appsvc.Store { return open(t) })
//	}
//
// Every rule of a store is a subtest, whose name states the rule. Each gets an empty store of its own, which the
// driver can remove with t.Cleanup. The package imports only the standard library and the packages of the domains, so
// drivers outside this module can use it too.
package storagetest
