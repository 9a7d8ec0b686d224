//go:build proof

package console

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// realSchemas is where 45 schemas of the public SchemaStore lie on some machines, beside the project.
const realSchemas = module + "/../shared/schemas"

// TestForms makes a form of each schema, with random values that the form itself leads to. Showing a value changes
// nothing. Each control that is used changes what it stands for and nothing else, and the numbers that nobody touched
// keep their text. A form that shows another value is like one that was made for it.
func TestForms(t *testing.T) {
	w := newWorld(t)
	files, err := filepath.Glob("testdata/schemas/*.json")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d schemas, %v", len(files), err)
	}
	found, err := filepath.Glob(realSchemas + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Logf("the schemas of SchemaStore are not there: forms of %d schemas are tried", len(files))
	}
	script, err := os.ReadFile("testdata/forms.js")
	if err != nil {
		t.Fatal(err)
	}
	function := strings.TrimSuffix(string(script), ";\n") // the file is a statement
	p := w.signIn(ann, "/none")
	for _, file := range append(files, found...) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			schema, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var tried struct {
				Forms, Controls, JSON int
				Wrong                 []string
			}
			(&person{p.For(t), w}).Run(&tried, function, string(schema))
			for _, wrong := range tried.Wrong {
				t.Error(wrong)
			}
			report, _ := json.Marshal(tried)
			t.Logf("%s", report)
			if tried.Forms == 0 {
				t.Error("no form was tried")
			}
		})
	}
}
