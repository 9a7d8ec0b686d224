//go:build proof

package postgres

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
)

// spreadBy is the column by which rows are spread over machines, of each table that hot paths use. An app and a
// library are each on one machine.
var spreadBy = map[string]string{
	"app": "id", "app_history": "app", "app_restoration": "app", "tag": "app", "tag_move": "app",
	"library": "key", "folder": "library", "asset": "library", "asset_list": "library", "asset_value": "library", "asset_change": "library",
}

var (
	logged = regexp.MustCompile(`(?m)LOG:  execute [^:]*: (.*(?:\n\t.*)*)`)
	table  = regexp.MustCompile(`(?:FROM|JOIN|INTO|UPDATE|USING) (\w+)`)
)

// Each statement of a patch, a read, a tag, an added asset and a search says which app or library it is for. So an
// engine that spreads them finds the one machine that the statement is for.
func TestStatementsOfHotPathsNameTheirDistributionKey(t *testing.T) {
	c := cluster.New(t, &cluster.Options{Settings: []string{"log_statement = all"}})
	db := openAt(t, c.URL("postgres"), nil)
	hotPaths(t, db, "first") // makes what there is to make once
	before := serverLog(t, c)
	hotPaths(t, db, "second")
	seen := map[string]bool{}
	for _, found := range logged.FindAllStringSubmatch(strings.TrimPrefix(serverLog(t, c), before), -1) {
		sql := found[1]
		for _, of := range table.FindAllStringSubmatch(sql, -1) {
			key, hot := spreadBy[of[1]]
			if !hot {
				continue
			}
			seen[of[1]] = true
			if !regexp.MustCompile(`\b` + key + ` = (\$|ANY\(\$)|INTO ` + of[1] + ` \(` + key + `,`).MatchString(sql) {
				t.Errorf("a statement uses %s and does not say which %s:\n%s", of[1], key, sql)
			}
		}
	}
	for name := range spreadBy {
		if !seen[name] && name != "app_restoration" && name != "folder" && name != "asset_value" {
			t.Errorf("no statement of a hot path uses %s: this shows nothing", name)
		}
	}
}

// The list of tables in the package comment names each table, and the column by which its rows are spread. That is the first
// column of the primary key, as rows with the same key must be on one machine.
func TestPackageCommentListsEachTable(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^//\t(\w+) +(?:by (\w+)|not spread|a copy)`).FindAllStringSubmatch(string(text), -1) {
		listed[line[1]] = line[2]
	}
	db := openTest(t, nil)
	db.script(t, "CREATE TABLE vitrine_building (builder text PRIMARY KEY)") // as a Build does
	found, err := db.pool.Query(ctx, `SELECT relname::text, coalesce((SELECT attname::text FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
		WHERE indrelid = c.oid AND indisprimary), '') FROM pg_class c WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	first := map[string]string{}
	for found.Next() {
		var name, column string
		if err := found.Scan(&name, &column); err != nil {
			t.Fatal(err)
		}
		first[name] = column
	}
	if err := found.Err(); err != nil || len(first) == 0 {
		t.Fatalf("%d tables: %v", len(first), err)
	}
	for name, column := range first {
		switch by, ok := listed[name]; {
		case !ok:
			t.Errorf("the package comment does not list %s", name)
		case by != "" && by != column:
			t.Errorf("the package comment spreads %s by %s, and its primary key begins with %q", name, by, column)
		}
	}
	for name := range listed {
		if _, ok := first[name]; !ok {
			t.Errorf("the package comment lists %s, which is no table", name)
		}
	}
	for name, by := range spreadBy {
		if listed[name] != by {
			t.Errorf("the package comment spreads %s by %q, and a test by %s", name, listed[name], by)
		}
	}
}

func serverLog(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hotPaths does once what a service does most.
func hotPaths(t *testing.T, db *DB, post string) {
	t.Helper()
	const network = "urn:vitrine:example.test"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	apps, editor := appsvc.NewWith(db.Apps(), nil), vitrine.Caller{URN: network + ":user=editor", Moderates: []string{network}}
	var content appsvc.CreateAppRequest
	must(json.Unmarshal([]byte(`{"title": "one", "groups": ["`+network+`"]}`), &content))
	app, err := apps.CreateApp(ctx, editor, content)
	must(err)
	for n := range 3 {
		_, err = apps.Patch(ctx, editor, app.ID, fmt.Appendf(nil, `[{"op": "test", "path": "/apps/0/version", "value": "%d"}, {"op": "replace", "path": "/apps/0/title", "value": "title %d"}]`, n, n))
		must(err)
	}
	_, err = apps.App(ctx, editor, app.ID)
	must(err)
	_, err = apps.Version(ctx, editor, app.ID, vitrine.NewVersion(1))
	must(err)
	_, err = apps.PutTag(ctx, editor, appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: vitrine.NewVersion(1)})
	must(err)
	_, err = apps.TaggedApp(ctx, editor, app.ID, "production")
	must(err)

	library, curator := assets.Library{Network: "example.test", ID: "example.test"}, vitrine.Caller{URN: editor.URN, Moderates: editor.Moderates}
	posts := assets.NewWith(db.Assets(), nil)
	var change assets.ChangeAssetsRequest
	must(json.Unmarshal([]byte(`{"add": [{"id": "`+post+`", "generator": {"id": "g"}, "content": {"content": "tea and coffee"}}]}`), &change))
	_, err = posts.ChangeAssets(ctx, curator, library, change)
	must(err)
	_, err = posts.Search(ctx, curator, library, assets.SearchRequest{Query: "tea coffee"})
	must(err)
}
