package schemaguard

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// baseURI is the URI that relative references are resolved against. There is nothing at this address.
const baseURI = "https://configschema.invalid/"

// metaPatterns are the patterns of the standard meta-schemas. They do not count towards the limits of a schema that
// refers to a meta-schema.
var metaPatterns = []string{"^[^#]*#?$", "^[A-Za-z][-A-Za-z0-9.:_]*$", "^[A-Za-z_][-A-Za-z0-9._]*$"}

// compile compiles doc with jsonschema/v6, and with it every subschema of the outline, also those that nothing uses:
// they must be right too. The second result has the compiled subschemas.
func compile(doc any, found *outline, formats Formats) (*jsonschema.Schema, []*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	formats.install(c)
	c.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) {
		if p, ok := found.patterns[text]; ok {
			return p, nil
		}
		if slices.Contains(metaPatterns, text) {
			return compilePattern(text, maxProgram)
		}
		// The survey has met all patterns of the schema. One that it has missed counts too.
		return found.compilePattern(text)
	})
	if err := c.AddResource(baseURI, doc); err != nil {
		return nil, nil, found.describe(err)
	}
	// The compiler itself only follows keywords and references that something uses. It compiles each place once.
	var all []*jsonschema.Schema
	for _, place := range found.places {
		s, err := c.Compile(baseURI + "#" + fragment(place))
		if err != nil {
			return nil, nil, found.describe(err)
		}
		all = append(all, s)
	}
	return all[0], all, nil
}

// fragment writes a JSON pointer as a URI fragment.
func fragment(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		tokens[i] = url.PathEscape(token)
	}
	return strings.Join(tokens, "/")
}

// pointerOf is the reverse of fragment, for a location that the compiler gives.
func pointerOf(location string) string {
	_, frag, _ := strings.Cut(location, "#")
	if pointer, err := url.PathUnescape(frag); err == nil {
		return pointer
	}
	return frag
}

// describe returns an error of the compiler as an *Error whose pointer leads to the mistake in the schema.
func (o *outline) describe(err error) error {
	var invalid *jsonschema.SchemaValidationError
	var load *jsonschema.LoadURLError
	var anchor *jsonschema.AnchorNotFoundError
	var pointer *jsonschema.JSONPointerNotFoundError
	var badPointer *jsonschema.InvalidJsonPointerError
	var pattern *jsonschema.InvalidRegexError
	var twice *jsonschema.DuplicateIDError
	var anchorTwice *jsonschema.DuplicateAnchorError
	switch {
	case errors.As(err, &invalid):
		return o.invalid(invalid)
	case errors.As(err, &load):
		return refuse(o.referrer(load.URL), "%q is outside the schema, and nothing is fetched: "+
			"a reference names a place in the schema itself or a standard meta-schema", shorten(load.URL))
	case errors.As(err, &anchor):
		return refuse(o.referrer(anchor.Reference), "there is no anchor %q", "#"+shorten(pointerOf(anchor.Reference)))
	case errors.As(err, &pointer):
		return refuse(o.referrer(pointer.URL), "there is nothing at %q", "#"+shorten(pointerOf(pointer.URL)))
	case errors.As(err, &badPointer):
		return refuse(o.referrer(badPointer.URL), "%q is not a JSON pointer", "#"+shorten(pointerOf(badPointer.URL)))
	case errors.As(err, &pattern):
		return refuse(pointerOf(pattern.URL), "%v", pattern.Err)
	case errors.As(err, &twice):
		return refuse(twice.Ptr1, "the id %q is also that of %q", shorten(twice.ID), twice.Ptr2)
	case errors.As(err, &anchorTwice):
		return refuse(anchorTwice.Ptr2, "the anchor %q is also that of %q", shorten(anchorTwice.Anchor), anchorTwice.Ptr1)
	}
	return refuse("", "it cannot be compiled: %s", shorten(err.Error()))
}

// invalid returns the error for a schema that breaks its meta-schema. Of the many faults of such a verdict it reports
// the one that is deepest in the schema, which is nearest to the mistake.
func (o *outline) invalid(err *jsonschema.SchemaValidationError) error {
	var verdict *jsonschema.ValidationError
	if !errors.As(err.Err, &verdict) {
		return refuse(pointerOf(err.URL), "it is not valid against its meta-schema")
	}
	leaf := verdict
	for len(leaf.Causes) > 0 {
		leaf = slices.MaxFunc(leaf.Causes, func(a, b *jsonschema.ValidationError) int {
			return len(a.InstanceLocation) - len(b.InstanceLocation)
		})
	}
	at := pointerOf(err.URL)
	for _, token := range leaf.InstanceLocation {
		at += "/" + jsonpointer.Escape(token)
	}
	return refuse(at, "not valid against the meta-schema: %s", Reason(leaf.ErrorKind))
}
