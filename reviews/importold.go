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

// This file imports archives of format 2, written by releases whose stores had tables. It can be removed together with the
// file of examples/vitrine that calls it, when nobody has such archives any more.

// oldLine is a line of such an archive. Exactly one member is set.
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

// importOld is ImportOld of Maintenance.
func importOld(ctx context.Context, db storage.Store, lines [][]byte) error {
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
	if err := checkNetwork(c.Network); err != nil {
		return err
	}
	// Together, the lines are one record of a file.
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
