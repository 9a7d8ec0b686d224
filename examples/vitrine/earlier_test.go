package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/gunzip"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
)

// earlierFile returns a file of testdata that v0.2.0 wrote; testdata/README.md says what is in it.
func earlierFile(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "v0.2.0."+name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in, err := gunzip.Unpacked(bufio.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := in.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// recorded is a response of v0.2.0 to a GET. By is a token of earlierCallers, the key of a program, "person" for the
// person who is signed in, or "" for nobody.
type recorded struct {
	By, Get, Text, Link string
	Status              int
	Body                any
}

// earlier says what the store of v0.2.0 has.
type earlier struct {
	answers []recorded

	Now           int64             // the time of the recording, in milliseconds
	Cookies       map[string]string // of the person who is signed in
	Handle        []byte            // the user handle of this person
	Passkey       virtualwebauthn.Credential
	Front, Binned string // ids of apps, one of them deleted
	Approved      string // id of a release that has the approval that it needs
	Scheduled     string // id of a release that is due within an hour of Now
	Once, OnceID  string // a request that was sent with the idempotency key once-1, and the id of its app
	Press         string // id of a folder
}

func readEarlier(t *testing.T) (e earlier) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(earlierFile(t, "answers")), []byte("\n"))
	for _, line := range lines[:len(lines)-1] {
		var r recorded
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		e.answers = append(e.answers, r)
	}
	if err := json.Unmarshal(lines[len(lines)-1], &e); err != nil {
		t.Fatal(err)
	}
	return e
}

const earlierNetwork = "urn:vitrine:example.test"

// earlierCallers are the callers of the recording, by their tokens.
var earlierCallers = map[string]vitrine.Caller{
	"editor": {URN: earlierNetwork + ":user=editor", Moderates: []string{earlierNetwork, "urn:vitrine:other.test"},
		Components: true},
	"reader": {URN: earlierNetwork + ":user=reader", Reads: []string{earlierNetwork}, Roles: []string{"press"}},
	"anna":   {URN: earlierNetwork + ":user=anna", Groups: []string{earlierNetwork + ":group=press"}},
}

// earlierServer serves a store of v0.2.0 with a clock that stands still at the time of the recording.
type earlierServer struct {
	http.Handler
	t       *testing.T
	apps    *appsvc.Service
	now     time.Time
	cookies map[string]string
}

func serveEarlier(t *testing.T, db storage.Store, e earlier) *earlierServer {
	t.Helper()
	s := &earlierServer{t: t, now: time.UnixMilli(e.Now), cookies: e.Cookies}
	clock := func() time.Time { return s.now }
	quiet := slog.New(slog.DiscardHandler)
	byToken := func(r *http.Request) (httpapi.Principal, error) {
		name, err := httpapi.RequestToken(r)
		if _, ok := earlierCallers[name]; err == nil && !ok {
			err = httpapi.Unauthenticated("there is no such token")
		}
		return httpapi.Principal{Caller: earlierCallers[name]}, err
	}
	people, err := signin.New(db, signin.Options{
		BaseURL:   "https://apps.example.test/",
		Otherwise: byToken,
		Now:       clock,
		Log:       quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.apps = appsvc.New(db, &appsvc.Options{Now: clock, Rights: people.Rights})
	s.Handler, err = httpapi.New(httpapi.Config{
		Apps:         s.apps,
		Assets:       assets.New(db, &assets.Options{Now: clock}),
		Reviews:      reviews.New(db, nil),
		Authenticate: people.Authenticate,
		Extras:       people.Endpoints(),
		PublicCache:  30 * time.Second,
		Log:          quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *earlierServer) send(by, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "https://apps.example.test"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	switch by {
	case "":
	case "person":
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		for name, value := range s.cookies {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
	default:
		r.Header.Set("Authorization", "Bearer "+by)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// do sends a request that succeeds, and decodes its response into to unless that is nil.
func (s *earlierServer) do(by, method, path, body string, to any, headers ...string) {
	s.t.Helper()
	w := s.send(by, method, path, body, headers...)
	if w.Code >= 300 {
		s.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	if to != nil {
		if err := json.Unmarshal(w.Body.Bytes(), to); err != nil {
			s.t.Fatalf("%s %s: %v", method, path, err)
		}
	}
}

// within says where have lacks something of want: all members of its objects, and its arrays item by item. Objects may
// have more members.
func within(have, want any) string {
	switch want := want.(type) {
	case map[string]any:
		all, _ := have.(map[string]any)
		for name, value := range want {
			if differs := within(all[name], value); differs != "" {
				return "/" + name + differs
			}
		}
		return ""
	case []any:
		if all, ok := have.([]any); ok && len(all) == len(want) {
			for i := range want {
				if differs := within(all[i], want[i]); differs != "" {
					return fmt.Sprint("/", i, differs)
				}
			}
			return ""
		}
	}
	if fmt.Sprint(have) != fmt.Sprint(want) {
		return fmt.Sprintf(": %.300v, want %.300v", have, want)
	}
	return ""
}

// answersAsBefore compares the responses with those of v0.2.0. An imported store has no sessions and new feeds.
func (s *earlierServer) answersAsBefore(e earlier, imported bool) {
	s.t.Helper()
	compared := 0
	for _, r := range e.answers {
		if imported && (r.By == "person" || strings.Contains(r.Get, "/changes")) {
			continue
		}
		w := s.send(r.By, "GET", r.Get, "")
		if link := w.Header().Get("Link"); w.Code != r.Status || link != r.Link {
			s.t.Errorf("%s asks for %s: %d, Link %q, want %d, %q", r.By, r.Get, w.Code, link, r.Status, r.Link)
		}
		have := any(w.Body.String())
		want := any(r.Text)
		if r.Body != nil {
			want = r.Body
			if err := json.Unmarshal(w.Body.Bytes(), &have); err != nil {
				s.t.Errorf("%s asks for %s: %v", r.By, r.Get, err)
			}
		}
		if differs := within(have, want); differs != "" {
			s.t.Errorf("%s asks for %s: %s", r.By, r.Get, differs)
		}
		compared++
	}
	if compared < 100 {
		s.t.Errorf("only %d responses were compared", compared)
	}
}

// goesOn changes some of everything that the store has.
func (s *earlierServer) goesOn(e earlier, imported bool) {
	s.t.Helper()
	var app, release struct{ ID, Version, State string }
	var apps struct{ Apps []struct{ Version string } }
	s.do("editor", "GET", "/apps/"+e.Front, "", &apps)
	s.do("editor", "PATCH", "/apps/"+e.Front,
		`[{"op":"test","path":"/apps/0/version","value":"`+apps.Apps[0].Version+`"},`+
			`{"op":"replace","path":"/apps/0/title","value":"Zebras"}]`, nil)
	s.do("editor", "POST", "/apps/versions/restore", `{"appId":"`+e.Front+`","appVersion":"3"}`, nil)
	s.do("editor", "PUT", "/apps/"+e.Front+"/tags/staging", `{"rollback":true}`, nil)
	s.do("editor", "POST", "/apps/"+e.Binned+"/undelete", "", nil)
	if !imported {
		s.do("editor", "POST", "/apps/", e.Once, &app, "Idempotency-Key", "once-1")
		if app.ID != e.OnceID {
			s.t.Errorf("a request with a known idempotency key made the app %s, want %s", app.ID, e.OnceID)
		}
	}
	s.do("editor", "GET", "/x/releases/"+e.Approved, "", &release)
	s.do("editor", "POST", "/x/releases/"+e.Approved+"/run", `{"version":"`+release.Version+`"}`, nil)
	s.now = s.now.Add(time.Hour)
	if err := s.apps.RunDue(s.t.Context()); err != nil {
		s.t.Error(err)
	}
	if s.do("editor", "GET", "/x/releases/"+e.Scheduled, "", &release); release.State != "done" {
		s.t.Errorf("the scheduled release is %s", release.State)
	}
	if s.do("editor", "GET", "/apps?view=summary&q=in+the+bin", "", &apps); len(apps.Apps) != 1 {
		s.t.Errorf("%d apps have the title of the one that was brought back", len(apps.Apps))
	}

	const library = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"
	total := func() int {
		var found struct{ Paging struct{ Total int } }
		s.do("reader", "GET", library+"/assets?query=harbour", "", &found)
		return found.Paging.Total
	}
	before := total()
	s.do("editor", "POST", library+"/assets", `{"add":[{"id":"new","generator":{"id":"g"},`+
		`"content":{"content":"a harbour"},"folders":["`+e.Press+`"]}]}`, nil)
	if after := total(); before == 0 || after != before+1 {
		s.t.Errorf("%d assets are found, want one more than %d", after, before)
	}
	var counts reviews.Counts
	exported := s.send("editor", "GET", "/x/reviews/export?network=example.test", "").Body.String()
	s.do("editor", "POST", "/x/reviews/import?network=example.test", exported, &counts)
	if counts.Reviews != 6 || counts.ReviewsUnchanged != 6 {
		s.t.Errorf("reviews that were exported are imported again: %+v", counts)
	}
	s.signsIn(e)
}

// finds returns the responses to the searches of the recording.
func (s *earlierServer) finds(e earlier) (all string) {
	for _, r := range e.answers {
		if strings.Contains(r.Get, "query=") {
			all += s.send(r.By, "GET", r.Get, "").Body.String() + "\n"
		}
	}
	return all
}

// signsIn signs the administrator in with the passkey that was made at a server of v0.2.0.
func (s *earlierServer) signsIn(e earlier) {
	s.t.Helper()
	var asked struct {
		Ceremony  string
		PublicKey json.RawMessage
	}
	s.cookies = nil
	s.do("person", "POST", "/x/signin/begin", "{}", &asked)
	options, err := virtualwebauthn.ParseAssertionOptions(string(asked.PublicKey))
	if err != nil {
		s.t.Fatal(err)
	}
	held := virtualwebauthn.NewAuthenticator()
	held.Options.UserHandle = e.Handle
	key := e.Passkey.Key.Data
	credential := virtualwebauthn.NewCredentialWithImportedKey(virtualwebauthn.KeyTypeEC2, key)
	credential.ID, credential.Counter = e.Passkey.ID, e.Passkey.Counter+1
	held.AddCredential(credential)
	party := virtualwebauthn.RelyingParty{ID: "apps.example.test", Name: "Vitrine", Origin: "https://apps.example.test"}
	signed := virtualwebauthn.CreateAssertionResponse(party, held, credential, *options)
	var in struct {
		Session struct{ Person struct{ Admin bool } }
	}
	s.do("person", "POST", "/x/signin/finish", `{"ceremony":"`+asked.Ceremony+`","credential":`+signed+`}`, &in)
	if !in.Session.Person.Admin {
		s.t.Error("the administrator has no right any more")
	}
}

// A store of v0.2.0, opened or imported, is whole, gives the same responses, and can be changed.
func TestAStoreOfAnEarlierRelease(t *testing.T) {
	e := readEarlier(t)
	file, archive := earlierFile(t, "db"), earlierFile(t, "archive")
	for name, db := range map[string]func(*testing.T) string{
		"opened":      func(*testing.T) string { return "opened.db" },
		"imported":    func(*testing.T) string { return "imported.db" },
		"to Postgres": func(t *testing.T) string { return cluster.Schema(t) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, db, imported, found := t.TempDir(), db(t), name != "opened", ""
			for name, text := range map[string][]byte{"opened.db": file, "archive": archive} {
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			check := func(more ...string) {
				t.Helper()
				if out := run(t, dir, nil, append([]string{"check", "-db", db}, more...)...); out.status != 0 {
					t.Fatalf("%+v", out)
				}
			}
			if imported {
				if out := run(t, dir, nil, "import", "-db", db, "archive"); out.status != 0 {
					t.Fatalf("%+v", out)
				}
			}
			check()
			err := inStore(context.Background(), db, func(s storage.Store) error {
				served := serveEarlier(t, s, e)
				served.answersAsBefore(e, imported)
				served.goesOn(e, imported)
				found = served.finds(e)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			check()
			err = inStore(context.Background(), db, func(s storage.Store) error {
				err := assets.New(s, nil).Upkeep(context.Background())
				if now := serveEarlier(t, s, e).finds(e); now != found {
					t.Errorf("with a new index the searches find\n%s\nand before\n%s", now, found)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			check()
			check("-rebuild")
		})
	}
}

// v0.1.0 had other files and archives. The error names the release that reads the archives.
func TestAnArchiveOfTheFirstReleaseIsRefused(t *testing.T) {
	out := runWith(t, t.TempDir(), nil, "{\"vitrine\":2}\n{\"end\":{\"lines\":1}}\n", "import", "-db", "w.db", "-")
	if out.status != 1 || !strings.Contains(out.stderr, "of v0.1.0") || !strings.Contains(out.stderr, "v0.2.0 ") {
		t.Errorf("%+v", out)
	}
}
