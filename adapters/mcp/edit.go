package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
)

type editInput struct {
	ID         string      `json:"id" jsonschema:"id of the app"`
	Version    string      `json:"version" jsonschema:"the version that you have read"`
	Operations []operation `json:"operations"`
	Note       string      `json:"note,omitzero" jsonschema:"says why, in the history"`
	DryRun     bool        `json:"dryRun,omitzero" jsonschema:"checks everything, and stores nothing"`
}

type operation struct {
	Op        string         `json:"op" jsonschema:"set, add, remove or move"`
	Key       string         `json:"key,omitzero" jsonschema:"of the element, as get_app has it"`
	Pointer   string         `json:"pointer,omitzero" jsonschema:"JSON pointer into the config"`
	Value     jsontext.Value `json:"value,omitzero" jsonschema:"for the pointer"`
	Component *component     `json:"component,omitzero" jsonschema:"of a new element, or to set"`
	Config    jsontext.Value `json:"config,omitzero" jsonschema:"of a new element, or to set"`
	Index     *int           `json:"index,omitzero" jsonschema:"where it is afterwards, from 0"`
}

type component struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero" jsonschema:"the latest one without it"`
}

// staleVersion is the error of an edit of another version than the latest one, with the difference between the two.
type staleVersion struct {
	error
	difference []jsontext.Value
}

// Unwrap returns the *vitrine.Error.
func (e *staleVersion) Unwrap() error { return e.error }

func editApp(c *call, in editInput) (out edited, err error) {
	seen, err := vitrine.ParseVersion(in.Version)
	if err != nil {
		return out, fault.At("/version", err)
	}
	app, err := c.apps.App(c.Context(), in.ID)
	if err != nil {
		return out, err
	}
	if app.Version != seen {
		return out, c.stale(in.ID, seen, app.Version)
	}
	content, err := app.Body.Content()
	if err != nil {
		return out, err
	}
	p := appsvc.NewPatchBuilder(app).Note(in.Note)
	keys := make([]string, len(content.Elements))
	for i, e := range content.Elements {
		keys[i] = e.Key
	}
	for i, o := range in.Operations {
		if keys, err = c.apply(p, o, keys); err == nil && p.Err() != nil {
			err = fault.NotApplicable("", "%s", p.Err())
		}
		if err != nil {
			return out, fault.At(fmt.Sprintf("/operations/%d", i), err)
		}
	}
	patch, err := p.Bytes()
	if err != nil {
		return out, err
	}
	out = edited{ID: app.ID, Version: app.Version, DryRun: in.DryRun, Difference: []jsontext.Value{},
		URL: c.addressOf(app.ID)}
	if p.Empty() {
		return out, nil
	}
	session := c.apps
	if in.DryRun {
		session = session.Trying()
	}
	made, err := session.Patch(c.Context(), in.ID, bytes.NewReader(patch))
	if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Code == vitrine.CodeStaleVersion { // since it was read
		return out, c.stale(in.ID, seen, e.Version)
	}
	if err != nil {
		return out, err
	}
	diff, err := shownDifference(seen, made.Version, patch, 0)
	out.Version, out.Difference, out.Cursor = diff.To, diff.Difference, diff.Cursor
	return out, err
}

// addressOf returns the address of an app in the console.
func (c *call) addressOf(id string) string { return c.Absolute("/#/apps/" + id) }

// stale returns the error of an edit of a version that is not the latest one.
func (c *call) stale(id string, seen, latest vitrine.Version) error {
	diff, err := compareVersions(c, compareInput{ID: id, From: seen.String(), To: latest.String()})
	if err != nil {
		return fault.At("/version", err)
	}
	e := fault.Conflict(vitrine.CodeStaleVersion, latest, "the app is at version %q: look at the difference, and send "+
		"the edit again for that version", latest)
	return &staleVersion{fault.At("/version", e), diff.Difference}
}

// apply adds an operation to a patch. keys are those of the elements at that moment, and are returned as they are then;
// new elements have none.
func (c *call) apply(p *appsvc.PatchBuilder, o operation, keys []string) ([]string, error) {
	at := slices.Index(keys, o.Key)
	if o.Key == "" && o.Op == "set" && o.Pointer == "/title" {
		var title string
		if err := json.Unmarshal(o.Value, &title); err != nil {
			return keys, fault.Invalid("/value", "want the title, a text")
		}
		p.SetTitle(title)
		return keys, nil
	}
	isNew := o.Op == "add" && o.Key == ""
	index := len(keys)
	switch {
	case !slices.Contains([]string{"set", "add", "remove", "move"}, o.Op):
		return keys, fault.Invalid("/op", "want set, add, remove or move, have %q", o.Op)
	case !isNew && (at < 0 || o.Key == ""):
		return keys,
			fault.NotApplicable("/key", "no element has the key %q: want one of %q", o.Key, keys[:min(len(keys), 50)])
	case o.Index != nil:
		index = *o.Index
	case o.Op == "move":
		return keys, fault.Invalid("/index", "want where the element is to be, from 0")
	}
	last := len(keys)
	if o.Op == "move" {
		last--
	}
	if index < 0 || index > last && (isNew || o.Op == "move") {
		return keys, fault.Invalid("/index", "want 0 to %d", last)
	}
	var ref appsvc.ComponentRef
	if o.Component != nil {
		element, err := c.element(newElement{Component: o.Component.Name, Version: o.Component.Version})
		if ref = element.Component; err != nil {
			return keys, fault.At("/component", err)
		}
	}
	whole := o.Config != nil || isNew && o.Component != nil
	switch {
	case whole && (o.Pointer != "" || o.Value != nil):
		return keys,
			fault.Invalid("/config", "it is the whole config of the element: want it without a value and a pointer")
	case isNew && o.Component != nil:
		p.InsertElement(index, appsvc.NewElement{Component: ref, Config: []byte(o.Config)})
		return slices.Insert(slices.Clone(keys), index, ""), nil
	case isNew:
		return keys,
			fault.Invalid("/component", "want the component of the new element, or the key of one to add an item to")
	case o.Op == "remove" && o.Pointer == "":
		p.RemoveElement(at)
		return slices.Delete(slices.Clone(keys), at, at+1), nil
	case o.Op == "remove":
		p.RemoveConfig(at, o.Pointer)
	case o.Op == "move":
		p.MoveElement(at, index)
		return slices.Insert(slices.Delete(slices.Clone(keys), at, at+1), index, o.Key), nil
	case o.Component == nil && o.Config == nil && o.Value == nil:
		return keys, fault.Invalid("/value", "want a value and a pointer, a config or a component")
	}
	if o.Component != nil && o.Op == "set" {
		p.SetComponent(at, ref)
	}
	if o.Config != nil {
		p.SetConfig(at, "", json.RawMessage(o.Config))
	}
	if o.Value != nil {
		p.SetConfig(at, o.Pointer, json.RawMessage(o.Value))
	}
	return keys, nil
}
