package appsvc

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Completing a config takes a walk through the config and the schema at once: at each object of the config, the defaulter
// collects the schemas that apply there, completes the members that the object has, and adds the properties that it lacks. It
// decodes only the parts of both that the walk comes to.

// Bounds of WithDefaults. A step is about one value that is visited or copied.
const (
	maxDefaultWork    = 1 << 20  // steps of the function WithDefaults
	maxAppDefaultWork = 1 << 18  // steps of App.WithDefaults, for all configs together; each takes some hundred bytes of memory
	maxDefaultBytes   = 16 << 20 // of the result
)

// WithDefaults returns config completed with the defaults of schema: the values that a component is run with.
// A stored config holds only what its creator gave, so a new version of a component may bring new defaults. For example:
//
//	schema  {"properties":{"size":{"default":10},"font":{"type":"object","properties":{"bold":{"default":false}}}}}
//	config  {}
//	result  {"size":10,"font":{"bold":false}}
//
// Where the config has an object and the schema of that place has properties, each property that the object lacks
// is added with its default, if it has one. JSON Schema leaves open what a default does; these are the rules here:
//
//   - The default of a property is that of its schema, else that of the schema that its $ref names, else the first
//     one in its allOf. If several schemas of a place have a property of the same name, the same order decides.
//   - A default that breaks its own schema is ignored. SchemaWarnings names it.
//   - An absent property without a default whose type is "object" alone is made up from the defaults of its properties, if there are any
//     and the object conforms to the schema. To make absence mean something, give no defaults inside, or allow null.
//   - A value of the creator is never changed, and null is a value.
//   - Objects and arrays are completed inside, those of the creator and those that are added: objects by properties,
//     arrays by items, prefixItems and additionalItems, also through $ref and allOf. A default is not added inside itself, and no
//     object is made up inside one of the same schema.
//   - A default in anyOf, oneOf, if or not does not count, since it belongs to one of several alternatives.
//   - A $ref is followed within the document, by JSON pointer or anchor. The keywords beside it count in every draft.
//
// The members of the creator come first, in their order, and then those that were added, in the order of the schema.
// Numbers and strings keep their text. White space between values is dropped.
//
// The config is not validated. In a schema that the service would refuse, a keyword of the wrong type is ignored, all defaults count, and
// no object is made up. WithDefaults returns an error if one of them is not strict JSON, if the result would be larger than 16 MiB,
// or if it takes more than 1,048,576 steps.
func WithDefaults(schema, config []byte) ([]byte, error) {
	if err := strictjson.Check(schema, strictjson.MaxDepth); err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	if err := strictjson.Check(config, strictjson.MaxDepth); err != nil {
		return nil, fmt.Errorf("the config: %w", err)
	}
	d := defaulter{compile: schemaguard.Compile, work: maxDefaultWork, bytes: maxDefaultBytes}
	d.use(compact(schema))
	merged, ok := d.merged(nil, compact(config))
	if !ok {
		return nil, errors.New("the schema: its defaults make the config too large")
	}
	return merged, nil
}

// WithDefaults returns the app with each config completed, as the function WithDefaults does it, by the configSchema in
// the manifest that the element has copied. The result is for display: it is not stored, and a patch is made for the
// app without defaults.
//
// The JSON of the app, as it is answered over HTTP, may have up to most bytes; 0 means 16 MiB. WithDefaults returns
// ErrUnprocessable with CodeCost if it would have more, or if completing all configs would take too long.
func (a App) WithDefaults(most int) (App, error) { return new(Defaults).Complete(a, most) }

// Defaults completes apps as App.WithDefaults does, and keeps the compiled schemas for the next app. The zero value is ready. It is
// safe for concurrent use.
type Defaults struct {
	once    sync.Once
	schemas *schemas
}

// compile returns a compiled schema from the cache.
func (d *Defaults) compile(schema []byte) (*schemaguard.Schema, error) {
	d.once.Do(func() { d.schemas = newSchemas(nil) })
	compiled, err := d.schemas.get(schema)
	if err != nil {
		return nil, err
	}
	return compiled.guard, nil
}

// Complete is App.WithDefaults.
func (d *Defaults) Complete(a App, most int) (App, error) {
	if most == 0 {
		most = maxDefaultBytes
	}
	// The elements come last in the body. What comes before them is copied, and they are written anew.
	at, _, err := rawjson.Lookup(a.Body, "elements", 0)
	if err != nil || at < 0 {
		return App{}, errors.New("stored body: no elements")
	}
	draft, err := a.Body.draft()
	if err != nil {
		return App{}, err
	}
	with := defaulter{compile: d.compile, work: maxAppDefaultWork, bytes: most - len(a.Body)}
	out := append(make([]byte, 0, len(a.Body)+len(a.Body)/4), a.Body[:at]...)
	var last []byte // the manifest of the schema in use: neighbours often have the same
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
			with.use(schema)
			last = manifest
		}
		out = append(out, "[,"[min(i, 1)])
		out = append(append(appendHead(out, i, e.key), manifest...), configName...)
		ok := false
		if out, ok = with.merged(out, config); !ok {
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

// tooMuchDefault is the error of an app that is too large, or takes too many steps, with the defaults of its schemas. Without
// them it can be read, so the error names the query parameter that asks for them over HTTP.
func tooMuchDefault(most int) error {
	return &vitrine.Error{Kind: vitrine.ErrUnprocessable, Code: vitrine.CodeCost, Parameter: "withDefaults",
		Reason: fmt.Sprintf("with the defaults of its schemas the app has more than %d bytes or takes too long: read it without them", most)}
}

// node is a JSON value of a schema or a config. It is parsed one level at a time, and only where somebody looks into it.
// A value that is never parsed is written as the text that it was read from, so numbers and strings keep their text, and
// a large config of which a small part has defaults costs little. Members keep their order.
type node struct {
	kind     byte     // '{' for an object, '[' for an array, 0 for any other value
	parsed   bool     // names and children are set
	text     []byte   // compact JSON; out of date if members were added after parsing
	names    []string // of the members of an object
	children []*node  // the values of the members of an object, or the items of an array
	in       *node    // the object or array that it is in
	index    int      // of it in the children of in
}

// newNode returns the node of a compact JSON text, which has at least one byte. It does not parse the text, only its first byte.
func newNode(text []byte, in *node, index int) *node {
	n := &node{text: text, in: in, index: index}
	if text[0] == '{' || text[0] == '[' {
		n.kind = text[0]
	}
	return n
}

// parse sets names and children, if this has not been done, and returns n. It ignores errors: the text was checked
// when it was stored or given.
func (n *node) parse() *node {
	if n.parsed || n.kind == 0 {
		return n
	}
	n.parsed = true
	if n.kind == '{' {
		members, _ := rawjson.Members(n.text)
		for i, m := range members {
			n.names, n.children = append(n.names, m.Name), append(n.children, newNode(m.Value, n, i))
		}
		return n
	}
	items, _ := rawjson.Items(n.text)
	for i, item := range items {
		n.children = append(n.children, newNode(item, n, i))
	}
	return n
}

// append appends the JSON of the value, with what was added to it.
func (n *node) append(out []byte) []byte {
	if !n.parsed {
		return append(out, n.text...)
	}
	out = append(out, n.kind)
	for i, child := range n.children {
		if i > 0 {
			out = append(out, ',')
		}
		if n.kind == '{' {
			out = append(appendString(out, n.names[i]), ':')
		}
		out = child.append(out)
	}
	return append(out, n.kind+2) // in ASCII, '}' is '{'+2 and ']' is '['+2
}

// pointer returns the JSON pointer of the value from the root that it was parsed in.
func (n *node) pointer() string {
	if n.in == nil {
		return ""
	}
	if n.in.kind == '[' {
		return n.in.pointer() + "/" + strconv.Itoa(n.index)
	}
	return n.in.pointer() + "/" + jsonpointer.Escape(n.in.names[n.index])
}

// member returns the value of the member of this name, or the item at this index. It returns nil if there is none.
func (n *node) member(name string) *node {
	i := slices.Index(n.parse().names, name)
	if n.kind == '[' && jsonpointer.IsIndex(name) {
		i, _ = strconv.Atoi(name)
	}
	if i < 0 || i >= len(n.children) {
		return nil
	}
	return n.children[i]
}

// list returns the items of the member of this name, if its value is an array.
func (n *node) list(name string) []*node {
	if m := n.member(name); m != nil && m.kind == '[' {
		return m.parse().children
	}
	return nil
}

// str returns the value of the member of this name if it is a string, and "" if it is something else or missing.
func (n *node) str(name string) string {
	if m := n.member(name); m != nil && m.text[0] == '"' {
		s, _ := jsontext.AppendUnquote(nil, m.text)
		return string(s)
	}
	return ""
}

// defaulter completes configs within a budget of steps and bytes. Schemas can refer to themselves, and one default can
// contain others, so a small schema may ask for a result of any size. Whoever spends from the budget lets it go below
// zero, and merged looks at it at the end: functions on the way just stop. A search through a list counts as one step for every
// 16 of its items.
type defaulter struct {
	compile func(schema []byte) (*schemaguard.Schema, error)

	root  *node               // the configSchema of the present config, in which references are resolved
	guard *schemaguard.Schema // root, compiled when it is needed; nil also if it does not compile
	asked bool                // whether it was needed

	work   int // steps that are left; below zero = too much to do
	bytes  int // bytes that may be added; below zero = too large
	budget schemaguard.Budget

	completing []*node // the defaults that are being completed now, from the outermost on; none is added inside itself
	around     []*node // the schemas of the objects and arrays that are being completed now
}

// use sets the schema of the configs that come next.
func (d *defaulter) use(schema []byte) {
	d.root, d.guard, d.asked = newNode(schema, nil, 0), nil, false
}

// compiled returns the schema compiled, nil if it does not compile.
func (d *defaulter) compiled() *schemaguard.Schema {
	if !d.asked {
		d.asked = true
		if guard, err := d.compile(d.root.text); err == nil {
			d.guard = guard
		}
	}
	return d.guard
}

// merged appends config, completed, to out. It returns false if there was too much to do; out is not complete then.
func (d *defaulter) merged(out, config []byte) ([]byte, bool) {
	value := newNode(config, nil, 0)
	d.complete(value, []*node{d.root})
	if d.work < 0 || d.bytes < 0 {
		return out, false
	}
	return value.append(out), true
}

// together returns the schemas and those that apply wherever they apply, each once, in the order in which defaults are
// looked for: a schema, then what its $ref names, then its allOf.
func (d *defaulter) together(schemas []*node) []*node {
	var all []*node
	var add func(*node)
	add = func(schema *node) {
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

// resolve returns the schema that a $ref names in the document: "#", "#/a/pointer" or "#anchor". It returns nil if there is
// no such schema, or if the reference leads out of the document.
func (d *defaulter) resolve(ref string) *node {
	fragment, ok := strings.CutPrefix(ref, "#")
	fragment, err := url.PathUnescape(fragment)
	if !ok || err != nil {
		return nil
	}
	if fragment != "" && fragment[0] != '/' {
		return d.anchor(d.root, fragment)
	}
	at := d.root
	for _, token := range strings.Split(fragment, "/")[1:] {
		if d.work--; at != nil {
			at = at.member(jsonpointer.Unescape(token))
		}
	}
	return at
}

// anchor returns the first schema in n, or inside it, that has this anchor: as $anchor or $dynamicAnchor, or as $id or id
// with "#" before it, as older drafts have it.
func (d *defaulter) anchor(n *node, name string) *node {
	if d.work--; d.work < 0 {
		return nil
	}
	if n.str("$anchor") == name || n.str("$dynamicAnchor") == name || n.str("$id") == "#"+name || n.str("id") == "#"+name {
		return n
	}
	for _, child := range n.parse().children {
		if found := d.anchor(child, name); found != nil {
			return found
		}
	}
	return nil
}

// complete adds to value, and to everything in it, the defaults of schemas, all of which apply to it.
func (d *defaulter) complete(value *node, schemas []*node) {
	if d.work--; d.work < 0 || d.bytes < 0 || value.kind == 0 {
		return
	}
	schemas = d.together(schemas)
	outside := len(d.around)
	d.around = append(d.around, schemas...)
	if value.kind == '{' {
		d.completeObject(value, schemas)
	} else {
		d.completeArray(value, schemas)
	}
	d.around = d.around[:outside]
}

// parse parses a value of the config, if there is work left for what is in it. It returns false otherwise. Counting the
// items of a value is cheap, but done only for a text that is long enough to have too many.
func (d *defaulter) parse(value *node) bool {
	if most := len(value.text) / 2; !value.parsed && most > d.work && rawjson.Widest(value.text) > d.work {
		d.work = -1
		return false
	}
	d.work -= len(value.parse().children)
	return d.work >= 0
}

// completeObject completes the members that the object has, and adds the properties that it lacks and that have a default, or can be
// made up. What is added is completed too. schemas are all schemas that apply to the object, as together returns them.
func (d *defaulter) completeObject(value *node, schemas []*node) {
	// The properties that the schemas define, each once, in the order of the schemas and of the members in them.
	var names []string
	properties := map[string][]*node{}
	for _, schema := range schemas {
		of := schema.member("properties")
		if of == nil || of.kind != '{' {
			continue
		}
		d.work -= len(of.parse().names)
		for i, name := range of.names {
			if properties[name] == nil {
				names = append(names, name)
			}
			properties[name] = append(properties[name], of.children[i])
		}
	}
	if len(names) == 0 || !d.parse(value) {
		return
	}
	for _, name := range names {
		d.work -= 1 + len(value.names)/16
		if member := value.member(name); member != nil {
			d.complete(member, properties[name])
		} else if added := d.added(properties[name]); added != nil {
			value.names = append(value.names, name)
			value.children = append(value.children, added)
			d.bytes -= len(name) + 4
		}
	}
}

// added returns the value of an absent property that has these schemas, nil if it stays absent. References can lead from inside a
// default back to the same default, and from inside an object back to its schema: neither is added again there, since it would never end.
func (d *defaulter) added(schemas []*node) *node {
	isDefault, isObject, isInside := false, false, false
	var given *node
	for _, schema := range d.together(schemas) {
		if value := schema.member("default"); value != nil {
			isDefault = true
			if given == nil && (d.compiled() == nil || d.guard.BadDefaults()[schema.pointer()] == "") {
				given = value
			}
		}
		isObject = isObject || schema.str("type") == "object"
		d.work -= len(d.around) / 16
		isInside = isInside || slices.Contains(d.around, schema)
	}
	switch {
	case given != nil && !slices.Contains(d.completing, given):
		d.work--
		d.bytes -= len(given.text) + 2
		added := newNode(given.text, nil, 0)
		d.completing = append(d.completing, given)
		d.complete(added, schemas)
		d.completing = d.completing[:len(d.completing)-1]
		return added
	case !isDefault && isObject && !isInside:
		made := newNode([]byte("{}"), nil, 0)
		if d.complete(made, schemas); len(made.names) > 0 && d.conforms(made, schemas) {
			return made
		}
	}
	return nil
}

// conforms reports whether a value conforms to schemas.
func (d *defaulter) conforms(value *node, schemas []*node) bool {
	text := value.append(nil)
	d.work -= len(text) / 16
	decoded, err := decodeJSON(text)
	if err != nil || d.work < 0 || d.compiled() == nil {
		return false
	}
	return !slices.ContainsFunc(schemas, func(schema *node) bool {
		found, err := d.guard.ValidateAt(&d.budget, schema.pointer(), decoded)
		if err != nil {
			d.work = -1
		}
		return err != nil || len(found) > 0
	})
}

// completeArray completes the items of an array. It adds no items. An item has the schema at its index in prefixItems, or
// that of items if there is none. Before draft 2020-12, items may be a list with the meaning of prefixItems, and
// additionalItems has the meaning of items then.
func (d *defaulter) completeArray(value *node, schemas []*node) {
	says := func(schema *node) bool { return schema.member("items") != nil || schema.list("prefixItems") != nil }
	if !slices.ContainsFunc(schemas, says) || !d.parse(value) {
		return
	}
	for i, element := range value.children {
		var apply []*node
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
