package assets

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// A term is an entry of the inverted index. An asset has a term for each word of its text, for each of its folders, tags and
// attributes, and for its generator, via and rights. The first letter of a term is its kind.
const (
	kindWord      = 'w'
	kindFolder    = 'f' // an id; without one the asset is in no folder
	kindGenerator = 'g'
	kindVia       = 'v'
	kindRights    = 'r'
	kindTag       = 't'
	kindAttribute = 'p' // a pair of a key and a value
	kindKey       = 'k' // the key of an attribute
)

// Values that are too long for a term have these kinds of terms. Stores of the first release have digests of long
// words and attributes under upper-case letters too, and attributes without their keys; see renew.
const (
	kindLongWord      = 'y' // the digest of a word
	kindWordRest      = 'x' // what follows in a long word after the bytes that have this digest
	kindLongAttribute = 'l' // digest of the key, beginning of the value, digest of both
	oldLongWord       = 'W'
	oldLongAttribute  = 'A'
	oldAttribute      = 'a' // as kindAttribute, of an asset without terms for the keys
)

// term returns the term of a value. A value that is too long is replaced by its digest. The kind is an upper-case letter then,
// so the digest of one value is never taken for another value.
func term(kind rune, value string) string {
	if len(value) < MaxTerm {
		return string(kind) + value
	}
	sum := sha256.Sum256([]byte(value))
	return string(unicode.ToUpper(kind)) + base32.StdEncoding.EncodeToString(sum[:20])
}

var digestEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567")

// digest returns size characters, a multiple of 8, that stand for s.
func digest(s string, size int) string {
	sum := sha256.Sum256([]byte(s))
	return digestEncoding.EncodeToString(sum[:size*5/8])
}

// Sizes of digests in terms, and of the beginning of a long attribute's value.
const (
	keyDigest   = 16
	valueDigest = 32
	valueHead   = 160
)

func integerTerm(kind rune, n int64) string { return term(kind, strconv.FormatInt(n, 10)) }

// hasAttribute returns the set of terms of which assets with the attribute have one.
func hasAttribute(a Attribute) AnyOf {
	if text := attributeKey(a.Key) + a.Value; len(text) < MaxTerm {
		return AnyOf{attributeTerm(a), string(oldAttribute) + text}
	}
	return AnyOf{attributeTerm(a)}
}

// attributeTerm returns the term that is stored for an attribute.
func attributeTerm(a Attribute) string {
	text := attributeKey(a.Key) + a.Value
	if len(text) < MaxTerm {
		return string(kindAttribute) + text
	}
	return longAttributeKey(a.Key) + cutAt(a.Value, valueHead) + endOfHead + digest(text, valueDigest)
}

// attributeKey returns a prefix that the texts of all attributes with this key have, and those of no others.
func attributeKey(key string) string { return fmt.Sprintf("%d:%s=", len(key), key) }

// longAttributeKey returns the prefix of the terms of all long attributes with this key.
func longAttributeKey(key string) string { return string(kindLongAttribute) + digest(key, keyDigest) }

// longAttributeHead returns the beginning of the value in the term of a long attribute.
func longAttributeHead(term string) string {
	return term[1+keyDigest : len(term)-valueDigest-len(endOfHead)]
}

// hasKey returns the prefixes of the terms of attributes with this key.
func hasKey(key string) AnyOf {
	if text := attributeKey(key); len(text) < MaxTerm {
		return AnyOf{string(kindAttribute) + text, string(oldAttribute) + text, longAttributeKey(key)}
	}
	return AnyOf{longAttributeKey(key)}
}

// endOfHead marks in a term where the beginning of a word or of an attribute value ends. No word contains it.
const endOfHead = "\x01"

// maxHead is the length of the longest prefix of a word that one term holds.
const maxHead = MaxTerm - 1 - len(endOfHead)

// cutAt returns the beginning of s, at most size bytes, without a part of a character at its end.
func cutAt(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}

// wordTerm returns the term of the assets that have the word.
func wordTerm(w string) string {
	if len(w) < MaxTerm {
		return string(kindWord) + w
	}
	return string(kindLongWord) + digest(w, valueDigest)
}

// prefixTerm returns what a term of an asset begins with if a word of the asset begins with p: p itself, or, if p
// is longer than a term, what is left of it after a digest of its beginning.
func prefixTerm(p string) string {
	kind := string(kindWord)
	for len(p) > maxHead {
		head := cutAt(p, maxHead)
		kind, p = string(kindWordRest), digest(head, valueDigest)+p[len(head):]
	}
	return kind + p
}

// prefixTerms returns the terms by which prefixes find a long word.
func prefixTerms(w string) (terms []string) {
	kind := string(kindWord)
	for len(w) > maxHead {
		head := cutAt(w, maxHead)
		terms = append(terms, kind+head+endOfHead)
		kind, w = string(kindWordRest), digest(head, valueDigest)+w[len(head):]
	}
	return append(terms, kind+w+endOfHead)
}

// notInAFolder is the term of the assets that are in no folder.
const notInAFolder = string(kindFolder)

// wordTerms returns the terms of a text with these words.
func wordTerms(list []string) []string {
	terms := make([]string, 0, len(list))
	for _, w := range list {
		terms = append(terms, wordTerm(w))
		if len(w) > maxHead {
			terms = append(terms, prefixTerms(w)...)
		}
	}
	return terms
}

// indexOf returns the index entries of an asset. text has the terms of its text.
func indexOf(p parts, folders []string, text []string) Index {
	terms := slices.Clone(text)
	for _, id := range folders {
		terms = append(terms, term(kindFolder, id))
	}
	if len(folders) == 0 {
		terms = append(terms, notInAFolder)
	}
	terms = append(terms, term(kindGenerator, p.generator))
	for _, tag := range p.tags {
		terms = append(terms, term(kindTag, tag))
	}
	if p.via != nil {
		terms = append(terms, integerTerm(kindVia, *p.via))
	}
	if p.rights != nil {
		terms = append(terms, integerTerm(kindRights, *p.rights))
	}
	for _, a := range p.attributes {
		terms = append(terms, attributeTerm(a), term(kindKey, a.Key))
	}
	slices.Sort(terms)
	attributes := slices.Clone(p.attributes)
	slices.SortFunc(attributes, compareAttributes)
	return Index{Terms: slices.Compact(terms), Attributes: attributes}
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

func compareAttributes(a, b Attribute) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value))
}
