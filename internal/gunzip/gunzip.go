// Package gunzip unpacks gzip as the program of that name does: several members in a row are one file, and zeros behind the
// last member are padding. Any other bytes behind it are an error, while that program only warns: they may be what is left
// of a member that held records.
package gunzip

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Magic is how every gzip file begins.
const Magic = "\x1f\x8b"

// Error says that a file is no gzip, is damaged or is cut short.
type Error struct {
	Offset int64 // how many bytes of the compressed file were read until the fault showed
	Fault  string
	Cause  error
}

// Error gives the fault, where it is and what would be right.
func (e *Error) Error() string {
	return fmt.Sprintf("gzip: byte %d of the compressed file: %s", e.Offset, e.Fault)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Reader unpacks a file while it reads it.
type Reader struct {
	file   source
	packed *bufio.Reader
	member *gzip.Reader
	err    error // what Read returned last; it stays
}

// source counts what was read and keeps the error that is no fault of the file.
type source struct {
	io.Reader
	read   int64
	failed error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.read += int64(n)
	if err != io.EOF {
		s.failed = err
	}
	return n, err
}

// NewReader reads the header of the first member. Its error is an *Error, or that of file.
func NewReader(file io.Reader) (*Reader, error) {
	r := &Reader{file: source{Reader: file}}
	r.packed = bufio.NewReader(&r.file)
	var err error
	if r.member, err = gzip.NewReader(r.packed); err != nil {
		return nil, r.explain(err)
	}
	r.member.Multistream(false)
	return r, nil
}

// Read unpacks some bytes. Its errors are io.EOF, *Error, and those of the file.
func (r *Reader) Read(p []byte) (int, error) {
	if r.err != nil || len(p) == 0 {
		return 0, r.err
	}
	for {
		n, err := r.member.Read(p)
		if err == io.EOF {
			err = r.next()
		} else if err != nil {
			err = r.explain(err)
		}
		r.err = err
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next begins the next member. It returns io.EOF if there is none.
func (r *Reader) next() error {
	head, err := r.packed.Peek(len(Magic))
	switch {
	case string(head) == Magic:
		if err := r.member.Reset(r.packed); err != nil {
			return r.explain(err)
		}
		r.member.Multistream(false)
		return nil
	case r.file.failed != nil:
		return r.file.failed
	case len(head) == 0:
		return err
	}
	return r.padding()
}

// padding reads zeros up to the end of the file.
func (r *Reader) padding() error {
	for {
		at := r.offset()
		switch c, err := r.packed.ReadByte(); {
		case err != nil:
			return err
		case c != 0:
			return &Error{at, fmt.Sprintf("0x%02x follows the end of the packed data: want another gzip member, zeros up to the end, or nothing", c), gzip.ErrHeader}
		}
	}
}

// offset is the offset of the next byte in the file.
func (r *Reader) offset() int64 { return r.file.read - int64(r.packed.Buffered()) }

// explain returns an error of the gzip reader as an *Error.
func (r *Reader) explain(err error) error {
	if r.file.failed != nil {
		return r.file.failed
	}
	var corrupt flate.CorruptInputError
	fault := "this is damaged: " + err.Error()
	switch {
	case errors.Is(err, gzip.ErrHeader):
		fault = "here ends what should be the header of a gzip member: want 0x1f 0x8b 0x08 and on"
	case errors.Is(err, gzip.ErrChecksum):
		fault = "the member that ends here is damaged: its checksum or length is not that of what it holds"
	case errors.As(err, &corrupt):
		fault = "the packed data is damaged here or shortly before"
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		fault, err = "the file ends in the middle of a gzip member: want all of it", io.ErrUnexpectedEOF
	}
	return &Error{r.offset(), fault, err}
}
