package archive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// Export writes everything in the stores to w, as an archive, and returns what it has counted. It returns the errors of
// the stores and of w, and an error that names a folder or a review if its parent is missing or it is its own ancestor,
// which only damage does and no import would take. After an error the archive is incomplete, and Open refuses it.
//
// The memory that it needs does not grow with the stores, except that it keeps the folders of one library, and some 15
// bytes of each review of one collection.
//
// The stores may be written meanwhile: the apps are read in one View, and so is each library and each network.
func Export(ctx context.Context, from Stores, w io.Writer) (Counts, error) {
	x := &exporter{ctx: ctx, out: bufio.NewWriterSize(w, 256<<10), sum: sha256.New()}
	for _, step := range []func() error{
		func() error { return x.put(line{Vitrine: format}) },
		func() error { return from.Apps.View(ctx, once(x, x.apps)) },
		func() error { return x.libraries(from.Assets) },
		func() error { return x.networks(from.Reviews) },
		x.end,
		x.out.Flush,
	} {
		if err := step(); err != nil {
			return Counts{}, fmt.Errorf("export: %w", err)
		}
	}
	return x.counts, nil
}

// exporter writes the lines of an archive, and keeps their number and checksum for the last line.
type exporter struct {
	ctx    context.Context
	out    *bufio.Writer
	sum    hash.Hash
	lines  int64
	counts Counts
}

// put writes a line and adds it to the checksum. Stored JSON keeps its bytes, also its escapes and the order of its
// members. It returns an error for a line that is longer than an import would read.
func (x *exporter) put(l line) error {
	text, err := json.Marshal(l, jsontext.PreserveRawStrings(true))
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if len(text) > maxLine {
		return fmt.Errorf("%s takes %d bytes, a line of an archive has at most %d", l.what(), len(text), maxLine)
	}
	x.sum.Write(text)
	x.lines++
	x.counts.add(l)
	_, err = x.out.Write(text)
	return err
}

// end writes the last line, which is not part of the checksum.
func (x *exporter) end() error {
	return x.put(line{End: &end{x.lines, hex.EncodeToString(x.sum.Sum(nil))}})
}

// once returns a function for a View, which may call it again with another snapshot. If lines were written by then, the
// function returns an error, since the archive would mix two states.
func once[Reader any](x *exporter, read func(Reader) error) func(Reader) error {
	before := x.lines
	return func(r Reader) error {
		if x.lines != before {
			return errors.New("the snapshot was lost on the way")
		}
		return read(r)
	}
}

// apps writes components, then the apps, then the answers.
func (x *exporter) apps(r appsvc.Reader) error {
	for c, err := range r.Components(x.ctx, appsvc.ComponentQuery{}) {
		if err == nil {
			err = x.put(line{Component: newComponent(c)})
		}
		if err != nil {
			return err
		}
	}
	for id, err := range r.IDs(x.ctx) {
		if err == nil {
			err = x.app(r, id)
		}
		if err != nil {
			return err
		}
	}
	for a, err := range r.Answers(x.ctx) {
		if err == nil {
			err = x.put(line{Answer: newAnswer(a)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// app writes the versions of an app, its tags, and their moves.
func (x *exporter) app(r appsvc.Reader, id string) error {
	head, err := r.Head(x.ctx, id)
	if err != nil {
		return err
	}
	restored := map[vitrine.Version]vitrine.Version{}
	for rest, err := range r.Restorations(x.ctx, appsvc.VersionQuery{AppID: id}) {
		if err != nil {
			return fmt.Errorf("restorations of app %q: %w", id, err)
		}
		restored[rest.Version] = rest.From
	}
	for n := range head.Version.Number() + 1 {
		v := vitrine.NewVersion(n)
		app, err := r.App(x.ctx, id, v)
		if err != nil {
			return fmt.Errorf("version %s of app %q: %w", v, id, err)
		}
		if err := x.put(line{Version: newVersion(app, restored[v])}); err != nil {
			return fmt.Errorf("version %s of app %q: %w", v, id, err)
		}
	}
	for t, err := range r.Tags(x.ctx, appsvc.TagQuery{AppID: id}) {
		if err == nil {
			err = x.put(line{Tag: newTag(t)})
		}
		if err != nil {
			return err
		}
	}
	return x.moves(r, id)
}

// moves writes the moves of each tag of an app, oldest first.
func (x *exporter) moves(r appsvc.Reader, id string) error {
	for name, err := range r.TagNames(x.ctx, id) {
		if err == nil {
			err = x.movesOf(r, id, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// movesOf writes the moves of a tag. A Reader yields the newest first, so they are read in portions from the oldest on, and
// each portion is reversed. The numbers of moves have no gaps, so a portion with fewer is the last.
func (x *exporter) movesOf(r appsvc.Reader, id, name string) error {
	const portion = 256
	for number := int64(1); ; number += portion {
		var moves []appsvc.TagMoveRecord
		for m, err := range r.TagMoves(x.ctx, appsvc.TagMoveQuery{AppID: id, Name: name, Before: number + portion, Limit: portion}) {
			if err != nil {
				return err
			}
			if m.Number >= number {
				moves = append(moves, m)
			}
		}
		for _, m := range slices.Backward(moves) {
			if err := x.put(line{Move: newMove(m)}); err != nil {
				return err
			}
		}
		if len(moves) < portion {
			return nil
		}
	}
}

// libraries writes the libraries. It lists them first, since a View during the iteration would need a second connection, and
// a store may have only one.
func (x *exporter) libraries(s assets.Store) error {
	var list []assets.Library
	for lib, err := range s.Libraries(x.ctx) {
		if err != nil {
			return err
		}
		list = append(list, lib)
	}
	for _, lib := range list {
		if err := s.View(x.ctx, lib, once(x, func(r assets.Reader) error { return x.library(r, lib) })); err != nil {
			return err
		}
	}
	return nil
}

// library writes a library with its folders and assets.
func (x *exporter) library(r assets.Reader, lib assets.Library) error {
	state, err := r.State(x.ctx)
	if err != nil {
		return err
	}
	if err := x.put(line{Library: newLibrary(lib, state)}); err != nil {
		return err
	}
	if err := assets.CheckTree(r.Folders(x.ctx)); err != nil {
		return fmt.Errorf("library %q of %q: %w", lib.ID, lib.Network, err)
	}
	for f, err := range r.Folders(x.ctx) {
		if err == nil {
			err = x.put(line{Folder: newFolder(f)})
		}
		if err != nil {
			return err
		}
	}
	for a, err := range r.Assets(x.ctx, assets.AssetQuery{Ascending: true}) {
		if err == nil {
			err = x.put(line{Asset: newAsset(a)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// networks writes the reviews of each network. It lists the networks first, for the same reason as libraries.
func (x *exporter) networks(s reviews.Store) error {
	var names []string
	for name, err := range s.Networks(x.ctx) {
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	for _, name := range names {
		if err := s.View(x.ctx, name, once(x, func(r reviews.Reader) error { return x.reviews(r, name) })); err != nil {
			return err
		}
	}
	return nil
}

// reviews writes the collections of a network, each with its reviews.
func (x *exporter) reviews(r reviews.Reader, network string) error {
	for c, err := range r.Collections(x.ctx) {
		if err == nil {
			err = x.put(line{Collection: newCollection(network, c)})
		}
		if err != nil {
			return err
		}
		threads := reviews.NewThreads()
		for one, err := range r.Reviews(x.ctx, c.Key) {
			if err == nil {
				err = threads.Add(one)
			}
			if err == nil {
				err = x.put(line{Review: newReview(one)})
			}
			if err != nil {
				return err
			}
		}
		if err := threads.End(); err != nil {
			return fmt.Errorf("network %q: collection %q of %q: %w", network, c.ID, c.Source, err)
		}
	}
	return nil
}
