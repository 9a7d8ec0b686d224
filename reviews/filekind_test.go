package reviews_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func inUTF16(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

// storedZip is a zip archive with a file that is not compressed, so its lines stand in the archive as they are.
func storedZip(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	file, err := w.CreateHeader(&zip.FileHeader{Name: "reviews.ndjson", Method: zip.Store})
	if err == nil {
		_, err = io.WriteString(file, text)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// tarOf is a tar archive with one file.
func tarOf(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := w.WriteHeader(&tar.Header{Name: "reviews.ndjson", Size: int64(len(text)), Mode: 0o600})
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFilesOfAnotherKindAreOneError(t *testing.T) {
	pretty := strings.NewReplacer(",", ",\n  ", "[{", "[\n{", "}]", "}\n]").Replace(record) + "\n"
	one := record[strings.Index(record, `{"id":"r"`):strings.LastIndex(record, "]}")]
	long := numbered(2)[:len(numbered(2))-2]
	for i := range 6_000 {
		long += strings.Replace(one, `{"id":"r"`, fmt.Sprintf(`,{"id":"r%d"`, i), 1)
	}
	long += "]}"
	for _, test := range []struct{ name, file, is string }{
		{"a JSON array", "[" + record + "," + numbered(2) + "]\n", "one JSON array"},
		{"a JSON array over several lines", " [\n" + pretty + "]\n", "one JSON array"},
		{"a JSON array with a collection a line", "[\n" + record + ",\n" + numbered(2) + ",\n" + numbered(3) + "\n]\n",
			"one JSON array"},
		{"the same without an end", " [ \r\n" + strings.Repeat(record+" ,\r\n", 300) + record, "one JSON array"},
		{"the same with a long last element", "[\n" + record + ",\n" + long + "\n]\n", "one JSON array"},
		{"JSON over several lines", pretty, "JSON over several lines"},
		{"CSV", "id,title,rating\n1,\"Bright, very\",80\n2,Heavy,20\n", "a table"},
		{"CSV of one line", "id,title,rating", "a table"},
		{"CSV with semicolons", "id;title\r\n1;Bright\r\n", "a table"},
		{"tabs", "id\ttitle\n1\tBright\n", "a table"},
		{"UTF-16", inUTF16(record + "\n" + numbered(2) + "\n"), "UTF-16"},
		{"UTF-16 without a mark", inUTF16(record + "\n")[2:], "UTF-16"},
		{"UTF-16 without a mark, the other byte first", "\x00" + strings.TrimSuffix(inUTF16(record + "\n")[2:], "\x00"),
			"UTF-16"},
		{"an archive of a store",
			"{\"vitrine\":3}\n{\"key\":\"apps app/1\",\"value\":{}}\n{\"entries\":1,\"sha256\":\"00\"}\n",
			"an archive of a whole store"},
		{"a zip archive", "PK\x03\x04\x14\x00\x00\x00\x08\x00reviews.json\n\x01\n", "a zip archive"},
		{"a spreadsheet", "PK\x03\x04" + strings.Repeat("\x00", 26) + "[Content_Types].xml\n\x01\n", "a spreadsheet"},
		{"an old spreadsheet", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\n\x00\n", "a spreadsheet"},
		{"a zip archive of records that are not compressed",
			storedZip(t, record+"\n"+numbered(2)+"\n"+numbered(3)+"\n"), "a zip archive"},
		{"the same, of a name that a spreadsheet has inside",
			storedZip(t, strings.Replace(record, `"title":"`, `"title":"xl/`, 1)+"\n"+numbered(2)+"\n"),
			"a zip archive"},
		{"a tar archive", tarOf(t, record+"\n"+numbered(2)+"\n"+numbered(3)+"\n"), "a tar archive"},
		{"what was compressed twice", zipped(numbered(1) + "\n"), ""},
		{"records behind the beginning of a program", "\x7fELF\n" + record + "\n", "a binary file"},
		{"records behind the beginning of lz4", "\x04\x22\x4d\x18\n" + record + "\n", "a binary file"},
		{"records behind the beginning of xz", "\xfd7zXZ\x00\n" + record + "\n", "compressed with xz"},
		{"an OpenDocument spreadsheet",
			"PK\x03\x04" + strings.Repeat("\x00", 26) + "mimetypeapplication/vnd.oasis.opendocument.spreadsheet" +
				"\n" + record + "\n", "a spreadsheet"},
		{"CSV with line breaks in cells",
			"id,title,body,rating\n1,Bright,\"Very bright,\nand warm.\n\nI \"\"like\"\" " +
				"it\",80\n2,Heavy,\"Too\nheavy\",20\n", "a table"},
		{"CSV with line breaks in the header", "\"id\",\"the\ntitle\"\n1,Bright\n2,Heavy\n", "a table"},
		{"CSV with a mark, semicolons and line breaks",
			"\ufeff\"id\";\"body\"\r\n\"1\";\"Bright,\r\nwarm; \\\"light\\\"\"\r\n", "a table"},
		{"tabs and line breaks", "id\tbody\tstars\n1\t\"Bright\n\tand warm\"\t5\n", "a table"},
		{"CSV with a quote inside a cell", "id,title\n1,Lamp 5\" wide\n2,Lamp 6\" wide\n", "a table"},
		{"CSV with a cell that is longer than the beginning",
			"id,body\n1,\"" + strings.Repeat("Bright\n", 2000) + "\"\n", "a table"},
		{"CSV that names its separator", "sep=;\r\nid;title;stars\r\n1;Bright;5\r\n", "a table"},
		{"a long table", "id,title\n" + strings.Repeat("1,Bright\n", 5000), "a table"},
	} {
		files := []string{test.file, zipped(test.file)}
		if test.is == "" { // what was compressed twice has no text
			files, test.is = files[1:], "compressed with gzip twice"
		} else if len(test.file) > 1<<16 {
			files = files[:1]
		}
		for _, file := range files {
			r := importInto(t, memory.New(), file, nil)
			if len(r.Problems) != 1 || r.Errors != 1 || r.ReviewsCreated > 0 {
				t.Errorf("%s: %d problems, %v", test.name, r.Errors, r.Problems[:min(3, len(r.Problems))])
				continue
			}
			want := reviews.Problem{Line: 1, Column: 1,
				Offset: int64(len(test.file) - len(strings.TrimPrefix(test.file, "\ufeff"))), Rule: "file-kind",
				Severity: reviews.SeverityError, Message: r.Problems[0].Message}
			if r.Problems[0] != want || !strings.HasPrefix(want.Message, "this is "+test.is) ||
				!strings.Contains(want.Message, ": ") {
				t.Errorf("%s: %+v", test.name, r.Problems[0])
			}
			if got := check(t, []byte(file), nil); len(got) != 1 || got[0] != r.Problems[0] {
				t.Errorf("%s: check finds %v", test.name, got)
			}
		}
	}
}

// A file that begins with [ is no array if it has a record after the one that may be the last element.
func TestAFileWithABracketAndRecordsIsNoArray(t *testing.T) {
	many, list := "", []string{}
	for i := range 1000 {
		many += numbered(i+10) + "\n"
		list = append(list, review(fmt.Sprint(i), 5, ""))
	}
	long := strings.TrimSuffix(collection("bG9uZw==", single, list...), "\n")
	for _, test := range []struct {
		name, file string
		created    int64
		errors     []int64 // lines
	}{
		{"no comma", "[\n" + numbered(1) + "\n" + numbered(2) + "\n]\n", 2, []int64{1, 4}},
		{"a comma and many records", "[\n" + numbered(1) + ",\n" + numbered(2) + "\n" + many, 1000, []int64{1, 2, 3}},
		{"a comma, a long record and many others", "[\n" + numbered(1) + ",\n" + long + "\n" + many, 1000,
			[]int64{1, 2, 3}},
		{"a comma in the middle", "[\n" + numbered(1) + "\n" + numbered(2) + ",\n" + numbered(3) + "\n", 2,
			[]int64{1, 3}},
		{"commas after the records",
			"[\n" + numbered(1) + ",\n" + numbered(2) + "\n" + numbered(3) + "\n" + numbered(4) + ",\n" + numbered(5) +
				"\n", 2, []int64{1, 2, 3, 5}},
		{"two arrays",
			"[\n" + numbered(1) + ",\n" + numbered(2) + "\n]\n[\n" + numbered(3) + ",\n" + numbered(4) + "\n]\n", 1,
			[]int64{1, 2, 3, 4, 5, 6, 8}},
	} {
		for _, buffer := range []int{5000, 1 << 20} {
			store := memory.New()
			var rejects bytes.Buffer
			copied := reviews.NewRejects(strings.NewReader(test.file), &rejects)
			var lines []int64
			in := reviews.ImportRequest{ReadOptions: *reviews.WithBuffer(reviews.ReadOptions{}, buffer),
				Problem: func(p reviews.Problem) {
					copied.Add(p)
					lines = append(lines, p.Line)
					if p.Rule != "json" {
						t.Errorf("%s: %v", test.name, p)
					}
				}}
			r := importInto(t, store, test.file, &in)
			if r.ReviewsCreated != test.created || !slices.Equal(lines, test.errors) {
				t.Errorf("%s, buffer %d: %+v, errors in the lines %d, want %d", test.name, buffer, r.Counts, lines,
					test.errors)
			}
			want := ""
			for i, line := range strings.SplitAfter(test.file, "\n") {
				if slices.Contains(test.errors, int64(i)+1) {
					want += line
				}
			}
			if err := copied.End(); err != nil || rejects.String() != want {
				t.Errorf("%s: the rejects have %d bytes, want %d, %v", test.name, rejects.Len(), len(want), err)
			}
			checked := check(t, []byte(test.file), &in.ReadOptions)
			if len(checked) != len(lines) {
				t.Errorf("%s: check finds %d problems, want %d", test.name, len(checked), len(lines))
			}
		}
	}
}

// One record is enough: then the file is of the right kind, and each line that is none has its error.
func TestAFileWithARecordIsOfTheRightKind(t *testing.T) {
	for _, lines := range []int{1, 999, 1000, 1001} {
		file := strings.Repeat("id,title\n", lines) + record + "\nid,title\n"
		r := importInto(t, memory.New(), file, nil)
		want := int64(lines) + 1
		if lines >= 1000 { // a thousand lines are a table; the record after them is imported all the same
			want = 2
		}
		if r.Errors != want || r.ReviewsCreated != 1 || (r.Problems[0].Rule == "file-kind") != (lines >= 1000) {
			t.Errorf("%d lines of a table before a record: %+v", lines, r.Counts)
		}
		if last := r.Problems[len(r.Problems)-1]; !r.ProblemsTruncated && last.Line != int64(lines)+2 {
			t.Errorf("%d lines: the last problem is %v", lines, last)
		}
	}
}

func TestRejectsAreTheLinesWithAnError(t *testing.T) {
	long := strings.Replace(numbered(7), `"title":"t"`, `"title":"`+strings.Repeat("é", 300_000)+`"`, 1)
	bad := func(line string) string { return strings.Replace(line, "[50]", "[0]", -1) }
	lines := []string{bad(numbered(1)) + "\r\n", "\n", numbered(2) + "\n", "no JSON\n",
		strings.Replace(numbered(3), `"dimensions":["default"],`, "", 1) + "\n",
		numbered(2) + "\n", long + "\n", bad(long) + "\n", numbered(4) + "\n", bad(numbered(5))}
	want := lines[0] + lines[3] + lines[5] + lines[7] + lines[9] + "\n"
	text := "\ufeff" + strings.Join(lines, "")
	for name, file := range map[string]string{"plain": text, "gzip": zipped(text)} {
		for _, buffer := range []int{100, 1 << 20} {
			var out bytes.Buffer
			rejects := reviews.NewRejects(strings.NewReader(file), &out)
			in := reviews.ImportRequest{Problem: rejects.Add,
				ReadOptions: *reviews.WithBuffer(reviews.ReadOptions{}, buffer)}
			importInto(t, memory.New(), file, &in)
			if err := rejects.End(); err != nil || out.String() != want {
				t.Errorf("%s, buffer %d: %d bytes, want %d, %v", name, buffer, out.Len(), len(want), err)
			}
		}
	}
	var out bytes.Buffer
	rejects := reviews.NewRejects(strings.NewReader("id,title\n"), &out)
	for _, p := range check(t, []byte("id,title\n"), nil) {
		rejects.Add(p)
	}
	if err := rejects.End(); err != nil || out.Len() > 0 {
		t.Errorf("of a table: %q, %v", &out, err)
	}
	failing := reviews.NewRejects(failingFile{}, &out)
	failing.Add(reviews.Problem{Line: 1, Severity: reviews.SeverityError})
	if failing.End() == nil {
		t.Error("a file that cannot be read is no error")
	}
}

type failingFile struct{}

func (failingFile) Read([]byte) (int, error) { return 0, fmt.Errorf("unreadable") }
