package appsvc

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// Completing a config takes a walk through the config and the schema at once: at each object of the config, the
// defaulter collects the schemas that apply there, completes the members that the object has, and adds the properties
// that it lacks. It decodes only the parts of both that the walk comes to.

// Bounds of WithDefaults. A step is about one value that is visited or copied.
const (
	maxDefaultWork  = 1 << 18  // steps for all configs of an app together; each takes some hundred bytes of memory
	maxDefaultBytes = 16 << 20 // of the result
)

// WithDefaults returns the app with each config completed with the defaults of the configSchema in its manifest: the
// values that a component is run with. The result is for display: it is not stored, and a patch is made for the app
// without defaults.
//
// A stored config contains only the values of its creator, so a new version of a component may bring new defaults. For
// example:
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
//   - A default that breaks its own schema is ignored. CheckComponent warns of it.
//   - An absent property without a default whose type is "object" alone is made up from the defaults of its properties,
//     if there are any and the object conforms to the schema. To make absence mean something, give no defaults inside,
//     or allow null.
//   - A value of the creator is never changed, and null is a value.
//   - Objects and arrays are completed inside, those of the creator and those that are added: objects by properties,
//     arrays by items, prefixItems and additionalItems, also through $ref and allOf. A default is not added inside
//     itself, and no object is made up inside one of the same schema.
//   - A default in anyOf, oneOf, if or not does not count, since it belongs to one of several alternatives.
//   - A $ref is followed within the document. The keywords beside it count in every draft.
//
// In an app that Session.In has answered in a language, the texts among the defaults are answered in it too.
//
// The members of the creator come first, in their order, and then those that were added, in the order of the schema.
// Numbers and strings keep their text. White space between values is dropped.
//
// The configs are not validated. In a schema that the service would reject, a keyword of the wrong type is ignored, all
// defaults count, no $ref is followed, and no object is made up. WithDefaults returns ErrUnprocessable with CodeCost if
// the response with the app over HTTP would have more than 16 MiB, or if completing all configs would take too long.
func (a App) WithDefaults(ctx context.Context) (App, error) {
	with := defaulter{compile: compiledDefaults, work: maxDefaultWork, bytes: maxDefaultBytes - len(a.Body),
		reading: a.reading.again()}
	a, err := a.rewrite(with.reading, func(manifest, config []byte) ([]byte, error) {
		schema, err := Component{Manifest: manifest}.ConfigSchema()
		if err != nil {
			return nil, err
		}
		with.use(schema)
		if config = with.merged(config); config == nil {
			return nil, errTooMuchDefault()
		}
		return with.reading.resolve(config), nil
	})
	if err == nil && a.checkSize(maxDefaultBytes) != nil {
		err = errTooMuchDefault()
	}
	if err != nil {
		return App{}, err
	}
	return a, nil
}

// errTooMuchDefault is the error of an app that is too large, or takes too many steps, with the defaults of its
// schemas. Without them it can be read, so the error names the query parameter that asks for them over HTTP.
func errTooMuchDefault() error {
	return fault.Unprocessable(vitrine.CodeCost, "withDefaults",
		"with the defaults of its schemas the app has more than %d bytes or takes too long: read it without them",
		maxDefaultBytes)
}

// defaultSchemas are the schemas of WithDefaults, compiled. Neighbours in time often have the same ones.
var defaultSchemas = sync.OnceValue(func() *schemas { return newSchemas(nil) })

// compiledDefaults returns a schema from defaultSchemas.
func compiledDefaults(schema []byte) (*schemaguard.Schema, error) {
	compiled, err := defaultSchemas().get(schema)
	if err != nil {
		return nil, err
	}
	return compiled.guard, nil
}

// place is a subschema.
type place struct {
	*jsontree.Node
	pointer string // JSON pointer of it in the schema
}

// get returns the value of the member of this name, or the item at this index. ok is false if there is none.
func (p place) get(name string) (sub place, ok bool) {
	at := p.Get(name)
	if i := jsonpointer.Index(name); p.Kind() == '[' && i >= 0 && i < p.Len() {
		at = p.At(i)
	}
	return place{at, p.pointer + "/" + jsonpointer.Escape(name)}, at != nil
}

// list returns the items of the member of this name, if its value is an array.
func (p place) list(name string) (out []place) {
	list := p.Get(name)
	if list == nil || list.Kind() != '[' {
		return nil
	}
	for i := range list.Len() {
		out = append(out, place{list.At(i), fmt.Sprintf("%s/%s/%d", p.pointer, name, i)})
	}
	return out
}

// str returns the value of the member of this name if it is a string, and "" if it is something else or missing.
func (p place) str(name string) string {
	if member := p.Get(name); member != nil {
		text, _ := jsontree.Text(member.Bytes())
		return text
	}
	return ""
}

// defaulter completes configs within limits of steps and bytes. Schemas can refer to themselves, and one default can
// contain others, so a small schema may ask for a result of any size. When work or bytes is below zero, all functions
// stop, and merged reports it at the end. A search through a list counts as one step for every 16 of its items.
type defaulter struct {
	compile func(schema []byte) (*schemaguard.Schema, error)
	reading *reading // the language of defaults that are texts; nil = they are objects

	schema []byte              // the configSchema of the present config
	root   place               // the same, in which references are resolved
	guard  *schemaguard.Schema // root, compiled when it is needed; nil also if it does not compile
	asked  bool                // whether it was needed

	work  int // steps that are left; below zero = too much to do
	bytes int // bytes that may be added; below zero = too large
	usage schemaguard.Usage

	completing []place // the defaults that are being completed now, from the outermost on; none is added inside itself
	around     []place // the schemas of the objects and arrays that are being completed now
}

// use sets the schema of the configs that come next.
func (d *defaulter) use(schema []byte) {
	if d.schema == nil || !bytes.Equal(schema, d.schema) { // neighbours often have the same
		root := jsontree.New(schema)
		d.schema, d.root, d.guard, d.asked = schema, place{&root, ""}, nil, false
	}
}

// compiled returns the schema compiled, nil if it does not compile.
func (d *defaulter) compiled() *schemaguard.Schema {
	if !d.asked {
		d.asked = true
		if guard, err := d.compile(d.reading.again().resolve(d.schema)); err == nil {
			d.guard = guard
		}
	}
	return d.guard
}

// merged returns config, completed, and nil if there was too much to do.
func (d *defaulter) merged(config []byte) []byte {
	value := jsontree.New(config)
	d.complete(&value, []place{d.root})
	if d.work < 0 || d.bytes < 0 {
		return nil
	}
	return value.Bytes()
}

// together returns the schemas and those that apply wherever they apply, each once, in the order in which defaults are
// looked for: a schema, then what its $ref names, then its allOf.
func (d *defaulter) together(schemas []place) []place {
	var all []place
	var add func(place)
	add = func(schema place) {
		d.work -= 1 + len(all)/16
		if d.work < 0 || slices.Contains(all, schema) {
			return
		}
		all = append(all, schema)
		if target, ok := d.target(schema); ok {
			add(target)
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

// target returns the schema that the $ref of a schema leads to. ok is false if it has none, if the reference leads to a
// meta-schema, and if the whole does not compile.
func (d *defaulter) target(schema place) (at place, ok bool) {
	if schema.str("$ref") == "" || d.compiled() == nil {
		return place{}, false
	}
	pointer, ok := d.guard.Target(schema.pointer)
	if !ok {
		return place{}, false
	}
	at = d.root
	for _, token := range strings.Split(pointer, "/")[1:] {
		d.work--
		if at, ok = at.get(jsonpointer.Unescape(token)); !ok {
			return place{}, false
		}
	}
	return at, true
}

// complete adds to value, and to everything in it, the defaults of schemas, all of which apply to it.
func (d *defaulter) complete(value *jsontree.Node, schemas []place) {
	if d.work--; d.work < 0 || d.bytes < 0 {
		return
	}
	kind := value.Kind()
	if kind != '{' && kind != '[' || d.reading.isText(value) {
		return
	}
	schemas = d.together(schemas)
	outside := len(d.around)
	d.around = append(d.around, schemas...)
	if kind == '{' {
		d.completeObject(value, schemas)
	} else {
		d.completeArray(value, schemas)
	}
	d.around = d.around[:outside]
}

// parse parses a value of the config, if there is work left for what is in it. It returns false otherwise.
func (d *defaulter) parse(value *jsontree.Node) bool {
	if !value.Within(d.work) {
		d.work = -1
		return false
	}
	d.work -= value.Len()
	return true
}

// completeObject completes the members that the object has, and adds the properties that it lacks and that have a
// default, or can be made up. What is added is completed too. schemas are all schemas that apply to the object, as
// together returns them.
func (d *defaulter) completeObject(value *jsontree.Node, schemas []place) {
	// The properties that the schemas define, each once, in the order of the schemas and of the members in them.
	var names []string
	properties := map[string][]place{}
	for _, schema := range schemas {
		of, ok := schema.get("properties")
		if !ok || of.Kind() != '{' {
			continue
		}
		d.work -= of.Len()
		for i := range of.Len() {
			name := of.Name(i)
			if properties[name] == nil {
				names = append(names, name)
			}
			properties[name] = append(properties[name], place{of.At(i), of.pointer + "/" + jsonpointer.Escape(name)})
		}
	}
	if len(names) == 0 || !d.parse(value) {
		return
	}
	for _, name := range names {
		d.work -= 1 + value.Len()/16
		if member := value.Get(name); member != nil {
			d.complete(member, properties[name])
		} else if added, ok := d.added(properties[name]); ok {
			value.Add(name, added)
			d.bytes -= len(name) + 4
		}
	}
}

// added returns the value of an absent property that has these schemas. ok is false if it stays absent. References can
// lead from inside a default back to the same default, and from inside an object back to its schema: neither is added
// again there, since it would never end.
func (d *defaulter) added(schemas []place) (added jsontree.Node, ok bool) {
	isDefault, isObject, isInside := false, false, false
	var given place
	for _, schema := range d.together(schemas) {
		if value, ok := schema.get("default"); ok {
			isDefault = true
			if given.Node == nil && (d.compiled() == nil || d.guard.BadDefaults()[schema.pointer] == "") {
				given = value
			}
		}
		isObject = isObject || schema.str("type") == "object"
		d.work -= len(d.around) / 16
		isInside = isInside || slices.Contains(d.around, schema)
	}
	switch {
	case given.Node != nil && !slices.Contains(d.completing, given):
		d.work--
		text := given.Bytes()
		d.bytes -= len(text) + 2
		added = jsontree.New(text)
		d.completing = append(d.completing, given)
		d.complete(&added, schemas)
		d.completing = d.completing[:len(d.completing)-1]
		return added, true
	case !isDefault && isObject && !isInside:
		added = jsontree.New([]byte("{}"))
		d.complete(&added, schemas)
		return added, added.Len() > 0 && d.conforms(&added, schemas)
	}
	return added, false
}

// conforms reports whether a value conforms to schemas.
func (d *defaulter) conforms(value *jsontree.Node, schemas []place) bool {
	text := d.reading.again().resolve(value.Bytes())
	d.work -= len(text) / 16
	decoded, err := decodeJSON(text)
	if err != nil || d.work < 0 || d.compiled() == nil {
		return false
	}
	return !slices.ContainsFunc(schemas, func(schema place) bool {
		found, err := d.guard.Validate(&d.usage, schema.pointer, decoded)
		if err != nil {
			d.work = -1
		}
		return err != nil || len(found) > 0
	})
}

// completeArray completes the items of an array. It adds no items. An item has the schema at its index in prefixItems,
// or that of items if there is none. Before draft 2020-12, items may be a list with the meaning of prefixItems, and
// additionalItems has the meaning of items then.
func (d *defaulter) completeArray(value *jsontree.Node, schemas []place) {
	// What each schema has for the first items, and for the rest; the rest may be the zero place.
	var firsts [][]place
	var rests []place
	for _, schema := range schemas {
		first := schema.list("prefixItems")
		rest, hasRest := schema.get("items")
		if list := schema.list("items"); list != nil {
			first = list
			rest, hasRest = schema.get("additionalItems")
		}
		if !hasRest {
			rest = place{}
		}
		if hasRest || len(first) > 0 {
			firsts, rests = append(firsts, first), append(rests, rest)
		}
	}
	if len(rests) == 0 || !d.parse(value) {
		return
	}
	for i := range value.Len() {
		var apply []place
		for k, first := range firsts {
			if i < len(first) {
				apply = append(apply, first[i])
			} else if rests[k].Node != nil {
				apply = append(apply, rests[k])
			}
		}
		d.complete(value.At(i), apply)
	}
}
