package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/vitrine-go/vitrine/assets"
)

// write writes files, by their names, into a new directory.
func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// picture returns a PNG of this size.
func picture(width, height int) string {
	var out bytes.Buffer
	_ = png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height)))
	return out.String()
}

// newPost returns a post in JSON.
func newPost(id, more string) string {
	return `{"id":"` + id + `","generator":{"id":"blog"},"content":{"content":"Post ` + id + `"` + more + `}`
}

func TestAssetsAreImportedOnceWhateverTheirFileIsLike(t *testing.T) {
	good := []string{
		newPost("1",
			`},"folders":["/Blog~1News/2024","/Blog~1News"],"safe_tags":["a"],"via":1,"attributes":[{"key":"k",`+
				`"value":"v"}]`),
		newPost("2", `,"attachment":[{"type":"photo","url":""}]},"createdAt":"2014-05-01T12:00:00+0000"`),
	}
	bad := []string{newPost("3", `,"lang":5},"more":1`), newPost("4", `},"folders":["none"]`), `[]`,
		`{"id":"5","generator":{"id":"files"},"content":{}}`}
	lines := append(append([]string{}, good...), bad...)
	array := "[" + strings.Join(lines, ",\n") + "]"
	dir := write(t, map[string]string{
		"lines": "\ufeff" + strings.Join(lines, "\n\n") + "\r\n\n{\"id\":\n",
		"array": array, "request": `{"remove":["x"],"add":` + array + `}`,
		"objects": strings.ReplaceAll(strings.Join(lines, "\n"), "{\"id", "{\n\"id"),
		"cut":     "[" + good[0] + ",\n" + good[1],
		"empty":   "", "spaces": " \n\n", "text": "no JSON",
	})
	for _, file := range []string{"lines", "array", "request", "objects"} {
		all, errors, folders := 6, 5, 2
		if file == "lines" {
			all, errors = 7, 6
		}
		counts := func(done string, created, unchanged, folders int) string {
			made := fmt.Sprintf("%d folders", folders)
			return fmt.Sprintf("%s: %d assets; %d created, 0 updated, %d unchanged, %d rejected; %s created; %d "+
				"errors\n",
				done, all, created, unchanged, all-2, made, errors)
		}
		db := file + ".db"
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{"-dry-run"}, counts("compared, nothing stored", 2, 0, folders)},
			{[]string{"-rejects", "rejected"}, counts("imported into the new store "+db, 2, 0, folders)},
			{[]string{"-dry-run"}, counts("compared, nothing stored", 0, 2, 0)},
			{nil, counts("imported", 0, 2, 0)},
		} {
			out := run(t, dir, nil,
				append([]string{"assets", "import", "-network", "n.test", "-db", db, file}, c.args...)...)
			if out.status != 1 || !strings.HasSuffix(out.stdout, c.want) ||
				!strings.Contains(out.stdout, "/content/lang: want a string") {
				t.Errorf("%s %v: %+v, want %s", file, c.args, out, c.want)
			}
			if said := strings.Contains(out.stderr, "was not removed"); said != (file == "request") {
				t.Errorf("%s: %s", file, out.stderr)
			}
		}
		rejected, err := os.ReadFile(filepath.Join(dir, "rejected"))
		want := strings.Join(bad, "\n") + "\n"
		if file == "lines" {
			want += "{\"id\":\n"
		}
		if string(rejected) != want || err != nil {
			t.Errorf("%s: rejected %s (%v)", file, rejected, err)
		}
		_ = os.Remove(filepath.Join(dir, "rejected"))
		// Mended, the rejected lines go in, and what is there is updated where it differs.
		mended := newPost("1", ` again"`) + "\n" + newPost("4", `}`) + "\n"
		mended = strings.Replace(mended, `Post 1" again`, `Post 1 again`, 1)
		mended = strings.Replace(mended, `again"}`, `again"}}`, 1)
		if err := os.WriteFile(filepath.Join(dir, "mended"), []byte(mended), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"-dry-run", "-json"}, {"-json"}} {
			out := run(t, dir, nil,
				append([]string{"assets", "import", "-network", "n.test", "-db", db, "mended"}, args...)...)
			if out.status != 0 || !strings.Contains(out.stdout, `"assets":2,"created":1,"updated":1,"unchanged":0,`) {
				t.Errorf("%s, mended: %+v", file, out)
			}
		}
	}
	for file, want := range map[string]string{"cut": "behind asset 2 is no JSON", "none": "no such file"} {
		out := run(t, dir, nil, "assets", "import", "-db", "v.db", "-network", "n.test", file)
		if out.status != 2 || !strings.Contains(out.stderr, want) {
			t.Errorf("%s: %+v", file, out)
		}
	}
	if out := run(t, dir, nil, "assets", "import", "-db", "v.db", "text"); out.status != 1 ||
		!strings.Contains(out.stdout, "want JPEG") ||
		!strings.Contains(out.stderr, "the network default, which is meant without -network, has no assets") ||
		!strings.Contains(out.stdout, "; or JSON of assets, which begins with { or [") {
		t.Errorf("%+v", out)
	}
	for order, bom := range map[binary.AppendByteOrder]string{binary.LittleEndian: "\xff\xfe",
		binary.BigEndian: "\xfe\xff"} {
		text := []byte(bom)
		for _, c := range utf16.Encode([]rune(good[0] + "\r\n" + good[1])) {
			text = order.AppendUint16(text, c)
		}
		if err := os.WriteFile(filepath.Join(dir, "utf16"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		out := run(t, dir, nil, "assets", "import", "-network", "n.test", "-db", "utf16.db", "utf16")
		if out.status != 0 || !strings.Contains(out.stdout, "2 assets; ") {
			t.Errorf("UTF-16: %+v", out)
		}
	}
	for _, file := range []string{"empty", "spaces"} {
		if out := run(t, dir, nil, "assets", "import", "-db", "v.db", file); out.status != 0 {
			t.Errorf("%s: %+v", file, out)
		}
	}
	for _, args := range [][]string{{"import"}, {"export", "x"}, {"import", "-network", "a:b", "lines"}, {"spam"},
		{"import", "-rejects", "lines", "lines"}, {"import", "-db", "memory:", "lines"}, {"export", "-db", "none.db"},
		{"export", "-db", "array.db", "-library", "none"}, {"import", "-", "-"},
		{"export", "-bucket", "x", "-db", "v.db"}} {
		if out := run(t, dir, nil, append([]string{"assets"}, args...)...); out.status != 2 || out.stderr == "" {
			t.Errorf("%v: %+v", args, out)
		}
	}
}

func TestPicturesOfADirectoryAndWhatIsExported(t *testing.T) {
	dir := write(t, map[string]string{
		"pics/a.png": picture(500, 300), "pics/Winter/a.png": picture(500, 300),
		"pics/Winter/Ski/b & c.png": picture(4, 4),
		"pics/Winter/notes.txt":     "text", "pics/.DS_Store": "x", "pics/.git/x.png": picture(1, 1),
		"posts": newPost("1", `,"x":"\u003c"},"folders":["/Winter"],"rights":2`) + "\n" +
			newPost("2", `},"createdAt":"1999-12-31"`),
		"one.png": picture(7, 7),
	})
	vitrine := func(args ...string) outcome {
		t.Helper()
		return run(t, dir, nil, append([]string{"assets"}, args...)...)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-dry-run"},
			"compared, nothing stored: 4 assets; 3 created, 0 updated, 0 unchanged, 1 rejected; 2 folders"},
		{nil, "imported into the new store v.db: 4 assets; 3 created, 0 updated, 0 unchanged, 1 rejected; 2 folders"},
		{[]string{"-dry-run"},
			"compared, nothing stored: 4 assets; 0 created, 0 updated, 3 unchanged, 1 rejected; 0 folders"},
		{nil, "imported: 4 assets; 0 created, 0 updated, 3 unchanged, 1 rejected; 0 folders"},
	} {
		out := vitrine(append([]string{"import", "-db", "v.db", "-network", "n.test", "pics"}, c.args...)...)
		if out.status != 1 || !strings.Contains(out.stdout, c.want) || !strings.Contains(out.stdout, "notes.txt: ") ||
			!strings.Contains(out.stderr, "2 entries in directories left out") {
			t.Errorf("%v: %+v, want %s", c.args, out, c.want)
		}
	}
	if out := vitrine("import", "-db", "v.db", "-network", "n.test", "posts", "one.png", "one.png"); out.status != 0 ||
		!strings.Contains(out.stdout, "4 assets; 3 created, 0 updated, 1 unchanged") {
		t.Errorf("%+v", out)
	}
	if out := vitrine("export", "-db", "v.db"); out.status != 0 || strings.Count(out.stdout, "\n") != 2 ||
		!strings.Contains(out.stderr, "4 assets left out, since they have files") {
		t.Errorf("%+v", out)
	}
	if out := vitrine("export", "-db", "v.db", "-files", "bytes", "-out", "all"); out.status != 0 || out.stderr != "" {
		t.Fatalf("%+v", out)
	}
	// Another store has the same afterwards, but for what is made anew for each file.
	if out := vitrine("import", "-db", "w.db", "-network", "n.test", "all"); out.status != 1 ||
		!strings.Contains(out.stdout, "2 created, 0 updated, 0 unchanged, 4 rejected") {
		t.Errorf("%+v", out)
	}
	for _, created := range []string{"4 created, 0 updated, 2 unchanged", "0 created, 0 updated, 6 unchanged"} {
		if out := vitrine("import", "-db", "w.db", "-network", "n.test", "-files", "bytes", "all"); out.status != 0 ||
			!strings.Contains(out.stdout, created) {
			t.Errorf("%+v, want %s", out, created)
		}
	}
	made := regexp.MustCompile(`[0-9a-f]{32}`)
	sorted := func(text string) map[string]int {
		lines := map[string]int{}
		for line := range strings.Lines(made.ReplaceAllString(text, "ID")) {
			lines[line]++
		}
		return lines
	}
	first, err := os.ReadFile(filepath.Join(dir, "all"))
	second := vitrine("export", "-db", "w.db", "-files", "again")
	if have, want := sorted(second.stdout), sorted(string(first)); err != nil || fmt.Sprint(have) != fmt.Sprint(want) ||
		len(want) != 6 {
		t.Errorf("%v\n%v", have, want)
	}
	if out := run(t, dir, nil, "check", "-db", "w.db"); out.status != 0 {
		t.Errorf("%+v", out)
	}
	// The environment of a server whose files are in a bucket is no directory, and needs its keys.
	if out := run(t, dir, []string{"VITRINE_FILES=s3://b"}, "assets", "export", "-db", "v.db"); out.status != 2 ||
		!strings.Contains(out.stderr, "-bucket: AWS_ACCESS_KEY_ID") {
		t.Errorf("%+v", out)
	}
	hostile := `{"id":"x","generator":{"id":"files"},"content":{"attachment":[{"file":{"id":"..","name":"posts"}}]}}`
	if err := os.WriteFile(filepath.Join(dir, "hostile"), []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := vitrine("import", "-db", "w.db", "-network", "n.test", "-files", "bytes", "hostile"); out.status != 1 ||
		!strings.Contains(out.stdout, "is no name of a file") {
		t.Errorf("%+v", out)
	}
}

// What an import would replace or leave out in silence is refused, and counted as what became of it.
func TestAnImportLosesNothingInSilence(t *testing.T) {
	dir := write(t, map[string]string{"pics/Winter/a.png": picture(4, 4), "pics/b.png": picture(5, 5)})
	file := func(id, more, attachment string) string {
		return `{"id":"` + id + `","generator":{"id":"files"},"folders":["/W"]` + more +
			`,"content":{"content":"T","attachment":[{"file":` + attachment + `}]}}`
	}
	good := []string{newPost("1", `,"published":"2018-02-03"}`),
		newPost("2", `,"published":"2018-02-03"},"createdAt":"2019-04-05"`),
		file("f1", `,"createdAt":"2014-05-06"`, `{"name":"Winter/a.png"},"description":"One"`),
		file("f2", ``, `{"name":"Winter/a.png"},"description":"Two"`)}
	for n, c := range []struct {
		text, says string
	}{
		{newPost("1", `}`), "an asset with this generator and id came before in this file"},
		{newPost("3", `,"published":"yesterday"}`), "/content/published: error: want a real date"},
		{newPost("4", `,"published":7}`), "/content/published: error: want a real date"},
		{newPost("5", `},"folders":["W"]`), "the path of one begins with a slash"},
		{file("f3", `,"safe_tags":["a"]`, `{"name":"b.png"}`), "has no safe_tags"},
		{file("f4", `,"createdAt":"yesterday"`, `{"name":"b.png"}`), "/createdAt: error: want a real date"},
		{file("f5", `,"more":1`, `{"name":"b.png"}`), `/more: error: unknown member "more"`},
		{file("f6", ``, `{"name":"b.png"},"alt":"x"`), `unknown field "alt"`},
		{file("f7", ``, `{"name":"b.png"}},{"url":"https://a.test"`), "it has 2 attachments"},
		{file("f8", ``, `{"name":"b.png","sha256":"00"}`), "has other bytes than were exported"},
		{file("f9", ``, `{"name":"../b.png"}`), "is no name of a file"},
		{file("f10", ``, `{"name":"b.png"},"title":"Harbour"`), `the title "Harbour" of its attachment would be lost`},
		{strings.Replace(file("f11", ``, `{"name":"Winter/a.png"},"type":"photo"`), `"files"`, `"blog"`, 1),
			`the file "Winter/a.png" in the directory of -files is not added`},
		{newPost("6", `},"folders":["/New/Newer"],"more":1`), `unknown member "more"`},
	} {
		lines := strings.Join(append(slices.Clone(good), c.text), "\n")
		if err := os.WriteFile(filepath.Join(dir, "lines"), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		out := run(t, dir, nil, "assets", "import", "-all", "-db", "v.db", "-network", "n.test", "-files", "pics",
			"lines")
		rejected := fmt.Sprintf(", 1 rejected; %d folder", max(1-n, 0)) // which a rejected asset does not make
		if out.status != 1 || !strings.Contains(out.stdout, c.says) || !strings.Contains(out.stdout, rejected) {
			t.Errorf("%s: %+v", c.says, out)
		}
	}
	again := strings.Replace(strings.Join(good, "\n"), `"Two"`, `"Other"`, 1)
	if err := os.WriteFile(filepath.Join(dir, "lines"), []byte(again), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-dry-run"}, nil} {
		out := run(t, dir, nil, append([]string{"assets", "import", "-db", "v.db", "-network", "n.test", "-files",
			"pics", "lines"}, args...)...)
		if out.status != 0 || !strings.Contains(out.stdout, "4 assets; 0 created, 1 updated, 3 unchanged") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	out := run(t, dir, nil, "assets", "export", "-db", "v.db", "-files", "bytes")
	for _, want := range []string{`"2018-02-03T00:00:00Z"`, `"2019-04-05T00:00:00Z"`, `"2014-05-06T00:00:00Z"`,
		`"One"`, `"Other"`} {
		if strings.Count(out.stdout, want) != 1 {
			t.Errorf("%s: %+v", want, out)
		}
	}
}

// Two folders of the same label have one path, which an export says, and which an import does not choose between.
func TestFoldersOfTheSameLabelAreToldApart(t *testing.T) {
	dir := write(t, map[string]string{"path": newPost("3", `},"folders":["/Same"]`)})
	s, err := openStore(t.Context(), filepath.Join(dir, "v.db"), func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	lib := openLibrary(s, assets.Library{Network: "n.test"}, nil)
	same := []assets.NewFolder{{Label: "Same"}, {Label: "Same"}}
	made, err := lib.ChangeFolders(t.Context(), lib.lib, assets.ChangeFoldersRequest{Create: same})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range made.Folders {
		_, err := lib.ChangeAssets(t.Context(), lib.lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{
			{ID: f.ID, Generator: assets.Generator{ID: "g"}, Content: []byte("{}"), Folders: []string{f.ID}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	out := run(t, dir, nil, "assets", "export", "-db", "v.db")
	if out.status != 0 || strings.Count(out.stdout, `"folders":["/Same"]`) != 2 ||
		!strings.Contains(out.stderr, "have the same label") {
		t.Errorf("%+v", out)
	}
	for _, args := range [][]string{{"-dry-run"}, nil} {
		out := run(t, dir, nil,
			append([]string{"assets", "import", "-db", "v.db", "-network", "n.test", "path"}, args...)...)
		if out.status != 1 || !strings.Contains(out.stdout, "there are two of this label") {
			t.Errorf("%v: %+v", args, out)
		}
	}
}
