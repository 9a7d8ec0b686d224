package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

// legacy is a record of an old site.
func legacy(number int) string {
	return fmt.Sprintf(`{"source":"shop.test","title":"Article %d","created":"2019-01-01T00:00:00Z","id":"%s",`+
		`"dimensions":["default"],"reviews":[`+
		`{"id":"1","imported_display_name":"Ada","imported_url":"https://ada.test/","title":"Good",`+
		`"body_html":"<p>Text & more.</p>","created":"2019-04-03T10:11:12Z","ratings":[80],`+
		`"subparts":{"colour":"red"}},`+
		`{"id":"2","author_id":"u7","parent_id":"1","title":"Re","body_html":"","created":"2019-04-04T00:00:00Z",`+
		`"ratings":[60]}]}`, number, articleID(number))
}

func articleID(number int) string {
	return base64.StdEncoding.EncodeToString(strconv.AppendInt(nil, int64(number), 10))
}

// legacyFaults are what is wrong in old data: the text as it should be, as it is, and the rule that it breaks.
var legacyFaults = [][3]string{
	{`"created":"2019-04-03T10:11:12Z"`, `"created":"03/04/2019"`, "timestamp"},
	{`"created":"2019-04-03T10:11:12Z"`, `"created":"2019-04-31T10:11:12Z"`, "timestamp"},
	{`"created":"2019-04-03T10:11:12Z"`, `"created":"2019-04-03 10:11:12"`, "timestamp"},
	{`"created":"2019-04-03T10:11:12Z"`, `"created":1554286272`, "value-type"},
	{`"created":"2019-01-01T00:00:00Z"`, `"created":"New Year"`, "timestamp"},
	{`"ratings":[80]`, `"ratings":[0]`, "rating-range"},
	{`"ratings":[80]`, `"ratings":[101]`, "rating-range"},
	{`"ratings":[80]`, `"ratings":[80.0]`, "rating-integer"},
	{`"ratings":[80]`, `"ratings":["80"]`, "value-type"},
	{`"ratings":[80]`, `"ratings":80`, "value-type"},
	{`"ratings":[80]`, `"ratings":[80,80]`, "ratings-count"},
	{`"ratings":[80]`, `"ratings":[]`, "ratings-count"},
	{`"title":"Good"`, `"headline":"Good"`, "member-unknown"},
	{`"title":"Good",`, `"x-title":null,`, "member-missing"},
	{`"title":"Good"`, `"title":null`, "value-type"},
	{`"title":"Good"`, `"title":"Good\u0000"`, "text-nul"},
	{`"title":"Good"`, `"title":"Good\ud800"`, "text-surrogate"},
	{`"title":"Good"`, `"title":"Good","title":"Good"`, "member-repeated"},
	{`"title":"Good"`, "\"title\":\"Go\xf6d\"", "utf-8"},
	{`<p>Text & more.</p>`, `<div>Text & more.</div>`, "body-html"},
	{`<p>Text & more.</p>`, `<p>Text & more. `, "body-html"},
	{`<p>Text & more.</p>`, `<p>Text & more.</p><script>x</script>`, "body-html"},
	{`<p>Text & more.</p>`, `<a href=\"javascript:x\">Text & more.</a>`, "body-html"},
	{`"imported_url":"https://ada.test/"`, `"imported_url":"ada.test"`, "url"},
	{`"imported_display_name":"Ada"`, `"imported_display_name":""`, "text-empty"},
	{`"imported_display_name":"Ada"`, `"imported_display_name":"Ada","author_id":"u1"`, "author-conflict"},
	{`{"id":"1","imported_display_name":"Ada","imported_url"`, `{"id":"1","imported_url"`, "author-missing"},
	{`"subparts":{"colour":"red"}`, `"subparts":{"colour":1}`, "value-type"},
	{`[80],"subparts":{"colour":"red"}`, `[80],"colour":"red"`, "member-unknown"},
	{`"parent_id":"1"`, `"parent_id":"9"`, "parent"},
	{`{"id":"2","author_id"`, `{"id":"1","author_id"`, "review-repeated"},
	{`"author_id":"u7"`, `"author_id":"` + strings.Repeat("u7", 150) + `"`, "author-id-length"},
	{`"dimensions":["default"]`, `"dimensions":["stars"]`, "dimensions-single"},
	{`"dimensions":["default"]`, `"dimensions":[]`, "dimensions-none"},
	{`"source":"shop.test"`, `"source":""`, "text-empty"},
	{`]}]}`, `]}]`, "json"},
	{`]}]}`, `]}]},`, "json"},
	{`"id":"`, `"id":"article `, "collection-id-base64"}, // the first one, of the collection
}

// spoil puts a fault into a record.
func spoil(record string, fault [3]string) string {
	bad := strings.Replace(record, fault[0], fault[1], 1)
	if bad == record {
		panic("the record has no " + fault[0])
	}
	return bad
}

var unspoiledID = regexp.MustCompile(`"id":"article `)

// mend is the script that mends rejects.
func mend(rejects string) string {
	var pairs []string
	for _, fault := range legacyFaults[:len(legacyFaults)-3] {
		pairs = append(pairs, fault[1], fault[0])
	}
	mends := strings.NewReplacer(pairs...)
	var out strings.Builder
	for line := range strings.Lines(rejects) {
		line = unspoiledID.ReplaceAllString(mends.Replace(strings.TrimSuffix(line, "\n")), `"id":"`)
		line = strings.TrimSuffix(strings.TrimSuffix(line, ","), "}") + "}\n"
		out.WriteString(line)
	}
	return out.String()
}

// A migration from beginning to end: a file with a fault in each tenth record, then the rejects, mended by a script.
// After that each review is in exactly once.
func TestAMigrationWithThirtyFiveKindsOfFault(t *testing.T) {
	const lines, every = 800, 10
	dir := t.TempDir()
	var file bytes.Buffer
	rules := map[string]int{}
	faults := 0
	for i := range lines {
		record := legacy(i)
		if i%every == every-1 {
			fault := legacyFaults[faults%len(legacyFaults)]
			record = spoil(record, fault)
			rules[fault[2]]++
			faults++
		}
		file.WriteString(record + "\n")
	}
	if faults < len(legacyFaults) {
		t.Fatalf("%d faults of %d kinds", faults, len(legacyFaults))
	}
	if err := os.WriteFile(filepath.Join(dir, "old.ndjson"), file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}

	// Every fault is found, with the record that it is in and the text that is wrong.
	out := run(t, dir, nil, "reviews", "import", "-db", "v.db", "-network", "shop.test", "-json", "-rejects",
		"rejects.ndjson", "old.ndjson")
	if out.status != 1 {
		t.Fatalf("status %d: %s", out.status, out.stderr)
	}
	all := strings.Split(strings.TrimSuffix(out.stdout, "\n"), "\n")
	for _, line := range all[:len(all)-1] {
		var p reviews.Problem
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		rules[p.Rule]--
		known := p.Rule == "json" || p.Rule == "utf-8" || p.Rule == "collection-id-base64"
		if want := articleID(int(p.Line) - 1); p.Collection != want && !known {
			t.Errorf("%v, want the collection %s", p, want)
		}
		if missing := p.Rule == "member-missing" || p.Rule == "author-missing" || p.Rule == "json" ||
			p.Rule == "utf-8"; (p.Value == "") != missing {
			t.Errorf("%v: the value is %q", p, p.Value)
		}
	}
	for rule, missed := range rules {
		if missed > 0 {
			t.Errorf("%d faults of the rule %s were not found", missed, rule)
		}
	}
	rejects := readFile(t, dir, "rejects.ndjson")
	if n := strings.Count(rejects, "\n"); n != faults {
		t.Fatalf("%d rejects, want %d", n, faults)
	}

	if err := os.WriteFile(filepath.Join(dir, "mended.ndjson"), []byte(mend(rejects)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(t, dir, nil, "reviews", "check", "mended.ndjson"); out.status != 0 {
		t.Fatalf("the mended rejects: %+v", out)
	}
	out = run(t, dir, nil, "reviews", "import", "-db", "v.db", "-network", "shop.test", "mended.ndjson")
	if out.status != 0 {
		t.Fatalf("the mended rejects: %+v", out)
	}

	// All of it is in, each review once, as it should have been.
	var want []string
	for i := range lines {
		want = append(want, legacy(i))
	}
	if err := os.WriteFile(filepath.Join(dir, "right.ndjson"), []byte(strings.Join(want, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	again := run(t, dir, nil, "reviews", "import", "-db", "v.db", "-network", "shop.test", "-json", "right.ndjson")
	counts := fmt.Sprintf(`"reviews":%d,"created":0,"updated":0,"unchanged":%[1]d,"rejected":0`, 2*lines)
	if again.status != 0 || !strings.Contains(again.stdout, counts) {
		t.Errorf("the file as it should have been: %s, want %s", again.stdout, counts)
	}
	exported := run(t, dir, nil, "reviews", "export", "-db", "v.db")
	var ids []string
	for line := range strings.Lines(exported.stdout) {
		if strings.Count(line, `"ratings"`) != 2 {
			t.Fatalf("a collection has other reviews: %s", line)
		}
		_, rest, _ := strings.Cut(line, `"id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if n := len(ids); n != lines || len(slices.Compact(ids)) != lines {
		t.Errorf("%d collections are exported, want %d, each once", n, lines)
	}
}
