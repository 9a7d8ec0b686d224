package reviews

import (
	"bufio"
	"context"
	"fmt"
	"io"
)

// ExportRequest is the request of Export. Only To is required.
type ExportRequest struct {
	Network string    // the network whose reviews are written; "" = the only one that the caller moderates
	To      io.Writer // gets a line for each collection
}

// Export writes all collections of the network in the import format, one on each line, as they are at one moment. Collections
// and reviews come in the order in which they were first imported, except that a parent comes before its replies. Importing the
// file into another store gives the same records there, and importing it into this one changes nothing. Every member is in it,
// also imported_email, which no other method returns. A network without reviews gives an empty file.
//
// Export returns ErrForbidden unless the caller moderates the network as a whole or is an operator. It returns ErrInvalid
// without a To, and without a Network if the caller moderates several networks or is an operator. Otherwise its error is that
// of the store, of ctx or of To. After an error To may have got a part of the file, which may end inside a line.
func (s *Service) Export(ctx context.Context, by Caller, in ExportRequest) error {
	network, err := s.admitted(by, in.Network)
	if err != nil {
		return err
	}
	if in.To == nil {
		return invalid("", "the request does not say where to write the export to")
	}
	// One View for the whole file, so that all of it is of one moment.
	out := bufio.NewWriterSize(in.To, 64<<10)
	err = s.store.View(ctx, network, func(r Reader) error {
		for c, err := range r.Collections(ctx) {
			if err != nil {
				return err
			}
			if err := exportCollection(ctx, r, c, out); err != nil {
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

// exportCollection writes the line of a collection: the stored fields, with reviews as the last member. Fields and the data of
// reviews are JSON in the stored form, so they are put together as they are and not encoded again:
//
//	Fields         {"created":"…","id":"bGFtcA==", … }
//	line written   {"created":"…","id":"bGFtcA==", … ,"reviews":[<data of a review>,<data of the next>]}
//
// It has one review in memory at a time, a fingerprint of each that was written, and the id of each that waits for its parent.
// Errors of out need no check here: a bufio.Writer returns its first error from every later call.
func exportCollection(ctx context.Context, r Reader, c Collection, out *bufio.Writer) error {
	if len(c.Fields) < 2 || c.Fields[len(c.Fields)-1] != '}' {
		return fmt.Errorf("reviews: the stored fields of collection %q of %q are damaged", c.ID, c.Source)
	}
	// The fields without their closing bracket, then the reviews in the order of the store.
	out.Write(c.Fields[:len(c.Fields)-1])
	out.WriteString(`,"reviews":[`)
	e := exporter{ctx: ctx, r: r, key: c.Key, hash: newHasher(), waiting: map[fingerprint][]string{}, out: out}
	for review, err := range r.Reviews(ctx, c.Key) {
		if err == nil {
			err = e.add(review)
		}
		if err != nil {
			return err
		}
	}
	// What waits now has a parent that the collection does not have, or is one of several replies in a circle. Only a damaged
	// store has either.
	for _, ids := range e.waiting {
		return fmt.Errorf("reviews: the parent of stored review %q of collection %q of %q is missing", ids[0], c.ID, c.Source)
	}
	_, err := out.WriteString("]}\n")
	return err
}

// exporter writes the reviews of a collection, each once, and none before its parent, since an import would refuse it there. A
// review may be stored before its parent, if a later import has made it a reply. Then its id waits until the parent is written.
//
// No reply waits for ever in a store that is right: an import stores a reply only if its parent is stored and is no reply to it,
// and a deletion gives the replies to what it erases another parent. An exporter is made for each collection.
type exporter struct {
	ctx     context.Context
	r       Reader
	key     Key
	hash    *hasher
	written set                      // ids of the reviews that were written
	waiting map[fingerprint][]string // ids of replies, by the id of the parent that was not written yet
	out     *bufio.Writer
}

// add writes a review and the replies that have waited for it, or lets it wait for its parent. Only the ids of replies wait,
// since a review may have 16 MiB, so they are read again. Replies to these replies follow in the same way. ready has the ids that
// may be written now.
func (e *exporter) add(review Review) error {
	parent, err := parentOf(review.Data)
	if err != nil {
		return fmt.Errorf("reviews: stored review %q: %w", review.ID, err)
	}
	// A reply whose parent was not written yet waits for it.
	if p := e.hash.of([]byte(parent)); parent != "" && !e.written.has(p) {
		e.waiting[p] = append(e.waiting[p], review.ID)
		return nil
	}
	// Write the review, and then the replies that this and each further one makes ready.
	ready, err := e.write(nil, review)
	for len(ready) > 0 && err == nil {
		next := ready[:1]
		ready = ready[1:]
		for review, failed := range e.r.ReviewsByID(e.ctx, e.key, next) {
			if err = failed; err == nil {
				ready, err = e.write(ready, review)
			}
		}
	}
	return err
}

// write writes a review, and appends the ids of the replies that have waited for it to ready, which it returns.
func (e *exporter) write(ready []string, review Review) ([]string, error) {
	if e.written.used > 0 {
		e.out.WriteByte(',')
	}
	id := e.hash.of([]byte(review.ID))
	e.written.add(id)
	ready = append(ready, e.waiting[id]...)
	delete(e.waiting, id)
	_, err := e.out.Write(review.Data)
	return ready, err
}
