package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// noIDs is the note on a table without a column of ids.
const noIDs = "no column has ids, so a review that is edited in the shop later becomes another one\n"

func TestReviewsConvert(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"shop.csv": "product_handle,rating,author,email,body,created_at\nlamp,5,Ann,ann@example.test,\"Bright\nand " +
			"<b>light</b>\",03/25/2019\nlamp,6,Ben,,,03/26/2019\n",
		"map.json": `{"collection_id": "product_handle", "rating": "rating", "author_name": "author", "created": ` +
			`"created_at", "subpart:mail": "email"}`,
		"all.json": `{"collection_id": ["sku", "=lamp"], "rating": {"column": "vote", "map": {"thumbs up": 100}},
			"created": "=2019-04-03", "author_name": {"columns": ["first", "last"], "join": " "},
			"skip": [{"column": "state", "is": ["spam"]}]}`,
		"all.csv": "sku,vote,first,last,state\n,Thumbs up,Ann,Lee,\nlamp,5,Cy,Ho,Spam\n",
		"ten.csv": "product_handle,rating,author,created_at\nlamp,10,Ann,25/04/2019\nlamp,4,Ben,26/04/2019\n",
		"odd.csv": "product_handle,rating,author,created_at\n" + strings.Repeat("lamp,4,Ann,2019-04-25\n", 1000) +
			"lamp,8,Ben,2019-04-26\n",
		"bad.json": `{"collection_id": 1}`, "odd.json": `{"collection_id": "sku"}`,
		"good.csv": "product_handle,rating,author,created_at\nlamp,10,Ann,2019-04-03\n",
		"json.csv": goodRecord,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := run(t, dir, nil, "reviews", "convert", "-scale", "5", "-source", "shop.example.test", "-rejects",
		"rejects.csv", "shop.csv")
	if out.status != 1 || !strings.Contains(out.stdout, `"source":"shop.example.test"`) ||
		!strings.Contains(out.stdout,
			`"body_html":"<p>Bright</p><p>and light</p>","created":"2019-03-25T00:00:00Z","ratings":[100]`) ||
		out.stderr != "converted: 1 review; 1 row rejected\ndates: the order was decided by 03/26/2019; give -dates "+
			"mdy with the rejected rows\n"+noIDs+"  line 4: the rating 6 is above 5: mend it, or give another scale\n" {
		t.Errorf("%+v", out)
	}
	if got := readFile(t, dir, "rejects.csv"); !strings.Contains(got, "lamp,6,Ben,,,03/26/2019,4,\"the rating") {
		t.Errorf("%q", got)
	}
	// Reasons that differ in what they quote are shown together, and a second run keeps what the first had rejected.
	odd := "product_handle,rating,author,created_at\nlamp,5,Ann,2023-06-31\nlamp,5,Ann,2023-02-30\n" +
		"lamp,5,Ann,2023-13-01\nlamp,5,Ann,0000-00-00\n"
	again := runWith(t, dir, nil, odd, "reviews", "convert", "-source", "shop", "-rejects", "rejects.csv", "-")
	if !strings.Contains(again.stderr, "  line 2: \"2023-06-31\" in column \"created_at\": there is no such date") ||
		!strings.Contains(again.stderr, "  and 1 more like this: in rejects.csv\n") ||
		!strings.HasPrefix(again.stderr, "converted: ") ||
		!strings.HasSuffix(again.stderr, "vitrine: what rejects.csv had before is in rejects.csv.1\n") {
		t.Errorf("%+v", again)
	}
	if got := readFile(t, dir, "rejects.csv.1"); !strings.Contains(got, "lamp,6,Ben") {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "out.ndjson"), []byte(out.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(t, dir, nil, "reviews", "check", "out.ndjson"); out.status != 0 {
		t.Errorf("%+v", out)
	}
	if out := run(t, dir, nil, "reviews", "convert", "-scale", "10", "-mapping", "map.json",
		"good.csv"); out.status != 2 || !strings.Contains(out.stderr, `no column "email"`) {
		t.Errorf("%+v", out)
	}
	if out := run(t, dir, nil, "reviews", "convert", "-scale", "10", "good.csv"); out.status != 0 ||
		!strings.Contains(out.stdout, `"ratings":[100]`) ||
		out.stderr != "converted: 1 review; 0 rows rejected\nsource: \"import\", since none was given; give the "+
			"same one with every file of a site\n"+noIDs {
		t.Errorf("%+v", out)
	}
	if out := runWith(t, dir, nil, readFile(t, dir, "good.csv"), "reviews", "convert", "-scale", "10",
		"-"); out.status != 0 || out.stdout == "" {
		t.Errorf("%+v", out)
	}
	if out := run(t, dir, nil, "reviews", "convert", "-source", "shop", "-mapping", "all.json",
		"all.csv"); out.status != 0 ||
		!strings.Contains(out.stdout, `"ratings":[100],"imported_display_name":"Ann Lee"`) ||
		out.stderr != "converted: 1 review; 0 rows rejected; 1 left out\nscale: 5, guessed from the first ratings; "+
			"give another if that is wrong\n"+noIDs {
		t.Errorf("%+v", out)
	}
	// A guess is a mapping, with which a table is converted as without.
	guessed := run(t, dir, nil, "reviews", "convert", "-guess", "ten.csv")
	if err := os.WriteFile(filepath.Join(dir, "ten.json"), []byte(guessed.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	with := run(t, dir, nil, "reviews", "convert", "-mapping", "ten.json", "ten.csv")
	without := run(t, dir, nil, "reviews", "convert", "ten.csv")
	if with.status != 0 || with.stdout != without.stdout || !strings.Contains(with.stdout, `"ratings":[40]`) ||
		!strings.Contains(guessed.stdout, `"scale": 10`) || !strings.Contains(guessed.stdout, `"dates": "dmy"`) {
		t.Errorf("%+v %+v %+v", guessed, with, without)
	}
	if out := run(t, dir, nil, "reviews", "convert", "-out", "odd.out", "odd.csv"); out.status != 2 ||
		out.stdout != "" ||
		!strings.Contains(out.stderr, "line 1002 has the rating 8") {
		t.Errorf("%+v", out)
	}
	if got := readFile(t, dir, "odd.out"); got != "" {
		t.Errorf("a table whose scale is refuted becomes %q", got)
	}
	want := "{\n  \"author_name\": \"author\",\n  \"collection_id\": \"product_handle\",\n  \"created\": " +
		"\"created_at\",\n  \"rating\": \"rating\",\n  \"scale\": 10\n}\n"
	if out := run(t, dir, nil, "reviews", "convert", "-guess", "good.csv"); out.status != 0 || out.stdout != want ||
		!strings.HasPrefix(out.stderr, "scale: 10, guessed") {
		t.Errorf("%+v", out)
	}
	odd = "Artikelname;Sterne;Erstellt am;Farbe\nlamp;5;03/04/2019;red\n"
	if out := runWith(t, dir, nil, odd, "reviews", "convert", "-guess", "-"); out.status != 0 ||
		out.stderr != "missing: author_name: name their columns, or a constant such as \"=lamp\"\nscale: 5, guessed "+
			"from the first ratings; give "+
			"another if "+
			"that is wrong\nunused columns: \"Farbe\"\n" {
		t.Errorf("%+v", out)
	}
	many := "product_handle,rating,author,created_at\n" +
		strings.Repeat("lamp,6,Ann,03/04/2019\nlamp,5.5,Ann,03/04/2019\nlamp,5,,03/04/2019\n", 2)
	want = "converted: 0 reviews; 6 rows rejected\ndates: 03/04/2019 was taken for 4 March; -dates dmy or -dates " +
		"mdy says otherwise\n" +
		"  line 2: the rating 6 is above 5: mend it, or give another scale\n  line 3: the rating 5.5 is above 5: " +
		"mend it, or give another scale\n  line 5: the rating 6 is above 5: mend it, or give another scale\n" +
		"  and 1 more like this: -rejects FILE keeps all of them\n" +
		"  line 4: the name of the author is empty: write one, such as Anonymous, or leave the row out\n  line 7: " +
		"the name of the author is empty: write one, such as Anonymous, or leave the row out\n"
	if out := runWith(t, dir, nil, many, "reviews", "convert", "-scale", "5", "-source", "shop",
		"-"); out.status != 1 ||
		out.stderr != want {
		t.Errorf("%+v", out)
	}
	if out := runWith(t, dir, nil, many, "reviews", "convert", "-dates", "dmy", "-"); strings.Contains(out.stderr,
		"dates:") {
		t.Errorf("%+v", out)
	}
	if out := runWith(t, dir, nil, goodRecord+"\nnone\n", "reviews", "check", "-"); !strings.Contains(out.stdout,
		"checked: 3 lines (1 blank, 1 unreadable), 1 collection") {
		t.Errorf("%+v", out)
	}
	lost := "product_handle,rating,author,body,created_at\nlamp,5,Ann,\"Good, " +
		"so\",2019-04-03\nlamp,5,Ben,\"Fine,2019-04-04\n" +
		"lamp,5,Cy,\"so, so\",2019-04-05\nlamp,5,Dan,\"ok, ok\",2019-04-05\n"
	want = "converted: 2 reviews; 1 row rejected\nscale: 5, guessed from the first ratings; give another if that is " +
		"wrong\n" + noIDs +
		"  line 3: a quote is opened in line 3 and not closed before another is opened in line 4, so these 2 lines " +
		"are not converted; "
	out = runWith(t, dir, nil, lost, "reviews", "convert", "-source", "shop", "-rejects", "lost.csv", "-")
	if out.status != 1 || strings.Contains(out.stdout, "Cy") || !strings.HasPrefix(out.stderr, want) {
		t.Errorf("%+v", out)
	}
	out = run(t, dir, nil, "reviews", "convert", "-source", "shop", "lost.csv")
	if out.status != 1 || out.stdout != "" || !strings.Contains(out.stderr, "0 reviews; 1 row rejected") {
		t.Errorf("what was rejected, and not mended: %+v", out)
	}
	out = runWith(t, dir, nil, "a"+strings.Repeat(",b", 1000)+"\n", "reviews", "convert", "-")
	if want := "the table has 1001 columns, and at most 1000 can be read"; out.status != 2 || out.stdout != "" ||
		!strings.Contains(out.stderr, want) {
		t.Errorf("%+v", out)
	}
	for _, args := range [][]string{
		{}, {"good.csv", "shop.csv"}, {"none.csv"}, {"."},
		{"-mapping", "none.json", "good.csv"}, {"-mapping", "bad.json", "good.csv"},
		{"-mapping", "odd.json", "good.csv"}, {"-scale", "0", "good.csv"},
		{"-scale", "-1", "good.csv"}, {"-scale", "five", "good.csv"}, {"-dates", "ymd", "good.csv"},
		{"-rejects", "good.csv", "good.csv"}, {"json.csv"}, {"-guess", "json.csv"},
	} {
		if out := run(t, dir, nil, append([]string{"reviews", "convert"}, args...)...); out.status != 2 ||
			out.stdout != "" || out.stderr == "" {
			t.Errorf("%v: %+v", args, out)
		}
	}
}
