// Package storagetest states what a storage driver must do, as tests. A driver's own test calls
// the suite of each contract that it keeps:
//
//	func TestApps(t *testing.T) {
//		storagetest.Apps(t, func(t *testing.T) appsvc.Store { return open(t) })
//	}
//
// Every rule is a subtest, named by the rule in words, and gets a fresh store; a driver may clean up
// with t.Cleanup. Nothing here needs more than the standard library and the domain packages, so a
// driver outside this module can use it too.
package storagetest
