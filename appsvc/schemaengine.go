package appsvc

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
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
		v := Violation{pointer.String(), describeViolation(e.ErrorKind)}
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

// describeViolation says what is wrong. It quotes at most a few names, however many there are.
func describeViolation(of jsonschema.ErrorKind) string {
	switch k := of.(type) {
	case *kind.FalseSchema:
		return "nothing is allowed here"
	case *kind.Type:
		return fmt.Sprintf("want %s, have %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Const:
		return "want " + showValue(k.Want)
	case *kind.Enum:
		return "want one of " + firstOf(k.Want, showValue)
	case *kind.AdditionalProperties:
		return "not allowed: " + quoteNames(k.Properties)
	case *kind.Required:
		return "missing: " + quoteNames(k.Missing)
	case *kind.Dependency:
		return fmt.Sprintf("missing beside %s: %s", quoteName(k.Prop), quoteNames(k.Missing))
	case *kind.DependentRequired:
		return fmt.Sprintf("missing beside %s: %s", quoteName(k.Prop), quoteNames(k.Missing))
	case *kind.PropertyNames:
		return fmt.Sprintf("the name %s is not allowed", quoteName(k.Property))
	case *kind.MinProperties:
		return fmt.Sprintf("%d members, want at least %d", k.Got, k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("%d members, want at most %d", k.Got, k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("%d items, want at least %d", k.Got, k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("%d items, want at most %d", k.Got, k.Want)
	case *kind.AdditionalItems:
		return fmt.Sprintf("the last %d items are not allowed", k.Count)
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "no item is what contains asks for"
	case *kind.MinContains:
		return fmt.Sprintf("%d items are what contains asks for, want at least %d", len(k.Got), k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("%d items are what contains asks for, want at most %d", len(k.Got), k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("%d characters, want at least %d", k.Got, k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("%d characters, want at most %d", k.Got, k.Want)
	case *kind.Pattern:
		return fmt.Sprintf("does not match the pattern %s", quoteName(k.Want))
	case *kind.Minimum:
		return "want at least " + showNumber(k.Want)
	case *kind.Maximum:
		return "want at most " + showNumber(k.Want)
	case *kind.ExclusiveMinimum:
		return "want more than " + showNumber(k.Want)
	case *kind.ExclusiveMaximum:
		return "want less than " + showNumber(k.Want)
	case *kind.MultipleOf:
		return "not a multiple of " + showNumber(k.Want)
	case *kind.Not:
		return "it is what not excludes"
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return fmt.Sprintf("alternatives %d and %d of oneOf both apply", k.Subschemas[0], k.Subschemas[1])
		}
		return "no alternative of oneOf applies"
	}
	return shorten(of.LocalizedString(message.NewPrinter(language.English)))
}

func quoteNames(names []string) string {
	return firstOf(slices.Sorted(slices.Values(names)), quoteName)
}

// firstOf shows the first values and says how many more there are.
func firstOf[T any](values []T, show func(T) string) string {
	const most = 5
	var out []string
	for _, v := range values[:min(len(values), most)] {
		out = append(out, show(v))
	}
	if more := len(values) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

func quoteName(name string) string { return strconv.Quote(shorten(name)) }

func showValue(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "another value"
	}
	return shorten(string(text))
}

func showNumber(n *big.Rat) string {
	if n.IsInt() {
		return shorten(n.Num().String())
	}
	f, _ := n.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// shorten cuts what a sentence quotes from outside.
func shorten(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
