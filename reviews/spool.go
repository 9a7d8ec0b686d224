package reviews

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// maxPlain is how much of a spool is not compressed.
const maxPlain = 256 << 20

// spool holds the reviews of a line that is too long for memory until the line was read. What
// is beyond a limit is compressed: a small file that unpacks to a huge line stays small on disk.
type spool struct {
	dir   string
	limit int64 // of plain
	file  *os.File
	plain int64 // bytes that are not compressed
	zip   *gzip.Writer
}

func (s *spool) Write(p []byte) (int, error) {
	err := s.write(p)
	if err != nil {
		return 0, fmt.Errorf("reviews: a long line needs a temporary file: %w", err)
	}
	return len(p), nil
}

func (s *spool) write(p []byte) (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, "vitrine-reviews-*"); err != nil {
			return err
		}
		os.Remove(s.file.Name()) // so that nothing is left whatever happens, where the system can do that
	}
	if s.plain < s.limit {
		n := min(int64(len(p)), s.limit-s.plain)
		if _, err := s.file.Write(p[:n]); err != nil {
			return err
		}
		s.plain += n
		p = p[n:]
	}
	if len(p) == 0 {
		return nil
	}
	if s.zip == nil {
		s.zip, _ = gzip.NewWriterLevel(s.file, gzip.BestSpeed)
	}
	_, err = s.zip.Write(p)
	return err
}

// reader gives what was written, from the start. It calls watch at each step, whose error ends it.
func (s *spool) reader(watch func() error) (io.Reader, error) {
	plain := io.NewSectionReader(s.file, 0, s.plain)
	if s.zip == nil {
		return watched{plain, watch}, nil
	}
	if err := s.zip.Close(); err != nil {
		return nil, fmt.Errorf("reviews: a long line needs a temporary file: %w", err)
	}
	if _, err := s.file.Seek(s.plain, io.SeekStart); err != nil {
		return nil, err
	}
	rest, err := gzip.NewReader(bufio.NewReader(s.file))
	return watched{io.MultiReader(plain, rest), watch}, err
}

type watched struct {
	io.Reader
	watch func() error
}

func (w watched) Read(p []byte) (int, error) {
	if err := w.watch(); err != nil {
		return 0, err
	}
	return w.Reader.Read(p)
}

func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name()) // where an open file could not be removed
	}
}
