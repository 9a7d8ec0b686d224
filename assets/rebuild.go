package assets

import (
	"context"

	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// Rebuild builds the indices of all libraries anew, from their assets, in many updates. It may be called again if it was
// interrupted. Meanwhile libraries can be changed, but searching the one that is being built anew, and adding assets to it, is ErrBusy.
func Rebuild(ctx context.Context, db storage.Store) error {
	for lib, err := range Libraries(ctx, db) {
		if err == nil {
			err = rebuildIndex(ctx, db, lib)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func rebuildIndex(ctx context.Context, db storage.Store, lib Library) error {
	terms := index.Index{Space: spaceOf(lib), Cache: index.NewCache(segmentBytes)}
	large := storage.UpdateOptions{Large: true}
	err := record.Update(ctx, db, terms.Space, large, func(t *record.Tx) error { return terms.Clear(ctx, t) })
	for end := false; err == nil && !end; {
		err = record.Update(ctx, db, terms.Space, large, func(t *record.Tx) error {
			r, err := openRecords(ctx, lib, terms.Cache, t, t)
			if err != nil {
				return err
			}
			last, building := r.writer.Built()
			if end = !building; end { // another process has ended it
				return nil
			}
			var entries []index.Entry
			for e, err := range record.Map(r.assetsIn(nil, pageRange{after: last, ascending: true, limit: atOnce}), indexEntry) {
				if err != nil {
					return err
				}
				entries = append(entries, e)
			}
			end = len(entries) == 0
			if err := r.writer.Build(ctx, entries, end); err != nil {
				return err
			}
			return r.writer.Finish(ctx)
		})
	}
	return err
}
