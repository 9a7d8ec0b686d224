package keyval

import (
	"context"
	"iter"
	"strings"

	"github.com/vitrine-go/vitrine/storage"
)

// Audit yields the faults of the space of this name, or of all spaces below it if the name ends with a slash. An error
// is the last pair. Audit calls find for each space, with a snapshot of its own. The faults that find returns together
// with an error are yielded too.
func Audit(
	ctx context.Context, s storage.Store, name string,
	find func(r storage.Reader, space string) ([]storage.Fault, error),
) iter.Seq2[storage.Fault, error] {
	return func(yield func(storage.Fault, error) bool) {
		var spaces []string
		err := s.View(ctx, func(r storage.Reader) error {
			spaces = nil
			for space, err := range r.Spaces(ctx, name) {
				if err != nil {
					return err
				}
				if space == name || strings.HasSuffix(name, "/") {
					spaces = append(spaces, space)
				}
			}
			return nil
		})
		for i := 0; i < len(spaces) && err == nil; i++ {
			var faults []storage.Fault
			err = s.View(ctx, func(r storage.Reader) (err error) {
				faults, err = find(r, spaces[i])
				return err
			})
			for _, fault := range faults {
				if !yield(fault, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(storage.Fault{}, err)
		}
	}
}
