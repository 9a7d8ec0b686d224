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
var writtenMapping = convert.Mapping{
	"collection_id": "product", "review_id": "id", "rating": "stars", "created": "date", "author_name": "name",
	"author_email": "mail", "title": "title", "body": "text",
}

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
	own := fmt.Sprintf("r%dr", n)
	return map[string]string{
		"id": fmt.Sprintf("%s%d", name, 100+n), "product": "lamp", "stars": strconv.Itoa(n%5 + 1),
		"date": fmt.Sprintf("2019-04-%02d", n%28+1), "name": "Ann " + own, "mail": own + "@example.test",
		"title": "Title " + own, "text": "Good " + own,
	}
}

// newWritten makes a table.
func newWritten(random *rand.Rand) *written {
	w := &written{quoting: random.IntN(3)}
	w.columns = []string{"id", "product", "stars", "date", "name", "mail", "title", "text"}
	random.Shuffle(len(w.columns), func(i, j int) { w.columns[i], w.columns[j] = w.columns[j], w.columns[i] })
	w.comma = []string{",", ";", "\t", "|"}[random.IntN(4)]
	w.end = []string{"\n", "\r\n"}[random.IntN(2)]
	for n := range 2 + random.IntN(6) {
		row := w.row(n, "id")
		own := fmt.Sprintf("r%dr", n)
		pieces := []string{
			"Good " + own, "\n", "\n\n", "- " + own, w.comma, w.comma + " " + own, `"` + own + `"`, `"`,
			` he said "wow"`,
			own, own + w.comma + own, "\n" + own + "\n",
		}
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
			text = []string{
				text + "\n" + line, text + "\n" + line + "\n" + own, "\n" + line + "\n",
				w.comma + own + "\n" + line + "\n" + line + w.comma,
			}[random.IntN(4)]
		}
		row["text"] = text
		if random.IntN(3) == 0 {
			titles := []string{`"` + own + `" ` + own, own + w.comma + own, w.comma + own + "\n" + own, "", `27"`}
			row["title"] = titles[random.IntN(len(titles))]
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

// outcome is what became of a table.
type outcome struct {
	list    []record
	result  convert.Result
	rejects string
	asText  bool // quotes were text
}

// convertWritten converts a file with the columns of these tables. It returns the error of a table that is refused.
func convertWritten(t *testing.T, file string) (o outcome, err error) {
	t.Helper()
	var out, rejects bytes.Buffer
	o.result, err = convert.Convert(t.Context(), convert.Request{
		File: strings.NewReader(file), To: &out, Rejects: &rejects, Mapping: writtenMapping, Source: "s",
	})
	for line := range bytes.Lines(out.Bytes()) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		o.list = append(o.list, r)
	}
	o.rejects = rejects.String()
	o.asText = slices.ContainsFunc(o.result.Notes, func(note string) bool {
		return strings.HasPrefix(note, "quotes are read as text")
	})
	return o, err
}

// whole fails unless a review is a row of the table, and has all of it. It returns the number of the row.
func (w *written) whole(t *testing.T, collection string, got review) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(bare(got.ID), "id"))
	if n -= 100; err != nil || n < 0 || n >= len(w.rows) {
		t.Fatalf("a review has the id %q", got.ID)
	}
	product, _ := base64.StdEncoding.DecodeString(collection)
	for name, text := range map[string]string{
		"product": string(product), "name": got.Name, "mail": got.Email, "title": got.Title, "text": got.Body,
	} {
		if want := w.rows[n][name]; bare(text) != bare(want) {
			t.Fatalf("the %s of %s is %q, want %q", name, got.ID, text, want)
		}
	}
	if w.forged[n] {
		t.Fatalf("%s has a line that looks like a row", got.ID)
	}
	return n
}

// holds fails unless what became of a table is right: each review is one row and has all of it, no line of a body is
// one, and what is no review is among the rejects.
func (w *written) holds(t *testing.T, file string, encode encoding.Encoding, damaged bool) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("the table is\n%s", file)
		}
	}()
	sent := file
	if encode != nil {
		var err error
		if sent, err = encode.NewEncoder().String(file); err != nil {
			t.Fatal(err)
		}
	}
	o, err := convertWritten(t, sent)
	switch {
	case damaged && errors.Is(err, vitrine.ErrInvalid): // it is in the header
		return
	case err != nil:
		t.Fatal(err)
	case o.asText:
		// The lost quote was of the only cell in quotes, so that nothing shows that there was one.
		if len(cellsInQuotes.FindAllString(w.String(), -1)) > 2 {
			t.Fatal("quotes are text")
		}
		return
	}
	found := map[int]bool{}
	for _, r := range o.list {
		for _, review := range r.Reviews {
			found[w.whole(t, r.ID, review)] = true
		}
	}
	lines, rejected := 0, bare(o.rejects)
	for _, r := range o.result.Rejected {
		lines += int(max(r.Line, r.Last) - r.Line + 1)
	}
	for n, row := range w.rows {
		kept := strings.Contains(rejected, row["id"])
		if kept == found[n] && !w.forged[n] || !kept && !found[n] || !damaged && found[n] == w.forged[n] {
			t.Fatalf("%s is converted: %v, rejected: %v\n%s\n%+v", row["id"], found[n], kept, o.rejects, o.result)
		}
		if found[n] {
			lines += 1 + strings.Count(row["text"]+row["title"], "\n")
		}
	}
	if all := strings.Count(file, "\n") - 1; !damaged && lines != all {
		t.Fatalf("%d lines are told, of %d\n%+v", lines, all, o.result)
	}
	if o.rejects == "" {
		return
	}
	again, err := convertWritten(t, o.rejects)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() {
			t.Logf("what was rejected, and not mended, is\n%s", o.rejects)
		}
	}()
	for _, r := range again.list {
		for _, review := range r.Reviews {
			w.whole(t, r.ID, review)
		}
	}
}

// cellsInQuotes finds the cells in quotes of a table without damage.
var cellsInQuotes = regexp.MustCompile(`"(?:[^"]|"")*"`)

// Of any table in which any one quote is lost, or one is too many, nothing is converted that was not a row. A long run,
// with other tables: QUOTES=500 go test ./reviews/convert -run AQuoteIsLost -timeout 1h
func TestAQuoteIsLost(t *testing.T) {
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	encodings := []encoding.Encoding{nil, nil, nil, unicode.UTF8BOM, charmap.Windows1252, utf16}
	tables, first := 8, 0
	if n, _ := strconv.Atoi(os.Getenv("QUOTES")); n > 0 {
		tables, first = n, 1000
	}
	for seed := range tables {
		random := rand.New(rand.NewPCG(uint64(first+seed), 7))
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
	const (
		header = "id,product,stars,date,name,title,text\n"
		first  = "1,lamp,5,2019-04-03,Ann,first,\"A fine, lamp\"\n"
		last   = "9,lamp,4,2019-04-05,Cy,last,\"Good, too\"\n"
		open   = "4,lamp,5,2019-04-03,Zoe,x,\"Great\n"
		two    = "2,lamp,1,2019-04-04,Ben,second,plain\n"
		three  = "3,lamp,2,2019-04-04,Eve,third,\"ok, so\"\n"
	)
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for name, c := range map[string]struct {
		rows, reason string
		ids          string // of the reviews
		line, lines  int64  // of the piece
		piece        string // in the rejects; "" = rows
	}{
		"not closed": {open + two + three,
			"a quote is opened in line 3 and not closed before another is opened in line 5, so these 3 lines are not",
			"1 9", 3, 3, ""},
		"not closed, CRLF": {crlf(open + two + three),
			"not closed before another is opened in line 5",
			"1 9", 3, 3, ""},
		"a row in a body": {open + two + "end\"\n",
			"line 4 looks like a row of its own, and is inside of a quote that is opened in line 3, so these 3 lines",
			"1 9", 3, 3, ""},
		"not opened": {strings.Replace(open, `"`, "", 1) + two + "end\"\n",
			"a cell in line 5 ends with a quote that was not opened, and quotes were last right in line 2, so these 4",
			"9", 2, 4, first + "4,lamp"},
		"many rows": {open + strings.Repeat(two, 300) + three, "so these 302 lines", "1 9", 3, 302, ""},
		"a cell that is closed": {open + "lamp\",y\n",
			"the row has 8 cells, and there are 7 columns: a quote is opened in line 3 and closed in line 4",
			"1 9", 3, 2, ""},
	} {
		list, result, rejects := converted(t, convert.Request{Mapping: simple}, header+first+c.rows+last)
		if ids := idsOf(list); ids != c.ids || result.RejectedTotal != 1 {
			t.Fatalf("%s: %s, %+v", name, ids, result)
		}
		r := result.Rejected[0]
		if !strings.Contains(r.Reason, c.reason) || r.Line != c.line || r.Last != c.line+c.lines-1 {
			t.Errorf("%s: %+v", name, r)
		}
		if piece := cmp.Or(c.piece, strings.TrimRight(c.rows, "\r\n")); !strings.Contains(rejects, piece) {
			t.Errorf("%s: %q is not in %q", name, piece, rejects)
		}
		list, again, _ := converted(t, convert.Request{Mapping: simple}, rejects)
		if again.Converted != 0 || again.RejectedTotal == 0 {
			t.Errorf("%s: not mended, it is %+v, %+v", name, list, again)
		}
	}
	mend := strings.NewReplacer(`"Great`, `"Great"`)
	for _, end := range []string{"", "\n", "\r\n"} { // it is the last row
		file := header + first + strings.TrimSpace(open) + end
		_, result, rejects := converted(t, convert.Request{Mapping: simple}, file)
		const want = "opened in line 3 and not closed up to the end of the file in line 3, so this line"
		if reason := result.Rejected[0].Reason; result.Converted != 1 || !strings.Contains(reason, want) ||
			!strings.Contains(rejects, `Zoe,x,"Great`) {
			t.Errorf("%q: %+v, %q", end, result, rejects)
		}
		list, result, _ := converted(t, convert.Request{Mapping: simple}, mend.Replace(rejects))
		if len(list) != 1 || list[0].Reviews[0].Body != "<p>Great</p>" || result.RejectedTotal != 0 {
			t.Errorf("%q: mended, it is %+v, %+v", end, list, result)
		}
	}
	// What was one row are three when the quote is there.
	_, _, rejects := converted(t, convert.Request{Mapping: simple}, header+first+open+two+three)
	list, result, _ := converted(t, convert.Request{Mapping: simple}, mend.Replace(rejects))
	if idsOf(list) != "4 2 3" || result.RejectedTotal != 0 {
		t.Errorf("mended, it is %+v, %+v\n%s", list, result, rejects)
	}
}

// What was rejected is not converted as long as nobody has mended it: neither does the reason become a part of a
// review, nor do empty cells stand for those that a quote has taken, and quotes do not become text since many are
// wrong.
func TestRejectsThatAreNotMended(t *testing.T) {
	const right = "1,lamp,5,2019-04-03,Ann,first,\"A fine, lamp\"\n"
	for name, rows := range map[string]string{
		"open at the end":        right + "4,lamp,5,2019-04-03,Zoe,x,\"Great",
		"open, and a line end":   right + "4,lamp,5,2019-04-03,Zoe,x,\"Great\n",
		"one that takes a cell":  right + "4,lamp,5,2019-04-03,Zoe,\"x,\"Great, z@example.test\"\n",
		"two cells too few":      right + "4,lamp,5,2019-04-03,Zoe\n",
		"two cells too many":     right + "4,lamp,5,2019-04-03,Zoe,x,Great, so, fine\n",
		"open, and two too many": right + "4,lamp,5,2019-04-03,Zoe,x,Great, so,\"fine\n",
		"many quotes":            manyQuotes(right),
	} {
		in := convert.Request{Mapping: simple}
		_, first, rejects := converted(t, in, simpleHeader+rows)
		list, result, rejectsAgain := converted(t, in, rejects)
		if first.Converted == 0 || first.RejectedTotal == 0 || len(list) > 0 ||
			result.RejectedTotal != first.RejectedTotal {
			t.Errorf("%s: %+v, then %+v, %+v\n%s", name, first, list, result, rejects)
		}
		list, result, _ = converted(t, in, rejectsAgain)
		if len(list) > 0 || result.RejectedTotal != first.RejectedTotal {
			t.Errorf("%s, for the third time: %+v, %+v\n%s", name, list, result, rejectsAgain)
		}
	}
	for _, c := range []struct{ wrong, lost, mended string }{
		{"4,lamp,5,2019-04-03,Zoe,\"x,\"Great, z\"\n", `"x,`, `"x",`},
		{"4,lamp,5,2019-04-03,Zoe,x,\"Great", `"Great`, `"Great"`},
		{"4,lamp,5,2019-04-03,Zoe,x\n", "Zoe,x", "Zoe,x,Great"},
	} {
		_, _, rejects := converted(t, convert.Request{Mapping: simple}, simpleHeader+right+c.wrong)
		mended := strings.Replace(rejects, c.lost, c.mended, 1)
		list, result, _ := converted(t, convert.Request{Mapping: simple}, mended)
		if idsOf(list) != "4" || result.RejectedTotal != 0 || !strings.Contains(list[0].Reviews[0].Body, "Great") {
			t.Errorf("mended, it is %+v, %+v\n%s", list, result, mended)
		}
	}
}

// A quote that is lost in the first row is found, so that no column gets the name of the one before it: rows with an
// empty last cell would fit.
func TestAQuoteIsLostInTheHeader(t *testing.T) {
	const header = `"id","product","stars","date","ip","mail","name","title","text","reply"` + "\n"
	const row = `"","lamp","5","2019-04-03","10.1.2.3","ann@example.test","Ann","fine","Good",""` + "\n"
	for at := range header {
		file := header[:at] + header[at+1:]
		if header[at] != '"' {
			continue
		}
		mapping := convert.Mapping{
			"collection_id": "product", "rating": "stars", "created": "date", "author_name": "name", "body": "text",
		}
		for _, file := range []string{file + row, file + strings.ReplaceAll(row, `""`, "")} {
			in := convert.Request{File: strings.NewReader(file), To: new(bytes.Buffer), Mapping: mapping}
			result, err := convert.Convert(t.Context(), in)
			out := in.To.(*bytes.Buffer).String()
			if err == nil && result.Converted > 0 &&
				(!strings.Contains(out, `"imported_display_name":"Ann"`) || !strings.Contains(out, "<p>Good</p>")) {
				t.Errorf("%s%+v\n%s", file, result, out)
			}
			if err != nil && !errors.Is(err, vitrine.ErrInvalid) {
				t.Errorf("%s%v", file, err)
			}
		}
	}
	in := convert.Request{
		File: strings.NewReader("id,product,stars,date,name,title,\"text\n\",lamp,5,2019-04-03,Ann,x,y\n"),
		To:   io.Discard,
	}
	if _, err := convert.Convert(t.Context(), in); !errors.Is(err, vitrine.ErrInvalid) {
		t.Errorf("a quote of the header that is closed in the next line: %v", err)
	}
}

// manyQuotes returns rows of which few enough have a quote that is not doubled for all of them to be faults.
func manyQuotes(right string) (rows string) {
	for n := range 600 {
		rows += strings.Replace(right, "1,", strconv.Itoa(1000+n)+",", 1)
		if n%150 == 100 {
			rows += fmt.Sprintf("%d,lamp,5,2019-04-03,Zoe,TV 55\",x\n", n)
		}
	}
	return rows
}

// idsOf returns the ids of the reviews.
func idsOf(list []record) string {
	var ids []string
	for _, r := range list {
		for _, review := range r.Reviews {
			ids = append(ids, review.ID)
		}
	}
	return strings.Join(ids, " ")
}

// A dump has quotes in its cells and none around them, and a table may have quotes that are not doubled.
func TestQuotesThatAreText(t *testing.T) {
	const dump = "id\tproduct\tstars\tdate\tname\ttitle\ttext\n" +
		"1\tlamp\t5\t2019-04-03\tAnn\t\t\"Best\" lamp, he said\n" +
		"2\tlamp\t5\t2019-04-04\tBen\tTV 55\"\t\"Good\n" +
		"3\tlamp\t5\t2019-04-05\tCy\t\the said \"wow\"\n"
	long := dump + strings.Repeat("4\tlamp\t5\t2019-04-05\tCy\t\tgood\n", 20000)
	for name, file := range map[string]string{"as it is": dump, "large": long} {
		list, result, _ := converted(t, convert.Request{Mapping: simple}, file)
		var bodies []string
		for _, review := range list[0].Reviews[:3] {
			bodies = append(bodies, review.Body)
		}
		want := []string{`<p>"Best" lamp, he said</p>`, `<p>"Good</p>`, `<p>he said "wow"</p>`}
		const note = "quotes are read as text, since no cell of this table both begins and ends with one"
		if !slices.Equal(bodies, want) || !slices.Contains(result.Notes, note) {
			t.Errorf("%s: %q, %q", name, bodies, result.Notes)
		}
	}
	short := dump + "5\tlamp\t5\t2019-04-05\tCy\t\"Great\n"
	for n := range 40 {
		short += fmt.Sprintf("%d\tlamp\t5\t2019-04-05\tCy\tTV 55\"\tgood\n", 10+n)
	}
	_, result, _ := converted(t, convert.Request{Mapping: simple}, short)
	if result.RejectedTotal != 1 ||
		!strings.Contains(result.Rejected[0].Reason,
			"a quote is opened in this line, and quotes are text in this table") {
		t.Errorf("%+v", result)
	}
	// Of the only cell in quotes a quote is lost: its second line is no row.
	for _, cell := range []string{"\"fine\n%s\nx", "fine\n%s\nx\"", "\"\n%s\nx", "\n%s\nx\""} {
		cell = fmt.Sprintf(cell, "9,lamp,5,2019-04-03,Ann,,ann@example.test")
		list, result, _ := converted(t, convert.Request{Mapping: simple},
			simpleHeader+"1,lamp,5,2019-04-03,Ann,,plain\n2,lamp,5,2019-04-03,Ann,"+cell+
				",y\n3,lamp,5,2019-04-03,Ben,,z\n")
		if strings.Contains(idsOf(list), "9") || result.RejectedTotal == 0 {
			t.Errorf("%q: %+v, %+v", cell, list, result)
		}
	}
	loose := simpleHeader + strings.Repeat("1,lamp,5,2019-04-03,Ann,TV 55\",\"Good, so\"\n", 50)
	noIDs := convert.Mapping{
		"collection_id": "product", "rating": "stars", "created": "date", "author_name": "name", "title": "title",
	}
	_, result, _ = converted(t, convert.Request{Mapping: noIDs}, loose)
	if !slices.ContainsFunc(result.Notes, func(note string) bool {
		return strings.HasPrefix(note, "quotes inside of cells are not doubled in this table, as in line 2")
	}) || result.Converted != 50 {
		t.Errorf("%+v", result)
	}
	// These lines are right without quotes, but nothing else shows that quotes are text, and whoever wrote the cell may
	// want that.
	_, result, _ = converted(t, convert.Request{Mapping: simple}, simpleHeader+
		"1,lamp,5,2019-04-03,Ann,,fine\n2,lamp,5,2019-04-03,Ann,,\"x\n3,lamp,5,2019-04-03,Ann,,x\"\n")
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

// A quote that takes the rest of a file takes no memory, and all of it is among the rejects.
func TestAQuoteTakesNoMemory(t *testing.T) {
	const size = 64 << 20
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := uint64(0)
	var rejects counting
	result, err := convert.Convert(t.Context(), convert.Request{
		File: swallowed(size), To: io.Discard, Rejects: &rejects, Mapping: simple,
		Progress: func(int64) {
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		},
	})
	if err != nil || result.Converted != 1 || result.RejectedTotal != 1 || most > before.HeapAlloc+32<<20 {
		t.Errorf("%d MiB more, %+v, %v", (most-before.HeapAlloc)>>20, result, err)
	}
	r := result.Rejected[0]
	if rejects.bytes < size || int64(rejects.lines) < r.Last-r.Line || !strings.Contains(r.Reason, "1024 KiB") {
		t.Errorf("%+v, %+v", rejects, result)
	}
	t.Logf("%d MiB more", (most-before.HeapAlloc)>>20)
}

// swallowed is a table with such a quote.
func swallowed(size int) *endless {
	const rows = "1,lamp,5,2019-04-03,Ann,first,\"A fine, lamp\"\n4,lamp,5,2019-04-03,Zoe,x,\"Great\n"
	return &endless{simpleHeader + rows, size}
}

// When the client has gone, nothing more is read, also in the middle of a row.
func TestConvertStopsWithItsContext(t *testing.T) {
	const size = 64 << 20
	ctx, cancel := context.WithCancel(t.Context())
	file := swallowed(size)
	in := convert.Request{To: io.Discard, Mapping: simple, File: readers(func(p []byte) (int, error) {
		if file.bytes < size-8<<20 {
			cancel()
		}
		return file.Read(p)
	})}
	if _, err := convert.Convert(ctx, in); !errors.Is(err, context.Canceled) || file.bytes < size-16<<20 {
		t.Errorf("%v, with %d MiB unread", err, file.bytes>>20)
	}
	in.File = readers(func([]byte) (int, error) { t.Error("it was read"); return 0, io.EOF })
	if _, err := convert.Convert(ctx, in); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// readers is a reader that is a function.
type readers func([]byte) (int, error)

func (r readers) Read(p []byte) (int, error) { return r(p) }

// A table has 1,000 columns at most, besides those of rejected rows.
func TestColumnsAreBounded(t *testing.T) {
	table := func(columns int, more string) string {
		empty := strings.Repeat(",", columns-4+strings.Count(more, ","))
		return "p,r,d,n" + strings.Repeat(",c", columns-4) + more + "\nx,5,2019-04-03,a" + empty + "\n"
	}
	const rejected = ",rejected_line,rejected_reason"
	mapping := convert.Mapping{"collection_id": "p", "rating": "r", "created": "d", "author_name": "n"}
	for _, file := range []string{table(1000, ""), table(1000, rejected)} {
		if _, result, _ := converted(t, convert.Request{Mapping: mapping}, file); result.Converted != 1 {
			t.Errorf("%.500v", result)
		}
	}
	for _, begin := range []string{"x,5,2019-04-03,a", "", ",,,"} { // what follows is far behind the last column
		file := table(4, "") + begin + strings.Repeat(",", 5000) + "b\n"
		_, result, rejects := converted(t, convert.Request{Mapping: mapping}, file)
		if result.Converted != 1 || result.RejectedTotal != 1 || !strings.Contains(rejects, ",b,3,") ||
			!strings.Contains(result.Rejected[0].Reason, "cells, and there are 4 columns") {
			t.Errorf("%.500v", result)
		}
	}
	for columns, more := range map[int]string{1001: "", 1090: rejected, 90000: "", 500000: ""} {
		file := table(columns, more)
		in := convert.Request{File: strings.NewReader(file), To: io.Discard, Mapping: mapping}
		want := fmt.Sprintf("the table has %d columns, and at most 1000 can be read", columns)
		_, err := convert.Convert(t.Context(), in)
		if !errors.Is(err, vitrine.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", columns, err)
		}
		if _, err := convert.Look(strings.NewReader(file), ""); !errors.Is(err, vitrine.ErrInvalid) {
			t.Errorf("%d: %v", columns, err)
		}
	}
}
