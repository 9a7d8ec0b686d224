package archive

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
)

// Options are how an archive is read. The zero value works.
type Options struct {
	// The limits of the services whose stores are in the archive. An archive with a thing beyond them is
	// refused: give those of a Service that has others than the default.
	Apps   appsvc.Limits
	Assets assets.Limits
}

// Archive is an archive that was read to its end and found sound.
type Archive struct {
	counts Counts
	file   io.ReadSeeker
	start  int64    // where the archive begins in file
	own    *os.File // a copy of what cannot be read twice; nil where there is none
}

// Open reads an archive to its end and checks it: that it is as it was written, and that its lines make
// up a store that the services could have written. ErrDamaged otherwise, with the line and the rule that it
// breaks. What r gives is copied into a temporary file unless r can Seek, in which case it is read again
// by Import. The caller closes the Archive.
func Open(ctx context.Context, r io.Reader, opts *Options) (*Archive, error) {
	a := &Archive{}
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
	var err error
	if a.counts, err = Check(ctx, r, opts); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Counts says how much is in the archive.
func (a *Archive) Counts() Counts { return a.counts }

// Close removes the temporary file. It does not close what was given to Open.
func (a *Archive) Close() error {
	if a.own == nil {
		return nil
	}
	return errors.Join(a.own.Close(), os.Remove(a.own.Name()))
}

// Check reads an archive to its end and says what is in it. ErrDamaged, with the line, when it is not as
// it was written or not what the services could have written. opts may be nil.
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
