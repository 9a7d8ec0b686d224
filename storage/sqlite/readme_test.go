package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// Every statement of the storage README finds something in a store that has an app, its tag and an asset in a folder.
func TestStatementsOfTheReadme(t *testing.T) {
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "apps.db")
	db, err := sqlite.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}
	apps := appsvc.New(db, nil)
	app, err := apps.As(me).CreateApp(ctx, appsvc.CreateAppRequest{Title: "Front page", Groups: me.Moderates})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := apps.As(me).PutTag(ctx,
		appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version}); err != nil {
		t.Fatal(err)
	}
	library, posts := assets.Library{Network: "example.test", ID: "example.test"}, assets.New(db, nil)
	made, err := posts.As(me).ChangeFolders(ctx, library,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "Posts"}}})
	if err != nil {
		t.Fatal(err)
	}
	post := assets.NewAsset{ID: "1", Folders: []string{made.Folders[0].ID},
		Content: []byte(`{"content": "The first post"}`)}
	post.Generator.ID = "example"
	if _, err := posts.As(me).ChangeAssets(ctx, library,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{post}}); err != nil {
		t.Fatal(err)
	}

	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```sql\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the README has no statements")
	}
	raw, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	for statement := range strings.Lines(string(block[1])) {
		var rows int
		statement, _, _ = strings.Cut(statement, ";")
		if err := raw.QueryRowContext(ctx, "SELECT count(*) FROM ("+statement+")").Scan(&rows); err != nil ||
			rows == 0 {
			t.Errorf("%s finds %d rows: %v", statement, rows, err)
		}
	}
}
