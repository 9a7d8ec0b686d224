package appsvc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// draft is the content of a version that is about to be stored.
type draft struct {
	title    string
	groups   []string
	elements []draftElement
}

// draftElement is an element of a draft: one that is kept, at whatever place, or one that is written
// because its component or its config is new. Then the config must conform to the component, whose
// manifest is copied.
type draftElement struct {
	kept     []byte // its text behind the head; nil when it is written
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

// checkShape says which limit or form the draft breaks, as an error of the given kind. The draft
// stands at the JSON pointer at.
func (l Limits) checkShape(kind error, at string, d draft) error {
	switch n := utf8.RuneCountInString(d.title); {
	case n == 0:
		return fmt.Errorf("%w: %s/title: must not be empty", kind, at)
	case n > l.Title:
		return fmt.Errorf("%w: %s/title: has %d characters, at most %d", kind, at, n, l.Title)
	case len(d.groups) == 0:
		return fmt.Errorf("%w: %s/groups: want at least one", kind, at)
	case len(d.groups) > l.Groups:
		return fmt.Errorf("%w: %s/groups: has %d, at most %d", kind, at, len(d.groups), l.Groups)
	case len(d.elements) > l.Elements:
		return fmt.Errorf("%w: %s/elements: has %d, at most %d", kind, at, len(d.elements), l.Elements)
	}
	if err := checkText(kind, at+"/title", d.title); err != nil {
		return err
	}
	for i, g := range d.groups {
		if err := urn.CheckGroup(g); err != nil {
			return fmt.Errorf("%w: %s/groups/%d: %w", kind, at, i, err)
		}
		if slices.Contains(d.groups[:i], g) {
			return fmt.Errorf("%w: %s/groups/%d: %q stands there twice", kind, at, i, g)
		}
	}
	for i, e := range d.elements {
		if !e.written() {
			continue
		}
		if err := e.checkShape(l); err != nil {
			return fmt.Errorf("%w: %s/elements/%d/%w", kind, at, i, err)
		}
	}
	return nil
}

func (e draftElement) checkShape(l Limits) error {
	if err := l.checkName("component/name", e.ref.Name); err != nil {
		return err
	}
	if err := l.checkName("component/version", e.ref.Version); err != nil {
		return err
	}
	if len(e.config) == 0 {
		return fmt.Errorf("config: missing")
	}
	if err := strictjson.Check(e.config, configDepth); err != nil {
		return strictjson.Within("config", err)
	}
	if first := bytes.TrimLeft(e.config, " \t\r\n")[0]; first != '{' {
		return fmt.Errorf("config: must be an object")
	}
	return nil
}

// checkText refuses what JSON input cannot hold, for callers that do not come through JSON.
func checkText(kind error, field, s string) error {
	if !utf8.ValidString(s) || slices.Contains([]byte(s), 0) {
		return fmt.Errorf("%w: %s: want UTF-8 without U+0000", kind, field)
	}
	return nil
}

// complete looks up the components of the written elements, validates their configs and returns
// the versions of components that the draft relies on. The draft stands at the JSON pointer at.
func (s *Service) complete(ctx context.Context, at string, d draft) (map[ComponentRef]Component, error) {
	if !slices.ContainsFunc(d.elements, draftElement.written) {
		return nil, nil
	}
	used := map[ComponentRef]Component{}
	err := s.store.View(ctx, func(r Reader) error {
		clear(used)
		for i, e := range d.elements {
			if _, known := used[e.ref]; known || !e.written() {
				continue
			}
			c, err := findComponent(ctx, r, fmt.Sprintf("%s/elements/%d/component: ", at, i), e.ref, false)
			if err != nil {
				return err
			}
			used[e.ref] = c
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	parsed := map[ComponentRef][]byte{}
	var tab schemaguard.Tab
	for i := range d.elements {
		e := &d.elements[i]
		if !e.written() {
			continue
		}
		if parsed[e.ref] == nil {
			if parsed[e.ref], err = used[e.ref].ConfigSchema(); err != nil {
				return nil, err
			}
		}
		if err := s.schemas.validateOn(&tab, parsed[e.ref], e.config); err != nil {
			return nil, fmt.Errorf("%w: %s/elements/%d/config: does not conform to component %q version %q: %w",
				ErrUnprocessable, at, i, e.ref.Name, e.ref.Version, err)
		}
		e.manifest, e.config = used[e.ref].Manifest, compact(e.config)
	}
	return used, nil
}

// compact returns strict JSON without the white space between its tokens.
func compact(text []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, text) // it was checked
	return b.Bytes()
}

// findComponent returns one version of a component, or ErrUnprocessable that says where it was asked for.
func findComponent(ctx context.Context, r Reader, where string, ref ComponentRef, brief bool) (Component, error) {
	for c, err := range r.Components(ctx, ComponentQuery{Name: ref.Name, Version: ref.Version, Brief: brief}) {
		return c, err
	}
	return Component{}, fmt.Errorf("%w: %sthere is no component %q version %q", ErrUnprocessable, where, ref.Name, ref.Version)
}

// recheck makes sure, inside the transaction that stores the draft, that the components it was
// validated against are still the same.
func recheck(ctx context.Context, tx Tx, used map[ComponentRef]Component) error {
	for ref, c := range used {
		now, err := findComponent(ctx, tx, "", ref, true)
		if err != nil {
			return err
		}
		if now.ID != c.ID {
			return fmt.Errorf("%w: component %q version %q was replaced meanwhile", ErrConflict, ref.Name, ref.Version)
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
		if names[i] = e.ref.Name; !e.written() {
			names[i] = member(e.kept, "name")
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// draft takes a stored body apart. The parts are the body's own bytes.
func (b Body) draft() (draft, error) {
	body, elements, err := b.parts()
	if err != nil {
		return draft{}, err
	}
	return storedDraft(body, elements)
}

// parts returns the members of a stored body but its elements, and those. They are the last member
// and nearly all of the body, so the way to them is gone once.
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
	var head []byte
	for i, raw := range elements {
		head = appendHead(head[:0], i)
		kept, ok := bytes.CutPrefix(raw, head)
		if !ok {
			return draft{}, fmt.Errorf("stored element %d: does not begin with %s", i, head)
		}
		d.elements[i].kept = kept
	}
	return d, nil
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

// open returns what a kept element holds.
func (e draftElement) open() (manifest, config []byte, err error) {
	manifest, rest := rawjson.Cut(e.kept)
	config, ok := bytes.CutPrefix(rest, []byte(configName))
	if !ok || len(config) == 0 {
		return nil, nil, errors.New("stored element: no config behind the component")
	}
	return manifest, config[:len(config)-1], nil
}

// storedRef returns what component a manifest is of.
func storedRef(manifest []byte) ComponentRef {
	return ComponentRef{member(manifest, "name"), member(manifest, "version")}
}

// member returns a string out of a stored object; "" when there is none.
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
		return fmt.Errorf("%w: the app has %d bytes as it is answered, at most %d", ErrTooLarge, n, most)
	}
	return nil
}
