// Package assetstore is what package assets needs of a storage driver: the interface Store, the
// rows that it stores and the queries that it answers. It is for authors of drivers; programs that
// only use assets do not need it.
//
// It has no rules of the domain, and imports none of the libraries that package assets needs for
// them. So a program that opens a store for another service alone does not compile them.
package assetstore
