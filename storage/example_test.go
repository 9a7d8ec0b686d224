package storage_test

import (
	"fmt"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// An update writes keys of one space together, and a View reads one snapshot.
func Example() {
	db := memory.New()
	defer db.Close()
	err := db.Update(ctx, "notes", storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.Put(ctx, storage.Entry{Key: "notes b", Value: []byte("bread")},
			storage.Entry{Key: "notes a", Value: []byte("apples")})
	})
	if err == nil {
		err = db.View(ctx, func(r storage.Reader) error {
			for e, err := range r.Scan(ctx, storage.Prefix("notes ")) {
				if err != nil {
					return err
				}
				fmt.Printf("%s: %s\n", e.Key, e.Value)
			}
			return nil
		})
	}
	fmt.Println(err)
	// Output:
	// notes a: apples
	// notes b: bread
	// <nil>
}
