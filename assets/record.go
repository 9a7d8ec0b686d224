package assets

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func originOf(generator, foreignID string) Origin {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(generator), generator, foreignID))
	return Origin(sum[:16])
}

// parts is a Body taken apart.
type parts struct {
	content     []byte // a JSON object
	generator   string
	tags        []string
	via, rights *int64
	attributes  []Attribute // in the order of adding, each once
}

// body puts the parts together.
func (p parts) body() Body {
	b := append([]byte(`{"content":`), p.content...)
	b = append(b, `,"safe_tags":[`...)
	for i, tag := range p.tags {
		b = appendString(appendComma(b, i), tag)
	}
	b = append(b, ']')
	if p.via != nil {
		b = strconv.AppendInt(append(b, `,"via":`...), *p.via, 10)
	}
	if p.rights != nil {
		b = strconv.AppendInt(append(b, `,"rights":`...), *p.rights, 10)
	}
	for i, a := range p.attributes {
		if i == 0 {
			b = append(b, `,"attributes":[`...)
		}
		b = appendAttribute(appendComma(b, i), a)
		if i == len(p.attributes)-1 {
			b = append(b, ']')
		}
	}
	return append(b, '}')
}

// partsOf returns the parts of a body.
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

// sameRecord reports whether two records of an asset are equal in responses and searches. The folders of r include those of o.
func sameRecord(r, o Record) bool {
	return bytes.Equal(r.Body, o.Body) && len(r.Folders) == len(o.Folders)
}
