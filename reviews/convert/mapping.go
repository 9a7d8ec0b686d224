package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Mapping says where each field of the reviews comes from. The fields are
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
//	reply              what the shop has answered, which is kept as a subpart, as the next two are
//	reply_created, reply_author
//	subpart:<name>     further data, which is kept as a text
//
// The value of a field has the form of JSON:
//
//	"Review Text"                                           the name of a column
//	"=Anonymous"                                            a constant
//	["nick", "name", "=Anonymous"]                          the first that is not empty; a constant stands last
//	{"columns": ["first", "last"], "join": " "}             cells that are not empty, joined
//	{"column": "vote", "map": {"up": 100, "none": "=..."}}  other texts in place of those of the column
//	{"column": "value", "scale": 100}                       a rating with another scale
//	{"column": "value", "scale": "best"}                    a rating whose scale is in a column
//
// Map compares without case. A number in it is a rating from 1 to 100, and a text is read like a cell. There are
// further members:
//
//	"skip":  [{"column": "status", "is": ["spam", "pending"]}]  rows that are left out; compared without case
//	"rows":  "/products/*/reviews"                              in JSON, the JSON pointer to the lists of reviews
//	"scale": 10                                                 see Request.Scale
//	"dates": "dmy"                                              see Request.Dates
//	"zone":  "Europe/Berlin"                                    see Request.Zone
type Mapping map[string]any

// Missing returns the required fields that have no value.
func (m Mapping) Missing() (missing []string) {
	has := func(field string) bool { return m[field] != nil && m[field] != "" }
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

// The fields with a fixed name, in the order of the documentation, and those of them that are kept as subparts.
var (
	fields = []string{"collection_id", "collection_title", "review_id", "title", "body", "created", "rating",
		"author_name", "author_email", "author_id", "author_url", "parent_id", "reply", "reply_created", "reply_author"}
	replies = fields[12:]
)

const (
	ratingPrefix  = "rating:"
	subpartPrefix = "subpart:"
)

// namedValue is a value with a dimension or a subpart.
type namedValue struct {
	name string
	*value
}

// skip says which rows are left out: those whose cell is one of these texts, in lower case, with the rows so far.
type skip struct {
	column int
	is     map[string]int64
}

// plan is a Mapping resolved for one file.
type plan struct {
	at       map[string]*value // of each field but ratings and subpart:<name>
	ratings  []namedValue      // by column
	subparts []namedValue      // by column
	skips    []skip
	scale    float64 // 0 = not given
	dates    string
	zone     *time.Location
	used     map[string]bool // names of columns

	*table
	columns map[string]int // -1: two columns have the name
}

// newPlan looks up the columns of a mapping in a table. It returns ErrInvalid if a field is unknown, if a value has no
// known form, and if a column is missing or occurs twice.
func newPlan(m Mapping, t *table) (*plan, error) {
	p := &plan{at: map[string]*value{}, used: map[string]bool{}, table: t, columns: map[string]int{}}
	for i, name := range t.header {
		if _, twice := p.columns[name]; twice {
			i = -1
		}
		p.columns[name] = i
	}
	text, err := json.Marshal(map[string]any(m))
	var parts map[string]any // lists and objects of any Go type become those of JSON
	if err == nil {
		err = strictjson.Decode(text, &parts)
	}
	if err != nil {
		return nil, fault.Invalid("mapping", "%s", err)
	}
	for _, field := range slices.Sorted(maps.Keys(parts)) {
		dimension, rates := strings.CutPrefix(field, ratingPrefix)
		subpart, part := strings.CutPrefix(field, subpartPrefix)
		switch {
		case field == "scale" || field == "dates" || field == "zone" || field == "skip" || field == "rows":
			if err := p.setting(field, parts[field]); err != nil {
				return nil, inField(field, err)
			}
			continue
		case field == "rating":
			dimension, rates = "default", true
		case slices.Contains(replies, field):
			subpart, part = field, true
		case slices.Contains(fields, field), rates && dimension != "" && dimension != "default", part && subpart != "":
		default:
			return nil, fault.Invalid("mapping",
				"there is no field %q: want %s, %s<dimension>, %s<name>, skip, rows, scale, dates or zone", field,
				strings.Join(fields, ", "), ratingPrefix, subpartPrefix)
		}
		v, err := p.value(rates, parts[field])
		switch {
		case err != nil:
			return nil, inField(field, err)
		case rates:
			p.ratings = append(p.ratings, namedValue{dimension, v})
		case part:
			p.subparts = append(p.subparts, namedValue{subpart, v})
			if !slices.Contains(replies, subpart) {
				break
			}
			if p.at[subpart] != nil {
				return nil, fault.Invalid("mapping", "%s and %s are the same: leave one out", subpart, field)
			}
			p.at[subpart] = v
		default:
			p.at[field] = v
		}
	}
	byColumn := func(a, b namedValue) int { return a.first() - b.first() }
	slices.SortStableFunc(p.ratings, byColumn)
	slices.SortStableFunc(p.subparts, byColumn)
	if len(p.ratings) > 1000 {
		return nil, fault.Invalid("mapping", "there are more than 1000 dimensions")
	}
	if len(p.ratings) == 1 {
		p.ratings[0].name = "default" // the required name of a single dimension
	}
	return p, nil
}

// inField returns the error of what the mapping says of a field.
func inField(field string, err error) error { return fault.Invalid("mapping", "%s: %s", field, err) }

// setting reads skip, rows, scale, dates or zone.
func (p *plan) setting(name string, v any) error {
	text, _ := json.Marshal(v) // which was JSON
	var rows []struct {
		Column string   `json:"column"`
		Is     []string `json:"is"`
	}
	zone := ""
	to := map[string]any{"scale": &p.scale, "dates": &p.dates, "skip": &rows, "rows": &p.rows, "zone": &zone}
	err := strictjson.Decode(text, to[name])
	if err == nil && zone != "" {
		p.zone, err = time.LoadLocation(zone)
	}
	if err != nil {
		return err
	}
	for _, s := range rows {
		at, err := p.column(s.Column)
		if err != nil {
			return err
		}
		is := map[string]int64{}
		for _, text := range s.Is {
			is[strings.ToLower(strings.TrimSpace(text))] = 0
		}
		p.skips = append(p.skips, skip{at, is})
	}
	return nil
}

// skipped reports whether a row is left out.
func (p *plan) skipped(cells []string) (out bool) {
	for _, s := range p.skips {
		text := strings.ToLower(strings.TrimSpace(cells[s.column]))
		if n, ok := s.is[text]; ok {
			s.is[text], out = n+1, true
		}
	}
	return out
}

// column returns the number of the column with a name.
func (p *plan) column(name string) (int, error) {
	name = strings.TrimSpace(name)
	at, known := p.columns[name]
	if !known && p.json != nil && (strings.HasPrefix(name, "/") || strings.HasPrefix(name, "../")) {
		at, known = len(p.header), true // a later row may have it
		p.columns[name], p.json.at[name] = at, at
		p.header = append(p.header, name)
		for i, row := range p.sample {
			p.sample[i] = append(row, "")
		}
		delete(p.json.late, name)
	}
	if !known {
		return 0, fmt.Errorf("the file has no column %q: its columns are %s", name, quoted(p.header))
	}
	if at < 0 {
		return 0, fmt.Errorf("the file has two columns %q: give one of them another name", name)
	}
	p.used[name] = true
	return at, nil
}

// complete returns ErrInvalid if a mapping lacks a required field.
func (m Mapping) complete(header []string) error {
	missing := m.Missing()
	if len(missing) == 0 {
		return nil
	}
	constant := ""
	if missing[0] == "collection_id" {
		constant = `, or if all reviews are of one thing, name it, as in {"collection_id": "=lamp"}`
	}
	return fault.Invalid("mapping", "no column is named for %s: name one of %s%s%s", missing[0], quoted(header),
		constant,
		oddHeader(header))
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
