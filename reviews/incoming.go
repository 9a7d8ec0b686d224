package reviews

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// A collection without its reviews, and each review, is stored as one JSON object in a canonical form (RFC 8785):
// sorted members, no white space, no needless escapes. So records with the same content have the same bytes, and
// comparing bytes shows what an import changes. The object has exactly the members of the file, including null and
// empty ones. The tally of a collection and the time of a review are stored beside it.

// maxTransaction is the approximate number of bytes of JSON that one transaction stores; a single line may be longer.
const maxTransaction = 1 << 20

// incoming is what an import will store of a line: the collection and its accepted reviews. A lineChecker fills it; an
// importer compares it with the store and writes the difference.
type incoming struct {
	key      CollectionKey
	fields   []byte  // a JSON object: the record without its reviews
	dims     int     // number of dimensions
	mismatch Problem // of the rule stored-dimensions; its message is "" unless the importer has found one
	reviews  []incomingReview
	size     int  // bytes of the collection and its reviews
	makes    bool // the collection is created or changed: it has an accepted review, or no review at all
}

// incomingReview is an accepted review. Its ratings are beside its data, so that the review need not be decoded for
// them.
type incomingReview struct {
	storedReview
	ratings []byte // 1 to 100, one byte for each dimension
}

// The members of a collection and of a review in the canonical order.
var (
	collectionOrder = []int{memberCreated, memberDimensions, memberID, memberSource, memberTitle}
	reviewOrder     = []int{reviewAuthor, reviewBody, reviewCreated, reviewID, reviewName, reviewEmail, reviewURL,
		reviewParent, reviewRatings, reviewSubparts, reviewTitle}
)

// keepReview adds the review that was read to incoming.
func (c *lineChecker) keepReview() {
	if c.result.incoming == nil {
		c.result.incoming = &incoming{}
	}
	in, r := c.result.incoming, &c.review
	data := canonicalObject(reviewMembers, reviewOrder, r.raw[:])
	in.size += len(data) + len(r.id)
	in.reviews = append(in.reviews,
		incomingReview{storedReview{ID: r.id, Time: r.created, Data: data}, bytes.Clone(r.ratings)})
}

// keep adds the collection that was read to incoming.
func (c *lineChecker) keep() {
	if c.result.incoming == nil {
		c.result.incoming = &incoming{}
	}
	in := c.result.incoming
	in.key, in.fields = CollectionKey{c.source, c.id}, canonicalObject(collectionMembers, collectionOrder, c.raw[:])
	in.size += len(in.fields)
	in.makes = len(in.reviews) > 0 || c.result.reviews == 0
	in.dims = c.dims
	in.mismatch = ruleStoredDimensions.problem(c.line, c.column(c.dimsAt), c.offset+int64(c.dimsAt), "", "")
	in.mismatch.Collection = shown([]byte(c.id))
	if c.hasDims {
		in.mismatch.Pointer, in.mismatch.Value = "/dimensions", firstCharacters(c.raw[memberDimensions])
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
