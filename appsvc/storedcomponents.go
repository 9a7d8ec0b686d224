package appsvc

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/internal/fault"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// storedComponent is a stored version of a component without its manifest.
type storedComponent struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Version     string  `json:"version"`
	Main        string  `json:"main"`
	Title       *string `json:"title,omitzero"`
	Description *string `json:"description,omitzero"`
	Number      int64   `json:"number"` // ascending in the order in which versions were added
	Digest      string  `json:"digest"` // of the manifest; see digestOf
}

func decodeComponent(e storage.Entry) (c storedComponent, err error) {
	if err := json.Unmarshal(e.Value, &c); err != nil {
		return c, damaged(e.Key, err)
	}
	return c, nil
}

// digestOf returns the digest of a manifest, by which a transaction compares components without reading their
// manifests.
func digestOf(manifest []byte) string {
	sum := sha256.Sum256(manifest)
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

func (c storedComponent) with(manifest []byte) Component {
	return Component{ID: c.ID, Name: c.Name, Version: c.Version, Main: c.Main, Manifest: slices.Clip(manifest)}
}

// componentVersions returns the versions of a component in the order in which they were added.
func (r *reader) componentVersions(ctx context.Context, name string) (list []storedComponent, err error) {
	for c, err := range rec.Map(r.r.Scan(ctx, under(componentKind, name)), decodeComponent) {
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b storedComponent) int { return cmp.Compare(a.Number, b.Number) })
	return list, nil
}

// components yields the versions of the components with names after after, by name in byte order. Those of one name are
// in any order.
func (r *reader) components(ctx context.Context, after string) iter.Seq2[storedComponent, error] {
	var from []string
	if after != "" {
		from = []string{after, "\xff"} // no version is after that
	}
	return rec.Map(rec.Sorted(ctx, r.r, rec.Prefix(appSpace, componentKind), from, 0, func(e storage.Entry) []string {
		c, _ := decodeComponent(e)
		return []string{c.Name, c.Version}
	}), decodeComponent)
}

// vacant returns a component that may be added: with the id that it has, or that it had before it was deleted. It
// returns an error of CreateComponent if the name and version, or the id, are taken, or belonged to another one that
// was deleted.
func (r *reader) vacant(ctx context.Context, c sentComponent) (out Component, err error) {
	values, err := r.r.Get(ctx, keyOf(manifestKind, c.Name, c.Version), keyOf(wasKind, c.Name, c.Version))
	if err != nil {
		return Component{}, err
	}
	if manifest := values[0]; manifest != nil {
		id, _ := jsontree.Text(jsontree.Member(manifest, "id"))
		if (id == c.ID || !c.named) && contentDigest(manifest) == contentDigest(c.Manifest) {
			return Component{}, exists("/version", true,
				"version %q of %q exists already, and is the same: nothing is left to do", c.Version, c.Name)
		}
		return Component{}, exists("/version", false,
			"version %q of %q exists already, and is another one: want another version", c.Version, c.Name)
	}
	out = c.Component
	was, id, _ := strings.Cut(string(values[1]), " ")
	switch {
	case was != "" && was != contentDigest(c.Manifest):
		return Component{}, fault.Invalid("/version",
			"version %q of %q was deleted, and had another manifest: want the same one, or another version", c.Version,
			c.Name)
	case id != "" && !c.named:
		if out, err = withID(c.Manifest, id); err != nil {
			return Component{}, err
		}
		out.Warnings = c.Warnings
	case id != "" && id != c.ID:
		return Component{}, fault.Invalid("/id",
			"version %q of %q was deleted, and had the id %q: want this id or none, or another version", c.Version,
			c.Name, id)
	}
	taken, err := r.value(ctx, keyOf(idKind, out.ID))
	if err != nil || taken == nil {
		return out, err
	}
	if c.named {
		return Component{}, exists("/id", false,
			"a component with the id %q exists already: want another id, or none", c.ID)
	}
	return Component{}, exists("/id", false,
		"version %q of %q was deleted, and another component has the id %q that it had: want another version",
		c.Version, c.Name, id)
}

// exists is the error of a component that is there already. same says whether it is the one of the request.
func exists(pointer string, same bool, format string, args ...any) error {
	err := fault.Invalid(pointer, format, args...)
	err.Code, err.Same = vitrine.CodeExists, &same
	return err
}

// addComponent adds a version of a component, whose name and version and whose id are vacant.
func (t *writer) addComponent(ctx context.Context, c Component) error {
	id, component := keyOf(idKind, c.ID), keyOf(componentKind, c.Name, c.Version)
	n, err := t.giveNumber(ctx)
	if err != nil {
		return err
	}
	value, err := json.Marshal(storedComponent{c.ID, c.Name, c.Version, c.Main, c.Title(), c.Description(), n,
		digestOf(c.Manifest)})
	if err != nil {
		return err
	}
	return t.tx.Put(ctx, storage.Entry{Key: id}, storage.Entry{Key: component, Value: value},
		storage.Entry{Key: keyOf(manifestKind, c.Name, c.Version), Value: bytes.Clone(c.Manifest)})
}

// deleteComponent removes all versions of a component. It returns noComponent if it has none.
func (t *writer) deleteComponent(ctx context.Context, name string) error {
	list, err := t.componentVersions(ctx, name)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return noComponent(name)
	}
	var gone []string
	var was []storage.Entry
	for _, c := range list {
		manifest, err := t.value(ctx, keyOf(manifestKind, name, c.Version))
		if err != nil {
			return err
		}
		deleted := []byte(contentDigest(manifest) + " " + c.ID)
		was = append(was, storage.Entry{Key: keyOf(wasKind, name, c.Version), Value: deleted})
		gone = append(gone, keyOf(idKind, c.ID), keyOf(componentKind, name, c.Version),
			keyOf(manifestKind, name, c.Version))
	}
	if err := t.tx.Delete(ctx, gone...); err != nil {
		return err
	}
	return t.tx.Put(ctx, was...)
}

// contentDigest returns a digest that is equal for manifests that differ only in the order of members and in the id.
func contentDigest(manifest []byte) string {
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(manifest))
	d.UseNumber()
	_ = d.Decode(&m) // it was decoded before
	delete(m, "id")
	text, _ := json.Marshal(m)
	return digestOf(text)
}

// componentUser is an app with a version that has an element of a component.
type componentUser struct {
	appHead
	body Body  // of the latest version
	tags []Tag // all tags, by name
}

// users yields the apps with a version, latest or older, that has an element of a component, by id from from on. It
// leaves out those that the caller may not read.
func (r *reader) users(ctx context.Context, component, from string, by vitrine.Caller) iter.Seq2[componentUser, error] {
	return func(yield func(componentUser, error) bool) {
		numbers, err := r.numbersOf(ctx, []string{keyOf(listKind, ofComponent, component)})
		if err != nil {
			yield(componentUser{}, err)
		}
		if err != nil || numbers[0] == 0 {
			return
		}
		in := under(usedKind, rec.Number(numbers[0]))
		in.From, in.Expect = usedKey(numbers[0], from), atOnce
		for ids, err := range rec.Chunks(r.appsIn(ctx, in), atOnce) {
			var heads []appHead
			var tags map[string][]Tag
			if err == nil {
				heads, err = r.heads(ctx, ids)
			}
			heads = slices.DeleteFunc(heads, func(h appHead) bool { return !mayRead(by, h) })
			if err == nil {
				tags, err = r.tagsOf(ctx, heads)
			}
			if err != nil {
				yield(componentUser{}, err)
				return
			}
			ids = ids[:0]
			for _, h := range heads {
				ids = append(ids, h.ID)
			}
			for app, err := range r.whole(ctx, ids) {
				if !yield(componentUser{heads[0], app.Body, tags[app.ID]}, err) || err != nil {
					return
				}
				heads = heads[1:]
			}
		}
	}
}
