package reviews_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// The long form: go test ./reviews -run MemoryDoesNotGrow -megabytes 1000 -v
var megabytes = flag.Int("megabytes", 32, "size of the files of TestMemoryDoesNotGrowWithTheFile")

// generated is a file that is made while it is read, without garbage: head, then part(0), part(1) …
// up to size bytes, then tail.
type generated struct {
	next, buf []byte
	part      func(to []byte, i int) []byte
	tail      string
	i         int
	left      int
}

func generate(size int, head string, part func(to []byte, i int) []byte, tail string) io.Reader {
	return &generated{next: []byte(head), part: part, tail: tail, left: size}
}

func (g *generated) Read(p []byte) (int, error) {
	for len(g.next) == 0 {
		switch {
		case g.left > 0:
			g.buf = g.part(g.buf[:0], g.i)
			g.next = g.buf
			g.i++
			g.left -= len(g.next)
		case g.tail != "":
			g.next, g.tail = []byte(g.tail), ""
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, g.next)
	g.next = g.next[n:]
	return n, nil
}

// repeat gives the same again and again.
func repeat(part string) func(to []byte, i int) []byte {
	return func(to []byte, _ int) []byte { return append(to, part...) }
}

// counted gives part with # replaced by the number, behind separators but the first.
func counted(part, separator string) func(to []byte, i int) []byte {
	before, after, found := strings.Cut(part, "#")
	return func(to []byte, i int) []byte {
		if i > 0 {
			to = append(to, separator...)
		}
		to = append(to, before...)
		if found {
			to = strconv.AppendInt(to, int64(i), 10)
		}
		return append(to, after...)
	}
}

// TestMemoryDoesNotGrowWithTheFile checks files whose size, lines, problems or values grow without end.
func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	if proof.Short() {
		t.Skip("what is small fits into memory")
	}
	size := *megabytes << 20
	open := strings.TrimSuffix(collection("YQ", single), "]}\n")
	late := `{"reviews":[`
	lateEnd := `],"source":"s","title":"t","created":"2020-01-02T03:04:05Z","id":"YQ","dimensions":["default"]}`
	numberedLine := counted(strings.Replace(record, `"s"`, `"s#"`, 1)+"\n", "")
	numberedReviews := counted(review("review #", 5, ""), ",")
	inReview := func(member string) (string, string) {
		r := review("1", 5, "")
		at := strings.Index(r, `"`+member+`":"`) + len(member) + 4
		return open + r[:at], r[at:] + "]}\n"
	}
	bodyHead, bodyTail := inReview("body_html")
	titleHead, titleTail := inReview("title")
	idHead, idTail := inReview("id")
	const long = 8 << 20 // bytes of a line
	reviewBytes := len(review("review 1000000", 5, ""))
	for _, test := range []struct {
		name     string
		file     io.Reader
		ids      int // whose fingerprints are kept
		errors   int // -1: many
		rejected int64
	}{
		{"lines", generate(size, "", numberedLine, ""), size / len(record), 0, 0},
		{"lines, one bad", generate(size, "\n\n\n", func(to []byte, i int) []byte {
			if i == 5_000 {
				return append(to, "{\n"...)
			}
			return numberedLine(to, i)
		}, ""), size / len(record), 1, 0},
		{"lines with many problems", generate(size/8, "", repeat("{}\n{\"reviews\":[{},{},{}]}\n"), ""), 0, -1, -1},
		{"a line with many reviews", generate(long, open, numberedReviews, "]}\n"), long / reviewBytes, 0, 0},
		{"a line with many reviews before its dimensions", generate(long, late, numberedReviews, lateEnd),
			long / reviewBytes, 0, 0},
		{"a line with many problems", generate(long/4, open, counted("{}", ","), "]}\n"), 0, -1, -1},
		{"a line with many problems before its dimensions", generate(long/4, late, counted("7", ","), lateEnd), 0, -1,
			-1},
		{"a long text", generate(long, titleHead, repeat(`long \u00e9 é `), titleTail), 0, 0, 0},
		{"a long body", generate(long, bodyHead, repeat(`<p>long <a href=\"http://a\">\u00e9 é<\/a></p>`), bodyTail), 0,
			0, 0},
		{"the longest body, of escapes", generate(long, bodyHead, repeat(strings.Repeat(`\n`, 500)), bodyTail), 0, 0,
			0},
		{"the longest body, with few escapes",
			generate(long, bodyHead, repeat(strings.Repeat("x", 500)+`\n`), bodyTail), 0, 0, 0},
		{"the longest id", generate(long, idHead, repeat(strings.Repeat("x", 500)+`\n`), idTail), 0, 0, 0},
		{"a long bad body", generate(long, bodyHead, repeat(`<b>long</b>`), bodyTail), 0, 1, 1},
		{"a long tag", generate(long, bodyHead+"<a", repeat(strings.Repeat(" ", 999)), bodyTail), 0, 1, 1},
		{"a long href", generate(long, bodyHead+`<a href='http://`, repeat(strings.Repeat("x", 999)), bodyTail), 0, 1,
			1},
		{"a long id", generate(long, idHead, repeat(strings.Repeat("x", 999)), idTail), 0, 0, 0},
		{"a long name", generate(long, `{"`, repeat(strings.Repeat("x", 999)), `":1}`), 0, -1, 0},
		{"a long number", generate(long, `{"ratings":1`, repeat(strings.Repeat("0", 999)), `}`), 0, -1, 0},
		{"long white space", generate(long, open, repeat(strings.Repeat(" \t", 500)), "]}\n"), 0, 0, 0},
		{"a long blank line", generate(long, "\n", repeat(strings.Repeat(" \t", 500)), "\n"), 0, 0, 0},
		{"many ratings",
			generate(long, strings.Replace(open, "]", `]`, 1)+`{"ratings":[1`, repeat(strings.Repeat(",1", 500)),
				"]}]}\n"), 0, -1, 1},
		{"many unknown members", generate(long, `{"a":1`, repeat(`,"b":[{"c":1}]`), "}\n"), 0, -1, 0},
		{"nested deep", generate(long, "", repeat(strings.Repeat("[", 999)), "\n"), 0, 1, 0},
		{"no JSON", generate(long, "", repeat(strings.Repeat("\x00", 999)), ""), 0, 1, 0},
		{"a line that is too long", generate(size+1<<20, "[", repeat(strings.Repeat("[", 999)), "\n"), 0, 1, 0},
		{"a gzip bomb", bomb(size), 0, 1, 0},
		{"a gzip bomb of JSON", jsonBomb(long, late, lateEnd), 0, 0, 0},
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
			limit := int64(40<<20 + 50*test.ids)
			if strings.Contains(test.name, "too long") || strings.Contains(test.name, "gzip") {
				limit = 3 * 32 << 20 // as long as a line may be, and it is copied when it grows
			}
			t.Logf("%.1f MiB of heap, limit %.1f, %d problems", float64(grown)/(1<<20), float64(limit)/(1<<20),
				c.Report().Errors)
			if grown > limit {
				t.Errorf("the heap grew by %d bytes, want at most %d", grown, limit)
			}
			if r := c.Report(); test.errors >= 0 && r.Errors != int64(test.errors) || test.rejected >= 0 &&
				r.ReviewsRejected != test.rejected {
				t.Errorf("%d errors, %d rejected, want %d and %d; %v", r.Errors, r.ReviewsRejected, test.errors,
					test.rejected,
					r.Problems[:min(3, len(r.Problems))])
			}
		})
	}
}

// An import holds no more than a check, and what one transaction stores. It makes garbage, for which
// the collector lets the heap grow to twice what is held.
func TestMemoryOfAnImportDoesNotGrowWithTheFile(t *testing.T) {
	if proof.Short() {
		t.Skip("what is small fits into memory")
	}
	size := *megabytes << 20 / 4
	file := generate(size, "", counted(strings.Replace(record, `"s"`, `"s#"`, 1)+"\n", ""), "")
	watch := watchHeap()
	r, err := reviews.New(memory.New(), nil).As(operator).Import(ctx,
		reviews.ImportRequest{Network: network, File: file, DryRun: true})
	if err != nil || r.Errors > 0 || r.ReviewsCreated != r.Reviews {
		t.Fatal(r, err)
	}
	if grown, limit := watch.stop(), 2*(int64(16<<20)+16*r.Reviews); grown > limit {
		t.Errorf("the heap grew by %d bytes, want at most %d", grown, limit)
	}
}

func bomb(size int) io.Reader {
	return gzipped(generate(size, "", repeat(strings.Repeat("\x00", 1000)), ""))
}

func jsonBomb(size int, head, tail string) io.Reader {
	return gzipped(generate(size, head, repeat(strings.Repeat(" ", 1000)), tail))
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
