package reviews

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxStored      = 16 << 20 // bytes of JSON, for one review or one collection without its reviews
	maxTransaction = 1 << 20  // bytes of JSON, about, that one transaction stores
)

// incoming is what an import is to store of a line, or of a part of it.
type incoming struct {
	collection Collection
	dims       int
	dimsAt     int64  // offset of dimensions, or of the record that lacks it
	dimsPath   string // pointer to the same
	dimsColumn int64
	dimsText   string // what a problem shows of dimensions
	reviews    []incomingReview
	size       int // bytes
	line       int64
	first      bool // the line begins here
	empty      bool // the line ends here, and has no review, not even a rejected one
}

type incomingReview struct {
	Review
	ratings []byte
}

// makes reports whether the collection is to be stored. One of which every review was rejected is not, which shows only
// when its line was read: a part without accepted reviews stores nothing, unless the whole line has no review.
func (in *incoming) makes() bool { return len(in.reviews) > 0 || in.empty }

// next takes further reviews of the same collection.
func (in *incoming) next() *incoming {
	return &incoming{collection: in.collection, dims: in.dims, dimsAt: in.dimsAt, dimsPath: in.dimsPath, dimsColumn: in.dimsColumn, dimsText: in.dimsText}
}

// takeField counts a member of the collection, whose value begins at start and is held, and keeps it for an import.
func (c *lineChecker) takeField(name string, start int64) verdict {
	raw := c.since(start)
	c.collection.size += int64(len(`,"":`) + len(name) + len(raw))
	if !c.load || c.collection.size >= int64(c.limit) {
		return accepted
	}
	if c.spool != nil && c.collection.size > maxSmall && !c.collection.large { // the place is held until all reviews of the line are stored
		c.collection.large = true
		if c.err = c.pass.enter(); c.err != nil {
			return c.fail(c.offset(), ruleJSON, "")
		}
		c.fields = append(make([]byte, 0, c.limit), c.fields...) // at once, instead of copies that grow
	}
	c.fields = append(append(append(append(c.fields, `,"`...), name...), `":`...), raw...)
	return accepted
}

// keepDimensions keeps where a problem with the stored dimensions would be.
func (c *lineChecker) keepDimensions(at position, pointer, text string) {
	if in := c.got.incoming; in != nil {
		in.dimsAt, in.dimsColumn, in.dimsPath, in.dimsText = at.offset, at.column, pointer, text
	}
}

// takeCollection judges the size of a collection when all of its line was read, and keeps it for an import.
func (c *lineChecker) takeCollection() verdict {
	if c.got.refused {
		return accepted
	}
	if c.collection.size+1 > int64(c.limit) { // the bracket at the end
		c.report(ruleStoredSize, c.start.offset, "", "the collection without its reviews is longer than what is stored of one; want at most 16 MiB")
		return accepted
	}
	if !c.load {
		return accepted
	}
	object := append(c.fields, '}')
	object[0] = '{'
	if c.collection.large {
		c.fields = nil
	} else {
		object = bytes.Clone(object)
	}
	in := c.got.incoming
	in.collection.Fields, in.dims = canonical(object), int(c.collection.dims)
	return accepted
}

// keepReview keeps a review that began at start and is held for an import, unless it is rejected.
func (c *lineChecker) keepReview(start int64) verdict {
	if c.review.faults > 0 || c.got.refused {
		return accepted
	}
	raw := c.since(start)
	large := c.spool != nil && len(raw) > maxSmall
	if large {
		c.column(c.offset()) // before the window is written to
	} else {
		raw = bytes.Clone(raw)
	}
	in := c.got.incoming
	in.size += len(raw)
	in.reviews = append(in.reviews, incomingReview{Review{ID: c.review.text, Time: c.review.created, Data: canonical(raw)}, bytes.Clone(c.review.ratings)})
	switch {
	case large: // it is stored before the window moves on
		c.review.text = ""
		if c.err = c.settle(); c.err != nil {
			return c.fail(c.offset(), ruleJSON, "")
		}
	case c.spool != nil && in.size >= maxTransaction:
		c.flush()
	}
	return accepted
}

// canonical gives an accepted record the one form in which equal content is equal bytes: members
// sorted, no white space, no needless escapes. The result may lie in raw.
func canonical(raw []byte) []byte {
	v := jsontext.Value(raw)
	if err := v.Canonicalize(jsontext.AllowDuplicateNames(true)); err != nil { // there are none: they were looked for
		panic("reviews: an accepted record is not JSON: " + err.Error())
	}
	return v
}

func mismatchMessage(dims, stored int) string {
	return fmt.Sprintf("the collection has %d dimensions, its stored reviews have %d; give as many, or delete the stored collection first", dims, stored)
}
