package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// started returns the program on a store, with its sample data.
func started(t *testing.T, db storage.Store) *program {
	t.Helper()
	p := newProgram(db)
	if err := p.fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// The link signs a person in: the page is there, the API and the program's own route know who asks. Without it nobody
// is known, but a page by its key, which reads what is published and nothing else.
func TestTheLinkSignsIn(t *testing.T) {
	p := started(t, memory.New())
	handler, err := p.handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	jar, _ := cookiejar.New(nil) // it cannot fail without options
	person := &http.Client{Jar: jar}
	ask := func(path, accept string, status int, want string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		answer, err := person.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != status ||
			!strings.Contains(string(text), want) {
			t.Errorf("%s: %d %s, %v", path, answer.StatusCode, text, err)
		}
	}
	ask("/vitrine/x/me", "*/*", http.StatusUnauthorized, "sign in with the link")
	ask("/titles", "*/*", http.StatusUnauthorized, "sign in with the link")
	list, err := p.apps.As(p.caller("me")).ListApps(t.Context(), appsvc.ListAppsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	published := "/vitrine/x/public/production?app=" + list.Items[0].ID + "&key="
	ask(published+pageKey, "*/*", http.StatusOK, `"title":"Hello"`)
	ask(published+"another", "*/*", http.StatusUnauthorized, "the page needs a key")
	ask("/vitrine/apps?svctoken="+pageKey, "*/*", http.StatusUnauthorized, "sign in with the link")
	ask("/vitrine/x/vitrine.js", "*/*", http.StatusOK, "vitrine-app")
	ask(p.sessions.link("me"), "text/html", http.StatusOK, "<title>Example</title>")
	ask("/vitrine/x/me", "*/*", http.StatusOK, "user=me")
	ask("/vitrine/apps", "*/*", http.StatusOK, "Hello")
	ask("/vitrine/assets/example.test/assetLibrary/example.test/assets?query=first", "*/*", http.StatusOK, `"total":1`)
	ask("/vitrine/x/reviews/collections?network=example.test", "*/*", http.StatusOK, `"title":"Tea"`)
	ask("/titles?q=hel", "*/*", http.StatusOK, `["Hello"]`)
	ask("/titles?q=none", "*/*", http.StatusOK, `[]`)
}

// The program makes a release when its time has come, purges what has moved, and ends with an open event stream.
func TestTheProgramRuns(t *testing.T) {
	p := newProgram(memory.New())
	purged := make(chan string, 10)
	p.purge = func(app string) error { purged <- app; return nil }
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error)
	go func() { ended <- p.run(ctx, listener) }()
	if app := <-purged; app != "" {
		t.Errorf("a new follower has purged %q", app)
	}
	apps := p.apps.As(p.caller("me"))
	app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: "Later", Groups: []string{network}})
	if err != nil {
		t.Fatal(err)
	}
	moves := []appsvc.ReleaseMove{{AppID: app.ID, Tag: "production", To: appsvc.PointsTo(app.Version)}}
	if _, err := apps.CreateRelease(ctx, appsvc.CreateReleaseRequest{Name: "later", Moves: moves,
		At: time.Now().Add(time.Second).UnixMilli()}); err != nil {
		t.Fatal(err)
	}
	if got := <-purged; got != app.ID {
		t.Errorf("purged %q", got)
	}
	if err := apps.DeleteApp(ctx, app.ID); err != nil {
		t.Fatal(err)
	}
	if got := <-purged; got != app.ID {
		t.Errorf("purged %q for an app that was deleted", got)
	}
	if _, err := apps.UndeleteApp(ctx, app.ID); err != nil {
		t.Fatal(err)
	}
	if got := <-purged; got != app.ID {
		t.Errorf("purged %q for an app that came back", got)
	}
	r, err := http.NewRequest("GET", "http://"+listener.Addr().String()+"/vitrine/x/changes", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.AddCookie(&http.Cookie{Name: "session", Value: strings.TrimPrefix(p.sessions.link("me"), "/sign-in?session=")})
	stream, err := http.DefaultClient.Do(r)
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatal(stream, err)
	}
	defer stream.Body.Close()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := p.fill(t.Context()); err != nil {
		t.Errorf("it begins a second time: %v", err)
	}
}

// The rows of the rule go with the changes: a title is taken once, and free again when its app has another one or is
// gone.
func TestTitlesAreUnique(t *testing.T) {
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "apps.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, db := range map[string]storage.Store{"memory": memory.New(), "sqlite": file} {
		t.Run(name, func(t *testing.T) {
			p := started(t, db)
			apps := p.apps.As(p.caller("me"))
			create := func(title string, want error) (app appsvc.App) {
				t.Helper()
				app, err := apps.CreateApp(t.Context(),
					appsvc.CreateAppRequest{Title: title, Groups: []string{network}})
				if !errors.Is(err, want) {
					t.Errorf("create %s: %v, want %v", title, err, want)
				}
				return app
			}
			create("Hello", vitrine.ErrUnprocessable)
			second := create("Second", nil)
			if _, err := apps.Edit(t.Context(), second.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
				p.SetTitle("Third")
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			create("Second", nil)
			create("Third", vitrine.ErrUnprocessable)
			if err := apps.DeleteApp(t.Context(), second.ID); err != nil {
				t.Fatal(err)
			}
			create("Third", nil)
			create(strings.Repeat("é", 1024), nil) // as long as a title may be, and longer than a key
			if _, err := apps.UndeleteApp(t.Context(), second.ID); !errors.Is(err, vitrine.ErrUnprocessable) {
				t.Errorf("the title of an app that comes back is taken: %v", err)
			}
		})
	}
}
