package storage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// What is below a prefix sees and writes nothing else.
func TestSub(t *testing.T) {
	ctx, db := context.Background(), memory.New()
	defer db.Close()
	err := db.Update(ctx, "s", storage.UpdateOptions{}, func(tx storage.Tx) error {
		list := func(tx storage.Tx, ranges ...storage.Range) string {
			var keys []string
			for e, err := range tx.Scan(ctx, ranges...) {
				if err != nil {
					t.Fatal(err)
				}
				keys = append(keys, e.Key)
			}
			return strings.Join(keys, " ")
		}
		sub := storage.Sub(tx, "s x/")
		err := errors.Join(tx.Put(ctx, storage.Entry{Key: "s w/1"}, storage.Entry{Key: "s x/p1"},
			storage.Entry{Key: "s y/1"}),
			sub.Put(ctx, storage.Entry{Key: "p2", Value: []byte("two")}, storage.Entry{Key: "qq1"},
				storage.Entry{Key: "qq3"}))
		if err != nil {
			return err
		}
		values, err := sub.Get(ctx, "p2", "s w/1", "1")
		if err != nil || string(values[0]) != "two" || values[1] != nil || values[2] != nil {
			t.Errorf("Get: %q, %v", values, err)
		}
		p, q := storage.Prefix("p"), storage.Prefix("qq")
		p.Skip, q.Skip = 1, 2
		for want, got := range map[string]string{
			"p1 p2 qq1 qq3": list(sub, storage.Range{}),
			"qq3 qq1 p2":    list(sub, storage.Range{From: "p2", Reverse: true}),
			"p1 qq1 p2 qq3": list(sub, p, q),
			"s w/1 s x/p1 s x/p2 s x/qq1 s x/qq3 s y/1": list(tx, storage.Range{}),
		} {
			if got != want {
				t.Errorf("there is %q, want %q", got, want)
			}
		}
		for range sub.Spaces(ctx, "") {
			t.Error("it has spaces")
		}
		if n, err := sub.Estimate(ctx, storage.Range{From: "r"}); n != 0 || err != nil {
			t.Errorf("Estimate: %d, %v", n, err)
		}
		if err := errors.Join(sub.Delete(ctx, "p1", "s w/1"),
			sub.DeleteRange(ctx, storage.Range{From: "qq"})); err != nil {
			return err
		}
		if got := fmt.Sprint(list(tx, storage.Range{})); got != "s w/1 s x/p2 s y/1" {
			t.Errorf("after deleting there is %q", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
