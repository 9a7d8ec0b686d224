// Package records keeps apps, tags, releases and components in a storage.Store: their keys, the encoding of their
// values, and the index records by which they are found. It knows no rule of package appsvc, which decides what may be
// stored.
//
//	keys.go        all keys
//	records.go     Reader and Writer, and the numbers of lists
//	heads.go       heads of apps, and the lists that an app is in
//	versions.go    bodies and the history of apps
//	lists.go       reading lists of apps, in the order of their times
//	titlewords.go  the words of titles, for the index of them
//	tags.go        tags, their moves, notes and restorations of versions
//	published.go   lists of what a tag publishes
//	components.go  components
//	releases.go    the lists of releases
//	comments.go    comments with their replies, and their lists
//	previews.go    links that show an app to people without an account
//	results.go     results of idempotent writes
//
// An index record is written in the function that writes what it leads to.
package records
