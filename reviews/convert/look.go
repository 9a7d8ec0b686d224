package convert

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Sight is the result of Look. The HTTP API returns its JSON.
type Sight struct {
	Charset   string     `json:"charset"`   // guessed, such as "utf-8" or "windows-1252", or what was given
	Separator string     `json:"separator"` // of cells: one of , ; | and a tab; "" for JSON
	Columns   []string   `json:"columns"`
	Rows      [][]string `json:"rows"`    // the first five
	Mapping   Mapping    `json:"mapping"` // guessed from the names of the columns; a field without a column is left out
	// 5, 10 or 100: the lowest that nearly all ratings at the beginning of the file do not exceed
	Scale float64  `json:"scale"`
	Dates string   `json:"dates"` // "dmy" or "mdy" if the dates show it, and otherwise ""
	Notes []string `json:"notes,omitempty"`
}

// Look reads the beginning of a file, 256 KiB at most, and guesses how to convert it. charset is that of a Request. It
// returns ErrInvalid if the file is not a table.
func Look(file io.Reader, charset string) (Sight, error) {
	t, err := openTable(file, nil, charset)
	if err != nil {
		return Sight{}, err
	}
	defer t.close()
	s := Sight{Charset: t.charset, Separator: string(t.scan.comma), Columns: t.header, Rows: [][]string{},
		Mapping: t.guess(), Scale: 5}
	p, err := newPlan(s.Mapping, t)
	if err != nil {
		return Sight{}, err
	}
	s.Notes = append(t.setScales(p, 0), t.notes(p)...)
	s.Rows = append(s.Rows, t.sample[:min(len(t.sample), 5)]...)
	s.Dates = newDateReader(t.texts(p.at["created"]), "").order
	if t.json != nil {
		s.Separator = ""
	}
	if len(p.ratings) > 0 {
		s.Scale = cmp.Or(p.ratings[0].scale, s.Scale)
	}
	return s, nil
}

// notes are sentences about a table.
type notes []string

func (n *notes) add(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// setScales sets the scale of each rating that has none. If scale is 0, it is guessed, and a note says so.
func (t *table) setScales(p *plan, scale float64) (out notes) {
	for _, r := range p.ratings {
		for v := r.value; v != nil; v = v.next {
			if v.scales != nil {
				out.add("scale: in each row that of column %q", t.header[v.scales.first()])
				continue
			}
			if v.scale = cmp.Or(v.scale, scale); v.scale != 0 {
				continue
			}
			alone, found := *v, false
			alone.next = nil
			if v.scale, found = guessScale(t.texts(&alone)); found {
				out.add("scale: %v, guessed from the first ratings; give another if that is wrong", v.scale)
			}
			v.guessed = true
		}
	}
	return slices.Compact(out)
}

// texts returns the texts of a value in the sample.
func (t *table) texts(v *value) (texts []string) {
	for _, row := range t.sample {
		if v != nil && len(row) == len(t.header) {
			text, _ := v.read(row)
			texts = append(texts, text)
		}
	}
	return texts
}

// notes returns notes about the columns: those that a plan does not use, those that may say which rows are hidden, and
// those that look as if they were taken for something else.
func (t *table) notes(p *plan) (out notes) {
	out = slices.Clone(t.found)
	var unused []string
	var warnings notes
	for i, name := range t.header {
		if p.used[name] || name == "" || name == lineColumn || name == reasonColumn {
			continue
		}
		unused = append(unused, name)
		texts := t.texts(&value{columns: []int{i}, escaped: t.dump})
		seen, _ := counts(texts)
		key := simpleName(name[strings.LastIndexByte(name, '/')+1:])
		dated := strings.HasSuffix(key, "at") || strings.HasSuffix(key, "on") // such as deleted_at
		few := len(seen) > 0 && len(seen) <= 12
		if few && slices.ContainsFunc(seen, hidden) || (few || dated && len(seen) > 0) && hides.MatchString(key) {
			warnings.add("%q is not used, and may say which rows the shop has hidden (%s): all are converted, so "+
				"leave those out with skip", name, quoted(seen))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.columns)) {
		if p.columns[name] < 0 && name != "" {
			warnings.add("several columns are named %q, so none of them is used: give each a name of its own", name)
		}
	}
	if len(unused) > 0 {
		out.add("unused columns: %s", quoted(unused))
	}
	for _, field := range []string{"created", "author_name", "body"} {
		v := p.at[field]
		if v == nil || v.first() < 0 {
			continue
		}
		if seen, most := counts(t.texts(v)); len(t.sample) >= 20 && 2*most > len(t.sample) {
			warnings.add("most rows have %s in column %q: look whether it is %s", quoted(seen[:1]),
				t.header[v.first()], field)
		}
	}
	if t.json != nil {
		for _, list := range slices.Sorted(maps.Keys(t.json.beside)) {
			ofColumn := func(name string) bool { return strings.HasPrefix(name, ".."+list+"/") }
			if !slices.ContainsFunc(t.header, ofColumn) {
				out.add("the list %q is not read, since the rows are in %q", list, t.rows)
			}
		}
	}
	if t.json != nil && len(t.json.late) > 0 {
		out.add("columns that the first rows do not have are not used, unless the mapping names them: %s",
			quoted(slices.Sorted(maps.Keys(t.json.late))))
	}
	return append(out, warnings...)
}

// hidden reports whether a shop says so of a row that it does not show.
func hidden(text string) bool {
	words := strings.Fields(text)
	ofRow := func(word string) bool { return hiddenWords[simpleName(word)] }
	return ofRow(text) || len(words) <= 3 && slices.ContainsFunc(words, ofRow)
}

// counts returns the texts that are not empty, each once, the most frequent first, and how often that one occurs.
func counts(texts []string) (seen []string, most int) {
	n := map[string]int{}
	for _, text := range texts {
		if text != "" {
			n[text]++
			most = max(most, n[text])
		}
	}
	byCount := func(a, b string) int { return cmp.Or(n[b]-n[a], strings.Compare(a, b)) }
	return slices.SortedFunc(maps.Keys(n), byCount), most
}
