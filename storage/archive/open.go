package archive

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
)

// Options say how an archive is checked. The zero value works.
type Options struct {
	// The limits of the services whose stores are in the archive. An archive that exceeds them is refused, so
	// set them for services that have other limits than the default.
	Apps   appsvc.Limits
	Assets assets.Limits
}

// Archive is an archive that was read to its end and passed all checks. Its Import writes it into stores. The source
// must not change between Open and Import.
type Archive struct {
	counts Counts
	limits assets.Limits // Import makes the index entries of assets as the service with these limits would
	file   io.ReadSeeker
	start  int64    // where the archive begins in file
	own    *os.File // a temporary copy of a source that cannot be read twice; nil without one
}

// Open reads an archive to its end and checks it. It returns ErrDamaged, with the line and the rule that is broken, if the
// archive is not as it was written, or if no service could have written what its lines say. An error of r is wrapped together
// with ErrDamaged. opts may be nil.
//
// Import reads the archive a second time. If r is no io.Seeker, Open copies it into a temporary file. The caller closes the
// Archive.
func Open(ctx context.Context, r io.Reader, opts *Options) (*Archive, error) {
	a := &Archive{}
	if opts != nil {
		a.limits = opts.Assets
	}
	if file, ok := r.(io.ReadSeeker); ok {
		if start, err := file.Seek(0, io.SeekCurrent); err == nil {
			a.file, a.start = file, start
		}
	}
	if a.file == nil {
		file, err := os.CreateTemp("", "vitrine-*.archive")
		if err != nil {
			return nil, err
		}
		a.file, a.own = file, file
		r = io.TeeReader(r, file)
	}
	counts, err := Check(ctx, r, opts)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.counts = counts
	return a, nil
}

// Counts returns the number of things of each kind in the archive.
func (a *Archive) Counts() Counts { return a.counts }

// Close removes the temporary file. It does not close the reader that was given to Open.
func (a *Archive) Close() error {
	if a.own == nil {
		return nil
	}
	return errors.Join(a.own.Close(), os.Remove(a.own.Name()))
}

// Check reads an archive to its end, checks it as Open does, and returns the number of things of each kind in it. opts may be nil.
func Check(ctx context.Context, r io.Reader, opts *Options) (Counts, error) {
	if opts == nil {
		opts = &Options{}
	}
	var n Counts
	a := newAuditor(*opts)
	for l, err := range lines(ctx, r) {
		if err == nil {
			err = a.add(l)
		}
		if err != nil {
			return Counts{}, err
		}
		n.add(l)
	}
	if err := a.end(); err != nil {
		return Counts{}, err
	}
	return n, nil
}
