package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The languages stay in the store until the flag changes them, and those in use cannot be left out.
func TestServeLanguages(t *testing.T) {
	const group = "urn:vitrine:example.test"
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	out := run(t, dir, nil, "token", "-db", "v.db", "-urn", group+":user=a", "-moderates", group, "-components")
	token := strings.TrimSpace(out.stdout)
	s.do(token, "POST", "/components/", `{"name":"a","version":"1","main":"/a.js","configSchema":{}}`, 201)
	var app struct{ ID string }
	for i, test := range []struct {
		flag, want, log string
		status          int
	}{
		{"", `[]`, "", 0},
		{"en,DE,fr", `["en","de","fr"]`, `were="" are=en,de,fr`, 0},
		{"", `["en","de","fr"]`, "", 0},
		{"en,de,fr", `["en","de","fr"]`, "", 0},
		{"en,fr", "",
			`-languages: languages that latest or tagged versions have cannot be taken away: "de" (the latest`, 2},
		{"none", "", `"de" (the latest version of app "`, 2},
		{"de,en", `["de","en"]`, "were=en,de,fr are=de,en", 0},
	} {
		s.stop()
		args := []string{"-db", "v.db"}
		if test.flag != "" {
			args = append(args, "-languages", test.flag)
		}
		if test.status != 0 {
			out := run(t, dir, nil, append([]string{"serve", "-addr", "127.0.0.1:0"}, args...)...)
			if out.status != test.status || !strings.Contains(out.stderr, test.log) {
				t.Errorf("%q: %+v", test.flag, out)
			}
			s = start(t, dir, nil, "-db", "v.db")
			continue
		}
		s = start(t, dir, nil, args...)
		s.do(token, "GET", "/x/languages", "", 200)
		if body := s.do(token, "GET", "/x/languages", "", 200); strings.TrimSpace(body) != `{"languages":`+test.want+
			`}` {
			t.Errorf("%q: %s", test.flag, body)
		}
		log := s.stderr.String()
		if strings.Contains(log, "the languages were changed") != (test.log != "") || !strings.Contains(log, test.log) {
			t.Errorf("%q: %s", test.flag, log)
		}
		if i == 1 {
			body := s.do(token, "POST", "/apps/", `{"title":"x","groups":["`+group+`"],"elements":[{"component":`+
				`{"name":"a","version":"1"},"config":{"a":{"lang:de":"x"}}}]}`, 201)
			if err := json.Unmarshal([]byte(body), &app); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.do(token, "GET", "/apps/"+app.ID+"?lang=en", "", 200)
	// an archive has them
	s.stop()
	archive := run(t, dir, nil, "export", "-db", "v.db").stdout
	if err := os.WriteFile(filepath.Join(dir, "archive"), []byte(archive), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"import", "-db", "copy.db", "archive"}, {"check", "-db", "copy.db"}} {
		if out := run(t, dir, nil, args...); out.status != 0 {
			t.Fatalf("%q: %+v", args, out)
		}
	}
	out = run(t, dir, nil, "serve", "-addr", "127.0.0.1:0", "-db", "copy.db", "-new-keys", "-languages", "en")
	if out.status != 2 || !strings.Contains(out.stderr, `"de" (the latest version of app "`+app.ID) {
		t.Errorf("a copy: %+v", out)
	}
	s = start(t, dir, nil, "-db", "v.db")
	s.do(token, "DELETE", "/apps/"+app.ID, "", 204)
	s.do(token, "POST", "/apps/"+app.ID+"/erase", "", 204)
	s.stop()
	s = start(t, dir, nil, "-db", "v.db", "-languages", "none")
	s.do(token, "GET", "/x/languages", "", 200)
	s.stop()
	if out := run(t, dir, nil, "check", "-db", "v.db"); out.status != 0 {
		t.Errorf("check: %+v", out)
	}
}
