package assets

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

func originOf(generator, foreignID string) Origin {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(generator), generator, foreignID))
	return Origin(sum[:16])
}

func compareAttributes(a, b Attribute) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value))
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

// searchable returns the terms of the texts of a content that a query searches: its own, and the author's names.
func searchable(content []byte) ([]string, error) {
	var in struct {
		Content      string `json:"content"`
		AttributedTo struct {
			DisplayName string `json:"displayName"`
			Username    string `json:"username"`
		} `json:"attributedTo"`
	}
	if err := json.Unmarshal(content, &in); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	list := words(in.Content)
	list = append(list, words(in.AttributedTo.DisplayName)...)
	return wordTerms(unique(append(list, words(in.AttributedTo.Username)...))), nil
}

// IndexOf returns the index entries of an asset.
func IndexOf(r Record) (Index, error) {
	p, err := partsOf(r.Body)
	if err != nil {
		return Index{}, err
	}
	text, err := searchable(p.content)
	if err != nil {
		return Index{}, err
	}
	return indexOf(p, r.Folders, text), nil
}

func appendAttribute(b []byte, a Attribute) []byte {
	b = appendString(append(b, `{"key":`...), a.Key)
	b = appendString(append(b, `,"value":`...), a.Value)
	return append(b, '}')
}

// appendString appends s, valid UTF-8, as a JSON string.
func appendString(b []byte, s string) []byte {
	return strictjson.AppendString(b, s) // requests with other text were refused
}

// appendComma appends the comma before the i-th item of a list.
func appendComma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// appendTime appends a time as responses have it: ISO 8601, UTC, with milliseconds.
func appendTime(b []byte, milliseconds int64) []byte {
	return time.UnixMilli(milliseconds).UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
}

// sameRecord reports whether two records of an asset are equal in responses and searches. The folders of r include those of o.
func sameRecord(r, o Record) bool {
	return bytes.Equal(r.Body, o.Body) && len(r.Folders) == len(o.Folders)
}
