package reviews_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/proof/asked"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A rule sees each collection that a transaction changes, with its reviews, as they were and as they are; its rows and
// the change are committed together, and its error refuses both.
func TestCheckSeesEachChange(t *testing.T) {
	ctx, db := context.Background(), memory.New()
	if err := storage.EnsureIdentity(ctx, db); err != nil { // which a refused change leaves too
		t.Fatal(err)
	}
	counts := func(c *reviews.CollectionRecord) string {
		if c == nil {
			return "none"
		}
		return fmt.Sprint(c.Count)
	}
	parent := func(r *reviews.ReviewRecord) string {
		if r == nil {
			return "none"
		}
		return r.AuthorID + "<" + r.ParentID
	}
	var seen []string
	var refuse error
	svc := reviews.New(db,
		&reviews.Options{Check: func(ctx context.Context, by vitrine.Caller, c reviews.Change) error {
			line := fmt.Sprint(c.Action, " ", c.Collection.ID, " ", counts(c.Before), "->", counts(c.After))
			for _, r := range c.Reviews {
				id := ""
				for _, of := range []*reviews.ReviewRecord{r.Before, r.After} {
					if of != nil {
						id = of.ID
					}
				}
				line += " " + id + ":" + parent(r.Before) + "->" + parent(r.After)
			}
			if seen = append(seen, line); c.Network != "example.test" || c.At == 0 || !by.Operator {
				t.Errorf("%s: of %s at %d by %v", line, c.Network, c.At, by)
			}
			return errors.Join(c.Rows("log").Put(ctx, storage.Entry{Key: "last", Value: []byte(line)}), refuse)
		}}).As(vitrine.Caller{Operator: true})
	load := func(file string) func() error {
		return func() error {
			report, err := svc.Import(ctx,
				reviews.ImportRequest{Network: "example.test", File: strings.NewReader(file)})
			if err == nil && report.ReviewsRejected > 0 {
				err = fmt.Errorf("%v", report.Problems)
			}
			return err
		}
	}
	erase := func(in reviews.DeleteRequest) func() error {
		return func() error { in.Network = "example.test"; _, err := svc.Delete(ctx, in); return err }
	}
	first := collection("YQ", single, by("ann", review("1", 10, "")), by("bob", review("2", 20, `,"parent_id":"1"`)))
	asked.SeesEachChange(t, db, &seen, &refuse, []asked.Step{
		{Do: load(first + collection("YWI", single, by("ann", review("1", 50, "")))), Want: []string{
			"imported YQ none->2 1:none->ann< 2:none->bob<1", "imported YWI none->1 1:none->ann<"}},
		{Do: load(first)}, // it changes nothing
		{Do: load(collection("YQ", single, by("eve", review("1", 10, "")),
			by("bob", review("2", 20, `,"parent_id":"1"`)))),
			Want: []string{"imported YQ 2->2 1:ann<->eve<"}},
		{Do: erase(reviews.DeleteRequest{Collection: "YQ", Review: "1"}),
			Want: []string{"deleted YQ 2->1 2:bob<1->bob< 1:eve<->none"}},
		{Do: erase(reviews.DeleteRequest{Everything: true}),
			Want: []string{"deleted YQ 1->none", "deleted YWI 1->none"}},
	})
	for fault, err := range reviews.Maintenance().Audit(ctx, db) {
		t.Error(fault, err)
	}
}
