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

// digestOf returns the digest of a manifest, by which a transaction compares components without reading their manifests.
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

// components yields the versions of the components with names after after, by name in byte order. Those of one name are in
// any order.
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

// addComponent adds a version of a component. It returns takenComponent, and adds nothing, if the id, or the name and
// version, are taken.
func (t *writer) addComponent(ctx context.Context, c Component) error {
	id, component := keyOf(idKind, c.ID), keyOf(componentKind, c.Name, c.Version)
	values, err := t.r.Get(ctx, id, component, keyOf(wasKind, c.Name, c.Version))
	if err != nil {
		return err
	}
	if was, _, _ := strings.Cut(string(values[2]), " "); was != "" && was != deletedManifest(c) {
		return invalid("", "version %q of %q was deleted, and had another manifest: want the same one, or another version", c.Version, c.Name)
	}
	if values[0] != nil || values[1] != nil {
		return takenComponent(c, values[1] != nil)
	}
	n, err := t.giveNumber(ctx)
	if err != nil {
		return err
	}
	value, err := json.Marshal(storedComponent{c.ID, c.Name, c.Version, c.Main, c.Title(), c.Description(), n, digestOf(c.Manifest)})
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
		was = append(was, storage.Entry{Key: keyOf(wasKind, name, c.Version), Value: []byte(deletedManifest(c.with(manifest)) + " " + c.ID)})
		gone = append(gone, keyOf(idKind, c.ID), keyOf(componentKind, name, c.Version), keyOf(manifestKind, name, c.Version))
	}
	if err := t.tx.Delete(ctx, gone...); err != nil {
		return err
	}
	return t.tx.Put(ctx, was...)
}

// deletedManifest returns a digest that is equal for manifests that differ only in the order of members and in the id.
func deletedManifest(c Component) string {
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(c.Manifest))
	d.UseNumber()
	_ = d.Decode(&m) // it was decoded before
	delete(m, "id")
	text, _ := json.Marshal(m)
	return digestOf(text)
}

// deletedID returns the id that a version of a component had before it was deleted, or "" if there was none or the id is
// taken now.
func (r *reader) deletedID(ctx context.Context, name, version string) (string, error) {
	was, err := r.value(ctx, keyOf(wasKind, name, version))
	_, id, _ := strings.Cut(string(was), " ")
	if err == nil && id != "" {
		if taken, err := r.value(ctx, keyOf(idKind, id)); err != nil || taken != nil {
			return "", err
		}
	}
	return id, err
}

// componentUser is an app with a version that has an element of a component.
type componentUser struct {
	appHead
	body Body  // of the latest version
	tags []Tag // all tags, by name
}

// users yields the apps with a version, latest or older, that has an element of a component, by id from from on. It leaves
// out those that the caller may not read.
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
