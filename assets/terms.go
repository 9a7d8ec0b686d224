package assets

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/idna"

	"github.com/vitrine-go/vitrine/internal/index"
)

// A term is an entry of the inverted index, which finds all assets that have it. An asset has terms
// for everything that a search can ask for. The first letter of a term is its kind; what follows is
// the value:
//
//	wlaunch              the word "launch" is in its text or in its author's names
//	w\x02launch          it has an attachment with the word in its title
//	w\x03launch          it has an attribute with the word in its value; with \x04, a link with it
//	qin the              the words "in" and "the" are adjacent in its text or in a name of its author
//	f12                  it is in folder 12
//	f                    it is in no folder
//	ginstagram           it comes from the service "instagram"
//	v3, r1               its via is 3, its rights are 1
//	tapproved            it has the tag "approved"
//	tsnow\x00\x00Snow    it has the tag "Snow", which is folded to "snow"
//	p<digest>red         it has an attribute with the value red, and a key with this digest
//	kcolor               it has an attribute with the key color; with a mark and a spelling as tags have them
//	uann                 its author has this id, username or display name, folded
//	len-gb               it is in this language
//	hcom.example         it has a link to this host, with its labels in reverse
//	c…                   its createdAt: see createdTerm
//	d…                   the days of that: see daysTerm
//	aphoto               it has an attachment of this type
//	a                    it has no attachment
//	m                    it has a picture without a description
//	o…                   a part of its origin; the record has the whole of it
//
// Stores have these terms on disk; see oldRules.
const (
	kindWord      = 'w'
	kindFolder    = 'f'
	kindGenerator = 'g'
	kindVia       = 'v'
	kindRights    = 'r'
	kindTag       = 't'
	kindAttribute = 'p'
	kindKey       = 'k'
	kindPair      = 'q' // two adjacent words; see isPair
	kindCreated   = 'c'
	kindDays      = 'd'
	kindOrigin    = 'o'
	kindType      = 'a'
	kindNoAlt     = 'm'
	kindAuthor    = 'u'
	kindLanguage  = 'l'
	kindHost      = 'h'
)

// A term has at most index.MaxTerm bytes. The term of a longer value has its beginning, longMark, which no value
// contains, and a digest.
const (
	longMark    = "\x00"
	keyDigest   = 24  // characters of the digest of an attribute's key
	valueDigest = 32  // characters of the digest of a value
	valueHead   = 160 // bytes at most of the beginning of a value

	spellingMark = "\x00\x00" // before a spelling; longMark is followed by other characters
	// longest is the length of the longest term to which a spelling can be added, as its digest if it is long
	longest = index.MaxTerm - len(spellingMark) - len(longMark) - valueDigest
)

// term returns the term of a value of a kind.
func term(kind rune, value string) string { return valueTerm(string(kind), value) }

// valueTerm returns the term of a value after a prefix. The term of a value that is too long has the beginning of the
// value, by which a facet sorts it, and a digest, which identifies it.
func valueTerm(prefix, value string) string { return shortTerm(prefix, value, index.MaxTerm) }

// shortTerm is valueTerm with another maximum length.
func shortTerm(prefix, value string, most int) string {
	if len(prefix)+len(value) <= most {
		return prefix + value
	}
	return prefix + longMark + cutAt(value, valueHead) + digest(value, valueDigest)
}

// fieldValue is a value of a field as searches compare it, folded or with a folded key. All spellings of a value have
// adjacent terms, so a search for the value is one for a span, and a facet counts them together. By oldRules nothing is
// folded.
type fieldValue struct {
	value    string // equal for all spellings
	spelling string // "" if it is that of value
	shown    string // in a facet
}

// foldName folds a tag or the key of an attribute. A name of characters that folding removes stays as it is.
func foldName(name string, by rules) string {
	if by == oldRules {
		return name
	}
	return cmp.Or(fold(name), name)
}

// folded returns the value of a tag or of the key of an attribute.
func folded(name string, by rules) fieldValue {
	v := fieldValue{value: foldName(name, by), shown: name}
	if v.value != name {
		v.spelling = name
	}
	return v
}

// attributeValue returns the value of an attribute in the field of its key, whose spelling counts.
func attributeValue(a Attribute, by rules) fieldValue {
	return fieldValue{a.Value, folded(a.Key, by).spelling, a.Value}
}

// group returns the term of the value in its plain spelling, with which the terms of all spellings begin.
func (v fieldValue) group(prefix string, by rules) string {
	if by == oldRules {
		return valueTerm(prefix, v.value)
	}
	return shortTerm(prefix, v.value, longest)
}

func (v fieldValue) term(prefix string, by rules) string {
	return spelled(v.group(prefix, by), v.spelling)
}

// spelled returns the term of a spelling after the term of its group.
func spelled(group, spelling string) string {
	switch {
	case spelling == "":
		return group
	case len(group)+len(spellingMark)+len(spelling) > index.MaxTerm:
		spelling = longMark + digest(spelling, valueDigest)
	}
	return group + spellingMark + spelling
}

// span returns the terms of all spellings of the value.
func (v fieldValue) span(prefix string, by rules) index.Span {
	group := v.group(prefix, by)
	return index.Span{From: group, To: group + spellingMark + "\xff"}
}

// only returns the span of a term.
func only(term string) index.Span { return index.Span{From: term, To: term + "\x00"} }

// digestEncoding is base32 in lower case.
var digestEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567")

// digest returns size characters, a multiple of 8 and at most 48, that stand for s: the beginning
// of its SHA-256 in base32.
func digest(s string, size int) string {
	sum := sha256.Sum256([]byte(s))
	return digestEncoding.EncodeToString(sum[:size*5/8])
}

// integerTerm returns the term of an integer, which is in decimal.
func integerTerm(kind rune, n int64) string { return term(kind, strconv.FormatInt(n, 10)) }

// attributePrefix returns the prefix of the terms of the attributes with a key, in whatever spelling.
func attributePrefix(key string, by rules) string {
	return string(kindAttribute) + digest(foldName(key, by), keyDigest)
}

// cutAt returns the beginning of s: as many whole characters as fit into size bytes.
func cutAt(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}

// longestWord is the maximum number of bytes of a word in its term. To match a longer word, assets are read.
const longestWord = index.MaxTerm - 2

// wordTerm returns the term of a word of a source. Words longer than longestWord share a term if they begin alike.
func wordTerm(source int, w string) string {
	return string(kindWord) + sourceMarks[source] + cutAt(w, longestWord)
}

// notInAFolder is the term of the assets that are in no folder. No folder has it, since the id of a
// folder is not empty.
const notInAFolder = string(kindFolder)

// folderTerms returns the terms of the folders that an asset is in, sorted.
func folderTerms(folders []string) (terms []string) {
	for _, id := range folders {
		terms = append(terms, term(kindFolder, id))
	}
	if len(folders) == 0 {
		terms = append(terms, notInAFolder)
	}
	slices.Sort(terms)
	return terms
}

// attributeTerms returns the terms of the attributes of an asset, and of the words in their values, sorted and each
// once.
func attributeTerms(attributes []Attribute, by rules) (terms []string) {
	for _, a := range attributes {
		terms = append(terms, attributeValue(a, by).term(attributePrefix(a.Key, by), by),
			folded(a.Key, by).term(string(kindKey), by))
		for _, e := range edges(by.words(by.strip(a.Value).text)) {
			terms = append(terms, wordTerm(inAttributes, e.text))
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// yearZero is the beginning of the year 0, in milliseconds since the epoch. No asset has a createdAt before the year 1.
const yearZero = -62167219200000

// ordered encodes a number in size characters of 7 bits, so that the texts sort as the numbers do.
func ordered(n uint64, size int) string {
	b := make([]byte, size)
	for i := range b {
		b[size-1-i] = byte(n>>(7*i)) & 0x7f
	}
	return string(b)
}

// createdTerm returns the term of a createdAt. The terms sort as the times do.
func createdTerm(milliseconds int64) string {
	return string(kindCreated) + ordered(uint64(milliseconds-yearZero), 8)
}

// createdOf is the inverse of createdTerm.
func createdOf(term string) int64 {
	n := int64(0)
	for _, b := range []byte(term[1:]) {
		n = n<<7 | int64(b)
	}
	return n + yearZero
}

const (
	dayLength  = 24 * 60 * 60 * 1000 // in milliseconds
	daysLength = 16 * dayLength      // of the days that share a term
)

// daysTerm returns the term of the days that contain a createdAt. A long time has few of these terms, which sort as the
// times do.
func daysTerm(milliseconds int64) string {
	return string(kindDays) + ordered(uint64(milliseconds-yearZero)/daysLength, 3)
}

// originTerm returns the term of an origin. Few other origins share it.
func originTerm(o origin) string {
	return string(kindOrigin) + ordered(binary.BigEndian.Uint64(o[:]), 5)
}

// allTerms returns the terms of an asset with these parts, sorted and unique. text has the terms of its text, computed
// by the draft before the transaction.
func allTerms(r assetRecord, p parts, text []string, by rules) []string {
	terms := slices.Concat([]string{originTerm(r.Origin), createdTerm(r.CreatedAt), daysTerm(r.CreatedAt),
		term(kindGenerator, p.generator)}, text, folderTerms(r.Folders), attributeTerms(p.Attributes, by))
	for _, tag := range p.Tags {
		terms = append(terms, folded(tag, by).term(string(kindTag), by))
	}
	if p.Via != nil {
		terms = append(terms, integerTerm(kindVia, *p.Via))
	}
	if p.Rights != nil {
		terms = append(terms, integerTerm(kindRights, *p.Rights))
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// termsOf returns the terms of a stored asset, none for the zero assetRecord. It returns an error if the body is
// malformed.
func termsOf(r assetRecord, by rules) ([]string, error) {
	if r.Ordinal == 0 {
		return nil, nil
	}
	p, err := partsOf(r.Body)
	if err != nil {
		return nil, err
	}
	text, err := searchable(p.Content, r.words, by)
	if err != nil {
		return nil, err
	}
	return allTerms(r, p, text, by), nil
}

// The sources are where SearchRequest.Query looks, see SearchRequest.In. The word terms of a source begin with a
// character that no word contains.
const (
	inText = iota
	inAttachments
	inAttributes
	inLinks
)

var (
	sources     = []string{"text", "attachments", "attributes", "links"}
	sourceMarks = []string{"", "\x02", "\x03", "\x04"}
)

// searched has the texts that SearchRequest.Query looks in, by source, without HTML.
type searched [4][]string

// searchedContent has the members of a content that are searched.
type searchedContent struct {
	Content      string `json:"content"`
	Lang         string `json:"lang"`
	AttributedTo struct {
		ID          string `json:"id"`
		DisplayName string `json:"displayName"`
		Username    string `json:"username"`
	} `json:"attributedTo"`
	Attachment []attachment `json:"attachment"`
}

// attachment is what a search knows of an attachment.
type attachment struct {
	Type         string `json:"type"`
	Title        string `json:"title"`
	Description  any    `json:"description"` // of any type, as all members that the package does not know
	ProviderName string `json:"provider_name"`
	URL          link   `json:"url"`
	Link         link   `json:"link"`
	Provider     any    `json:"provider_url"` // a string, or an object as those before
}

// link is a URL in a content.
type link struct {
	Href string `json:"href"`
}

// attachmentTypes are the types of attachments.
var attachmentTypes = []string{"photo", "video", "link", "rich", "audio"}

func readContent(content []byte) (in searchedContent, err error) {
	if err = json.Unmarshal(content, &in); err != nil {
		err = fmt.Errorf("content: %w", err)
	}
	return in, err
}

// types returns the different types of the attachments, or "" if there is no attachment, and whether one is a picture
// that has no description. By oldRules an asset has no terms of them, and searches read the assets.
func (in searchedContent) types() (types []string, noAlt bool) {
	for _, a := range in.Attachment {
		types = append(types, a.Type)
		text, _ := a.Description.(string)
		noAlt = noAlt || a.Type == "photo" && text == ""
	}
	if types == nil {
		return []string{""}, false
	}
	return unique(types), noAlt
}

// terms returns the terms that a content has by newRules alone, beside those of its texts.
func (in searchedContent) terms(text stripped) (terms []string) {
	types, noAlt := in.types()
	for _, name := range types {
		terms = append(terms, term(kindType, name))
	}
	if noAlt {
		terms = append(terms, string(kindNoAlt))
	}
	for _, name := range []string{in.AttributedTo.ID, in.AttributedTo.DisplayName, in.AttributedTo.Username} {
		if name != "" {
			terms = append(terms, authorTerm(name))
		}
	}
	if in.Lang != "" {
		terms = append(terms, languageTerm(in.Lang))
	}
	for _, host := range in.hosts(text) {
		terms = append(terms, hostTerm(host))
	}
	return terms
}

// authorTerm returns the term of an id or a name of an author.
func authorTerm(name string) string { return term(kindAuthor, foldName(name, newRules)) }

// languageTerm returns the term of a language. That of a more general one is its beginning, up to a hyphen.
func languageTerm(lang string) string {
	return term(kindLanguage, strings.ReplaceAll(strings.ToLower(lang), "_", "-"))
}

// texts returns the texts of an asset: the member content, which is stripped already, the members displayName and
// username of attributedTo, the titles of attachments, and the values of attributes. By newRules it also returns what
// attachments have in description and provider_name, the alternative texts of pictures in the content, and, if they are
// among the sources, the hosts and paths of links.
func (in searchedContent) texts(content stripped, attributes []Attribute, by rules, sources []int) (out searched) {
	add := func(source int, texts ...string) {
		for _, text := range texts {
			out[source] = append(out[source], by.strip(text).text)
		}
	}
	out[inText] = []string{content.text}
	add(inText, in.AttributedTo.DisplayName, in.AttributedTo.Username)
	out[inAttachments] = content.alts
	links := content.addresses()
	for _, a := range in.Attachment {
		if add(inAttachments, a.Title); by != oldRules {
			text, _ := a.Description.(string)
			add(inAttachments, text, a.ProviderName)
			if links = append(links, a.Link.Href); a.Type == "link" {
				links = append(links, a.URL.Href)
			}
		}
	}
	for _, a := range attributes {
		add(inAttributes, a.Value)
	}
	if by == oldRules || !slices.Contains(sources, inLinks) {
		return out
	}
	for _, address := range links {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			host, _ := idna.Punycode.ToUnicode(u.Hostname())
			out[inLinks] = append(out[inLinks], host+u.Path)
		}
	}
	return out
}

// firstWords returns the first limit words of a text.
func (by rules) firstWords(text string, limit int) []word {
	list := by.words(text)
	return list[:min(limit, len(list))]
}

// searchable returns the terms of the words in the texts of a content and, by newRules, of the types of its
// attachments. Only the first limit words of each text count.
func searchable(content []byte, limit int, by rules) (terms []string, err error) {
	in, err := readContent(content)
	if err != nil {
		return nil, err
	}
	text := by.strip(in.Content)
	if by != oldRules {
		terms = in.terms(text)
	}
	for source, texts := range in.texts(text, nil, by, []int{inLinks}) {
		for _, text := range texts {
			found := edges(by.firstWords(text, limit))
			for i, e := range found {
				terms = append(terms, wordTerm(source, e.text))
				for _, next := range found[i+1:] {
					if next.from > e.to || source != inText {
						break
					}
					if next.from == e.to && isPair(e.text, next.text) {
						terms = append(terms, pairTerm(e.text, next.text))
					}
				}
			}
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms), nil
}

// isPair reports whether two adjacent words have a term of their own. Two short words have one: they are common in all
// languages, and a search for a phrase of them would otherwise read very many assets.
func isPair(a, b string) bool {
	const most = 4 // letters
	return utf8.RuneCountInString(a) <= most && utf8.RuneCountInString(b) <= most
}

// pairTerm returns the term of two adjacent words.
func pairTerm(a, b string) string { return string(kindPair) + a + " " + b }
