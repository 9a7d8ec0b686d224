package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/fault"
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

// Missing returns the required fields that have no column.
func (m Mapping) Missing() (missing []string) {
	has := func(field string) bool { return m[field] != "" }
	if !has("collection_id") {
		missing = append(missing, "collection_id")
	}
	if !has("created") {
		missing = append(missing, "created")
	}
	rates := func(field string) bool { return field == "rating" || strings.HasPrefix(field, ratingPrefix) }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(m)), rates) {
		missing = append(missing, "rating")
	}
	if !has("author_name") && !has("author_id") {
		missing = append(missing, "author_name")
	}
	return missing
}

// The fields with a fixed name, in the order of the documentation.
var fields = []string{"collection_id", "collection_title", "review_id", "title", "body", "created", "rating",
	"author_name", "author_email", "author_id", "author_url", "parent_id"}

const (
	ratingPrefix  = "rating:"
	subpartPrefix = "subpart:"
)

// column is a column with a dimension or a subpart.
type column struct {
	name string
	at   int
}

// plan is a Mapping resolved for one file.
type plan struct {
	at       map[string]int // the column of each field but ratings and subparts
	ratings  []column       // by column
	subparts []column       // in the order of the columns
}

// newPlan looks up the columns of a mapping in a header. It returns ErrInvalid if a field is unknown, if a column is
// missing or occurs twice, and if a required field is missing.
func newPlan(m Mapping, header []string) (*plan, error) {
	p := &plan{at: map[string]int{}}
	columns, twice := map[string]int{}, map[string]bool{}
	for i, name := range header {
		if _, known := columns[name]; known {
			twice[name] = true
		}
		columns[name] = i
	}
	for _, field := range slices.Sorted(maps.Keys(m)) {
		name := strings.TrimSpace(m[field])
		at, known := columns[name]
		if !known {
			return nil, fault.Invalid("mapping",
				"%s: the file has no column %q: its columns are %s", field, name, quoted(header))
		}
		if twice[name] {
			return nil, fault.Invalid("mapping",
				"%s: the file has two columns %q: give one of them another name", field, name)
		}
		dimension, rates := strings.CutPrefix(field, ratingPrefix)
		subpart, part := strings.CutPrefix(field, subpartPrefix)
		switch {
		case field == "rating":
			p.ratings = append(p.ratings, column{"default", at})
		case slices.Contains(fields, field):
			p.at[field] = at
		case rates && dimension != "" && dimension != "default":
			p.ratings = append(p.ratings, column{dimension, at})
		case part && subpart != "":
			p.subparts = append(p.subparts, column{subpart, at})
		default:
			return nil, fault.Invalid("mapping",
				"there is no field %q: want %s, %s<dimension> or %s<name>", field, strings.Join(fields, ", "),
				ratingPrefix, subpartPrefix)
		}
	}
	byColumn := func(a, b column) int { return a.at - b.at }
	slices.SortStableFunc(p.ratings, byColumn)
	slices.SortStableFunc(p.subparts, byColumn)
	if missing := m.Missing(); len(missing) > 0 {
		return nil, fault.Invalid("mapping",
			"no column is named for %s: name one of %s%s", missing[0], quoted(header), oddHeader(header))
	}
	if len(p.ratings) > 1000 {
		return nil, fault.Invalid("mapping", "there are more than 1000 dimensions")
	}
	if len(p.ratings) == 1 {
		p.ratings[0].name = "default" // the required name of a single dimension
	}
	return p, nil
}

// oddHeader returns what is odd about a header, as the end of a sentence, or "".
func oddHeader(header []string) string {
	seen := map[string]bool{}
	for _, name := range header {
		switch {
		case name == "" || len(header) == 1:
			return "; are the names of the columns in the first row?"
		case seen[name]:
			return fmt.Sprintf("; two columns are named %q: give one of them another name", name)
		}
		seen[name] = true
	}
	return ""
}

// quoted quotes up to thirty names for a sentence.
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
