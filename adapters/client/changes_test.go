package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// followed is a server whose streams a test can end.
type followed struct {
	db      storage.Store
	service *appsvc.Service
	streams *httpapi.Streams
	server  *httptest.Server
	asked   atomic.Int64 // requests of streams
	refuse  atomic.Int64 // so many requests are answered with 503
}

func newFollowed(t *testing.T) (*followed, *client.Client) {
	f := &followed{db: memory.New(), streams: httpapi.NewStreams()}
	f.service = appsvc.New(f.db, nil)
	h, err := httpapi.New(httpapi.Config{Apps: f.service, Streams: f.streams,
		Authenticate: func(*http.Request) (httpapi.Principal, error) { return editor, nil }})
	if err != nil {
		t.Fatal(err)
	}
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "text/event-stream" {
			f.asked.Add(1)
			if f.refuse.Add(-1) >= 0 {
				http.Error(w, "a proxy", http.StatusBadGateway)
				return
			}
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(f.server.Close)
	t.Cleanup(f.streams.Close)
	c, err := client.New(client.Config{URL: f.server.URL, Token: client.Static("x"), MaxWait: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return f, c
}

func caller() vitrine.Caller { return vitrine.Caller{URN: editor.URN, Moderates: editor.Moderates} }

// A follower goes on through streams that end, connections that are lost and answers of a proxy, and meets each change
// once.
func TestFollowGoesOnThroughAllThatEnds(t *testing.T) {
	f, c := newFollowed(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const changes = 60
	var group sync.WaitGroup
	defer group.Wait()
	started := make(chan struct{})
	group.Go(func() {
		<-started
		for i := range changes {
			if _, err := f.service.As(caller()).CreateApp(ctx,
				appsvc.CreateAppRequest{Title: fmt.Sprint(i), Groups: []string{network}}); err != nil {
				t.Error(err)
			}
			before := f.asked.Load()
			switch i % 10 {
			case 3:
				f.server.CloseClientConnections()
			case 6:
				f.streams.Recheck()
			case 9:
				f.refuse.Store(2)
				f.server.CloseClientConnections()
			}
			// until the follower is back
			for i%10%6 == 3 && i < changes-1 && f.asked.Load() == before && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			if i%3 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
	})
	var ids, want []string
	first, err := c.Apps.Changes(ctx, appsvc.ChangesRequest{After: vitrine.Now})
	if err != nil {
		t.Fatal(err)
	}
	close(started)
	for e, err := range c.Apps.Follow(ctx,
		appsvc.ChangesRequest{After: first.Next, Types: []appsvc.ChangeType{appsvc.AppCreated}}) {
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, e.AppID); len(ids) == changes {
			break
		}
	}
	for after, more := first.Next, true; more; {
		page, err := f.service.As(caller()).Changes(ctx, appsvc.ChangesRequest{After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Changes {
			want = append(want, e.AppID)
		}
		after, more = page.Next, page.More
	}
	if !slices.Equal(ids, want) {
		t.Errorf("it met %d changes, want the %d that there were, in their order", len(ids), len(want))
	}
	if f.asked.Load() < 6 {
		t.Errorf("it connected %d times: nothing was interrupted", f.asked.Load())
	}
}

func TestFollowEndsWithWhatAnotherAttemptWouldMeetToo(t *testing.T) {
	f, c := newFollowed(t)
	last := func(ctx context.Context, in appsvc.ChangesRequest) (err error) {
		for _, err = range c.Apps.Follow(ctx, in) {
			if err != nil {
				return err
			}
		}
		return err
	}
	near := func(in appsvc.ChangesRequest) (err error) {
		for _, err = range f.service.As(caller()).Follow(t.Context(), in) {
		}
		return err
	}
	page, err := c.Apps.Changes(t.Context(), appsvc.ChangesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if err := storage.RenewIdentity(t.Context(), f.db); err != nil {
		t.Fatal(err)
	}
	for _, in := range []appsvc.ChangesRequest{{After: page.Next}, {After: "none"},
		{Types: []appsvc.ChangeType{"none"}}, {After: vitrine.Now, Limit: 501}} {
		far, here := last(t.Context(), in), near(in)
		one, _ := errors.AsType[*vitrine.Error](far)
		two, _ := errors.AsType[*vitrine.Error](here)
		if one == nil || two == nil || one.Kind != two.Kind || one.Parameter != two.Parameter ||
			one.Reason != two.Reason {
			t.Errorf("%+v: %v, and near %v", in, far, here)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := last(ctx, appsvc.ChangesRequest{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that ends: %v", err)
	}
}

// What was found to be now when Follow was called stays the beginning, also if the first stream breaks off.
func TestFollowFromNowMissesNothing(t *testing.T) {
	f, c := newFollowed(t)
	if _, err := f.service.As(caller()).CreateApp(t.Context(),
		appsvc.CreateAppRequest{Title: "before", Groups: []string{network}}); err != nil {
		t.Fatal(err)
	}
	f.refuse.Store(3)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		for f.asked.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		if _, err := f.service.As(caller()).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: "while it connects", Groups: []string{network}}); err != nil {
			t.Error(err)
		}
	}()
	for e, err := range c.Apps.Follow(ctx, appsvc.ChangesRequest{After: vitrine.Now}) {
		if err != nil {
			t.Fatal(err)
		}
		app, err := f.service.As(caller()).App(ctx, e.AppID)
		if err != nil {
			t.Fatal(err)
		}
		if content, err := app.Body.Content(); err != nil || content.Title != "while it connects" {
			t.Errorf("%+v, %v", content, err)
		}
		break
	}
}

func TestAnAnswerThatIsNoStreamIsAnError(t *testing.T) {
	for body, header := range map[string]string{`{"changes":[],"next":"x"}`: "application/json",
		"id: " + strings.Repeat("x", 2<<20): "text/event-stream", "data: {\n\n": "text/event-stream"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", header)
			fmt.Fprint(w, body)
		}))
		defer server.Close()
		c, err := client.New(client.Config{URL: server.URL, Token: client.Static("x")})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range c.Apps.Follow(t.Context(), appsvc.ChangesRequest{}) {
			if err == nil {
				t.Error("an entry")
			}
		}
	}
}

// The service sends a cursor without an entry after entries that the caller may not see.
func TestFollowGoesOnFromACursorAlone(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var after []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if after = append(after, r.URL.Query().Get("after")); len(after) == 2 {
			cancel()
			return
		}
		fmt.Fprint(w, ":\n\nid: x\n\n")
	}))
	defer server.Close()
	c, err := client.New(client.Config{URL: server.URL, Token: client.Static("x")})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range c.Apps.Follow(ctx, appsvc.ChangesRequest{}) {
		if err == nil {
			t.Errorf("an entry: %+v", e)
		}
	}
	if !slices.Equal(after, []string{"", "x"}) {
		t.Errorf("it went on from %q", after)
	}
}

func TestFollowALibrary(t *testing.T) {
	service := assets.New(memory.New(), nil)
	h, err := httpapi.New(httpapi.Config{Assets: service, Authenticate: func(*http.Request) (httpapi.Principal, error) {
		return editor, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	defer server.CloseClientConnections()
	c, err := client.New(client.Config{URL: server.URL, Token: client.Static("x"), MaxWait: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	lib := assets.Library{Network: "example.test", ID: "example.test"}
	by := vitrine.Caller{URN: editor.URN, Moderates: editor.Moderates}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	add := func(n int) {
		in := assets.ChangeAssetsRequest{
			Add: []assets.NewAsset{{ID: fmt.Sprint(n), Generator: assets.Generator{ID: "g"},
				Content: []byte(`{"content":"x"}`)}}}
		if _, err := service.As(by).ChangeAssets(ctx, lib, in); err != nil {
			t.Error(err)
		}
	}
	add(0)
	n := 0
	for e, err := range c.Assets.Follow(ctx, lib, vitrine.ChangesRequest{}) {
		if err != nil || len(e.Added) != 1 || e.By != editor.URN || e.At == 0 {
			t.Fatalf("%+v, %v", e, err)
		}
		if n++; n == 5 {
			break
		}
		if n == 3 {
			server.CloseClientConnections()
		}
		add(n)
	}
	near, err := service.As(by).Changes(ctx, lib, vitrine.ChangesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if far, err := c.Assets.Changes(ctx, lib, vitrine.ChangesRequest{}); err != nil || !reflect.DeepEqual(far, near) {
		t.Errorf("%+v, %v, want %+v", far, err, near)
	}
	_, err = c.Assets.Changes(ctx, lib, vitrine.ChangesRequest{After: "none"})
	if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Kind != vitrine.ErrInvalid || e.Parameter != "after" {
		t.Error(err)
	}
}
