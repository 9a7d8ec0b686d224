package storage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestObservedTellsOfEachCall(t *testing.T) {
	type key struct{}
	var told []string
	failed := errors.New("failed")
	below := memory.New(memory.Options{NewID: func() string { return "1" }})
	db := storage.Observed(below, func(ctx context.Context, space string) (context.Context, func(error)) {
		told = append(told, fmt.Sprintf("begin %q", space))
		return context.WithValue(ctx, key{}, space), func(err error) { told = append(told, fmt.Sprint("end ", err)) }
	})
	errs := []error{
		update(db, "a", func(tx storage.Tx) error { return tx.Put(ctx, storage.Entry{Key: "a 1"}) }),
		db.View(ctx, func(storage.Reader) error { return failed }),
		contains(db, "a 1"),
	}
	func() {
		defer func() { recover() }()
		_ = update(db, "b", func(storage.Tx) error { panic("thrown") })
	}()
	if !slices.Equal(errs, []error{nil, failed, nil}) || storage.DefaultsOf(db).NewID() != "1" {
		t.Errorf("the calls return %v", errs)
	}
	want := []string{`begin "a"`, "end <nil>", `begin ""`, "end failed", `begin ""`, "end <nil>", `begin "b"`,
		"end storage: the function did not return"}
	if !slices.Equal(told, want) {
		t.Errorf("told were %q, want %q", told, want)
	}
}
