// Package agree checks that drivers do the same: random operations, done on two of them, give the
// same answers byte by byte. It is apart from the drivers' own tests, since none of them knows another.
package agree
