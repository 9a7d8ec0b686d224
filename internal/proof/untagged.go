//go:build !proof

package proof

// Tagged is whether the build tag proof is set.
const Tagged = false
