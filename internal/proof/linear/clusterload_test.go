//go:build proof && linux

package linear

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const (
	processes      = 4 // of Vitrine
	writers        = 6
	shared         = 3   // apps that the writers patch at a time
	longLife       = 200 // versions that an app gets before another takes its place
	clusterNetwork = "urn:vitrine:example.test"
	editor         = clusterNetwork + ":user=editor"
	tag            = "live" // is put on versions of every app
)

// load is writers and followers on some processes of Vitrine.
type load struct {
	servers [processes]*program.Server
	token   string
	http    *http.Client
	begun   time.Time
	writing sync.WaitGroup
	stop    context.CancelFunc
	ended   chan struct{} // closed when no more is written

	mu     sync.Mutex
	h      clusterHistory
	apps   [shared]string
	made   int                         // apps
	acks   [processes]int              // patches that each process has acknowledged
	count  map[Status]int              // answers to patches
	broken map[string]int              // answers that no client may get, and how often
	met    [processes]map[string][]int // by the follower of each process
}

// newLoad starts the processes, and writers and followers. db is what Vitrine gets as -db.
func newLoad(t *testing.T, binary, db string) *load {
	t.Helper()
	const key = "a key for this test, nothing more"
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := httpapi.NewTokens([]byte(key), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &load{http: &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}, begun: time.Now(),
		ended: make(chan struct{}), count: map[Status]int{}, broken: map[string]int{}}
	t.Cleanup(l.http.CloseIdleConnections)
	who := httpapi.Principal{Caller: vitrine.Caller{URN: editor, Moderates: []string{clusterNetwork}}}
	if l.token, err = tokens.Sign(who, time.Now().Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := program.StartServers(l.servers[:], binary, "serve", "-addr", "127.0.0.1:0", "-db", db, "-key-file", keyFile); err != nil {
		t.Fatal(err)
	}
	for _, s := range l.servers {
		t.Cleanup(s.Kill)
	}
	for i := range l.apps {
		l.create(i)
	}
	ctx, stop := context.WithCancel(t.Context())
	l.stop = stop
	for range writers {
		l.writing.Go(func() { l.write(ctx) })
	}
	var following sync.WaitGroup
	for i := range processes {
		l.met[i] = map[string][]int{}
		l.h.feeds = append(l.h.feeds, l.met[i])
		following.Go(func() { l.follow(t.Context(), i) })
	}
	t.Cleanup(func() {
		stop()
		l.writing.Wait()
		following.Wait()
	})
	return l
}

var (
	errDeclined = errors.New("refused")
	errUnknown  = errors.New("the outcome is unknown")
	errConflict = errors.New("another patch was first")
	errMissing  = errors.New("there is no such app or tag")
)

// ask sends a request to a process and decodes the answer.
func (l *load) ask(process int, method, path, key string, body, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(method, l.servers[process].URL+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.GetBody = nil // the transport may not send it again by itself
	r.Header.Set("Authorization", "Bearer "+l.token)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := l.http.Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnknown, err)
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		return fmt.Errorf("%w: %w", errUnknown, err)
	}
	switch answer.StatusCode {
	case http.StatusOK, http.StatusCreated:
		if err := json.Unmarshal(text, out); err != nil {
			l.breaks(fmt.Sprintf("%s answers %d with %q: %v", method, answer.StatusCode, text[:min(len(text), 500)], err))
			return fmt.Errorf("%w: %w", errUnknown, err)
		}
		return nil
	case http.StatusConflict:
		return errConflict
	case http.StatusServiceUnavailable:
		if strings.Contains(string(text), "unknown_outcome") {
			return errUnknown
		}
		return errDeclined
	}
	if answer.StatusCode == http.StatusNotFound && strings.HasSuffix(path, "/tagged/"+tag) {
		return errMissing
	}
	l.breaks(fmt.Sprintf("%s answers %d %s", method, answer.StatusCode, text))
	if answer.StatusCode == http.StatusNotFound {
		return errMissing
	}
	return errUnknown
}

// breaks notes something that may not happen.
func (l *load) breaks(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken[what]++
}

func (l *load) now() time.Duration { return time.Since(l.begun) }

// create makes an app, which takes a place among those that are written to.
func (l *load) create(place int) {
	l.mu.Lock()
	l.made++
	n := l.made
	l.mu.Unlock()
	var app struct{ ID string }
	title := fmt.Sprintf("app %d", n)
	in := map[string]any{"title": title, "groups": []string{clusterNetwork}}
	for l.ask(rand.IntN(processes), "POST", "/apps/", fmt.Sprint("app-", n), in, &app) != nil {
		time.Sleep(50 * time.Millisecond)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.apps[place] = app.ID
	if l.h.stored == nil {
		l.h.stored, l.h.begun = map[string][]string{}, map[string]*Version{}
	}
	l.h.begun[app.ID] = First(title, editor, 0)
	l.h.stored[app.ID] = nil // read in the end
}

// seen is an answer about versions of an app.
type seen struct {
	Apps []struct {
		Version, Title string
		UpdatedAt      int64
		UpdatedBy      struct{ URN string }
	}
	Tags []struct{ AppVersion string }
}

// write reads apps, patches them and tags their versions until the load ends. It reads an app before it changes it.
func (l *load) write(ctx context.Context) {
	who := rand.Uint64()
	for n := 0; ctx.Err() == nil; n++ {
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		place := rand.IntN(shared)
		l.mu.Lock()
		app := l.apps[place]
		l.mu.Unlock()
		out := l.act(app, Op{Kind: ReadLatest})
		if out.Status != Done || len(out.Apps) != 1 || out.Apps[0].Version < 0 { // clusterHistory.faults reports wrong answers
			continue
		}
		head := out.Apps[0].Version
		if head >= longLife {
			l.replace(place, app)
			continue
		}
		switch rand.IntN(8) {
		case 0:
			l.act(app, Op{Kind: PutTag, Version: rand.Int64N(head + 1)})
		case 1, 2:
			l.act(app, Op{Kind: ReadTagged})
		default:
			l.act(app, Op{Kind: Patch, Version: head, Title: fmt.Sprintf("%x-%d", who, n)})
		}
	}
}

// replace puts a new app in the place of one, unless somebody else does.
func (l *load) replace(place int, app string) {
	l.mu.Lock()
	first := l.apps[place] == app
	if first {
		l.apps[place] = l.apps[(place+1)%shared] // until there is a new one
	}
	l.mu.Unlock()
	if first {
		l.create(place)
	}
}

// act does something to an app, through any process, and notes it.
func (l *load) act(app string, o Op) Outcome {
	o.By, o.Key = editor, NoKey
	method, path, body := request(app, o)
	process := rand.IntN(processes)
	a := action{app: app, Op: o, call: l.now()}
	var answer seen
	err := l.ask(process, method, path, "", body, &answer)
	a.answer = l.now()
	a.Outcome = answer.outcome(err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.h.actions = append(l.h.actions, a)
	if o.Kind == Patch {
		l.count[a.Status]++
	}
	if _, ok := a.made(); ok {
		l.acks[process]++
	}
	return a.Outcome
}

// request is an operation as HTTP has it.
func request(app string, o Op) (method, path string, body any) {
	path = "/apps/" + app
	switch version := strconv.FormatInt(o.Version, 10); o.Kind {
	case Patch:
		return "PATCH", path, []map[string]string{
			{"op": "test", "path": "/apps/0/version", "value": version},
			{"op": "replace", "path": "/apps/0/title", "value": o.Title},
		}
	case PutTag:
		return "PUT", path + "/tags/" + tag, map[string]string{"appVersion": version}
	case ReadTagged:
		return "GET", path + "/tagged/" + tag, nil
	}
	return "GET", path, nil
}

// outcome is an answer, or the error instead of it, in the terms of the model.
func (s seen) outcome(err error) (out Outcome) {
	switch {
	case errors.Is(err, errDeclined):
		out.Status = Refused
	case errors.Is(err, errConflict):
		out.Status = Conflict
	case errors.Is(err, errMissing):
		out.Status = Absent
	case err != nil:
		out.Status = Unknown
	}
	for _, app := range s.Apps {
		out.Apps = append(out.Apps, SeenApp{Version: number(app.Version), Title: app.Title, By: app.UpdatedBy.URN, At: app.UpdatedAt})
	}
	for _, tag := range s.Tags {
		out.Tags = append(out.Tags, SeenTag{Version: number(tag.AppVersion)})
	}
	return out
}

// number returns the number of a version, -1 if it is none.
func number(version string) int64 {
	n, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// follow goes along with the feed of changes through one process, until it has met every version that was acknowledged.
func (l *load) follow(ctx context.Context, process int) {
	after, deadline := "", time.Time{}
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		select {
		case <-l.ended:
			if deadline.IsZero() {
				deadline = time.Now().Add(patience)
			}
			if l.complete(process) || time.Now().After(deadline) {
				return
			}
		default:
		}
		var page vitrine.ChangesPage[appsvc.Event]
		query := url.Values{"limit": {"500"}}
		if after != "" {
			query.Set("after", after)
		}
		if l.ask(process, "GET", "/x/changes?"+query.Encode(), "", nil, &page) != nil {
			continue
		}
		after = page.Next
		l.mu.Lock()
		for _, e := range page.Changes {
			if e.Type == appsvc.TagSet {
				continue
			}
			l.met[process][e.AppID] = append(l.met[process][e.AppID], int(e.Version.Number()))
		}
		l.mu.Unlock()
	}
}

// complete reports that a follower has met as many versions of each app as there are in the end.
func (l *load) complete(process int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for app, titles := range l.h.stored {
		if len(l.met[process][app]) < len(titles) {
			return false
		}
	}
	return true
}

// running returns an error unless all processes run that were started.
func (l *load) running() (err error) {
	for i, s := range l.servers {
		if dead := s.Signal(syscall.Signal(0)); dead != nil {
			err = errors.Join(err, fmt.Errorf("process %d has ended: %w: %s", i, dead, s.Log()))
		}
	}
	return err
}

// more returns an error until each process has acknowledged some more patches than before.
func (l *load) more(before [processes]int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, n := range l.acks {
		if n < before[i]+5 {
			return fmt.Errorf("process %d has acknowledged %d patches since", i, n-before[i])
		}
	}
	return nil
}

// acked is how many patches each process has acknowledged.
func (l *load) acked() [processes]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acks
}

// gap is the longest time without an acknowledged patch in what was after a moment.
func (l *load) gap(since time.Duration) (longest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var at []time.Duration
	for i := range l.h.actions {
		if _, ok := l.h.actions[i].made(); ok && l.h.actions[i].answer > since {
			at = append(at, l.h.actions[i].answer)
		}
	}
	slices.Sort(at)
	for _, next := range at {
		longest, since = max(longest, next-since), next
	}
	return longest
}

// end ends the load, reads all that is stored, and returns what is wrong.
func (l *load) end(t *testing.T) []string {
	t.Helper()
	l.stop()
	l.writing.Wait()
	for app := range l.h.stored {
		for _, kind := range []Kind{ReadLatest, ReadTagged} {
			l.act(app, Op{Kind: kind})
		}
		titles, err := l.read(app)
		if err != nil {
			t.Fatal(err)
		}
		l.mu.Lock()
		l.h.stored[app] = titles
		l.mu.Unlock()
	}
	close(l.ended)
	for i := range processes {
		deadline := time.Now().Add(patience)
		for !l.complete(i) && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	faults := l.h.faults()
	for what, n := range l.broken {
		faults = append(faults, fmt.Sprintf("%d times: %s", n, what))
	}
	if err := l.running(); err != nil {
		faults = append(faults, err.Error())
	}
	return faults
}

// read returns the titles of all versions of an app, none if the app is lost.
func (l *load) read(app string) (titles []string, err error) {
	before := ""
	for deadline := time.Now().Add(patience); ; {
		var page seen
		err := l.ask(rand.IntN(processes), "GET", "/apps/"+app+"/versions/?limit=500"+before, "", nil, &page)
		switch {
		case errors.Is(err, errMissing):
			return nil, nil
		case err != nil && time.Now().After(deadline):
			return nil, fmt.Errorf("the versions of app %s cannot be read: %w", app, err)
		case err != nil:
			time.Sleep(50 * time.Millisecond)
			continue
		}
		for _, v := range page.Apps {
			titles = append(titles, v.Title)
			before = "&before=" + v.Version
		}
		if len(page.Apps) < 500 {
			slices.Reverse(titles)
			return titles, nil
		}
	}
}
