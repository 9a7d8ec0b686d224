package assets

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/keyval"
)

// originOf returns the key by which the store finds an asset of another service. The length of the generator's id is
// part of the digest, so that ("ab", "c") and ("a", "bc") have different origins.
func originOf(generator, foreignID string) origin {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(generator), generator, foreignID))
	return origin(sum[:16])
}

// parts are the decoded members of a body, for rules that read or change one of them. The order of the members is
// fixed, so equal parts have equal bodies.
type parts struct {
	Content    jsontext.Value `json:"content"` // a compact JSON object
	Tags       []string       `json:"safe_tags"`
	Via        *int64         `json:"via,omitzero"`         // nil if the asset has none
	Rights     *int64         `json:"rights,omitzero"`      // nil if the asset has none
	Attributes []Attribute    `json:"attributes,omitempty"` // in the order of adding, each once

	generator string // the member generator.id of the content
}

// body encodes the parts. It is the inverse of partsOf, byte by byte.
func (p parts) body() []byte {
	b, err := json.Marshal(p, jsontext.PreserveRawStrings(true))
	if err != nil {
		panic(err) // all texts are UTF-8, and the content is valid
	}
	return b
}

// partsOf decodes a stored body. It returns an error if the body is malformed.
func partsOf(b []byte) (p parts, err error) {
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("stored asset: %w", err)
	}
	var from struct {
		Generator Generator `json:"generator"`
	}
	if err := json.Unmarshal(p.Content, &from); err != nil {
		return p, fmt.Errorf("stored asset: %w", err)
	}
	p.generator = from.Generator.ID
	return p, nil
}

// sameRecord reports whether two records of an asset, r later than o, are equal in responses and
// searches. The folders of r must include those of o, so it is enough to compare their number.
func sameRecord(r, o assetRecord) bool {
	return bytes.Equal(r.Body, o.Body) && bytes.Equal(r.File, o.File) && len(r.Folders) == len(o.Folders)
}

// assetRecord is a stored asset.
type assetRecord struct {
	Ordinal int64  // 1 to maxOrdinal, ascending in the order in which assets were added
	Origin  origin // no two assets of a library have the same
	// when it was first published, in milliseconds since the epoch; the time of adding unless that was given
	CreatedAt int64
	UpdatedAt int64    // when ChangeAssets last changed it
	Folders   []string // ids of its folders, each once, in the order in which it was put into them
	Body      []byte   // as Asset.Body
	File      []byte   // a fileRecord, as JSON; nil if the asset has no file

	words int // the limit of words by which it is indexed
}

// maxOrdinal is the highest ordinal that a library may have.
const maxOrdinal = 1<<40 - 1

// origin identifies an asset in the service that it comes from: a digest of its generator and its
// id there. It has a fixed size, whatever the length of the two.
type origin [16]byte

// Attribute labels an asset with a key and a value. An asset may have several attributes with the
// same key, and none twice.
type Attribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// rowForm is the first byte of a stored asset. Earlier forms have no file, and oldestRowForm has the number of terms
// before the body.
const rowForm, oldestRowForm = 3, 1

// encodeAsset returns the stored form of an asset: rowForm, the origin, createdAt, the time from then to the last
// change, the number of its folders and their ids, the limit of words by which it is indexed, the record of its file,
// empty if it has none, and the body.
func encodeAsset(r assetRecord) []byte {
	b := append(make([]byte, 0, 64+len(r.File)+len(r.Body)), rowForm)
	b = keyval.AppendText(b, r.Origin[:])
	b = binary.AppendVarint(binary.AppendVarint(b, r.CreatedAt), r.UpdatedAt-r.CreatedAt)
	b = binary.AppendUvarint(b, uint64(len(r.Folders)))
	for _, id := range r.Folders {
		b = keyval.AppendText(b, id)
	}
	b = keyval.AppendText(binary.AppendUvarint(b, uint64(r.words)), r.File)
	return append(b, r.Body...)
}
