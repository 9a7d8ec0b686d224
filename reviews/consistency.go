package reviews

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strconv"

	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/reviews/internal/format"
	"github.com/vitrine-go/vitrine/storage"
)

// Maintenance says how the records of reviews are checked and archived. Its Audit yields a fault for each record that
// no import can have stored. It reads each network in one View:
//
//   - collections and reviews are in the stored form byte by byte: otherwise the next import of the same record would
//     report it as updated;
//   - every reply has its parent, no reply is its own ancestor, and counts are those of the reviews;
//   - each collection and each review has its index records, and no record belongs to nothing.
//
// Archives leave out the feeds of changes, and the record that scrub writes.
func Maintenance() storage.Maintenance {
	return storage.Maintenance{
		Audit: func(ctx context.Context, db storage.Store) iter.Seq2[storage.Fault, error] {
			return keyval.Audit(ctx, db, networkSpaces, func(r storage.Reader, space string) ([]storage.Fault, error) {
				network, err := networkOf(ctx, r, space)
				if err != nil {
					return nil, err
				}
				a := &audit{rows: &rows{ctx: ctx, space: space, network: network, r: r}, want: map[string]int{},
					reader: format.NewRecordReader()}
				err = a.run()
				return a.faults, err
			})
		},
		NotArchived: append(feed.Kinds(networkSpaces+"*"), scrubKey),
	}
}

// maxFaults is the maximum number of faults that are reported for a network.
const maxFaults = 1000

// audit checks the records of a network.
type audit struct {
	*rows
	faults []storage.Fault
	want   map[string]int  // the number of records of each kind that the collections need
	there  []storage.Entry // records that must exist, see expect
	reader *format.RecordReader
}

func (a *audit) fault(key, format string, args ...any) {
	if len(a.faults) < maxFaults {
		a.faults = append(a.faults, storage.Fault{Key: key, Wrong: fmt.Sprintf(format, args...)})
	}
}

func (a *audit) run() error {
	if err := checkNetwork(a.network); err != nil {
		a.fault(a.key("network/"), "is missing, or the name of no network: %v", err)
		return nil
	}
	kinds := []string{"collection/", "order/", "with/", "review/", "time/", "large/"}
	for e, err := range a.r.Scan(a.ctx, storage.Prefix(a.prefix("collection/"))) {
		if err == nil {
			err = a.collection(e)
		}
		if err != nil {
			return err
		}
	}
	if err := a.expect(); err != nil {
		return err
	}
	for _, kind := range kinds {
		n := 0
		for _, err := range a.r.Scan(a.ctx, storage.Prefix(a.prefix(kind))) {
			if err != nil {
				return err
			}
			n++
		}
		if n != a.want[kind] {
			a.fault(a.prefix(kind), "there are %d records, and the collections have %d", n, a.want[kind])
		}
	}
	unknown, err := keyval.Unknown(a.ctx, a.r, a.space, kinds...)
	a.faults = append(a.faults, unknown...)
	return err
}

// expect checks that entries exist, in batches. Without entries, it checks the rest of the last batch.
func (a *audit) expect(entries ...storage.Entry) error {
	a.there = append(a.there, entries...)
	if len(entries) > 0 && len(a.there) < maxLoaded {
		return nil
	}
	keys := make([]string, len(a.there))
	for i, e := range a.there {
		keys[i] = e.Key
	}
	values, err := a.r.Get(a.ctx, keys...)
	for i, v := range values {
		if v == nil || !bytes.Equal(v, a.there[i].Value) {
			a.fault(keys[i], "is missing, or has another value")
		}
	}
	a.there = a.there[:0]
	return err
}

// collection checks a collection and its reviews.
func (a *audit) collection(e storage.Entry) error {
	c, err := a.decodeCollection(e)
	if err != nil || e.Key != a.key("collection/", c.Source, c.ID) {
		a.fault(e.Key, "is damaged, or the record of %q of %q: %v", c.ID, c.Source, err)
		return nil
	}
	if err := a.expect(a.finders(c)...); err != nil {
		return err
	}
	a.count(e, "collection/", "order/", "with/")
	if !c.Indexed && c.Next > maxFew+1 {
		a.fault(e.Key, "has no index, and may have more than %d reviews", maxFew)
	}
	// With an empty list of reviews, the fields are a record of the import format.
	in, err := a.reader.Read(string(bytes.TrimSuffix(c.fields, []byte("}"))), `,"reviews":[]}`)
	switch {
	case err != nil:
		a.fault(e.Key, "%v", err)
		return nil
	case !bytes.Equal(in.Fields, c.fields):
		a.fault(e.Key, "the fields are not in the form in which they are stored")
	case CollectionKey{in.Source, in.ID} != c.CollectionKey:
		a.fault(e.Key, "the fields are those of %q of %q", in.ID, in.Source)
	}
	var counts tally
	counts.size(in.Dims)
	// A valid record with the same number of dimensions, up to its first review. The names of the dimensions do not
	// matter.
	head := `{"source":"s","title":"","created":"2000-01-01T00:00:00Z","id":"YQ==","dimensions":["default"`
	for i := 1; i < in.Dims; i++ {
		head += `,"` + strconv.Itoa(i) + `"`
	}
	head += `],"reviews":[`
	for x, err := range a.r.Scan(a.ctx, storage.Prefix(a.of("review/", c))) {
		if err == nil {
			err = a.review(c, x, head, &counts)
		}
		if err != nil {
			return err
		}
	}
	if _, err := a.inOrder(c); err != nil {
		a.fault(e.Key, "%v", err)
	}
	if !reflect.DeepEqual(counts, c.Tally) {
		a.fault(e.Key, "the counts are not those of its %d reviews", counts.Reviews)
	}
	return nil
}

// count adds a record, and its large/ record, to the wanted numbers.
func (a *audit) count(e storage.Entry, kinds ...string) {
	if isLarge(e) {
		kinds = append(kinds, "large/")
	}
	for _, kind := range kinds {
		a.want[kind]++
	}
}

// review checks a review. head is the part of an import record before its first review.
func (a *audit) review(c stored, e storage.Entry, head string, counts *tally) error {
	r, err := a.decodeReview(e)
	if err != nil || e.Key != a.of("review/", c)+keyval.Part(r.ID) {
		a.fault(e.Key, "is damaged, or the record of review %q: %v", r.ID, err)
		return nil
	}
	a.count(e, "review/")
	if r.n < 1 || r.n >= c.Next {
		a.fault(e.Key, "has the number %d, want one before %d", r.n, c.Next)
	}
	if keyval.Cut(r.ID) && !c.Indexed {
		a.fault(e.Key, "has a long id in a collection without an index")
	}
	if c.Indexed {
		a.want["time/"]++
		if err := a.expect(a.timeEntry(c, listed{r.n, r.Time, keyval.Part(r.ID), r.parent}, r.ID)); err != nil {
			return err
		}
	}
	// The record has only this review, so every error is an error of the review.
	in, err := a.reader.Read(head, string(r.Data), `]}`)
	if err == nil && len(in.Reviews) != 1 {
		err = errors.New("the data is not one record")
	}
	if err != nil {
		a.fault(e.Key, "%v", err)
		return nil
	}
	parent, _ := parentOf(r.Data)
	switch got := in.Reviews[0]; {
	case got.ID != r.ID:
		a.fault(e.Key, "the data is that of review %q", got.ID)
	case got.Time != r.Time:
		a.fault(e.Key, "the time is not that of the data")
	case keyval.Part(parent) != r.parent:
		a.fault(e.Key, "the parent is not that of the data")
	case !bytes.Equal(got.Data, r.Data):
		a.fault(e.Key, "the data is not in the form in which it is stored")
	}
	counts.add(in.Reviews[0].Ratings)
	return nil
}
