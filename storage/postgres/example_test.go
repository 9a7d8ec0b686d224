//go:build proof

package postgres_test

import (
	"context"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

func ExampleOpen() {
	ctx := context.Background()
	db, err := postgres.Open(ctx, "postgres://vitrine@db1,db2/vitrine?target_session_attrs=read-write", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	apps := appsvc.NewWith(db.Apps(), nil)
	me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}
	app, err := apps.CreateApp(ctx, me, appsvc.CreateAppRequest{Title: "Front page", Groups: []string{"urn:vitrine:example.test:site=1"}})
	fmt.Println(app.Version, err)
}
