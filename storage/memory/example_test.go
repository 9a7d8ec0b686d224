package memory_test

import (
	"context"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func ExampleNew() {
	db := memory.New()
	defer db.Close()
	apps := appsvc.New(db.Apps(), nil)
	me := vitrine.Caller{
		URN:       "urn:vitrine:example.test:user=me",
		Moderates: []string{"urn:vitrine:example.test"},
	}
	app, err := apps.CreateApp(context.Background(), me, appsvc.CreateAppRequest{
		Title:  "Front page",
		Groups: []string{"urn:vitrine:example.test:site=1"},
	})
	fmt.Println(app.Version, err)
	// Output: 0 <nil>
}
