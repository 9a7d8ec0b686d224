// Package reviewstore is what package reviews needs of a storage driver: the interface Store with its transactions, the rows that
// a driver stores, and the queries that it answers. It is for authors of drivers. A program that uses reviews needs only a driver,
// such as storage/sqlite.
//
// A driver knows networks, keys, ids, times and bytes. It compares and orders them, and leaves every rule of the domain to
// reviews.Service. The suite storage/storagetest.Reviews tests a driver against the rules of this package.
package reviewstore
