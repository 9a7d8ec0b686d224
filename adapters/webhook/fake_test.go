package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// fakeSource is a source whose feeds are lists.
type fakeSource struct {
	label string

	mu       sync.Mutex
	lists    map[string][]change
	identity string
	removed  int // entries at the beginning of each list that are not kept
	fails    error
	reads    int
	wake     chan struct{}
}

func newFakeSource(label string, lists ...string) *fakeSource {
	s := &fakeSource{label: label, lists: map[string][]change{}, identity: "one", wake: make(chan struct{})}
	for _, l := range lists {
		s.lists[l] = nil
	}
	return s
}

func (s *fakeSource) changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wake
}

// feeds returns the lists; one named assets/X/… is that of the network urn:v:X.
func (s *fakeSource) feeds(_ context.Context, e Endpoint) (out []feed, err error) {
	if s.label == "apps" && !e.wantsApps() || s.label == "assets" && !e.wants(assets.EventType) {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.lists {
		if of := strings.Split(name, "/"); len(of) > 1 && e.Groups != nil && !e.covers([]string{"urn:v:" + of[1]}) {
			continue
		}
		out = append(out,
			feed{name, func(_ context.Context, after string, _ Endpoint) (page, error) { return s.read(name, after) }})
	}
	return out, nil
}

func (s *fakeSource) cursor(n int) string { return s.identity + "-" + strconv.Itoa(n) }

func (s *fakeSource) read(name, after string) (page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.fails != nil {
		return page{}, s.fails
	}
	list, from := s.lists[name], s.removed
	switch after {
	case "":
	case vitrine.Now:
		from = len(list)
	default:
		identity, number, _ := strings.Cut(after, "-")
		n, err := strconv.Atoi(number)
		if err != nil || identity != s.identity || n < s.removed {
			return page{}, fmt.Errorf("%w: %q", errGone, after)
		}
		from = n
	}
	to := min(from+3, len(list)) // short pages
	return page{list[from:to], s.cursor(to), to < len(list)}, nil
}

// add appends a change whose data is a number, and wakes those who wait.
func (s *fakeSource) add(list, kind string, number int, groups ...string) {
	s.addAt(time.Now(), list, kind, number, groups...)
}

func (s *fakeSource) addAt(at time.Time, list, kind string, number int, groups ...string) {
	s.addUnheard(at, list, kind, number, groups...)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.wake)
	s.wake = make(chan struct{})
}

// addUnheard appends a change and wakes nobody, as when a notification is lost.
func (s *fakeSource) addUnheard(at time.Time, list, kind string, number int, groups ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := change{Type: kind, At: at, Groups: groups, Data: fmt.Appendf(nil, `{"n":%d}`, number)}
	c.Cursor = s.cursor(len(s.lists[list]) + 1)
	s.lists[list] = append(s.lists[list], c)
}

// move appends a change of a tag, by a release unless that is "".
func (s *fakeSource) move(kind string, number int, tag, release string, groups ...string) {
	s.addUnheard(time.Now(), "apps", kind, number, groups...)
	s.mu.Lock()
	defer s.mu.Unlock()
	last := &s.lists["apps"][len(s.lists["apps"])-1]
	last.Tag, last.Release = tag, release
	close(s.wake)
	s.wake = make(chan struct{})
}

// found makes an empty list.
func (s *fakeSource) found(list string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists[list] = nil
}

// readsSoFar returns how many pages were read since it was last called.
func (s *fakeSource) readsSoFar() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.reads
	s.reads = 0
	return n
}

// reset gives the feed a new identity, as a copy of the store has.
func (s *fakeSource) reset(identity string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identity = identity
	for _, list := range s.lists {
		for i := range list {
			list[i].Cursor = s.cursor(i + 1)
		}
	}
	close(s.wake)
	s.wake = make(chan struct{})
}

// delivery is a request that a receiver got.
type delivery struct {
	host, id, kind string
	n              int
	batch          string // the numbers of a batch, and whether it is truncated
	header         http.Header
	at             time.Time
}

// receivers is a RoundTripper: it plays all receivers.
type receivers struct {
	t      *testing.T
	mu     sync.Mutex
	got    []delivery
	answer func(d delivery) (status int, err error) // nil = 204
}

func (r *receivers) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		r.t.Error(err)
	}
	var in struct {
		Type, Timestamp string
		Data            struct {
			N         int
			Changes   []struct{ Data struct{ N int } }
			Truncated bool
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		r.t.Errorf("%s: %v", body, err)
	}
	d := delivery{host: request.URL.Host, id: request.Header.Get("webhook-id"), kind: in.Type, n: in.Data.N,
		header: request.Header, at: time.Now()}
	for _, c := range in.Data.Changes {
		d.batch += fmt.Sprint(c.Data.N, " ")
	}
	if in.Data.Truncated {
		d.batch += "truncated"
	}
	r.mu.Lock()
	r.got = append(r.got, d)
	answer := r.answer
	r.mu.Unlock()
	status := 204
	if answer != nil {
		if status, err = answer(d); err != nil {
			<-request.Context().Done() // err stands for a receiver that never answers
			return nil, request.Context().Err()
		}
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")),
		Request: request}, nil
}

func (r *receivers) set(answer func(d delivery) (int, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// take returns what came so far, as "host:number", by host, and forgets it.
func (r *receivers) take() string {
	var out []string
	got := r.all()
	slices.SortStableFunc(got, func(a, b delivery) int { return strings.Compare(a.host, b.host) })
	for _, d := range got {
		out = append(out, fmt.Sprintf("%s:%d", d.host, d.n))
	}
	return strings.Join(out, " ")
}

func (r *receivers) all() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.got
	r.got = nil
	return out
}

var errSilent = errors.New("never answers")

// fixture is a store, two sources and receivers.
type fixture struct {
	t      *testing.T
	store  storage.Store
	apps   *fakeSource
	assets *fakeSource
	to     *receivers
	log    *syncBuffer

	observer func(Attempt)
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, store: memory.New(), apps: newFakeSource("apps", "apps"), assets: newFakeSource("assets"),
		to: &receivers{t: t}, log: &syncBuffer{}}
	return f
}

// record returns a record as it is stored.
func (f *fixture) record(key string) (text string) {
	f.t.Helper()
	if err := f.store.View(f.t.Context(), func(r storage.Reader) error {
		values, err := r.Get(f.t.Context(), key)
		if err == nil {
			text = string(values[0])
		}
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	return text
}

func (f *fixture) position(name string) string { return f.record(positionKey(name)) }

// holder returns the process that holds the lease.
func (f *fixture) holder() string { return holderOf(f.t, f.record(leaseKey)) }

func holderOf(t *testing.T, record string) string {
	var l struct{ Holder string }
	if err := json.Unmarshal([]byte(record), &l); err != nil {
		t.Fatal(err)
	}
	return l.Holder
}

// putRecord puts a record.
func putRecord(t *testing.T, db storage.Store, key string, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), space, storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.Put(t.Context(), storage.Entry{Key: key, Value: text})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// process is a Deliverer that runs.
type process struct {
	*Deliverer
	stop  context.CancelFunc
	ended chan struct{}
}

// start starts a process with these endpoints.
func (f *fixture) start(endpoints ...Endpoint) *process {
	f.t.Helper()
	return f.startOn(f.store, f.to, endpoints...)
}

func (f *fixture) startOn(store storage.Store, to http.RoundTripper, endpoints ...Endpoint) *process {
	f.t.Helper()
	d := New(store, Services{},
		&Options{Log: slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Observer: f.observer})
	d.sources, d.transport = []source{f.apps, f.assets}, to
	if err := d.Set(f.t.Context(), endpoints); err != nil {
		f.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &process{d, stop, make(chan struct{})}
	go func() {
		defer close(p.ended)
		if err := d.Run(ctx); err != nil {
			f.t.Error(err)
		}
	}()
	return p
}

func (p *process) end() {
	p.stop()
	<-p.ended
}

// to returns an endpoint whose name is its host.
func to(name string, change ...func(*Endpoint)) Endpoint {
	secret, err := ParseSecret(canary)
	if err != nil {
		panic(err)
	}
	e := Endpoint{Name: name, URL: "https://" + name + "/CANARY", Secrets: []Secret{secret}}
	for _, c := range change {
		c(&e)
	}
	return e
}

func of(types ...string) func(*Endpoint) { return func(e *Endpoint) { e.Types = types } }
func in(groups ...string) func(*Endpoint) {
	return func(e *Endpoint) { e.Groups = groups }
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// cancelable returns a context that does not end with the test.
func cancelable(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithoutCancel(t.Context()))
}
