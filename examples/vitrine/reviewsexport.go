package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
)

// exportReviews is the command reviews export: it writes all stored reviews of one network in the format of the import.
func exportReviews(f *flag.FlagSet) action {
	db, file := dbFlag(f), outFlag(f)
	network := f.String("network", "",
		"`name` of the network whose reviews are written (default: the only one of the store)")
	return func(ctx context.Context, p *program) error {
		if err := checkOutput(*db, "-out", *file); err != nil {
			return err
		}
		return ofReviews.inNetwork(ctx, p, *db, *network, func(s storage.Store, network string) error {
			var out measured
			err := p.writeOut(*file, func(to io.Writer) error {
				out.Writer = to
				return reviews.New(s, nil).As(operator).Export(ctx, network, &out)
			})
			if mib := (out.longest + 1<<20 - 1) >> 20; err == nil && mib > 16 {
				p.complain(fmt.Errorf("the longest line has %d MiB: reviews import takes it with -max-line %d, the "+
					"console and HTTP take 16 MiB; vitrine export copies the whole store", mib, max(mib, 32)))
			}
			return err
		})
	}
}

// measured passes on what is written, and measures the longest line.
type measured struct {
	io.Writer
	line, longest int // bytes
}

// Write writes p.
func (m *measured) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		m.line += len(part)
		m.longest = max(m.longest, m.line)
		if part[len(part)-1] == '\n' {
			m.line = 0
		}
	}
	return m.Writer.Write(p)
}
