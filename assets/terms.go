package assets

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strconv"
	"unicode"
)

// Terms are what the one inverted index holds: the words of an asset's text and a term for each of
// its facets. The first letter says of what kind a term is.
const (
	kindWord      = 'w'
	kindFolder    = 'f' // with nothing after it: in no folder
	kindGenerator = 'g'
	kindVia       = 'v'
	kindRights    = 'r'
	kindTag       = 't'
	kindAttribute = 'a'
)

// term makes a term. What would be too long is replaced by its digest, under the upper-case letter,
// so that it can be taken for nothing else.
func term(kind rune, value string) string {
	if len(value) < MaxTerm {
		return string(kind) + value
	}
	sum := sha256.Sum256([]byte(value))
	return string(unicode.ToUpper(kind)) + base32.StdEncoding.EncodeToString(sum[:20])
}

func integerTerm(kind rune, n int64) string { return term(kind, strconv.FormatInt(n, 10)) }

func attributeTerm(a Attribute) string {
	return term(kindAttribute, fmt.Sprintf("%d:%s=%s", len(a.Key), a.Key, a.Value))
}

// notInAFolder is the term of the assets that are in no folder.
const notInAFolder = string(kindFolder)

func wordTerms(list []string) []string {
	terms := make([]string, len(list))
	for i, w := range list {
		terms[i] = term(kindWord, w)
	}
	return terms
}

// indexOf returns what the asset is found by, given the terms of its text.
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
		terms = append(terms, attributeTerm(a))
	}
	slices.Sort(terms)
	attributes := slices.Clone(p.attributes)
	slices.SortFunc(attributes, compareAttributes)
	return Index{Terms: slices.Compact(terms), Attributes: attributes}
}
