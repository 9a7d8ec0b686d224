//go:build proof

package generated

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The types of the scripts for pages compile, alone and with every framework, tell right components and attributes from
// wrong ones, and what the frameworks render on a server has the attributes that the script reads.
func TestTypesOfPages(t *testing.T) {
	tools := npm(t)
	typesIn := func(dir string) {
		t.Helper()
		for _, name := range []string{"vitrine.d.ts", "vitrine-data.d.ts"} {
			types, err := os.ReadFile(module + "/adapters/page/static/" + name)
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, name, types)
		}
	}
	strict := []string{"tsc", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit",
		"--target", "es2022", "--lib", "es2022,dom,dom.iterable", "--module", "nodenext"}
	t.Run("alone", func(t *testing.T) {
		dir := t.TempDir() // where no framework is installed
		if err := os.CopyFS(dir, os.DirFS(tools+"/page")); err != nil {
			t.Fatal(err)
		}
		typesIn(dir)
		tool(t, tools, dir, append(strict, "build.ts", "component.ts")...)
	})
	dir := tools + "/frameworks"
	typesIn(dir)
	guide, err := os.ReadFile(module + "/adapters/page/README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```tsx\n(.*?)^```$").FindSubmatch(guide)
	if block == nil {
		t.Fatal("the guide has no JSX")
	}
	write(t, dir, "guide.tsx",
		append([]byte("import type {} from \"./vitrine.js\";\nexport const guide = () => "), block[1]...))
	t.Run("React, Preact and Vue", func(t *testing.T) { tool(t, tools, dir, "vue-tsc") }) // which is tsc with templates
	t.Run("Svelte", func(t *testing.T) {
		said, err := run(dir, filepath.Join(tools, "node_modules", ".bin", "svelte-check"))
		if err == nil || !strings.Contains(string(said), "found 1 error and 0 warnings") ||
			!strings.Contains(string(said), `'"pagesKey"' does not exist`) {
			t.Errorf("want an error at pagesKey and no other: %v\n%s", err, said)
		}
	})
	out, err := run(dir, "node", "render.mjs")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var pages map[string]string
	if err := json.Unmarshal(out, &pages); err != nil || len(pages) != 4 {
		t.Fatalf("%v: %s", err, out)
	}
	for name, html := range pages {
		elements := regexp.MustCompile(`<vitrine-app([^>]*)>`).FindAllStringSubmatch(html, -1)
		for i, want := range []map[string]string{
			{"class": "wide", "app": "a1", "tag": "production", "page-key": "pk_1", "server": "https://v.example",
				"live": ""},
			{"app": "a2", "tag": "production", "page-key": "pk_2", "lang": "de", "live": "30"},
		} {
			have := map[string]string{}
			for _, m := range regexp.MustCompile(` ([\w-]+)(?:="([^"]*)")?`).FindAllStringSubmatch(elements[i][1], -1) {
				// HTML has attributes in small letters; the script reads pagekey as page-key.
				have[strings.Replace(strings.ToLower(m[1]), "pagekey", "page-key", 1)] = m[2]
			}
			if !maps.Equal(have, want) {
				t.Errorf("%s renders %s, want %v", name, elements[i][0], want)
			}
		}
	}
}
