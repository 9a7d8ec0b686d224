package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// doctor knows what a helper asks for, says no secret, and finds what is wrong, with or without a server.
func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	to, _ := receiver(t)
	writeHooks(t, dir, 0o600, hook("cdn", to.URL+"/hook", ""))
	s := start(t, dir, nil, "-db", "v.db", "-webhooks", "hooks.json", "-webhooks-allow", "127.0.0.0/8")
	token := newToken(t, dir, nil, "-db", "v.db")
	s.create(token)
	look := func(status int, more ...string) (facts map[string]any, problems string) {
		t.Helper()
		out := run(t, dir, nil, append([]string{"doctor", "-json"}, more...)...)
		if err := json.Unmarshal([]byte(out.stdout), &facts); err != nil || out.status != status {
			t.Fatalf("%v: %v: %+v", more, err, out)
		}
		list, _ := facts["problems"].([]any)
		for _, one := range list {
			problems += one.(string) + "\n"
		}
		return facts, problems
	}
	facts, _ := look(0, "-db", "v.db")
	for _, name := range []string{"version", "system", "time", "store", "kind", "format", "bytes", "logBytes", "mode",
		"lastCopy", "feed", "webhooks", "keys", "baseURL", "server", "clock", "problems"} {
		if facts[name] == nil {
			t.Errorf("no %s in %v", name, facts)
		}
	}
	if facts["kind"] != "SQLite" || facts["format"] != "101" ||
		!strings.HasPrefix(facts["feed"].(string), "change 1,") ||
		!strings.HasPrefix(facts["server"].(string), "answers 200 OK") ||
		facts["webhooks"].(map[string]any)["cdn"] == nil || facts["lastCopy"] != "none is known" {
		t.Errorf("%v", facts)
	}
	out := run(t, dir, nil, "doctor", "-db", "v.db")
	key := strings.TrimSpace(readFile(t, dir, "v.db.key"))
	secret := regexp.MustCompile(`whsec_[^"]+`).FindString(readFile(t, dir, "hooks.json"))
	if out.status != 0 || !strings.Contains(out.stdout, "\nkeys           "+facts["keys"].(string)+"\n") ||
		strings.Contains(out.stdout, key) || secret == "" || strings.Contains(out.stdout, secret) {
		t.Errorf("%+v", out)
	}
	s.stop()
	if facts, _ := look(0, "-db", "v.db"); !strings.HasPrefix(facts["server"].(string), "does not answer: ") {
		t.Errorf("without a server: %v", facts)
	}
	if _, problems := look(1, "-db", "v.db", "-base-url", "http://host.invalid"); !strings.Contains(problems,
		"host.invalid") {
		t.Error(problems)
	}
	for _, secret := range []string{"http://a:hidden@host.invalid", "http://host.invalid/?a=hidden"} {
		out := run(t, dir, nil, "doctor", "-db", "v.db", "-base-url", secret)
		if out.status != 2 || strings.Contains(out.stdout+out.stderr, "hidden") {
			t.Errorf("%s: %+v", secret, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "v.db"))
	if err != nil {
		t.Fatal(err)
	}
	newer := slices.Clone(text)
	newer[63]++
	for name, c := range map[string]struct {
		content []byte
		problem string
		knows   string // a fact that is there all the same
	}{
		"none.db":  {nil, "there is no store", "time"},
		"cut.db":   {text[:len(text)-4096], "damaged", "bytes"},
		"holes.db": {append(slices.Clone(text[:len(text)/2]), make([]byte, len(text)/2)...), "damaged", "format"},
		"other.db": {[]byte(strings.Repeat("no store. ", 1000)), "not a Vitrine store", "mode"},
		"newer.db": {newer, "of a newer version: its format is 102", "format"},
		"empty.db": {[]byte{}, "is empty", "bytes"},
	} {
		if c.content != nil {
			if err := os.WriteFile(filepath.Join(dir, name), c.content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		facts, problems := look(1, "-db", name, "-key-file", "v.db.key")
		if !strings.Contains(problems, c.problem) || facts[c.knows] == nil || strings.Count(problems, "\n") != 1 {
			t.Errorf("%s: %q, %v", name, problems, facts)
		}
	}
	if err := os.Remove(filepath.Join(dir, "v.db.key")); err != nil {
		t.Fatal(err)
	}
	if _, problems := look(1, "-db", "v.db"); !strings.Contains(problems, "there is no key file") {
		t.Error(problems)
	}
}
