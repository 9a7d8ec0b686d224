//go:build proof

package console

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/console"
)

// TestModules checks the types of all modules, and runs the unit tests of those that need no browser on what the
// handler sends.
func TestModules(t *testing.T) {
	dir := tools(t)
	api, err := filepath.Abs(module + "/adapters/httpapi/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	if out, err := run(dir, filepath.Join(bin, "openapi-typescript"), api, "-o", "static/openapi.d.ts"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("types", func(t *testing.T) {
		if out, err := run(dir, filepath.Join(bin, "tsc"), "-p", "."); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Setenv("VITRINE_OPENAPI", api)
	keywords, err := filepath.Abs(module + "/appsvc/internal/schemaguard/testdata/keywords.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("VITRINE_KEYWORDS", keywords)
	args := []string{"--test"}
	// Before its version 21, node has JSON.rawJSON behind a flag.
	if _, err := run(dir, "node", "-e", "JSON.rawJSON('1')"); err != nil {
		args = append(args, "--harmony-json-parse-with-source")
	}
	t.Run("units", func(t *testing.T) {
		units, err := filepath.Glob(filepath.Join(minified(t, dir), "unit", "*.test.mjs"))
		if err != nil || len(units) == 0 {
			t.Fatalf("there are no unit tests: %v", err)
		}
		if out, err := run(dir, "node", append(args, units...)...); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// minified returns a directory with the unit tests of dir and with the modules as the handler sends them.
func minified(t *testing.T, dir string) string {
	t.Helper()
	out := filepath.Join(dir, "served")
	if err := os.CopyFS(filepath.Join(out, "unit"), os.DirFS(filepath.Join(dir, "unit"))); err != nil {
		t.Fatal(err)
	}
	handler := console.New(console.Config{})
	err := fs.WalkDir(os.DirFS(filepath.Join(dir, "static")), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".js" {
			return err
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/x/console/"+name, nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d", name, w.Code)
		}
		file := filepath.Join(out, "static", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		return os.WriteFile(file, w.Body.Bytes(), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
