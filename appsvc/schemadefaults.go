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

	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Bounds of WithDefaults: values visited and copied, and bytes of the result.
const (
	maxDefaultWork    = 1 << 20
	maxAppDefaultWork = 1 << 18 // of all configs of an app together; each takes some hundred bytes of memory
	maxDefaultBytes   = 16 << 20
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
	if err := strictjson.Check(schema, strictjson.MaxDepth); err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	if err := strictjson.Check(config, strictjson.MaxDepth); err != nil {
		return nil, fmt.Errorf("the config: %w", err)
	}
	d := defaulter{root: newTree(compact(schema)), work: maxDefaultWork, bytes: maxDefaultBytes}
	merged, ok := d.merged(nil, compact(config))
	if !ok {
		return nil, errors.New("the schema: its defaults make the config too large")
	}
	return merged, nil
}

// WithDefaults returns the app with each config completed, as the function WithDefaults does it, with
// the configSchema of the manifest that the element copied. What is returned is for showing alone: it
// is stored nowhere. The answer of the app has at most so many bytes; 0 means 16 MiB. An answer beyond
// that, or one that takes too much work, is an error of kind ErrUnprocessable with the code CodeCost.
func (a App) WithDefaults(most int) (App, error) {
	if most == 0 {
		most = maxDefaultBytes
	}
	at, _, err := rawjson.Lookup(a.Body, "elements", 0)
	if err != nil || at < 0 {
		return App{}, errors.New("stored body: no elements")
	}
	draft, err := a.Body.draft()
	if err != nil {
		return App{}, err
	}
	d := defaulter{work: maxAppDefaultWork, bytes: most - len(a.Body)}
	out := append(make([]byte, 0, len(a.Body)+len(a.Body)/4), a.Body[:at]...)
	var last []byte // the manifest that d.root was taken from: neighbours often have the same
	for i, e := range draft.elements {
		manifest, config, err := e.split()
		if err != nil {
			return App{}, err
		}
		if last == nil || !bytes.Equal(manifest, last) {
			schema, err := Component{Manifest: manifest}.ConfigSchema()
			if err != nil {
				return App{}, err
			}
			d.root, last = newTree(schema), manifest
		}
		out = append(out, "[,"[min(i, 1)])
		out = append(append(appendHead(out, i), manifest...), configName...)
		ok := false
		if out, ok = d.merged(out, config); !ok {
			return App{}, tooMuchDefault(most)
		}
		out = append(out, '}')
	}
	if len(draft.elements) == 0 {
		out = append(out, '[')
	}
	a.Body = append(out, "]}"...)
	if a.checkSize(most) != nil {
		return App{}, tooMuchDefault(most)
	}
	return a, nil
}

func tooMuchDefault(most int) error {
	return &Error{Kind: ErrUnprocessable, Code: CodeCost, Parameter: "withDefaults",
		Reason: fmt.Sprintf("with the defaults of its schemas the app has more than %d bytes or takes too long: read it without them", most)}
}

// tree is a JSON value that keeps the order of members and the text of what has no members. It is taken
// apart when somebody looks into it; what nobody looks into stays the text it was.
type tree struct {
	kind     byte // '{', '[', or 0 for all the rest
	opened   bool
	text     []byte // compact
	names    []string
	children []*tree
}

// newTree returns the tree of a compact JSON text.
func newTree(text []byte) *tree {
	t := &tree{text: text}
	if text[0] == '{' || text[0] == '[' {
		t.kind = text[0]
	}
	return t
}

// open takes the value apart, one level deep. The text was checked when it was stored or given.
func (t *tree) open() *tree {
	if t.opened || t.kind == 0 {
		return t
	}
	t.opened = true
	if t.kind == '{' {
		members, _ := rawjson.Members(t.text)
		t.names, t.children = make([]string, len(members)), make([]*tree, len(members))
		for i, m := range members {
			t.names[i], t.children[i] = m.Name, newTree(m.Value)
		}
		return t
	}
	items, _ := rawjson.Items(t.text)
	t.children = make([]*tree, len(items))
	for i, item := range items {
		t.children[i] = newTree(item)
	}
	return t
}

func (t *tree) append(out []byte) []byte {
	if !t.opened {
		return append(out, t.text...)
	}
	out = append(out, t.kind)
	for i, child := range t.children {
		if i > 0 {
			out = append(out, ',')
		}
		if t.kind == '{' {
			out = append(appendString(out, t.names[i]), ':')
		}
		out = child.append(out)
	}
	return append(out, t.kind+2) // the closing one
}

// member returns the member of that name, nil when there is none.
func (t *tree) member(name string) *tree {
	if i := slices.Index(t.open().names, name); i >= 0 {
		return t.children[i]
	}
	return nil
}

// list returns the elements of the member that is an array of that name.
func (t *tree) list(name string) []*tree {
	if m := t.member(name); m != nil && m.kind == '[' {
		return m.open().children
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

// merged appends config, completed, to out. It reports false if there was too much to do.
func (d *defaulter) merged(out, config []byte) ([]byte, bool) {
	value := newTree(config)
	d.complete(value, []*tree{d.root})
	if d.work < 0 || d.bytes < 0 {
		return out, false
	}
	return value.append(out), true
}

// opened takes a config apart, if there is work left for what is in it.
func (d *defaulter) opened(value *tree) bool {
	if most := len(value.text) / 2; !value.opened && most > d.work && rawjson.Widest(value.text) > d.work {
		d.work = -1
		return false
	}
	d.work -= len(value.open().children)
	return d.work >= 0
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
			at = at.member(jsonpointer.Unescape(token))
		case '[':
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at.open().children) {
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
	for _, child := range t.open().children {
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
	if schemas = d.together(schemas); len(schemas) == 0 {
		return
	}
	if value.kind == '{' {
		d.completeObject(value, schemas)
	} else {
		d.completeArray(value, schemas)
	}
}

func (d *defaulter) completeObject(value *tree, schemas []*tree) {
	names, properties := d.properties(schemas)
	if len(names) == 0 || !d.opened(value) {
		return
	}
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
		d.work -= len(of.open().names)
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
	return newTree(t.text)
}

func (d *defaulter) completeArray(value *tree, schemas []*tree) {
	says := func(schema *tree) bool { return schema.member("items") != nil || schema.list("prefixItems") != nil }
	if !slices.ContainsFunc(schemas, says) || !d.opened(value) {
		return
	}
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
