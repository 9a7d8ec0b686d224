// Package reviewstore is what package reviews needs of a storage driver: the interface Store with its transactions, the rows
// that a driver stores, and the queries that it answers. It is for authors of drivers. A program that uses reviews needs only a
// driver, such as storage/sqlite.
//
// There are two kinds of rows. A Collection is identified by its network and its Key, and a Review by its collection and its ID.
// A driver keeps these orders:
//
//	collections of a network        in which they were first put; by Source and then ID; with one ID, by Source
//	reviews of a collection         in which they were first put; by Time, the highest first, and then ID
//
// A driver knows networks, keys, ids, times and bytes. It compares and orders them, and leaves every rule of the domain to
// reviews.Service. The suite storage/storagetest.Reviews tests a driver against the rules of this package.
package reviewstore
