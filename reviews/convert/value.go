package convert

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// value says where the text of a field comes from: from cells, or it is constant.
type value struct {
	columns  []int
	join     string            // between cells that are not empty
	constant string            // without columns
	words    map[string]string // in place of these texts, which are in lower case
	scale    float64           // of a rating
	scales   *value            // that of each row, in place of scale
	guessed  bool              // scale was guessed
	escaped  bool              // see table.dump
	next     *value            // read if this one is empty
}

// read returns the text of a row, without white space around it, and the value that it comes from.
func (v *value) read(cells []string) (text string, from *value) {
	for ; v != nil; v = v.next {
		from, text = v, v.constant
		for _, at := range v.columns {
			switch cell := unescaped(strings.TrimSpace(cells[at]), v.escaped); {
			case text == "":
				text = cell
			case cell != "":
				text += v.join + cell
			}
		}
		if v.words != nil { // most values have none, and lower case would copy each text
			if word, ok := v.words[strings.ToLower(text)]; ok {
				text = word
			}
		}
		if text != "" {
			return text, from
		}
	}
	return "", from
}

// unescaped returns a cell without what programs add: the form ="0012" with which spreadsheets keep zeros, and in a
// dump of a database its escapes.
func unescaped(cell string, dump bool) string {
	if strings.HasPrefix(cell, `="`) && strings.HasSuffix(cell, `"`) && len(cell) > 2 {
		cell = cell[2 : len(cell)-1]
	}
	switch {
	case !dump:
	case cell == `\N` || cell == "NULL":
		return ""
	case strings.IndexByte(cell, '\\') >= 0:
		return strings.TrimSpace(escapes.Replace(cell))
	}
	return cell
}

// escapes are those of dumps of MySQL.
var escapes = strings.NewReplacer(`\\`, `\`, `\'`, "'", `\"`, `"`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\0`, "")

// dumped reports whether rows are those of a dump of a database: quotes are escaped, or \N or several NULL are cells.
func dumped(rows [][]string) bool {
	nulls := 0
	for _, row := range rows {
		for _, cell := range row {
			if cell == `\N` || strings.Contains(cell, `\'`) || strings.Contains(cell, `\"`) {
				return true
			}
			if cell == "NULL" {
				nulls++
			}
		}
	}
	return nulls > 1
}

// first returns the first column, or -1 for a constant and for no value.
func (v *value) first() int {
	if v == nil || len(v.columns) == 0 {
		return -1
	}
	return v.columns[0]
}

// shape is the JSON of a value that is an object.
type shape struct {
	Column  string         `json:"column"`
	Columns []string       `json:"columns"`
	Join    string         `json:"join"`
	Map     map[string]any `json:"map"`
	Scale   any            `json:"scale"` // a number, or the name of a column
}

// value resolves the value of a field, which is as Mapping describes it. rates says that this is a rating.
func (p *plan) value(rates bool, in any) (*value, error) {
	var s shape
	switch in := in.(type) {
	case string:
		if constant, ok := strings.CutPrefix(in, "="); ok {
			return &value{constant: strings.TrimSpace(constant)}, nil
		}
		s.Column = in
	case []any:
		var first *value
		end := &first
		for i, part := range in {
			text, _ := part.(string)
			if _, list := part.([]any); list || strings.HasPrefix(text, "=") && i < len(in)-1 {
				return nil, errors.New("a list has columns, and a constant may stand last")
			}
			v, err := p.value(rates, part)
			if err != nil {
				return nil, err
			}
			*end, end = v, &v.next
		}
		if first != nil {
			return first, nil
		}
		return nil, errors.New("the list is empty")
	case map[string]any:
		text, _ := json.Marshal(in) // which was JSON
		if err := strictjson.Decode(text, &s); err != nil {
			return nil, err
		}
		if (s.Column == "") == (len(s.Columns) == 0) {
			return nil, errors.New("want column or columns")
		}
	default:
		return nil, errors.New("want the name of a column, \"=text\", a list of these, or an object with column or " +
			"columns, join, map and scale")
	}
	if s.Columns == nil {
		s.Columns = []string{s.Column}
	}
	v := &value{join: s.Join, escaped: p.dump}
	if column, ok := s.Scale.(string); ok && rates {
		at, err := p.column(column)
		if err != nil {
			return nil, err
		}
		v.scales = &value{columns: []int{at}, escaped: p.dump}
	} else if v.scale, ok = s.Scale.(float64); s.Scale != nil && (!ok || !rates || !validScale(v.scale)) {
		return nil, errors.New("a scale is above 0 and at most 100, or the name of a column, and only ratings have one")
	}
	for _, name := range s.Columns {
		at, err := p.column(name)
		if err != nil {
			return nil, err
		}
		v.columns = append(v.columns, at)
	}
	for from, to := range s.Map {
		word, ok := to.(string)
		if n, number := to.(float64); number {
			word, ok = strconv.FormatFloat(n, 'f', -1, 64), true
			if rates && (n < 1 || n > 100) {
				return nil, fmt.Errorf("map: %v is no rating from 1 to 100", n)
			}
			if rates {
				word += "%"
			}
		}
		if !ok {
			return nil, fmt.Errorf("map: want a text or a number for %q", from)
		}
		if v.words == nil {
			v.words = map[string]string{}
		}
		v.words[strings.ToLower(strings.TrimSpace(from))] = strings.TrimSpace(word)
	}
	return v, nil
}
