//go:build proof

package attack

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// zeros is a gzip file of so many MiB of spaces.
func zeros(mib int) string { return packed(repeated(strings.Repeat(" ", 1<<20), mib)) }

// repeated is a text n times over.
func repeated(text string, n int) io.Reader {
	return io.LimitReader(endless(text), int64(n)*int64(len(text)))
}

// packed is what r holds, as gzip.
func packed(r io.Reader) string {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is one that there is
	_, _ = io.Copy(z, r)                            // into memory
	_ = z.Close()
	return b.String()
}

const ndjson = "application/x-ndjson"

// record is a line with one review.
const record = `{"source":"https://old.example","title":"T","created":"2020-01-02T03:04:05Z","id":"YQ==",` +
	`"dimensions":["default"],` +
	`"reviews":[{"id":"r","imported_display_name":"N","title":"t","body_html":"<p>x</p>",` +
	`"created":"2020-01-02T03:04:05Z","ratings":[50]}]}` + "\n"

// TestImports uploads files without measure. Memory does not grow with them, and what has to be kept
// aside is kept packed and removed.
func TestImports(t *testing.T) {
	s := start(t)
	size := *megabytes << 20
	if testing.Short() {
		size /= 4
	}
	second := time.Duration(max(1, size>>20)) * 150 * time.Millisecond // for each MiB, of one core
	load := func(file func() io.Reader, changes ...change) func(*server) reply {
		return func(s *server) reply {
			return s.send("POST", "/x/reviews/import", file(),
				append([]change{header("Content-Type", ndjson)}, changes...)...)
		}
	}
	text := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	joined := func(parts ...any) func() io.Reader {
		return func() io.Reader {
			var all []io.Reader
			for _, p := range parts {
				switch p := p.(type) {
				case string:
					all = append(all, strings.NewReader(p))
				case func() io.Reader:
					all = append(all, p())
				}
			}
			return io.MultiReader(all...)
		}
	}
	part := func(size int, text string) func() io.Reader {
		return func() io.Reader { return repeated(text, size/len(text)) }
	}
	much := func(text string) func() io.Reader { return part(size, text) }
	// of what makes a problem of each few bytes
	some := func(text string) func() io.Reader { return part(size/8, text) }
	before, after, _ := strings.Cut(strings.TrimSpace(record), "<p>x</p>")
	open := strings.TrimSuffix(strings.TrimSpace(record), "]}")
	bomb := func(r io.Reader) func() io.Reader { return text(packed(r)) }
	run(t, s, []attack{
		{name: "one line without an end to it", send: load(much("[[[[[[[[")), want: "200", cpu: second},
		{name: "one line of a review", send: load(joined(before, much("long text "), after)), want: "200", cpu: second},
		{name: "one line of many reviews", send: load(joined(open, some(`,{"id":"r"}`), "]}\n")), want: "200",
			cpu: 2 * second},
		{name: "one line of many problems", send: load(joined(open, some(`,7`), "]}\n")), want: "200", cpu: second},
		// some hundred thousand lines, each with a problem
		{name: "lines that are no JSON", send: load(some("x\n")), want: "200", cpu: 2 * second},
		{name: "blank lines", send: load(much("\n \r\n")), want: "200", cpu: second},
		{name: "the same line again and again", send: load(much(record)), want: "200", cpu: 2 * second},
		{name: "one string", send: load(joined(`"`, much(`\u00e9`), `"`)), want: "200", cpu: second},
		{name: "one number", send: load(much("9")), want: "200", cpu: second},
		{name: "deep objects", send: load(much(`{"a":`)), want: "200", cpu: second},
		{name: "a body of nested tags", send: load(joined(before, much(`<p>`), after)), want: "200", cpu: 2 * second},
		{name: "a body of entities", send: load(joined(before, much(`&#x26;`), after)), want: "200", cpu: 2 * second},
		{name: "a gzip bomb of spaces", send: load(bomb(repeated(strings.Repeat(" ", 1<<20), size>>20))), want: "200",
			cpu: second},
		{name: "a gzip bomb of one line",
			send: load(bomb(repeated(strings.Repeat("[", 1<<20), size>>20)), header("Content-Encoding", "gzip")),
			want: "200", cpu: second},
		{name: "a gzip bomb of one review", send: load(bomb(joined(before, much("long text "), after)())), want: "200",
			cpu: second},
		{name: "gzip within gzip",
			send: load(text(packed(strings.NewReader(zeros(16)))), header("Content-Encoding", "gzip")), want: "200 400",
			cpu: second},
		{name: "half of a gzip file", send: load(text(zeros(16)[:8<<10])), want: "400"},
	})
	left := 0
	err := filepath.WalkDir(s.temp, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			left++
		}
		return err
	})
	if err != nil || left > 0 {
		t.Errorf("%d temporary files are left, %v", left, err)
	}
}
