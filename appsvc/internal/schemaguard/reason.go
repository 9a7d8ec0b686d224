package schemaguard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/top"
)

// maxViolations is how many violations of one config are returned.
const maxViolations = 100

// violationsOf returns the first maxViolations violations in the order of their pointers, equal ones once. A verdict of
// the library is a tree of errors. Its leaves name the wrong values, and become violations. The other nodes only say
// that a node below failed. A verdict may have very many leaves, so only the first ones are kept while the tree is
// walked.
func violationsOf(verdict *jsonschema.ValidationError) []vitrine.Violation {
	first := top.New(maxViolations, compareErrors)
	var visit func(*jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			visit(cause)
		}
		if len(e.Causes) == 0 {
			first.Add(e)
		}
	}
	visit(verdict)
	var out []vitrine.Violation
	for _, e := range first.Items() {
		if format, ok := e.ErrorKind.(*kind.Format); ok {
			if other, ok := format.Err.(mismatch); ok { // a format of the meter has found it
				e.ErrorKind = other.kind
			}
		}
		v := vitrine.Violation{Pointer: pointerTo(e.InstanceLocation), Keyword: keyword(e),
			Message: reason(e.ErrorKind)}
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// compareErrors orders errors by the place in the config, then by the schema, its keyword and the sentence. The library
// finds them in the order of a Go map, which differs from call to call.
func compareErrors(a, b *jsonschema.ValidationError) int {
	order := cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), strings.Compare(a.SchemaURL, b.SchemaURL),
		slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()))
	if order == 0 { // names of members that break propertyNames have the place of their object
		return strings.Compare(reason(a.ErrorKind), reason(b.ErrorKind))
	}
	return order
}

// reason returns a sentence about a fault. It quotes at most a few names and values, and at most 100 bytes of each.
func reason(of jsonschema.ErrorKind) string {
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
		return fmt.Sprintf("%s, want at least %d", count(k.Got, "member"), k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("%s, want at most %d", count(k.Got, "member"), k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("%s, want at least %d", count(k.Got, "item"), k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("%s, want at most %d", count(k.Got, "item"), k.Want)
	case *kind.AdditionalItems:
		if k.Count == 1 {
			return "the last item is not allowed"
		}
		return fmt.Sprintf("the last %d items are not allowed", k.Count)
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "no item is what contains asks for"
	case *kind.MinContains:
		return fmt.Sprintf("%s found that contains asks for, want at least %d", count(len(k.Got), "item"), k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("%s found that contains asks for, want at most %d", count(len(k.Got), "item"), k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("%s, want at least %d", count(k.Got, "character"), k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("%s, want at most %d", count(k.Got, "character"), k.Want)
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
	case *kind.Format:
		if own, ok := k.Err.(*ownFormatError); ok {
			return fmt.Sprintf("not of the format %s: %s", quoteName(k.Want), shorten(own.Error()))
		}
		return "not of the format " + quoteName(k.Want)
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return fmt.Sprintf("alternatives %d and %d of oneOf both apply", k.Subschemas[0], k.Subschemas[1])
		}
		return "no alternative of oneOf applies"
	}
	return "it breaks " + strings.Join(append([]string{"the schema"}, of.KeywordPath()...), "/")
}

// count shows a number of things, such as "1 item" or "2 items".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// keyword returns the keyword that a leaf of a verdict comes from. A subschema that is false has no keyword of its own:
// then it is the keyword that applies the subschema, "" at the root.
func keyword(of *jsonschema.ValidationError) string {
	switch of.ErrorKind.(type) {
	case *kind.Not:
		return "not"
	case *kind.Dependency:
		return "dependencies"
	case *kind.FalseSchema:
		tokens := strings.Split(pointerOf(of.SchemaURL), "/")
		last := tokens[len(tokens)-1]
		if len(tokens) > 2 {
			holder := tokens[len(tokens)-2]
			switch shape := draft2020.shapeOf(holder); {
			case shape == named, (shape == list || shape == oneOrList) && jsonpointer.Index(last) >= 0:
				return holder
			}
		}
		if draft2020.shapeOf(last) != 0 {
			return last
		}
	}
	if path := of.ErrorKind.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return ""
}

// quoteNames shows names in quotes, in order.
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

// quoteName shows a name in quotes.
func quoteName(name string) string { return strconv.Quote(shorten(name)) }

// showValue shows a value as JSON.
func showValue(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "another value"
	}
	return shorten(string(text))
}

// showNumber shows a fraction as a decimal number.
func showNumber(n *big.Rat) string {
	if n.IsInt() {
		return shorten(n.Num().String())
	}
	f, _ := n.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
