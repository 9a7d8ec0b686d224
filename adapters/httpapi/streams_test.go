package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// people authenticates by names instead of tokens, and can change who a name is.
type people struct {
	mu    sync.Mutex
	named map[string]httpapi.Principal
}

func (p *people) set(name string, who httpapi.Principal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.named[name] = who
}

func (p *people) authenticate(r *http.Request) (httpapi.Principal, error) {
	name, err := httpapi.RequestToken(r)
	if err != nil {
		return httpapi.Principal{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	who, known := p.named[name]
	if !known {
		return who, httpapi.ErrUnauthenticated
	}
	return who, nil
}

// streaming is a world with streams.
type streaming struct {
	*world
	people  *people
	streams *httpapi.Streams
	db      storage.Store
}

func newStreaming(t *testing.T, change ...func(*httpapi.Config)) *streaming {
	s := &streaming{
		people:  &people{named: map[string]httpapi.Principal{"editor": editor, "one": siteOne, "stranger": stranger}},
		streams: httpapi.NewStreams(), db: memory.New()}
	s.world = newWorld(t, append([]func(*httpapi.Config){func(c *httpapi.Config) {
		c.Authenticate, c.Streams, c.Apps = s.people.authenticate, s.streams, appsvc.New(s.db, nil)
	}}, change...)...)
	return s
}

// by sends a request as somebody.
func (s *streaming) by(name, method, path, body string, options ...option) reply {
	s.t.Helper()
	return s.send(method, path, body, append([]option{header("Authorization", "Bearer "+name)}, options...)...)
}

func (s *streaming) create(name, title, group string) (id string) {
	s.t.Helper()
	var app struct{ ID string }
	s.by(name, "POST", "/apps/", fmt.Sprintf(`{"title":%q,"groups":[%q]}`, title, group)).want(201).read(&app)
	return app.ID
}

// events is an open stream.
type events struct {
	t      *testing.T
	answer *http.Response
	lines  *bufio.Reader
}

// open begins a stream as somebody. The stream is closed with the test.
func (s *streaming) open(t *testing.T, name, query string, options ...option) *events {
	t.Helper()
	return s.openAt(t, name, "/x/changes"+query, options...)
}

// openAt is open for the feed at a path.
func (s *streaming) openAt(t *testing.T, name, path string, options ...option) *events {
	t.Helper()
	r, err := http.NewRequest("GET", s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range append([]option{header("Authorization", "Bearer "+name), header("Accept", "text/event-stream")},
		options...) {
		o(r)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return &events{t, answer, bufio.NewReader(answer.Body)}
}

// began checks that the stream has begun.
func (e *events) began() *events {
	e.t.Helper()
	if kind := e.answer.Header.Get("Content-Type"); e.answer.StatusCode != 200 || kind != "text/event-stream" ||
		e.answer.Header.Get("Cache-Control") != "no-store" {
		text, _ := io.ReadAll(e.answer.Body)
		e.t.Fatalf("%d %v: %s", e.answer.StatusCode, e.answer.Header, text)
	}
	return e
}

// next returns the id, the type and the data of the next event. ok is false at the end of the stream.
func (e *events) next() (id, kind, data string, ok bool) {
	e.t.Helper()
	timeout := time.AfterFunc(2*time.Minute, func() { e.answer.Body.Close() })
	defer timeout.Stop()
	for some := false; ; {
		line, err := e.lines.ReadString('\n')
		if err == io.EOF && line == "" && !some {
			return "", "", "", false
		}
		if err != nil {
			e.t.Fatalf("the stream breaks off: %q, %v", line, err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			data = value
		case "":
			if data != "" {
				return id, kind, data, true
			}
			some = false
			continue
		}
		some = true
	}
}

// want reads events of these types.
func (e *events) want(kinds ...string) (lastID string) {
	e.t.Helper()
	for _, want := range kinds {
		id, kind, data, ok := e.next()
		if !ok || kind != want || !strings.Contains(data, fmt.Sprintf(`"type":%q`, kind)) ||
			!strings.Contains(data, fmt.Sprintf(`{"cursor":%q`, id)) {
			e.t.Fatalf("event %q with the id %q and the data %s, want %q", kind, id, data, want)
		}
		lastID = id
	}
	return lastID
}

// ends checks that the stream ends as it should, with nothing more.
func (e *events) ends() {
	e.t.Helper()
	if _, kind, data, ok := e.next(); ok {
		e.t.Fatalf("%s %s instead of the end", kind, data)
	}
}

func TestChangesAreAPage(t *testing.T) {
	s := newStreaming(t)
	var page struct {
		Changes []struct {
			Cursor, Type, App, Version string
			By                         struct{ URN string }
		}
		Next string
		More bool
	}
	s.by("editor", "GET", "/x/changes?after=now", "").want(200, `{"changes":[],"next":"`, `"more":false}`).read(&page)
	start := page.Next
	id := s.create("editor", "x", network+":site=1")
	s.by("editor", "PATCH", "/apps/"+id, titlePatch(0, "y")).want(200)
	s.by("one", "GET", "/x/changes?after="+start, "").want(200).read(&page)
	if len(page.Changes) != 2 || page.Changes[1].Type != "app.updated" || page.Changes[1].App != id ||
		page.Changes[1].Version != "1" || page.Changes[1].By.URN != editor.URN {
		t.Fatalf("%+v", page)
	}
	s.by("one", "GET", "/x/changes?limit=1&after="+start, "").want(200, `"more":true`, `"type":"app.created"`)
	s.by("one", "GET", "/x/changes?types=app.updated,tag.set&app="+id, "").want(200,
		`{"changes":[{"cursor":"`+page.Changes[1].Cursor+`","type":"app.updated"`)
	for _, path := range []string{"/x/changes?app=" + id, "/x/changes?app=none", "/x/changes"} {
		s.by("stranger", "GET", path, "").want(200, `{"changes":[],`)
	}
	for _, bad := range []string{"after=", "after=x", "after=" + start + "A", "limit=0", "limit=501", "types=",
		"types=app", "types=tag.set,,", "app=", "after=now&after=now"} {
		s.by("one", "GET", "/x/changes?"+bad, "").want(400, `"code":"invalid"`)
	}
	if err := storage.RenewIdentity(t.Context(), s.db); err != nil {
		t.Fatal(err)
	}
	s.by("one", "GET", "/x/changes?after="+start, "").want(410, `"code":"gone"`, `"parameter":"after"`)
	s.by("one", "GET", "/x/changes?after="+start, "", header("Accept", "text/event-stream")).want(410, `"code":"gone"`)
}

func TestAStreamSendsWhatComes(t *testing.T) {
	s := newStreaming(t)
	first := s.create("editor", "x", network+":site=1")
	e := s.open(t, "one", "").began()
	e.want("app.created")
	s.by("editor", "PATCH", "/apps/"+first, titlePatch(0, "y")).want(200)
	last := e.want("app.updated")
	s.create("editor", "hidden", network+":site=2")
	s.by("editor", "PUT", "/apps/"+first+"/tags/live", `{"appVersion":"1"}`).want(201)
	e.want("tag.set")
	again := s.open(t, "one", "?after=now", header("Last-Event-ID", last)).began()
	again.want("tag.set")
	of := s.open(t, "one", "?types=component.created,tag.deleted&after="+last).began()
	s.by("editor", "DELETE", "/apps/"+first+"/tags/live", "").want(204)
	of.want("tag.deleted")
	again.want("tag.deleted")
	s.by("one", "HEAD", "/x/changes", "", header("Accept", "text/event-stream")).want(200)
	s.by("one", "GET", "/x/changes", "", header("Accept", "application/json, text/event-stream; q=0")).want(200,
		`"changes":`)
}

func TestAStreamEndsWhenRightsEnd(t *testing.T) {
	for name, end := range map[string]func(s *streaming){
		"a server that stops":     func(s *streaming) { s.streams.Close() },
		"an identity that is not": func(s *streaming) { s.people.set("one", httpapi.Principal{}); s.streams.Recheck() },
		"another principal": func(s *streaming) {
			s.people.set("one",
				httpapi.Principal{Caller: vitrine.Caller{URN: siteOne.URN, Moderates: []string{network + ":site=2"}}})
			s.streams.Recheck()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStreaming(t)
			e, other := s.open(t, "one", "?after=now").began(), s.open(t, "editor", "?after=now").began()
			s.create("editor", "x", network+":site=1")
			e.want("app.created")
			other.want("app.created")
			end(s)
			if name == "a server that stops" {
				e.ends()
				other.ends()
				return
			}
			s.create("editor", "y", network+":site=1") // nobody waits in between: the stream asks before it reads
			e.ends()
			other.want("app.created")
		})
	}
}

// A Recheck of some users authenticates their streams again, and no others.
func TestARecheckOfSomeUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, mu := map[string]int{}, sync.Mutex{} // read while nobody asks
		streams := httpapi.NewStreams()
		handler, err := httpapi.New(httpapi.Config{Apps: appsvc.New(memory.New(), nil), Streams: streams,
			Authenticate: func(r *http.Request) (httpapi.Principal, error) {
				name, err := httpapi.RequestToken(r)
				mu.Lock()
				asked[name]++
				mu.Unlock()
				return httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=" + name}}, err
			}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, name := range []string{"ann", "bob", "cid"} {
			r := httptest.NewRequest("GET", "/x/changes?after=now", nil)
			r.Header = http.Header{"Accept": {"text/event-stream"}, "Authorization": {"Bearer " + name}}
			all.Go(func() { handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx)) })
			synctest.Wait()
		}
		streams.Recheck(network+":user=ann", network+":user=nobody")
		synctest.Wait()
		if fmt.Sprint(asked) != "map[ann:2 bob:1 cid:1]" {
			t.Errorf("after a change of Ann: %v", asked)
		}
		streams.Recheck()
		synctest.Wait()
		if fmt.Sprint(asked) != "map[ann:3 bob:2 cid:2]" {
			t.Errorf("after a change of everybody: %v", asked)
		}
		cancel()
		all.Wait()
	})
}

func TestAStreamEndsWhenItsTokenExpires(t *testing.T) {
	for name, life := range map[string]time.Duration{"a principal that stays": 2 * time.Second,
		"a principal that is renewed": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, one, streams := time.Now(), siteOne, httpapi.NewStreams()
				one.Expires = begun.Add(2 * time.Second)
				known := &people{named: map[string]httpapi.Principal{"one": one}}
				handler, err := httpapi.New(httpapi.Config{Apps: appsvc.New(memory.New(), nil),
					Authenticate: known.authenticate, Streams: streams})
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(time.Second, func() {
					one.Expires = begun.Add(life)
					known.set("one", one)
					streams.Recheck()
				})
				r := httptest.NewRequest("GET", "/x/changes?after=now", nil)
				r.Header = http.Header{"Accept": {"text/event-stream"}, "Authorization": {"Bearer one"}}
				answer := httptest.NewRecorder()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
				defer cancel()
				handler.ServeHTTP(answer, r.WithContext(ctx))
				if took := time.Since(begun); took < life || took > life+time.Second || answer.Code != 200 {
					t.Errorf("%d, and it ended after %s", answer.Code, took)
				}
			})
		})
	}
}

// A stream whose keys are replaced while it begins ends at once.
func TestARecheckIsNotMissedWhileAStreamBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known, streams := &people{named: map[string]httpapi.Principal{"one": siteOne}}, httpapi.NewStreams()
		streams.Began = func(context.Context) func() {
			known.set("one", httpapi.Principal{})
			streams.Recheck()
			return nil
		}
		handler, err := httpapi.New(httpapi.Config{Apps: appsvc.New(memory.New(), nil),
			Authenticate: known.authenticate, Streams: streams})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/x/changes?after=now", nil)
		r.Header = http.Header{"Accept": {"text/event-stream"}, "Authorization": {"Bearer one"}}
		begun := time.Now()
		handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(t.Context()))
		if took := time.Since(begun); took > 0 {
			t.Errorf("it ended after %s", took)
		}
	})
}

// Config.Authenticate is asked about a client that is far behind as often as about one that waits.
func TestAStreamThatIsBehindIsAuthenticatedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aSecond := func(context.Context) error { time.Sleep(time.Second); return nil }
		svc, path := newFeed(t, &scripted{Store: memory.New(), view: aSecond}, 200)
		begun, asked := time.Now(), 0
		authenticate := func(*http.Request) (httpapi.Principal, error) {
			asked++
			if time.Since(begun) > 90*time.Second {
				return httpapi.Principal{}, httpapi.ErrUnauthenticated
			}
			return editor, nil
		}
		handler, err := httpapi.New(httpapi.Config{Reviews: svc, Authenticate: authenticate})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", path+"?limit=1", nil) // so it is behind for 200 seconds
		r.Header.Set("Accept", "text/event-stream")
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if took := time.Since(begun); took > 3*time.Minute || took < 90*time.Second || asked < 3 {
			t.Errorf("it ended after %v, and the caller was authenticated %d times", took, asked)
		}
	})
}

// A stream that has nothing to send reads nothing, so it goes on after an outage of the store.
func TestAQuietStreamOutlivesAnOutageOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		apps := appsvc.New(&scripted{Store: memory.New(), view: func(context.Context) error {
			if down.Load() {
				return vitrine.ErrBusy
			}
			return nil
		}}, nil)
		browser := piped(t, httpapi.Config{Apps: apps, Authenticate: everybodyIsEditor})
		r, err := http.NewRequest("GET", "http://x/x/changes?after=now", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/event-stream")
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		stream := bufio.NewReader(answer.Body)
		line := func() string {
			t.Helper()
			text, err := stream.ReadString('\n')
			if err != nil {
				t.Fatalf("the stream ends during the outage: %v", err)
			}
			return strings.TrimSpace(text)
		}
		time.Sleep(time.Second) // until the stream waits; the clock of a bubble moves when nothing else does
		down.Store(true)
		for comments := 0; comments < 20; { // a comment is sent every 15 seconds, so the outage takes five minutes
			if line() == ":" {
				comments++
			}
		}
		down.Store(false)
		in := appsvc.CreateAppRequest{Title: "x", Groups: []string{network}}
		if _, err := apps.As(editor.Caller).CreateApp(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		for line() != "event: app.created" {
		}
	})
}

// A stream takes memory for the page that it sends and nothing while it waits, and a page is small.
func TestAStreamReadsSmallPages(t *testing.T) {
	s := newStreaming(t, func(c *httpapi.Config) { c.Assets = assets.New(memory.New(), nil) })
	s.client = client // its long responses are not compared with openapi.json
	var ids []string
	var add []string
	for i := range 500 {
		add = append(add, fmt.Sprintf(`{"id":"p%d","generator":{"id":"g"},"content":{"content":"x"}}`, i))
	}
	var made struct{ Added []struct{ ID string } }
	s.by("editor", "POST", library+"/assets", `{"add":[`+strings.Join(add, ",")+`]}`).want(200).read(&made)
	for _, a := range made.Added {
		ids = append(ids, strconv.Quote(a.ID))
	}
	for i := range 10 {
		s.by("editor", "POST", library+"/attributes",
			fmt.Sprintf(`{"assets":[%s],"add":[{"key":"k","value":"%d"}]}`, strings.Join(ids, ","), i)).want(200)
	}
	e := s.openAt(t, "editor", library+"/changes").began()
	for range 11 {
		if _, kind, data, ok := e.next(); !ok || kind != "assets.changed" || len(data) < 10<<10 {
			t.Fatalf("%s of %d bytes", kind, len(data))
		}
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		load, _ := httpapi.LoadOf(s.handler)
		if load.Memory == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("a stream that waits has %d bytes", load.Memory)
		}
	}
}

func TestStreamsAreBounded(t *testing.T) {
	s := newStreaming(t, func(c *httpapi.Config) { c.Limits.Streams = 18 })
	stream := func(name string) reply {
		t.Helper()
		e := s.open(t, name, "?after=now")
		if e.answer.StatusCode == 200 {
			e.began()
			return reply{t, "stream", 200, e.answer.Header, ""}
		}
		text, _ := io.ReadAll(e.answer.Body)
		return reply{t, "stream", e.answer.StatusCode, e.answer.Header, string(text)}
	}
	for range 16 {
		stream("one").want(200)
	}
	if r := stream("one").want(429, `"code":"too_many"`); r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	stream("editor").want(200)
	stream("editor").want(200)
	stream("stranger").want(429, `"code":"too_many"`)
	s.by("one", "GET", "/x/changes", "").want(200)
	s.streams.Close()
	for range 6000 { // the streams end one after the other
		if e := s.open(t, "one", "?after=now"); e.answer.StatusCode == 200 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the streams that ended are counted still")
}

// A stream is behind from a change on until it was sent, also where the client does not read.
func TestTheLagOfStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &streaming{people: &people{named: map[string]httpapi.Principal{"editor": editor}},
			streams: httpapi.NewStreams(), db: memory.New()}
		apps := appsvc.New(s.db, nil)
		// Without a buffer the server waits until each byte is read.
		near := dialer(t, httpapi.Config{Apps: apps, Authenticate: s.people.authenticate, Streams: s.streams})()
		defer near.Close()
		if _, err := io.WriteString(near,
			"GET /x/changes?after=now HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer editor\r\nAccept: "+
				"text/event-stream\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		lag := func(when string, want time.Duration) {
			t.Helper()
			synctest.Wait()
			// Followers are woken some milliseconds after a change, so that changes that come together wake them once.
			if have := s.streams.Lag(); have > want || have < want-10*time.Millisecond {
				t.Errorf("%s the lag is %s, want %s", when, have, want)
			}
		}
		in := bufio.NewReader(near)
		until := func(line string) {
			t.Helper()
			for {
				text, err := in.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(text, line) {
					return
				}
			}
		}
		create := func() {
			t.Helper()
			if _, err := apps.As(vitrine.Caller{URN: editor.URN, Moderates: editor.Moderates}).CreateApp(t.Context(),
				appsvc.CreateAppRequest{Title: "x", Groups: []string{network}}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(3 * time.Second)
		lag("while the client does not take the headers", 3*time.Second)
		until("\r\n")
		lag("at the end of the feed", 0)
		create()
		lag("with a change that is not taken", 0)
		time.Sleep(2 * time.Second)
		create()
		time.Sleep(3 * time.Second)
		lag("with two changes that are not taken", 5*time.Second)
		until("data:")
		until("data:")
		until("\n")
		lag("when both are taken", 0)
		near.Close()
		lag("without a stream", 0)
	})
}

// pipes is a listener of connections without any buffer: if one side does not read, a write of the other side waits at
// its first byte.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dialer serves a handler over connections without buffers, which a bubble of synctest can wait for, and returns a
// function that makes such a connection. Each of change may alter the server.
func dialer(t *testing.T, c httpapi.Config, change ...func(*http.Server)) func() net.Conn {
	t.Helper()
	c.Log = slog.New(slog.DiscardHandler)
	handler, err := httpapi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: handler}
	for _, f := range change {
		f(server)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return func() net.Conn {
		near, far := net.Pipe()
		listener.conns <- far
		return near
	}
}

// piped returns a client of a handler that is served as dialer serves it.
func piped(t *testing.T, c httpapi.Config) *http.Client {
	t.Helper()
	dial := dialer(t, c)
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return dial(), nil
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
