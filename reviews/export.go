package reviews

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// Export writes all collections of the network to w in the import format, one on each line, from one snapshot.
// Collections and reviews are in the order in which they were first imported, except that a parent comes before its
// replies. Importing the file into another store creates the same records there, and importing it into this one changes
// nothing. A line has all reviews of its collection, so it may be longer than an import accepts by default;
// ReadOptions.MaxLine of the import decides. The file has every member, including imported_email, which no other method
// returns. A network without reviews gives an empty file. The network "" stands for the only one that the caller
// moderates.
//
// Export returns ErrForbidden unless the caller moderates the network as a whole or is an operator. It returns
// ErrInvalid without w, and without a network if the caller moderates several networks or is an operator, and ErrBusy
// if the store loses the snapshot, for example because the connection to its server breaks. It also returns the errors
// of the store, of ctx and of w. After an error, w may have a part of the file, which may end inside a line.
func (s *Session) Export(ctx context.Context, network string, w io.Writer) error {
	s = s.calls("Export")
	network, err := s.network(network)
	if err != nil {
		return err
	}
	if w == nil {
		return fault.Invalid("", "the request does not say where to write the export to")
	}
	// One View for the whole file, so that all of it is from one snapshot.
	out, began := bufio.NewWriterSize(w, 64<<10), false
	err = view(ctx, s.service.db, network, func(r *rows) error {
		if began { // the store has lost the snapshot and has called this function again with another one
			return fmt.Errorf("%w: the snapshot was lost while the export was written: repeat the export",
				vitrine.ErrBusy)
		}
		began = true
		for c, err := range r.all() {
			if err != nil {
				return err
			}
			if err := exportCollection(r, c, out); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// exportCollection writes the line of a collection: the stored fields, with reviews as the last member. The fields and
// the data of reviews are already JSON in the canonical form, so they are joined and not encoded again:
//
//	fields         {"created":"…","id":"bGFtcA==", … }
//	line written   {"created":"…","id":"bGFtcA==", … ,"reviews":[<data of a review>,<data of the next>]}
//
// It keeps the ids of all reviews, and a few reviews at a time, in memory. Errors of out need no check here: a
// bufio.Writer returns its first error from every later call.
func exportCollection(r *rows, c stored, out *bufio.Writer) error {
	out.Write(bytes.TrimSuffix(c.fields, []byte("}")))
	between := `,"reviews":[`
	for review, err := range r.reviews(c) {
		if err != nil {
			return fmt.Errorf("reviews: collection %q of %q: %w", c.ID, c.Source, err)
		}
		out.WriteString(between)
		out.Write(review.Data)
		between = ","
	}
	if between != "," {
		out.WriteString(between)
	}
	_, err := out.WriteString("]}\n")
	return err
}
