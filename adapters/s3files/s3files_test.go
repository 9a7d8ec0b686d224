package s3files_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/s3files"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/assets/filestest"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

var keys = s3files.Keys{ID: "AKIATEST", Secret: "a-secret"}

// server is an S3 server with the bucket photos. before, unless it is nil, sees each request first, and reports
// whether it has answered it.
type server struct {
	*httptest.Server
	before atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
}

func newServer(t testing.TB, tls bool) *server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("photos"); err != nil {
		t.Fatal(err)
	}
	s, fake := &server{}, gofakes3.New(backend).Server()
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before := s.before.Load(); before == nil || !(*before)(w, r) {
			fake.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	if !tls {
		s.Start()
		return s
	}
	s.StartTLS()
	file := filepath.Join(t.TempDir(), "cert.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file)
	return s
}

func (s *server) address(path string) string {
	return "s3://photos" + path + "?region=eu-central-1&endpoint=" + s.URL
}

func (s *server) open(t testing.TB, path string) *s3files.Files {
	t.Helper()
	f, err := s3files.Open(t.Context(), s.address(path), keys)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFiles(t *testing.T) {
	for _, path := range []string{"", "/a/prefix"} {
		t.Run("photos"+path, func(t *testing.T) {
			filestest.Run(t, func(t testing.TB) assets.Files { return newServer(t, true).open(t, path) })
		})
	}
}

// What has another prefix is not of these Files.
func TestPrefixesAreApart(t *testing.T) {
	s := newServer(t, false)
	one, other := s.open(t, "/one"), s.open(t, "/other")
	if err := other.Put(t.Context(), "1-1", 1, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	for f, err := range one.List(t.Context()) {
		t.Errorf("%v, %v", f, err)
	}
	if err := one.Delete(t.Context(), "1-1"); err != nil {
		t.Error(err)
	}
	names := 0
	for f, err := range other.List(t.Context()) {
		if names++; err != nil || f.Name != "1-1" {
			t.Errorf("%v, %v", f, err)
		}
	}
	if names != 1 {
		t.Errorf("%d names are left", names)
	}
}

// An error of the network or of the server may be repeated, and is never an absent file. It names the bucket and the
// endpoint, and neither keys nor objects.
func TestErrors(t *testing.T) {
	const name = "0123456789abcdef0123456789abcdef-0123456789abcdef"
	answer := func(status int, code string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>It is so.</Message><Key>%s</Key></Error>", code, r.URL.Path)
			return true
		}
	}
	for what, test := range map[string]struct {
		before func(http.ResponseWriter, *http.Request) bool // nil = the server is gone
		want   error
		says   string
	}{
		"no server": {nil, storage.ErrBusy, "connection refused"},
		"cut": {func(http.ResponseWriter, *http.Request) bool {
			panic(http.ErrAbortHandler)
		}, storage.ErrBusy,
			"Connection closed"},
		"no bucket":     {answer(404, "NoSuchBucket"), storage.ErrBusy, "NoSuchBucket: It is so."},
		"other keys":    {answer(403, "AccessDenied"), storage.ErrBusy, "AccessDenied: It is so."},
		"overload":      {answer(503, "SlowDown"), storage.ErrBusy, "SlowDown: It is so."},
		"full":          {answer(507, "XMinioStorageFull"), storage.ErrFull, "XMinioStorageFull: It is so."},
		"quota":         {answer(403, "QuotaExceeded"), storage.ErrFull, "QuotaExceeded: It is so."},
		"absent object": {answer(404, "NoSuchKey"), fs.ErrNotExist, "NoSuchKey: It is so."},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, false)
			f := s.open(t, "/p")
			if test.before == nil {
				s.Close()
			} else {
				s.before.Store(&test.before)
			}
			r, err := f.Open(t.Context(), name, 0, 9)
			if err == nil {
				_, err = r.Read(make([]byte, 9))
			}
			errs := map[string]error{"Open": err}
			if test.want != fs.ErrNotExist {
				errs["Put"] = f.Put(t.Context(), name, 9, strings.NewReader("some text"))
				errs["Put in parts"] = f.Put(t.Context(), name, 20<<20, bytes.NewReader(make([]byte, 20<<20)))
				errs["Delete"] = f.Delete(t.Context(), name)
				for _, err := range f.List(t.Context()) {
					errs["List"] = err
				}
			}
			for method, err := range errs {
				if !errors.Is(err, test.want) || test.want == storage.ErrBusy && errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v, want %v", method, err, test.want)
					continue
				}
				said := err.Error()
				if !strings.HasPrefix(said, "bucket photos at "+s.URL+": ") || !strings.Contains(said, test.says) ||
					strings.Contains(said, name) || strings.Contains(said, keys.ID) ||
					strings.Contains(said, keys.Secret) {
					t.Errorf("%s says %q", method, said)
				}
			}
		})
	}
}

// A request that fails once is repeated, with all of its bytes.
func TestRequestsAreRepeated(t *testing.T) {
	s := newServer(t, true)
	f := s.open(t, "")
	want := bytes.Repeat([]byte("0123456789abcdef"), 20<<16)
	seen := sync.Map{}
	before := func(w http.ResponseWriter, r *http.Request) bool {
		kind := r.Method + r.URL.String() + r.Header.Get("Range")
		if r.Method == "PUT" {
			kind = "PUT" // all parts are put again
		}
		if _, again := seen.LoadOrStore(kind, true); again || r.URL.Query().Has("uploads") ||
			r.Method == "POST" && r.URL.Query().Has("uploadId") {
			return false
		}
		_, _ = io.CopyN(io.Discard, r.Body, 100_000)
		w.WriteHeader(503)
		return true
	}
	s.before.Store(&before)
	if err := f.Put(t.Context(), "1-1", int64(len(want)), bytes.NewReader(want)); err != nil {
		t.Fatal(err)
	}
	r, err := f.Open(t.Context(), "1-1", 5, int64(len(want))-5)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || !bytes.Equal(b, want[5:]) {
		t.Errorf("%d other bytes, %v", len(b), err)
	}
	if err := f.Delete(t.Context(), "1-1"); err != nil {
		t.Error(err)
	}
	for one, err := range f.List(t.Context()) {
		t.Errorf("%v, %v", one, err)
	}
}

// Open says what is wrong, and whether it is worth another try.
func TestOpenSaysWhatIsWrong(t *testing.T) {
	s := newServer(t, false)
	at := "?endpoint=" + s.URL
	for address, says := range map[string]string{
		"":                                    "want s3://BUCKET?endpoint=URL&region=REGION",
		"photos":                              "want s3://BUCKET",
		"s3://":                               "want s3://BUCKET",
		"https://photos" + at:                 "want s3://BUCKET",
		"s3://photos#x":                       "want s3://BUCKET",
		"s3://photos?a;b":                     "want s3://BUCKET",
		"s3://AKIATEST:a-secret@photos":       "keys are not a part of the address",
		"s3://AKIATEST:a-secret%zz@photos":    "this is no URL",
		"s3://photos?Region=x":                `there is no parameter "Region"`,
		"s3://photos?endpoint=s3.example":     "endpoint: want a URL",
		"s3://photos?endpoint=https://x/path": "endpoint: want a URL",
		"s3://photos?endpoint=https://a:b@x":  "endpoint: want a URL",
		"s3://x" + at:                         "bucket x at " + s.URL + ": ",
		"s3://other" + at:                     "bucket other at " + s.URL + ": NoSuchBucket",
		"s3://other/p" + at + "&region=x":     "bucket other at " + s.URL + ": NoSuchBucket",
	} {
		_, err := s3files.Open(t.Context(), address, keys)
		if err == nil || !strings.Contains(err.Error(), says) || errors.Is(err, storage.ErrBusy) ||
			strings.Contains(err.Error(), keys.Secret) {
			t.Errorf("%s: %v, want %q", address, err, says)
		}
	}
	for _, none := range []s3files.Keys{{}, {ID: "x"}, {Secret: "x"}} {
		if _, err := s3files.Open(t.Context(), s.address(""), none); err == nil ||
			err.Error() != "the keys for bucket photos are missing" {
			t.Errorf("%+v: %v", none, err)
		}
	}
	s.Close()
	if _, err := s3files.Open(t.Context(), s.address(""), keys); !errors.Is(err, storage.ErrBusy) {
		t.Errorf("without a server: %v", err)
	}
}

// However long bytes are, Put and Open take little memory.
func TestMemory(t *testing.T) {
	s := newServer(t, false)
	f := s.open(t, "")
	const size, most = 160 << 20, 4 << 20
	var first, held atomic.Uint64 // bytes of what is in use, before a call and amid it
	measure := func() {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		first.CompareAndSwap(0, m.HeapAlloc)
		held.Store(max(held.Load(), m.HeapAlloc))
	}
	discard := func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == "PUT":
			_, _ = io.CopyN(io.Discard, r.Body, 8<<20)
			measure()
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Etag", `"x"`)
		case r.Method == "GET":
			w.Header().Set("Content-Length", "4194304")
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			w.WriteHeader(206)
			_, _ = io.CopyN(w, zeros{}, 2<<20)
			measure()
			_, _ = io.CopyN(w, zeros{}, 2<<20)
		case r.URL.Query().Has("uploads"):
			fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
		default:
			fmt.Fprint(w, "<CompleteMultipartUploadResult><Bucket>photos</Bucket></CompleteMultipartUploadResult>")
		}
		return true
	}
	s.before.Store(&discard)
	for what, do := range map[string]func() error{
		"Put": func() error { return f.Put(t.Context(), "1-1", size, io.LimitReader(zeros{}, size)) },
		"Open": func() error {
			r, err := f.Open(t.Context(), "1-1", 0, size)
			if err != nil {
				return err
			}
			n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, make([]byte, 32<<10))
			if n != size {
				err = errors.Join(err, fmt.Errorf("%d bytes", n))
			}
			return errors.Join(err, r.Close())
		},
	} {
		first.Store(0)
		held.Store(0)
		measure()
		if err := do(); err != nil {
			t.Fatal(what, err)
		}
		took := held.Load() - first.Load()
		if t.Logf("%s of %d bytes takes %d", what, size, took); took > most {
			t.Errorf("%s takes %d bytes, at most %d are allowed", what, took, most)
		}
	}
}

// zeros yields zeros without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// library is a library whose files are in a bucket.
type library struct {
	*assets.Service
	t     *testing.T
	s     *server
	files *s3files.Files
	db    storage.Store
	now   time.Time
}

var (
	lib = assets.Library{Network: "n.test", ID: "n.test"}
	by  = vitrine.Caller{URN: "urn:vitrine:n.test:user=a", Moderates: []string{"urn:vitrine:n.test"}}
)

func newLibrary(t *testing.T) *library {
	l := &library{t: t, s: newServer(t, false), db: memory.New(), now: time.Now()}
	l.files = l.s.open(t, "")
	l.Service = assets.New(l.db, &assets.Options{Files: l.files, Now: func() time.Time { return l.now }})
	return l
}

// upload adds a picture of 700 pixels, which has two smaller ones.
func (l *library) upload() assets.Asset {
	l.t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 700, 350)), nil); err != nil {
		l.t.Fatal(err)
	}
	a, err := l.As(by).Upload(l.t.Context(), lib, assets.UploadRequest{Name: "a.jpg"}, &b)
	if err != nil {
		l.t.Fatal(err)
	}
	return a
}

func (l *library) remove(a assets.Asset) {
	l.t.Helper()
	if _, err := l.As(by).ChangeAssets(l.t.Context(), lib,
		assets.ChangeAssetsRequest{Remove: []string{a.ID}}); err != nil {
		l.t.Fatal(err)
	}
}

// objects fails the test unless there are so many names in the bucket, and so many faults in the store.
func (l *library) objects(when string, want, faults int) {
	l.t.Helper()
	n := 0
	for _, err := range l.files.List(l.t.Context()) {
		if err != nil {
			l.t.Fatal(err)
		}
		n++
	}
	for fault, err := range assets.Maintenance(assets.Limits{}, l.files).Audit(l.t.Context(), clocked{l.db, l}) {
		if faults--; err != nil || faults < 0 {
			l.t.Errorf("%s: %v, %v", when, fault, err)
		}
	}
	if n != want || faults > 0 {
		l.t.Errorf("%s there are %d objects, want %d, and %d faults are not told", when, n, want, faults)
	}
}

// clocked is a store with the clock of a library.
type clocked struct {
	storage.Store
	l *library
}

func (c clocked) Defaults() storage.Defaults {
	return storage.Defaults{Now: func() time.Time { return c.l.now }}
}

func TestALibraryInABucket(t *testing.T) {
	ctx := t.Context()
	l := newLibrary(t)
	a := l.upload()
	l.objects("after an upload", 3, 0)

	// Removing takes the objects along, and is tried again until it succeeds.
	gone := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Has("delete") {
			w.WriteHeader(403)
		}
		return r.URL.Query().Has("delete")
	}
	l.s.before.Store(&gone)
	l.remove(a)
	if err := l.Upkeep(ctx); !errors.Is(err, storage.ErrBusy) {
		t.Errorf("a deletion that is refused: %v", err)
	}
	l.objects("while nothing can be deleted", 3, 0)
	l.s.before.Store(nil)
	if err := l.Upkeep(ctx); err != nil {
		t.Error(err)
	}
	l.objects("after the next sweep", 0, 0)

	// What a kill leaves: whole bytes and those of a Put that has not ended, without a record.
	l.upload()
	id := strings.Repeat("0123456789abcdef", 2)
	if err := l.files.Put(ctx, id+"-0123456789abcdef", 9, strings.NewReader("some text")); err != nil {
		t.Fatal(err)
	}
	r, err := http.Post(l.s.URL+"/photos/"+id+"-fedcba9876543210?uploads", "", nil)
	if err != nil || r.StatusCode != 200 {
		t.Fatal(r, err)
	}
	_ = r.Body.Close()
	if err := l.files.Put(ctx, "not-ours", 9, strings.NewReader("some text")); err != nil { // stays
		t.Fatal(err)
	}
	l.now = l.now.Add(23 * time.Hour)
	if err := l.Upkeep(ctx); err != nil {
		t.Error(err)
	}
	l.objects("before a day is over", 6, 0)
	l.now = l.now.Add(2 * time.Hour)
	l.objects("a day later", 6, 2)
	if err := l.Upkeep(ctx); err != nil {
		t.Error(err)
	}
	l.objects("once that is swept", 4, 0)

	// A record without bytes is a fault, and bytes that cannot be read are none.
	for one := range l.files.List(ctx) {
		if strings.HasSuffix(one.Name, "-320") {
			err = l.files.Delete(ctx, one.Name)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	l.objects("without the smallest picture", 3, 1)
	l.s.Close()
	for fault, err := range assets.Maintenance(assets.Limits{}, l.files).Audit(ctx, l.db) {
		if !errors.Is(err, storage.ErrBusy) {
			t.Errorf("without a server: %v, %v", fault, err)
		}
	}
	_, err = l.As(by).Upload(ctx, lib, assets.UploadRequest{}, strings.NewReader("%PDF-1.7\n"))
	if !errors.Is(err, vitrine.ErrBusy) {
		t.Errorf("an upload without a server: %v", err)
	}
}
