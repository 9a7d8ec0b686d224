package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

// demoArchive is an archive of the sample data and a review, in a directory with its store, v.db.
func demoArchive(t *testing.T) (dir, archive string) {
	t.Helper()
	dir = reviewFiles(t)
	start(t, dir, nil, "-db", "v.db", "-demo").stop()
	if out := run(t, dir, nil, "reviews", "import", "-db", "v.db", "good"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	out := run(t, dir, nil, "export", "-db", "v.db")
	if entries := strings.Count(out.stdout, "\n") - 2; out.status != 0 ||
		!strings.HasPrefix(out.stderr, fmt.Sprintf("exported %d entries\nwithout people (4) and keys (1): ", entries)) {
		t.Fatalf("%+v", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "archive"), []byte(out.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, out.stdout
}

// Tables of another program are in no archive, which export says. check and backup take the store as it is.
func TestTablesOfAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "v.db")
	db, err := sqlite.Open(path, &sqlite.Options{Migrate: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE page (slug TEXT); CREATE TABLE job (id INTEGER PRIMARY KEY)")
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), "own", storage.UpdateOptions{}, func(tx storage.Tx) error {
		own, err := sqlite.SQL(tx)
		if err == nil {
			_, err = own.ExecContext(t.Context(), "INSERT INTO page VALUES ('winter')")
		}
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	out := run(t, dir, nil, "export", "-db", "v.db")
	if out.status != 0 || !strings.HasSuffix(out.stderr,
		"without the tables that another program has in the store: job, page\n") ||
		strings.Contains(out.stdout, "winter") {
		t.Errorf("export: %+v", out)
	}
	if out := run(t, dir, nil, "check", "-db", "v.db"); out.status != 0 {
		t.Errorf("check: %+v", out)
	}
	if out := run(t, dir, nil, "backup", "-db", "v.db", "copy.db"); out.status != 0 {
		t.Errorf("backup: %+v", out)
	}
	copied, err := sqlite.Open(filepath.Join(dir, "copy.db"), &sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if names, err := copied.OwnTables(t.Context()); err != nil || !slices.Equal(names, []string{"job", "page"}) {
		t.Errorf("the copy has %q, %v", names, err)
	}
}

func TestAnArchiveBecomesAStore(t *testing.T) {
	dir, archive := demoArchive(t)
	if out := run(t, dir, nil, "import", "-db", "w.db", "archive"); out.status != 0 || out.stdout != "" ||
		!strings.Contains(out.stderr, "imported") ||
		!strings.Contains(out.stderr,
			"made the key file w.db.key: tokens of the store that the archive is from are not valid here, unless "+
				"you copy its key file over this one\n") {
		t.Fatalf("%+v", out)
	}
	if out := run(t, dir, nil, "export", "-db", "w.db"); out.stdout != archive {
		t.Error("another archive comes out")
	}
	served := start(t, dir, nil, "-db", "w.db", "-key-file", "v.db.key")
	served.do(newToken(t, dir, nil, "-db", "v.db"), "GET", "/components/", "", 200)
	served.stop()
}

// What was erased is in no archive. Ids and cursors of lists stay good in the imported store; it has feeds of its own,
// and goes on.
func TestAnImportedStoreGoesOn(t *testing.T) {
	ctx, from, to := t.Context(), memory.New(), memory.New()
	t.Cleanup(func() { _, _ = from.Close(), to.Close() })
	if _, err := newDemo(ctx, &program{}, from, demoPeople(t, from), "http://demo.test", "/"); err != nil {
		t.Fatal(err)
	}
	by := vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates}
	services := func(s storage.Store) (*appsvc.Session, *assets.Session, *reviews.Service) {
		return appsvc.New(s, nil).As(by), assets.New(s, nil).As(by), reviews.New(s, nil)
	}
	apps, library, stored := services(from)
	page, err := apps.ListApps(ctx, appsvc.ListAppsRequest{Limit: 1})
	search := assets.SearchRequest{Limit: 1}
	found, err2 := library.Search(ctx, demoLibrary, search)
	cursors, err3 := cursorsOf(t, from)
	erased, err4 := stored.As(operator).Delete(ctx,
		reviews.DeleteRequest{Network: demoLibrary.Network, Author: "first-ferry"})
	if err := errors.Join(err, err2, err3, err4); err != nil || erased.Reviews == 0 {
		t.Fatal(erased, err)
	}
	rest := func(apps *appsvc.Session, library *assets.Session) string {
		text := ""
		for a, err := range apps.AllApps(ctx, appsvc.ListAppsRequest{After: page.Next, Limit: 2}) {
			text += fmt.Sprint(a, err)
		}
		for a, err := range library.AllAssets(ctx, demoLibrary, search.From(search.Following(found))) {
			data, err2 := json.Marshal(a)
			text += fmt.Sprint(string(data), err, err2)
		}
		return text
	}
	want := rest(apps, library)

	var text bytes.Buffer
	if _, err := archive.Export(ctx, from, &text, notArchived(false)); err != nil ||
		strings.Contains(text.String(), "first-ferry") {
		t.Fatalf("the archive has what was erased, or %v", err)
	}
	old := withoutSecret(t, text.String())
	if _, _, err := fillStore(ctx, to, bufio.NewReader(&text)); err != nil {
		t.Fatal(err)
	}
	apps, library, _ = services(to)
	if got := rest(apps, library); got != want || len(want) < 1000 {
		t.Errorf("the lists go on with %.300s, want %.300s", got, want)
	}
	if a, err := library.Asset(ctx, demoLibrary, found.Assets[0].ID); err != nil || a.ID != found.Assets[0].ID {
		t.Errorf("an asset: %v", err)
	}
	// A follower learns that it begins anew, from the error that every guide names. So it does in a copy of the copy.
	again := memory.New()
	t.Cleanup(func() { _ = again.Close() })
	text.Reset()
	if _, err := archive.Export(ctx, to, &text, notArchived(false)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := fillStore(ctx, again, bufio.NewReader(&text)); err != nil {
		t.Fatal(err)
	}
	for what, s := range map[string]storage.Store{"the copy": to, "a copy of the copy": again} {
		for domain, err := range changesAfter(t, s, cursors) {
			if !errors.Is(err, vitrine.ErrGone) {
				t.Errorf("the feed of %s in %s: %v, want ErrGone", domain, what, err)
			}
		}
		if _, err := cursorsOf(t, s); err != nil {
			t.Errorf("%s has no feeds of its own: %v", what, err)
		}
	}
	// An archive of v0.2.0 has no secret, so its store cannot know the cursors.
	other := memory.New()
	t.Cleanup(func() { _ = other.Close() })
	if _, _, err := fillStore(ctx, other, bufio.NewReader(strings.NewReader(old))); err != nil {
		t.Fatal(err)
	}
	for domain, err := range changesAfter(t, other, cursors) {
		if !errors.Is(err, vitrine.ErrInvalid) {
			t.Errorf("the feed of %s in the store of an older archive: %v, want ErrInvalid", domain, err)
		}
	}
	if _, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: "New", Groups: []string{demoNetwork}}); err != nil {
		t.Error(err)
	}
	if _, err := apps.Restore(ctx,
		appsvc.RestoreRequest{AppID: page.Items[0].ID, Version: vitrine.NewVersion(0)}); err != nil {
		t.Error(err)
	}
	post := assets.NewAsset{ID: "new", Generator: assets.Generator{ID: "g"}, Content: []byte(`{"content":"new"}`)}
	if _, err := library.ChangeAssets(ctx, demoLibrary,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{post}}); err != nil {
		t.Error(err)
	}
	if now, err := apps.Changes(ctx, appsvc.ChangesRequest{}); err != nil || len(now.Changes) != 2 {
		t.Errorf("%d changes after the import, %v", len(now.Changes), err)
	}
	for f, err := range audit(ctx, to, nil) {
		t.Error(f, err)
	}
}

// cursorsOf returns a cursor of each domain's feed.
func cursorsOf(t *testing.T, s storage.Store) (cursors [3]string, err error) {
	t.Helper()
	feed, err := appsvc.New(s, nil).Outbox(t.Context(), vitrine.ChangesRequest{After: vitrine.Now})
	by := vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates}
	library := assets.New(s, nil).As(by)
	list, err2 := library.Changes(t.Context(), demoLibrary, vitrine.ChangesRequest{After: vitrine.Now})
	in := reviews.ChangesRequest{Network: demoLibrary.Network, After: vitrine.Now}
	imported, err3 := reviews.New(s, nil).As(operator).Changes(t.Context(), in)
	return [3]string{feed.Next, list.Next, imported.Next}, errors.Join(err, err2, err3)
}

// changesAfter asks the feed of each domain for what comes after a cursor, and returns the errors.
func changesAfter(t *testing.T, s storage.Store, cursors [3]string) map[string]error {
	t.Helper()
	_, err := appsvc.New(s, nil).Outbox(t.Context(), vitrine.ChangesRequest{After: cursors[0]})
	by := vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates}
	_, err2 := assets.New(s, nil).As(by).Changes(t.Context(), demoLibrary, vitrine.ChangesRequest{After: cursors[1]})
	in := reviews.ChangesRequest{Network: demoLibrary.Network, After: cursors[2]}
	_, err3 := reviews.New(s, nil).As(operator).Changes(t.Context(), in)
	return map[string]error{"apps": err, "assets": err2, "reviews": err3}
}

// withoutSecret returns an archive as v0.2.0 wrote it.
func withoutSecret(t *testing.T, archive string) string {
	t.Helper()
	old := regexp.MustCompile(`(?m)^\{"key":"store .*\n`).ReplaceAllString(archive, "")
	if old == archive {
		t.Error("the archive has no secret of the feeds")
	}
	return resummed(old)
}

// resummed returns an archive with the last line that belongs to its lines.
func resummed(archive string) string {
	lines, _, _ := strings.Cut(archive, `{"entries":`)
	return lines +
		fmt.Sprintf("{\"entries\":%d,\"sha256\":\"%x\"}\n", strings.Count(lines, "\n")-1, sha256.Sum256([]byte(lines)))
}

// lineOf returns the number of the first line with a text.
func lineOf(archive, text string) int {
	before, _, _ := strings.Cut(archive, text)
	return strings.Count(before, "\n") + 1
}

func TestImportLeavesAStoreOrNothing(t *testing.T) {
	dir, archive := demoArchive(t)
	lie := resummed(regexp.MustCompile(`("key":"apps tag/[^"]*","value":)\d+`).ReplaceAllString(archive, "${1}999"))
	for name, text := range map[string]string{
		"cut":     archive[:len(archive)/2],
		"changed": strings.Replace(archive, `"createdAt":1`, `"createdAt":2`, 1), "none": "", "good-one": archive,
		"lie": lie,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"import", "-db", "w.db", "cut"}, 1, "cut: damaged archive: "},
		{[]string{"import", "-db", "w.db", "changed"}, 1, "damaged"},
		{[]string{"import", "-db", "w.db", "good"}, 1, "good: damaged archive: line 1: this is no archive"},
		{[]string{"import", "-db", "w.db", "lie"}, 1,
			fmt.Sprintf("lie: damaged archive: line %d: \"apps tag/", lineOf(lie, `"key":"apps tag/`))},
		{[]string{"import", "-db", "w.db", "none"}, 1, "none: damaged archive"},
		{[]string{"import", "-db", "w.db", "absent"}, 1, "absent"},
		{[]string{"import", "-db", "v.db", "good-one"}, 1, "the file exists already"},
		{[]string{"import", "-db", "memory:", "good-one"}, 2, "memory"},
		{[]string{"import", "good-one"}, 2, "-db"},
		{[]string{"import", "-db", "w.db"}, 2, "FILE"},
		{[]string{"export", "-db", "w.db"}, 1, "w.db"},
		{[]string{"export", "-db", "memory:"}, 2, "memory"},
	} {
		if out := run(t, dir, nil, c.args...); out.status != c.status || out.stdout != "" ||
			!strings.Contains(out.stderr, c.says) {
			t.Errorf("%v: %+v", c.args, out)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*w.db*")); len(left) > 0 {
			t.Errorf("%v leaves %v", c.args, left)
		}
	}
}

// A store moves to PostgreSQL and back, is served from there, and is as it was.
func TestAStoreMovesToPostgreSQLAndBack(t *testing.T) {
	db := cluster.Schema(t)
	dir, archive := demoArchive(t)
	if out := run(t, dir, nil, "import", "-db", db, "archive"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	if out := run(t, dir, nil, "import", "-db", db, "archive"); out.status != 1 ||
		!strings.Contains(out.stderr, "not empty") {
		t.Errorf("a second import: %+v", out)
	}
	out := run(t, dir, nil, "export", "-db", db)
	if out.stdout != archive {
		t.Fatalf("another archive comes out: %+v", out.stderr)
	}
	if out := run(t, dir, nil, "import", "-db", "back.db", "archive"); out.status != 0 {
		t.Errorf("%+v", out)
	}
	served := start(t, dir, nil, "-db", db, "-key-file", "v.db.key")
	token := newToken(t, dir, nil, "-db", db, "-key-file", "v.db.key")
	served.do(token, "GET", "/components/", "", 200)
	served.do(token, "POST", "/apps/", oneApp, 201)
	served.stop()
	if out := run(t, dir, nil, "reviews", "export", "-db", db, "-network", "default"); out.status != 0 ||
		!strings.Contains(out.stdout, `"r1"`) {
		t.Errorf("%+v", out)
	}
}

// A command that reads a store does not create one.
func TestReadingAnEmptyDatabaseMakesNoStore(t *testing.T) {
	db := cluster.Schema(t)
	dir := reviewFiles(t)
	for _, args := range [][]string{{"export"}, {"reviews", "export"}, {"reviews", "import", "-dry-run", "good"}} {
		args = slices.Insert(args, len(args)-strings.Count(strings.Join(args, " "), "good"), "-db", db)
		out := run(t, dir, nil, args...)
		if dry := slices.Contains(args, "good"); dry && out.status != 0 || !dry &&
			(out.status == 0 || out.stdout != "" || !strings.Contains(out.stderr, "there is no store")) {
			t.Errorf("%v: %+v", args, out)
		}
	}
	s, err := postgres.Open(t.Context(), db, &postgres.Options{Existing: true})
	if err == nil {
		s.Close()
	}
	if !errors.Is(err, postgres.ErrAbsent) {
		t.Errorf("a store was made: %v", err)
	}
}

func TestAnInterruptedImportSaysSoOnce(t *testing.T) {
	dir, _ := demoArchive(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr strings.Builder
	p := &program{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &stderr, getenv: func(string) string {
		return ""
	}}
	if status := p.run(ctx,
		[]string{"import", "-db", filepath.Join(dir, "w.db"), filepath.Join(dir, "archive")}); status != 1 ||
		stderr.String() != "vitrine: import: interrupted\n" {
		t.Errorf("status %d, %q", status, stderr.String())
	}
}

// Nothing lies beside a database: its key comes from elsewhere, and its password is told to nobody.
func TestPostgreSQLWantsAKeyAndKeepsItsPassword(t *testing.T) {
	db := cluster.Schema(t)
	dir := t.TempDir()
	if out := run(t, dir, nil, "-db", db, "-addr", "127.0.0.1:0"); out.status != 2 || out.stdout != "" ||
		!strings.Contains(out.stderr, "-key-file") {
		t.Errorf("serve: %+v", out)
	}
	if out := run(t, dir, nil, append([]string{"token", "-db", db}, editor...)...); out.status != 2 ||
		out.stdout != "" || !strings.Contains(out.stderr, "-key-file") {
		t.Errorf("token: %+v", out)
	}
	if out := run(t, dir, nil, "backup", "-db", db, "copy"); out.status != 2 ||
		!strings.Contains(out.stderr, "export") {
		t.Errorf("backup: %+v", out)
	}
	for _, wrong := range []string{
		"postgres://me:canary@127.0.0.1:1/none", "postgres://me:canary@[::1/none",
		"postgres://me:canary@127.0.0.1:1/none?pool_max_conns=x",
	} {
		if out := run(t, dir, nil, "reviews", "export", "-db", wrong); out.status != 2 || out.stdout != "" ||
			strings.Contains(out.stderr, "canary") {
			t.Errorf("%s: %+v", wrong, out)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// An archive has the bytes of files. Without them, the imported store has everything else, and its audit says which
// bytes are missing.
func TestArchivesOfFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "v.db")
	db, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	by := vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates}
	body := "%PDF-1.7\n" + strings.Repeat("0123456789", 200_000)
	a, err := assets.New(db, nil).As(by).Upload(t.Context(), demoLibrary, assets.UploadRequest{Name: "a"},
		strings.NewReader(body))
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	read := func(name string) (string, error) {
		db, err := sqlite.Open(filepath.Join(dir, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var in struct{ Content struct{ ID string } }
		if err := json.Unmarshal(a.Body, &in); err != nil {
			t.Fatal(err)
		}
		f, err := assets.New(db, nil).File(t.Context(), assets.FileRequest{ID: in.Content.ID, Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f.Bytes)
		return string(got), err
	}
	vitrine := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, say bytes.Buffer
		p := &program{stdout: &out, stderr: &say, getenv: func(string) string { return "" }}
		if code := p.run(t.Context(), args); code != want {
			t.Errorf("%q: %d, want %d: %s", args, code, want, say.String())
		}
		return out.String(), say.String()
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	vitrine(0, "export", "-db", path, "-out", at("whole"))
	vitrine(0, "export", "-db", path, "-out", at("bare"), "-without-files")
	vitrine(0, "import", "-db", at("whole.db"), at("whole"))
	if got, err := read("whole.db"); got != body || err != nil {
		t.Errorf("imported: %d bytes, %v", len(got), err)
	}
	if info, err := os.Stat(at("bare")); err != nil || info.Size() > 100_000 {
		t.Errorf("the archive without files: %v, %v", info, err)
	}
	if _, said := vitrine(0, "import", "-db", at("bare.db"), at("bare")); !strings.Contains(said, "does not have: 1;") {
		t.Errorf("the import says %q", said)
	}
	if _, err := read("bare.db"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without bytes: %v", err)
	}
	vitrine(0, "check", "-db", at("whole.db"))
	if faults, _ := vitrine(1, "check", "-db", at("bare.db")); strings.Count(faults, "are missing") != 1 {
		t.Errorf("the check finds %q", faults)
	}
}
