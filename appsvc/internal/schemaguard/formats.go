package schemaguard

import (
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Formats are the formats that are asserted. JSON Schema leaves open whether the keyword format is an assertion or an
// annotation; here it is an annotation unless Formats has it, or unless it decides between alternatives of a oneOf (see
// oneOf). The zero value has none.
type Formats struct {
	Standard bool                          // the formats of JSON Schema, as far as they are checked
	Own      map[string]func(string) error // by name; one with the name of a standard format replaces it
}

// There is no warning of the formats in these two lists. standard are those of JSON Schema that can be asserted.
// unasserted formats never make a value invalid. Two are of JSON Schema, color is of its first drafts, and the console
// shows fields of their own for color and for what an asset library has.
var (
	standard = strings.Fields(`date-time date time duration email hostname ipv4 ipv6 uri uri-reference iri iri-reference
		uri-template uuid json-pointer relative-json-pointer regex`)
	unasserted = strings.Fields(`idn-email idn-hostname color vitrine-picture vitrine-video vitrine-sound vitrine-file
		vitrine-folder`)
)

// install registers the formats with a compiler, which then keeps them in its schemas.
func (f Formats) install(c *jsonschema.Compiler) {
	if f.Standard || len(f.Own) > 0 {
		c.AssertFormat()
	}
	for name := range f.Own {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
}

// compiled returns the standard formats as the library checks them, by name.
var compiled = sync.OnceValue(func() map[string]*jsonschema.Format {
	all := map[string]*jsonschema.Format{}
	for _, name := range standard {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if s := (*jsonschema.Schema)(nil); c.AddResource(baseURI, map[string]any{"format": name}) == nil {
			if s, _ = c.Compile(baseURI); s != nil {
				all[name] = s.Format
			}
		}
	}
	all["regex"] = &jsonschema.Format{Name: "regex", Validate: ofStrings(checkRegex)}
	return all
})

// check returns the check of a format, nil if there is none.
func (f Formats) check(name string) *jsonschema.Format {
	own := f.Own[name]
	if own == nil {
		return compiled()[name]
	}
	return &jsonschema.Format{Name: name, Validate: ofStrings(func(s string) error {
		if err := own(s); err != nil {
			return &ownFormatError{err}
		}
		return nil
	})}
}

// asserts reports whether a format that has a check is an assertion everywhere, and not only where it decides between
// the alternatives of a oneOf.
func (f Formats) asserts(name string) bool { return f.Standard || f.Own[name] != nil }

// ownFormatError is the error of an embedder's function. Its text is reported.
type ownFormatError struct{ error }

// ofStrings returns the check of a format that asks f about strings, and accepts every value of another type.
func ofStrings(f func(string) error) func(any) error {
	return func(v any) error {
		if s, ok := v.(string); ok {
			return f(s)
		}
		return nil
	}
}

// checkRegex returns an error if text is no ECMA 262 pattern, or longer than those of a schema may be.
func checkRegex(text string) error {
	if len(text) > MaxPattern {
		return fmt.Errorf("it is longer than %d bytes", MaxPattern)
	}
	_, err := translate(text)
	return err
}

// formatSteps returns the steps of checking whether text is of a format. It assumes that own functions are as fast as
// the standard ones.
func formatSteps(format, text string) int {
	if format != "regex" || len(text) > MaxPattern {
		return 3 + len(text)/8
	}
	steps := 16 * len(text)
	if t, err := translate(text); err == nil {
		steps += 16_000 * t.wide
	}
	return steps
}
