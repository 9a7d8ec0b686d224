package format

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// A collection without its reviews, and each review, is stored as one JSON object in a canonical form (RFC 8785):
// sorted members, no white space, no needless escapes. So records with the same content have the same bytes, and
// comparing bytes shows what an import changes. The object has exactly the members of the file, including null and
// empty ones. The tally of a collection and the time of a review are stored beside it.

// Incoming is what an import will store of a line: the collection and its accepted reviews. A lineChecker fills it; an
// importer compares it with the store and writes the difference.
type Incoming struct {
	Source   string
	ID       string
	Fields   []byte  // a JSON object: the record without its reviews
	Dims     int     // number of dimensions
	Mismatch Problem // of the rule stored-dimensions; its message is "" unless the importer has found one
	Reviews  []Review
	Size     int  // bytes of the collection and its reviews
	Makes    bool // the collection is created or changed: it has an accepted review, or no review at all
}

// Review is an accepted review. Its ratings are beside its data, so that the review need not be decoded for
// them.
type Review struct {
	ID      string
	Time    int64 // when it was written, in microseconds since 1970
	Data    []byte
	Ratings []byte // 1 to 100, one byte for each dimension
}

// The members of a collection and of a review in the canonical order.
var (
	collectionOrder = []int{memberCreated, memberDimensions, memberID, memberSource, memberTitle}
	reviewOrder     = []int{reviewAuthor, reviewBody, reviewCreated, reviewID, reviewName, reviewEmail, reviewURL,
		reviewParent, reviewRatings, reviewSubparts, reviewTitle}
)

// keepReview adds the review that was read to Incoming.
func (c *lineChecker) keepReview() {
	if c.result.Incoming == nil {
		c.result.Incoming = &Incoming{}
	}
	in, r := c.result.Incoming, &c.review
	data := canonicalObject(reviewMembers, reviewOrder, r.raw[:])
	in.Size += len(data) + len(r.id)
	in.Reviews = append(in.Reviews,
		Review{ID: r.id, Time: r.created, Data: data, Ratings: bytes.Clone(r.ratings)})
}

// keep adds the collection that was read to Incoming.
func (c *lineChecker) keep() {
	if c.result.Incoming == nil {
		c.result.Incoming = &Incoming{}
	}
	in := c.result.Incoming
	in.Source, in.ID, in.Fields = c.source, c.id, canonicalObject(collectionMembers, collectionOrder, c.raw[:])
	in.Size += len(in.Fields)
	in.Makes = len(in.Reviews) > 0 || c.result.reviews == 0
	in.Dims = c.dims
	in.Mismatch = c.at(RuleStoredDimensions, c.dimsAt, "")
	in.Mismatch.Collection = Shown([]byte(c.id))
	if c.hasDims {
		in.Mismatch.Pointer, in.Mismatch.Value = "/dimensions", firstCharacters(c.raw[memberDimensions])
	}
}

// canonicalObject returns an object of accepted members in the canonical form.
func canonicalObject(names []string, order []int, raw [][]byte) []byte {
	size := 2
	for _, i := range order {
		size += len(raw[i]) + len(names[i]) + 4
	}
	out := make([]byte, 0, size)
	for _, i := range order {
		if raw[i] == nil {
			continue
		}
		if len(out) == 0 {
			out = append(out, '{', '"')
		} else {
			out = append(out, ',', '"')
		}
		out = append(append(out, names[i]...), '"', ':')
		text := raw[i]
		switch {
		case text[0] == '"' && bytes.IndexByte(text, '\\') < 0, text[0] == 'n', text[0] == '[' &&
			!bytes.ContainsAny(text, "\" \t\r"):
			out = append(out, text...)
		default:
			out = append(out, canonical(bytes.Clone(text))...)
		}
	}
	return append(out, '}')
}

// canonical returns the canonical form of an accepted value. It overwrites raw, and its result may share memory with
// raw.
func canonical(raw []byte) []byte {
	v := jsontext.Value(raw)
	if err := v.Canonicalize(jsontext.AllowDuplicateNames(true)); err != nil { // the check has rejected repeated names
		panic("reviews: an accepted record is not JSON: " + err.Error())
	}
	return v
}
