package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// maxValue is the number of bytes of JSON that are in memory together: a row, or what is below the first * of rows.
const maxValue = 16 << 20

// jsonRows reads the rows of JSON: of an array, of lines, of the members of an object, or of lists inside of these. A
// row is an object. Its columns are JSON pointers to its texts, numbers and truth values; "../name" are those of the
// nearest object above the list that has them, as far as they stand before the list, and "#" is the key of a row in an
// object.
type jsonRows struct {
	in    *jsonLines
	dec   *jsontext.Decoder
	path  []string // from the whole to the lists
	yield func(record, error) bool
	pull  func() (record, error, bool)
	stop  func()
	first []record // that were read to find the columns
	at    map[string]int
	late  map[string]bool // columns that were not in first
	// lists of objects around the path, which are not read
	beside map[string]bool
	n      int // rows that were returned
}

// record is a row by the names of its columns, in the order of the file.
type record struct {
	text  string // a row that is not an object, as it is written
	line  int64
	names []string
	texts []string
}

func (r *record) add(name, text string) {
	r.names, r.texts = append(r.names, name), append(r.texts, text)
}

// jsonLines counts the lines before a place, and bounds what is read for one value.
type jsonLines struct {
	in    io.Reader
	read  int64
	left  int64
	ends  []int64 // of lines that were read
	lines int64   // that end before the last place that was asked for
}

// Read reads and notes where lines end.
func (j *jsonLines) Read(p []byte) (int, error) {
	if j.left < 0 {
		return 0, fault.Invalid("",
			"line %d: a value has more than %d MiB: give rows, the JSON pointer to the lists of "+
				"reviews, with * for each element", j.lines+1, maxValue>>20)
	}
	n, err := j.in.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			j.ends = append(j.ends, j.read+int64(i))
		}
	}
	j.read += int64(n)
	j.left -= int64(n)
	return n, err
}

// lineAt returns the line of a place. Places are asked for in order.
func (j *jsonLines) lineAt(offset int64) int64 {
	n := 0
	for n < len(j.ends) && j.ends[n] < offset {
		n++
	}
	j.ends = j.ends[:copy(j.ends, j.ends[n:])]
	j.lines += int64(n)
	return j.lines + 1
}

// openJSON begins to read rows, and finds the columns in the first of them. rows is the pointer to their lists; head is
// the beginning of the file, where they are looked for unless given.
func (t *table) openJSON(in io.Reader, head []byte, rows string, given bool) error {
	if !given {
		rows = guessRows(head)
		if rows == "/reviews" && bytes.Contains(head, []byte(`"dimensions"`)) &&
			bytes.Contains(head, []byte(`"source"`)) {
			return fault.Invalid("", "this is JSON in the import format: check or import it")
		}
		if rows != "" {
			t.found.add("rows: %q, guessed; the mapping may have other rows", rows)
		}
	}
	j := &jsonRows{in: &jsonLines{in: in, left: maxValue}, at: map[string]int{}, late: map[string]bool{},
		beside: map[string]bool{}}
	j.dec = jsontext.NewDecoder(j.in, jsontext.AllowDuplicateNames(true))
	for _, name := range strings.Split(rows, "/")[1:] {
		j.path = append(j.path, jsonpointer.Unescape(name))
	}
	if rows != "" && rows[0] != '/' {
		return fault.Invalid("mapping", "rows: want a JSON pointer such as /products/*/reviews")
	}
	t.json, t.rows = j, rows
	j.pull, j.stop = iter.Pull2(j.all)
	for size := 0; len(j.first) < maxSample && size < maxLook; {
		r, err, more := j.pull()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		j.first = append(j.first, r)
		for i, name := range r.names {
			size += len(name) + len(r.texts[i])
			if _, known := j.at[name]; !known && largestIndex(name) < 10 { // of long lists the first are enough
				j.at[name] = len(t.header)
				t.header = append(t.header, name)
			}
		}
	}
	switch n := len(t.header); {
	case n == 0:
		return fault.Invalid("",
			"this JSON has no objects where rows are: give rows, the JSON pointer to the lists of "+
				"reviews, such as /products/*/reviews")
	case n > maxColumns:
		return manyColumns(n)
	}
	for _, r := range j.first {
		cells, _ := t.cellsOfRecord(r)
		t.sample = append(t.sample, slices.Clone(cells))
	}
	return nil
}

// largestIndex returns the largest index of an array in the name of a column.
func largestIndex(name string) (most int) {
	for token := range strings.SplitSeq(name, "/") {
		most = max(most, jsonpointer.Index(token))
	}
	return most
}

// cellsOfRecord returns the cells of a row, which are valid until the next call. wrong says why the row must be
// rejected, if it is not an object or has two texts for a column.
func (t *table) cellsOfRecord(r record) (cells []string, wrong string) {
	if r.text != "" {
		wrong = "this is no object: " + r.text
	}
	t.cells = slices.Grow(t.cells[:0], len(t.header))[:len(t.header)]
	clear(t.cells)
	for i, name := range r.names {
		if at, known := t.json.at[name]; known {
			if t.cells[at] != "" && t.cells[at] != r.texts[i] {
				wrong = fmt.Sprintf("the row has %q twice: take one out", name)
			}
			t.cells[at] = r.texts[i]
		} else if largestIndex(name) < 10 && len(t.json.late) < 30 {
			t.json.late[name] = true
		}
	}
	return t.cells, wrong
}

// nextJSON does for JSON what next does.
func (t *table) nextJSON() (row, error) {
	j, r := t.json, record{}
	if j.n < len(j.first) {
		r = j.first[j.n]
	} else {
		var err error
		more := false
		if r, err, more = j.pull(); err == nil && !more {
			err = io.EOF
		}
		if err != nil {
			return row{}, err
		}
	}
	j.n++
	cells, wrong := t.cellsOfRecord(r)
	return row{line: r.line, lines: 1, part: j.n, cells: cells, wrong: wrong, sure: math.MaxInt64}, nil
}

// errStopped ends a walk whose caller wants no more rows.
var errStopped = errors.New("stopped")

// all yields all rows.
func (j *jsonRows) all(yield func(record, error) bool) {
	j.yield = yield
	for {
		err := j.stream(j.path, nil)
		if err == errStopped || err == io.EOF {
			return
		}
		if bad, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			err = fault.Invalid("", "line %d: this is no JSON: %s", j.in.lineAt(bad.ByteOffset), bad.Err)
		}
		if err != nil {
			yield(record{}, err)
			return
		}
	}
}

// value reads a value as a whole.
func (j *jsonRows) value() (v jsontext.Value, line int64, err error) {
	j.in.left = maxValue
	v, err = j.dec.ReadValue()
	return v, j.in.lineAt(j.dec.InputOffset() - int64(len(v))), err
}

// stream reads the next value, up to the first * in the path without having it in memory. above has what stands in the
// objects around it.
func (j *jsonRows) stream(path []string, above []*record) error {
	kind := j.dec.PeekKind()
	if kind == '{' && len(path) == 0 || kind == '[' && len(path) > 0 && path[0] != "*" || kind != '{' && kind != '[' {
		v, line, err := j.value()
		if err != nil {
			return err
		}
		return j.descend(v, path, above, line, "")
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return err
	}
	own := &record{}
	for j.dec.PeekKind() != kind+2 { // the bracket that closes it
		name := ""
		if kind == '{' {
			token, err := j.dec.ReadToken()
			if err != nil {
				return err
			}
			if name = token.String(); len(path) > 0 && name == path[0] {
				if err := j.stream(path[1:], append(slices.Clip(above), own)); err != nil {
					return err
				}
				continue
			}
		}
		v, line, err := j.value()
		switch {
		case err != nil:
		case len(path) == 0:
			err = j.descend(v, nil, above, line, "")
		case path[0] == "*":
			err = j.descend(v, path[1:], above, line, name)
		default:
			pointer, n := "/"+jsonpointer.Escape(name), len(own.names)
			flatten(v, pointer, own)
			if len(j.beside) < 30 && slices.ContainsFunc(own.names[n:], inList) {
				j.beside[pointer] = true
			}
		}
		if err != nil {
			return err
		}
	}
	_, err := j.dec.ReadToken()
	return err
}

// inList reports whether a column is of the first object in a list.
func inList(column string) bool { return strings.Contains(column, "/0/") }

// descend yields the rows of a value. key is its name, if it is a member for which * stands.
func (j *jsonRows) descend(v jsontext.Value, path []string, above []*record, line int64, key string) error {
	switch kind := v.Kind(); {
	case kind == '{' && len(path) == 0:
		r := record{line: line}
		if key != "" {
			r.add("#", key)
		}
		flatten(v, "", &r)
		seen := map[string]bool{}
		for _, outer := range slices.Backward(above) {
			for i, name := range outer.names[:min(len(outer.names), maxColumns)] {
				if !seen[name] {
					seen[name] = true
					r.add("../"+strings.TrimPrefix(name, "/"), outer.texts[i])
				}
			}
		}
		if !j.yield(r, nil) {
			return errStopped
		}
	case len(path) == 0 && key == "" && kind != '[' && kind != 'n' && string(v) != `""`: // null and "" are nothing
		if !j.yield(record{line: line, text: fmt.Sprintf("%.80s", v)}, nil) {
			return errStopped
		}
	case kind == '{', kind == '[' && (len(path) == 0 || path[0] == "*"):
		own, rest := &record{}, path[min(len(path), 1):]
		if key != "" {
			own.add("#", key)
		}
		var lists []func() error // below, once all of own is known
		each(v, func(name string, member jsontext.Value) {
			if len(path) > 0 && path[0] != "*" && path[0] != name {
				flatten(member, "/"+jsonpointer.Escape(name), own)
				return
			}
			if kind == '[' || path[0] != "*" {
				name = "" // which is a key only where * stands for it
			}
			lists = append(lists, func() error {
				return j.descend(member, rest, append(slices.Clip(above), own), line, name)
			})
		})
		for _, list := range lists {
			if err := list(); err != nil {
				return err
			}
		}
	}
	return nil
}

// each calls a function for the members of an object, or for the elements of an array with their indices.
func each(v jsontext.Value, f func(name string, member jsontext.Value)) {
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	open, _ := dec.ReadToken() // v was read, so it has no faults
	for i := 0; dec.PeekKind() != open.Kind()+2; i++ {
		name := strconv.Itoa(i)
		if open.Kind() == '{' {
			token, _ := dec.ReadToken()
			name = token.String()
		}
		member, err := dec.ReadValue()
		if err != nil {
			return
		}
		f(name, member.Clone())
	}
}

// maxNested is how deep columns are nested. What is deeper is the JSON text of a column.
const maxNested = 16

// flatten adds the texts, numbers and truth values of a value to a record, by their pointers.
func flatten(v jsontext.Value, at string, to *record) {
	switch kind := v.Kind(); {
	case (kind == '{' || kind == '[') && strings.Count(at, "/") < maxNested:
		each(v, func(name string, member jsontext.Value) { flatten(member, at+"/"+jsonpointer.Escape(name), to) })
	case kind == '"':
		text, _ := jsontext.AppendUnquote(nil, v)
		to.add(at, strings.ReplaceAll(string(text), "\x00", ""))
	case kind == 'n':
		to.add(at, "")
	default:
		to.add(at, string(v))
	}
}

// reviewLists matches the names of lists of reviews.
var reviewLists = regexp.MustCompile(`(?i)^(product_?)?(reviews?|bewertungen|rezensionen|avis|reseñas|recensioni)$`)

// guessRows returns the pointer to the lists of rows: the first list of objects that has the name of reviews, with *
// for the names above it in which it differs from others of that name; otherwise the whole if it is an array or lines,
// the first list of objects in an object, or all members of an object of objects.
func guessRows(head []byte) string {
	dec := jsontext.NewDecoder(bytes.NewReader(head), jsontext.AllowDuplicateNames(true))
	first, objects, others, values, array := "", 0, 0, 0, false
	var named []string // the parts of the pointer to the list with the name of reviews
	for {
		token, err := dec.ReadToken()
		if err != nil {
			break
		}
		depth, kind := dec.StackDepth(), token.Kind()
		if depth == 1 && (kind == '{' || kind == '[') {
			values, array = values+1, kind == '['
		}
		pointer := string(dec.StackPointer())
		if kind == '[' && dec.PeekKind() == '{' && pointer != "" {
			parts := strings.Split(pointer, "/")
			for i := range parts[1:] {
				if above, _ := dec.StackIndex(i + 1); above == '[' {
					parts[i+1] = "*"
				}
			}
			last := len(parts) - 1
			switch {
			case reviewLists.MatchString(parts[last]) && named == nil:
				named = parts
			case len(parts) == len(named) && parts[last] == named[last]:
				for i := range last {
					if parts[i] != named[i] {
						named[i] = "*"
					}
				}
			case first == "":
				first = strings.Join(parts, "/")
			}
		}
		if values == 1 && !array && strings.Count(pointer, "/") == 1 {
			switch _, n := dec.StackIndex(1); {
			case kind == '{' && depth == 2:
				objects++
			case kind != '}' && kind != ']' && depth == 1 && n%2 == 0, kind == '[' && depth == 2:
				others++
			}
		}
	}
	switch {
	case named != nil:
		return strings.Join(named, "/")
	case array || values > 1:
		return ""
	case first != "":
		return first
	case objects > 1 && others == 0:
		return "/*"
	}
	return ""
}
