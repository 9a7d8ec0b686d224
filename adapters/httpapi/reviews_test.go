package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// record is a line of the import format with one review.
func record(id string) string {
	return `{"source":"https://old.example.test","title":"T","created":"2020-01-02T03:04:05Z","id":"` + id +
		`","dimensions":["default"],` +
		`"reviews":[{"id":"r1","imported_display_name":"N","title":"t","body_html":"<p>x</p>",` +
		`"created":"2020-01-02T03:04:05Z","ratings":[50]}]}` + "\n"
}

func reviewWorld(t *testing.T, more ...func(*httpapi.Config)) *world {
	return newWorld(t, append([]func(*httpapi.Config){func(c *httpapi.Config) {
		c.Reviews = reviews.New(memory.New(), nil)
		c.Limits.Pause = time.Minute
	}}, more...)...)
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
	if got := report(w.as(editor, "POST", importPath+"?dryRun=true", file,
		setType("application/x-ndjson"))); !got.DryRun || got.Created != 2 {
		t.Errorf("dry run: %+v", got)
	}
	got := report(w.as(editor, "POST", importPath, file, setType("application/x-ndjson")))
	if got.DryRun || got.Lines != 3 || got.Created != 2 || got.Errors != 1 || len(got.Problems) != 1 ||
		got.Problems[0]["line"] != 2.0 {
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
	file := strings.Repeat(strings.Repeat(" ", 1<<20)+"\n", 5) + record("YQ==")
	for _, body := range []string{file, gzipped(file)} {
		var got importReport
		w.as(editor, "POST", importPath+"?dryRun=true", body, setType("application/x-ndjson")).want(200).read(&got)
		if got.Lines != 6 || got.Created != 1 || got.Errors != 0 {
			t.Errorf("%+v", got)
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
	w.as(editor, "POST", importPath, record("YQ=="), ndjson, header("Content-Encoding", "br")).want(415,
		"Content-Encoding")
	w.as(editor, "POST", importPath, record("YQ=="), ndjson, header("Content-Encoding", "gzip")).want(400,
		"Content-Encoding", "gzip")
	zipped := gzipped(strings.Repeat(record("YQ=="), 100))
	cut := fmt.Sprintf("byte %d of the compressed file", len(zipped)/2)
	for _, coding := range [][]option{{ndjson}, {ndjson, header("Content-Encoding", "gzip")}} {
		w.as(editor, "POST", importPath, zipped[:len(zipped)/2], coding...).want(400, cut)
		w.as(editor, "POST", importPath, zipped+"more", coding...).want(400, fmt.Sprintf("byte %d of", len(zipped)))
		w.as(editor, "POST", importPath, zipped+"\x00\x00"+zipped, coding...).want(400,
			fmt.Sprintf("byte %d of", len(zipped)+2))
		w.as(editor, "POST", importPath, zipped+strings.Repeat("\x00", 512), coding...).want(200)
		w.as(editor, "POST", importPath, gzipped(record("YQ=="))+gzipped(record("Yg==")), coding...).want(200,
			`"collections":2`)
	}
}

// An import may take longer than the server gives to any response, also over HTTP/2, where the time to write ends a
// request that is still being read. It may not pause.
func TestAnImportMayTakeLongButNotPause(t *testing.T) {
	// A line of 300 bytes each 200 ms is more than 1 KiB/s.
	long := func() io.Reader { return &slowly{lines: 1000, pause: 200 * time.Millisecond} }
	pauses := func(after string) func() io.Reader {
		return func() io.Reader {
			return io.MultiReader(strings.NewReader(after), &slowly{lines: 1, pause: 31 * time.Second})
		}
	}
	for version := range versionsOfHTTP {
		for name, c := range map[string]struct {
			coding string
			body   func() io.Reader
			lines  int
			most   time.Duration
		}{
			"an upload of 200 s":                 {"", long, 1000, time.Hour},
			"an upload that pauses":              {"", pauses(strings.Repeat(record("YQ=="), 3)), 3, 31 * time.Second},
			"an upload that stalls at once":      {"", pauses(""), 0, 31 * time.Second},
			"an upload of gzip that stalls":      {"gzip", pauses(""), 0, 31 * time.Second},
			"an upload that stalls after a byte": {"", pauses("{"), 0, 31 * time.Second},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					client := pipedOver(t, version, httpapi.Config{
						Authenticate: func(*http.Request) (httpapi.Principal, error) {
							return editor, nil
						}, Reviews: reviews.New(memory.New(), nil),
					}, func(s *http.Server) { s.WriteTimeout = 20 * time.Second })
					begun := time.Now()
					r, err := http.NewRequest("POST", "http://x"+importPath, c.body())
					if err != nil {
						t.Fatal(err)
					}
					r.Header = http.Header{"Content-Type": {"application/x-ndjson"}, "Content-Encoding": {c.coding}}
					answer, err := client.Do(r)
					if err != nil {
						t.Fatal(err)
					}
					defer answer.Body.Close()
					var report importReport
					if err := json.NewDecoder(answer.Body).Decode(&report); err != nil {
						t.Fatal(err)
					}
					if took := time.Since(begun); answer.StatusCode != 200 || answer.Proto != version ||
						report.Lines != c.lines || took >= c.most {
						t.Errorf("%s %s after %s: %+v", answer.Proto, answer.Status, took, report)
					}
					time.Sleep(time.Minute) // until the pause of the client is over, too
				})
			})
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

// An import that stops, because the store does, says what is in.
func TestAnImportIntoAFullStoreSaysWhatIsIn(t *testing.T) {
	store := &scripted{Store: memory.New(), update: func(context.Context) error { return vitrine.ErrFull }}
	w := newWorld(t, func(c *httpapi.Config) { c.Reviews = reviews.New(store, nil) })
	r := w.as(editor, "POST", importPath, record("YQ=="), setType("application/x-ndjson")).want(507, "full")
	if !strings.Contains(r.body, "what came before is imported, and sending all of it again is safe") {
		t.Errorf("%s", r.body)
	}
}

const exportPath = "/x/reviews/export"

func TestReviewsAreExported(t *testing.T) {
	w := reviewWorld(t)
	both := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=both",
		Moderates: []string{network, "urn:vitrine:other.test"}}}
	empty := w.as(editor, "GET", exportPath, "").want(200)
	if empty.body != "" || empty.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("of a network without reviews: %q, %v", empty.body, empty.header)
	}
	var file strings.Builder
	for i := range 300 { // longer than the buffer that download holds back in case of an error
		file.WriteString(strings.Replace(record(base64.StdEncoding.EncodeToString(fmt.Append(nil, i))), `"N"`,
			`"N","imported_email":"ann@example.test"`, 1))
	}
	w.as(both, "POST", importPath+"?network=example.test", file.String(), setType("application/x-ndjson")).want(200,
		`"created":300`)
	w.as(both, "POST", importPath+"?network=other.test", record("b3RoZXI="), setType("application/x-ndjson")).want(200,
		`"created":1`)
	r := w.as(editor, "GET", exportPath, "").want(200)
	if strings.Count(r.body, "\n") != 300 || strings.Count(r.body, "ann@example.test") != 300 ||
		strings.Contains(r.body, "b3RoZXI=") {
		t.Errorf("%d lines", strings.Count(r.body, "\n"))
	}
	if r.header.Get("Cache-Control") != "no-store" || r.header.Get("Content-Type") != "application/x-ndjson" ||
		r.header.Get("X-Content-Type-Options") != "nosniff" || r.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", r.header)
	}
	if head := w.as(editor, "HEAD", exportPath, "").want(200); head.body != "" ||
		head.header.Get("Content-Length") != "" {
		t.Errorf("HEAD: %q %v", head.body, head.header)
	}
	w.as(editor, "POST", importPath+"?dryRun=true", r.body, setType("application/x-ndjson")).want(200,
		`"unchanged":300`)
}

// manyReviews is a line with so many reviews of some KiB.
func manyReviews(count int) string {
	head, tail, _ := strings.Cut(record("YQ=="), `{"id":"r1"`)
	tail = strings.TrimSuffix(strings.Replace(tail, "<p>x</p>", strings.Repeat("text ", 1000), 1), "]}\n")
	list := make([]string, count)
	for i := range list {
		list[i] = fmt.Sprintf(`{"id":"r%d"%s`, i, tail)
	}
	return head + strings.Join(list, ",") + "]}\n"
}

// An export that fails before anything has gone out is answered like any request; one that fails later is
// cut, so that nobody takes it for whole.
func TestAnExportThatFailsIsNotTakenForWhole(t *testing.T) {
	for _, after := range []int{0, 1} {
		reads := 0
		store := &scripted{Store: memory.New(), get: ofReviews(func() error {
			if reads++; reads > after {
				return fmt.Errorf("%w: canary of the store", vitrine.ErrBusy)
			}
			return nil
		})}
		w := newWorld(t, func(c *httpapi.Config) { c.Reviews = reviews.New(store, nil) })
		w.as(editor, "POST", importPath, manyReviews(400), setType("application/x-ndjson")).want(200, `"created":400`)
		if after == 0 {
			w.as(editor, "GET", exportPath, "").want(503)
		} else {
			r, err := http.NewRequest("GET", w.url+exportPath, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "svctoken "+w.token(editor))
			answer, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err == nil || answer.StatusCode != 200 || len(body) == 0 {
				t.Errorf("after %d reads: %d, %d bytes, %v", after, answer.StatusCode, len(body), err)
			}
		}
		if text := w.log.String(); !strings.Contains(text, "canary of the store") {
			t.Errorf("after %d reads the log has %q", after, text)
		}
	}
}

func TestOfSeveralEmptyParametersTheSameIsNamed(t *testing.T) {
	w := reviewWorld(t)
	for range 20 {
		w.as(editor, "DELETE", "/x/reviews?email=&author=&source=", "").want(400, `"parameter":"source"`)
	}
}
