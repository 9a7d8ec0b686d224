// Package agree tests that drivers behave alike: the same random operations on two drivers must give the same
// results byte by byte. The tests are in a package of their own, since no driver imports another.
package agree
