package format

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// RecordReader applies the rules of an import to records, except that a review may reply to one that the record lacks.
type RecordReader struct {
	check *lineChecker
	found Result // of the record that was read last
}

// NewRecordReader returns a RecordReader, which one goroutine may use.
func NewRecordReader() *RecordReader {
	r := &RecordReader{}
	r.check = &lineChecker{fileOptions: &fileOptions{latest: math.MaxInt64, maxLine: math.MaxInt, forImport: true,
		partial: true}, ids: map[string]bool{}, out: func(found Result) { r.found = found }}
	return r
}

// Read joins the parts to a record, checks it, and returns what an import would store. The parts must not contain a
// line end, since a record is one line of a file.
func (r *RecordReader) Read(parts ...string) (*Incoming, error) {
	var line []byte
	for _, p := range parts {
		line = append(line, p...)
	}
	if bytes.IndexByte(line, '\n') >= 0 {
		return nil, errors.New("has a line end")
	}
	r.found = Result{}
	r.check.check(line, 1, 0)
	for _, p := range r.found.Problems {
		if p.Rule.Rejects() {
			return nil, fmt.Errorf("%s: %s", p.Pointer, p.Message)
		}
	}
	if r.found.Incoming == nil {
		return nil, errors.New("is no record")
	}
	return r.found.Incoming, nil
}
