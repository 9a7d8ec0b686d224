package appsvc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// draft is the content of an app before it is stored as a version.
type draft struct {
	title    string
	groups   []string
	elements []draftElement
}

// draftElement is an element of a draft. It is kept if the version before has it with the same component
// and config, at any index. Otherwise it is written: its config must conform to the component, and the
// component's manifest is copied.
type draftElement struct {
	kept     []byte // the stored text after the head; nil if the element is written
	ref      ComponentRef
	config   []byte
	manifest []byte
}

func (e draftElement) written() bool { return e.kept == nil }

// A stored element is a head, which holds its index, the manifest, configName, the config and }.
const configName = `,"config":`

func appendHead(dst []byte, index int) []byte {
	dst = append(dst, `{"id":"`...)
	dst = strconv.AppendInt(dst, int64(index), 10)
	return append(dst, `","component":`...)
}

// ComponentRef names a version of a component.
type ComponentRef struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// configDepth is how deep a config may nest: what is left of the depth of a create request.
const configDepth = strictjson.MaxDepth - 3

// checkShape says which limit or form the draft breaks, as an error of kind ErrUnprocessable. The
// draft stands at the JSON pointer at.
func (l Limits) checkShape(at string, d draft) error {
	limit := func(pointer, format string, args ...any) error {
		return unprocessable(CodeLimit, at+pointer, format, args...)
	}
	switch n := utf8.RuneCountInString(d.title); {
	case n == 0:
		return limit("/title", "must not be empty")
	case n > l.Title:
		return limit("/title", "has %d characters, at most %d", n, l.Title)
	case len(d.groups) == 0:
		return limit("/groups", "want at least one")
	case len(d.groups) > l.Groups:
		return limit("/groups", "has %d, at most %d", len(d.groups), l.Groups)
	case len(d.elements) > l.Elements:
		return limit("/elements", "has %d, at most %d", len(d.elements), l.Elements)
	}
	if !isText(d.title) {
		return unprocessable(CodeNotApplicable, at+"/title", "want UTF-8 without U+0000")
	}
	for i, g := range d.groups {
		pointer := fmt.Sprintf("%s/groups/%d", at, i)
		if err := urn.CheckGroup(g); err != nil {
			return unprocessable(CodeNotApplicable, pointer, "%s", err)
		}
		if slices.Contains(d.groups[:i], g) {
			return unprocessable(CodeNotApplicable, pointer, "%q is there twice", g)
		}
	}
	for i, e := range d.elements {
		if !e.written() {
			continue
		}
		if err := e.checkShape(l); err != nil {
			return below(fmt.Sprintf("%s/elements/%d", at, i), err)
		}
	}
	return nil
}

func (e draftElement) checkShape(l Limits) error {
	for _, f := range []struct{ pointer, value string }{{"/component/name", e.ref.Name}, {"/component/version", e.ref.Version}} {
		if wrong := l.checkName(f.value); wrong != "" {
			return unprocessable(CodeLimit, f.pointer, "%s", wrong)
		}
	}
	if len(e.config) == 0 {
		return unprocessable(CodeNotApplicable, "/config", "missing")
	}
	if err := strictjson.Check(e.config, configDepth); err != nil {
		return misshapen("/config", err)
	}
	if first := bytes.TrimLeft(e.config, " \t\r\n")[0]; first != '{' {
		return unprocessable(CodeNotApplicable, "/config", "must be an object")
	}
	return nil
}

// isText reports whether JSON input can hold s; what comes from Go may be anything.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// misshapen is the error of a part of a patched document that the strict reader refuses.
func misshapen(pointer string, err error) error {
	e, _ := errors.AsType[*Error](malformed(strictjson.Within(pointer, err)))
	e.Kind, e.Code = ErrUnprocessable, CodeNotApplicable
	return e
}

// asInvalid returns an error of checkShape as the error of a request that is malformed.
func asInvalid(err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == ErrUnprocessable {
		e.Kind, e.Code = ErrInvalid, CodeInvalid
	}
	return err
}

// complete validates the configs of the written elements and returns the draft with the manifests of their components,
// and the versions of components that it relies on. at is the JSON pointer of the draft in the request.
func (s *Service) complete(ctx context.Context, at string, d draft) (draft, map[ComponentRef]Component, error) {
	used, err := s.usedComponents(ctx, at, d)
	if err != nil {
		return draft{}, nil, err
	}
	d, err = s.completeWith(used, at, d)
	return d, used, err
}

// usedComponents reads the components of the written elements.
func (s *Service) usedComponents(ctx context.Context, at string, d draft) (used map[ComponentRef]Component, err error) {
	if !slices.ContainsFunc(d.elements, draftElement.written) {
		return nil, nil
	}
	used = map[ComponentRef]Component{}
	err = s.store.View(ctx, func(r Reader) error {
		clear(used)
		for i, e := range d.elements {
			if _, known := used[e.ref]; known || !e.written() {
				continue
			}
			c, err := findComponent(ctx, r, e.ref, false)
			if err != nil {
				return below(fmt.Sprintf("%s/elements/%d/component", at, i), err)
			}
			used[e.ref] = c
		}
		return nil
	})
	return used, err
}

// completeWith is complete for components that were read.
func (s *Service) completeWith(used map[ComponentRef]Component, at string, d draft) (_ draft, err error) {
	d.elements = slices.Clone(d.elements)
	parsed := map[ComponentRef][]byte{}
	var budget schemaguard.Budget
	for i := range d.elements {
		e := &d.elements[i]
		if !e.written() {
			continue
		}
		if parsed[e.ref] == nil {
			if parsed[e.ref], err = used[e.ref].ConfigSchema(); err != nil {
				return draft{}, err
			}
		}
		if err := s.schemas.validateWithin(&budget, parsed[e.ref], e.config); err != nil {
			return draft{}, below(fmt.Sprintf("%s/elements/%d/config", at, i), nonconforming(e.ref, err))
		}
		e.manifest, e.config = used[e.ref].Manifest, compact(e.config)
	}
	return d, nil
}

// nonconforming is the error of a config that was not found valid against the schema of a component.
func nonconforming(ref ComponentRef, err error) error {
	e := unprocessable(CodeSchema, "", "does not conform to component %q version %q: %s", ref.Name, ref.Version, err)
	if errors.Is(err, schemaguard.ErrCostly) {
		e.Code = CodeCost
	}
	if all, ok := errors.AsType[violations](err); ok {
		e.Violations = all
	}
	return e
}

// compact returns strict JSON without the white space between its tokens.
func compact(text []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, text) // it was checked
	return b.Bytes()
}

// findComponent returns one version of a component, ErrUnprocessable if there is no such version.
func findComponent(ctx context.Context, r Reader, ref ComponentRef, brief bool) (Component, error) {
	for c, err := range r.Components(ctx, ComponentQuery{Name: ref.Name, Version: ref.Version, Brief: brief}) {
		return c, err
	}
	return Component{}, unprocessable(CodeUnknownComponent, "", "there is no component %q version %q", ref.Name, ref.Version)
}

// recheck runs in the transaction that stores the draft. It returns ErrConflict if a component against which
// the draft was validated has changed since. The error carries current, the latest version of the app.
func recheck(ctx context.Context, tx Tx, used map[ComponentRef]Component, current Version) error {
	for ref, c := range used {
		now, err := findComponent(ctx, tx, ref, false)
		if err != nil {
			return err
		}
		if !bytes.Equal(now.Manifest, c.Manifest) { // a new component may have the id of a deleted one
			return conflict(CodeStaleVersion, current, "component %q version %q was replaced meanwhile: try again", ref.Name, ref.Version)
		}
	}
	return nil
}

// body writes the draft as it is stored, and returns the names of the components it uses.
func (d draft) body(owner string) (Body, []string) {
	size := 128 + len(d.title) + len(owner)
	for _, g := range d.groups {
		size += len(g) + 3
	}
	for _, e := range d.elements {
		size += 40 + len(e.kept) + len(e.manifest) + len(e.config)
	}
	b := append(make([]byte, 0, size), `{"title":`...)
	b = append(appendString(b, d.title), `,"owner":{"urn":`...)
	b = append(appendString(b, owner), `},"groups":[`...)
	for i, g := range d.groups {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, g)
	}
	b = append(b, `],"elements":[`...)
	for i, e := range d.elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendHead(b, i)
		if !e.written() {
			b = append(b, e.kept...)
			continue
		}
		b = append(append(append(append(b, e.manifest...), configName...), e.config...), '}')
	}
	return append(b, `]}`...), d.components()
}

// components returns the names of the components in use, sorted, each once.
func (d draft) components() []string {
	names := make([]string, len(d.elements))
	for i, e := range d.elements {
		names[i] = e.ref.Name
		if !e.written() {
			names[i] = member(e.kept, "name")
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// draft parses a stored body. The parts share the bytes of the body.
func (b Body) draft() (draft, error) {
	body, elements, err := b.parts()
	if err != nil {
		return draft{}, err
	}
	return storedDraft(body, elements)
}

// parts returns the elements of a stored body, and its other members. The elements come last and are
// most of the body, so the body is scanned only once.
func (b Body) parts() (body rawjson.Object, elements [][]byte, err error) {
	at, _, err := rawjson.Lookup(b, "elements", 0)
	if err != nil || at < 0 {
		return nil, nil, errors.New("stored body: no elements")
	}
	if body, err = rawjson.Members(slices.Concat(b[:at], []byte("0}"))); err != nil {
		return nil, nil, fmt.Errorf("stored body: %w", err)
	}
	if elements, err = rawjson.Items(b[at:]); err != nil {
		return nil, nil, fmt.Errorf("stored elements: %w", err)
	}
	return body, elements, nil
}

func storedDraft(body rawjson.Object, elements [][]byte) (d draft, err error) {
	title, isText := rawjson.Text(body.Get("title"))
	groups, areTexts := texts(body.Get("groups"))
	if !isText || !areTexts {
		return draft{}, errors.New("stored body: no title or no groups")
	}
	d = draft{title, groups, make([]draftElement, len(elements))}
	for i, raw := range elements {
		kept, ok := cutHead(raw, i)
		if !ok {
			return draft{}, fmt.Errorf("stored element %d: does not begin with its id", i)
		}
		d.elements[i].kept = kept
	}
	return d, nil
}

// cutHead returns what stands behind the head of a stored element, and whether it begins with that head.
func cutHead(element []byte, index int) (kept []byte, ok bool) {
	var head [32]byte
	return bytes.CutPrefix(element, appendHead(head[:0], index))
}

// texts returns the strings of an array of strings.
func texts(raw []byte) ([]string, bool) {
	items, err := rawjson.Items(raw)
	out := make([]string, len(items))
	for i, item := range items {
		text, ok := rawjson.Text(item)
		if !ok {
			return nil, false
		}
		out[i] = text
	}
	return out, err == nil
}

// open returns the manifest and the config of a kept element.
func (e draftElement) open() (manifest, config []byte, err error) {
	manifest, rest := rawjson.Cut(e.kept)
	config, ok := bytes.CutPrefix(rest, []byte(configName))
	if !ok || len(config) == 0 {
		return nil, nil, errors.New("stored element: no config behind the component")
	}
	return manifest, config[:len(config)-1], nil
}

// storedRef returns the name and version in a manifest.
func storedRef(manifest []byte) ComponentRef {
	return ComponentRef{member(manifest, "name"), member(manifest, "version")}
}

// member returns the string member of this name of a stored object, "" if it has none.
func member(object []byte, name string) string {
	at, _, err := rawjson.Lookup(object, name, 0)
	if err != nil || at < 0 {
		return ""
	}
	value, _ := rawjson.Cut(object[at:])
	text, _ := rawjson.Text(value)
	return text
}

// checkSize refuses an app whose answer would have more than most bytes.
func (a App) checkSize(most int) error {
	const wrapper = len(`{"apps":[]}`)
	if n := len(a.Meta.appendJSON(nil)) + len(a.Body[1:]) + wrapper; n > most {
		return tooLarge("the app has %d bytes as it is answered; at most %d are allowed", n, most)
	}
	return nil
}
