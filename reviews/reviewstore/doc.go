// Package reviewstore is what package reviews needs of a storage driver: the interface Store, the rows that it stores and
// the queries that it answers. It is for authors of drivers; programs that only use reviews do not need it.
package reviewstore
