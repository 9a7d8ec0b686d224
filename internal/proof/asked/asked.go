// Package asked has what the tests of Options.Check share.
package asked

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/storage"
)

// Step is a request, and what Options.Check of a service sees of it: nil if the request changes nothing.
type Step struct {
	Do   func() error
	Want []string
}

// SeesEachChange takes steps in which Options.Check notes what it sees in seen, and returns refuse. Each step is
// refused first, which changes nothing in the store.
func SeesEachChange(t *testing.T, db storage.Store, seen *[]string, refuse *error, steps []Step) {
	t.Helper()
	for i, step := range steps {
		before := content(t, db)
		*refuse = &vitrine.Error{Kind: vitrine.ErrForbidden, Reason: "not today"}
		if step.Want != nil {
			e, ok := errors.AsType[*vitrine.Error](step.Do())
			if !ok || e.Kind != vitrine.ErrForbidden || e.Code != vitrine.CodeRule || e.Reason != "not today" {
				t.Errorf("step %d, refused: %#v", i, e)
			}
			if content(t, db) != before {
				t.Errorf("step %d was refused, and has changed something", i)
			}
		}
		*refuse, *seen = nil, nil
		if err := step.Do(); err != nil || !slices.Equal(*seen, step.Want) {
			t.Errorf("step %d: the rule has seen %q, want %q (%v)", i, *seen, step.Want, err)
		}
	}
}

// content returns all entries of a store.
func content(t *testing.T, db storage.Store) (all string) {
	t.Helper()
	err := db.View(context.Background(), func(r storage.Reader) error {
		all = ""
		for e, err := range r.Scan(context.Background(), storage.Range{}) {
			if err != nil {
				return err
			}
			all += e.Key + "=" + string(e.Value) + "\n"
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
