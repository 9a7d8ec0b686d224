package assets

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// assetRow is an asset as it is stored: a byte for the form, the origin, the time of adding, how much later the last change was, the
// number of its folders and their ids, the limit of words by which it is indexed, and then the body as it is. Numbers are varints, and texts
// have their length before them.
//
// What the index has of an asset follows from the row. An asset that was put with other entries has these before the body, and 0 as the
// limit.
type assetRow struct {
	Record
	words int
	index Index // if words is 0
}

const rowForm = 1

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// encode returns the row of an asset that is put with x.
func encodeAsset(r Record, x Index) []byte {
	b := make([]byte, 0, 64+len(r.Body))
	b = append(append(b, rowForm), r.Origin[:]...)
	b = binary.AppendVarint(binary.AppendVarint(b, r.CreatedAt), r.UpdatedAt-r.CreatedAt)
	b = binary.AppendUvarint(b, uint64(len(r.Folders)))
	for _, id := range r.Folders {
		b = appendText(b, id)
	}
	b = binary.AppendUvarint(b, uint64(x.Words))
	if x.Words == 0 {
		b = binary.AppendUvarint(b, uint64(len(x.Terms)))
		for _, term := range x.Terms {
			b = appendText(b, term)
		}
		b = binary.AppendUvarint(b, uint64(len(x.Attributes)))
		for _, a := range x.Attributes {
			b = appendText(appendText(b, a.Key), a.Value)
		}
	}
	return append(b, r.Body...)
}

var errDamagedRow = errors.New("it is no row of an asset")

// decodeAsset returns the asset of a row. Its body is part of v.
func decodeAsset(ordinal int64, v []byte) (a assetRow, err error) {
	fail := func() { err, v = errDamagedRow, nil }
	number := func() int {
		n, k := binary.Uvarint(v)
		if k <= 0 || n > uint64(len(v)) && n > 1<<31 {
			fail()
			return 0
		}
		v = v[k:]
		return int(n)
	}
	signed := func() int64 {
		n, k := binary.Varint(v)
		if k <= 0 {
			fail()
			return 0
		}
		v = v[k:]
		return n
	}
	text := func() string {
		n := number()
		if n > len(v) {
			fail()
			return ""
		}
		s := string(v[:n])
		v = v[n:]
		return s
	}
	if len(v) < 1+len(a.Origin) || v[0] != rowForm {
		return a, errDamagedRow
	}
	a.Ordinal = ordinal
	v = v[1+copy(a.Origin[:], v[1:]):]
	a.CreatedAt = signed()
	a.UpdatedAt = a.CreatedAt + signed()
	for n := number(); n > 0 && err == nil; n-- {
		a.Folders = append(a.Folders, text())
	}
	if a.words = number(); a.words == 0 {
		for n := number(); n > 0 && err == nil; n-- {
			a.index.Terms = append(a.index.Terms, text())
		}
		for n := number(); n > 0 && err == nil; n-- {
			a.index.Attributes = append(a.index.Attributes, Attribute{Key: text(), Value: text()})
		}
	}
	a.Body = v
	return a, err
}

// entries returns the entries of the index that the asset has.
func (a assetRow) entries() (Index, error) {
	if a.words == 0 {
		return a.index, nil
	}
	return IndexOf(a.Record, Limits{SearchedWords: a.words})
}

// terms returns what the index has of the asset, sorted.
func (a assetRow) terms() ([]string, error) {
	x, err := a.entries()
	return storedTerms(x), err
}

// termsBeside returns the same as terms. x is what the index shall have of the asset now, which is r: it spares the work if the
// texts are the same.
func (a assetRow) termsBeside(r Record, x Index) ([]string, error) {
	if a.words == 0 || a.words != x.Words || !bytes.Equal(a.Body, r.Body) {
		return a.terms()
	}
	terms := slices.DeleteFunc(slices.Clone(x.Terms), func(t string) bool { return t[0] == kindFolder || t[0] == kindFolder-'a'+'A' })
	x.Terms = append(terms, folderTerms(a.Folders)...)
	slices.Sort(x.Terms)
	return storedTerms(x), nil
}

// storedTerms returns the terms that the index has for x: its own, those of its attributes, and the one that all assets have.
func storedTerms(x Index) []string {
	out := append(make([]string, 0, len(x.Terms)+1), "")
	out = append(out, x.Terms...)
	if x.Words > 0 {
		return out
	}
	for _, a := range x.Attributes {
		out = append(out, attributeTerm(a))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// originText is an origin in a key.
func originText(o assetstore.Origin) string { return base64.RawURLEncoding.EncodeToString(o[:]) }
