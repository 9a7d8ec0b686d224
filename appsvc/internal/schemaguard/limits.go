package schemaguard

import (
	"errors"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Limits of a schema.
const (
	MaxBytes   = 256 << 10 // of the schema's text
	MaxDepth   = 64        // of nested arrays and objects
	MaxPattern = 4 << 10   // bytes of all patterns together

	maxProgram    = 20_000  // instructions of all compiled patterns together
	maxNumber     = 1_000   // digits and exponent of a number in a schema
	maxCount      = 1 << 53 // of maxLength, minItems and their like
	maxPointers   = 8 << 20 // bytes of the JSON pointers of all keywords together
	maxLookups    = 10_000  // of a reference's fragment in resources of other drafts
	maxChain      = 200     // subschemas in a row that apply to one place of a config
	maxExpansions = 1 << 14 // subschemas that apply to one place of a config, counted with repetition
)

// configBudget is what decoding, compiling and validating one config may cost together, in nanoseconds. maxCompile is
// the part of it that compiling may take, and requestBudget is what all configs of a request may cost together.
const (
	configBudget  = 150_000_000
	maxCompile    = 110_000_000
	requestBudget = 4 * configBudget
)

// read decodes a schema that is within the limits of a text.
func read(schema []byte) (any, error) {
	if len(schema) > MaxBytes {
		return nil, refuse("", "it is %d bytes long, at most %d are allowed", len(schema), MaxBytes)
	}
	if err := strictjson.Check(schema, MaxDepth); err != nil {
		var at *strictjson.Error
		if errors.As(err, &at) {
			return nil, &Error{at.Pointer, at.Reason}
		}
		return nil, refuse("", "%v", err)
	}
	doc, err := decode(schema)
	if err != nil {
		return nil, refuse("", "%v", err)
	}
	return doc, nil
}
