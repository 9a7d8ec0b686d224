package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// The most that one transaction of an import writes. Larger transactions would take more memory and hold locks longer;
// smaller ones would wait for the disk more often.
const (
	batchLines = 1000
	batchBytes = 4 << 20
)

// Import opens an archive and writes its content into empty stores. It returns ErrNotEmpty if they are not empty. It checks the
// whole archive before it writes anything, so after ErrDamaged the stores are still empty. After any other error, or if the
// process is killed, the stores may hold a part of the content: discard them.
func Import(ctx context.Context, to Stores, r io.Reader, opts *Options) (Counts, error) {
	if err := to.Empty(ctx); err != nil {
		return Counts{}, fmt.Errorf("import: %w", err)
	}
	a, err := Open(ctx, r, opts)
	if err != nil {
		return Counts{}, fmt.Errorf("import: %w", err)
	}
	defer a.Close()
	return a.Import(ctx, to)
}

// Import writes the content of the archive into empty stores. It returns ErrNotEmpty if they are not empty. After any
// other error, or if the process is killed, the stores may hold a part of the content: discard them. It never returns
// ErrDamaged, not even if the source has changed since Open.
func (a *Archive) Import(ctx context.Context, to Stores) (Counts, error) {
	if err := to.Empty(ctx); err != nil {
		return Counts{}, fmt.Errorf("import: %w", err)
	}
	if _, err := a.file.Seek(a.start, io.SeekStart); err != nil {
		return Counts{}, fmt.Errorf("import: %w", err)
	}
	m := importer{ctx: ctx, to: to, limits: a.limits}
	for l, err := range lines(ctx, a.file) {
		if err == nil {
			err = m.add(l)
		}
		if err != nil {
			return Counts{}, secondReading(err)
		}
	}
	if err := m.flush(); err != nil {
		return Counts{}, secondReading(err)
	}
	return m.counts, nil
}

// secondReading returns an error of the second reading of an archive. It is no ErrDamaged, which promises that the stores are
// empty.
func secondReading(err error) error {
	if errors.Is(err, ErrDamaged) {
		err = changedSince{err}
	}
	return fmt.Errorf("import: %w", err)
}

// changedSince is the error of an archive that could be read when it was checked, and cannot any more. errors.Is and errors.As find
// in it what they find in its cause, but for ErrDamaged.
type changedSince struct{ cause error }

func (e changedSince) Error() string {
	return fmt.Sprintf("the archive could be read when it was checked, and cannot be read again: %v", e.cause)
}

func (e changedSince) Is(target error) bool {
	return target != ErrDamaged && errors.Is(e.cause, target)
}

func (e changedSince) As(target any) bool { return errors.As(e.cause, target) }

// Empty returns ErrNotEmpty if one of the stores has data.
func (s Stores) Empty(ctx context.Context) error {
	err := s.Apps.View(ctx, func(r appsvc.Reader) error {
		if err := none(r.IDs(ctx), "apps"); err != nil {
			return err
		}
		if err := none(r.Components(ctx, appsvc.ComponentQuery{Brief: true}), "components"); err != nil {
			return err
		}
		return none(r.Answers(ctx), "answers")
	})
	if err != nil {
		return err
	}
	if err := none(s.Assets.Libraries(ctx), "libraries"); err != nil {
		return err
	}
	return none(s.Reviews.Networks(ctx), "reviews")
}

// none returns ErrNotEmpty if the list is not empty.
func none[T any](list iter.Seq2[T, error], what string) error {
	for _, err := range list {
		if err == nil {
			err = fmt.Errorf("%w: it holds %s; want a new one", ErrNotEmpty, what)
		}
		return err
	}
	return nil
}

// importer writes the lines of an archive in batches. A batch is one transaction of one store, so it has lines of one
// domain, and of one library or network.
type importer struct {
	ctx    context.Context
	to     Stores
	limits assets.Limits // of the service that reads the assets
	counts Counts

	batch      []line
	bytes      int
	domain     domain
	library    *library    // the library of the next folders and assets
	network    string      // the network of the next collections
	collection *collection // the collection of the next reviews
}

// domain says which of the stores a line belongs to.
type domain int

const (
	ofApps domain = iota
	ofAssets
	ofReviews
)

func (l line) domain() domain {
	switch {
	case l.Library != nil, l.Folder != nil, l.Asset != nil:
		return ofAssets
	case l.Collection != nil, l.Review != nil:
		return ofReviews
	}
	return ofApps
}

// size estimates how many bytes a line adds to a transaction.
func (l line) size() int {
	switch {
	case l.Component != nil:
		return len(l.Component.Manifest)
	case l.Version != nil:
		return len(l.Version.Body)
	case l.Answer != nil:
		return len(l.Answer.Result)
	case l.Asset != nil:
		return len(l.Asset.Body)
	case l.Collection != nil:
		return len(l.Collection.Fields)
	case l.Review != nil:
		return len(l.Review.Data)
	}
	return 0
}

// add adds a line to the batch. It first writes the batch if the line would make it too large, or needs another transaction:
// that of another store, library or network.
func (m *importer) add(l line) error {
	full := len(m.batch) == batchLines || m.bytes+l.size() > batchBytes
	other := l.Collection != nil && *l.Collection.Network != m.network
	if full || l.domain() != m.domain || l.Library != nil || other {
		if err := m.flush(); err != nil {
			return err
		}
	}
	if l.Library != nil {
		m.library = l.Library
	}
	if other {
		m.network = *l.Collection.Network
	}
	m.domain = l.domain()
	m.batch, m.bytes = append(m.batch, l), m.bytes+l.size()
	m.counts.add(l)
	return nil
}

// flush writes the batch in one transaction.
func (m *importer) flush() (err error) {
	if len(m.batch) == 0 {
		return nil
	}
	switch m.domain {
	case ofApps:
		err = m.to.Apps.Update(m.ctx, m.apps)
	case ofAssets:
		err = m.to.Assets.Update(m.ctx, m.library.name(), m.assets)
	case ofReviews:
		err = m.reviews()
	}
	m.batch, m.bytes = m.batch[:0], 0
	return err
}

// apps writes components, apps and answers.
func (m *importer) apps(tx appsvc.Tx) error {
	for _, l := range m.batch {
		var err error
		switch {
		case l.Component != nil:
			err = tx.AddComponent(m.ctx, l.Component.stored())
		case l.Version != nil:
			err = addVersion(m.ctx, tx, *l.Version)
		case l.Tag != nil:
			err = tx.SetTag(m.ctx, l.Tag.stored())
		case l.Move != nil:
			err = tx.AddTagMove(m.ctx, l.Move.stored())
		case l.Answer != nil:
			err = tx.KeepAnswer(m.ctx, l.Answer.stored(), 0) // deletes no expired ones
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addVersion adds a version with its restoration. The head, by which apps are found, is not in an archive: it is
// computed from the body.
func addVersion(ctx context.Context, tx appsvc.Tx, v version) error {
	app := v.stored()
	head, err := app.Head()
	if err != nil {
		return fmt.Errorf("%w: version %s of app %q: %w", ErrDamaged, app.Version, app.ID, err)
	}
	if err := tx.AddVersion(ctx, head, app.Body); err != nil {
		return err
	}
	if r, ok := v.restoration(); ok {
		return tx.AddRestoration(ctx, r)
	}
	return nil
}

// assets writes the state, folders and assets of a library.
func (m *importer) assets(tx assets.Tx) error {
	for _, l := range m.batch {
		var err error
		switch {
		case l.Library != nil:
			err = tx.SetState(m.ctx, l.Library.state())
		case l.Folder != nil:
			err = tx.PutFolder(m.ctx, l.Folder.stored())
		case l.Asset != nil:
			err = m.putAsset(tx, l.Asset.stored())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// putAsset adds an asset. Its index entries are not in an archive: they are computed from the asset.
func (m *importer) putAsset(tx assets.Tx, r assets.Record) error {
	index, err := assets.IndexOf(r, m.limits)
	if err != nil {
		return fmt.Errorf("%w: asset %d: %w", ErrDamaged, r.Ordinal, err)
	}
	return tx.PutAsset(m.ctx, r, index)
}

// reviews writes collections and reviews. A review belongs to the last collection before it, which may be in an earlier
// batch. The Update may call the function again, so it begins with the collection of the earlier batch each time and m
// changes only afterwards.
func (m *importer) reviews() error {
	last := m.collection
	err := m.to.Reviews.Update(m.ctx, m.network, func(tx reviews.Tx) error {
		last = m.collection
		var list []reviews.Review
		put := func() error {
			if len(list) == 0 {
				return nil
			}
			err := tx.PutReviews(m.ctx, last.key(), list)
			list = list[:0]
			return err
		}
		for _, l := range m.batch {
			if l.Review != nil {
				list = append(list, l.Review.stored())
				continue
			}
			if err := put(); err != nil {
				return err
			}
			last = l.Collection
			if err := tx.PutCollection(m.ctx, last.stored()); err != nil {
				return err
			}
		}
		return put()
	})
	m.collection = last
	return err
}
