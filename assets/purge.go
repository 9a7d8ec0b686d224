package assets

import (
	"context"

	"github.com/vitrine-go/vitrine/storage"
)

// eraseRemoved leaves no word of the assets that were removed in the index, and nothing of them in the files of the store.
func (s *Service) eraseRemoved(ctx context.Context, lib Library) error {
	return s.updateRecords(ctx, lib, storage.UpdateOptions{Large: true, Erase: true}, func(r *records) error {
		return r.writer.Fold(ctx)
	})
}
