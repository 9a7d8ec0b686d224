package convert_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/convert"
)

// written is a table of reviews as a shop writes it. Each text in it has the number of its row, such as r7r.
type written struct {
	columns []string
	rows    []map[string]string
	forged  []bool // a line of the body of the row looks like a row
	comma   string
	end     string // of a line
	quoting int    // 0 only where needed, 1 all cells, 2 the body always
}

// writtenMapping is the mapping of these tables.
var writtenMapping = convert.Mapping{"collection_id": "product", "review_id": "id", "rating": "stars", "created": "date",
	"author_name": "name", "author_email": "mail", "title": "title", "body": "text"}

// line writes cells in one line.
func (w *written) line(cells []string) string {
	out := slices.Clone(cells)
	for i, cell := range out {
		needed := strings.ContainsAny(cell, w.comma+"\"\r\n")
		if needed || w.quoting == 1 || w.quoting == 2 && i < len(w.columns) && w.columns[i] == "text" {
			out[i] = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
	}
	return strings.Join(out, w.comma) + w.end
}

// String is the whole table.
func (w *written) String() string {
	out := w.line(w.columns)
	for _, row := range w.rows {
		cells := make([]string, len(w.columns))
		for i, name := range w.columns {
			cells[i] = row[name]
		}
		out += w.line(cells)
	}
	return out
}

// row makes a row that has only short cells.
func (w *written) row(n int, name string) map[string]string {
	return map[string]string{"id": fmt.Sprintf("%s%d", name, 100+n), "product": "lamp", "stars": strconv.Itoa(n%5 + 1), "date": fmt.Sprintf("2019-04-%02d", n%28+1),
		"name": fmt.Sprintf("Ann r%dr", n), "mail": fmt.Sprintf("r%dr@example.test", n), "title": fmt.Sprintf("Title r%dr", n), "text": fmt.Sprintf("Good r%dr", n)}
}

// newWritten makes a table.
func newWritten(random *rand.Rand) *written {
	w := &written{columns: []string{"id", "product", "stars", "date", "name", "mail", "title", "text"}, quoting: random.IntN(3)}
	random.Shuffle(len(w.columns), func(i, j int) { w.columns[i], w.columns[j] = w.columns[j], w.columns[i] })
	w.comma = []string{",", ";", "\t", "|"}[random.IntN(4)]
	w.end = []string{"\n", "\r\n"}[random.IntN(2)]
	for n := range 2 + random.IntN(6) {
		row := w.row(n, "id")
		own := fmt.Sprintf("r%dr", n)
		pieces := []string{"Good " + own, "\n", "\n\n", "- " + own, w.comma, w.comma + " " + own, `"` + own + `"`, `"`, " he said " + `"wow"`, own, own + w.comma + own, "\n" + own + "\n"}
		text := ""
		for range random.IntN(8) {
			text += pieces[random.IntN(len(pieces))]
		}
		forged := random.IntN(3) == 0
		if forged {
			other, cells := w.row(n, "forged"), []string{}
			for _, name := range w.columns {
				cells = append(cells, other[name])
			}
			line := strings.Join(cells, w.comma)
			text = []string{text + "\n" + line, text + "\n" + line + "\n" + own, "\n" + line + "\n", w.comma + own + "\n" + line + "\n" + line + w.comma}[random.IntN(4)]
		}
		row["text"] = text
		if random.IntN(3) == 0 {
			row["title"] = []string{`"` + own + `" ` + own, own + w.comma + own, w.comma + own + "\n" + own, "", `27"`}[random.IntN(5)]
		}
		w.rows, w.forged = append(w.rows, row), append(w.forged, forged)
	}
	return w
}

// bare is a text without quotes and without differences of blanks.
func bare(text string) string {
	text = html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " "))
	return strings.Join(strings.Fields(strings.ReplaceAll(text, `"`, "")), " ")
}

// holds fails unless what became of a table is right: each review is one row and has all of it, no line of a body is one, and what is
// no review is among the rejects.
func (w *written) holds(t *testing.T, file string, encode encoding.Encoding, damaged bool) {
	t.Helper()
	sent := file
	if encode != nil {
		var err error
		if sent, err = encode.NewEncoder().String(file); err != nil {
			t.Fatal(err)
		}
	}
	var out, rejects bytes.Buffer
	result, err := convert.Convert(t.Context(), convert.Request{File: strings.NewReader(sent), To: &out, Rejects: &rejects, Mapping: writtenMapping, Source: "s"})
	if err != nil {
		if !damaged || !errors.Is(err, vitrine.ErrInvalid) {
			t.Fatalf("%v\n%s", err, file)
		}
		return // the header
	}
	asText := slices.ContainsFunc(result.Notes, func(note string) bool { return strings.HasPrefix(note, "quotes are read as text") })
	if asText && strings.Count(file, `"`) > 1 && strings.Contains(w.String(), `"`) && len(cellsInQuotes.FindAllString(w.String(), -1)) > 2 {
		t.Fatalf("quotes are text in\n%s", file)
	}
	found := map[string]bool{}
	for line := range bytes.Lines(out.Bytes()) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		for _, review := range r.Reviews {
			n, err := strconv.Atoi(strings.TrimPrefix(bare(review.ID), "id"))
			if n -= 100; (err != nil || n < 0 || n >= len(w.rows)) && !asText {
				t.Fatalf("a review has the id %q\n%s\n%+v", review.ID, file, result)
			}
			if asText {
				found[review.ID] = true
				continue
			}
			row := w.rows[n]
			found[row["id"]] = true
			product, _ := base64.StdEncoding.DecodeString(r.ID)
			for name, got := range map[string]string{"product": string(product), "name": review.Name, "mail": review.Email, "title": review.Title, "text": review.Body} {
				if bare(got) != bare(row[name]) {
					t.Fatalf("the %s of %s is %q, want %q\n%s\n%+v", name, review.ID, got, row[name], file, result)
				}
			}
			if w.forged[n] {
				t.Fatalf("%s has a line that looks like a row\n%s\n%+v", review.ID, file, result)
			}
		}
	}
	lines := int64(0)
	for _, r := range result.Rejected {
		lines += max(r.Line, r.Last) - r.Line + 1
	}
	for n, row := range w.rows {
		if at := strings.Contains(strings.ReplaceAll(rejects.String(), `"`, ""), row["id"]); at == found[row["id"]] && !w.forged[n] || !at && !found[row["id"]] {
			t.Fatalf("%s is converted: %v, rejected: %v\n%s\n%s\n%+v", row["id"], found[row["id"]], at, file, rejects.String(), result)
		}
		if !damaged && found[row["id"]] == w.forged[n] {
			t.Fatalf("%s is converted: %v\n%s\n%+v", row["id"], found[row["id"]], file, result)
		}
		if found[row["id"]] {
			lines += 1 + int64(strings.Count(row["text"]+row["title"], "\n"))
		}
	}
	if all := int64(strings.Count(file, "\n")) - 1; !damaged && lines != all {
		t.Fatalf("%d lines are told, of %d\n%s\n%+v", lines, all, file, result)
	}
	// What was rejected and not mended is rejected again.
	if rejects.Len() == 0 || asText {
		return
	}
	var again bytes.Buffer
	twice, err := convert.Convert(t.Context(), convert.Request{File: &rejects, To: &again, Mapping: writtenMapping, Source: "s"})
	if err != nil || strings.Contains(again.String(), "forged") && strings.Contains(again.String(), `"id":"forged`) {
		t.Fatalf("%v\n%s\n%s\n%+v", err, file, again.String(), twice)
	}
}

// cellsInQuotes finds the cells in quotes of a table without damage.
var cellsInQuotes = regexp.MustCompile(`"(?:[^"]|"")*"`)

// Of any table in which any one quote is lost, or one is too many, nothing is converted that was not a row.
func TestAQuoteIsLost(t *testing.T) {
	encodings := []encoding.Encoding{nil, nil, nil, unicode.UTF8BOM, charmap.Windows1252, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)}
	tables, first := 8, 0
	if n, _ := strconv.Atoi(os.Getenv("QUOTES")); n > 0 {
		tables, first = n, 1000
	}
	for seed := range tables {
		seed += first
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		w := newWritten(random)
		file := w.String()
		w.holds(t, file, encodings[random.IntN(len(encodings))], false)
		for at := range len(file) {
			if file[at] == '"' {
				w.holds(t, file[:at]+file[at+1:], encodings[random.IntN(len(encodings))], true)
			}
			if random.IntN(4) == 0 || strings.Contains(w.comma+"\n\"", file[at:at+1]) {
				w.holds(t, file[:at]+`"`+file[at:], encodings[random.IntN(len(encodings))], true)
			}
		}
	}
}

// Each of these tables has one quote too few or too many, or a line in a body that looks like a row.
func TestDoubtfulRows(t *testing.T) {
	const header, first, last = "id,product,stars,date,name,title,text\n", "1,lamp,5,2019-04-03,Ann,first,\"A fine, lamp\"\n", "9,lamp,4,2019-04-05,Cy,last,\"Good, too\"\n"
	const two, three = "2,lamp,1,2019-04-04,Ben,second,plain", "3,lamp,2,2019-04-04,Eve,third,\"ok, so\""
	for name, c := range map[string]struct {
		rows, reason string
		ids          string // of the reviews, of which the last is 9
		line, lines  int64  // of the piece
		piece        string // in the rejects; "" = rows
	}{
		"not closed":            {"4,lamp,5,2019-04-03,Zoe,x,\"Great\n" + two + "\n" + three + "\n", "a quote is opened in line 3 and not closed before another is opened in line 5, so these 3 lines are not converted", "1 9", 3, 3, ""},
		"not closed, CRLF":      {"4,lamp,5,2019-04-03,Zoe,x,\"Great\r\n" + two + "\r\n" + three + "\r\n", "opened in line 3 and not closed before another is opened in line 5, so these 3", "1 9", 3, 3, ""},
		"a row in a body":       {"4,lamp,5,2019-04-03,Zoe,x,\"Great\n" + two + "\nend\"\n", "line 4 looks like a row of its own, and is inside of a quote that is opened in line 3, so these 3 lines are not converted", "1 9", 3, 3, ""},
		"not opened":            {"4,lamp,5,2019-04-03,Zoe,x,Great\n" + two + "\nend\"\n", "a cell in line 5 ends with a quote that was not opened, and quotes were last right in line 2, so these 4 lines are not converted", "9", 2, 4, first + "4,lamp"},
		"many rows":             {"4,lamp,5,2019-04-03,Zoe,x,\"Great\n" + strings.Repeat(two+"\n", 300) + three + "\n", "so these 302 lines", "1 9", 3, 302, ""},
		"a cell that is closed": {"4,lamp,5,2019-04-03,Zoe,x,\"Great\nlamp\",y\n", "the row has 8 cells, and there are 7 columns: a quote is opened in line 3 and closed in line 4", "1 9", 3, 2, ""},
	} {
		list, result, rejects := converted(t, convert.Request{Mapping: simple}, header+first+c.rows+last)
		var ids []string
		for _, r := range list {
			for _, review := range r.Reviews {
				ids = append(ids, review.ID)
			}
		}
		if got := strings.Join(ids, " "); got != c.ids || len(result.Rejected) != 1 || result.RejectedTotal != 1 || !strings.Contains(result.Rejected[0].Reason, c.reason) ||
			result.Rejected[0].Line != c.line || result.Rejected[0].Last != c.line+c.lines-1 {
			t.Errorf("%s: %s, %+v", name, got, result)
		}
		if piece := cmp.Or(c.piece, strings.TrimRight(c.rows, "\r\n")); !strings.Contains(rejects, piece) {
			t.Errorf("%s: %q is not in %q", name, piece, rejects)
		}
		list, again, _ := converted(t, convert.Request{Mapping: simple}, rejects)
		if again.Converted != 0 || again.RejectedTotal == 0 {
			t.Errorf("%s: not mended, it is %+v, %+v", name, list, again)
		}
	}
	// The last row.
	for _, end := range []string{"", "\n", "\r\n"} {
		_, result, rejects := converted(t, convert.Request{Mapping: simple}, header+first+"4,lamp,5,2019-04-03,Zoe,x,\"Great"+end)
		if result.Converted != 1 || !strings.Contains(result.Rejected[0].Reason, "opened in line 3 and not closed up to the end of the file in line 3, so this line") || !strings.Contains(rejects, `Zoe,x,"Great`) {
			t.Errorf("%q: %+v, %q", end, result, rejects)
		}
		mended, result, _ := converted(t, convert.Request{Mapping: simple}, strings.Replace(rejects, `"Great`, `"Great"`, 1))
		if len(mended) != 1 || mended[0].Reviews[0].Body != "<p>Great</p>" || result.RejectedTotal != 0 {
			t.Errorf("%q: mended, it is %+v, %+v", end, mended, result)
		}
	}
	// A row between others is mended by one quote, too: what was one row are three then.
	_, _, rejects := converted(t, convert.Request{Mapping: simple}, header+first+"4,lamp,5,2019-04-03,Zoe,x,\"Great\n"+two+"\n"+three+"\n")
	if list, result, _ := converted(t, convert.Request{Mapping: simple}, strings.Replace(rejects, `"Great`, `"Great"`, 1)); len(list) != 1 || len(list[0].Reviews) != 3 || result.RejectedTotal != 0 {
		t.Errorf("mended, it is %+v, %+v\n%s", list, result, rejects)
	}
}

// A dump has quotes in its cells and none around them, and a table may have quotes that are not doubled.
func TestQuotesThatAreText(t *testing.T) {
	dump := "id\tproduct\tstars\tdate\tname\ttitle\ttext\n1\tlamp\t5\t2019-04-03\tAnn\t\t\"Best\" lamp, he said\n2\tlamp\t5\t2019-04-04\tBen\tTV 55\"\t\"Good\n" +
		"3\tlamp\t5\t2019-04-05\tCy\t\the said \"wow\"\n"
	for name, file := range map[string]string{"as it is": dump, "large": dump + strings.Repeat("4\tlamp\t5\t2019-04-05\tCy\t\tgood\n", 20000)} {
		list, result, _ := converted(t, convert.Request{Mapping: simple}, file)
		if len(list) != 1 || list[0].Reviews[0].Body != `<p>"Best" lamp, he said</p>` || list[0].Reviews[1].Body != `<p>"Good</p>` || list[0].Reviews[2].Body != `<p>he said "wow"</p>` ||
			!slices.Contains(result.Notes, "quotes are read as text, since no cell of this table both begins and ends with one") {
			t.Errorf("%s: %.300v, %.600v", name, list, result)
		}
	}
	loose := simpleHeader + strings.Repeat("1,lamp,5,2019-04-03,Ann,TV 55\",\"Good, so\"\n", 50)
	_, result, _ := converted(t, convert.Request{Mapping: convert.Mapping{"collection_id": "product", "rating": "stars", "created": "date", "author_name": "name", "title": "title"}}, loose)
	if result.Converted != 50 || !slices.ContainsFunc(result.Notes, func(note string) bool {
		return strings.HasPrefix(note, "quotes inside of cells are not doubled in this table, as in line 2")
	}) {
		t.Errorf("%+v", result)
	}
	// Nothing but the lines of a cell shows that quotes are none here, and whoever has written it may want that.
	_, result, _ = converted(t, convert.Request{Mapping: simple}, simpleHeader+"1,lamp,5,2019-04-03,Ann,,fine\n2,lamp,5,2019-04-03,Ann,,\"x\n3,lamp,5,2019-04-03,Ann,,x\"\n")
	if result.Converted != 1 || result.RejectedTotal != 1 {
		t.Errorf("%+v", result)
	}
}

// endless yields a table whose last row begins with a quote that is not closed for so many bytes.
type endless struct {
	begin string
	bytes int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.begin != "" {
		n := copy(p, e.begin)
		e.begin = e.begin[n:]
		return n, nil
	}
	const line = "2,lamp,1,2019-04-04,Ben,second,plain\n"
	n := copy(p, strings.Repeat(line, max(1, min(len(p), e.bytes)/len(line))))
	if e.bytes -= n; e.bytes <= 0 {
		return 0, io.EOF
	}
	return n, nil
}

// counting counts what is written.
type counting struct{ bytes, lines int }

func (c *counting) Write(p []byte) (int, error) {
	c.bytes += len(p)
	c.lines += bytes.Count(p, []byte{'\n'})
	return len(p), nil
}

// A quote that takes the rest of a file takes no memory, all of it is among the rejects, and it stops with its context.
func TestAQuoteTakesNoMemory(t *testing.T) {
	const size = 48 << 20
	file := func() *endless {
		return &endless{simpleHeader + "1,lamp,5,2019-04-03,Ann,first,\"A fine, lamp\"\n4,lamp,5,2019-04-03,Zoe,x,\"Great\n", size}
	}
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := uint64(0)
	var rejects counting
	result, err := convert.Convert(t.Context(), convert.Request{File: file(), To: io.Discard, Rejects: &rejects, Mapping: simple, Progress: func(int64) {
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapAlloc)
	}})
	if err != nil || result.Converted != 1 || result.RejectedTotal != 1 || most > before.HeapAlloc+48<<20 {
		t.Errorf("%d MiB more, %+v, %v", (most-before.HeapAlloc)>>20, result, err)
	}
	if rejects.bytes < size-1<<10 || int64(rejects.lines) < result.Rejected[0].Last-3 || !strings.Contains(result.Rejected[0].Reason, "more than 1024 KiB") {
		t.Errorf("%+v, %+v", rejects, result)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := file()
	stop := readers(func(p []byte) (int, error) {
		if gone.bytes < size-8<<20 {
			cancel()
		}
		return gone.Read(p)
	})
	if _, err := convert.Convert(ctx, convert.Request{File: stop, To: io.Discard, Mapping: simple}); !errors.Is(err, context.Canceled) || gone.bytes < size-16<<20 {
		t.Errorf("%v, with %d MiB unread", err, gone.bytes>>20)
	}
	if _, err := convert.Convert(ctx, convert.Request{File: readers(func([]byte) (int, error) { t.Error("it was read"); return 0, io.EOF }), To: io.Discard}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// readers is a reader that is a function.
type readers func([]byte) (int, error)

func (r readers) Read(p []byte) (int, error) { return r(p) }

// A table has 1,000 columns at most, besides those of rejected rows.
func TestColumnsAreBounded(t *testing.T) {
	table := func(columns int, more string) string {
		return "p,r,d,n" + strings.Repeat(",c", columns-4) + more + "\nx,5,2019-04-03,a" + strings.Repeat(",", columns-4+strings.Count(more, ",")) + "\n"
	}
	mapping := convert.Mapping{"collection_id": "p", "rating": "r", "created": "d", "author_name": "n"}
	for _, file := range []string{table(1000, ""), table(1000, ",rejected_line,rejected_reason")} {
		if _, result, _ := converted(t, convert.Request{Mapping: mapping}, file); result.Converted != 1 {
			t.Errorf("%.500v", result)
		}
	}
	for columns, more := range map[int]string{1001: "", 1100: ",rejected_line,rejected_reason", 90000: "", 500000: ""} {
		want := fmt.Sprintf("the table has %d columns, and at most 1000 can be read", columns)
		_, err := convert.Convert(t.Context(), convert.Request{File: strings.NewReader(table(columns, more)), To: io.Discard, Mapping: mapping})
		_, seen := convert.Look(strings.NewReader(table(columns, more)))
		if !errors.Is(err, vitrine.ErrInvalid) || !errors.Is(seen, vitrine.ErrInvalid) || !strings.Contains(err.Error(), want) && (more == "" && columns < 300000) {
			t.Errorf("%d: %v, %v", columns, err, seen)
		}
	}
}
