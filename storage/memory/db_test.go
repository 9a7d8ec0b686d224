package memory_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestAClosedStoreRefusesEverything(t *testing.T) {
	ctx, db, lib := context.Background(), memory.New(), assets.Library{Network: "n.test", ID: "n.test"}
	attempts := map[string]func() error{
		"ping":           func() error { return db.Ping(ctx) },
		"view of apps":   func() error { return db.Apps().View(ctx, func(appsvc.Reader) error { return nil }) },
		"update of apps": func() error { return db.Apps().Update(ctx, func(appsvc.Tx) error { return nil }) },
		"view of assets": func() error { return db.Assets().View(ctx, lib, func(assets.Reader) error { return nil }) },
		"update of assets": func() error {
			return db.Assets().Update(ctx, lib, func(assets.Tx) error { return nil })
		},
		"libraries": func() (err error) {
			for _, err = range db.Assets().Libraries(ctx) {
			}
			return err
		},
		"view of reviews":   func() error { return db.Reviews().View(ctx, "n.test", func(reviews.Reader) error { return nil }) },
		"update of reviews": func() error { return db.Reviews().Update(ctx, "n.test", func(reviews.Tx) error { return nil }) },
		"networks": func() (err error) {
			for _, err = range db.Reviews().Networks(ctx) {
			}
			return err
		},
	}
	for name, try := range attempts {
		if err := try(); err != nil {
			t.Errorf("%s before Close: %v", name, err)
		}
	}
	for range 2 {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, try := range attempts {
		if try() == nil {
			t.Errorf("%s succeeds after Close", name)
		}
	}
}

func TestStoresAreThoseOfOneDB(t *testing.T) {
	db := memory.New()
	if !reflect.DeepEqual([]any{db.Apps(), db.Assets(), db.Reviews()}, []any{db.Apps(), db.Assets(), db.Reviews()}) {
		t.Error("asking twice gives other stores")
	}
	if memory.New().Apps() == db.Apps() {
		t.Error("two DBs share their apps")
	}
}
