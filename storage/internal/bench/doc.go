// Package bench measures the engines side by side. It is a package of its own, since no driver imports another.
package bench
