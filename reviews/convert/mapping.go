package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Mapping says which column each field comes from, by the name of the column. The fields are
//
//	collection_id      required: the id of what is reviewed, as it is; it becomes Base64
//	collection_title
//	review_id          once in a collection
//	title, body
//	created            required
//	rating             this or rating:<dimension> is required
//	rating:<dimension> the rating of one dimension, such as rating:price
//	author_name        this or author_id is required
//	author_email, author_url
//	author_id          of a user profile
//	parent_id          the review_id of the review that this one replies to
//	subpart:<name>     further data, which is kept as a text
type Mapping map[string]string

// The fields without a name of their own, in the order of the documentation.
var fields = []string{"collection_id", "collection_title", "review_id", "title", "body", "created", "rating",
	"author_name", "author_email", "author_id", "author_url", "parent_id"}

const (
	ratingPrefix  = "rating:"
	subpartPrefix = "subpart:"
)

// column is a column of a dimension or a subpart.
type column struct {
	name string
	at   int
}

// plan is a Mapping for one file: the number of the column of each field, -1 for a field that the mapping leaves out.
type plan struct {
	collection, collectionTitle, review, title, body, created int
	name, email, author, url, parent                          int
	ratings, subparts                                         []column // by column
	dimensions                                                []byte   // JSON
}

// newPlan looks up the columns of a mapping in a header. It returns ErrInvalid for a field that there is not, a column that the file has
// not or has twice, and a required field that is missing.
func newPlan(m Mapping, header []string) (*plan, error) {
	p := &plan{}
	to := map[string]*int{"collection_id": &p.collection, "collection_title": &p.collectionTitle, "review_id": &p.review, "title": &p.title, "body": &p.body,
		"created": &p.created, "author_name": &p.name, "author_email": &p.email, "author_id": &p.author, "author_url": &p.url, "parent_id": &p.parent}
	for _, at := range to {
		*at = -1
	}
	for _, field := range slices.Sorted(maps.Keys(m)) {
		name := strings.TrimSpace(m[field])
		at := slices.Index(header, name)
		if at < 0 {
			return nil, invalid("mapping", fmt.Sprintf("%s: the file has no column %q: its columns are %s", field, name, quoted(header)))
		}
		if slices.Contains(header[at+1:], name) {
			return nil, invalid("mapping", fmt.Sprintf("%s: the file has two columns %q: give one of them another name", field, name))
		}
		dimension, rates := strings.CutPrefix(field, ratingPrefix)
		subpart, part := strings.CutPrefix(field, subpartPrefix)
		switch {
		case to[field] != nil:
			*to[field] = at
		case field == "rating":
			p.ratings = append(p.ratings, column{"default", at})
		case rates && dimension != "" && dimension != "default":
			p.ratings = append(p.ratings, column{dimension, at})
		case part && subpart != "":
			p.subparts = append(p.subparts, column{subpart, at})
		default:
			return nil, invalid("mapping", fmt.Sprintf("there is no field %q: want %s, %s<dimension> or %s<name>", field, strings.Join(fields, ", "), ratingPrefix, subpartPrefix))
		}
	}
	byColumn := func(a, b column) int { return a.at - b.at }
	slices.SortStableFunc(p.ratings, byColumn)
	slices.SortStableFunc(p.subparts, byColumn)
	missing := ""
	switch {
	case p.collection < 0:
		missing = "collection_id"
	case p.created < 0:
		missing = "created"
	case len(p.ratings) == 0:
		missing = "rating"
	case p.name < 0 && p.author < 0:
		missing = "author_name"
	case len(p.ratings) > 1000:
		return nil, invalid("mapping", "there are more than 1000 dimensions")
	}
	if missing != "" {
		return nil, invalid("mapping", fmt.Sprintf("no column is named for %s: name one of %s", missing, quoted(header)))
	}
	if len(p.ratings) == 1 {
		p.ratings[0].name = "default" // what the only dimension is called
	}
	for i, c := range p.ratings {
		p.dimensions = appendJSON(append(p.dimensions, "[,"[min(i, 1)]), c.name)
	}
	p.dimensions = append(p.dimensions, ']')
	return p, nil
}

// quoted lists names for a sentence, the first thirty of them.
func quoted(names []string) string {
	out := make([]string, 0, len(names))
	for _, name := range names[:min(len(names), 30)] {
		if len(name) > 60 {
			name = strings.ToValidUTF8(name[:60], "") + "…"
		}
		out = append(out, fmt.Sprintf("%q", name))
	}
	if len(names) > 30 {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}
