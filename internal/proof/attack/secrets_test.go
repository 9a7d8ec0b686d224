//go:build proof

package attack

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// route is an endpoint as the service describes it.
type route struct{ method, path string }

// routes are all endpoints, with parameters that name something.
func (s *server) routes(app string) (list []route) {
	s.t.Helper()
	var description struct {
		Paths map[string]map[string]any
	}
	s.get("/openapi.json").want(200).read(&description)
	fill := strings.NewReplacer("{id}", app, "{version}", "0", "{tag}", "t", "{name}", "any", "{network}",
		"example.test", "{library}", "example.test",
		"{asset}", "none", "{folder}", "none")
	for path, methods := range description.Paths {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if methods[method] != nil {
				list = append(list, route{strings.ToUpper(method), fill.Replace(path)})
			}
		}
	}
	if len(list) < 25 {
		s.t.Fatalf("the description has %d endpoints", len(list))
	}
	return list
}

// holding returns the files below a directory that hold one of the secrets.
func holding(t *testing.T, dir string, secrets ...string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, secret := range secrets {
			if bytes.Contains(data, []byte(secret)) {
				names = append(names, filepath.Base(path))
				break
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestAddressesStaySecret imports reviews with e-mail addresses in every place an importer may stumble
// over, and looks for them everywhere but in the export, where they must be.
func TestAddressesStaySecret(t *testing.T) {
	s := start(t)
	const canary = "canary-9d2f.mail"
	n := 0
	email := func() string { n++; return fmt.Sprintf(`"imported_email":"reader%d@%s"`, n, canary) }
	review := func(id, more string) string {
		return `{"id":"` + id +
			`","imported_display_name":"N","title":"t","body_html":"<p>x</p>","created":"2020-01-02T03:04:05Z",` +
			`"ratings":[50],` + more + `}`
	}
	line := func(id string, reviews ...string) string {
		return `{"source":"s","title":"T","created":"2020-01-02T03:04:05Z","id":"` +
			base64.StdEncoding.EncodeToString([]byte(id)) + `","dimensions":["default"],"reviews":[` +
			strings.Join(reviews, ",") + "]}\n"
	}
	at := `reader@` + canary
	file := line("good", review("1", email()), review("2", email())) +
		line("again", review("1", email()), review("1", email())) +
		line("wrong", review("1", `"imported_email":["`+at+`"]`), review("2", `"imported_email":{"`+at+`":1}`),
			review("3", `"imported_email":"`+at+`\u0000"`), review("4", `"imported_email":"`+at+`\ud800"`)) +
		line("conflict", review("1", email()+`,"author_id":"a"`), review("2", email()+`,`+email()),
			review("3", email()+`,"imported_url":"javascript:1"`)) +
		line("rejected", review("1", email()+`,"ratings":[0]`), review("2", email()+`,"parent_id":"none"`),
			review("3", email()+`,"unknown":1`)) +
		strings.Replace(line("cut", review("1", email())), "]}\n", "\n", 1) +
		strings.Replace(line("bad line", review("1", email())), `"source":"s"`, `"source":7`, 1) +
		"{" + email() + "\n" + email() + "\n" + `"` + at + "\"\n" + at + "\n" +
		line("long", review("1", email()+`,"subparts":{"x":"`+strings.Repeat("x", 20<<20)+`"}`)) +
		line("last", review("1", email()))
	var all strings.Builder
	for _, query := range []string{"?dryRun=true", "", "", "?dryRun=x"} {
		r := s.post("/x/reviews/import"+query, file, header("Content-Type", ndjson))
		fmt.Fprintln(&all, r.status, r.header, r.body)
		if r.status == 200 && !strings.Contains(r.body, `"problems":[{`) {
			t.Errorf("the import has found no problem: %s", r.body)
		}
	}
	half := s.post("/x/reviews/import", packed(strings.NewReader(file))[:4000], header("Content-Type", ndjson),
		header("Content-Encoding", "gzip"))
	fmt.Fprintln(&all, half.status, half.body)
	exported := map[string]string{"the command": s.export()}
	for _, r := range s.routes("none") {
		answer := s.send(r.method, r.path, strings.NewReader("{}"), header("Content-Type", "application/json"))
		if r.path == "/x/reviews/export" { // the one answer that has them
			exported[r.path] = answer.body
			answer.body = ""
		}
		fmt.Fprintln(&all, answer.status, answer.header, answer.body)
	}
	for _, query := range []string{"?network=other.test", "?network=urn:vitrine:example.test"} {
		answer := s.send("GET", "/x/reviews/export"+query, nil)
		fmt.Fprintln(&all, answer.status, answer.header, answer.body)
	}
	s.Kill()
	for name, text := range map[string]string{"the answers": all.String(), "the log": s.Log()} {
		if at := strings.Index(text, canary); at >= 0 {
			t.Errorf("%s hold an address: %s", name, text[max(0, at-300):at+20])
		}
	}
	if len(exported) != 2 {
		t.Errorf("%d exports", len(exported))
	}
	for by, text := range exported {
		if !strings.Contains(text, "reader1@"+canary) {
			t.Errorf("the export by %s has lost the addresses: this shows nothing: %.300s", by, text)
		}
	}
	if names := holding(t, s.temp, canary); len(names) > 0 {
		t.Errorf("addresses are in temporary files that are left: %v", names)
	}
	for _, name := range holding(t, s.dir, canary) {
		if !strings.HasPrefix(name, "attack.db") {
			t.Errorf("%s holds addresses", name)
		}
	}
}

// export runs the export command on the server's store.
func (s *server) export() string {
	s.t.Helper()
	binary, err := build()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := exec.Command(binary, "reviews", "export", "-db", filepath.Join(s.dir, "attack.db")).Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return string(out)
}
