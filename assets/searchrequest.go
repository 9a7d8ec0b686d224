package assets

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// SearchRequest says which assets to find. An asset must satisfy all fields that are set. The zero
// value finds every asset that the caller sees, and returns a page of the newest ones.
//
// # Search
//
// The service turns an asset into terms: one for each word of its text and of its author's names,
// and one for each folder, tag and other facet. A search is a list of sets of terms; an asset must
// have at least one term of each set. The package therefore keeps one inverted index, which knows nothing
// of words or rights. The folder tree is not part of the index, so moving, deleting or sharing a
// folder changes no asset.
//
//	page, err := svc.As(by).Search(ctx, lib, assets.SearchRequest{
//		Query:  "launch* berlin", // a word that begins with launch, and the word berlin
//		Tags:   []string{"approved"},
//		Facets: []string{"generator", "attribute:campaign"},
//	})
//
// A facet has the most frequent values of a field, 20 unless the search asks for more, among all assets that the search
// finds, on whatever page, each with its exact count. It is computed from the same index: the assets that have a term
// are intersected with those that the search finds. So it counts only assets that the caller sees. The facet of folders
// leaves out those that the caller does not see.
//
//   - Words are folded, in assets and in searches: case does not matter, and neither do diacritics of Latin, Greek and
//     Cyrillic letters, marks of Arabic and points of Hebrew ones, ligatures, and the compatible forms of Unicode, such
//     as letters of full width. The strokes of đ, ħ, ł, ø and ŧ count as diacritics, the marks of й, ў and ї do not.
//     Digits of all scripts are alike, and so are apostrophes, þ and th, ð and d, ة and ه, ى, ی and ي, ک and ك. Soft
//     hyphens, marks of direction and the skin tones of emoji are left out.
//   - mueller finds Müller, and müller finds Mueller: ä, ö, ü, ø and å have the spellings ae, oe, ue, oe and aa.
//   - Each character of Han, Hiragana and Katakana is a word of its own, and so is one of Thai, Lao, Khmer, Burmese and
//     the like, with its marks. The length mark ー counts as Katakana. An emoji is a word, and one that is joined from
//     several is found by each of them.
//   - ™, © and the like are not letters, and superscripts and subscripts end a word. C++, C# and .NET are words that c
//     and net find too.
//   - Words that a hyphen, an apostrophe or a change to superscript joins are also found as one: wifi finds wi-fi, and
//     h2o finds H₂O.
//   - "some words" in quotes are a phrase: they are adjacent in one text, in this order. A quote that is not closed
//     reaches to the end, and one behind a letter or digit begins no phrase. Words without a space between them are a
//     phrase without quotes, such as e-mail and 3.2.1, unless a comma or another separator is between them, and so is
//     a run of a script without spaces. The last word of a phrase may end in *.
//   - A word of Hangul outside of quotes stands for every word that begins so.
//   - A - at the beginning or behind a space excludes the word, the prefix or the phrase behind it, unless that is a
//     number. A query that only excludes finds all else.
//   - A query is cut after Limits.Words and Limits.Query, and SearchPage.Cut is true; one with an exclusion is
//     ErrInvalid then.
//   - The index has no places of words. It has adjacent words that are both short, as common ones are; any other phrase
//     is looked for in all assets that have its words.
//   - With Typos a word of 4 letters or more also finds words one edit away, and one of 8 letters or more also finds
//     words two edits away. Digits are no letters.
//   - In the text that is searched, the markup of an inline HTML element (<b>, <a>, <span> …) is
//     removed, and that of any other element becomes a space. So one word may be partly bold, and
//     the words of two paragraphs stay apart. The readings of ruby are words apart from their base. Scripts, styles,
//     templates, noscript and comments are not text.
//   - A word that ends in * stands for every word that begins so. It has at least two characters
//     before the *, after folding, or one of a script without spaces or of Hangul. Any other * separates
//     words: foo*bar is two words.
//   - CreatedFrom and CreatedBefore limit the search to assets that were first published in this time. A zero time
//     sets no limit. If both are given and CreatedFrom is not the earlier one, nothing is found.
//   - The order of a library is that of adding. With the Sort createdAt, a search is sorted by Asset.CreatedAt. A
//     cursor keeps the sort of its search, so the next request need not name it again; naming another one is
//     [vitrine.ErrInvalid].
//   - ForeignID finds an asset by its identity: the id of the content in the service that Generator names.
//   - Tags and keys of attributes are folded, too: Snow finds snow, and a facet counts both together, in the spelling
//     that most of the found assets have. Session.Attributes and ChangeAttributes compare them exactly.
//   - An author is compared as a whole, folded. A language includes the more special ones, as en includes en-GB, and a
//     host those below it, as example.com includes www.example.com.
//   - A facet that is asked for twice is returned once. The values of the facet "attribute" are the
//     keys of attributes.
//   - A search that takes longer than Limits.SearchTime, by default two seconds, is [vitrine.ErrBusy].
type SearchRequest struct {
	// Query is a text whose words must all be in the asset's text or in its author's names, in any order. A word that
	// ends in * stands for every word that begins so, "words in quotes" are a phrase, and -word and -"some words" must
	// not be there. Case, diacritics and HTML do not matter. "" = any text.
	Query string
	// In says where Query looks: text (the text and the author's names), attachments (their titles, descriptions and
	// providers, and the alternative texts of pictures in the text), attributes (their values), links (the hosts and
	// paths of links in the text and of attachments). nil = text.
	In []string
	// Typos also finds words that are one edit away from one of Query, from 4 letters on, and two edits from 8 on: a
	// letter more, less or other, or two neighbours swapped. The first letter must be right. Phrases, exclusions and
	// words with * have no typos.
	Typos bool

	// Filed is none for assets that are in no folder, or any for those that are in one; "" = both
	Filed string

	Folder     string // id of a folder that the asset must be in; "" = any
	FolderTree string // id of a folder: the asset must be in it, or in one below it that the caller sees; "" = any

	Generator string // id of the service that the asset comes from; "" = any
	ForeignID string // id of the content in that service, which Generator names; "" = any
	Via       *int64 // how the asset was added; nil = any
	Rights    *int64 // status of the rights request; nil = any

	// Tags and keys of attributes are compared as words are: Snow is snow.
	Tags    []string // the asset must have all of them
	TagsAny []string // the asset must have one of them; nil = any or none
	NotTags []string // the asset must have none of them
	// NotGenerators are ids of services that the asset must not come from.
	NotGenerators []string

	// Author is the id, the username or the display name of the author, compared as words are; "" = any
	Author string
	// Lang is the language that the content names. A general one, such as en, includes en-GB; "" = any
	Lang string
	// Link is a host, such as example.com, to which the asset has a link, or to one below it such as www.example.com:
	// in its text or as an attachment; "" = any
	Link string
	// Types are types of attachments: none, any, photo, video, audio, link or rich. The asset must have an attachment
	// of one of them, or none if that is among them. nil = all.
	Types []string
	// NoAlt limits the search to assets that have a picture without a description; over HTTP the parameter alt, with
	// the value missing.
	NoAlt bool
	// Attributes are those that the asset must have, all of them: key:value, or the key alone for any value. The first
	// colon ends the key, unless the key is a JSON string, such as "dc:title":Harbour. A value with a colon is
	// ErrInvalid if a visible asset has a key that ends at that colon, since this key may be meant.
	Attributes []string

	// first published at this time or later: see Asset.CreatedAt; zero = at any time; over HTTP the parameter from
	CreatedFrom   time.Time
	CreatedBefore time.Time // first published earlier than this; zero = at any time; over HTTP the parameter to

	// Facets names the fields whose values are to be counted: generator, tags, via, rights, folder, type,
	// attribute (its values are the keys of attributes), or attribute:<key>.
	Facets     []string
	FacetLimit int // values of a facet; 0 = 20

	Limit int    // assets of a page; 0 = 50, or Limits.Page if that is lower
	Since string // Next of another SearchPage: only newer assets, oldest first
	Until string // Prev of another SearchPage: only older assets, newest first
	// Sort is added, the order in which assets were added, or createdAt, with assets of the same time in the order of
	// adding. "" = that of the cursor, or added.
	Sort string
	// Order is asc, the oldest first, or desc. "" = asc with Since, else desc; any other order with a cursor is
	// ErrInvalid.
	Order string
}

// ascending reports whether the search lists older assets before newer ones.
func (in SearchRequest) ascending() bool { return in.Order == ascending || in.Since != "" }

// From returns the search for the page at a cursor, which is the result of Following for the page
// before. With the cursor "" it returns in unchanged, so the same loop reads the first page and all
// others.
func (in SearchRequest) From(cursor string) SearchRequest {
	switch {
	case cursor == "":
	case in.ascending():
		in.Since = cursor
	default:
		in.Until = cursor
	}
	return in
}

// The values of SearchRequest.Sort and SearchRequest.Order.
const (
	byAdded, byCreated    = "added", "createdAt"
	ascending, descending = "asc", "desc"
)

// sources returns where the text is searched, each once.
func (in SearchRequest) sources() (out []int) {
	for i, name := range sources {
		if slices.Contains(in.In, name) || in.In == nil && i == inText {
			out = append(out, i)
		}
	}
	return out
}

// check returns ErrInvalid if a field is malformed or exceeds its limit. Whatever must be
// parsed or looked up first is checked where that is done: the words of Query, the names of Facets,
// the folders and the cursors.
func (in SearchRequest) check(lim Limits) error {
	switch {
	case in.Order != "" && in.Order != ascending && in.Order != descending:
		return fault.Invalid("order", "want asc or desc")
	case in.Sort != "" && in.Sort != byAdded && in.Sort != byCreated:
		return fault.Invalid("sort", "want added or createdAt")
	case in.ForeignID != "" && in.Generator == "":
		return fault.Invalid("foreignId", "needs generator, the service in which this is the id")
	case in.Since != "" && in.Until != "":
		return fault.Invalid("since", "want one cursor at a time, since or until")
	case in.Since != "" && in.Order == descending:
		return fault.Invalid("since", "leads to newer assets, oldest first, against order desc")
	case in.Until != "" && in.Order == ascending:
		return fault.Invalid("until", "leads to older assets, newest first, against order asc")
	case in.Filed != "" && in.Filed != "none" && in.Filed != "any":
		return fault.Invalid("filed", "want none or any")
	case in.TagsAny != nil && len(in.TagsAny) == 0:
		return fault.Invalid("tagsAny", "is empty: want tags")
	case in.FacetLimit < 0 || in.FacetLimit > lim.FacetValues:
		return fault.Invalid("facetLimit", "want 1 to %d", lim.FacetValues)
	case in.Link != "" && canonicalHost(in.Link) == "":
		return fault.Invalid("link", "%q is not a host: want one such as example.com", in.Link)
	case len(in.NotGenerators) > lim.SearchTags:
		return fault.Invalid("notGenerator", "is given %d times, at most %d are allowed", len(in.NotGenerators),
			lim.SearchTags)
	case len(in.Attributes) > lim.SearchAttributes:
		return fault.Invalid("attribute",
			"is given %d times, at most %d are allowed", len(in.Attributes), lim.SearchAttributes)
	case len(in.Facets) > lim.Facets:
		return fault.Invalid("facets", "has %d facets, at most %d are allowed", len(in.Facets), lim.Facets)
	case !utf8.ValidString(in.Query):
		return fault.Invalid("query", "must be UTF-8")
	case in.In != nil && len(in.In) == 0:
		return fault.Invalid("in", "is empty: want text, attachments, attributes or links")
	}
	for _, name := range in.In {
		if !slices.Contains(sources, name) {
			return fault.Invalid("in", "%q is not known: want text, attachments, attributes or links", name)
		}
	}
	for _, name := range in.Types {
		if name != "none" && name != "any" && !slices.Contains(attachmentTypes, name) {
			return fault.Invalid("type", "%q is not known: want none, any, %s", name,
				strings.Join(attachmentTypes, ", "))
		}
	}
	if in.Types != nil && len(in.Types) == 0 {
		return fault.Invalid("type", "is empty: want none, any, %s", strings.Join(attachmentTypes, ", "))
	}
	for _, f := range []struct {
		name string
		tags []string
	}{{"tags", in.Tags}, {"tagsAny", in.TagsAny}, {"notTags", in.NotTags}} {
		if n := len(f.tags); n > lim.SearchTags {
			return fault.Invalid(f.name, "has %d tags, at most %d are allowed", n, lim.SearchTags)
		}
		for _, tag := range f.tags {
			if err := checkText(f.name, tag, lim.Name); err != nil {
				return err
			}
		}
	}
	for _, id := range in.NotGenerators {
		if err := checkText("notGenerator", id, lim.Name); err != nil {
			return err
		}
	}
	for _, a := range in.Attributes {
		if err := checkFilter(a, lim); err != nil {
			return err
		}
	}
	for field, at := range map[string]time.Time{"from": in.CreatedFrom, "to": in.CreatedBefore} {
		if year := at.UTC().Year(); year < 1 || year > 9999 {
			return fault.Invalid(field, "is in the year %d, want one from 1 to 9999", year)
		}
	}
	return cmp.Or(checkText("foreignId", in.ForeignID, lim.Text), checkText("generator", in.Generator, lim.Name),
		checkText("author", in.Author, lim.Text), checkText("lang", in.Lang, lim.Name))
}

// ofContent returns the conditions on searchedContent.terms: an asset must have a term in each of these lists of spans.
func (in SearchRequest) ofContent() (all [][]index.Span) {
	var types []index.Span
	for _, name := range in.Types {
		switch name {
		case "none":
			types = append(types, only(term(kindType, "")))
		case "any":
			for _, name := range attachmentTypes {
				types = append(types, only(term(kindType, name)))
			}
		default:
			types = append(types, only(term(kindType, name)))
		}
	}
	if types != nil {
		all = append(all, types)
	}
	if in.NoAlt {
		all = append(all, []index.Span{only(string(kindNoAlt))})
	}
	if in.Author != "" {
		all = append(all, []index.Span{only(authorTerm(in.Author))})
	}
	if in.Lang != "" {
		all = append(all, under(languageTerm(in.Lang), "-"))
	}
	if in.Link != "" {
		all = append(all, under(hostTerm(canonicalHost(in.Link)), "."))
	}
	return all
}

// under returns the spans of a term, and of those that begin with it and a separator.
func under(term, separator string) []index.Span {
	return []index.Span{only(term), index.Prefix(term + separator)}
}

// hasTerms reports whether there is a term in each of these lists of spans.
func hasTerms(terms []string, all [][]index.Span) bool {
	for _, spans := range all {
		if !slices.ContainsFunc(spans, func(in index.Span) bool {
			return slices.ContainsFunc(terms, func(t string) bool { return in.From <= t && t < in.To })
		}) {
			return false
		}
	}
	return true
}

// without returns the terms that an asset must not have; nil = there are none.
func (in SearchRequest) without(by rules) []index.Span {
	spans := tagSpans(by, in.NotTags...)
	for _, id := range in.NotGenerators {
		spans = append(spans, only(term(kindGenerator, id)))
	}
	return spans
}

// attributeFilter is an element of SearchRequest.Attributes.
type attributeFilter struct {
	key    string
	value  *string // nil = any
	quoted bool    // the key is quoted
}

// parseAttributeFilter reads an element of SearchRequest.Attributes. It returns ErrInvalid if a quoted key is no JSON
// string, or not at its end or before a colon.
func parseAttributeFilter(text string) (f attributeFilter, err error) {
	rest, found := "", false
	if f.quoted = strings.HasPrefix(text, `"`); f.quoted {
		d := jsontext.NewDecoder(strings.NewReader(text))
		key, err := d.ReadToken()
		if err != nil {
			return f, fault.Invalid("attribute", `begins with a quote, and the key is no JSON string: want "key":value`)
		}
		f.key, rest = key.String(), text[d.InputOffset():]
		if rest, found = strings.CutPrefix(rest, ":"); !found && rest != "" {
			return f, fault.Invalid("attribute", `has %q behind the quoted key: want "key":value`, rest)
		}
	} else {
		f.key, rest, found = strings.Cut(text, ":")
	}
	if found {
		f.value = &rest
	}
	return f, nil
}

// String returns the filter with a quoted key.
func (f attributeFilter) String() string {
	text := string(strictjson.AppendString(nil, f.key))
	if f.value != nil {
		text += ":" + *f.value
	}
	return text
}

// mostLonger is how many longer keys are looked up for a filter.
const mostLonger = 32

// longer returns the filters that may be meant by one without quotes whose value has colons: the key may end at each.
func (f attributeFilter) longer(lim Limits) (out []attributeFilter) {
	if f.quoted || f.value == nil {
		return nil
	}
	for i, r := range *f.value {
		if r != ':' {
			continue
		}
		value, key := (*f.value)[i+1:], f.key+":"+(*f.value)[:i]
		if len(out) == mostLonger || checkName("", key, lim.Name) != nil {
			break
		}
		out = append(out, attributeFilter{key, &value, true})
	}
	return out
}

// checkFilter returns ErrInvalid if the key of a filter is empty, or if its key or value is malformed.
func checkFilter(text string, lim Limits) error {
	f, err := parseAttributeFilter(text)
	if err == nil && f.key == "" {
		err = fault.Invalid("attribute", "has an empty key: want key:value, or key alone for any value")
	}
	if err == nil {
		err = checkName("attribute", f.key, lim.Name)
	}
	if err != nil || f.value == nil {
		return err
	}
	return checkText("attribute", *f.value, lim.Text)
}
