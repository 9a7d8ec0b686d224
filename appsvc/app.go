package appsvc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Meta is what a version of an app carries beside its content (contract, section 2.1).
type Meta struct {
	ID        string  // UUID v4, given by the service, never changes
	Version   Version // 0, 1, 2 …
	Owner     string  // URN of the user who created the app
	CreatedAt int64   // of the app; milliseconds since the epoch
	UpdatedAt int64   // of this version; never lower than that of the version before
	UpdatedBy string  // URN of the user who made this version
}

// App is one version of an app.
type App struct {
	Meta
	Body Body
}

// Head is what rules and queries need to know of an app: its latest version, without the body.
type Head struct {
	Meta
	Groups     []string // as in the body
	Components []string // names of the components that power elements, sorted, each once
}

// Body is the stored content of a version: one compact JSON object with the members title, owner,
// groups and elements, in this order, exactly as it is answered.
type Body []byte

// Content is a Body, decoded.
type Content struct {
	Title    string    `json:"title"`
	Groups   []string  `json:"groups"`
	Elements []Element `json:"elements"`
}

// Element is one part of an app, powered by a component (contract, section 2.2).
type Element struct {
	ID        string          `json:"id"`        // its index, as a string
	Component json.RawMessage `json:"component"` // the manifest as it was when the element was written
	Config    json.RawMessage `json:"config"`    // the creator's values, an object
}

// Content decodes the body.
func (b Body) Content() (Content, error) {
	var c Content
	if err := json.Unmarshal(b, &c); err != nil {
		return Content{}, fmt.Errorf("stored body: %w", err)
	}
	return c, nil
}

// Head returns what the version says of itself; it reads the body.
func (a App) Head() (Head, error) {
	d, err := a.Body.draft()
	if err != nil {
		return Head{}, err
	}
	return Head{Meta: a.Meta, Groups: d.groups, Components: d.components()}, nil
}

// AppendJSON appends the app as it is answered: the stored body with the version's own members
// written before it. Nothing is decoded.
func (a App) AppendJSON(dst []byte) []byte {
	dst = slices.Grow(dst, 256+len(a.Body))
	return append(a.Meta.appendJSON(dst), a.Body[1:]...)
}

// appendJSON appends the version's own members, with the brace before and the comma behind them.
func (m Meta) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, m.ID)
	dst = append(dst, `,"version":"`...)
	dst = strconv.AppendInt(dst, int64(m.Version), 10)
	dst = append(dst, `","createdAt":`...)
	dst = strconv.AppendInt(dst, m.CreatedAt, 10)
	dst = append(dst, `,"updatedAt":`...)
	dst = strconv.AppendInt(dst, m.UpdatedAt, 10)
	dst = append(dst, `,"updatedBy":{"urn":`...)
	dst = appendString(dst, m.UpdatedBy)
	return append(dst, `},`...)
}

// MarshalJSON gives the same bytes as AppendJSON.
func (a App) MarshalJSON() ([]byte, error) { return a.AppendJSON(nil), nil }

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // bad UTF-8, which the checks refuse, would become U+FFFD
	return dst
}
