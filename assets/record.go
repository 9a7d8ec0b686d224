package assets

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// originOf returns the key by which the store finds an asset of another service again. The length
// of the generator's id is part of the digest, so that ("ab", "c") and ("a", "bc") have different
// origins.
func originOf(generator, foreignID string) Origin {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(generator), generator, foreignID))
	return Origin(sum[:16])
}

// parts is a Body taken apart, for rules that read or change a part of it.
type parts struct {
	content     []byte // a compact JSON object
	generator   string // the member generator.id of the content
	tags        []string
	via, rights *int64      // nil if the asset has none
	attributes  []Attribute // in the order of adding, each once
}

// body puts the parts together. It is the inverse of partsOf, byte by byte.
func (p parts) body() Body {
	// The order of the members is part of what is stored: equal parts have equal bodies.
	b := append([]byte(`{"content":`), p.content...)
	b = appendJSON(append(b, `,"safe_tags":`...), p.tags)
	if p.via != nil {
		b = strconv.AppendInt(append(b, `,"via":`...), *p.via, 10)
	}
	if p.rights != nil {
		b = strconv.AppendInt(append(b, `,"rights":`...), *p.rights, 10)
	}
	if len(p.attributes) > 0 {
		b = appendJSON(append(b, `,"attributes":`...), p.attributes)
	}
	return append(b, '}')
}

// partsOf takes a stored body apart. It returns an error if the body is malformed.
func partsOf(b Body) (parts, error) {
	var in struct {
		Content    jsontext.Value `json:"content"`
		SafeTags   []string       `json:"safe_tags"`
		Via        *int64         `json:"via"`
		Rights     *int64         `json:"rights"`
		Attributes []Attribute    `json:"attributes"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return parts{}, fmt.Errorf("stored asset: %w", err)
	}
	var origin struct {
		Generator struct {
			ID string `json:"id"`
		} `json:"generator"`
	}
	if err := json.Unmarshal(in.Content, &origin); err != nil {
		return parts{}, fmt.Errorf("stored asset: %w", err)
	}
	return parts{in.Content, origin.Generator.ID, in.SafeTags, in.Via, in.Rights, in.Attributes}, nil
}

// sameRecord reports whether two records of an asset, r later than o, are equal in responses and
// searches. The folders of r must include those of o, so it is enough to compare their number.
func sameRecord(r, o Record) bool {
	return bytes.Equal(r.Body, o.Body) && len(r.Folders) == len(o.Folders)
}

// Record is a stored asset.
type Record struct {
	Ordinal   int64    // 1 to MaxOrdinal, ascending in the order in which assets were added
	Origin    Origin   // no two assets of a library have the same
	CreatedAt int64    // when it was first published, in milliseconds since the epoch; the time of adding unless that was given
	UpdatedAt int64    // when ChangeAssets last changed it
	Folders   []string // ids of its folders, each once, in the order in which it was put into them
	Body      Body

	words int // the limit of words by which it is indexed
}

// MaxOrdinal is the highest ordinal that a library may have.
const MaxOrdinal = 1<<40 - 1

// Origin identifies an asset in the service that it comes from: a digest of its generator and its
// id there. It has a fixed size, whatever the length of the two.
type Origin [16]byte

// Body is what an asset says, as one compact JSON object, in the bytes that a response has:
//
//	{"content":{…},"safe_tags":["…"],"via":1,"rights":2,"attributes":[{"key":"…","value":"…"}]}
//
// The members via, rights and attributes are there only if the asset has them.
type Body []byte

// Attribute labels an asset with a key and a value. An asset may have several attributes with the
// same key, and none twice.
type Attribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// rowForm is the first byte of an asset as it is stored. One of oldRowForm has the number of its terms in front of the body.
const rowForm, oldRowForm = 2, 1

// encodeAsset returns an asset as it is stored, in fields: rowForm, the origin, createdAt, how much later the last change was,
// the number of its folders and their ids, the limit of words by which it is indexed, and then the body as it is.
func encodeAsset(r Record) []byte {
	b := append(make([]byte, 0, 64+len(r.Body)), rowForm)
	b = record.AppendText(b, r.Origin[:])
	b = binary.AppendVarint(binary.AppendVarint(b, r.CreatedAt), r.UpdatedAt-r.CreatedAt)
	b = binary.AppendUvarint(b, uint64(len(r.Folders)))
	for _, id := range r.Folders {
		b = record.AppendText(b, id)
	}
	b = binary.AppendUvarint(b, uint64(r.words))
	return append(b, r.Body...)
}

// decodeAsset returns the asset of an entry. Its body is part of the value.
func decodeAsset(ordinal int64, e storage.Entry) (Record, error) {
	a, f := Record{Ordinal: ordinal}, record.FieldsOf(e)
	form := f.Uint()
	if form != rowForm && form != oldRowForm && f.Err() == nil {
		return a, fmt.Errorf("the record %q has the form %d, want %d", e.Key, form, rowForm)
	}
	copy(a.Origin[:], f.Text())
	a.CreatedAt = f.Int()
	a.UpdatedAt = a.CreatedAt + f.Int()
	for n := f.Uint(); n > 0 && f.Err() == nil; n-- {
		a.Folders = append(a.Folders, string(f.Text()))
	}
	a.words = int(f.Uint())
	if form == oldRowForm {
		f.Uint()
	}
	a.Body = f.Rest()
	return a, f.Err()
}
