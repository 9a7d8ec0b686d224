package reviews

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// maxPlain is how many bytes at the beginning of a temporary file are not compressed. Nearly all lines are shorter, so no time is
// spent on compressing them.
const maxPlain = 256 << 20

// tempFile is the temporary file of a line that is longer than a block. An import copies the whole record to it, and a check only
// reviews before which no dimensions stand, see longLine. The first plainLimit bytes are written as they are, and the rest is
// compressed: a gzip file of some MB may be one line of many GB, which takes little room on disk then too.
//
//	file   |  plain bytes  |  gzip stream  |
//
// First everything is written, then it is read, from any offset on and more than once. The file is created by the first Write,
// and removed from its directory at once where the system allows that (Unix), so that a killed program leaves nothing behind.
// Elsewhere close removes it.
type tempFile struct {
	dir        string       // "": the directory of the system
	plainLimit int64        // the most that plain becomes
	file       *os.File     // nil before something is written
	plain      int64        // bytes at the beginning of the file that are not compressed
	zip        *gzip.Writer // writes after these; nil if there are no more bytes
	spool      *Spool       // bounds all temporary files together; nil: nothing does
	taken      int64        // bytes of the file, for which spool has given room
}

// disk writes to the file if its Spool has room. Both the plain bytes and the gzip stream go through it, so taken counts what
// reaches the disk, after compression.
type disk struct{ *tempFile }

// Write writes p to the file. If there is no room, it returns ErrSpool and writes nothing.
func (d disk) Write(p []byte) (int, error) {
	if err := d.spool.take(int64(len(p))); err != nil {
		return 0, err
	}
	d.taken += int64(len(p))
	return d.file.Write(p)
}

// Write writes to the file, and creates it first if there is none. Its error wraps ErrSpool if the Spool has no room, or is that
// of the file system, such as a full disk. After an error the file is of no use; close removes it.
func (f *tempFile) Write(p []byte) (int, error) {
	err := f.write(p)
	if err != nil {
		return 0, fmt.Errorf("reviews: a long line needs a temporary file: %w", err)
	}
	return len(p), nil
}

// write is Write without the words at the beginning of its error.
func (f *tempFile) write(p []byte) (err error) {
	if f.file == nil {
		if f.file, err = os.CreateTemp(f.dir, "vitrine-reviews-*"); err != nil {
			return err
		}
		os.Remove(f.file.Name()) // so that nothing is left whatever happens, where the system can do that
	}
	// The beginning of the file is written as it is, up to plainLimit.
	if f.plain < f.plainLimit {
		n := min(int64(len(p)), f.plainLimit-f.plain)
		if _, err := (disk{f}).Write(p[:n]); err != nil {
			return err
		}
		f.plain += n
		p = p[n:]
	}
	if len(p) == 0 {
		return nil
	}
	// The rest goes through gzip.
	if f.zip == nil {
		f.zip, _ = gzip.NewWriterLevel(disk{f}, gzip.BestSpeed)
	}
	_, err = f.zip.Write(p)
	return err
}

// reader returns a reader of what was written, from an offset on, which counts uncompressed bytes. It calls watch before each
// read, and an error of watch ends the reading. Nothing may be written after the first call. To reach an offset in the compressed
// part, reader decompresses what comes before it, since gzip has no index.
func (f *tempFile) reader(from int64, watch func() error) (io.Reader, error) {
	plain := io.NewSectionReader(f.file, 0, f.plain)
	if _, err := plain.Seek(min(from, f.plain), io.SeekStart); err != nil {
		return nil, err
	}
	// Without a compressed part, this is all. Otherwise the gzip stream is ended first; to end it again does nothing.
	if f.zip == nil {
		return watched{plain, watch}, nil
	}
	if err := f.zip.Close(); err != nil {
		return nil, fmt.Errorf("reviews: a long line needs a temporary file: %w", err)
	}
	packed := io.NewSectionReader(f.file, f.plain, 1<<62)
	rest, err := gzip.NewReader(bufio.NewReader(packed))
	if err != nil {
		return nil, err
	}
	all := watched{io.MultiReader(plain, rest), watch}
	_, err = io.CopyN(io.Discard, all, max(0, from-f.plain))
	return all, err
}

// watched is a reader that calls watch before each read. Reading a long file takes time, and watch returns errStopped when nobody
// wants the rest.
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

// close removes the file, if there is one, and gives its bytes back to the Spool.
func (f *tempFile) close() {
	if f.file != nil {
		f.file.Close()
		f.spool.give(f.taken)
		os.Remove(f.file.Name()) // where an open file could not be removed
	}
}
