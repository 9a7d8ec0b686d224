// Package storagetest has the rules of the records of each domain. The tests of the records call a suite on each driver:
//
//	func TestApps(t *testing.T) {
//		storagetest.Apps(t, func(t *testing.T) appsvc.Store { return appsvc.NewRecords(open(t)) })
//	}
//
// Every rule is a subtest, and its name states the rule. The comment above the rule in the source says why the
// rule exists and which mistakes it finds. Each rule gets an empty store of its own, which is removed with t.Cleanup. The suites use the
// store from several goroutines, but the function of a transaction never calls the store itself.
//
// The rules follow the comments of the interface appsvc.Store. What a query
// means is defined there by Match and Compare, with which the suites compare the results of random queries.
//
// What a driver must do is elsewhere: storage/storage.go says it, and storage/storetest tests it.
package storagetest
