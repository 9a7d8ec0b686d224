package vitrine_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A rule by which slugs are unique. In a rule of a domain the rows are those of Change.Rows, and the change is
// committed with them.
func ExampleUnique() {
	ctx, db := context.Background(), memory.New()
	change := func(id string, before, after []string) error {
		return db.Update(ctx, "site", storage.UpdateOptions{}, func(tx storage.Tx) error {
			return vitrine.Unique(ctx, storage.Sub(tx, "site slugs/"), id, before, after)
		})
	}
	fmt.Println(change("1", nil, []string{"winter"}))
	err := change("2", nil, []string{"winter"})
	e, _ := errors.AsType[*vitrine.Error](err)
	fmt.Println(e.Code, e, errors.Is(err, vitrine.ErrUnprocessable))
	fmt.Println(change("1", []string{"winter"}, []string{"summer"}), change("2", nil, []string{"winter"}))
	// Output:
	// <nil>
	// rule "winter" is taken true
	// <nil> <nil>
}
