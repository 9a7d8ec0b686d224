package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	db, err := sqlite.Open(filepath.Join(dir, "vitrine.db"), nil) // builds it, for there is none
	if err != nil {
		panic(err)
	}
	defer db.Close()

	ctx := context.Background()
	apps := appsvc.New(db.Apps(), nil)
	me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}
	app, err := apps.CreateApp(ctx, me, appsvc.CreateAppRequest{Title: "Front page", Groups: []string{"urn:vitrine:example.test:site=1"}})
	fmt.Println(app.Version, err)

	err = db.Backup(ctx, filepath.Join(dir, "copy.db"))
	fmt.Println(err)

	_, err = sqlite.Open(dir, nil)
	fmt.Println(err != nil)
	// Output:
	// 0 <nil>
	// <nil>
	// true
}
