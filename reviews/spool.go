package reviews

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// spool holds the reviews of a line that is too long for memory until the line was read. It is
// compressed: a small file that unpacks to a huge line stays small on disk too.
type spool struct {
	dir  string
	file *os.File
	zip  *gzip.Writer
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "vitrine-reviews-*.gz")
		if err != nil {
			return 0, fmt.Errorf("reviews: a long line needs a temporary file: %w", err)
		}
		s.file = f
		os.Remove(f.Name()) // so that nothing is left whatever happens, where the system can do that
		s.zip, _ = gzip.NewWriterLevel(f, gzip.BestSpeed)
	}
	n, err := s.zip.Write(p)
	if err != nil {
		err = fmt.Errorf("reviews: keeping a long line: %w", err)
	}
	return n, err
}

// reader gives what was written, from the start. It calls watch at each step, whose error ends it.
func (s *spool) reader(watch func() error) (io.Reader, error) {
	if err := s.zip.Close(); err != nil {
		return nil, fmt.Errorf("reviews: keeping a long line: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bufio.NewReader(s.file))
	return watched{r, watch}, err
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
