package appsvc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof"
)

// schemaStore is where schemas of the public SchemaStore stand, when they stand beside the project.
// They are not part of it.
const schemaStore = "../../shared/schemas"

func readSchemaStore(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(schemaStore, "*.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("there are no schemas in %s", schemaStore)
	}
	schemas := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		schemas[strings.TrimSuffix(filepath.Base(file), ".json")] = text
	}
	return schemas
}

// TestSchemaStore takes schemas as people write them: 99.5 % of them at least.
func TestSchemaStore(t *testing.T) {
	all := readSchemaStore(t)
	var refused []string
	for name, schema := range all {
		if err := newSchemas(nil).check(schema); err != nil {
			refused = append(refused, fmt.Sprintf("%s: %v", name, err))
		}
	}
	slices.Sort(refused)
	if len(refused)*200 > len(all) {
		t.Errorf("%d of %d are refused:\n%s", len(refused), len(all), strings.Join(refused, "\n"))
	}
	t.Logf("%d of %d are taken", len(all)-len(refused), len(all))
}

// TestSchemaStoreVerdicts has documents that such schemas are for, and what they must find wrong.
func TestSchemaStoreVerdicts(t *testing.T) {
	all := readSchemaStore(t)
	for _, tc := range []struct{ name, config, pointer, keyword string }{
		{"bukkit-plugin", `{"name":"Essentials","version":"1.0","main":"com.example.test.Plugin"}`, "", ""},
		{"bukkit-plugin", `{"name":"Essentials","version":"1.0","main":"org.bukkit.Plugin"}`, "/main", "pattern"},
		{"bukkit-plugin", `{"name":"Essentials","main":"a.B"}`, "", "required"},
		{"paper-plugin", `{"name":"Essentials","version":"1.0","main":"com.example.Plugin","api-version":"1.20"}`, "", ""},
		{"paper-plugin", `{"name":"Essentials","version":"1.0","main":"io.papermc.Plugin","api-version":"1.20"}`, "/main", "pattern"},
		{"emmet", `{"variables":{"lang":"en"}}`, "", ""},
		{"browser.i18n", `{"greeting":{"message":"Hello"}}`, "", ""},
		{"browser.i18n", `{"greeting":{"message":5}}`, "/greeting/message", "type"},
		{"browser.i18n", `{"@@greeting":{"message":"Hello"}}`, "", "additionalProperties"},
		{"json-api-1.0", `{"data":{"type":"articles","id":"1","attributes":{"title":"A"}}}`, "", ""},
		{"json-api-1.0", `{"data":{"type":"articles","id":"1","attributes":{"links":"A"}}}`, "/data/attributes", "additionalProperties"},
		{"global", `{"sdk":{"version":"8.0.100","rollForward":"latestFeature"}}`, "", ""},
		{"global", `{"sdk":{"version":"eight"}}`, "/sdk/version", "pattern"},
		{"json-patch", `[{"op":"add","path":"/a","value":1}]`, "", ""},
		{"json-patch", `[{"op":"put","path":"/a"}]`, "/0/op", "enum"},
		{"github-action", `{"name":"a","description":"b","runs":{"using":"node20","main":"index.js"}}`, "", ""},
		{"github-action", `{"name":"a","runs":{"using":"node20","main":"index.js"}}`, "", "required"},
		{"dependabot-2.0", `{"version":2,"updates":[{"package-ecosystem":"gomod","directory":"/","schedule":{"interval":"weekly"}}]}`, "", ""},
		{"dependabot-2.0", `{"version":2,"updates":[{"package-ecosystem":"gomod","directory":"/","schedule":{"interval":"hourly"}}]}`, "/updates/0/schedule/interval", "enum"},
		{"prettierrc", `{"semi":false,"overrides":[{"files":"*.md","options":{"tabWidth":4}}]}`, "", ""},
		{"prettierrc", `{"semi":"no"}`, "/semi", "type"},
		{"feed-1", `{"version":"https://jsonfeed.org/version/1","title":"A","items":[{"id":"1","content_text":"x"}]}`, "", ""},
		{"web-manifest", `{"name":"A","icons":[{"src":"/a.png","sizes":"48x48"}]}`, "", ""},
		{"importmap", `{"imports":{"a":"./a.js"}}`, "", ""},
		{"importmap", `{"imports":{"a":5}}`, "/imports/a", "type"},
	} {
		schema, ok := all[tc.name]
		if !ok {
			t.Errorf("there is no schema %s", tc.name)
			continue
		}
		err := newSchemas(nil).validate(schema, []byte(tc.config))
		if tc.keyword == "" {
			if err != nil {
				t.Errorf("%s, %s: %v", tc.name, tc.config, err)
			}
			continue
		}
		have, _ := err.(violations)
		if !slices.ContainsFunc(have, func(v Violation) bool { return v.Pointer == tc.pointer && v.Keyword == tc.keyword }) {
			t.Errorf("%s, %s: have %+v (%v), want %s at %q", tc.name, tc.config, have, err, tc.keyword, tc.pointer)
		}
	}
}

// TestSchemaStoreWarnings counts what such schemas are warned of. All of these are right: unknown
// formats, const under draft-04, and neighbours of $ref before 2019-09.
func TestSchemaStoreWarnings(t *testing.T) {
	want := map[string]int{"bukkit-plugin": 3, "chrome-manifest": 4, "dss-2.0.0": 6, "json-patch": 2, "minecraft-custom-main-menu-mod": 2,
		"minecraft-loot-table": 5, "nodemon": 1, "prettierrc": 1, "web-manifest": 8}
	for name, schema := range readSchemaStore(t) {
		have, err := SchemaWarnings(schema)
		if err != nil || len(have) != want[name] {
			t.Errorf("%s: have %v, %v, want %d warnings", name, have, err, want[name])
		}
	}
}

// TestSchemaStoreIsFast validates 1 MiB against each schema.
func TestSchemaStoreIsFast(t *testing.T) {
	if proof.Short() || raceEnabled {
		t.Skip("measures")
	}
	config := append(append([]byte(`{"a":["`), bytes.Repeat([]byte("a"), 1<<20-100)...), `"]}`...)
	for name, schema := range readSchemaStore(t) {
		start := spent()
		_ = newSchemas(nil).validate(schema, config)
		if took := spent() - start; took.Milliseconds() > 400 {
			t.Errorf("%s took %v", name, took)
		}
	}
}
