package records

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// Head is what is stored of an app beside its body: what the access rules and lists need. Times are milliseconds
// since the epoch.
type Head struct {
	ID         string   `json:"-"`
	Version    int64    `json:"version"`
	Title      string   `json:"title"`
	CreatedAt  int64    `json:"createdAt"`
	UpdatedAt  int64    `json:"updatedAt"`
	UpdatedBy  string   `json:"updatedBy"`
	Owner      string   `json:"owner"`
	Groups     []string `json:"groups"`
	Components []Use    `json:"components"`
	// numbers of the lists that the app is in, in the order of ListKeys
	Lists     []int64 `json:"lists"`
	Large     bool    `json:"large,omitzero"` // the body is in large/
	DeletedAt int64   `json:"deletedAt,omitzero"`
	DeletedBy string  `json:"deletedBy,omitzero"`
}

// Use is a component in use, with its versions, sorted, each once.
type Use struct {
	Name     string   `json:"name"`
	Versions []string `json:"versions"`
}

// DecodeHead decodes a stored head.
func DecodeHead(app string, value []byte) (Head, error) {
	h := Head{ID: app, Version: -1}
	err := json.Unmarshal(value, &h)
	if err == nil && h.Version < 0 {
		err = errors.New("it has no version")
	}
	if err != nil {
		return Head{}, keyval.Damaged(HeadKey(app), err)
	}
	return h, nil
}

// ReplaceHead replaces the head of an app that is deleted or restored.
func (t Writer) ReplaceHead(ctx context.Context, last, next Head) error {
	if err := t.moveInLists(ctx, last, &next); err != nil {
		return err
	}
	from, to := HeadKey(last.ID), Key(DeletedKind, last.ID)
	if next.DeletedAt == 0 {
		from, to = to, from
	}
	stored, err := json.Marshal(next)
	if err == nil {
		err = t.Tx.Delete(ctx, from)
	}
	if err != nil {
		return err
	}
	return t.Tx.Put(ctx, storage.Entry{Key: to, Value: stored})
}

// moveInLists moves an app from the lists of its last version to those of the next one, whose numbers it sets. last is
// the zero head for a new app.
func (t Writer) moveInLists(ctx context.Context, last Head, next *Head) (err error) {
	next.Lists = last.Lists
	if last.Lists == nil || !slices.Equal(last.Groups, next.Groups) || last.DeletedAt != next.DeletedAt {
		if next.Lists, err = t.giveNumbers(ctx, next.ListKeys()); err != nil {
			return err
		}
	}
	before, now := last.timeKeys(), next.timeKeys()
	if last.Title != next.Title {
		before, now = append(before, wordKeys(last)...), append(now, wordKeys(*next)...)
	}
	added := keyval.Without(now, before)
	var components []string
	for _, c := range next.Components {
		if !slices.ContainsFunc(last.Components, func(u Use) bool { return u.Name == c.Name }) {
			components = append(components, ListKey(OfComponent, c.Name, false))
		}
	}
	if len(components) > 0 {
		numbers, err := t.giveNumbers(ctx, components)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			added = append(added, UsedKey(n, next.ID))
		}
	}
	puts := make([]storage.Entry, len(added))
	for i, key := range added {
		puts[i].Key = key
	}
	if err := t.Tx.Delete(ctx, keyval.Without(before, now)...); err != nil {
		return err
	}
	return t.Tx.Put(ctx, puts...)
}

// IndexKeys returns the keys by which lists find the app with this head: those of its lists, and of the words of its
// title.
func (h Head) IndexKeys() []string { return append(h.timeKeys(), wordKeys(h)...) }

// timeKeys returns the keys of the app with this head in its lists.
func (h Head) timeKeys() (keys []string) {
	for _, n := range h.Lists {
		keys = append(keys, timeKey(CreatedKind, n, Position{h.CreatedAt, h.ID}),
			timeKey(UpdatedKind, n, Position{h.UpdatedAt, h.ID}))
	}
	return keys
}

// ListKeys returns the keys of the lists that an app is in, each once: that of its owner, and those of each group and
// of the network that has the group. Wider texts, such as urn:vendor, have no lists of their own.
func (h Head) ListKeys() []string {
	deleted := h.DeletedAt != 0
	out := []string{ListKey(OfOwner, h.Owner, deleted)}
	for _, g := range h.Groups {
		for _, outer := range urn.Containers(g) {
			if list := ListKey(OfGroup, outer, deleted); (outer == g || !IsWide(outer)) && !slices.Contains(out, list) {
				out = append(out, list)
			}
		}
	}
	return out
}

// ListKey returns the key of the list of an owner, a group or a component. Deleted apps are in lists of their own.
func ListKey(kind, text string, deleted bool) string {
	if deleted {
		kind = ofDeleted + kind
	}
	return Key(ListKind, kind, text)
}

// IsWide reports whether a text is shorter than the URN of a network.
func IsWide(group string) bool { return strings.Count(group, ":") < 2 }

// VersionOrNone returns the version with a number, or the zero Version for -1.
func VersionOrNone(n int64) vitrine.Version {
	if n < 0 {
		return vitrine.Version{}
	}
	return vitrine.NewVersion(n)
}

// AppsAfter yields the ids of up to limit apps, deleted ones too, after this one. "" means the beginning.
func (r Reader) AppsAfter(ctx context.Context, app string, limit int) iter.Seq2[string, error] {
	in := Under(BodyKind)
	in.Limit, in.Expect = limit, limit
	if app != "" {
		in.From = keyAfter(BodyKey(app))
	}
	return keyval.Map(r.Scan(ctx, in), func(e storage.Entry) (string, error) { return Parts(e.Key, BodyKind)[0], nil })
}

// DeletedApps yields the heads of deleted apps.
func (r Reader) DeletedApps(ctx context.Context) iter.Seq2[Head, error] {
	return keyval.Map(r.Scan(ctx, Under(DeletedKind)), func(e storage.Entry) (Head, error) {
		return DecodeHead(Parts(e.Key, DeletedKind)[0], e.Value)
	})
}
