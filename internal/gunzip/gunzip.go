// Package gunzip unpacks gzip as the program of that name does: several members in a row are one file, and zeros behind
// the last member are padding. Any other bytes behind it are an error, while that program only warns: they may be the
// rest of a damaged member with records.
package gunzip

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Magic is how every gzip file begins.
const Magic = "\x1f\x8b"

// Error says that a file is no gzip, is damaged or is cut short.
type Error struct {
	Offset int64 // how many bytes of the compressed file were read when the fault was found
	Fault  string
	Cause  error
}

// Error returns the fault, where it is and what would be right.
func (e *Error) Error() string {
	return fmt.Sprintf("gzip: byte %d of the compressed file: %s", e.Offset, e.Fault)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Reader unpacks a file while it reads it.
type Reader struct {
	file   io.Reader
	read   int64 // bytes of file
	failed error // an error of reading file, which says nothing about its content
	packed *bufio.Reader
	member *gzip.Reader
	err    error // the first error of Read, which later calls return again
}

// source reads the file and counts its bytes.
type source struct{ *Reader }

func (s source) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	s.read += int64(n)
	if err != io.EOF {
		s.failed = err
	}
	return n, err
}

// NewReader reads the header of the first member. Its error is an *Error, or an error of file.
func NewReader(file io.Reader) (*Reader, error) {
	r := &Reader{file: file, member: &gzip.Reader{}}
	r.packed = bufio.NewReader(source{r})
	if err := r.begin(); err != nil {
		return nil, err
	}
	return r, nil
}

// Unpacked returns the content of a file, unpacked if it begins like gzip, with a buffer as large as that of the file.
// Its errors are those of NewReader.
func Unpacked(file *bufio.Reader) (*bufio.Reader, error) {
	if head, _ := file.Peek(len(Magic)); string(head) != Magic {
		return file, nil
	}
	r, err := NewReader(file)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(r, file.Size()), nil
}

// begin reads the header of a member.
func (r *Reader) begin() error {
	if err := r.member.Reset(r.packed); err != nil {
		return r.explain(err)
	}
	r.member.Multistream(false)
	return nil
}

// Read unpacks some bytes. Its errors are io.EOF, *Error, and those of the file.
func (r *Reader) Read(p []byte) (n int, err error) {
	for n == 0 && r.err == nil && len(p) > 0 {
		if n, err = r.member.Read(p); err == io.EOF {
			r.err = r.next()
		} else if err != nil {
			r.err = r.explain(err)
		}
	}
	return n, r.err
}

// next begins the next member, or reads padding to the end of the file, where it returns io.EOF.
func (r *Reader) next() error {
	if head, _ := r.packed.Peek(len(Magic)); string(head) == Magic {
		return r.begin()
	}
	for {
		at := r.offset()
		c, err := r.packed.ReadByte()
		switch {
		case r.failed != nil:
			return r.failed
		case err != nil:
			return err
		case c != 0:
			return &Error{at,
				fmt.Sprintf("0x%02x follows the end of the packed data: want another gzip member, zeros up to the "+
					"end, or nothing", c), gzip.ErrHeader}
		}
	}
}

// offset is the offset of the next byte in the file.
func (r *Reader) offset() int64 { return r.read - int64(r.packed.Buffered()) }

// explain returns an error of the gzip reader as an *Error.
func (r *Reader) explain(err error) error {
	fault := "the packed data is damaged here or shortly before"
	switch {
	case r.failed != nil:
		return r.failed
	case errors.Is(err, gzip.ErrHeader):
		fault = "here ends what should be the header of a gzip member: want 0x1f 0x8b 0x08 and on"
	case errors.Is(err, gzip.ErrChecksum):
		fault = "the member that ends here is damaged: its checksum or length is not that of its content"
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		fault, err = "the file ends in the middle of a gzip member: want all of it", io.ErrUnexpectedEOF
	}
	return &Error{r.offset(), fault, err}
}
