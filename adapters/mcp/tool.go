package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// mostText is how many characters a result has at most. Lists end earlier, so that what surrounds them fits too.
const (
	mostText = 25_000
	mostList = 20_000
)

// The kinds of tools.
const (
	reads = iota
	adds  // something new, and changes nothing that is there
)

// tool adds a tool. Its schemas are those of In and Out; an error has members of its own. The descriptions are
// constants: nothing that is stored comes into them.
func tool[In, Out any](s *sdk.Server, kind int, name, title, description string, run func(*call, In) (Out, error)) {
	never, closed, schema := false, false, schemaOf[In]()
	s.AddTool(&sdk.Tool{
		Name: name, Title: title, Description: description,
		Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: kind == reads, DestructiveHint: &never,
			OpenWorldHint: &closed, IdempotentHint: kind == reads},
		InputSchema: schema, OutputSchema: orError(schemaOf[Out]()),
	}, func(ctx context.Context, r *sdk.CallToolRequest) (result *sdk.CallToolResult, err error) {
		c := ctx.Value(callKey{}).(*call)
		defer func() {
			if c.panicked = recover(); c.panicked != nil {
				err = errors.New("internal error")
			}
		}()
		var in In
		var out Out
		if r.Params.Arguments == nil {
			r.Params.Arguments = json.RawMessage("{}")
		}
		if err := strictjson.Decode(r.Params.Arguments, &in); err != nil {
			return c.failed(fault.Malformed(err)), nil
		}
		if err := missing(schema, r.Params.Arguments); err != nil {
			return c.failed(err), nil
		}
		if out, err = run(c, in); err != nil {
			return c.failed(err), nil
		}
		return c.result(out), nil
	})
}

// result returns the result of a call.
func (c *call) result(out any) *sdk.CallToolResult {
	text, err := jsonv2.Marshal(out, jsontext.PreserveRawStrings(true))
	if err == nil && len(text) > mostText {
		err = fault.TooLarge("the result has more than %d characters: ask for less", mostText)
	}
	if err != nil {
		return c.failed(err)
	}
	return resultOf(text)
}

func resultOf(text []byte) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}},
		StructuredContent: json.RawMessage(text)}
}

// failed returns the result of a call with an error: what a response over HTTP has and, of a stale version, the
// difference.
func (c *call) failed(err error) *sdk.CallToolResult {
	if short, ok := errors.AsType[*appsvc.MemoryError](err); ok {
		c.short = short
	}
	stale, isStale := errors.AsType[*staleVersion](err)
	if e, ok := errors.AsType[*vitrine.Error](err); ok {
		few := *e
		few.Violations = e.Violations[:min(mostFaults, len(e.Violations))]
		few.Conflicts = e.Conflicts[:min(mostFaults, len(e.Conflicts))]
		if few.Parameter != "" {
			few.Parameter, few.Pointer = "", "/"+cmp.Or(ofParameter[e.Parameter], e.Parameter)
		}
		err = &few
	}
	text := c.ErrorJSON(err)
	if isStale {
		more, _ := jsonv2.Marshal(stale.difference, jsontext.PreserveRawStrings(true))
		text = fmt.Appendf(text[:len(text)-1], `,"difference":%s}`, more)
	}
	if len(text) > mostText {
		text = c.ErrorJSON(fault.TooLarge("the error has more than %d characters", mostText))
	}
	result := resultOf(text)
	result.IsError = true
	return result
}

// ofParameter has the members of tools for parameters of Sessions with another name.
var ofParameter = map[string]string{"after": "cursor", "until": "cursor", "folderTree": "folder", "folder": "folders",
	"query": "q"}

// mostFaults is how many violations or conflicts an error has at most.
const mostFaults = 20

// schemaOf returns the schema of a type. The tags of its fields describe them.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[vitrine.Version](): {Type: "string"},
		// The client for TypeScript takes no schema that is just true.
		reflect.TypeFor[jsontext.Value](): {Types: []string{"object", "array", "string", "number", "boolean",
			"null"}}}})
	if err != nil {
		panic(err) // for a type that JSON cannot have
	}
	return s
}

// missing returns the error of arguments that lack a required member.
func missing(schema *jsonschema.Schema, arguments []byte) error {
	var given map[string]jsontext.Value
	if err := jsonv2.Unmarshal(arguments, &given); err != nil {
		return err
	}
	for _, name := range schema.Required {
		if _, there := given[name]; !there {
			what := cmp.Or(schema.Properties[name].Description, "see the schema of the tool")
			return fault.Invalid("/"+name, "this is missing: %s", what)
		}
	}
	return nil
}

// orError returns the schema of a result that may be an error.
func orError(s *jsonschema.Schema) *jsonschema.Schema {
	s.Required, s.AdditionalProperties = nil, nil
	for _, name := range []string{"error", "code", "pointer"} {
		s.Properties[name] = &jsonschema.Schema{Type: "string"}
	}
	return s
}

// room is how many characters of a list are left.
type room int

// takes reports whether there is room for an item, and takes it.
func (r *room) takes(item any) bool {
	text, _ := jsonv2.Marshal(item, jsontext.PreserveRawStrings(true))
	*r -= room(len(text) + 1)
	return *r >= 0
}

// cut returns the beginning of a text, of so many bytes at most.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// cursorOf returns a cursor with some numbers, and numbersIn returns those of a cursor, or zeros for "".
func cursorOf(numbers ...int) string { return strings.Trim(fmt.Sprint(numbers), "[]") }

func numbersIn(cursor string, count int) ([]int, error) {
	numbers := make([]int, count)
	if cursor == "" {
		return numbers, nil
	}
	texts := strings.Fields(cursor)
	for i := range numbers {
		var err error
		if len(texts) == count {
			numbers[i], err = strconv.Atoi(texts[i])
		}
		if len(texts) != count || err != nil || numbers[i] < 0 {
			return nil, fault.Invalid("/cursor", "want the cursor of the result before this one")
		}
	}
	return numbers, nil
}

// pageOf returns what is shown of the items of a page, and the cursor of the next one. It asks for fewer items while
// they do not fit into a result.
func pageOf[T, S any](
	limit int, list func(limit int) (vitrine.Page[T], error), show func(T) S,
) (out []S, cursor string, err error) {
	for {
		page, err := list(limit)
		left, fit := room(mostList), true
		out = []S{}
		for _, item := range page.Items {
			one := show(item)
			fit, out = fit && left.takes(one), append(out, one)
		}
		if fit || err != nil || limit == 1 {
			return out, page.Next, err
		}
		limit /= 2
	}
}
