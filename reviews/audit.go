package reviews

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// auditor applies the rules of an import to stored collections and reviews, so that no later read meets one that it cannot serve.
// recordAudit calls it: collection, then review for each review of the collection in the order in which they were first put, then
// end, and so on with the next collection. It has checked that no two records have the same key.
//
// Each method returns an error that says which rule is broken and where; the auditor is not used any further then. It checks each
// row with the rules of an import, by building a record of a file around it. A row must also be in the stored form byte by byte:
// otherwise the next import of the same record would report it as updated.
//
// An auditor keeps in memory some 20 bytes of each review of the present collection, and the ids of the replies that have come
// before their parents.
type auditor struct {
	check *lineChecker  // reads the records, as for an import, with partial set
	found auditReceiver // of the record that was read last
	line  []byte        // memory for a record

	// Of the present collection.
	head    []byte // the beginning of a record with as many dimensions
	counts  tally
	threads *threads
}

// newAuditor returns an auditor of the reviews of a network. It returns ErrInvalid if network cannot be the name of one.
func newAuditor(network string) (*auditor, error) {
	if err := CheckNetwork(network); err != nil {
		return nil, err
	}
	a := &auditor{}
	a.check = newLineChecker(&fileOptions{seeds: newSeeds(), horizon: horizon{past: "9999-99"}, maxLine: math.MaxInt, forImport: true, partial: true}, &a.found)
	return a, nil
}

// auditReceiver keeps what a lineChecker finds in one record. It ignores warnings.
type auditReceiver struct {
	err      error     // the first problem of SeverityError
	incoming *incoming // what an import would store
}

// problem keeps the first error.
func (f *auditReceiver) problem(p Problem) {
	if p.Severity == SeverityError && f.err == nil {
		f.err = fmt.Errorf("%s: %s", p.Pointer, p.Message)
		if p.Pointer == "" {
			f.err = errors.New(p.Message)
		}
	}
}

// result keeps what an import would store.
func (f *auditReceiver) result(r lineResult) { f.incoming = r.incoming }

// read checks the record that the parts are together, and returns what an import would store of it. The parts must not contain a
// line end, since the record is a line of a file.
func (a *auditor) read(parts ...string) (*incoming, error) {
	a.line = a.line[:0]
	for _, p := range parts {
		a.line = append(a.line, p...)
	}
	if bytes.IndexByte(a.line, '\n') >= 0 {
		return nil, errors.New("has a line end")
	}
	a.found = auditReceiver{}
	a.check.check(a.line, 1, 0)
	if a.found.err == nil && a.found.incoming == nil {
		return nil, errors.New("is no record")
	}
	return a.found.incoming, a.found.err
}

// collection checks the next collection. It must be one that an import accepts, with Fields in the stored form and the Key that they
// say.
func (a *auditor) collection(c Collection) error {
	// With an empty list of reviews, the fields are a record of a file.
	fields, ok := bytes.CutSuffix(c.Fields, []byte("}"))
	if !ok {
		return fmt.Errorf("collection %q of %q: the fields are not an object", c.ID, c.Source)
	}
	in, err := a.read(string(fields), `,"reviews":[]}`)
	if err != nil {
		return fmt.Errorf("collection %q of %q: %w", c.ID, c.Source, err)
	}
	// What an import would store of this record must be the row.
	switch {
	case !bytes.Equal(in.collection.Fields, c.Fields):
		return fmt.Errorf("collection %q of %q: the fields are not in the form in which they are stored", c.ID, c.Source)
	case in.collection.Key != c.Key:
		return fmt.Errorf("collection %q of %q: the fields are those of %q of %q", c.ID, c.Source, in.collection.ID, in.collection.Source)
	}
	a.counts = tally{}
	a.counts.size(in.dims)
	a.threads = newThreads()
	a.head = recordHead(in.dims)
	return nil
}

// recordHead returns the beginning of a valid record with so many dimensions, up to its first review. The method review puts a stored review
// after it, so that the rules of an import judge it. What the dimensions are called does not matter there.
func recordHead(dims int) []byte {
	head := []byte(`{"source":"s","title":"","created":"2000-01-01T00:00:00Z","id":"YQ==","dimensions":["default"`)
	for i := 1; i < dims; i++ {
		head = append(strconv.AppendInt(append(head, `,"`...), int64(i), 10), '"')
	}
	return append(head, `],"reviews":[`...)
}

// review checks the next review of the present collection. Data must be a record that an import accepts, in the stored form, with the
// ID and the Time of the row. Only end knows whether its parent exists, since a parent may be stored after its replies.
func (a *auditor) review(r Review) error {
	// The record has this review alone, so every error is one of the review.
	in, err := a.read(string(a.head), string(r.Data), `]}`)
	if err != nil {
		return fmt.Errorf("review %q: %w", r.ID, err)
	}
	if len(in.reviews) != 1 {
		return fmt.Errorf("review %q: the data is not one record", r.ID)
	}
	// What an import would store of this record must be the row.
	switch got := in.reviews[0]; {
	case got.ID != r.ID:
		return fmt.Errorf("review %q: the data is that of review %q", r.ID, got.ID)
	case got.Time != r.Time:
		return fmt.Errorf("review %q: the time is not that of the data", r.ID)
	case !bytes.Equal(got.Data, r.Data):
		return fmt.Errorf("review %q: the data is not in the form in which it is stored", r.ID)
	}
	a.counts.add(in.reviews[0].ratings)
	_, err = a.threads.add(r)
	return err
}

// end is called after the last review of a collection. It checks what only all reviews of a collection together show:
// that every reply has its parent, that no reply leads back to itself, and that the stored counts are those of the reviews.
func (a *auditor) end(c Collection) error {
	if err := a.threads.end(); err != nil {
		return fmt.Errorf("collection %q of %q: %w", c.ID, c.Source, err)
	}
	if !bytes.Equal(a.counts.encode(), c.Tally) {
		return fmt.Errorf("collection %q of %q: the counts are not those of its %d reviews", c.ID, c.Source, a.counts.reviews)
	}
	return nil
}
