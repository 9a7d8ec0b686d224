package reviews

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// maxUncompressed is how many bytes at the beginning of a spool are not compressed. Nearly all lines are shorter, and need no
// time for it.
const maxUncompressed = 256 << 20

// spool is the temporary file of a line that is too long for memory. What is written behind a limit is compressed, so that a
// small compressed file with a huge line takes little room on disk too. First everything is written, then it is read, from any
// offset on and more than once. The file is created by the first Write, and removed from its directory at once where the system
// allows that, so that a killed program leaves nothing behind.
type spool struct {
	dir          string   // "": the directory of the system
	limit        int64    // of uncompressed
	file         *os.File // nil before something is written
	uncompressed int64    // bytes that are not compressed
	zip          *gzip.Writer
	all          *Spool // bounds all temporary files together; nil: nothing does
	taken        int64  // bytes of the file
}

// Spool bounds the bytes that the temporary files of several imports take on disk together. A server gives one Spool to all of
// its imports, see Options.Spool. An import for which there is no room ends with ErrSpool. It is safe for concurrent use. A nil
// *Spool bounds nothing.
type Spool struct {
	most int64
	used atomic.Int64
}

// NewSpool returns a Spool with room for so many bytes.
func NewSpool(most int64) *Spool { return &Spool{most: most} }

// Used returns how many bytes the temporary files take at the moment.
func (s *Spool) Used() int64 { return s.used.Load() }

// take counts n bytes that are about to be written. It returns ErrSpool if there is no room for them.
func (s *Spool) take(n int64) error {
	if s == nil {
		return nil
	}
	if s.used.Add(n) > s.most {
		s.used.Add(-n)
		return fmt.Errorf("%w: those of all imports have reached %d bytes", ErrSpool, s.most)
	}
	return nil
}

// give takes n bytes off the count when their file is removed.
func (s *Spool) give(n int64) {
	if s != nil {
		s.used.Add(-n)
	}
}

// disk writes to the file of a spool if there is room for it. It counts what reaches the disk, compressed or not.
type disk struct{ *spool }

// Write writes p to the file. If there is no room, it returns ErrSpool and writes nothing.
func (d disk) Write(p []byte) (int, error) {
	if err := d.all.take(int64(len(p))); err != nil {
		return 0, err
	}
	d.taken += int64(len(p))
	return d.file.Write(p)
}

// Write writes to the file, and creates it first if there is none. It returns ErrSpool if there is no room, or the error of the
// file system, such as that of a full disk.
func (s *spool) Write(p []byte) (int, error) {
	err := s.write(p)
	if err != nil {
		return 0, fmt.Errorf("reviews: a long line needs a temporary file: %w", err)
	}
	return len(p), nil
}

// write is Write without the beginning of its error.
func (s *spool) write(p []byte) (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, "vitrine-reviews-*"); err != nil {
			return err
		}
		os.Remove(s.file.Name()) // so that nothing is left whatever happens, where the system can do that
	}
	if s.uncompressed < s.limit {
		n := min(int64(len(p)), s.limit-s.uncompressed)
		if _, err := (disk{s}).Write(p[:n]); err != nil {
			return err
		}
		s.uncompressed += n
		p = p[n:]
	}
	if len(p) == 0 {
		return nil
	}
	if s.zip == nil {
		s.zip, _ = gzip.NewWriterLevel(disk{s}, gzip.BestSpeed)
	}
	_, err = s.zip.Write(p)
	return err
}

// reader returns a reader of what was written, from an offset on. It calls watch before each read, whose error ends the reading.
// Nothing is written after the first call. An offset in the compressed part is reached by decompressing what stands before it.
func (s *spool) reader(from int64, watch func() error) (io.Reader, error) {
	plain := io.NewSectionReader(s.file, 0, s.uncompressed)
	if _, err := plain.Seek(min(from, s.uncompressed), io.SeekStart); err != nil {
		return nil, err
	}
	if s.zip == nil {
		return watched{plain, watch}, nil
	}
	if err := s.zip.Close(); err != nil {
		return nil, fmt.Errorf("reviews: a long line needs a temporary file: %w", err)
	}
	packed := io.NewSectionReader(s.file, s.uncompressed, 1<<62)
	rest, err := gzip.NewReader(bufio.NewReader(packed))
	if err != nil {
		return nil, err
	}
	all := watched{io.MultiReader(plain, rest), watch}
	_, err = io.CopyN(io.Discard, all, max(0, from-s.uncompressed))
	return all, err
}

// watched is a reader that calls watch before each read.
type watched struct {
	io.Reader
	watch func() error
}

// Read calls watch, and then reads.
func (w watched) Read(p []byte) (int, error) {
	if err := w.watch(); err != nil {
		return 0, err
	}
	return w.Reader.Read(p)
}

// close removes the file, and gives its bytes back to the Spool.
func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
		s.all.give(s.taken)
		os.Remove(s.file.Name()) // where an open file could not be removed
	}
}
