package memory_test

import (
	"context"
	"fmt"
	"time"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A store for golden tests: services on it take its clock and its ids.
func Example() {
	ids := 0
	db := memory.New(memory.Options{
		Now:   func() time.Time { return time.Date(2026, 1, 31, 9, 30, 0, 0, time.UTC) },
		NewID: func() string { ids++; return fmt.Sprint("id-", ids) },
		Seed:  "golden",
	})
	defer db.Close()
	ctx, made := context.Background(), db.Defaults()
	key := "notes " + made.NewID()
	err := db.Update(ctx, "notes", storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.Put(ctx, storage.Entry{Key: key, Value: []byte(made.Now().Format(time.DateOnly))})
	})
	_ = db.View(ctx, func(r storage.Reader) error {
		values, err := r.Get(ctx, key, "notes none")
		fmt.Printf("%s %s %v %v\n", key, values[0], values[1] == nil, err)
		return nil
	})
	fmt.Println(err)
	// Output:
	// notes id-1 2026-01-31 true <nil>
	// <nil>
}
