package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
)

// listCollections is the command reviews collections: it prints a line for each stored collection of one network.
func listCollections(f *flag.FlagSet) action {
	db, asJSON := dbFlag(f), f.Bool("json", false, "print each collection as a line of JSON")
	network := f.String("network", "",
		"`name` of the network whose collections are listed (default: the only one of the store)")
	source := f.String("source", "", "`name` of the source whose collections are listed (default: of all sources)")
	return func(ctx context.Context, p *program) error {
		return ofReviews.inNetwork(ctx, p, *db, *network, func(s storage.Store, network string) error {
			out := bufio.NewWriterSize(p.stdout, 64<<10)
			lines := json.NewEncoder(escaper{out})
			lines.SetEscapeHTML(false)
			in := reviews.ListCollectionsRequest{Network: network, Source: *source, Limit: 500}
			for c, err := range reviews.New(s, nil).As(operator).AllCollections(ctx, in) {
				switch {
				case err != nil:
				case *asJSON:
					err = lines.Encode(c)
				default:
					_, err = fmt.Fprintln(out, printable(collectionLine(c)))
				}
				if err != nil {
					return errors.Join(err, out.Flush())
				}
			}
			return out.Flush()
		})
	}
}

// collectionLine returns the line for people: source, id, title, number of reviews, and the mean of each dimension.
func collectionLine(c reviews.CollectionRecord) string {
	var line strings.Builder
	fmt.Fprintf(&line, "%s  %s  %q: %s", c.Source, c.ID, c.Title, count(c.Count, "review"))
	for _, d := range c.Dimensions {
		if c.Count > 0 {
			fmt.Fprintf(&line, ", %s %.2f", d.Name, d.Mean)
		}
	}
	return line.String()
}
