package reviews

import (
	"bytes"
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// A collection without its reviews, and each review, is stored as one JSON object of at most 16 MiB, in a canonical form. The
// object has the members of the file, also those that were null or empty, and no others. The tally of a collection and the time
// of a review are stored beside it.

// The sizes of what is stored, and of a transaction.
const (
	maxStored      = 16 << 20 // the most bytes of JSON of a review, or of a collection without its reviews; see Options.sizeLimit
	maxTransaction = 1 << 20  // about how many bytes of JSON one transaction stores; one review may be more
)

// incoming is what an import is to store of a line, or of a part of a long one: the collection, and those of its reviews that
// are accepted. A lineChecker fills it; an importer compares it with what is stored and writes the difference. The fields about
// dimensions are for a problem of the rule stored-dimensions, which only the importer can find.
type incoming struct {
	collection Collection
	dims       int    // number of dimensions
	dimsAt     int64  // offset of dimensions, or of the record if it has none
	dimsPath   string // pointer to the same
	dimsColumn int64
	dimsText   string // what a problem shows of dimensions
	reviews    []incomingReview
	size       int   // bytes of the reviews, before they were made canonical, and of the copies of their ids and parents
	line       int64 // number of the line
	first      bool  // the line begins with this part
	empty      bool  // see lineResult.empty
}

// incomingReview is an accepted review. It has its ratings and its parent beside its data, so that the review need not be decoded
// for them.
type incomingReview struct {
	row
	stored  bool   // set by compare, with what the row has beside the review
	ratings []byte // 1 to 100, one byte for each dimension
	parent  string // its parent_id; "" if it is no reply
	moved   bool   // set by compare: it is a reply, and is stored with another parent or as no reply
}

// makes returns whether the collection is to be made or changed. It is not if all of its reviews were rejected. So a part of a
// line stores it only with an accepted review, or at the end of a line without reviews.
func (in *incoming) makes() bool { return len(in.reviews) > 0 || in.empty }

// rows returns the rows to store for the reviews of put, which are some of in. A review is stored as it is, with two exceptions:
// a reply whose parent is not stored any more, and a reply whose parent has meanwhile become a reply to it, through others or
// not. Both are stored as no reply, even if an earlier ancestor is still stored.
func (in *incoming) rows(ctx context.Context, s *rows, old stored, put []incomingReview) ([]row, error) {
	rows := make([]row, len(put))
	for i, review := range put {
		rows[i] = review.row
	}
	if in.first {
		return rows, nil // all parents are in the same part
	}
	lost, err := in.lostParents(ctx, s, old, put)
	if err != nil {
		return nil, err
	}
	above := in.ancestry(ctx, s, old, put)
	for i, review := range put {
		breaks := lost[review.parent]
		if review.moved && !breaks {
			if breaks, err = above.leads(review.parent, review.ID); err != nil {
				return nil, err
			}
		}
		if !breaks {
			above.parents[review.ID] = review.parent
			continue
		}
		above.parents[review.ID] = ""
		if rows[i].Data, err = withParent(review.Data, ""); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// next returns an incoming for further reviews of the same collection, without the reviews of in.
func (in *incoming) next() *incoming {
	return &incoming{collection: in.collection, dims: in.dims, dimsAt: in.dimsAt, dimsPath: in.dimsPath, dimsColumn: in.dimsColumn, dimsText: in.dimsText}
}

// keepField counts the bytes of a member of the collection, and keeps it for an import. Its value begins at start and is
// pinned. The members are joined in c.fields as ,"name":value,"name":value… and keepCollection makes that an object. Members
// beyond the size limit are counted only, since the collection will be refused.
//
// A collection of a long line that grows beyond maxSmall enters the Gate. A short line is smaller than that.
func (c *lineChecker) keepField(name string, start int64) verdict {
	// Its size is that of the name with quotes, colon and comma, and of the value as it stands in the file.
	raw := c.since(start)
	c.collection.size += int64(len(`,"":`) + len(name) + len(raw))
	if !c.forImport || c.collection.size >= int64(c.sizeLimit) {
		return accepted
	}
	if c.temp != nil && c.collection.size > maxSmall && !c.collection.large {
		c.collection.large = true
		c.err = c.pass.enter() // until all reviews of the line are stored
		if c.err != nil {
			return c.fail(c.offset(), ruleJSON, "")
		}
		c.fields = append(make([]byte, 0, c.sizeLimit), c.fields...) // the most it may need, so that it does not grow by copies
	}
	c.fields = append(append(append(append(c.fields, `,"`...), name...), `":`...), raw...)
	return accepted
}

// keepDimensions keeps where dimensions is, for an import that finds that the stored reviews have others. If the
// record has no dimensions, that problem is reported at the record, with an empty pointer and text.
func (c *lineChecker) keepDimensions(at position, pointer, text string) {
	if in := c.result.incoming; in != nil {
		in.dimsAt, in.dimsColumn, in.dimsPath, in.dimsText = at.offset, at.column, pointer, text
	}
}

// keepCollection applies the rule stored-size to a collection of which everything but the reviews was read, and keeps the
// collection for an import. A collection that has an error by then needs neither.
func (c *lineChecker) keepCollection() verdict {
	if c.result.rejectsAll {
		return accepted
	}
	if c.collection.size+1 > int64(c.sizeLimit) { // the bracket at the end
		c.report(ruleStoredSize, c.start.offset, "", "the collection without its reviews is longer than what is stored of one; want at most 16 MiB")
		return accepted
	}
	if !c.forImport {
		return accepted
	}
	// Make an object of the members. A large one becomes what is stored without a copy; then the next line needs memory of its
	// own.
	object := append(c.fields, '}')
	object[0] = '{' // instead of the first comma
	if c.collection.large {
		c.fields = nil
	} else {
		object = bytes.Clone(object)
	}
	in := c.result.incoming
	in.collection.Fields, in.dims = canonical(object), int(c.collection.dims)
	return accepted
}

// keepReview keeps a review for an import, unless the review or its collection has an error. The review began at start and is
// pinned. A large one stays in the memory of the window: it is made canonical there, and stored before keepReview returns, so
// that only one is in memory. Any other is copied. A long line is flushed at maxTransaction, so that its first reviews are stored
// while the next are read.
func (c *lineChecker) keepReview(start int64) verdict {
	if c.review.faults > 0 || c.result.rejectsAll {
		return accepted
	}
	raw := c.since(start)
	large := c.temp != nil && len(raw) > maxSmall
	if large {
		c.column(c.offset()) // counted now: canonical overwrites the window
	} else {
		raw = bytes.Clone(raw)
	}
	// Then it joins the part of the line that is collected.
	in := c.result.incoming
	in.size += len(raw) + len(c.review.text) + len(c.review.parent)
	in.reviews = append(in.reviews, incomingReview{
		row:     row{Review: Review{ID: c.review.text, Time: c.review.created, Data: canonical(raw)}},
		ratings: bytes.Clone(c.review.ratings), parent: c.review.parent,
	})
	switch {
	case large:
		c.review.text, c.review.parent = "", ""
		c.err = c.flushAndWait()
		if c.err != nil {
			return c.fail(c.offset(), ruleJSON, "")
		}
	case c.temp != nil && in.size >= maxTransaction:
		c.flush()
	}
	return accepted
}

// canonical returns the form in which an accepted record is stored (RFC 8785): members in order, no white space, no needless
// escapes. Records with the same content have the same bytes, so comparing them shows what an import changes. canonical
// overwrites raw, and its result may share the memory. It panics if raw is not JSON; every accepted record is.
//
//	{ "title":"\u0041", "id":"1" }   becomes   {"id":"1","title":"A"}
func canonical(raw []byte) []byte {
	v := jsontext.Value(raw)
	if err := v.Canonicalize(jsontext.AllowDuplicateNames(true)); err != nil { // the check has found none
		panic("reviews: an accepted record is not JSON: " + err.Error())
	}
	return v
}
