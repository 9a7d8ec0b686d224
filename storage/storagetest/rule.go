package storagetest

import (
	"errors"
	"iter"
	"testing"
)

// rule is a rule that every store of type S must follow, with its test. The comment above a rule in its list says why it
// exists.
type rule[S any] struct {
	words string // the rule, in words
	check func(t *testing.T, store S)
}

// checkRules tests each rule in a subtest with an empty store of its own.
func checkRules[S any](t *testing.T, open func(t *testing.T) S, rules []rule[S]) {
	for _, r := range rules {
		t.Run(r.words, func(t *testing.T) {
			t.Cleanup(func() {
				// The name of a subtest has underscores for spaces, so a failure repeats it in plain text.
				if t.Failed() {
					t.Logf("the store breaks this rule: %s", r.words)
				}
			})
			r.check(t, open(t))
		})
	}
}

// collect returns the values of seq, or its first error.
func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var out []T
	for v, err := range seq {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// errRolledBack ends an update that is to leave nothing.
var errRolledBack = errors.New("rolled back by the suite")
