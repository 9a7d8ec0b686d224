package reviews

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/storage"
)

// This file loads archives of format 2, which releases before keys and values have written. It goes with the file of
// examples/vitrine that calls it, when nobody has such archives any more.

// oldLine is a line of such an archive. One of its members is set.
type oldLine struct {
	Collection *struct {
		Network string         `json:"network"`
		Source  string         `json:"source"`
		ID      string         `json:"id"`
		Tally   []byte         `json:"tally"` // not read: ratings are counted again
		Fields  jsontext.Value `json:"fields"`
	} `json:"collection"`
	Review *struct {
		ID   string         `json:"id"`
		Data jsontext.Value `json:"data"`
	} `json:"review"`
}

// ImportOld puts what some lines of an archive of format 2 say into a store, in one update. The first line is that of their
// collection, also if it was given before. The caller audits the store at the end.
func ImportOld(ctx context.Context, db storage.Store, lines [][]byte) error {
	all := make([]oldLine, len(lines))
	for i, text := range lines {
		if err := json.Unmarshal(text, &all[i], json.RejectUnknownMembers(true)); err != nil {
			return err
		}
	}
	c := all[0].Collection
	if c == nil {
		return errors.New("a review belongs to no collection")
	}
	if err := CheckNetwork(c.Network); err != nil {
		return err
	}
	// Together they are a record of a file.
	parts, between := []string{strings.TrimSuffix(string(c.Fields), "}")}, `,"reviews":[`
	for _, x := range all[1:] {
		if x.Review == nil {
			return errors.New("a line of a collection is no review")
		}
		parts, between = append(parts, between, string(x.Review.Data)), ","
	}
	if between != "," {
		parts = append(parts, between)
	}
	in, err := newRecordReader().read(append(parts, "]}")...)
	if err != nil {
		return fmt.Errorf("collection %q of %q: %w", c.ID, c.Source, err)
	}
	return update(ctx, db, c.Network, storage.UpdateOptions{Large: true}, func(s *rows) error {
		_, err := merge(s, []lineResult{{incoming: in}})
		return err
	})
}
