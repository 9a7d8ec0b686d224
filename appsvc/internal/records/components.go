package records

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// Component is a stored version of a component without its manifest.
type Component struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Version     string  `json:"version"`
	Main        string  `json:"main"`
	Title       *string `json:"title,omitzero"`
	Preview     *string `json:"preview,omitzero"`
	Description *string `json:"description,omitzero"`
	Number      int64   `json:"number"` // ascending in the order in which versions were added
	Digest      string  `json:"digest"` // of the manifest; see digestOf
}

func DecodeComponent(e storage.Entry) (c Component, err error) {
	err = keyval.Decode(e, &c)
	return c, err
}

// DigestOf returns the digest of a manifest, by which a transaction compares components without reading their
// manifests.
func DigestOf(manifest []byte) string {
	sum := sha256.Sum256(manifest)
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// ComponentVersions returns the versions of a component in the order in which they were added.
func (r Reader) ComponentVersions(ctx context.Context, name string) (list []Component, err error) {
	for c, err := range keyval.Map(r.Scan(ctx, Under(ComponentKind, name)), DecodeComponent) {
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Component) int { return cmp.Compare(a.Number, b.Number) })
	return list, nil
}

// Components yields the versions of the components with names after after, by name in byte order. Those of one name are
// in any order.
func (r Reader) Components(ctx context.Context, after string) iter.Seq2[Component, error] {
	var from []string
	if after != "" {
		from = []string{after, "\xff"} // no version is after that
	}
	return keyval.Map(keyval.Sorted(ctx, r, keyval.Prefix(Space, ComponentKind), from, 0,
		func(e storage.Entry) []string {
			c, _ := DecodeComponent(e)
			return []string{c.Name, c.Version}
		}), DecodeComponent)
}

// AddComponent adds a version of a component, whose name and version and whose id are vacant. It sets the Number and
// the Digest of c.
func (t Writer) AddComponent(ctx context.Context, c Component, manifest []byte) (err error) {
	if c.Number, err = t.GiveNumber(ctx); err != nil {
		return err
	}
	c.Digest = DigestOf(manifest)
	return t.Tx.Put(ctx, storage.Entry{Key: Key(IDKind, c.ID)},
		keyval.JSON(ComponentKey(c.Name, c.Version), c),
		storage.Entry{Key: ManifestKey(c.Name, c.Version), Value: bytes.Clone(manifest)})
}

// DeleteComponent removes all versions of a component, and returns how many it had.
func (t Writer) DeleteComponent(ctx context.Context, name string) (int, error) {
	list, err := t.Rows.ComponentVersions(ctx, name)
	if err != nil {
		return 0, err
	}
	var gone []string
	var was []storage.Entry
	for _, c := range list {
		manifest, err := t.Rows.Value(ctx, ManifestKey(name, c.Version))
		if err != nil {
			return 0, err
		}
		deleted := []byte(ContentDigest(manifest) + " " + c.ID)
		was = append(was, storage.Entry{Key: Key(WasKind, name, c.Version), Value: deleted})
		gone = append(gone, Key(IDKind, c.ID), ComponentKey(name, c.Version),
			ManifestKey(name, c.Version))
	}
	if err := t.Tx.Delete(ctx, gone...); err != nil {
		return 0, err
	}
	return len(list), t.Tx.Put(ctx, was...)
}

// ContentDigest returns a digest that is equal for manifests that differ only in the order of members and in the id.
func ContentDigest(manifest []byte) string {
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(manifest))
	d.UseNumber()
	_ = d.Decode(&m) // it was decoded before
	delete(m, "id")
	text, _ := json.Marshal(m)
	return DigestOf(text)
}

// UsedIn returns the range of used/ for the apps that have used a component in any of their versions. The range begins
// with the id from. ok is false if no app has used the component.
func (r Reader) UsedIn(ctx context.Context, component, from string) (in storage.Range, ok bool, err error) {
	numbers, err := r.NumbersOf(ctx, []string{ListKey(OfComponent, component, false)})
	if err != nil || numbers[0] == 0 {
		return in, false, err
	}
	in = Under(UsedKind, keyval.Number(numbers[0]))
	in.From = UsedKey(numbers[0], from)
	return in, true, nil
}
