package archive_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/memory"
)

var ctx = context.Background()

// storeWith returns a store with entries.
func storeWith(t testing.TB, entries map[string]string) storage.Store {
	t.Helper()
	db := memory.New()
	t.Cleanup(func() { db.Close() })
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		err := db.Update(ctx, storage.SpaceOf(key), storage.UpdateOptions{}, func(tx storage.Tx) error {
			return tx.Put(ctx, storage.Entry{Key: key, Value: []byte(entries[key])})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// entriesOf returns the entries of a store.
func entriesOf(t testing.TB, db storage.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := db.View(ctx, func(r storage.Reader) error {
		for e, err := range r.Scan(ctx, storage.Range{}) {
			if err != nil {
				return err
			}
			out[e.Key] = string(e.Value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func export(t testing.TB, db storage.Store, without ...string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := archive.Export(ctx, db, &out, without); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// oddEntries have every kind of key and value.
func oddEntries() map[string]string {
	all := map[string]string{
		"a k": "", "a l": "null", "a m": `{"a":[1,2.50,"\u0041<b>"]}`, "a n": " 1", "a o": "1\n", "a p": "{\n}",
		"a q": "\"\xff\"", "a r": `{"a":1,"a":2}`,
		"a s": "12", "a t": `"text"`, "a u": "\x00\xff", "a v": `{"a"`, "a w": `1,"value64":"AA=="`,
		"a \xff\xfe": "1", "a \"\\\x01\u2028<é😀": "{}", "a  ": "1", "b/c k": "true",
		"b/d k": strings.Repeat(`[`, 9999) + strings.Repeat(`]`, 9999),
		"b/e " + strings.Repeat("\x01", storage.MaxKey-4): "1",
		"c large": strings.Repeat("x", 3<<20),
	}
	for i := range 300 {
		all[fmt.Sprintf("many %04d", i)] = fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat("y", 10_000))
	}
	return all
}

func TestAnImportedStoreHasTheSameEntriesAndGivesTheSameArchive(t *testing.T) {
	all := oddEntries()
	from := storeWith(t, all)
	text := export(t, from)
	if again := export(t, from); again != text {
		t.Error("a second export differs")
	}
	for _, line := range []string{`{"vitrine":3}`, `{"key":"a m","value":{"a":[1,2.50,"\u0041<b>"]}}`,
		`{"key":"a k","value64":""}`, `{"key":"a l","value":null}`} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the archive has no line %s", line)
		}
	}
	to := &watched{Store: storeWith(t, nil)}
	n, err := archive.Import(ctx, to, strings.NewReader(text), nil)
	if err != nil || n != int64(len(all)) {
		t.Fatalf("%d entries, want %d: %v", n, len(all), err)
	}
	if !maps.Equal(entriesOf(t, to), all) {
		t.Error("the imported store has other entries")
	}
	if export(t, to) != text {
		t.Error("the imported store gives another archive")
	}
	if to.large != 1 || to.updates > 12 {
		t.Errorf("%d updates, %d of them with more than 1 MiB", to.updates, to.large)
	}
}

// watched counts updates, and those that put more than 1 MiB.
type watched struct {
	storage.Store
	updates, large int
}

func (w *watched) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	w.updates++
	return w.Store.Update(ctx, space, o, func(t storage.Tx) error {
		x := &watchedTx{Tx: t}
		err := fn(x)
		if x.bytes > 1<<20 {
			w.large++
			if !o.Large {
				err = errors.New("a large update does not say so")
			}
		}
		return err
	})
}

type watchedTx struct {
	storage.Tx
	bytes int
}

func (t *watchedTx) Put(ctx context.Context, entries ...storage.Entry) error {
	for _, e := range entries {
		t.bytes += len(e.Key) + len(e.Value)
	}
	return t.Tx.Put(ctx, entries...)
}

func TestSomeEntriesAreLeftOut(t *testing.T) {
	db := storeWith(t,
		map[string]string{"a log/1": "", "a log": "", "a logs/1": "", "b/x log/1": "", "b/x k": "", "b log/1": "",
			"c k": "", "c/d k": ""})
	if err := storage.EnsureIdentity(ctx, db); err != nil {
		t.Fatal(err)
	}
	without := archive.Without{"a log/", "b/* log/", "c "}
	text := export(t, db, without...)
	to := storeWith(t, nil)
	if _, err := archive.Import(ctx, to, strings.NewReader(text), without); err != nil {
		t.Fatal(err)
	}
	const want = `["a log" "a logs/1" "b log/1" "b/x k" "c/d k" "store name" "store secret"]`
	before, after := entriesOf(t, db), entriesOf(t, to)
	if got := slices.Sorted(maps.Keys(after)); fmt.Sprintf("%q", got) != want {
		t.Errorf("imported are %q", got)
	}
	const secret, name = "store secret", "store name"
	if after[secret] != before[secret] || after[name] == before[name] || len(after[name]) != len(before[name]) {
		t.Errorf("the identity %x %x is imported as %x %x", before[secret], before[name], after[secret], after[name])
	}
	if export(t, to, without...) != text {
		t.Error("the imported store gives another archive")
	}
	if line, err := archive.Line(ctx, db, "b/x k", without); err != nil ||
		strings.Split(text, "\n")[line-1] != `{"key":"b/x k","value64":""}` {
		t.Errorf("line %d, %v", line, err)
	}
	if _, err := archive.Import(ctx, storeWith(t, nil), strings.NewReader(export(t, db)), without); !errors.Is(err,
		archive.ErrDamaged) || !strings.Contains(err.Error(), `damaged archive: line 3: the key "a log/1"`) {
		t.Errorf("an archive with more: %v", err)
	}
	if _, err := archive.Import(ctx, db, strings.NewReader(text), without); !errors.Is(err, archive.ErrNotEmpty) {
		t.Errorf("into a store with entries: %v", err)
	}
}

// Whatever is cut off or changed, an archive is refused.
func TestAChangedArchiveIsRefused(t *testing.T) {
	text := export(t, storeWith(t, map[string]string{"a k": `{"n":1}`, "a l": "\xff", "b k": "2"}))
	try := func(damaged string) {
		t.Helper()
		if _, err := archive.Import(ctx, storeWith(t, nil), strings.NewReader(damaged), nil); !errors.Is(err,
			archive.ErrDamaged) {
			t.Errorf("%q: %v", damaged, err)
		}
	}
	for i := range text {
		if i < len(text)-1 { // without its last line end it is whole
			try(text[:i])
		}
		try(text[:i] + string(text[i]^4) + text[i+1:])
	}
	lines := strings.SplitAfter(text, "\n")
	for i := range lines[:len(lines)-1] {
		try(strings.Join(slices.Concat(lines[:i], lines[i+1:]), ""))
		try(strings.Join(slices.Concat(lines[:i], lines[i:i+1], lines[i:]), ""))
	}
	try(text + text)
}

// The sum is right, and the lines are not.
func TestAnArchiveThatNoExportWritesIsRefused(t *testing.T) {
	const header, good = `{"vitrine":3}`, `{"key":"b k","value":1}`
	for says, lines := range map[string][]string{
		"want {\"vitrine\":3}":                                         {`{"vitrine":4}`, good},
		"line 1: this is no archive":                                   {good},
		"damaged archive: line 3: the key \"a k\" comes after \"b k\"": {header, good, `{"key":"a k","value":1}`},
		"the key \"b k\" comes after \"b k\"":                          {header, good, good},
		"damaged archive: line 2: want a key and a value":              {header, `{"key":"b k"}`},
		"want a key and a value, each once": {header,
			`{"key":"b k","value":1,"value64":""}`},
		"each once":                               {header, `{"key":"b k","key64":"","value":1}`},
		"can be in no store":                      {header, `{"key":"bk","value":1}`},
		"of 1025 bytes":                           {header, `{"key":"b ` + strings.Repeat("k", 1023) + `","value":1}`},
		"belongs into no archive":                 {header, `{"key":"store name","value":1}`},
		"\"store other\" belongs into no archive": {header, `{"key":"store other","value":1}`},
		"the secret has 1 bytes, want 32":         {header, `{"key":"store secret","value":1}`},
		"line 2: json: unknown field":             {header, `{"key":"b k","value":1,"other":1}`},
		"something follows the object":            {header, good + `{}`},
		"line 2: unexpected EOF":                  {header, `{`},
		"line 2: illegal base64":                  {header, `{"key":"b k","value64":"?"}`},
	} {
		text := strings.Join(lines, "\n") + "\n"
		text += fmt.Sprintf("{\"entries\":%d,\"sha256\":\"%x\"}\n", len(lines)-1, sha256.Sum256([]byte(text)))
		if _, err := archive.Import(ctx, storeWith(t, nil), strings.NewReader(text), nil); !errors.Is(err,
			archive.ErrDamaged) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", lines, err, says)
		}
	}
}

var errDisk = errors.New("the disk is gone")

// failing fails after some bytes, as a reader and as a writer.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

func (f *failing) Read(p []byte) (int, error) { return 0, errDisk }

func TestErrorsOfFilesAndStoresArePassedOn(t *testing.T) {
	db := storeWith(t, oddEntries())
	text := export(t, db)
	for _, left := range []int{0, len(text) / 2, len(text) - 1} {
		if _, err := archive.Export(ctx, db, &failing{left}, nil); !errors.Is(err, errDisk) {
			t.Errorf("a writer that fails after %d bytes: %v", left, err)
		}
		_, err := archive.Import(ctx, storeWith(t, nil), io.MultiReader(strings.NewReader(text[:left]), &failing{}),
			nil)
		if !errors.Is(err, errDisk) || errors.Is(err, archive.ErrDamaged) {
			t.Errorf("a reader that fails after %d bytes: %v", left, err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := archive.Export(ended, db, io.Discard, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an export that is cancelled: %v", err)
	}
	closed := memory.New()
	closed.Close()
	if _, err := archive.Import(ctx, closed, strings.NewReader(text), nil); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("into a closed store: %v", err)
	}
}

// endless has so many entries, which it makes as they are read, and forgets what is put.
type endless struct {
	storage.Store
	entries int
	peak    uint64
}

func (s *endless) View(_ context.Context, fn func(storage.Reader) error) error {
	return fn(endlessReader{s: s})
}

func (s *endless) Update(context.Context, string, storage.UpdateOptions, func(storage.Tx) error) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.peak = max(s.peak, m.HeapAlloc)
	return nil
}

type endlessReader struct {
	storage.Reader
	s *endless
}

func (r endlessReader) Spaces(context.Context, string) iter.Seq2[string, error] {
	return func(func(string, error) bool) {}
}

func (r endlessReader) Scan(context.Context, ...storage.Range) iter.Seq2[storage.Entry, error] {
	value := bytes.Repeat([]byte("x"), 10_000)
	return func(yield func(storage.Entry, error) bool) {
		for i := range r.s.entries {
			if !yield(storage.Entry{Key: fmt.Sprintf("a %09d", i), Value: value}, nil) {
				return
			}
		}
	}
}

func TestMemoryDoesNotGrowWithTheArchive(t *testing.T) {
	s := &endless{entries: 5000} // 50 MB
	in, out := io.Pipe()
	go func() {
		_, err := archive.Export(ctx, s, out, nil)
		out.CloseWithError(err)
	}()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	if n, err := archive.Import(ctx, s, in, nil); err != nil || n != int64(s.entries) {
		t.Fatalf("%d, %v", n, err)
	}
	if grown := int64(s.peak) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("%d bytes were in use", grown)
	}
}
