//go:build proof

package generated

import (
	"os"
	"testing"
)

// The types of the script for pages compile, and tell right components from wrong ones.
func TestTypesOfPages(t *testing.T) {
	tools := npm(t)
	types, err := os.ReadFile(module + "/adapters/page/static/vitrine.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	dir := tools + "/page"
	write(t, dir, "vitrine.d.ts", types)
	tool(t, tools, dir, "tsc", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit",
		"--target", "es2022", "--lib", "es2022,dom,dom.iterable", "--module", "nodenext", "component.ts")
}
