package schemaguard

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// baseURI is the URI that relative references are resolved against. There is nothing at this address.
const baseURI = "https://configschema.invalid/"

// errFetch is the error for a reference that would need the network or a file.
var errFetch = errors.New("nothing is fetched")

// noLoader loads no schema. The standard meta-schemas are built into the compiler.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errFetch }

// compile compiles all subschemas of the outline, including unused ones, which must be valid too. It returns them by
// their JSON pointers.
func (o *outline) compile(formats Formats) (map[string]*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	formats.install(c)
	c.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) {
		if p, ok := o.patterns.known[text]; ok {
			return p, nil
		}
		// The pattern is of a standard meta-schema, and does not count towards the limits of the schema that refers to
		// that one.
		return (&patterns{meter: o.patterns.meter, known: map[string]*pattern{}}).compile(text)
	})
	if err := c.AddResource(baseURI, o.doc); err != nil {
		return nil, o.describe(err)
	}
	// Inner places come first, which is faster: the compiler searches a list for places to compile, and a map for
	// compiled ones.
	places := map[string]*jsonschema.Schema{}
	for _, place := range slices.Backward(o.places) {
		s, err := c.Compile(baseURI + "#" + (&url.URL{Fragment: place}).EscapedFragment())
		if err != nil {
			return nil, o.describe(err)
		}
		places[place] = s
	}
	return places, nil
}

// pointerOf returns the JSON pointer in a location that the compiler gives, or in a reference.
func pointerOf(location string) string {
	_, frag, _ := strings.Cut(location, "#")
	if pointer, err := url.PathUnescape(frag); err == nil {
		return pointer
	}
	return frag
}

// describe returns an error of the compiler as an *Error whose pointer leads to the mistake in the schema.
func (o *outline) describe(err error) error {
	switch err := err.(type) {
	case *jsonschema.SchemaValidationError:
		return invalidSchema(err)
	case *jsonschema.LoadURLError:
		ref, at := o.referrer(err.URL)
		return reject(at, "%q is outside the schema, and nothing is fetched: "+
			"a reference names a place in the schema itself or a standard meta-schema", shorten(ref))
	case *jsonschema.AnchorNotFoundError:
		ref, at := o.referrer(err.Reference)
		return reject(at, "%q leads nowhere: there is no such anchor", shorten(ref))
	case *jsonschema.JSONPointerNotFoundError:
		ref, at := o.referrer(err.URL)
		return reject(at, "there is nothing at %q", shorten(ref))
	case *jsonschema.DuplicateIDError:
		return reject(err.Ptr1, "the id %q is also that of %q", shorten(err.ID), err.Ptr2)
	case *jsonschema.DuplicateAnchorError:
		return reject(err.Ptr2, "the anchor %q is also that of %q", shorten(err.Anchor), err.Ptr1)
	}
	return reject("", "it cannot be compiled: %s", shorten(err.Error()))
}

// invalidSchema returns the error for a schema that breaks its meta-schema. It reports the deepest of the faults, which
// is nearest to the mistake.
func invalidSchema(err *jsonschema.SchemaValidationError) error {
	leaf, ok := errors.AsType[*jsonschema.ValidationError](err.Err)
	if !ok {
		return reject(pointerOf(err.URL), "it is not valid against its meta-schema")
	}
	for len(leaf.Causes) > 0 {
		leaf = slices.MaxFunc(leaf.Causes, func(a, b *jsonschema.ValidationError) int {
			return cmp.Or(len(a.InstanceLocation)-len(b.InstanceLocation), compareErrors(b, a))
		})
	}
	return reject(pointerOf(err.URL)+pointerTo(leaf.InstanceLocation), "not valid against the meta-schema: %s",
		reason(leaf.ErrorKind))
}

// pointerTo writes tokens as a JSON pointer.
func pointerTo(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteString("/" + jsonpointer.Escape(token))
	}
	return b.String()
}

// referrer returns the reference, as it is written, that most likely led to a location that the compiler could not
// resolve, and the pointer to it. The compiler names only the location. If several references fit, referrer takes the
// longest; if none does, it returns the location and "".
func (o *outline) referrer(location string) (ref, at string) {
	for text, pointer := range o.refs {
		if fits(text, location) && (at == "" || cmp.Or(len(text)-len(ref), strings.Compare(at, pointer)) > 0) {
			ref, at = text, pointer
		}
	}
	if at == "" {
		return strings.TrimPrefix(location, baseURI), ""
	}
	return ref, at
}

// fits reports whether a reference may have been resolved to location.
func fits(ref, location string) bool {
	address, _, _ := strings.Cut(ref, "#")
	target, _, _ := strings.Cut(location, "#")
	frag, targetFrag := pointerOf(ref), pointerOf(location)
	return strings.HasSuffix(target, strings.TrimLeft(address, "./")) &&
		(targetFrag == "" || strings.HasSuffix(targetFrag, frag))
}
