package appsvc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
)

// A Body is compact JSON of this form, with the members in this order:
//
//	{"title":"…","owner":{"urn":"…"},"groups":["…"],"elements":[{"id":"0","key":"0.0","component":<manifest>,"config":<config>}]}
//
// The id of an element is its index, and the key says where it was created. So the text of an element up to the
// manifest, called its head, changes when the element moves, and the text after the head does not. The latter is copied
// from version to version without being parsed. draft.body writes this form. Since it is fixed, a body is read with the
// functions of package jsontree that find values and decode little.

// The text between the index, the key, the manifest and the config of a stored element.
const keyName, manifestName, configName = `","key":"`, `","component":`, `,"config":`

// draft parses a stored body into a draft whose elements are all kept, so that storing the draft again copies them, as
// Restore does. They are slices of the body.
func (b Body) draft() (draft, error) {
	head, elements, err := b.split()
	if err != nil {
		return draft{}, err
	}
	return storedDraft(head, elements)
}

// split returns a copy of a stored body with 0 in place of the elements, and the text of each element, which shares the
// bytes of the body. The elements come last and are most of the body, so they are scanned only once. It returns an
// error if a Service has not stored the body.
func (b Body) split() (head []byte, elements [][]byte, err error) {
	rest := jsontree.Lookup(b, "elements")
	if elements, err = jsontree.Items(rest); err != nil {
		return nil, nil, fmt.Errorf("stored elements: %w", err)
	}
	return slices.Concat(b[:len(b)-len(rest)], []byte("0}")), elements, nil
}

// storedDraft returns the draft of a stored body of which split has returned these parts.
func storedDraft(head []byte, elements [][]byte) (d draft, err error) {
	title, isText := jsontree.Text(jsontree.Member(head, "title"))
	groups, areTexts := texts(jsontree.Member(head, "groups"))
	if !isText || !areTexts {
		return draft{}, errors.New("stored body: no title or no groups")
	}
	d = draft{title: title, groups: groups, elements: make([]draftElement, len(elements))}
	for i, raw := range elements {
		var buf [32]byte
		begin := append(strconv.AppendInt(append(buf[:0], `{"id":"`...), int64(i), 10), keyName...)
		rest, begins := bytes.CutPrefix(raw, begin)
		key, kept, ends := bytes.Cut(rest, []byte(manifestName))
		if !begins || !ends || !isKey(string(key)) {
			return draft{}, fmt.Errorf("stored element %d: does not begin with its id", i)
		}
		d.elements[i].key, d.elements[i].kept = string(key), kept
	}
	return d, nil
}

// isKey reports whether a text is the key of an element: "12.3" for the fourth element of version 12, where it was
// created.
func isKey(s string) bool {
	version, index, _ := strings.Cut(s, ".")
	for _, number := range []string{version, index} {
		if n, err := strconv.ParseInt(number, 10, 64); err != nil || n < 0 || strconv.FormatInt(n, 10) != number {
			return false
		}
	}
	return true
}

// split returns the manifest and the config of a kept element. Both share its bytes. It finds the end of the manifest
// by scanning it; nothing is decoded. It returns an error if no config follows the manifest, which no Service has
// stored.
func (e draftElement) split() (manifest, config []byte, err error) {
	manifest, rest := jsontree.Cut(e.kept)
	config, ok := bytes.CutPrefix(rest, []byte(configName))
	if !ok || len(config) == 0 {
		return nil, nil, errors.New("stored element: no config behind the component")
	}
	return manifest, config[:len(config)-1], nil
}

// storedRef returns the name and version in a manifest.
func storedRef(manifest []byte) ComponentRef {
	return ComponentRef{member(manifest, "name"), member(manifest, "version")}
}

// member returns the string member of this name of a stored object, "" if it has none, or if its value is no string. It
// scans the object up to the member, and decodes the value alone. In a manifest name and version come first, so that
// this is quick.
func member(object []byte, name string) string {
	text, _ := jsontree.Text(jsontree.Member(object, name))
	return text
}

// texts returns the strings of an array of strings. ok is false for any other JSON, such as an array with a number in
// it.
func texts(raw []byte) (list []string, ok bool) {
	items, err := jsontree.Items(raw)
	out := make([]string, len(items))
	for i, item := range items {
		text, ok := jsontree.Text(item)
		if !ok {
			return nil, false
		}
		out[i] = text
	}
	return out, err == nil
}

// compact returns strict JSON without the white space between its tokens. Numbers, strings and the order of members
// stay. Configs and manifests are stored in this form.
func compact(text []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, text) // fails for malformed JSON only
	return b.Bytes()
}
