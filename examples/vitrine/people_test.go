package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// visitor is a browser without passkeys, at the address that serve prints.
type visitor struct {
	*testServer
	client *http.Client
}

func (s *testServer) visitor() *visitor {
	jar, _ := cookiejar.New(nil)
	return &visitor{s, &http.Client{Jar: jar}}
}

// post sends JSON and returns the body of the answer.
func (v *visitor) post(path, body string, want int) string {
	v.t.Helper()
	return v.send("POST", path, body, want)
}

func (v *visitor) send(method, path, body string, want int) string {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	if answer.StatusCode != want {
		v.t.Fatalf("%s %s: %d %s, want %d", method, path, answer.StatusCode, text, want)
	}
	return string(text)
}

// signedIn returns a visitor who has followed the link that -demo prints.
func (s *testServer) signedIn() *visitor {
	s.t.Helper()
	secret := ""
	for found := false; !found; {
		secret, found = strings.CutPrefix(s.line(), s.base+"/#signin=")
	}
	v := s.visitor()
	v.post("/x/signin/link", `{"link":"`+secret+`"}`, 200)
	return v
}

// The link that -demo prints signs in, and the people of the sample data have names.
func TestTheDemoSignsItsVisitorIn(t *testing.T) {
	s := start(t, t.TempDir(), nil, "-demo", "-db", "memory:", "-base-path", "/base")
	v := s.signedIn()
	if me := v.send("GET", "/x/me", "", 200); !strings.Contains(me, demoUser.URN) {
		t.Errorf("me: %s", me)
	}
	names := v.send("GET", "/x/people/?urn="+demoNetwork+":user=editor", "", 200)
	if !strings.Contains(names, `"Editor"`) {
		t.Errorf("names: %s", names)
	}
	v.post("/x/keys/", `{"name":"page","kind":"public","reads":["`+demoNetwork+`"],"tags":["production"]}`, 201)
	v.send("DELETE", "/x/signin/sessions/", "", 204)
	v.send("GET", "/x/me", "", 401)
}

// An empty store says how to invite the first person; the link goes to where the server is, whatever its port.
func TestTheFirstPersonIsInvited(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	told := s.line() + s.line() + s.line()
	if !strings.Contains(told, "vitrine invite -db v.db -name NAME -moderates urn:vitrine:NETWORK -admin") {
		t.Errorf("it says %q", told)
	}
	out := run(t, dir, nil, "invite", "-db", "v.db", "-name", "Ann", "-moderates", "urn:vitrine:example.test", "-admin")
	link := strings.TrimSpace(out.stdout)
	traced := `msg=access what=invited urn="urn:vitrine:example.test:user=`
	if out.status != 0 || !strings.Contains(out.stderr, traced) ||
		!strings.Contains(out.stderr, "for a browser of this machine") ||
		!strings.HasPrefix(link, s.base+"/#invite=in_") {
		t.Fatalf("%+v", out)
	}
	_, secret, _ := strings.Cut(link, "#invite=")
	v := s.visitor()
	got := v.post("/x/signin/invitation", `{"invitation":"`+secret+`"}`, 200)
	if !strings.Contains(got, `"name":"Ann"`) {
		t.Errorf("the invitation: %s", got)
	}
	v.post("/x/signin/register/begin", `{"invitation":"`+secret+`"}`, 200)
	s.stop()
	if out := run(t, dir, nil, "invite", "-db", "w.db", "-name", "Bob", "-admin"); out.status != 0 ||
		!strings.Contains(out.stderr, "no store at w.db: this is a new one, which serve -db w.db serves") {
		t.Errorf("without a store: %+v", out)
	}
	if out := run(t, dir, nil, "invite", "-db", "v.db", "-name", "Ann", "-network", "example.test"); out.status != 0 ||
		!strings.Contains(out.stderr, "another person called Ann: -urn urn:vitrine:example.test:user=") {
		t.Errorf("a namesake: %+v", out)
	}
	if out := run(t, dir, nil, "invite", "-db", "v.db", "-name", "Bob", "-network", "urn:x"); out.status != 2 ||
		!strings.Contains(out.stderr, `invite: -network: "urn:x" is not the URN of a network`) {
		t.Errorf("no network: %+v", out)
	}
	out = run(t, dir, nil, "invite", "-db", "v.db", "-name", "Bob", "-admin",
		"-base-url", "https://apps.example.test")
	if out.status != 0 || strings.Contains(out.stderr, "this machine") ||
		!strings.Contains(out.stderr, "urn:vitrine:default") || !strings.Contains(out.stderr, "-moderates") {
		t.Errorf("an administrator of no network: %+v", out)
	}
	nobody := []string{"invite", "-db", "v.db", "-urn", "urn:vitrine:example.test:user=nobody"}
	if out := run(t, dir, nil, nobody...); out.status != 2 ||
		!strings.Contains(out.stderr,
			"invite: -urn: no person has urn:vitrine:example.test:user=nobody: vitrine people lists them, and "+
				"-name NAME makes a new one") {
		t.Errorf("a mistyped URN: %+v", out)
	}
	// the second time it is there
	for _, want := range []string{
		"warning: no person has urn:vitrine:example.test:user=nobody: this makes a new one",
		"",
	} {
		if out := run(t, dir, nil, append(nobody, "-name", "Cy")...); out.status != 0 ||
			strings.Contains(out.stderr, "no person") != (want != "") || !strings.Contains(out.stderr, want) {
			t.Errorf("a URN of nobody: %+v", out)
		}
	}
	start(t, dir, nil, "-db", "v.db", "-base-url", "https://apps.example.test").stop()
	again := start(t, dir, nil, "-db", "v.db")
	if out := run(t, dir, nil, nobody...); !strings.HasPrefix(out.stdout, "https://apps.example.test/#invite=") {
		t.Errorf("after a server without -base-url: %+v", out)
	}
	if got := again.visitor().send("GET", "/x/signin", "", 200); !strings.Contains(got, `"people":true`) {
		t.Errorf("after a restart: %s", got)
	}
	out = run(t, dir, nil, "invite", "-db", "v.db", "-urn", "")
	if !strings.Contains(out.stderr, "or -urn, of one who is there") {
		t.Errorf("no URN: %+v", out)
	}
	for _, wrong := range [][]string{
		{}, {"-name", "X", "-moderates", "urn"},
		{"-name", "X", "-base-url", "http://example.test"}, {"-name", "X", "-urn", "urn:x"},
	} {
		if out := run(t, dir, nil, append([]string{"invite", "-db", "v.db"}, wrong...)...); out.status != 2 ||
			out.stdout != "" {
			t.Errorf("%q: %+v", wrong, out)
		}
	}
	// Archives have people only when they are asked for, and sessions never.
	if out := run(t, dir, nil, "export", "-db", "v.db"); strings.Contains(out.stdout, "people ") ||
		!strings.Contains(out.stderr, "without people (4) and keys (0): see -with-access") {
		t.Errorf("the archive: %s", out.stdout)
	}
	with := run(t, dir, nil, "export", "-db", "v.db", "-with-access")
	if strings.Contains(with.stderr, "without") || !strings.Contains(with.stdout, "people person/") ||
		strings.Contains(with.stdout, secret) || strings.Contains(with.stdout, "ceremony/") {
		t.Errorf("the archive: %s", with.stdout)
	}
	if err := os.WriteFile(filepath.Join(dir, "archive"), []byte(with.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(t, dir, nil, "import", "-db", "x.db", "archive"); out.status != 0 {
		t.Errorf("%+v", out)
	}
}

// Who has an account, and who may let others in, is a line each.
func TestPeopleAreListed(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db", "-demo")
	v := s.signedIn()
	v.send("GET", "/x/me", "", 200)
	if out := run(t, dir, nil, "invite", "-db", "v.db", "-name", "Ann Smith", "-moderates", demoNetwork,
		"-admin"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	out := run(t, dir, nil, "people", "-db", "v.db")
	for _, want := range []string{
		`(?m)^` + regexp.QuoteMeta(demoUser.URN) + `\t.+\t.*no passkey yet, last seen 20\S+Z$`,
		`(?m)^` + demoNetwork + `:user=[0-9a-f-]{36}\tAnn Smith\tadministrator, no passkey yet, invited until 20\S+Z$`,
	} {
		if !regexp.MustCompile(want).MatchString(out.stdout) || out.status != 0 {
			t.Errorf("want %s in %+v", want, out)
		}
	}
}

// The command that serve prints for a database has all but its password, and can be copied.
func TestTheFirstPersonOfADatabaseIsInvited(t *testing.T) {
	dir, db := t.TempDir(), cluster.Database(t)
	env := []string{"VITRINE_KEY=a key of a test of invitations, long enough"}
	s := start(t, dir, env, "-db", db+"&password=hidden")
	told, command := "", s.line()
	for ; !strings.HasPrefix(command, "vitrine invite"); command = s.line() {
		told += command
	}
	log := s.stderr.String()
	if !strings.Contains(told, "PGPASSWORD") || !strings.HasPrefix(command, "vitrine invite -db '") ||
		strings.Contains(told+command+log, "hidden") || !strings.Contains(log, "the list of processes shows") ||
		!strings.Contains(log, "no store was there") {
		t.Errorf("%s\n%s\n%s", told, command, log)
	}
	args := strings.Fields(strings.NewReplacer("'", "", "NAME", "Ann", "NETWORK", "example.test").Replace(command))
	if out := run(t, dir, nil, args[1:]...); out.status != 0 || !strings.HasPrefix(out.stdout, s.base+"/#invite=in_") {
		t.Errorf("%q: %+v", args, out)
	}
	s.stop()
	again := start(t, dir, append(env, "VITRINE_DB="+db+"&password=hidden"))
	if log := again.stderr.String(); strings.Contains(log, "list of processes") ||
		strings.Contains(log, "no store was") {
		t.Error(log)
	}
	for db, want := range map[string]string{
		"v.db":                   "v.db",
		"postgres://u:p@h:1/d":   "postgres://u@h:1/d",
		"postgres://u:p@h,i/d":   "postgres://u@h,i/d",
		"postgres://u:p@[h/d":    "postgres://",
		"postgres:///d?host=/h":  "postgres:///d?host=/h",
		"postgresql://u:@h/d?a=": "postgresql://u@h/d?a=",
		"postgres://h/d?sslpassword=p&sslmode=require": "postgres://h/d?sslmode=require",
	} {
		if got, secret := withoutPassword(db); got != want || secret != (got != db) {
			t.Errorf("%s: %s, %t", db, got, secret)
		}
	}
}

// A store in memory can be reached by the server alone, which prints the invitation itself.
func TestAStoreInMemoryInvitesItsAdministrator(t *testing.T) {
	s := start(t, t.TempDir(), nil, "-db", "memory:")
	if told := s.line() + s.line() + s.line(); !strings.Contains(told, s.base+"/#invite=in_") {
		t.Errorf("it says %q", told)
	}
}

func TestWhatOIDCNames(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "oidc.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"issuer":"https://id.example.test","clientID":"v","network":"example.test",` +
		`"gives":{"editors":{"reads":["urn:vitrine:example.test"]}}}`)
	s := start(t, dir, nil, "-db", "memory:", "-oidc", file)
	var told struct{ OIDC struct{ Name string } }
	if err := json.Unmarshal([]byte(s.visitor().send("GET", "/x/signin", "", 200)), &told); err != nil ||
		told.OIDC.Name != "id.example.test" {
		t.Errorf("%+v, %v", told, err)
	}
	s.stop()
	for _, text := range []string{"", "{}", `{"issuer":1}`} {
		write(text)
		if out := run(t, dir, nil, "-db", "memory:", "-addr", "127.0.0.1:0", "-oidc", file); out.status != 2 ||
			!strings.Contains(out.stderr, "-oidc") {
			t.Errorf("%q: %+v", text, out)
		}
	}
}
