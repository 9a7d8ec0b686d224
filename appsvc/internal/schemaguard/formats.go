package schemaguard

import (
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Formats are the formats that are asserted. JSON Schema leaves open whether the keyword format is an assertion or an annotation; here it
// is an annotation unless Formats has it. The zero value has none.
type Formats struct {
	Standard bool                          // the formats of JSON Schema, as far as they are checked
	Own      map[string]func(string) error // by name; one with the name of a standard format replaces it
}

// standard has the formats that JSON Schema defines. Those that are false are never asserted. There is no warning of any format in this
// list.
var standard = map[string]bool{
	"date-time": true, "date": true, "time": true, "duration": true,
	"email": true, "hostname": true, "ipv4": true, "ipv6": true,
	"uri": true, "uri-reference": true, "iri": true, "iri-reference": true, "uri-template": true,
	"uuid": true, "json-pointer": true, "relative-json-pointer": true, "regex": true,
	"idn-email": false, "idn-hostname": false,
}

// install registers the formats with a compiler, which then keeps them in its schemas.
func (f Formats) install(c *jsonschema.Compiler) {
	if f.Standard || len(f.Own) > 0 {
		c.AssertFormat()
	}
	for name := range f.Own {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
}

// asserted returns the format that a compiled subschema checks, nil if it is an annotation.
func (f Formats) asserted(compiled *jsonschema.Format) *jsonschema.Format {
	if compiled == nil {
		return nil
	}
	name := compiled.Name
	if own := f.Own[name]; own != nil {
		return &jsonschema.Format{Name: name, Validate: ofStrings(func(s string) error {
			if err := own(s); err != nil {
				return &ownFormatError{err}
			}
			return nil
		})}
	}
	switch {
	case !f.Standard || !standard[name]:
		return nil
	case name == "regex":
		return &jsonschema.Format{Name: name, Validate: ofStrings(checkRegex)}
	}
	return compiled
}

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

// formatSteps returns the steps of checking whether text is of a format. It assumes that own functions are as fast as the standard ones.
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
