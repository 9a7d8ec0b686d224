//go:build proof

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
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/proof/appmodel"
	"github.com/vitrine-go/vitrine/internal/proof/program"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

const signingKey = "a key for this test, nothing more"

// mortal is a server that is killed and started again at the same address.
type mortal struct {
	binary, db string
	url        string

	mu    sync.Mutex
	up    *program.Server
	lives int
	born  *sync.Cond
}

func newMortal(binary, db string) (*mortal, error) {
	m := &mortal{binary: binary, db: db}
	m.born = sync.NewCond(&m.mu)
	return m, m.start("127.0.0.1:0")
}

func (m *mortal) start(addr string) error {
	s, err := program.StartServer([]string{"VITRINE_KEY=" + signingKey}, m.binary, "serve", "-addr", addr, "-db", m.db)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.up = s
	if m.lives++; m.lives == 1 {
		m.url = s.URL // the same for every life, so clients read it without the lock
	}
	m.born.Broadcast()
	return nil
}

// kill kills the process and starts the next.
func (m *mortal) kill() error {
	m.up.Kill()
	return m.start(strings.TrimPrefix(m.url, "http://"))
}

// life returns the number of the present process, or of the next one after the life before.
func (m *mortal) life(before int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.lives == before {
		m.born.Wait()
	}
	return m.lives
}

// remote asks the server.
type remote struct {
	server *mortal
	tokens *httpapi.Tokens
	http   *http.Client
}

// answer is the body of any answer.
type answer struct {
	Apps []struct {
		ID, Version, Title string
		UpdatedAt          int64
		UpdatedBy          struct{ URN string }
		Elements           []struct{ Config json.RawMessage }
	}
	Tags  []struct{ AppID, Name, AppVersion string }
	Error string
}

// errCut is an answer that did not come, or not to its end.
var errCut = errors.New("no answer")

func (c remote) do(ctx context.Context, w *world, o appmodel.Op) (appmodel.Outcome, error) {
	life := c.server.life(0)
	out, err := c.answer(ctx, w, o)
	if errors.Is(err, errCut) {
		// What was cut off by the end of a process has taken effect by now, or never does: the
		// connection ends when the process has.
		c.server.life(life)
		return appmodel.Outcome{Status: appmodel.Unknown}, nil
	}
	return out, err
}

func (c remote) answer(ctx context.Context, w *world, o appmodel.Op) (appmodel.Outcome, error) {
	method, path, body := request(w, o)
	by := httpapi.Principal{URN: o.By, Moderates: []string{network}}
	if o.Kind == appmodel.ListApps {
		by = httpapi.Principal{URN: w.owner}
	}
	status, header, text, err := c.send(ctx, by, method, path, keyOf(w, o), body)
	if err != nil {
		return appmodel.Outcome{}, err
	}
	var a answer
	if len(text) > 0 {
		if err := json.Unmarshal(text, &a); err != nil {
			return appmodel.Outcome{}, err
		}
	}
	switch status {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
		return a.outcome(w, header.Get("Link") != "")
	case http.StatusNotFound:
		return appmodel.Outcome{Status: appmodel.Absent}, nil
	case http.StatusConflict:
		return appmodel.Outcome{Status: appmodel.Conflict}, nil
	}
	return appmodel.Outcome{}, fmt.Errorf("status %d: %s", status, a.Error)
}

// request is an operation as HTTP has it.
func request(w *world, o appmodel.Op) (method, path string, body []byte) {
	app, tag := "/apps/"+w.ids[o.App], tagName(o.Tag)
	switch o.Kind {
	case appmodel.Patch:
		return "PATCH", app, patchOf(o)
	case appmodel.Restore:
		return "POST", "/apps/versions/restore", fmt.Appendf(nil, `{"appId":"%s","appVersion":"%d"}`, w.ids[o.App], o.Version)
	case appmodel.PutTag:
		return "PUT", app + "/tags/" + tag, fmt.Appendf(nil, `{"appVersion":"%d"}`, o.Version)
	case appmodel.DeleteTag:
		return "DELETE", app + "/tags/" + tag, nil
	case appmodel.ReadVersion:
		return "GET", fmt.Sprintf("%s/versions/%d", app, o.Version), nil
	case appmodel.ReadTag:
		return "GET", app + "/tags/" + tag + "?embedApps=true", nil
	case appmodel.ReadTagged:
		return "GET", app + "/tagged/" + tag, nil
	case appmodel.ListVersions:
		if o.Version == appmodel.Latest {
			return "GET", fmt.Sprintf("%s/versions/?limit=%d", app, appmodel.Page), nil
		}
		return "GET", fmt.Sprintf("%s/versions/?limit=%d&before=%d", app, appmodel.Page, o.Version), nil
	case appmodel.ListTags:
		return "GET", app + "/tags/?embedApps=true", nil
	case appmodel.TagsNamed:
		return "GET", "/tags/" + tag + "?" + url.Values{"appId": w.ids[:]}.Encode(), nil
	case appmodel.ListApps:
		return "GET", "/apps/", nil
	}
	return "GET", app, nil
}

func (c remote) send(ctx context.Context, by httpapi.Principal, method, path, key string, body []byte) (int, http.Header, []byte, error) {
	token, err := c.tokens.Sign(by, time.Now().Add(time.Hour))
	if err != nil {
		return 0, nil, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.server.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	r.Header.Set("Authorization", "svctoken "+token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	r.GetBody = nil // the transport may not send it again by itself
	answer, err := c.http.Do(r)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("%w: %w", errCut, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("%w: %w", errCut, err)
	}
	return answer.StatusCode, answer.Header, text, nil
}

func (a answer) outcome(w *world, more bool) (appmodel.Outcome, error) {
	out := appmodel.Outcome{More: more}
	for _, app := range a.Apps {
		v, err := appsvc.ParseVersion(app.Version)
		if err != nil {
			return out, err
		}
		seen, err := w.sawApp(app.ID, v.Number(), app.UpdatedAt, app.UpdatedBy.URN, app.Title, app.Elements[0].Config)
		if err != nil {
			return out, err
		}
		out.Apps = append(out.Apps, seen)
	}
	for _, tag := range a.Tags {
		v, err := appsvc.ParseVersion(tag.AppVersion)
		if err != nil {
			return out, err
		}
		seen, err := w.sawTag(tag.AppID, tag.Name, v.Number())
		if err != nil {
			return out, err
		}
		out.Tags = append(out.Tags, seen)
	}
	return out, nil
}

// TestHistoriesWithKills makes histories over HTTP while the server is killed.
func TestHistoriesWithKills(t *testing.T) {
	binary, err := program.Build{Module: module, Package: "./examples/vitrine"}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	const perStore = 200
	var n tally
	kills := 0
	histories := count(overHTTP, 24)
	for begun := 0; begun < histories && !t.Failed(); begun += perStore {
		t.Run("", func(t *testing.T) {
			kills += withKills(t, binary, tokens, begun, min(histories, begun+perStore), &n)
		})
	}
	n.log(t)
	t.Logf("%d kills", kills)
	if n.unknown.Load() == 0 {
		t.Error("no operation was cut off: this shows nothing")
	}
}

// withKills makes the histories from one number up to another on a store of their own.
func withKills(t *testing.T, binary string, tokens *httpapi.Tokens, from, to int, n *tally) (kills int) {
	db := filepath.Join(t.TempDir(), "linear.db")
	worlds, err := prepare(t.Context(), db, from, to)
	if err != nil {
		t.Fatal(err)
	}
	server, err := newMortal(binary, db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { server.up.Kill() }()
	who := []client{remote{server, tokens, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(worlds) && !t.Failed(); i = int(next.Add(1)) - 1 {
				one(t, worlds[i], fmt.Sprintf("h%d", from+i), who, false, n)
			}
		})
	}
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	for {
		select {
		case <-ended:
			return kills
		case <-time.After(time.Duration(20+rand.IntN(300)) * time.Millisecond):
		}
		if err := server.kill(); err != nil {
			t.Fatal(err) // clients would wait for ever
		}
		kills++
	}
}

// prepare makes what histories are about.
func prepare(ctx context.Context, path string, from, to int) (worlds []*world, err error) {
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	svc := appsvc.New(db.Apps(), nil)
	if err := addComponent(ctx, svc); err != nil {
		return nil, err
	}
	for i := from; i < to; i++ {
		w, err := newWorld(ctx, svc, fmt.Sprintf("h%d", i))
		if err != nil {
			return nil, err
		}
		worlds = append(worlds, w)
	}
	return worlds, nil
}
