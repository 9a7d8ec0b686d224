package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// A server serves what was restored, twice and back again, and each store that was put aside has all that was
// committed.
func TestRestore(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	token := newToken(t, dir, nil, "-db", "v.db")
	create := func(s *testServer, title string) {
		s.do(token, "POST", "/apps/", `{"title":"`+title+`","groups":["urn:vitrine:example.test"]}`, 201)
	}
	restore := func(copied string) (aside string) {
		t.Helper()
		out := run(t, dir, nil, "restore", "-db", "v.db", copied)
		back := regexp.MustCompile(`stop the server, and: vitrine restore -db v\.db (\S+)\n$`).FindStringSubmatch(
			out.stderr)
		if out.status != 0 || out.stdout != "" || strings.Count(out.stderr, "\n") != 1 || back == nil {
			t.Fatalf("%+v", out)
		}
		return back[1]
	}
	create(s, "One")
	if out := run(t, dir, nil, "backup", "-db", "v.db", "one.db"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	create(s, "Two")
	out := run(t, dir, nil, "restore", "-db", "v.db", "one.db")
	if out.status != 1 || !strings.Contains(out.stderr, "v.db is open: stop the server") {
		t.Errorf("while the store is served: %+v", out)
	}
	cursor := regexp.MustCompile(`"next":"([^"]+)"`).FindStringSubmatch(s.do(token, "GET", "/x/changes", "", 200))[1]
	s.stop()
	first := restore("one.db")
	serve := func(store string, want, without []string) *testServer {
		t.Helper()
		s := start(t, dir, nil, "-db", store, "-key-file", "v.db.key")
		apps := s.do(token, "GET", "/apps/", "", 200)
		for _, title := range want {
			if !strings.Contains(apps, `"title":"`+title+`"`) {
				t.Errorf("%s has no app %s: %s", store, title, apps)
			}
		}
		for _, title := range without {
			if strings.Contains(apps, `"title":"`+title+`"`) {
				t.Errorf("%s has the app %s", store, title)
			}
		}
		return s
	}
	s = serve("v.db", []string{"One"}, []string{"Two"})
	s.do(token, "GET", "/x/changes?after="+cursor, "", 410)
	create(s, "Three")
	s.stop()
	second := restore("one.db")
	serve("v.db", []string{"One"}, []string{"Two", "Three"}).stop()
	serve(first, []string{"One", "Two"}, []string{"Three"}).stop()
	serve(second, []string{"One", "Three"}, []string{"Two"}).stop()
	restore(first)
	serve("v.db", []string{"One", "Two"}, []string{"Three"}).stop()

	// Where no store is yet.
	if out := run(t, dir, nil, "restore", "-db", "new.db", "one.db"); out.status != 0 ||
		strings.Contains(out.stderr, "go back") ||
		!strings.Contains(out.stderr, "this is the new one "+filepath.Join(dir, "new.db")) {
		t.Errorf("%+v", out)
	}
	serve("new.db", []string{"One"}, []string{"Two", "Three"}).stop()
	if out := run(t, dir, nil, "restore", "-db", "v.db", ""); out.status != 2 ||
		!strings.Contains(out.stderr, "want COPY beside the flags, have an empty argument") {
		t.Errorf("%+v", out)
	}
	if out := run(t, dir, nil, "export", "-db", "one.db", "-out", "archive"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "empty.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "v.db"))
	bad := append(text[:8192], make([]byte, 65536)...)
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "bad.db"), bad, 0o600),
		os.Link(filepath.Join(dir, "v.db.copied"), filepath.Join(dir, "bad.db.copied")),
		// Too large to be read as a whole before it is opened.
		os.WriteFile(filepath.Join(dir, "large.db"), append(text[:8192:8192], make([]byte, len(text)-8192)...), 0o600),
		os.Truncate(filepath.Join(dir, "large.db"), 17<<20))
	if err != nil {
		t.Fatal(err)
	}
	mend := "the damaged file aside, stop the server, and: vitrine restore -db bad.db " + filepath.Join(dir, "one.db")
	const dated = "vitrine-2026-01-02T030405Z.db"
	for command, says := range map[string]string{
		"serve -addr 127.0.0.1:0 -db bad.db": mend,
		"serve -addr 127.0.0.1:0 -db large.db -key-file v.db.key": "" +
			"stop the server, and: vitrine restore -db large.db COPY",
		"doctor -db large.db":               "vitrine restore -db large.db COPY",
		"check -db bad.db":                  mend,
		"backup -db bad.db none":            mend,
		"feed reset -db bad.db":             mend,
		"restore -db one.db v.db":           "v.db is a store: want vitrine restore -db v.db one.db",
		"restore -db " + dated + " v.db":    "v.db is a store: want ",
		"restore -db v.db archive":          "archive is an archive, and no copy that backup has made: vitrine import",
		"restore -db v.db empty.db":         "empty.db is empty: it is no whole copy",
		"import -db other.db one.db":        "one.db is a store or a copy of one, and no archive: vitrine restore",
		"backup -db v.db -keep 7d none":     "want a directory, and there is no none: make it, or mount its disk",
		"backup -db v.db -keep 7d empty.db": "want a directory, which empty.db is not",
	} {
		out := run(t, dir, nil, strings.Fields(command)...)
		if out.status == 0 || !strings.Contains(out.stdout+out.stderr, says) ||
			strings.HasPrefix(command, "serve") && out.status != 2 {
			t.Errorf("%s: %+v", command, out)
		}
	}
	wrong := map[string]string{"memory:": "memory:", "postgres://127.0.0.1:1/x": "SQLite",
		"none/v.db": "by its whole path"}
	for db, says := range wrong {
		if out := run(t, dir, nil, "restore", "-db", db, "one.db"); out.status != 2 ||
			!strings.Contains(out.stderr, says) {
			t.Errorf("%s: %+v", db, out)
		}
	}
}

// A copy whose records contradict each other is not restored.
func TestACopyWithAFaultIsNotRestored(t *testing.T) {
	dir, _ := demoArchive(t)
	if out := run(t, dir, nil, "backup", "-db", "v.db", "copy.db"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	db, err := sqlite.Open(filepath.Join(dir, "copy.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
		for e, err := range tx.Scan(t.Context(), storage.Prefix("apps tag/")) {
			if err != nil {
				return err
			}
			return tx.Put(t.Context(), storage.Entry{Key: e.Key, Value: []byte("999")})
		}
		return nil
	})
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "v.db"))
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, dir, nil, "restore", "-db", "v.db", "copy.db")
	if out.status != 1 || !strings.Contains(out.stdout, "version 999") ||
		!strings.Contains(out.stderr, "faults found: ") {
		t.Errorf("%+v", out)
	}
	after, err := os.ReadFile(filepath.Join(dir, "v.db"))
	if names, _ := filepath.Glob(filepath.Join(dir, "v.db*")); err != nil || string(after) != string(before) ||
		len(names) != 3 { // and the key and the note of the copy
		t.Errorf("the store has changed: %q, %v", names, err)
	}
}
