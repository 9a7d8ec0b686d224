package records

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// Published says that a tag of an app points to a version. See appsvc.Published.
type Published struct {
	ID          string          `json:"id"`
	Title       string          `json:"title"`
	Version     vitrine.Version `json:"version"`
	Tag         string          `json:"tag"`
	PublishedAt int64           `json:"publishedAt"`
	UpdatedAt   int64           `json:"updatedAt"`
}

// Key returns the key of the record.
func (p Published) Key() string { return Key(PublishedKind, p.Tag, p.Title, p.ID) }

// PublishedBy yields the records of a tag after the one whose key has this suffix, at most limit of them, by title and
// then by id, each with the suffix of its key.
func (r Reader) PublishedBy(ctx context.Context, tag, after string, limit int) iter.Seq2[Published, error] {
	in := Under(PublishedKind, tag)
	in.Limit, in.Expect = limit, limit
	if after != "" {
		in.From = keyAfter(in.From + after)
	}
	return keyval.Map(r.Scan(ctx, in), func(e storage.Entry) (p Published, err error) {
		err = keyval.Decode(e, &p)
		return p, err
	})
}

// Suffix returns the key of the record without what the keys of all records of the tag begin with.
func (p Published) Suffix() string { return p.Key()[len(Under(PublishedKind, p.Tag).From):] }

// PublishedUpTo reports whether all tags have a record of published/. In a store of an older release they get it in the
// order of their keys: last is the key of the last tag that has one, or "".
func (r Reader) PublishedUpTo(ctx context.Context) (last string, complete bool, err error) {
	value, err := r.Value(ctx, PublishedKey)
	return string(value), value != nil && len(value) == 0, err
}

// TagsFrom yields up to limit tags after the one with this key, in the order of their keys; "" means the first.
func (r Reader) TagsFrom(ctx context.Context, last string, limit int) iter.Seq2[storage.Entry, error] {
	in := Under(TagKind)
	in.Limit, in.Expect = limit, limit
	if last != "" {
		in.From = keyAfter(last)
	}
	return r.Scan(ctx, in)
}

// PutPublished stores records of tags, and that all tags up to the one with the key last have one; "" means all tags.
func (t Writer) PutPublished(ctx context.Context, last string, list []Published) error {
	entries := []storage.Entry{{Key: PublishedKey, Value: []byte(last)}}
	for _, p := range list {
		entries = append(entries, keyval.JSON(p.Key(), p))
	}
	return t.Tx.Put(ctx, entries...)
}
