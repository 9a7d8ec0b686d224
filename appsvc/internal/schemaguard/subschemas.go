package schemaguard

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// outline is what the text of a schema says before anything is compiled: where its subschemas, references and patterns
// are, and how much work it is to compile them. The compiler takes quadratic time for some schemas, so these must be
// refused before it sees them.
type outline struct {
	doc      any
	places   []string            // JSON pointers of the subschemas, the root first
	met      map[string]struct{} // the same, as a set
	refs     map[string]string   // text of each reference, and the pointer of one that has it
	patterns map[string]*pattern

	resources []scope             // the root and each subschema with an id
	across    map[string]struct{} // fragments of the references to other resources; they are JSON pointers

	drafts   map[draft]struct{} // of the resources
	text     textSize
	values   int // in the whole text
	elements int // compared while enums are checked for repeated elements
	ids      int // subschemas with a base URI of their own
	foreign  int // references to places that are not subschemas by keyword
	pointers int // bytes of all JSON pointers

	patternText, patternProgram, folded int

	each func(object map[string]any, pointer string, d draft) // called with each subschema that is an object
}

// survey returns the outline of a schema. Its error is an *Error, for a schema that must not reach the compiler.
func survey(doc any) (*outline, error) {
	return surveyWith(doc, func(map[string]any, string, draft) {})
}

// surveyWith is survey, and calls each for every subschema that is an object, with the draft that holds there.
func surveyWith(doc any, each func(object map[string]any, pointer string, d draft)) (*outline, error) {
	o := &outline{doc: doc, each: each, met: map[string]struct{}{}, refs: map[string]string{}, patterns: map[string]*pattern{},
		across: map[string]struct{}{}, drafts: map[draft]struct{}{}}
	if err := o.value(doc, 0); err != nil {
		return nil, err
	}
	if err := o.schema(doc, "", scope{draft: draft2020}); err != nil {
		return nil, err
	}
	if err := o.otherResources(); err != nil {
		return nil, err
	}
	if o.cost() > maxCompile {
		if o.mixed() {
			return nil, refuse("", "it is too complex to compile: its resources are of different drafts, and %d values could be subschemas, %d of them with an id, and %d are references; "+
				"about 4000 subschemas fit, or 1000 references", o.text.schemas, o.text.ids, o.text.references)
		}
		return nil, refuse("", "it is too complex to compile: %d subschemas, %d of them with an id, %d references to places that are not subschemas; "+
			"about 4000 plain subschemas fit", len(o.places), o.ids, o.foreign)
	}
	return o, nil
}

// cost is the price of compiling, in nanoseconds. The terms are those of the compiler's work: it looks each subschema
// up among all the others; it walks the base URIs of each; it copies what it knows for each reference to a place that
// is no subschema by keyword; and it compares the values of each enum.
func (o *outline) cost() int64 {
	n, ids, foreign, pointers := int64(len(o.places)), int64(o.ids), int64(o.foreign), int64(o.pointers)
	if o.mixed() {
		n, pointers = max(n, int64(o.text.schemas)), max(pointers, int64(o.text.pointers))
		ids, foreign = max(ids, int64(o.text.ids)), max(foreign, int64(o.text.references))
	}
	// Looking a place up compares JSON pointers, so their mean length counts.
	length := pointers/max(n, 1) + 1
	return n*12_000 + n*n*(80+length)/32 +
		n*ids*12 +
		foreign*(n+foreign)*90 +
		int64(o.values)*400 + int64(o.elements)*1_200
}

// textSize counts everything in the text of a schema that the compiler could take for a subschema.
type textSize struct {
	schemas    int // objects and booleans
	ids        int // objects with an id
	references int // objects with a reference
	pointers   int // bytes of the JSON pointers of all of them
}

// mixed reports whether resources of the schema are of different drafts. Then a reference from one of them can lead to a place in
// another that only the draft of the referrer takes for a subschema, or whose keywords only the other draft reads. The survey
// may miss what is there, so the whole text counts for the price.
func (o *outline) mixed() bool { return len(o.drafts) > 1 }

// value counts the values of the text. pointer is how many bytes the JSON pointer of v has. It refuses numbers with too many
// digits wherever they stand, also in default and examples: reading such a number exactly is what costs.
func (o *outline) value(v any, pointer int) *Error {
	o.values++
	o.text.add(v, pointer)
	switch v := v.(type) {
	case json.Number:
		if numberSize(string(v)) > maxNumber {
			return &Error{Reason: fmt.Sprintf("the number has more than %d digits, its exponent counted", maxNumber)}
		}
	case []any:
		for i, element := range v {
			if err := o.value(element, pointer+2); err != nil {
				return err.below(strconv.Itoa(i))
			}
		}
	case map[string]any:
		for name, member := range v {
			if err := o.value(member, pointer+1+len(name)); err != nil {
				return err.below(name)
			}
		}
	}
	return nil
}

// add counts the value v, whose JSON pointer has this many bytes.
func (t *textSize) add(v any, pointer int) {
	switch v := v.(type) {
	case bool:
		t.schemas, t.pointers = t.schemas+1, t.pointers+pointer
	case map[string]any:
		t.schemas, t.pointers = t.schemas+1, t.pointers+pointer
		has := func(names ...string) int {
			for _, name := range names {
				if _, text := v[name].(string); text {
					return 1
				}
			}
			return 0
		}
		t.ids += has("id", "$id")
		t.references += has("$ref", "$recursiveRef", "$dynamicRef")
	}
}

// scope is what a subschema inherits from the subschemas around it.
type scope struct {
	draft    draft
	resource string // JSON pointer of the nearest one with an id
	id       string // of that one, as written
}

// schema surveys a subschema and everything below it. pointer is its JSON pointer, and outer is the scope around it.
// A place that two ways lead to is surveyed once.
func (o *outline) schema(v any, pointer string, outer scope) error {
	if _, again := o.met[pointer]; again {
		return nil
	}
	// The place is noted before the way goes on below it, so that a cycle of references ends here.
	o.met[pointer] = struct{}{}
	o.places = append(o.places, pointer)
	var object map[string]any
	switch v := v.(type) {
	case bool:
		return nil
	case map[string]any:
		object = v
	default:
		return refuse(pointer, "a schema is an object or a boolean, this is %s", kindOf(v))
	}
	in, err := o.enter(object, pointer, outer)
	if err != nil {
		return err
	}
	o.each(object, pointer, in.draft)
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
		at := pointer + "/" + jsonpointer.Escape(keyword)
		if o.pointers += len(at); o.pointers > maxPointers {
			return refuse("", "the JSON pointers of its keywords add up to more than %d bytes: use shorter names or less nesting", maxPointers)
		}
		if err := o.keyword(keyword, object[keyword], at, in); err != nil {
			return err
		}
		if err := o.applicator(keyword, object[keyword], at, in); err != nil {
			return err
		}
	}
	return nil
}

// enter returns the scope inside a subschema. $schema chooses another draft at the root and beside an id, as the
// specification has it, and is ignored elsewhere. An id makes the subschema a resource, from which relative references
// are resolved.
func (o *outline) enter(object map[string]any, pointer string, in scope) (scope, error) {
	own := in.draft
	if uri, ok := object["$schema"].(string); ok {
		var known bool
		if own, known = draftOf(uri); !known {
			return in, refuse(pointer+"/$schema", "%q is not a known draft: "+
				"use https://json-schema.org/draft/2020-12/schema or the one of 2019-09, draft-07, draft-06 or draft-04", shorten(uri))
		}
	}
	// Draft 4 writes "id" and later ones "$id": a $schema may turn one into the other, so both readings are tried.
	id := idOf(object, own)
	if id == "" && pointer != "" {
		if id = idOf(object, in.draft); id == "" {
			return in, nil
		}
		own = in.draft
	}
	if id != "" {
		o.ids++
	}
	in = scope{own, pointer, id}
	o.resources, o.drafts[own] = append(o.resources, in), struct{}{}
	return in, nil
}

// idOf returns the base URI that a subschema gives itself, without its fragment, "" if it gives none.
func idOf(object map[string]any, d draft) string {
	if _, ref := object["$ref"]; ref && d < draft2019 {
		return "" // the neighbours of a reference are ignored
	}
	id, _ := object[d.id()].(string)
	id, _, _ = strings.Cut(id, "#")
	return id
}

// keyword surveys what one keyword says, apart from its subschemas: references, patterns, values to compare, and counts
// that would overflow an int.
func (o *outline) keyword(keyword string, v any, at string, in scope) error {
	switch keyword {
	case "$ref", "$recursiveRef", "$dynamicRef":
		return o.reference(v, at, in)
	case "pattern":
		if text, ok := v.(string); ok {
			return o.pattern(text, at)
		}
	case "patternProperties":
		if properties, ok := v.(map[string]any); ok {
			for _, text := range slices.Sorted(maps.Keys(properties)) {
				if err := o.pattern(text, at+"/"+jsonpointer.Escape(text)); err != nil {
					return err
				}
			}
		}
	case "enum":
		if values, ok := v.([]any); ok {
			o.compared(values)
		}
	case "maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties", "maxContains", "minContains":
		if n, ok := v.(json.Number); ok {
			if r, ok := new(big.Rat).SetString(string(n)); ok && r.Cmp(big.NewRat(maxCount, 1)) > 0 {
				return refuse(at, "%s is more than 2^53", shorten(string(n)))
			}
		}
	}
	return nil
}

// compared counts the comparisons by which repeated values of an enum are found: up to 20 values pair by pair, more by
// a hash.
func (o *outline) compared(values []any) {
	n := count(values)
	if len(values) <= 20 {
		n *= 1 + len(values)/2
	}
	o.elements += n
}

// count is how many values v has, with itself.
func count(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			n += count(element)
		}
	case map[string]any:
		for _, member := range v {
			n += count(member)
		}
	}
	return n
}

// pattern adds the pattern at a place to the limits of the schema.
func (o *outline) pattern(text, at string) error {
	if _, err := o.compilePattern(text); err != nil {
		return refuse(at, "%v", err)
	}
	return nil
}

// compilePattern compiles a pattern, once for each text, and adds what it takes to the limits of the schema. A text that
// occurs twice counts twice.
func (o *outline) compilePattern(text string) (*pattern, error) {
	if o.patternText += len(text); o.patternText > MaxPattern {
		return nil, errMuchPattern
	}
	p, ok := o.patterns[text]
	if !ok {
		var err error
		if p, err = compilePattern(text, maxProgram); err != nil {
			return nil, err
		}
		o.patterns[text] = p
	}
	if o.patternProgram += p.size(); o.patternProgram > maxProgram {
		return nil, errLargePattern
	}
	if o.folded += p.folded; o.folded > maxFolded {
		return nil, errFolded
	}
	return p, nil
}

// applicator surveys the subschemas that a keyword holds. If the keyword needs a list or an object of subschemas and has something
// else, it is passed over: the meta-schema refuses it with a better sentence.
func (o *outline) applicator(keyword string, v any, at string, in scope) error {
	shape := in.draft.shapeOf(keyword)
	elements, isList := v.([]any)
	members, isObject := v.(map[string]any)
	switch {
	case shape == one || shape == oneOrList && !isList:
		return o.schema(v, at, in)
	case (shape == list || shape == oneOrList) && isList:
		for i, element := range elements {
			if err := o.schema(element, at+"/"+strconv.Itoa(i), in); err != nil {
				return err
			}
		}
	case (shape == named || shape == namedOr) && isObject:
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if _, names := members[name].([]any); names && shape == namedOr {
				continue
			}
			if err := o.schema(members[name], at+"/"+jsonpointer.Escape(name), in); err != nil {
				return err
			}
		}
	}
	return nil // of another type: the meta-schema says so
}

// kindOf names the type of a JSON value for a sentence.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}

// shorten cuts what a sentence quotes from outside.
func shorten(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
