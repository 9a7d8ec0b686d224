package appsvc

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// ReplaceRequest names a text that is replaced in the configs of apps.
type ReplaceRequest struct {
	Find    string `json:"find"`    // literally, with its case; 2 to 1,024 characters
	Replace string `json:"replace"` // up to 1,024 characters
	// only in apps with this group, or with a site of this network; "" = any
	Group     string `json:"group,omitzero"`
	Component string `json:"component,omitzero"` // only in elements with this component; "" = any
	After     string `json:"after,omitzero"`     // Next of the previous page; "" = the first page
	DryRun    bool   `json:"-"`                  // stores nothing, and returns what would be done
}

// mostReplaced is the maximum number of characters of the texts of a ReplaceRequest.
const mostReplaced = 1024

// Replace replaces a text by another one in all strings of the configs of each app that the caller may change, in the
// latest version. Each app is validated and stored as Patch does it, as one new version with a note, in one
// transaction. An app that would become invalid or too large is not changed, and its Violations say why. Strings for
// which the schema has enum or const stay as they are, whichever of its alternatives and patternProperties apply, and
// so do names of members. With DryRun nothing is stored, and the result is the same. Apps with nothing to replace are
// left out.
//
// Each app is changed once by the pages of one request. A request that is begun again finds only what is left: nothing,
// unless Replace contains Find, or makes it together with what stands around it. Then it replaces what the first one
// has written.
//
// A page ends as one of Upgrade. It returns ErrInvalid if a text is too short, too long, the same as the other one or
// no text, if Group is no URN of a group, or if After is not a cursor of this request.
func (s *Session) Replace(ctx context.Context, in ReplaceRequest) (out vitrine.Page[UpgradedApp], err error) {
	if err := s.check(); err != nil {
		return out, err
	}
	err = cmp.Or(checkText("/find", in.Find, mostReplaced), checkText("/replace", in.Replace, mostReplaced))
	switch {
	case err != nil:
		return out, err
	case utf8.RuneCountInString(in.Find) < 2:
		return out, fault.Invalid("/find", "want at least 2 characters")
	case in.Find == in.Replace:
		return out, fault.Invalid("/replace", "is the text to find: want another one")
	case in.Group != "" && urn.CheckGroup(in.Group) != nil:
		return out, fault.Invalid("/group", "%s", urn.CheckGroup(in.Group))
	}
	if in.DryRun {
		s = s.Trying()
	}
	what := []rune(fmt.Sprintf("replaced %q by %q", in.Find, in.Replace))
	w := rewrite{s: s, list: fmt.Sprintf("replace %q %q %q %q", in.Find, in.Replace, in.Group, in.Component),
		note:     string(what[:min(len(what), mostOfNote)]),
		apps:     appQuery{component: ComponentRef{Name: in.Component}, group: in.Group},
		validate: func(ctx context.Context, d draft) (draft, error) { return s.service.validateDraft(ctx, "", d) },
		change: func(out *UpgradedApp, elements []draftElement) error {
			r := replacement{ReplaceRequest: in, left: maxDefaultWork, bytes: s.service.limits.DocumentBytes}
			return r.change(s.service, out, elements)
		}}
	if err := w.from(in.After); err != nil {
		return out, err
	}
	return w.page(ctx)
}

// replacement is a Replace in one app.
type replacement struct {
	ReplaceRequest
	left  int // steps for the places of texts in schemas; below zero = too much to do
	bytes int // that may be added; below zero = too large
	count int // how often the text was replaced
}

// change replaces the text in the configs of elements.
func (r *replacement) change(s *Service, out *UpgradedApp, elements []draftElement) error {
	for i := range elements {
		e := &elements[i]
		manifest, config, err := e.split()
		if err != nil {
			return err
		}
		ref := storedRef(manifest)
		if r.Component != "" && ref.Name != r.Component || !r.mayHold(config) {
			continue
		}
		schema, err := Component{Manifest: manifest}.ConfigSchema()
		if err != nil {
			return err
		}
		compiled, err := s.schemas.get(schema)
		if err != nil { // no write of this element would be accepted
			out.Elements = append(out.Elements, strconv.Itoa(i))
			out.reject(out.Version, fmt.Sprintf("/elements/%d", i), vitrine.CodeSchema, err.Error())
			continue
		}
		node, before := jsontree.New(config), r.count
		r.in(&node, compiled.guard.Place(&r.left))
		switch {
		case r.left < 0 || r.bytes < 0:
			keyword, reason := "size", "the app would become too large"
			if r.left < 0 {
				keyword, reason = vitrine.CodeCost, "finding out where its schema fixes texts takes too long"
			}
			out.Elements = append(out.Elements, strconv.Itoa(i))
			out.reject(out.Version, fmt.Sprintf("/elements/%d/config", i), keyword, reason)
			return nil
		case r.count > before:
			out.Elements = append(out.Elements, strconv.Itoa(i))
			*e = draftElement{key: e.key, ref: ref, config: slices.Clone(node.Bytes()), was: manifest}
		}
	}
	return nil
}

// mayHold reports whether a string in a JSON text may have the text to find. One with escapes may have it.
func (r *replacement) mayHold(text []byte) bool {
	return bytes.IndexByte(text, '\\') >= 0 || bytes.Contains(text, []byte(r.Find))
}

// in replaces the text in a value to which the subschemas of a place apply.
func (r *replacement) in(value *jsontree.Node, at schemaguard.Place) {
	kind := value.Kind()
	if r.left < 0 || r.bytes < 0 || kind != '"' && kind != '{' && kind != '[' || at.Fixed() {
		return
	}
	if kind == '"' {
		text, _ := jsontree.Text(value.Bytes())
		n := strings.Count(text, r.Find)
		if r.bytes -= n * len(r.Replace); n == 0 || r.bytes < 0 {
			return
		}
		r.count += n
		*value = jsontree.New(appendString(nil, strings.ReplaceAll(text, r.Find, r.Replace)))
		return
	}
	for i := range value.Len() {
		child := value.At(i)
		switch {
		case !r.mayHold(child.Bytes()):
		case kind == '{':
			r.in(child, at.Member(value.Name(i)))
		default:
			r.in(child, at.Item(i))
		}
	}
}
