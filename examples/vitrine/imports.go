package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/vitrine-go/vitrine/storage"
)

// importFlags are the flags of the commands that import files into one network.
type importFlags struct {
	set         *flag.FlagSet
	of          domain
	directories bool // they are imported too
	db, network *string
	dryRun      *bool
	shown       shownFlags
}

// defaultNetwork is the network of an import that names none.
const defaultNetwork = "default"

// newImportFlags adds the flags to f.
func newImportFlags(f *flag.FlagSet, of domain, directories bool) importFlags {
	return importFlags{f, of, directories, dbFlag(f),
		f.String("network", defaultNetwork, "`name` of the network that the "+of.things+" belong to"),
		f.Bool("dry-run", false, "compare with the store and report, but store nothing"), newShownFlags(f)}
}

// run opens the files and the store, and calls fn with them. done says what is done with the files.
func (i importFlags) run(
	ctx context.Context, p *program, fn func(s storage.Store, in *inputs, out *findings, done string) error,
) (err error) {
	if err := checkNetwork(*i.network); err != nil {
		return err
	}
	if err := checkReached(*i.db); err != nil {
		return err
	}
	if err := checkOutput(*i.db, "-rejects", *i.shown.rejects); err != nil {
		return err
	}
	in, err := openInputs(ctx, p, i.set.Args(), i.shown, i.directories)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	open, done := p.openToFill, "imported"
	if absent(*i.db) {
		done = "imported into the new store " + printable(*i.db)
	}
	if *i.dryRun {
		open, done = openToCompare, "compared, nothing stored"
	}
	s, err := open(ctx, *i.db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := i.of.choose(ctx, p, s, *i.network); err != nil {
		return err
	}
	return fn(s, in, newFindings(p.stdout, i.shown), done)
}

// unfinished returns the error of an import that an error has ended.
func (i importFlags) unfinished(err error) error {
	if err == nil || *i.dryRun {
		return err
	}
	return fmt.Errorf("%w; what came before is imported, and importing all of it again is safe", err)
}
