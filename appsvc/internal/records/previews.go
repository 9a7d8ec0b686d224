package records

import (
	"context"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// Preview is a stored link that shows an app to people without an account. Times are milliseconds since the epoch.
type Preview struct {
	App, ID string         `json:"-"` // in the key
	Hash    string         // SHA-256 of the secret of the link, in hexadecimal digits
	Version int64          // of the app; -1 = the latest one, or that of Release
	Release string         `json:",omitempty"` // id of the release whose version is shown
	Note    string         `json:",omitempty"`
	By      vitrine.Caller // who made it, with the rights at that time
	Created int64
	Expires int64
}

// Index returns the record by which the preview is found by its secret.
func (p Preview) Index() storage.Entry {
	return storage.Entry{Key: Key(ShownKind, p.Hash), Value: []byte(Key(PreviewKind, p.App, p.ID))}
}

// DecodePreview decodes the record of a preview.
func DecodePreview(e storage.Entry) (p Preview, err error) {
	name := Parts(e.Key, PreviewKind)
	err = keyval.Decode(e, &p)
	p.App, p.ID = name[0], name[1]
	return p, err
}

// Previews returns all previews of an app, in the order of their ids.
func (r Reader) Previews(ctx context.Context, app string) (list []Preview, err error) {
	for e, err := range r.Scan(ctx, Under(PreviewKind, app)) {
		if err != nil {
			return nil, err
		}
		p, err := DecodePreview(e)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// PreviewOf returns the preview whose secret has this hash. If there is none, its ID is "".
func (r Reader) PreviewOf(ctx context.Context, hash string) (p Preview, err error) {
	key, err := r.Value(ctx, Key(ShownKind, hash))
	if err != nil || key == nil {
		return p, err
	}
	value, err := r.Value(ctx, string(key))
	if err != nil {
		return p, err
	}
	return DecodePreview(storage.Entry{Key: string(key), Value: value})
}

// PutPreview stores a new preview.
func (t Writer) PutPreview(ctx context.Context, p Preview) error {
	return t.Tx.Put(ctx, keyval.JSON(Key(PreviewKind, p.App, p.ID), p), p.Index())
}

// DeletePreviews removes previews.
func (t Writer) DeletePreviews(ctx context.Context, list ...Preview) error {
	var keys []string
	for _, p := range list {
		keys = append(keys, Key(PreviewKind, p.App, p.ID), p.Index().Key)
	}
	return t.Tx.Delete(ctx, keys...)
}
