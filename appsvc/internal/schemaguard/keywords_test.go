package schemaguard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

// The console makes forms by a table of its own, which is JSON in a script. It must be the table of this package: the
// same keywords with the same first drafts. The last draft of a keyword is tried, with each keyword in each draft: of
// the values of testdata/keywords.json the bad ones are refused in those drafts, and taken in all others. The unit
// tests of the console try the same values on its side.
func TestKeywordsOfTheConsole(t *testing.T) {
	script, err := os.ReadFile("../../../adapters/console/static/model/keywords.js")
	if err != nil {
		t.Fatal(err)
	}
	var table map[string][]draft
	literal := regexp.MustCompile(`(?s)export const keywords = (\{.*?\n\});`).FindSubmatch(script)
	if len(literal) != 2 {
		t.Fatal("the script has no table")
	}
	if err := json.Unmarshal(literal[1], &table); err != nil {
		t.Fatal(err)
	}
	if a, b := slices.Sorted(maps.Keys(table)), slices.Sorted(maps.Keys(keywords)); !slices.Equal(a, b) {
		t.Errorf("the console has the keywords\n%q\nand the service\n%q", a, b)
	}
	for name, drafts := range table {
		if drafts[0] != keywords[name].since {
			t.Errorf("%s is of %s in the console, and of %s here", name, drafts[0], keywords[name].since)
		}
	}
	text, err := os.ReadFile("testdata/keywords.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Keyword   string
		Drafts    []draft // all if there are none
		Schema    map[string]any
		Good, Bad []json.RawMessage
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	addresses := map[draft]string{
		draft4: "http://json-schema.org/draft-04/schema#", draft6: "http://json-schema.org/draft-06/schema#",
		draft7: "http://json-schema.org/draft-07/schema#", draft2019: "https://json-schema.org/draft/2019-09/schema",
		draft2020: "https://json-schema.org/draft/2020-12/schema",
	}
	tried := map[string]bool{}
	for _, c := range cases {
		for d, address := range addresses {
			if c.Drafts != nil && !slices.Contains(c.Drafts, d) {
				continue
			}
			c.Schema["$schema"] = address
			schema, err := json.Marshal(c.Schema)
			if err != nil {
				t.Fatal(err)
			}
			compiled, err := Compile(schema)
			if err != nil {
				t.Errorf("%s in %s: %v", c.Keyword, d, err)
				continue
			}
			drafts := table[c.Keyword]
			known := d >= drafts[0] && (len(drafts) == 1 || d <= drafts[1])
			tried[fmt.Sprint(c.Keyword, d)] = true
			for _, value := range append(c.Good, c.Bad...) {
				var decoded any
				in := json.NewDecoder(bytes.NewReader(value))
				in.UseNumber()
				if err := in.Decode(&decoded); err != nil {
					t.Fatal(err)
				}
				isBad := slices.ContainsFunc(c.Bad, func(bad json.RawMessage) bool {
					return string(bad) == string(value)
				})
				found, err := compiled.Validate(&Usage{}, "", decoded)
				if refused := len(found) > 0; err != nil || refused != (isBad && known) {
					t.Errorf("%s in %s: %s is refused: %v, %v", c.Keyword, d, value, refused, err)
				}
			}
		}
	}
	for name, drafts := range table {
		for _, d := range []draft{drafts[0], draft2020} {
			if !tried[fmt.Sprint(name, d)] {
				t.Errorf("%s is not tried in %s", name, d)
			}
		}
	}
}
