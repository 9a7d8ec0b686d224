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

	"github.com/vitrine-go/vitrine"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// storedComponent is a version of a component without its manifest, as it is stored.
type storedComponent struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Main    string `json:"main"`
	Number  int64  `json:"number"` // rises in the order in which they are added
	Digest  string `json:"digest"` // of the manifest; see digestOf
}

func decodeComponent(e storage.Entry) (c storedComponent, err error) {
	if err := json.Unmarshal(e.Value, &c); err != nil {
		return c, damaged(e.Key, err)
	}
	return c, nil
}

// digestOf returns the digest of a manifest, by which a transaction finds out whether a component is the same without reading it.
func digestOf(manifest []byte) string {
	sum := sha256.Sum256(manifest)
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

func (c storedComponent) with(manifest []byte) Component {
	return Component{ID: c.ID, Name: c.Name, Version: c.Version, Main: c.Main, Manifest: slices.Clip(manifest)}
}

// component returns a version of a component without its manifest. found is false if there is none.
func (r *reader) component(ctx context.Context, ref ComponentRef) (c storedComponent, found bool, err error) {
	e := storage.Entry{Key: keyOf(componentKind, ref.Name, ref.Version)}
	if e.Value, err = r.value(ctx, e.Key); err != nil || e.Value == nil {
		return c, false, err
	}
	c, err = decodeComponent(e)
	return c, err == nil, err
}

// wholeComponent is component with the manifest.
func (r *reader) wholeComponent(ctx context.Context, ref ComponentRef) (c Component, found bool, err error) {
	manifest := keyOf(manifestKind, ref.Name, ref.Version)
	if err := r.r.Ahead(ctx, keyOf(componentKind, ref.Name, ref.Version), manifest); err != nil {
		return c, false, err
	}
	stored, found, err := r.component(ctx, ref)
	if err != nil || !found {
		return c, false, err
	}
	text, err := r.value(ctx, manifest)
	return stored.with(text), err == nil, err
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

// components yields the versions of the components whose names are after one, by name in byte order, and those of one name in any
// order.
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

// addComponent adds a version of a component. It returns takenComponent, and adds nothing, if there is one with the id, or with the
// name and version.
func (t *writer) addComponent(ctx context.Context, c Component) error {
	id, component := keyOf(idKind, c.ID), keyOf(componentKind, c.Name, c.Version)
	values, err := t.r.Get(ctx, id, component)
	if err != nil {
		return err
	}
	if values[0] != nil || values[1] != nil {
		return takenComponent(c)
	}
	n, err := t.giveNumber(ctx)
	if err != nil {
		return err
	}
	value, err := json.Marshal(storedComponent{c.ID, c.Name, c.Version, c.Main, n, digestOf(c.Manifest)})
	if err != nil {
		return err
	}
	return t.tx.Put(ctx, storage.Entry{Key: id}, storage.Entry{Key: component, Value: value},
		storage.Entry{Key: keyOf(manifestKind, c.Name, c.Version), Value: bytes.Clone(c.Manifest)})
}

// deleteComponent removes every version of a component. It returns noComponent if there is none.
func (t *writer) deleteComponent(ctx context.Context, name string) error {
	list, err := t.componentVersions(ctx, name)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return noComponent(name)
	}
	var gone []string
	for _, c := range list {
		gone = append(gone, keyOf(idKind, c.ID), keyOf(componentKind, name, c.Version), keyOf(manifestKind, name, c.Version))
	}
	return t.tx.Delete(ctx, gone...)
}

// componentUser is an app of which some version has an element of a component.
type componentUser struct {
	Head
	body Body  // of the latest version
	tags []Tag // all tags, by name
}

// users passes the apps of which some version, the latest or an older one, has an element of a component to out, by id from one on, as
// long as that returns true. It leaves out those that the caller may not read.
func (r *reader) users(ctx context.Context, component, from string, by vitrine.Caller, out func(componentUser) (bool, error)) error {
	numbers, err := r.numbersOf(ctx, []string{keyOf(listKind, ofComponent, component)})
	if err != nil || numbers[0] == 0 {
		return err
	}
	in := under(usedKind, rec.Number(numbers[0]))
	in.From, in.Expect = usedKey(numbers[0], from), atOnce
	for ids, err := range rec.Chunks(r.appsUsing(ctx, in), atOnce) {
		if err != nil {
			return err
		}
		if more, err := r.someUsers(ctx, ids, by, out); err != nil || !more {
			return err
		}
	}
	return nil
}

// someUsers passes those of the apps that the caller may read to out, with their tags, and returns false if that did.
func (r *reader) someUsers(ctx context.Context, ids []string, by vitrine.Caller, out func(componentUser) (bool, error)) (bool, error) {
	heads, err := r.heads(ctx, ids)
	if err != nil {
		return false, err
	}
	heads = slices.DeleteFunc(heads, func(h Head) bool { return !mayRead(by, h) })
	if len(heads) == 0 {
		return true, nil
	}
	readable, ranges := make([]string, len(heads)), make([]storage.Range, len(heads))
	for i, h := range heads {
		readable[i], ranges[i] = h.ID, tagsAfter(h.ID, "", 0)
	}
	tags := map[string][]Tag{}
	for t, err := range r.tags(ctx, ranges...) {
		if err != nil {
			return false, err
		}
		tags[t.AppID] = append(tags[t.AppID], t)
	}
	i := -1
	return r.whole(ctx, readable, func(a App) (bool, error) {
		i++
		return out(componentUser{Head: heads[i], body: a.Body, tags: tags[a.ID]})
	})
}
