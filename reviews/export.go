package reviews

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// ExportRequest is what Export is asked. Only To is required.
type ExportRequest struct {
	Network string    // whose reviews are written; "" = the only one that the caller moderates
	To      io.Writer // gets a line for each collection
}

// Export writes all collections of the network in the import format, one a line, as of one moment: collections in
// the order in which they were first imported, reviews likewise but parents before their
// replies. Importing the file elsewhere gives the same records; importing it here changes nothing.
// Every field is in it, imported_email too; no other answer has that one. After an error To may have a
// part of them. ErrForbidden unless the caller moderates the network as a whole; ErrInvalid without a To.
func (s *Service) Export(ctx context.Context, by Caller, in ExportRequest) error {
	network, err := s.admitted(by, in.Network)
	if err != nil {
		return err
	}
	if in.To == nil {
		return invalid("", "the request does not say where to write the export to")
	}
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

func exportCollection(ctx context.Context, r Reader, c Collection, out *bufio.Writer) error {
	if len(c.Fields) < 2 || c.Fields[len(c.Fields)-1] != '}' {
		return fmt.Errorf("reviews: the stored fields of collection %q of %q are damaged", c.ID, c.Source)
	}
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
	for _, ids := range e.waiting {
		return fmt.Errorf("reviews: the parent of stored review %q of collection %q of %q is missing", ids[0], c.ID, c.Source)
	}
	_, err := out.WriteString("]}\n")
	return err
}

// exporter writes the reviews of a collection. A review was stored before its parent if a later
// import made it a reply; it waits for the parent. An import takes a reply only behind its parent,
// so the waiting comes to an end.
type exporter struct {
	ctx     context.Context
	r       Reader
	key     Key
	hash    *hasher
	written set
	waiting map[fingerprint][]string // ids by parent
	out     *bufio.Writer
}

// add writes a review, and those that waited for it, or has it wait.
func (e *exporter) add(review Review) error {
	parent, err := parentOf(review.Data)
	if err != nil {
		return fmt.Errorf("reviews: stored review %q: %w", review.ID, err)
	}
	if p := e.hash.of([]byte(parent)); parent != "" && !e.written.has(p) {
		e.waiting[p] = append(e.waiting[p], review.ID)
		return nil
	}
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

// write writes a review and adds the ids of those that waited for it to ready.
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

// parentOf gives the parent_id of a stored review, "" if it has none.
func parentOf(data []byte) (string, error) {
	if !bytes.Contains(data, []byte(`"parent_id":`)) {
		return "", nil // the common case, without decoding
	}
	var review struct {
		Parent string `json:"parent_id"`
	}
	err := json.Unmarshal(data, &review)
	return review.Parent, err
}
