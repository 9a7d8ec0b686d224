package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// stream reads a stream of the server line by line. A stream that is open after two minutes breaks off.
func (s *testServer) stream(token, query string) *bufio.Reader {
	s.t.Helper()
	return s.streamOf(token, "/x/changes"+query)
}

func (s *testServer) streamOf(token, path string) *bufio.Reader {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	s.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "svctoken "+token)
	r.Header.Set("Accept", "text/event-stream")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != 200 {
		text, _ := io.ReadAll(answer.Body)
		s.t.Fatalf("%d %s", answer.StatusCode, text)
	}
	return bufio.NewReader(answer.Body)
}

// event returns the lines of the next event.
func event(t *testing.T, in *bufio.Reader) (lines []string) {
	t.Helper()
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "\n" {
			return lines
		}
		lines = append(lines, line)
	}
}

// A stream lives through SIGHUP and writes of another process, and ends as a whole when the server stops. A backup does
// not know its cursors.
func TestStreamsOfTheBinary(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	token := newToken(t, dir, nil, "-db", "v.db")
	in := s.stream(token, "")
	long := strings.Repeat("x", 4096) // more than a buffer of the server
	s.do(token, "POST", "/components/",
		fmt.Sprintf(`{"name":"c","version":"1","main":"/x.js","configSchema":{},"more":%q}`, long), 201)
	first := event(t, in)
	if len(first) != 3 || !strings.HasPrefix(first[0], "id: ") || first[1] != "event: component.created\n" {
		t.Fatalf("%q", first)
	}
	s.hangup("the keys were read again")
	s.do(token, "DELETE", "/components/c", "", 204)
	if second := event(t, in); second[1] != "event: component.deleted\n" {
		t.Fatalf("%q", second)
	}
	other := start(t, dir, nil, "-db", "v.db")
	other.do(token, "POST", "/apps/", `{"title":"x","groups":["urn:vitrine:example.test"]}`, 201)
	if third := event(t, in); third[1] != "event: app.created\n" {
		t.Fatalf("%q", third)
	}
	s.stop()
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("the end of the stream: %q, %v", rest, err)
	}
	if out := run(t, dir, nil, "backup", "-db", "v.db", "copy.db"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	page := other.do(token, "GET", "/x/changes", "", 200)
	_, rest, _ := strings.Cut(page, `"next":"`)
	next, _, _ := strings.Cut(rest, `"`)
	other.do(token, "GET", "/x/changes?after="+next, "", 200)
	third := start(t, dir, nil, "-db", "copy.db", "-key-file", "v.db.key")
	third.do(token, "GET", "/x/changes?after="+next, "", 410)
	third.do(token, "GET", "/x/changes", "", 200)
}

// A stream that is open when the feed gets another identity ends by itself, with no event of the new one, and its
// cursor is gone from then on.
func TestOpenStreamsEndAtFeedReset(t *testing.T) {
	for name, db := range map[string]string{"SQLite": "v.db", "PostgreSQL": ""} {
		t.Run(name, func(t *testing.T) {
			if db == "" {
				db = cluster.Schema(t)
			}
			dir := t.TempDir()
			key := filepath.Join(dir, "key")
			if err := os.WriteFile(key, []byte(strings.Repeat("k", 40)), 0o600); err != nil {
				t.Fatal(err)
			}
			s := start(t, dir, nil, "-db", db, "-key-file", key)
			token := newToken(t, dir, nil, "-db", db, "-key-file", key)
			s.do(token, "POST", "/components/", `{"name":"c","version":"1","main":"/x.js","configSchema":{}}`, 201)
			const library = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"
			add := func(id string) {
				s.do(token, "POST", library+"/assets",
					fmt.Sprintf(`{"add":[{"id":%q,"generator":{"id":"g"},"content":{}}]}`, id), 200)
			}
			add("1")
			feeds := map[string]*bufio.Reader{"/x/changes": nil, library + "/changes": nil}
			last := map[string]string{}
			for path := range feeds {
				feeds[path] = s.streamOf(token, path)
				last[path] = strings.TrimSpace(strings.TrimPrefix(event(t, feeds[path])[0], "id: "))
				s.do(token, "GET", path+"?after="+last[path], "", 200)
			}
			if out := run(t, dir, nil, "feed", "reset", "-db", db); out.status != 0 {
				t.Fatalf("%+v", out)
			}
			for path, in := range feeds {
				if rest, err := io.ReadAll(in); err != nil || strings.Contains(string(rest), "event:") {
					t.Errorf("%s: the end of the stream: %q, %v", path, rest, err)
				}
				s.do(token, "GET", path+"?after="+last[path], "", 410)
			}
			s.do(token, "DELETE", "/components/c", "", 204)
			add("2")
			for path := range feeds {
				s.streamAnswers(token, path, last[path], 410)
				in := s.streamOf(token, path) // from the beginning
				if first, second := event(t, in), event(t, in); first[0] == "id: "+last[path]+"\n" ||
					second[0] == first[0] {
					t.Errorf("%s: the new feed begins with %q and %q", path, first, second)
				}
			}
		})
	}
}

// streamAnswers asks for a stream that goes on after an id, as a browser does.
func (s *testServer) streamAnswers(token, path, last string, want int) {
	s.t.Helper()
	r, err := http.NewRequest("GET", s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "svctoken "+token)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Last-Event-ID", last)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != want {
		s.t.Errorf("%s after %s: %s, want %d", path, last, answer.Status, want)
	}
}

// Streams are not counted among the connections, so that others find room beside them.
func TestStreamsTakeNoConnectionOfOthers(t *testing.T) {
	l := make(pipeListener, 1)
	l <- nil
	all := newConnections(l, 2)
	accepted, err := all.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := accepted.(*connection)
	c.addStreams(1)
	c.addStreams(1)
	if all.open != 0 || !c.pieceConn.streams.Load() {
		t.Errorf("%d are open", all.open)
	}
	c.addStreams(-1)
	if all.open != 0 {
		t.Errorf("%d are open", all.open)
	}
	c.addStreams(-1)
	if all.open != 1 || c.pieceConn.streams.Load() {
		t.Errorf("%d are open", all.open)
	}
	c.addStreams(1)
	all.mu.Lock()
	all.forget(c)
	all.mu.Unlock()
	c.addStreams(-1)
	if all.open != 0 {
		t.Errorf("%d are open when it is closed", all.open)
	}
}
