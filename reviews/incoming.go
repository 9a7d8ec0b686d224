package reviews

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxStored = 16 << 20 // bytes of JSON, for one review or one collection without its reviews
	maxBatch  = 1 << 20  // bytes of JSON, about, that one transaction stores
)

// incoming is what an import is to store of a line, or of a part of it.
type incoming struct {
	collection Collection
	dims       int
	dimsAt     int64  // offset of dimensions, or of the record that lacks it
	dimsPath   string // pointer to the same
	reviews    []incomingReview
	size       int // bytes
	line       int64
	first      bool // the line begins here
}

type incomingReview struct {
	Review
	ratings []byte
}

// next takes further reviews of the same collection.
func (in *incoming) next() *incoming {
	return &incoming{collection: in.collection, dims: in.dims, dimsAt: in.dimsAt, dimsPath: in.dimsPath}
}

// takeField counts a member of the collection, whose value began at start, and keeps it for an
// import.
func (c *checker) takeField(name string, start int64) {
	c.size += int64(len(`,"":`)+len(name)) + c.offset() - start
	if !c.load {
		return
	}
	if raw, ok := c.kept(); ok && c.size < int64(c.limit) {
		c.fields = append(c.fields, `,"`+name+`":`...)
		c.fields = append(c.fields, raw...)
	}
}

// takeCollection judges the size of a collection when all of it but its reviews was read, and keeps
// it for an import.
func (c *checker) takeCollection() {
	if c.got.refused {
		return
	}
	if c.size+1 > int64(c.limit) { // the bracket at the end
		c.report(ruleStoredSize, c.start, "", "the collection without its reviews is longer than what is stored of one, 16 MiB")
		return
	}
	if !c.load {
		return
	}
	in := c.got.incoming
	c.fields[0] = '{'
	in.collection.Fields = canonical(append(c.fields, '}'))
	in.dims, in.dimsAt, in.dimsPath = int(c.dims), c.dimsAt, "/dimensions"
	if c.dimsAt < 0 {
		in.dimsAt, in.dimsPath = c.start, ""
	}
}

// takeReview judges the size of a review that began at start, and keeps it for an import, unless it is
// rejected.
func (c *checker) takeReview(start int64) {
	if c.faults == 0 && c.offset()-start > int64(c.limit) {
		c.report(ruleStoredSize, start, "", "the review is longer than what is stored of one, 16 MiB")
	}
	if !c.load {
		return
	}
	raw, _ := c.kept()
	if c.faults > 0 || c.got.refused {
		return
	}
	in := c.got.incoming
	in.reviews = append(in.reviews, incomingReview{Review{c.ownText, canonical(raw)}, bytes.Clone(c.ratings)})
	in.size += len(raw)
	if c.spool != nil && in.size >= maxBatch {
		c.flush()
	}
}

// canonical gives an accepted record the one form in which equal content is equal bytes: members
// sorted, no white space, no needless escapes.
func canonical(raw []byte) []byte {
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Canonicalize(); err != nil {
		panic("reviews: an accepted record is not JSON: " + err.Error())
	}
	return v
}

func mismatchMessage(dims, stored int) string {
	return fmt.Sprintf("the collection has %d dimensions, its stored reviews have %d", dims, stored)
}
