package reviews

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// auditor checks that collections and their reviews are what an import could have stored, so that no later read meets a row that it
// cannot serve. Audit calls it.
//
// Give it every collection of one network, each followed by its reviews, in the order in which they were first put:
//
//	for each collection of the network {
//		a.collection(collection)
//		for each review of the collection {
//			a.review(review)
//		}
//	}
//	a.end()
//
// Each method returns an error that says which rule is broken and in which row; use the auditor no further then. It checks each
// row with the rules of an import, by building a record of a file around it. A row must also be in the stored form byte by byte:
// otherwise the next import of the same record would report it as updated.
//
// An auditor keeps in memory some 15 bytes of each collection and, of the collection that was given last, some 30 bytes of each
// review and the ids of the replies that have come before their parents. It is used by one goroutine, for one network.
type auditor struct {
	check *lineChecker  // reads the records, as for an import, with partial set
	found auditReceiver // of the record that was read last
	line  []byte        // memory for a record

	pairs map[fingerprint]struct{} // the collections so far

	// Of the collection that was given last. head is nil if no collection waits for its End.
	last    Collection
	head    []byte // the beginning of a record with as many dimensions
	counts  tally
	ids     map[string]struct{}
	threads *threads
}

// newAuditor returns an auditor of the reviews of a network. It returns ErrInvalid if network cannot be the name of one.
func newAuditor(network string) (*auditor, error) {
	if err := CheckNetwork(network); err != nil {
		return nil, err
	}
	a := &auditor{pairs: map[fingerprint]struct{}{}}
	a.check = newLineChecker(&fileOptions{seeds: newSeeds(), horizon: horizon{past: "9999-99"}, maxLine: math.MaxInt, forImport: true, partial: true}, &a.found)
	return a, nil
}

// auditReceiver keeps what a lineChecker finds in one record. Warnings are no fault of a row.
type auditReceiver struct {
	err      error // the first problem of SeverityError
	pair     fingerprint
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
func (f *auditReceiver) result(r lineResult) { f.pair, f.incoming = r.pair, r.incoming }

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

// Collection checks the next collection, and ends the one before: its error may be of either. The collection must be one that an
// import accepts, with Fields in the stored form and the Key that they say, and must not have been given before. Its Tally is
// compared when all of its reviews were given.
func (a *auditor) collection(c Collection) error {
	if err := a.end(); err != nil {
		return err
	}
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
	if _, twice := a.pairs[a.found.pair]; twice {
		return fmt.Errorf("collection %q of %q: occurs twice", c.ID, c.Source)
	}
	a.pairs[a.found.pair] = struct{}{}
	// Review counts and compares what follows from here on, and End compares the counts with the tally.
	a.last = Collection{Key: c.Key, Tally: bytes.Clone(c.Tally)}
	a.counts = tally{}
	a.counts.size(in.dims)
	a.ids = map[string]struct{}{}
	a.threads = newThreads()
	a.head = recordHead(in.dims)
	return nil
}

// recordHead returns the beginning of a valid record with so many dimensions, up to its first review. Review puts a stored review
// after it, so that the rules of an import judge it. What the dimensions are called does not matter there.
func recordHead(dims int) []byte {
	head := []byte(`{"source":"s","title":"","created":"2000-01-01T00:00:00Z","id":"YQ==","dimensions":["default"`)
	for i := 1; i < dims; i++ {
		head = append(strconv.AppendInt(append(head, `,"`...), int64(i), 10), '"')
	}
	return append(head, `],"reviews":[`...)
}

// Review checks the next review of the collection that was given last. Data must be a record that an import accepts, in the
// stored form, with the ID and the Time of the row, and the collection must have no other review with this ID. Whether its
// parent exists shows at the end of the collection, since a parent may be stored after its replies.
func (a *auditor) review(r Review) error {
	if a.head == nil {
		return fmt.Errorf("review %q is in no collection", r.ID)
	}
	// The record has this review alone, so every error is one of the review.
	in, err := a.read(string(a.head), string(r.Data), `]}`)
	if err != nil {
		return fmt.Errorf("review %q: %w", r.ID, err)
	}
	if len(in.reviews) != 1 {
		return fmt.Errorf("review %q: the data is not one record", r.ID)
	}
	// What an import would store of this record must be the row.
	_, twice := a.ids[r.ID]
	switch got := in.reviews[0]; {
	case got.ID != r.ID:
		return fmt.Errorf("review %q: the data is that of review %q", r.ID, got.ID)
	case got.Time != r.Time:
		return fmt.Errorf("review %q: the time is not that of the data", r.ID)
	case !bytes.Equal(got.Data, r.Data):
		return fmt.Errorf("review %q: the data is not in the form in which it is stored", r.ID)
	case twice:
		return fmt.Errorf("review %q: occurs twice", r.ID)
	}
	a.ids[r.ID] = struct{}{}
	a.counts.add(in.reviews[0].ratings)
	_, err = a.threads.add(r)
	return err
}

// End is called after the last review of the last collection. It checks what only all reviews of a collection together show:
// that every reply has its parent, that no reply leads back to itself, and that the stored counts are those of the reviews.
func (a *auditor) end() error {
	if a.head == nil {
		return nil
	}
	c := a.last
	if err := a.threads.end(); err != nil {
		return fmt.Errorf("collection %q of %q: %w", c.ID, c.Source, err)
	}
	if !bytes.Equal(a.counts.encode(), c.Tally) {
		return fmt.Errorf("collection %q of %q: the counts are not those of its %d reviews", c.ID, c.Source, a.counts.reviews)
	}
	a.head = nil
	return nil
}
