package mcp

import (
	"errors"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
)

type findComponentsInput struct {
	Query  string `json:"q,omitzero" jsonschema:"a part of the name, the title or the description"`
	Cursor string `json:"cursor,omitzero" jsonschema:"that of the result before"`
}

type foundComponents struct {
	Components []foundComponent `json:"components"`
	Cursor     string           `json:"cursor,omitzero"`
}

type foundComponent struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description,omitzero"`
}

// mostDescription is how many bytes of a title or a description a list shows.
const mostDescription = 500

func found(x appsvc.Component) foundComponent {
	out := foundComponent{Name: x.Name, Version: x.Version}
	if title := x.Title(); title != nil {
		out.Title = cut(*title, mostDescription)
	}
	if description := x.Description(); description != nil {
		out.Description = cut(*description, mostDescription)
	}
	return out
}

func findComponents(c *call, in findComponentsInput) (out foundComponents, err error) {
	out.Components = []foundComponent{}
	left, query := room(mostList), strings.ToLower(in.Query)
	for x, err := range c.apps.AllComponents(c.Context(), appsvc.ListComponentsRequest{After: in.Cursor}) {
		if err != nil {
			return out, err
		}
		one := found(x)
		if !strings.Contains(strings.ToLower(one.Name+"\n"+one.Title+"\n"+one.Description), query) {
			continue
		}
		if !left.takes(one) {
			out.Cursor = out.Components[len(out.Components)-1].Name
			break
		}
		out.Components = append(out.Components, one)
	}
	return out, nil
}

type getComponentInput struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero" jsonschema:"the latest one without it"`
	Cursor  string `json:"cursor,omitzero" jsonschema:"that of the result before"`
}

type shownComponent struct {
	foundComponent
	Schema  jsontext.Value `json:"schema,omitzero" jsonschema:"the JSON Schema of configs"`
	Part    string         `json:"part,omitzero" jsonschema:"of a long schema: a part of its text"`
	Example jsontext.Value `json:"example,omitzero" jsonschema:"a config that fits, where one is known"`
	Cursor  string         `json:"cursor,omitzero"`

	Languages []string `json:"languages" jsonschema:"in which texts of a config may be, as edit_app says"`
}

func getComponent(c *call, in getComponentInput) (out shownComponent, err error) {
	at, err := numbersIn(in.Cursor, 1)
	if err != nil {
		return out, err
	}
	var x appsvc.Component
	if in.Version == "" {
		x, err = c.apps.Component(c.Context(), in.Name)
	} else {
		x, err = c.apps.ComponentVersion(c.Context(), in.Name, in.Version)
	}
	if err != nil {
		return out, err
	}
	schema, err := x.ConfigSchema()
	if err != nil {
		return out, err
	}
	out.foundComponent = found(x)
	languages, err := c.apps.Languages(c.Context())
	if err != nil {
		return out, err
	}
	out.Languages = append([]string{}, languages...)
	if len(schema) <= mostPart {
		out.Schema = schema
	} else {
		out.Part = cut(string(schema[min(at[0], len(schema)):]), mostPart)
		if known := at[0] + len(out.Part); known < len(schema) {
			out.Cursor = cursorOf(known)
		}
	}
	if at[0] == 0 {
		out.Example, err = c.example(x, schema)
	}
	return out, err
}

// mostExample is how many bytes an example has at most.
const mostExample = 4_000

// example returns a config that fits a component. It takes that of an app which uses the component, if it is short, and
// else makes up what the schema requires. It returns nil if what it has made up does not fit.
func (c *call) example(x appsvc.Component, schema []byte) (jsontext.Value, error) {
	page, err := c.apps.ListApps(c.Context(),
		appsvc.ListAppsRequest{UsingComponent: x.Name, UsingVersion: x.Version, Limit: 1})
	if err != nil {
		return nil, err
	}
	ref := appsvc.ComponentRef{Name: x.Name, Version: x.Version}
	for _, app := range page.Items {
		content, err := app.Body.Content()
		if err != nil {
			return nil, err
		}
		for _, e := range content.Elements {
			if e.Component == ref && len(e.Config) <= mostExample {
				return jsontext.Value(e.Config), nil
			}
		}
	}
	var described map[string]any
	if jsonv2.Unmarshal(schema, &described) != nil {
		return nil, nil
	}
	made, err := jsonv2.Marshal(beginning(described))
	if err != nil || len(made) > mostExample ||
		c.service.CheckConfig(c.Context(), appsvc.NewElement{Component: ref, Config: made}) != nil {
		return nil, nil
	}
	return made, nil
}

// beginning returns the value with which somebody might begin: the one that a schema names or, of an object, its
// required members.
func beginning(schema map[string]any) any {
	for _, name := range []string{"const", "default"} {
		if v, named := schema[name]; named {
			return v
		}
	}
	for _, name := range []string{"examples", "enum"} {
		if list, _ := schema[name].([]any); len(list) > 0 {
			return list[0]
		}
	}
	switch kind := schema["type"]; kind {
	case "string":
		if schema["format"] == "date" {
			return "2030-01-31"
		}
		return "text"
	case "number", "integer":
		if least, named := schema["minimum"]; named {
			return least
		}
		return 0
	case "boolean":
		return false
	case "array":
		items, _ := schema["items"].(map[string]any)
		least, _ := schema["minItems"].(float64)
		item, _ := jsonv2.Marshal(beginning(items)) // as text, so that lists in lists do not become too long
		list := []any{}
		for range int(min(least, mostExample/float64(len(item)+1))) {
			list = append(list, jsontext.Value(item))
		}
		return list
	}
	out := map[string]any{}
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for name, of := range properties {
		if of, ok := of.(map[string]any); ok && slices.Contains(required, any(name)) {
			out[name] = beginning(of)
		}
	}
	return out
}

type checked struct {
	Fits       bool                `json:"fits"`
	Reason     string              `json:"reason,omitzero"`
	Violations []vitrine.Violation `json:"violations,omitzero" jsonschema:"their pointers lead into the config"`
}

func checkConfig(c *call, in newElement) (out checked, err error) {
	element, err := c.element(in)
	if err != nil {
		return out, fault.At("/component", err)
	}
	err = c.service.CheckConfig(c.Context(), element)
	e, ok := errors.AsType[*vitrine.Error](err)
	switch {
	case err == nil:
		out.Fits = true
	case ok && e.Code == vitrine.CodeUnknownComponent:
		return out, fault.At("/component", fault.NotFound("%s", e.Reason))
	case ok && e.Kind != vitrine.ErrBusy:
		out.Reason, err = e.Reason, nil
		out.Violations = e.Violations[:min(len(e.Violations), mostFaults)]
	}
	return out, err
}
