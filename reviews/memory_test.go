package reviews_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// The long form: go test ./reviews -run FlatMemory -megabytes 1000 -v
var megabytes = flag.Int("megabytes", 32, "size of the files of TestFlatMemory")

// generated is a file that is made while it is read: head, then part(0), part(1) … up to size bytes,
// then tail.
type generated struct {
	next []byte
	part func(i int) string
	tail string
	i    int
	left int
}

func generate(size int, head string, part func(i int) string, tail string) io.Reader {
	return &generated{next: []byte(head), part: part, tail: tail, left: size}
}

func (g *generated) Read(p []byte) (int, error) {
	for len(g.next) == 0 {
		switch {
		case g.left > 0:
			g.next = append(g.next, g.part(g.i)...)
			g.i++
			g.left -= len(g.next)
		case g.tail != "":
			g.next, g.tail = append(g.next, g.tail...), ""
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, g.next)
	g.next = g.next[n:]
	return n, nil
}

// TestFlatMemory checks files whose size, lines, problems or values grow without end.
func TestFlatMemory(t *testing.T) {
	size := *megabytes << 20
	if testing.Short() {
		size = 3 << 20
	}
	open := strings.TrimSuffix(collection("YQ", single), "]}\n")
	late := `{"reviews":[`
	lateEnd := `],"source":"s","title":"t","created":"2020-01-02T03:04:05Z","id":"YQ","dimensions":["default"]}`
	comma := func(part func(i int) string) func(i int) string {
		return func(i int) string {
			if i == 0 {
				return part(i)
			}
			return "," + part(i)
		}
	}
	numberedReview := func(i int) string { return review(fmt.Sprint("review ", i), 5, "") }
	repeat := func(s string) func(int) string { return func(int) string { return s } }
	inReview := func(member string) (string, string) {
		r := review("1", 5, "")
		at := strings.Index(r, `"`+member+`":"`) + len(member) + 4
		return open + r[:at], r[at:] + "]}\n"
	}
	bodyHead, bodyTail := inReview("body_html")
	titleHead, titleTail := inReview("title")
	idHead, idTail := inReview("id")
	reviewBytes := len(numberedReview(1_000_000))
	for _, test := range []struct {
		name     string
		file     io.Reader
		ids      int // whose fingerprints are kept
		errors   int // -1: many
		rejected int64
	}{
		{"lines", generate(size, "", func(i int) string { return numbered(i) + "\n" }, ""), size / len(record), 0, 0},
		{"lines, one bad", generate(size, strings.Repeat("\n", 3), func(i int) string {
			if i == 5_000 {
				return "{\n"
			}
			return numbered(i) + "\n"
		}, ""), size / len(record), 1, 0},
		{"lines with many problems", generate(size/8, "", repeat("{}\n{\"reviews\":[{},{},{}]}\n"), ""), 0, -1, -1},
		{"a line with many reviews", generate(size, open, comma(numberedReview), "]}\n"), size / reviewBytes, 0, 0},
		{"a line with many reviews before its dimensions", generate(size, late, comma(numberedReview), lateEnd), size / reviewBytes, 0, 0},
		{"a line with many problems", generate(size/8, open, comma(repeat("{}")), "]}\n"), 0, -1, -1},
		{"a line with many problems before its dimensions", generate(size/8, late, comma(repeat("7")), lateEnd), 0, -1, -1},
		{"a long text", generate(size, titleHead, repeat(`long \u00e9 é `), titleTail), 0, 0, 0},
		{"a long body", generate(size, bodyHead, repeat(`<p>long <a href=\"http://a\">\u00e9 é<\/a></p>`), bodyTail), 0, 0, 0},
		{"a long bad body", generate(size, bodyHead, repeat(`<b>long</b>`), bodyTail), 0, 1, 1},
		{"a long tag", generate(size, bodyHead+"<a", repeat(strings.Repeat(" ", 999)), bodyTail), 0, 1, 1},
		{"a long href", generate(size, bodyHead+`<a href='http://`, repeat(strings.Repeat("x", 999)), bodyTail), 0, 1, 1},
		{"a long id", generate(size, idHead, repeat(strings.Repeat("x", 999)), idTail), 0, 0, 0},
		{"a long name", generate(size, `{"`, repeat(strings.Repeat("x", 999)), `":1}`), 0, -1, 0},
		{"a long number", generate(size, `{"ratings":1`, repeat(strings.Repeat("0", 999)), `}`), 0, -1, 0},
		{"long white space", generate(size, open, repeat(strings.Repeat(" \t", 500)), "]}\n"), 0, 0, 0},
		{"a long blank line", generate(size, "\n", repeat(strings.Repeat(" \t", 500)), "\n"), 0, 0, 0},
		{"many ratings", generate(size, strings.Replace(open, "]", `]`, 1)+`{"ratings":[1`, repeat(strings.Repeat(",1", 500)), "]}]}\n"), 0, -1, 1},
		{"many unknown members", generate(size, `{"a":1`, repeat(`,"b":[{"c":1}]`), "}\n"), 0, -1, 0},
		{"nested deep", generate(size, "", repeat(strings.Repeat("[", 999)), "\n"), 0, 1, 0},
		{"no JSON", generate(size, "", repeat(strings.Repeat("\x00", 999)), ""), 0, 1, 0},
		{"a gzip bomb", bomb(size), 0, 1, 0},
		{"a gzip bomb of JSON", jsonBomb(size, late, lateEnd), 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			watch := watchHeap()
			c := reviews.Check(test.file, nil)
			for _, err := range c.Problems() {
				if err != nil {
					t.Fatal(err)
				}
			}
			grown := watch.stop()
			limit := int64(16<<20 + 16*test.ids)
			t.Logf("%.1f MiB of heap, limit %.1f, %d problems", float64(grown)/(1<<20), float64(limit)/(1<<20), c.Report().Errors)
			if grown > limit {
				t.Errorf("the heap grew by %d bytes, want at most %d", grown, limit)
			}
			if r := c.Report(); test.errors >= 0 && r.Errors != int64(test.errors) || test.rejected >= 0 && r.Rejected != test.rejected {
				t.Errorf("%d errors, %d rejected, want %d and %d; %v", r.Errors, r.Rejected, test.errors, test.rejected, r.Problems[:min(3, len(r.Problems))])
			}
		})
	}
}

// An import holds no more than a check, and what one transaction stores.
func TestFlatMemoryOfImport(t *testing.T) {
	size := *megabytes << 20 / 4
	if testing.Short() {
		size = 4 << 20
	}
	open := strings.TrimSuffix(collection("YQ", single), "]}\n")
	file := generate(size, open, func(i int) string {
		if i == 0 {
			return review("0", 5, "")
		}
		return "," + review(fmt.Sprint(i), 5, "")
	}, "]}\n")
	watch := watchHeap()
	r, err := reviews.New(memory.NewReviews()).Import(ctx, operator, file, &reviews.ImportOptions{DryRun: true})
	if err != nil || r.Errors > 0 || r.Created != r.Reviews {
		t.Fatal(r, err)
	}
	if grown, limit := watch.stop(), int64(24<<20)+16*r.Reviews; grown > limit {
		t.Errorf("the heap grew by %d bytes, want at most %d", grown, limit)
	}
}

func bomb(size int) io.Reader {
	return gzipped(generate(size, "", func(int) string { return strings.Repeat("\x00", 1000) }, ""))
}

func jsonBomb(size int, head, tail string) io.Reader {
	return gzipped(generate(size, head, func(int) string { return strings.Repeat(" ", 1000) }, tail))
}

func gzipped(r io.Reader) io.Reader {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	io.Copy(z, r)
	z.Close()
	return &out
}

// heapWatch measures how far the heap grows beyond what it was.
type heapWatch struct {
	before uint64
	most   atomic.Uint64
	done   chan bool
}

func watchHeap() *heapWatch {
	w := &heapWatch{done: make(chan bool)}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.before = m.HeapAlloc
	go func() {
		for {
			select {
			case <-w.done:
				close(w.done)
				return
			case <-time.After(2 * time.Millisecond):
				runtime.ReadMemStats(&m)
				w.most.Store(max(w.most.Load(), m.HeapAlloc))
			}
		}
	}()
	return w
}

func (w *heapWatch) stop() int64 {
	w.done <- true
	<-w.done
	return int64(w.most.Load()) - int64(w.before)
}
