package assets

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Asset is an asset as a caller sees it: a post or a picture with its author, tags and attributes,
// in any number of folders.
//
// The content stays in JSON, since services send many members that this package does not know. The method Content reads
// Body, which is one compact object:
//
//	{"content":{…},"safe_tags":["…"],"via":1,"rights":2,"attributes":[{"key":"…","value":"…"}]}
//
// The members via, rights and attributes are there only if the asset has them. The content may have HTML, which is
// stored as it was sent: sanitize it before you put it into a page.
type Asset struct {
	ID      string // opaque, and valid in its library only
	Library string // id of the library
	// when it was first published, in milliseconds since the epoch: NewAsset.CreatedAt, or the time of adding
	CreatedAt int64
	UpdatedAt int64    // when ChangeAssets last changed it, in milliseconds since the epoch
	Folders   []Folder // those of its folders that the caller sees, without children and permissions
	Body      []byte   // do not change it: others may share it

	hasFile bool // false in what a client reads
}

// Content is the Body of an Asset, decoded.
type Content struct {
	Content    jsontext.Value `json:"content"` // an object, with whatever members the service sent that it comes from
	SafeTags   []string       `json:"safe_tags"`
	Via        *int64         `json:"via"` // nil for none
	Rights     *int64         `json:"rights"`
	Attributes []Attribute    `json:"attributes"`
}

// Content decodes the Body. The error is that of a Body which no service has written.
func (a Asset) Content() (c Content, err error) {
	err = json.Unmarshal(a.Body, &c)
	return c, err
}

// AppendJSON appends the asset as it is over HTTP: an object with the members id, library,
// createdAt, updatedAt and folders, followed by those of the Body. The Body is copied and not
// decoded.
func (a Asset) AppendJSON(b []byte) []byte {
	b = strictjson.AppendString(append(b, `{"id":`...), a.ID)
	b = strictjson.AppendString(append(b, `,"library":{"id":`...), a.Library)
	b = appendTime(append(b, `},"createdAt":"`...), a.CreatedAt)
	b = appendTime(append(b, `","updatedAt":"`...), a.UpdatedAt)
	b = append(b, `","folders":[`...)
	for i, f := range a.Folders {
		b = appendJSON(appendComma(b, i), f)
	}
	b = append(b, `],`...)
	return append(b, a.Body[1:]...)
}

// ETag returns the strong ETag of the asset in HTTP, with its quotes: that of the bytes which AppendJSON appends. So
// two callers who see other folders of an asset have other ETags of it.
func (a Asset) ETag() string {
	sum := sha256.Sum256(a.AppendJSON(nil))
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
}

// size estimates how many bytes AppendJSON appends, without building them.
func (a Asset) size() int {
	const envelope, folder = 200, 100
	size := envelope + len(a.Body)
	for _, f := range a.Folders {
		size += folder + len(f.Path) + len(f.Label)
	}
	return size
}

// MarshalJSON gives the same bytes as AppendJSON.
func (a Asset) MarshalJSON() ([]byte, error) { return a.AppendJSON(nil), nil }

// UnmarshalJSON is the inverse of MarshalJSON. All members that Asset has no field for go into the
// Body, byte by byte, so a client keeps members of a later version of the service. It returns an
// error if the id or the content is missing.
func (a *Asset) UnmarshalJSON(text []byte) error {
	var in struct {
		ID      string `json:"id"`
		Library struct {
			ID string `json:"id"`
		} `json:"library"`
		CreatedAt time.Time      `json:"createdAt"`
		UpdatedAt time.Time      `json:"updatedAt"`
		Folders   []Folder       `json:"folders"`
		Body      jsontext.Value `json:",embed"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	var body struct {
		Content jsontext.Value `json:"content"`
	}
	if in.Body != nil {
		if err := json.Unmarshal(in.Body, &body); err != nil {
			return err
		}
	}
	if in.ID == "" || body.Content == nil {
		return errors.New("an asset lacks its id or its content")
	}
	*a = Asset{ID: in.ID, Library: in.Library.ID, CreatedAt: in.CreatedAt.UnixMilli(),
		UpdatedAt: in.UpdatedAt.UnixMilli(), Body: in.Body}
	if len(in.Folders) > 0 {
		a.Folders = in.Folders
	}
	return nil
}

// Asset returns one asset. It returns ErrNotFound if no asset has this id or the caller may not see
// it. A moderator may also read an asset whose folders are all deleted, which no search finds.
func (s *Session) Asset(ctx context.Context, lib Library, id string) (Asset, error) {
	s = s.calls("Asset")
	return view(ctx, s, lib, func(req *request) (Asset, error) {
		r, err := req.find(id)
		if err == nil && r == nil {
			err = noAsset("")
		}
		if err != nil {
			return Asset{}, err
		}
		return req.asset(*r), nil
	})
}

// find returns the asset with this id, or nil if no asset has it or the caller may not see it. The
// two look the same on purpose, so that an id tells nothing about what is hidden.
func (req *request) find(id string) (*assetRecord, error) {
	// An id that was made up, or that is of another library, decrypts to nothing.
	ordinal, ok := req.ids.decrypt(idKind, id)
	if !ok {
		return nil, nil
	}
	found, err := req.assetsWith([]int64{ordinal})
	if err != nil || found[0].Ordinal == 0 || !req.seesAsset(req.tree, found[0].Folders) {
		return nil, err
	}
	return &found[0], nil
}

// readAhead reads the assets of an update that follow position i in ids, several in one trip to the store.
func (req *request) readAhead(ids []string, i int) error {
	if i%atOnce != 0 {
		return req.ctx.Err()
	}
	var keys []string
	for _, id := range ids[i:min(i+atOnce, len(ids))] {
		if ordinal, ok := req.ids.decrypt(idKind, id); ok {
			keys = append(keys, req.assetKey(ordinal))
		}
	}
	return req.tx.Ahead(req.ctx, keys...)
}

// asset returns the stored asset as the caller sees it: with an id in place of its ordinal, and
// only with folders that the caller sees.
func (req *request) asset(r assetRecord) Asset {
	a := Asset{
		ID: req.ids.encrypt(idKind, r.Ordinal), Library: req.lib.ID,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Body: r.Body,
	}
	if a.hasFile = r.File != nil; a.hasFile && req.base != "" {
		a.Body = shownBelow(req.base, a.Body)
	}
	for _, id := range r.Folders {
		if n := req.tree.nodes[id]; n != nil && req.sees(n) {
			a.Folders = append(a.Folders, n.folder())
		}
	}
	return a
}

// put stores an asset in place of old, the zero assetRecord for a new one. before and after are sorted: the terms by
// newRules that it loses and those that it gets. put returns ErrInvalid if the request would add more than Limits.Terms
// to the index.
func (req *request) put(old, r assetRecord, before, after []string) error {
	for _, t := range after {
		switch t[0] {
		case kindOrigin, kindCreated, kindDays, kindType, kindNoAlt: // each asset has few
		default:
			req.terms++
		}
	}
	if req.terms > req.limits.Terms {
		return fault.Invalid("",
			"the assets that the request stores have more than %d different words, tags, folders and attributes, "+
				"each counted once an asset: send it in parts",
			req.limits.Terms)
	}
	req.wrote = true
	req.changes.note(r.Ordinal, wasChanged)
	if req.rule != nil {
		req.changes.keep(old, r)
	}
	return req.putAsset(old, r, before, after)
}

// remove deletes the asset from the library for good.
func (req *request) remove(r assetRecord) error {
	req.wrote = true
	req.changes.note(r.Ordinal, wasRemoved)
	if req.rule != nil {
		req.changes.keep(r, assetRecord{})
	}
	req.state.Count--
	if err := req.moveFile(r, nil); err != nil {
		return err
	}
	return req.deleteAsset(r)
}
