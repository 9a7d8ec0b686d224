package assets

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
