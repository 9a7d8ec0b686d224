// Package mutant shows that tests detect errors: its test breaks one rule of the source after the other, and the tests
// of the package that has the rule must fail for each.
//
//	go test -tags proof ./internal/proof/mutant                         finds every rule in the source
//	go test -tags proof ./internal/proof/mutant -timeout 0 -mutants     breaks every rule
package mutant
