package appsvc

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Bounds of WithDefaults: values visited and copied, and bytes of the result.
const (
	maxDefaultWork  = 1 << 20
	maxDefaultBytes = 16 << 20
)

// WithDefaults returns config completed with the defaults of schema: what a component is run with.
// A stored config holds only what its creator said, so that a new version of a component may bring
// new defaults.
//
// The rule: where config has an object and the schema for that place has properties, each property
// that the object lacks is added with its default, if there is one. The default of a property is
// that of its schema, else that of the schema its $ref names, else the first one in its allOf; the
// same order decides between several properties of one name. A value of the creator is never
// changed, null is a value, and an absent object without a default is not made up. Objects and
// arrays that are there, creator's or default, are completed inside: objects by properties, arrays
// by items and prefixItems, both through $ref and allOf, but a default is not put into itself.
// What only one of several alternatives says (anyOf, oneOf, if, not) is not a default. $ref is
// followed within the document, by JSON pointer or anchor, and the keywords beside it count in every
// draft. The creator's members come first, in their order, then the added ones in the schema's.
// Numbers and strings keep their text; white space between values is dropped.
//
// Neither schema nor config is validated; a keyword of the wrong type is ignored. It is an error if
// one of them is not strict JSON, or if the result would be larger than 16 MiB or much larger than both.
func WithDefaults(schema, config []byte) ([]byte, error) {
	s, err := parseTree(schema)
	if err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	c, err := parseTree(config)
	if err != nil {
		return nil, fmt.Errorf("the config: %w", err)
	}
	d := defaulter{root: s, work: maxDefaultWork, bytes: maxDefaultBytes}
	d.complete(c, []*tree{s})
	if d.work < 0 || d.bytes < 0 {
		return nil, errors.New("the schema: its defaults make the config too large")
	}
	var out bytes.Buffer
	c.write(&out)
	return out.Bytes(), nil
}

// tree is a JSON value that keeps the order of members and the text of what has no members.
type tree struct {
	kind     jsontext.Kind // '{', '[', or 0 for all the rest
	text     []byte
	names    []string
	children []*tree
}

func parseTree(data []byte) (*tree, error) {
	if err := strictjson.Check(data, strictjson.MaxDepth); err != nil {
		return nil, err
	}
	return readTree(jsontext.NewDecoder(bytes.NewReader(data)))
}

func readTree(d *jsontext.Decoder) (*tree, error) {
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		text, err := d.ReadValue()
		return &tree{text: bytes.Clone(text)}, err
	}
	t := &tree{kind: kind}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != kind+2 { // the closing one
		if kind == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			t.names = append(t.names, name.String())
		}
		child, err := readTree(d)
		if err != nil {
			return nil, err
		}
		t.children = append(t.children, child)
	}
	_, err := d.ReadToken()
	return t, err
}

func (t *tree) write(out *bytes.Buffer) {
	switch t.kind {
	case 0:
		out.Write(t.text)
		return
	case '{':
		out.WriteByte('{')
	case '[':
		out.WriteByte('[')
	}
	for i, child := range t.children {
		if i > 0 {
			out.WriteByte(',')
		}
		if t.kind == '{' {
			name, _ := jsontext.AppendQuote(nil, t.names[i])
			out.Write(name)
			out.WriteByte(':')
		}
		child.write(out)
	}
	out.WriteByte(byte(t.kind + 2))
}

// member returns the member of that name, nil when there is none.
func (t *tree) member(name string) *tree {
	if i := slices.Index(t.names, name); t.kind == '{' && i >= 0 {
		return t.children[i]
	}
	return nil
}

// list returns the elements of the member that is an array of that name.
func (t *tree) list(name string) []*tree {
	if m := t.member(name); m != nil && m.kind == '[' {
		return m.children
	}
	return nil
}

// str returns the member that is a string of that name, "" when there is none.
func (t *tree) str(name string) string {
	m := t.member(name)
	if m == nil || m.kind != 0 {
		return ""
	}
	s, err := jsontext.AppendUnquote(nil, m.text)
	if err != nil {
		return ""
	}
	return string(s)
}

// defaulter completes one config. Its work and bytes go below zero when there is too much to do.
type defaulter struct {
	root  *tree
	work  int
	bytes int
	open  []*tree // the defaults that are being completed
}

// together returns schemas and, each in the order of their precedence, those that apply with them.
func (d *defaulter) together(schemas []*tree) []*tree {
	var all []*tree
	var add func(*tree)
	add = func(schema *tree) {
		d.work -= 1 + len(all)/16
		if schema == nil || d.work < 0 || slices.Contains(all, schema) {
			return
		}
		all = append(all, schema)
		if ref := schema.str("$ref"); ref != "" {
			add(d.resolve(ref))
		}
		for _, part := range schema.list("allOf") {
			add(part)
		}
	}
	for _, schema := range schemas {
		add(schema)
	}
	return all
}

// resolve returns what a reference names in the document, nil when that is nothing.
func (d *defaulter) resolve(ref string) *tree {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil
	}
	if fragment != "" && fragment[0] != '/' {
		return d.anchor(d.root, fragment)
	}
	at := d.root
	for _, token := range strings.Split(fragment, "/")[1:] {
		d.work--
		switch at.kind {
		case '{':
			at = at.member(strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"))
		case '[':
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at.children) {
				return nil
			}
			at = at.children[i]
		default:
			return nil
		}
		if at == nil {
			return nil
		}
	}
	return at
}

func (d *defaulter) anchor(t *tree, name string) *tree {
	if d.work--; d.work < 0 {
		return nil
	}
	if t.str("$anchor") == name || t.str("$dynamicAnchor") == name || t.str("$id") == "#"+name || t.str("id") == "#"+name {
		return t
	}
	for _, child := range t.children {
		if found := d.anchor(child, name); found != nil {
			return found
		}
	}
	return nil
}

// complete adds to value what schemas, which all apply to it, have as defaults.
func (d *defaulter) complete(value *tree, schemas []*tree) {
	if d.work--; d.work < 0 || d.bytes < 0 || value.kind == 0 {
		return
	}
	schemas = d.together(schemas)
	if value.kind == '{' {
		d.completeObject(value, schemas)
	} else {
		d.completeArray(value, schemas)
	}
}

func (d *defaulter) completeObject(value *tree, schemas []*tree) {
	names, properties := d.properties(schemas)
	for _, name := range names {
		d.work -= 1 + len(value.names)/16
		if member := value.member(name); member != nil {
			d.complete(member, properties[name])
			continue
		}
		given := d.defaultOf(properties[name])
		if given == nil || slices.Contains(d.open, given) {
			continue
		}
		added := d.clone(given)
		value.names = append(value.names, name)
		value.children = append(value.children, added)
		d.bytes -= len(name) + 4
		d.open = append(d.open, given)
		d.complete(added, properties[name])
		d.open = d.open[:len(d.open)-1]
	}
}

// properties returns what schemas say of each property, and the names in their order.
func (d *defaulter) properties(schemas []*tree) (names []string, properties map[string][]*tree) {
	properties = map[string][]*tree{}
	for _, schema := range schemas {
		of := schema.member("properties")
		if of == nil || of.kind != '{' {
			continue
		}
		d.work -= len(of.names)
		for i, name := range of.names {
			if properties[name] == nil {
				names = append(names, name)
			}
			properties[name] = append(properties[name], of.children[i])
		}
	}
	return names, properties
}

func (d *defaulter) defaultOf(schemas []*tree) *tree {
	for _, schema := range d.together(schemas) {
		if given := schema.member("default"); given != nil {
			return given
		}
	}
	return nil
}

// clone copies a default, which is completed by itself at each place.
func (d *defaulter) clone(t *tree) *tree {
	d.work--
	d.bytes -= len(t.text) + 2
	out := &tree{kind: t.kind, text: t.text, names: slices.Clone(t.names)}
	for i, child := range t.children {
		if d.work < 0 || d.bytes < 0 {
			return out
		}
		if t.kind == '{' {
			d.bytes -= len(t.names[i]) + 3
		}
		out.children = append(out.children, d.clone(child))
	}
	return out
}

func (d *defaulter) completeArray(value *tree, schemas []*tree) {
	for i, element := range value.children {
		var apply []*tree
		for _, schema := range schemas {
			items, prefix := schema.member("items"), schema.list("prefixItems")
			if list := schema.list("items"); list != nil {
				items, prefix = schema.member("additionalItems"), list
			}
			if i < len(prefix) {
				apply = append(apply, prefix[i])
			} else if items != nil {
				apply = append(apply, items)
			}
		}
		d.complete(element, apply)
	}
}
