package appsvc

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

// DefaultSchemaEngine returns the engine that a Service uses when it is given none. It knows
// drafts 04, 06, 07, 2019-09 and 2020-12, reads numbers exactly, takes patterns as ECMA 262 without
// looking around and references back, and treats format and content keywords as annotations in
// every draft. It keeps nothing between schemas and fetches nothing.
func DefaultSchemaEngine() SchemaEngine { return defaultEngine{} }

type defaultEngine struct{}

func (defaultEngine) Compile(schema []byte) (Schema, error) {
	guarded, err := schemaguard.Compile(schema)
	if err != nil {
		return nil, err
	}
	return defaultSchema{guarded.Compiled()}, nil
}

type defaultSchema struct{ schema *jsonschema.Schema }

func (s defaultSchema) Validate(config []byte) ([]Violation, error) {
	v, err := decodeJSON(config)
	if err != nil {
		return nil, fmt.Errorf("the config is not JSON: %w", err)
	}
	return s.validateDecoded(v)
}

// validateDecoded is Validate for a config that is decoded already, its numbers as json.Number.
func (s defaultSchema) validateDecoded(config any) ([]Violation, error) {
	var verdict *jsonschema.ValidationError
	switch err := s.schema.Validate(config); {
	case err == nil:
		return nil, nil
	case errors.As(err, &verdict):
		return violationsOf(verdict), nil
	default:
		return nil, err
	}
}

// maxViolations is how many violations of one config are told.
const maxViolations = 5

// violationsOf returns the first violations in the order of their pointers. Those without causes
// name the places; what is above them only says that something below failed.
func violationsOf(verdict *jsonschema.ValidationError) []Violation {
	var smallest []*jsonschema.ValidationError
	var visit func(*jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			visit(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		at, _ := slices.BinarySearchFunc(smallest, e, compareErrors)
		if at < maxViolations {
			smallest = slices.Insert(smallest, at, e)
			smallest = smallest[:min(len(smallest), maxViolations)]
		}
	}
	visit(verdict)
	var out []Violation
	for _, e := range smallest {
		var pointer strings.Builder
		for _, token := range e.InstanceLocation {
			pointer.WriteString("/" + escapePointer(token))
		}
		v := Violation{pointer.String(), schemaguard.Reason(e.ErrorKind)}
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func compareErrors(a, b *jsonschema.ValidationError) int {
	return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), strings.Compare(a.SchemaURL, b.SchemaURL),
		slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()))
}

func escapePointer(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}
