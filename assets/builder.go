package assets

import (
	"context"
	"reflect"
	"time"

	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// builder builds the index of a library by newRules, in steps. The store has how far it is, so another process, or this
// one after it was killed, continues. Meanwhile every change of an asset that is built changes this index too, and
// searches read the index by oldRules. The last step lets them read the new one. Then the old one is dropped.
type builder struct {
	db    storage.Store
	lib   Library
	cache *index.Cache
}

// A step is short, since other changes of the library wait for it. Tests change these.
var (
	stepAssets = 50       // assets at most
	stepBytes  = 64 << 10 // bytes of their bodies, unless one asset has more
	stepDrops  = 200      // entries of an index to drop
)

// builtAsset is an asset with its terms by newRules.
type builtAsset struct {
	asset assetRecord
	entry index.Entry
}

// step makes the next step and reports whether there are more. Several processes may make steps.
func (b builder) step(ctx context.Context) (more bool, err error) {
	var ready []builtAsset // so that no text is split into words during the update
	err = b.db.View(ctx, func(r storage.Reader) error {
		in, err := openRecords(ctx, b.lib, b.cache, r, nil)
		if err != nil {
			return err
		}
		after, building := in.built()
		if more = in.old || building || in.left; building {
			ready, err = in.batch(after, nil)
		}
		return err
	})
	if err != nil || !more {
		return false, err
	}
	return true, keyval.Update(ctx, b.db, spaceOf(b.lib), storage.UpdateOptions{}, func(t *keyval.Tx) error {
		in, err := openRecords(ctx, b.lib, b.cache, t, t)
		if err != nil {
			return err
		}
		after, building := in.built()
		switch {
		case building:
			return in.build(after, ready)
		case in.old: // the index that is searched is stored again, so that v0.2.0 changes it no more
			if _, err := in.writers[0].FoldSome(ctx, false); err != nil {
				return err
			}
			return in.indexBy(newRules, nil).Begin(ctx, t)
		case in.left:
			_, err = in.indexBy(oldRules, nil).Drop(ctx, t, stepDrops)
		}
		return err
	})
}

// built returns the last asset in the index that is being built; building is false if there is none.
func (r *records) built() (last int64, building bool) {
	switch {
	case r.next != nil:
		return r.next.Built()
	case r.old:
		return 0, false
	}
	return r.index.Built()
}

// batch returns the next assets to build after an ordinal. It takes the terms of those that have not changed since from
// ready.
func (r *records) batch(after int64, ready []builtAsset) (out []builtAsset, err error) {
	size := 0
	for a, err := range r.assetsIn(nil,
		pageRange{after: position{ordinal: after}, ascending: true, limit: stepAssets}) {
		if err != nil {
			return nil, err
		}
		if size += len(a.Body); size > stepBytes && len(out) > 0 {
			break
		}
		next := builtAsset{asset: a}
		if i := len(out); i < len(ready) && reflect.DeepEqual(ready[i].asset, a) {
			next.entry = ready[i].entry
		} else if next.entry, err = indexEntry(a, newRules); err != nil {
			return nil, err
		}
		out = append(out, next)
	}
	return out, nil
}

// build adds the next assets to the index that is being built. If there are none, searches read this index from now on.
func (r *records) build(after int64, ready []builtAsset) error {
	batch, err := r.batch(after, ready)
	if err != nil {
		return err
	}
	entries := make([]index.Entry, len(batch))
	for i, b := range batch {
		entries[i] = b.entry
	}
	end := len(batch) == 0
	if end && r.old {
		r.state.Rules = newRules
		if err := r.putState(r.state, false); err != nil {
			return err
		}
	}
	if err := r.writers[len(r.writers)-1].Build(r.ctx, entries, end); err != nil {
		return err
	}
	return r.finish()
}

// buildTime is how long one call of Upkeep builds indices.
const buildTime = time.Minute

// buildIndices builds the indices of all libraries that have none by newRules. It pauses after each step for as long as
// the step took, since others need the store too.
func (s *Service) buildIndices(ctx context.Context) error {
	end := time.Now().Add(buildTime)
	for lib, err := range libraries(ctx, s.made().db) {
		b := builder{s.db, lib, s.segments}
		for more := true; more && err == nil && time.Now().Before(end); {
			begin := time.Now()
			if more, err = b.step(ctx); more {
				select {
				case <-time.After(time.Since(begin)):
				case <-ctx.Done():
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
