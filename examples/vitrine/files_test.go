package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// bucket is a server of S3 with the bucket photos. While it is down, it answers each request with 503.
type bucket struct {
	*httptest.Server
	*s3mem.Backend
	down atomic.Bool
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	b := &bucket{Backend: s3mem.New()}
	if err := b.CreateBucket("photos"); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(b).Server()
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.down.Load() {
			w.WriteHeader(503)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(b.Close)
	return b
}

// objects returns how many objects the bucket has.
func (b *bucket) objects(t *testing.T) int {
	t.Helper()
	list, err := b.ListBucket("photos", nil, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Contents)
}

var bucketKeys = []string{bucketKey + "=id-of-the-key", bucketSecret + "=its-secret"}

func TestFilesInABucket(t *testing.T) {
	dir, b := t.TempDir(), newBucket(t)
	const library = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"
	in := "s3://photos/p?region=x&endpoint=" + b.URL
	s := start(t, dir, bucketKeys, "-db", "v.db", "-files", in)
	token := newToken(t, dir, nil, "-db", "v.db")
	body := "%PDF-1.7\n" + strings.Repeat("bytes of a file ", 30_000)
	added := s.do(token, "POST", library+"/files?name=a.pdf", body, 200)
	href := regexp.MustCompile(`"href":"([^"]+)"`).FindStringSubmatch(added)[1]
	id := regexp.MustCompile(`^{"asset":{"id":"([^"]+)"`).FindStringSubmatch(added)[1]
	if got := s.do("", "GET", href, "", 200); got != body {
		t.Errorf("%d other bytes", len(got))
	}
	b.down.Store(true)
	if said := s.do("", "GET", href, "", 503); !strings.Contains(said, `"code":"unavailable"`) {
		t.Errorf("while the bucket is down: %s", said)
	}
	s.do(token, "POST", library+"/files", body, 503)
	b.down.Store(false)
	s.do("", "GET", href, "", 200)
	if text, err := os.ReadFile(filepath.Join(dir, "v.db-wal")); err != nil ||
		strings.Contains(string(text), "bytes of a file bytes") || b.objects(t) != 1 {
		t.Errorf("the store has the bytes, or the bucket has %d objects: %v", b.objects(t), err)
	}

	vitrine := func(status int, says string, args ...string) {
		t.Helper()
		out := run(t, dir, bucketKeys, args...)
		if said := out.stdout + out.stderr; out.status != status || !strings.Contains(said, says) ||
			strings.Contains(said, "its-secret") {
			t.Errorf("%v: %+v, want %d and %q", args, out, status, says)
		}
	}
	vitrine(0, "nothing is wrong", "check", "-db", "v.db", "-files", in)
	vitrine(1, "they are missing", "check", "-db", "v.db")
	vitrine(0, "nothing is wrong", "check", "-db", "v.db", "-without-files")
	vitrine(2, "give one", "check", "-db", "v.db", "-files", in, "-without-files")
	b.down.Store(true)
	vitrine(2, "bucket photos at "+b.URL, "check", "-db", "v.db", "-files", in)
	b.down.Store(false)

	// What is made of the store has no bytes, and finds those in the bucket.
	vitrine(0, "exported", "export", "-db", "v.db", "-out", "archive")
	vitrine(0, "does not have: 1;", "import", "-db", "new.db", "archive")
	vitrine(0, "nothing is wrong", "check", "-db", "new.db", "-files", in)
	vitrine(0, "", "backup", "-db", "v.db", "copy.db")
	vitrine(1, "it is no whole copy", "restore", "-db", "restored.db", "copy.db")
	vitrine(0, "restored.db has what", "restore", "-db", "restored.db", "-without-files", "copy.db")
	vitrine(0, "nothing is wrong", "check", "-db", "restored.db", "-files", in)

	// Removing takes the object along within a minute.
	s.do(token, "POST", library+"/assets", `{"remove":["`+id+`"]}`, 200)
	s.do("", "GET", href, "", 404)
	for begun := time.Now(); b.objects(t) > 0; time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("the bytes of a removed file are in the bucket after a minute")
		}
	}
	vitrine(0, "nothing is wrong", "check", "-db", "v.db", "-files", in)
}

// serve starts only with a bucket that it can use, and says what is wrong. Another start helps where the server does
// not answer. Nothing is made before.
func TestServeWantsItsBucket(t *testing.T) {
	dir, b := t.TempDir(), newBucket(t)
	at := "?endpoint=" + b.URL
	for _, test := range []struct {
		address, says string
		env           []string
		status        int
	}{
		{"s3://photos" + at, "-files: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set", nil, 2},
		{"s3://photos" + at, "-files: AWS_ACCESS_KEY_ID and AWS_SECRET", bucketKeys[:1], 2},
		{"s3://other" + at, "-files: bucket other at " + b.URL + ": NoSuchBucket", bucketKeys, 2},
		{"photos", "-files: want s3://BUCKET", bucketKeys, 2},
		{"s3://id:its-secret@photos" + at, "-files: keys are not a part of the address", bucketKeys, 2},
		{"s3://photos?endpoint=http://127.0.0.1:1", "-files: bucket photos at http://127.0.0.1:1: ", bucketKeys, 1},
	} {
		out := run(t, dir, test.env, "serve", "-db", "v.db", "-addr", "127.0.0.1:0", "-files", test.address)
		if out.status != test.status || !strings.Contains(out.stderr, test.says) ||
			strings.Contains(out.stderr, "its-secret") {
			t.Errorf("%s: %+v, want %d and %q", test.address, out, test.status, test.says)
		}
	}
	out := run(t, dir, bucketKeys, "serve", "-db", "v.db", "-demo", "-files", "s3://photos"+at)
	if out.status != 2 || !strings.Contains(out.stderr, "-files: the sample data") {
		t.Errorf("with -demo: %+v", out)
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("%v, %v", made, err)
	}
}

// The bytes of files are in PostgreSQL as in any store: they are uploaded, served in parts, removed, and exported.
func TestFilesInPostgreSQL(t *testing.T) {
	cluster.Need(t)
	const library = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"
	db, dir, env := cluster.Schema(t), t.TempDir(), []string{"VITRINE_KEY=a key of a test of files, long enough"}
	s := start(t, dir, env, "-db", db)
	token := newToken(t, dir, env, "-db", db)
	body := "%PDF-1.7\n" + strings.Repeat("bytes of a file ", 160_000) // in three chunks
	var hrefs, ids [2]string
	for i := range hrefs {
		added := s.do(token, "POST", library+"/files?name=a.pdf", body, 200)
		hrefs[i] = regexp.MustCompile(`"href":"([^"]+)"`).FindStringSubmatch(added)[1]
		ids[i] = regexp.MustCompile(`^{"asset":{"id":"([^"]+)"`).FindStringSubmatch(added)[1]
	}
	r, err := http.NewRequest("GET", s.url+hrefs[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Range", "bytes=1048570-1048584")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	part, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusPartialContent || string(part) != body[1048570:1048585] {
		t.Errorf("a part at the border of chunks is %d %q, %v", answer.StatusCode, part, err)
	}
	s.do(token, "POST", library+"/assets", `{"remove":["`+ids[1]+`"]}`, 200)
	s.do("", "GET", hrefs[1], "", 404)
	for _, args := range [][]string{{"check", "-db", db}, {"export", "-db", db, "-out", "archive"},
		{"import", "-db", "new.db", "archive"}, {"check", "-db", "new.db"}} {
		if out := run(t, dir, nil, args...); out.status != 0 {
			t.Fatalf("%v: %+v", args, out)
		}
	}
	moved := start(t, dir, env, "-db", "new.db")
	if got := moved.do("", "GET", hrefs[0], "", 200); got != body {
		t.Errorf("%d other bytes after export and import", len(got))
	}
	moved.do("", "GET", hrefs[1], "", 404)
}
