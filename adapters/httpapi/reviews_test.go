package httpapi_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// record is a line of the import format with one review.
func record(id string) string {
	return `{"source":"https://old.example.test","title":"T","created":"2020-01-02T03:04:05Z","id":"` + id + `","dimensions":["default"],` +
		`"reviews":[{"id":"r1","imported_display_name":"N","title":"t","body_html":"<p>x</p>","created":"2020-01-02T03:04:05Z","ratings":[50]}]}` + "\n"
}

func reviewWorld(t *testing.T) *world {
	return newWorld(t, func(c *httpapi.Config) {
		c.Reviews = reviews.New(memory.NewReviews())
		c.Limits.Pause = 300 * time.Millisecond
	})
}

type importReport struct {
	Lines, Collections, Reviews, Created, Updated, Unchanged, Rejected, Errors, Warnings int
	DryRun, ProblemsTruncated                                                            bool
	Problems                                                                             []map[string]any
}

const importPath = "/x/reviews/import"

func TestReviewsAreImported(t *testing.T) {
	w := reviewWorld(t)
	file := record("YQ==") + "no JSON\n" + record("Yg==")
	report := func(r reply) (out importReport) {
		r.want(200).read(&out)
		return out
	}
	if got := report(w.as(siteOne, "POST", importPath+"?dryRun=true", file, setType("application/x-ndjson"))); !got.DryRun || got.Created != 2 {
		t.Errorf("dry run: %+v", got)
	}
	got := report(w.as(siteOne, "POST", importPath, file, setType("application/x-ndjson")))
	if got.DryRun || got.Lines != 3 || got.Created != 2 || got.Errors != 1 || len(got.Problems) != 1 || got.Problems[0]["line"] != 2.0 {
		t.Errorf("%+v", got)
	}
	for _, ct := range []string{"application/json", "text/plain; charset=utf-8", "application/octet-stream"} {
		if got := report(w.as(editor, "POST", importPath, file, setType(ct))); got.Unchanged != 2 {
			t.Errorf("%s: %+v", ct, got)
		}
	}
	zipped := gzipped(file)
	for _, o := range [][]option{{}, {header("Content-Encoding", "gzip")}} {
		o = append(o, setType("application/x-ndjson"))
		if got := report(w.as(editor, "POST", importPath, zipped, o...)); got.Unchanged != 2 {
			t.Errorf("gzip: %+v", got)
		}
	}
}

// The limit of other bodies, 4 MiB, is not that of a file of records.
func TestAnImportMayBeOfAnySize(t *testing.T) {
	w := reviewWorld(t)
	file := strings.Repeat(" \n", 3<<20) + record("YQ==")
	for _, body := range []string{file, gzipped(file)} {
		var got importReport
		w.as(siteOne, "POST", importPath+"?dryRun=true", body, setType("application/x-ndjson")).want(200).read(&got)
		if got.Lines != 3<<20+1 || got.Created != 1 || got.Errors != 0 {
			t.Errorf("%+v", got)
		}
	}
}

// A report holds the first 1000 problems and says when there are more.
func TestTheReportOfAnImportIsShort(t *testing.T) {
	w := reviewWorld(t)
	for n, truncated := range map[int]bool{1000: false, 1001: true} {
		var got importReport
		w.as(siteOne, "POST", importPath, strings.Repeat("x\n", n), setType("text/plain")).want(200).read(&got)
		if len(got.Problems) != 1000 || got.Errors != n || got.ProblemsTruncated != truncated {
			t.Errorf("of %d problems %d are in the report, truncated %v", got.Errors, len(got.Problems), got.ProblemsTruncated)
		}
	}
}

func gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

func TestReviewsImportRefuses(t *testing.T) {
	w := reviewWorld(t)
	ndjson := setType("application/x-ndjson")
	w.as(stranger, "POST", importPath, record("YQ=="), ndjson).want(403)
	w.send("POST", importPath, record("YQ=="), ndjson).want(401)
	w.as(editor, "GET", importPath, "").want(405)
	w.as(editor, "POST", importPath+"?dryRun=yes", record("YQ=="), ndjson).want(400, "dryRun")
	w.as(editor, "POST", importPath+"?dry=true", record("YQ=="), ndjson).want(400, "dry")
	w.as(editor, "POST", importPath, record("YQ=="), setType("text/csv")).want(415, "Content-Type")
	w.as(editor, "POST", importPath, record("YQ=="), ndjson, header("Content-Encoding", "br")).want(415, "Content-Encoding")
	w.as(editor, "POST", importPath, record("YQ=="), ndjson, header("Content-Encoding", "gzip")).want(400, "Content-Encoding", "gzip")
	zipped := gzipped(strings.Repeat(record("YQ=="), 100))
	cut := fmt.Sprintf("byte %d of the compressed file", len(zipped)/2)
	for _, coding := range [][]option{{ndjson}, {ndjson, header("Content-Encoding", "gzip")}} {
		w.as(editor, "POST", importPath, zipped[:len(zipped)/2], coding...).want(400, cut)
		w.as(editor, "POST", importPath, zipped+"more", coding...).want(400, fmt.Sprintf("byte %d of", len(zipped)))
		w.as(editor, "POST", importPath, zipped+"\x00\x00"+zipped, coding...).want(400, fmt.Sprintf("byte %d of", len(zipped)+2))
		w.as(editor, "POST", importPath, zipped+strings.Repeat("\x00", 512), coding...).want(200)
		w.as(editor, "POST", importPath, gzipped(record("YQ=="))+gzipped(record("Yg==")), coding...).want(200, `"collections":2`)
	}
}

func TestAnImportMayTakeLongButNotPause(t *testing.T) {
	w := reviewWorld(t)
	slow := func(pause time.Duration) (int, error) {
		r, err := http.NewRequest("POST", w.url+importPath, &slowly{lines: 8, pause: pause})
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "svctoken "+w.token(editor))
		r.Header.Set("Content-Type", "application/x-ndjson")
		answer, err := w.client.Do(r)
		if err != nil {
			return 0, err
		}
		defer answer.Body.Close()
		return answer.StatusCode, nil
	}
	if status, err := slow(60 * time.Millisecond); err != nil || status != 200 {
		t.Errorf("an upload of twice the longest pause: %d, %v", status, err)
	}
	if status, err := slow(2 * time.Second); err == nil && status != 400 {
		t.Errorf("an upload that pauses for too long: %d", status)
	}
}

func TestAnImportThatStallsAtOnceIsAnswered(t *testing.T) {
	t.Parallel()
	w := reviewWorld(t)
	for _, begun := range []string{"", "{"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\nContent-Type: application/x-ndjson\r\nContent-Length: 1000\r\n\r\n%s",
			importPath, w.token(editor), begun)
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // the pause is a fraction of a second
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.Contains(line, " 400 ") {
			t.Errorf("after %q: %q, %v", begun, line, err)
		}
	}
}

// slowly is a body that comes a line at a time.
type slowly struct {
	lines int
	pause time.Duration
}

func (s *slowly) Read(p []byte) (int, error) {
	if s.lines--; s.lines < 0 {
		return 0, io.EOF
	}
	time.Sleep(s.pause)
	return copy(p, record("YQ==")), nil
}

// fullReviews has no room.
type fullReviews struct{ reviews.Store }

func (fullReviews) Update(context.Context, func(reviews.Tx) error) error { return reviews.ErrFull }

// An import that stops, because the store does, says what is in.
func TestAnImportIntoAFullStoreSaysWhatIsIn(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) { c.Reviews = reviews.New(fullReviews{memory.NewReviews()}) })
	r := w.as(siteOne, "POST", importPath, record("YQ=="), setType("application/x-ndjson")).want(507, "full")
	if !strings.Contains(r.body, "what came before is imported, and sending all of it again is safe") {
		t.Errorf("%s", r.body)
	}
}
