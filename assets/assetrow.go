package assets

import (
	"encoding/binary"
	"fmt"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// Record is a stored asset.
type Record struct {
	Ordinal   int64    // 1 to MaxOrdinal, ascending in the order in which assets were added
	Origin    Origin   // no two assets of a library have the same
	CreatedAt int64    // time of adding, in milliseconds since the epoch; along the ordinals it never decreases
	UpdatedAt int64    // when ChangeAssets last changed it; never lower than CreatedAt
	Folders   []string // ids of its folders, each once, in the order in which it was put into them
	Body      Body

	words int // the limit of words by which it is indexed
	terms int // how many terms it has in the index
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

// rowForm is the first byte of an asset as it is stored.
const rowForm = 1

// encodeAsset returns an asset as it is stored, in fields: rowForm, the origin, the time of adding, how much later the last change was,
// the number of its folders and their ids, the limit of words by which it is indexed, the number of its terms, and then the body as
// it is.
func encodeAsset(r Record) []byte {
	b := append(make([]byte, 0, 64+len(r.Body)), rowForm)
	b = record.AppendText(b, r.Origin[:])
	b = binary.AppendVarint(binary.AppendVarint(b, r.CreatedAt), r.UpdatedAt-r.CreatedAt)
	b = binary.AppendUvarint(b, uint64(len(r.Folders)))
	for _, id := range r.Folders {
		b = record.AppendText(b, id)
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.words)), uint64(r.terms))
	return append(b, r.Body...)
}

// decodeAsset returns the asset of an entry. Its body is part of the value.
func decodeAsset(ordinal int64, e storage.Entry) (Record, error) {
	a, f := Record{Ordinal: ordinal}, record.FieldsOf(e)
	if form := f.Uint(); form != rowForm && f.Err() == nil {
		return a, fmt.Errorf("the record %q has the form %d, want %d", e.Key, form, rowForm)
	}
	copy(a.Origin[:], f.Text())
	a.CreatedAt = f.Int()
	a.UpdatedAt = a.CreatedAt + f.Int()
	for n := f.Uint(); n > 0 && f.Err() == nil; n-- {
		a.Folders = append(a.Folders, string(f.Text()))
	}
	a.words, a.terms = int(f.Uint()), int(f.Uint())
	a.Body = f.Rest()
	return a, f.Err()
}
