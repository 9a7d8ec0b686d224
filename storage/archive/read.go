package archive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"

	"github.com/go-json-experiment/json"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/vitrine-go/vitrine/internal/gunzip"
)

// maxLine bounds a line with its line end, in bytes, so that reading an archive takes a bounded amount of memory. The
// largest thing that a Service of default limits stores takes half of that.
const maxLine = 64 << 20

// lines yields the lines of an archive between the first, which names the format, and the last. It yields an error, as its last
// pair, if a line is malformed, or if the number and the checksum in the last line are not those of the lines before it.
func lines(ctx context.Context, r io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		in, err := opened(r)
		if err != nil {
			yield(line{}, fmt.Errorf("%w: %w", ErrDamaged, err))
			return
		}
		s := scanner{lines: bufio.NewScanner(in), sum: sha256.New()}
		s.lines.Buffer(nil, maxLine)
		for {
			l, err := s.next()
			if err == nil {
				err = ctx.Err()
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// opened returns a reader of the archive, which decompresses r if it is gzipped.
func opened(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, 256<<10)
	if magic, _ := in.Peek(len(gunzip.Magic)); string(magic) != gunzip.Magic {
		return in, nil
	}
	return gunzip.NewReader(in)
}

// scanner reads the lines of an archive, and compares their number and checksum with those in the last line.
type scanner struct {
	lines  *bufio.Scanner
	sum    hash.Hash
	number int64 // of the line that was read last
	inside scope
}

// scope says whether a library or a collection has begun, to which the next folders, assets or reviews belong.
type scope struct{ library, collection bool }

// next returns the next line. It skips the first, which names the format, and returns io.EOF at the last, if its number
// and checksum are right.
func (s *scanner) next() (line, error) {
	for {
		l, err := s.read()
		switch {
		case s.number == 1 && (err == nil && l.Vitrine != format || unlike(err)):
			return line{}, notArchive{}
		case err != nil:
			return line{}, fmt.Errorf("%w: line %d: %w", ErrDamaged, s.number, err)
		case l.End != nil:
			return line{}, s.end(*l.End)
		case s.number > 1 && l.Vitrine != 0:
			return line{}, fmt.Errorf("%w: line %d: names the format, which only line 1 may do", ErrDamaged, s.number)
		case s.number > 1:
			l.number = s.number
			return l, nil
		}
	}
}

// errNotLine means that a line cannot be one of an archive.
var errNotLine = errors.New("this is no line of an archive")

// notLine returns an errNotLine that says where the JSON of a line is wrong, without the names of Go types.
func notLine(err error) error {
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.As(err, &meaning) && meaning.JSONPointer != "":
		return fmt.Errorf("%w: the value at %s is not what belongs there", errNotLine, meaning.JSONPointer)
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: it is not JSON from byte %d on", errNotLine, syntax.ByteOffset)
	}
	return errNotLine
}

// unlike reports whether an error in the first line means that the file is no archive. An error of the reader does not.
func unlike(err error) bool {
	return errors.Is(err, errNotLine) || errors.Is(err, errEnds) || errors.Is(err, bufio.ErrTooLong)
}

// errEnds means that the archive was truncated.
var errEnds = errors.New("the archive ends before its last line")

// read reads a line and adds it to the checksum, unless it is the last.
func (s *scanner) read() (line, error) {
	s.number++
	if !s.lines.Scan() {
		if err := s.lines.Err(); err != nil {
			return line{}, err
		}
		return line{}, errEnds
	}
	var l line
	if err := json.Unmarshal(s.lines.Bytes(), &l, json.RejectUnknownMembers(true)); err != nil {
		return line{}, notLine(err)
	}
	if l.End == nil {
		s.sum.Write(s.lines.Bytes())
		s.sum.Write([]byte{'\n'})
	}
	if l.Collection != nil && l.Collection.Network == nil {
		return line{}, fmt.Errorf("%w: a collection has no network", errNotLine)
	}
	return l, s.inside.enter(l)
}

// end compares the last line with the lines before it, and checks that nothing follows. It returns io.EOF if all is well.
func (s *scanner) end(want end) error {
	have := end{s.number - 1, hex.EncodeToString(s.sum.Sum(nil))}
	if want != have {
		return fmt.Errorf("%w: the %d lines have the sum %s, the last line says %d and %s", ErrDamaged, have.Lines, have.SHA256, want.Lines, want.SHA256)
	}
	if s.lines.Scan() {
		return fmt.Errorf("%w: line %d: something follows the last line", ErrDamaged, s.number+1)
	}
	if err := s.lines.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return io.EOF
}

// enter returns an error unless the line has exactly one thing, and the library or collection that this belongs to has begun.
func (s *scope) enter(l line) error {
	kinds := 0
	for _, there := range []bool{
		l.Vitrine != 0, l.Component != nil, l.Version != nil, l.Tag != nil, l.Move != nil, l.Answer != nil, l.Library != nil,
		l.Folder != nil, l.Asset != nil, l.Collection != nil, l.Review != nil, l.End != nil,
	} {
		if there {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("has %d things, want one", kinds)
	case l.Library != nil:
		*s = scope{library: true}
	case l.Collection != nil:
		*s = scope{collection: true}
	case (l.Folder != nil || l.Asset != nil) && !s.library:
		return errors.New("a folder or an asset belongs to no library")
	case l.Review != nil && !s.collection:
		return errors.New("a review belongs to no collection")
	}
	return nil
}
