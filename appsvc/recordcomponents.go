package appsvc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
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
}

func decodeComponent(key string, value []byte) (c storedComponent, err error) {
	if err := json.Unmarshal(value, &c); err != nil {
		return c, damaged(key, err)
	}
	return c, nil
}

func (r *recordReader) Components(ctx context.Context, q ComponentQuery) iter.Seq2[Component, error] {
	return yields(ctx, 0, func(out func(Component) bool) error {
		if q.Name != "" && q.Name <= q.After {
			return nil
		}
		if q.Name != "" && q.Version != "" {
			key := keyOf(componentKind, q.Name, q.Version)
			value, err := r.value(ctx, key)
			if err != nil || value == nil {
				return err
			}
			c, err := decodeComponent(key, value)
			if err == nil {
				_, err = r.withManifests(ctx, []storedComponent{c}, q.Brief, out)
			}
			return err
		}
		in := under(componentKind)
		if q.Name != "" {
			in = under(componentKind, q.Name)
		} else if q.After != "" {
			in.From = under(componentKind, q.After).To
		}
		const most = 32 // manifests at once, but for those of one name
		var list []storedComponent
		for e, err := range r.r.Scan(ctx, in) {
			if err != nil {
				return err
			}
			c, err := decodeComponent(e.Key, e.Value)
			if err != nil {
				return err
			}
			if len(list) >= most && list[len(list)-1].Name != c.Name {
				if more, err := r.withManifests(ctx, list, q.Brief, out); err != nil || !more {
					return err
				}
				list = list[:0]
			}
			if q.Version == "" || c.Version == q.Version {
				list = append(list, c)
			}
		}
		_, err := r.withManifests(ctx, list, q.Brief, out)
		return err
	})
}

// withManifests passes components to out, those of one name in the order in which they were added, and returns false if that did.
func (r *recordReader) withManifests(ctx context.Context, list []storedComponent, brief bool, out func(Component) bool) (bool, error) {
	slices.SortFunc(list, func(a, b storedComponent) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Number, b.Number))
	})
	manifests := make([][]byte, len(list))
	if !brief {
		keys := make([]string, len(list))
		for i, c := range list {
			keys[i] = keyOf(manifestKind, c.Name, c.Version)
		}
		var err error
		if manifests, err = r.r.Get(ctx, keys...); err != nil {
			return false, err
		}
	}
	for i, c := range list {
		if !out(Component{ID: c.ID, Name: c.Name, Version: c.Version, Main: c.Main, Manifest: slices.Clip(manifests[i])}) {
			return false, nil
		}
	}
	return true, nil
}

func (t *recordTx) AddComponent(ctx context.Context, c Component) error {
	id, component := keyOf(idKind, c.ID), keyOf(componentKind, c.Name, c.Version)
	values, err := t.r.Get(ctx, id, component)
	if err != nil {
		return err
	}
	if values[0] != nil || values[1] != nil {
		return fmt.Errorf("%w: component %q with id %q and version %q: the id, or the name and version, are taken",
			ErrExists, c.Name, c.ID, c.Version)
	}
	n, err := t.giveNumber(ctx)
	if err != nil {
		return err
	}
	value, err := json.Marshal(storedComponent{c.ID, c.Name, c.Version, c.Main, n})
	if err != nil {
		return err
	}
	return t.tx.Put(ctx, storage.Entry{Key: id}, storage.Entry{Key: component, Value: value},
		storage.Entry{Key: keyOf(manifestKind, c.Name, c.Version), Value: bytes.Clone(c.Manifest)})
}

func (t *recordTx) DeleteComponent(ctx context.Context, name string) error {
	if name == "" { // which asks for all of them below
		return fmt.Errorf("%w: component %q", vitrine.ErrNotFound, name)
	}
	var gone []string
	for c, err := range t.Components(ctx, ComponentQuery{Name: name, Brief: true}) {
		if err != nil {
			return err
		}
		gone = append(gone, keyOf(idKind, c.ID), keyOf(componentKind, name, c.Version), keyOf(manifestKind, name, c.Version))
	}
	if len(gone) == 0 {
		return fmt.Errorf("%w: component %q", vitrine.ErrNotFound, name)
	}
	return t.tx.Delete(ctx, gone...)
}

func (r *recordReader) Users(ctx context.Context, q UserQuery) iter.Seq2[ComponentUser, error] {
	return yields(ctx, 0, func(out func(ComponentUser) bool) error {
		numbers, err := r.numbersOf(ctx, []string{keyOf(listKind, ofComponent, q.Component)})
		if err != nil || numbers[0] == 0 {
			return err
		}
		var ids []string
		in := under(usedKind, rec.Number(numbers[0]))
		in.From, in.Expect = usedKey(numbers[0], q.From), atOnce
		for e, err := range r.r.Scan(ctx, in) {
			if err != nil {
				return err
			}
			if ids = append(ids, partsOf(e.Key, usedKind)[1]); len(ids) == atOnce {
				if more, err := r.users(ctx, q, ids, out); err != nil || !more {
					return err
				}
				ids = ids[:0]
			}
		}
		_, err = r.users(ctx, q, ids, out)
		return err
	})
}

// users passes those of the apps that match q to out, with their tags, and returns false if that did.
func (r *recordReader) users(ctx context.Context, q UserQuery, ids []string, out func(ComponentUser) bool) (bool, error) {
	heads, err := r.heads(ctx, ids)
	if err != nil {
		return false, err
	}
	heads = slices.DeleteFunc(heads, func(h storedHead) bool { return !q.Match(h.Head) })
	if len(heads) == 0 {
		return true, nil
	}
	matching, ranges := make([]string, len(heads)), make([]storage.Range, len(heads))
	for i, h := range heads {
		matching[i], ranges[i] = h.ID, under(tagKind, h.ID)
	}
	tags := map[string][]Tag{}
	if _, err := r.tags(ctx, func(t Tag) bool { tags[t.AppID] = append(tags[t.AppID], t); return true }, ranges...); err != nil {
		return false, err
	}
	i := -1
	return r.whole(ctx, matching, func(a App) bool {
		i++
		return out(ComponentUser{Head: heads[i].Head, Body: a.Body, Tags: tags[a.ID]})
	})
}
