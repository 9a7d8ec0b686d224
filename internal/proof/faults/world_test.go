//go:build proof

package faults

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"

	_ "modernc.org/sqlite"
)

const (
	network = "faults.test"
	urn     = "urn:vitrine:" + network
	library = "/services/frontline/api/v4/assetManager//" + network + "/assetLibrary/" + network
)

// world is the whole service, from HTTP down to a SQLite file. Its ids and its clock are the same in
// every world, so that what one holds can be compared with what another holds, byte by byte.
type world struct {
	path    string
	db      *sqlite.DB
	handler http.Handler
	reviews *reviews.Service
	ids     atomic.Int64 // given so far
	clock   atomic.Int64 // milliseconds since the epoch
}

// openWorld opens the store at path and serves it. change, if not nil, puts something between.
func openWorld(path string, opts *sqlite.Options, change func(*world, storage.Store) storage.Store) (*world, error) {
	db, err := sqlite.Open(path, opts)
	if err != nil {
		return nil, err
	}
	w := &world{path: path, db: db}
	w.clock.Store(1_700_000_000_000)
	var store storage.Store = db
	if change != nil {
		store = change(w, db)
	}
	now := func() time.Time { return time.UnixMilli(w.clock.Load()) }
	newID := func() string { return fmt.Sprintf("id-%d", w.ids.Add(1)) }
	w.reviews = reviews.New(store, nil)
	w.handler, err = httpapi.New(httpapi.Config{
		// Now and then a change also removes old entries of the feed, which would be a call more or less.
		Apps: appsvc.New(store, &appsvc.Options{Now: now, NewID: newID, KeepChanges: -1}),
		Assets: assets.New(store,
			&assets.Options{Now: now, NewID: newID, KeepChanges: -1, Limits: assets.Limits{SearchTime: time.Minute}}),
		Reviews: w.reviews,
		Authenticate: func(*http.Request) (httpapi.Principal, error) {
			return httpapi.Principal{Caller: vitrine.Caller{URN: urn + ":user=editor", Moderates: []string{urn},
				Components: true}}, nil
		},
		// All changes are sent at once, by one caller.
		Limits: httpapi.Limits{Uploads: 100, UploadsOfNetwork: 100, UploadsOfCaller: 100},
		Log:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return w, nil
}

// answer is what a request is answered with.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request. Every attempt gets the same ids.
func (w *world) do(r request) answer {
	w.ids.Store(1000)
	return w.send(r)
}

func (w *world) send(r request) answer {
	in := httptest.NewRequest(r.method, "/", strings.NewReader(r.body))
	in.URL.Path, in.URL.RawQuery, _ = strings.Cut(r.path, "?")
	in.RequestURI = r.path
	in.Header.Set("Authorization", "svctoken token")
	in.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(in.URL.Path, "/x/reviews/import") {
		in.Header.Set("Content-Type", "application/x-ndjson") // as an identity that does not come from a token must
	}
	if r.key != "" {
		in.Header.Set("Idempotency-Key", r.key)
	}
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, in)
	return answer{out.Code, out.Header(), out.Body.String()}
}

// looks are requests that between them show all there is.
func looks(n names) []string {
	return []string{
		"/apps/?sort=-updatedAt", "/apps/?usingComponent=quiz", "/apps/" + n.app, "/apps/" + n.app + "/versions/",
		"/apps/" + n.app + "/versions/1",
		"/apps/" + n.app + "/tags/?embedApps=true", "/apps/" + n.app + "/tagged/production",
		"/tags/production?appId=" + n.app + "&appId=" + n.other,
		"/components/", "/components/quiz",
		library + "/assets?limit=500", library + "/assets?query=red", library + "/assets?query=cafe",
		library + "/assets?folderTree=" + n.folder,
		library + "/assets?tags=t&order=asc", library + "/asset/" + n.asset,
		library + "/folders", library + "/folders?path=/" + n.folder, library + "/folder/" + n.deleted,
		library + "/folder/" + n.folder + "/permissions",
		library + "/attributes?key=color",
	}
}

// shown is all that the service shows. A look that is answered with an error is one.
func (w *world) shown(n names) (string, error) {
	var out strings.Builder
	for _, path := range looks(n) {
		a := w.send(request{method: "GET", path: path})
		if a.status >= 500 {
			return "", fmt.Errorf("GET %s: %d %s", path, a.status, a.body)
		}
		fmt.Fprintf(&out, "%s %d %s\n", path, a.status, a.body)
	}
	ctx := context.Background()
	operator := vitrine.Caller{Operator: true}
	networks, err := w.reviews.Networks(ctx)
	if err != nil {
		return "", err
	}
	for _, network := range networks {
		fmt.Fprintf(&out, "reviews of %s\n", network)
		if err := w.reviews.As(operator).Export(ctx, network, &out); err != nil {
			return "", err
		}
		for s, err := range w.reviews.As(operator).AllCollections(ctx,
			reviews.ListCollectionsRequest{Network: network}) {
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&out, "%+v\n", s)
		}
	}
	return out.String(), nil
}

// rows returns all records of the file at path, as text, but for what two stores with the same content need not have
// alike: their feeds, the random number of a tree of folders, and the blocks of their indices, which check looks at.
func rows(path string) (out string, err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	const kind = "substr(key, instr(key, ' ') + 1)"
	var text strings.Builder
	err = everyRow(db, &text,
		"SELECT key, value FROM kv WHERE key NOT GLOB 'store *' AND "+kind+" NOT GLOB 't/*' AND "+kind+
			" NOT GLOB 'new/*' AND "+
			kind+" NOT GLOB 'index*' AND "+kind+" NOT GLOB 'b/*' AND "+kind+" NOT GLOB 'feed/*' AND "+kind+
			" NOT GLOB 'log/*' AND "+kind+" NOT GLOB 'name*' ORDER BY key")
	return trees.ReplaceAllString(text.String(), "tree"), err
}

// trees are the random numbers of trees of folders.
var trees = regexp.MustCompile(`"tree\\":-?\d+`)

func everyRow(db *sql.DB, out io.Writer, query string) error {
	r, err := db.Query(query)
	if err != nil {
		return err
	}
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		return err
	}
	values, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		places[i] = &values[i]
	}
	for r.Next() {
		if err := r.Scan(places...); err != nil {
			return err
		}
		fmt.Fprintf(out, "%q\n", values)
	}
	return r.Err()
}

// state is what the service shows and what the file holds.
func (w *world) state(n names) (string, error) {
	shown, err := w.shown(n)
	if err != nil {
		return "", err
	}
	held, err := rows(w.path)
	return shown + held, err
}

// differ names the first line in which two texts differ.
func differ(have, want string) string {
	a, b := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("there is\n%.2000s\nwant\n%.2000s", a[i], b[i])
		}
	}
	return fmt.Sprintf("there are %d lines, want %d", len(a), len(b))
}

// names are the ids of what a filled store holds.
type names struct{ app, other, folder, inner, deleted, asset, second string }

// filled is the file of a store that holds something of everything, and the names in it.
var filled = sync.OnceValues(func() ([]byte, names) {
	dir, err := os.MkdirTemp("", "vitrine-faults-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "filled.db")
	w, err := openWorld(path, nil, nil)
	if err != nil {
		panic(err)
	}
	n := fill(w)
	if err := w.db.Close(); err != nil {
		panic(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return content, n
})

// newFile puts a filled store into a directory of its own.
func newFile(t testing.TB) (string, names) {
	t.Helper()
	content, n := filled()
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, n
}

// must sends a request that has to be answered with a status, and decodes the answer.
func (w *world) must(status int, r request) (out struct {
	ID      string
	Added   []struct{ ID string }
	Folders []struct{ ID string }
}) {
	a := w.send(r)
	if a.status != status {
		panic(fmt.Sprintf("%s %s: %d %s", r.method, r.path, a.status, a.body))
	}
	if a.body != "" && json.NewDecoder(bytes.NewReader([]byte(a.body))).Decode(&out) != nil {
		panic("no JSON: " + a.body)
	}
	return out
}
