package assets

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// Search returns a page of the assets that match the request and that the caller sees, with the
// total of such assets and the facets that the request asks for. All numbers are exact, and count
// only assets that the caller sees, so they reveal nothing about others. The page, its total and
// its facets are of the same state of the library.
//
// An empty Query puts no condition on the text. A Query that is not empty but has no word, such as
// "*" or "<b>", finds nothing.
//
// Besides the errors that the comment of Service names for every method, it returns ErrInvalid if a
// field is malformed or exceeds its limit, or if a cursor is not of this library; ErrNotFound if the
// caller does not see a folder of the request; and ErrBusy if waiting for the store, or the search, takes longer than
// Limits.SearchTime. Reading the folders of the library, which many searches may wait for after a
// folder was changed, does not count.
func (s *Session) Search(ctx context.Context, lib Library, in SearchRequest) (SearchPage, error) {
	s = s.calls("Search")
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	clock := time.AfterFunc(s.service.limits.SearchTime, cancel)
	defer clock.Stop()
	var out SearchPage
	err := s.onSnapshot(limited, lib, false, func(req *request) (err error) {
		clock.Stop() // and it begins anew when the request has the folders
		req.ctx = ctx
		if err := req.load(); err != nil {
			return err
		}
		clock.Reset(s.service.limits.SearchTime)
		req.ctx = limited
		out, err = req.search(in)
		return err
	})
	if err != nil && limited.Err() != nil && ctx.Err() == nil { // SearchTime is over, and the caller still waits
		err = &vitrine.Error{Kind: vitrine.ErrBusy, Code: vitrine.CodeUnavailable, Reason: fmt.Sprintf(
			"the search takes longer than %s: try again, or narrow it down", s.service.limits.SearchTime)}
	}
	return out, err
}

// AllAssets yields the assets that a search finds, beginning with the page that the request asks
// for. It goes on towards newer assets if the search is ascending and towards older ones otherwise.
// It reads a page at a time, and yields every asset once, even while others are added. It does not
// count facets. It yields an error once, as its last pair.
func (s *Session) AllAssets(ctx context.Context, lib Library, in SearchRequest) iter.Seq2[Asset, error] {
	in.Facets = nil // they would be counted for each page, and nobody would see them
	cursor := ""
	return paging.All(&cursor, func() (vitrine.Page[Asset], error) {
		page, err := s.Search(ctx, lib, in.From(cursor))
		return vitrine.Page[Asset]{Items: page.Assets, Next: in.Following(page)}, err
	})
}

// search carries out a search on the snapshot of the request:
//
//  1. check the fields and the cursor of the request, and split its text into words;
//  2. look up its folders and turn it into a query: a list of sets of terms, which are entries of
//     the search index. An asset must have at least one term of each set. One of the sets is what
//     the caller may see, unless the caller sees every folder or the request names a folder;
//  3. find the ordinals that match the query; remove those that the text excludes, and those that
//     have the words of a phrase but not adjacent;
//  4. count it, read a page of it, and count the facets.
func (req *request) search(in SearchRequest) (SearchPage, error) {
	// 1. The fields and the cursor. The folders are looked up in step 2.
	if err := in.check(req.limits); err != nil {
		return SearchPage{}, err
	}
	text, isCut, err := req.rules().query(in.Query, req.limits)
	if err != nil {
		return SearchPage{}, err
	}
	var facets facetFields
	if len(in.Facets) > 0 {
		if facets, err = facetsOf(in.Facets, req.limits, req.rules()); err != nil {
			return SearchPage{}, err
		}
	}
	cursor, err := req.pageRange(in)
	if err != nil {
		return SearchPage{}, err
	}
	// 2. The query. A folder that the caller does not see is an error even if the text has no word.
	q, err := req.conditions(in, text)
	if err != nil {
		return SearchPage{}, err
	}
	if in.Query != "" && len(text.must)+len(text.mustNot) == 0 { // the text has no word, so no asset matches
		return SearchPage{Facets: facets.empty(), Cut: isCut}, nil
	}
	// 3. What is found.
	found, err := req.found(q)
	without := in.without(req.rules())
	content := in.ofContent()
	if err == nil && found == nil && (without != nil || len(text.mustNot) > 0 || content != nil && req.old) {
		// all
		found, err = req.index.Find(req.ctx, index.Query{Spans: [][]index.Span{{index.Prefix(string(kindDays))}}})
	}
	if err == nil && without != nil {
		err = req.exclude(found, without)
	}
	if err == nil {
		err = req.narrow(found, in, text)
	}
	if err != nil {
		return SearchPage{}, err
	}
	// 4. The page, the total and the facets.
	page, err := req.page(found, cursor)
	if err != nil {
		return SearchPage{}, err
	}
	page.Total, page.Cut = req.state.Count, isCut
	if found != nil {
		page.Total = int64(found.Count())
	}
	if len(facets) > 0 {
		page.Facets, err = req.facets(facets, found, cmp.Or(in.FacetLimit, facetSize))
	}
	return page, err
}

// found returns the assets that match the query, or nil if all do.
func (req *request) found(q index.Query) (*index.Set, error) {
	if len(q.All)+len(q.Spans) == 0 {
		return nil, nil
	}
	return req.index.Find(req.ctx, q)
}

// conditions returns the query for the assets that the search asks for and that the caller sees,
// without the bounds of its cursors. Of the text, it has the words that an asset must have. It returns
// ErrNotFound if the caller does not see a folder that the search names.
//
// What the caller may see is at the end of q.All:
//
//   - with Folder, the term of that folder; with FolderTree, the terms of that folder and of the
//     folders below it that the caller sees. Assets in folders that the caller sees are visible, so
//     nothing else is needed;
//   - with neither of them, the terms of all folders that the caller sees and the term of the
//     assets in no folder; see visible. The set is left out for a caller who sees every folder.
func (req *request) conditions(in SearchRequest, text queryText) (q index.Query, err error) {
	for _, p := range text.must {
		p.ask(&q, in.sources(), in.Typos)
	}
	// The other fields. An asset must satisfy each of them.
	for _, text := range in.Attributes {
		f, err := parseAttributeFilter(text)
		if err == nil {
			err = req.unambiguous(f)
		}
		if err != nil {
			return q, err
		}
		q.Spans = append(q.Spans, []index.Span{f.span(req.rules())})
	}
	for _, tag := range in.Tags {
		q.Spans = append(q.Spans, tagSpans(req.rules(), tag))
	}
	if len(in.TagsAny) > 0 {
		q.Spans = append(q.Spans, tagSpans(req.rules(), in.TagsAny...))
	}
	if !req.old { // else narrow reads the assets
		q.Spans = append(q.Spans, in.ofContent()...)
	}
	all := q.All
	if in.ForeignID != "" {
		all = append(all, []string{originTerm(originOf(in.Generator, in.ForeignID))})
	} else if in.Generator != "" {
		all = append(all, []string{term(kindGenerator, in.Generator)})
	}
	if in.Via != nil {
		all = append(all, []string{integerTerm(kindVia, *in.Via)})
	}
	if in.Rights != nil {
		all = append(all, []string{integerTerm(kindRights, *in.Rights)})
	}
	if !in.CreatedFrom.IsZero() || !in.CreatedBefore.IsZero() {
		q.Spans = append(q.Spans, createdBetween(in.CreatedFrom, in.CreatedBefore))
	}
	// The folders, which also say what the caller may see.
	if in.Folder != "" {
		n, err := req.folderSeen("folder", in.Folder)
		if err != nil {
			return q, err
		}
		all = append(all, []string{term(kindFolder, n.ID)})
	}
	if in.FolderTree != "" {
		n, err := req.folderSeen("folderTree", in.FolderTree)
		if err != nil {
			return q, err
		}
		all = append(all, req.seenInTree(n))
	}
	visible := req.visible(req.tree)
	switch in.Filed {
	case "none":
		visible = [][]string{{notInAFolder}}
	case "any":
		if visible == nil { // no term of a folder is as short as that of no folder
			q.Spans = append(q.Spans, []index.Span{{From: notInAFolder + "\x00", To: notInAFolder + "\xff"}})
		} else {
			visible[0] = visible[0][1:] // without notInAFolder
		}
	}
	if in.Folder == "" && in.FolderTree == "" || in.Filed == "none" {
		all = append(all, visible...)
	}
	q.All = all
	return q, nil
}

// tagSpans returns the terms of tags in all spellings.
func tagSpans(by rules, tags ...string) (spans []index.Span) {
	for _, tag := range tags {
		spans = append(spans, folded(tag, by).span(string(kindTag), by))
	}
	return spans
}

// span returns the terms of the attributes that a filter asks for.
func (f attributeFilter) span(by rules) index.Span {
	if f.value == nil {
		return folded(f.key, by).span(string(kindKey), by)
	}
	return attributeValue(Attribute{f.key, *f.value}, by).span(attributePrefix(f.key, by), by)
}

// exclude removes the assets that have a term of the spans from a set.
func (req *request) exclude(found *index.Set, spans []index.Span) error {
	out, err := req.index.Find(req.ctx, index.Query{Spans: [][]index.Span{spans}})
	if err == nil {
		found.Minus(out)
	}
	return err
}

// unambiguous returns ErrInvalid if the key of a filter may be a longer one, which an asset has that the caller sees.
func (req *request) unambiguous(f attributeFilter) error {
	longer := f.longer(req.limits)
	seen := func(filters ...attributeFilter) (bool, error) {
		var keys []index.Span
		for _, f := range filters {
			keys = append(keys, attributeFilter{key: f.key}.span(req.rules()))
		}
		found, err := req.found(index.Query{All: req.visible(req.tree), Spans: [][]index.Span{keys}})
		return err == nil && found.Count() > 0, err
	}
	if len(longer) == 0 {
		return nil
	}
	if some, err := seen(longer...); err != nil || !some {
		return err
	}
	for _, other := range longer {
		if meant, err := seen(other); err != nil || meant {
			return cmp.Or[error](err, fault.Invalid("attribute",
				"has more than one colon, and %q is a key here: want %s, or %s for a value with a colon", other.key,
				other, f))
		}
	}
	return nil
}

// ask adds the phrase to a query: an asset must have, in one of the sources, its words or terms of two adjacent words.
// With typos, a similar word counts too.
func (p phrase) ask(q *index.Query, sources []int, typos bool) {
	for i, w := range p.words {
		var terms []string
		var spans []index.Span
		mayErr := typos && !p.exact && !p.star && len(p.words) == 1 && typosIn(w.text) > 0
		for _, source := range sources {
			if mayErr {
				first, size := utf8.DecodeRuneInString(w.text)
				in := index.Prefix(wordTerm(source, string(first)))
				head, like := len(in.From), similar(w.text[size:], typosIn(w.text))
				in.Match = func(term string) bool { return like(term[head:]) }
				spans = append(spans, in)
			}
			for _, text := range w.spellings() {
				switch {
				case p.prefix && i == len(p.words)-1:
					spans = append(spans, index.Prefix(wordTerm(source, text)))
				case mayErr && text == w.text, p.hasPair(i, sources), i > 0 && p.hasPair(i-1, sources):
					// the span above finds it, or the terms of its pairs, which follow
				default:
					terms = append(terms, wordTerm(source, text))
				}
			}
		}
		for i := 0; spans != nil && i < len(terms); i++ { // one set has all of them
			spans = append(spans, index.Span{From: terms[i], To: terms[i] + "\x00"})
		}
		if spans != nil {
			terms = nil
		}
		if terms != nil {
			q.All = append(q.All, terms)
		}
		if spans != nil {
			q.Spans = append(q.Spans, spans)
		}
		if p.hasPair(i, sources) {
			q.All = append(q.All, []string{pairTerm(w.text, p.words[i+1].text)})
		}
	}
}

// hasPair reports whether the i-th word of the phrase and the next one have a term of their own.
func (p phrase) hasPair(i int, sources []int) bool {
	next := i + 1
	return next < len(p.words) && !(p.prefix && next == len(p.words)-1) && len(sources) == 1 && sources[0] == inText &&
		p.words[i].spelled+p.words[next].spelled == "" && isPair(p.words[i].text, p.words[next].text)
}

// isCertain reports whether every asset found by the terms of ask contains the phrase.
func (p phrase) isCertain(sources []int) bool {
	return len(p.words) == 1 && len(p.words[0].text) <= longestWord || len(p.words) == 2 && p.hasPair(0, sources)
}

// narrow removes from a set the assets that the text excludes, that do not contain its phrases, or that have another
// identity. It reads the assets for which the index alone cannot tell.
func (req *request) narrow(found *index.Set, in SearchRequest, text queryText) error {
	if in.ForeignID != "" {
		wanted := originOf(in.Generator, in.ForeignID)
		if err := req.keep(found, func(r assetRecord) (bool, error) { return r.Origin == wanted, nil }); err != nil {
			return err
		}
	}
	if spans := in.ofContent(); req.old && spans != nil {
		if err := req.keep(found, func(r assetRecord) (bool, error) {
			p, err := partsOf(r.Body)
			if err != nil {
				return false, err
			}
			content, err := readContent(p.Content)
			return hasTerms(content.terms(newRules.strip(content.Content)), spans), err
		}); err != nil {
			return err
		}
	}
	sources := in.sources()
	for _, p := range text.mustNot {
		var q index.Query
		p.ask(&q, sources, false)
		out, err := req.index.Find(req.ctx, q)
		if err != nil {
			return err
		}
		if !p.isCertain(sources) {
			out.And(found)
			if err := req.keep(out, req.hasPhrases([]phrase{p}, sources)); err != nil {
				return err
			}
		}
		found.Minus(out)
	}
	unsure := slices.DeleteFunc(slices.Clone(text.must), func(p phrase) bool { return p.isCertain(sources) })
	if len(unsure) == 0 {
		return nil
	}
	return req.keep(found, req.hasPhrases(unsure, sources))
}

// keep removes the assets for which is returns false from a set.
func (req *request) keep(found *index.Set, is func(assetRecord) (bool, error)) error {
	for r, err := range req.assetsIn(found, pageRange{}) {
		kept := false
		if err == nil {
			kept, err = is(r)
		}
		if err != nil {
			return err
		}
		if !kept {
			found.Remove(r.Ordinal)
		}
	}
	return nil
}

// hasPhrases returns a function that reports whether an asset contains all phrases.
func (req *request) hasPhrases(phrases []phrase, sources []int) func(assetRecord) (bool, error) {
	return func(r assetRecord) (bool, error) {
		p, err := partsOf(r.Body)
		if err != nil {
			return false, err
		}
		content, err := readContent(p.Content)
		if err != nil {
			return false, err
		}
		texts := content.texts(req.rules().strip(content.Content), p.Attributes, req.rules(), sources)
		var lists [][]word
		for _, source := range sources {
			for _, text := range texts[source] {
				lists = append(lists, req.rules().firstWords(text, r.words))
			}
		}
		for _, p := range phrases {
			if !slices.ContainsFunc(lists, p.in) {
				return false, nil
			}
		}
		return true, nil
	}
}

// SearchPage is a page of a search. Unlike from a Page, a reader can go on from it in both
// directions.
//
// Next always leads to newer assets and Prev to older ones, whatever the order of the search. To read a search in its
// own order, use SearchRequest.Following and From. A page that is not empty has both cursors even if nothing is there
// yet: new assets may be added later.
type SearchPage struct {
	Assets []Asset // in the order of the search
	Total  int64   // the number of assets that the search finds, on all pages
	Facets []Facet // those that the request asks for, each once, in the order of the request; nil if it asks for none
	Cut    bool    // Query has more words or bytes than Limits.Words and Limits.Query, and the rest of it did not count

	Prev    string // goes into SearchRequest.Until, for what is older than the page; "" on an empty page
	HasPrev bool   // the search finds something older
	Next    string // goes into SearchRequest.Since, for what is newer than the page; "" on an empty page
	HasNext bool   // the search finds something newer
}

// pagingText is the member paging of a SearchPage in JSON.
type pagingText struct {
	Prev       string `json:"prev,omitempty"`
	HasPrev    bool   `json:"hasPrev"`
	Next       string `json:"next,omitempty"`
	HasNext    bool   `json:"hasNext"`
	Total      int64  `json:"total"`
	TotalItems int64  `json:"totalItems"`
}

// AppendJSON appends the page as it is over HTTP, such as
//
//	{"assets":[{…}],"paging":{"prev":"…","hasPrev":false,"next":"…","hasNext":false,"total":1,"totalItems":1},
//	 "facets":{"tags":[{"value":"approved","count":1}]}}
//
// The member totalItems has the total again, and an empty cursor is left out. A page that is Cut has the member cut.
func (p SearchPage) AppendJSON(b []byte) []byte {
	b = append(b, `{"assets":[`...)
	for i, a := range p.Assets {
		b = a.AppendJSON(appendComma(b, i))
	}
	b = appendJSON(append(b, `],"paging":`...), pagingText{p.Prev, p.HasPrev, p.Next, p.HasNext, p.Total, p.Total})
	if p.Cut {
		b = append(b, `,"cut":true`...)
	}
	if p.Facets != nil {
		b = appendFacets(append(b, `,"facets":`...), p.Facets)
	}
	return append(b, '}')
}

// MarshalJSON gives the same bytes as AppendJSON.
func (p SearchPage) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// UnmarshalJSON is the inverse of MarshalJSON.
func (p *SearchPage) UnmarshalJSON(text []byte) error {
	var in struct {
		Assets []Asset        `json:"assets"`
		Paging pagingText     `json:"paging"`
		Cut    bool           `json:"cut"`
		Facets jsontext.Value `json:"facets"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	facets, err := readFacets(in.Facets)
	at := in.Paging
	*p = SearchPage{Assets: in.Assets, Total: at.Total, Facets: facets, Prev: at.Prev, HasPrev: at.HasPrev,
		Next: at.Next, HasNext: at.HasNext, Cut: in.Cut}
	return err
}

// Following returns the cursor of the page that follows p in the order of the search, for From. It
// returns "" if p is the last page. p is a page that the search has found.
func (in SearchRequest) Following(p SearchPage) string {
	switch {
	case in.ascending() && p.HasNext:
		return p.Next
	case !in.ascending() && p.HasPrev:
		return p.Prev
	}
	return ""
}

// page returns the page of the found assets that are in the range at, without total and facets. It
// ends at the limit of the range, or before the asset that would bring it above Limits.PageBytes.
func (req *request) page(found *index.Set, at pageRange) (SearchPage, error) {
	var p SearchPage
	var first, last position
	more := false
	room := paging.NewRoom(at.limit, req.limits.PageBytes)
	at.limit++ // one more than the page may have tells whether the search goes on
	for r, err := range req.assetsIn(found, at) {
		if err != nil {
			return SearchPage{}, err
		}
		a := req.asset(r)
		if more = !room.Takes(a.size()); more {
			break
		}
		last = at.position(r)
		if first.ordinal == 0 {
			first = last
		}
		p.Assets = append(p.Assets, a)
	}
	// The page itself tells whether the search goes on after it. Whether it has anything before the
	// page takes another look.
	var behind bool
	if at.after.isBound() || at.before.isBound() { // without a cursor, the page is the first of the search
		var err error
		if behind, err = req.behind(found, at, first); err != nil {
			return SearchPage{}, err
		}
	}
	// The cursors are those of the oldest and the newest asset of the page, whatever its order.
	oldest, newest := last, first
	p.HasPrev, p.HasNext = more, behind
	if at.ascending {
		oldest, newest = first, last
		p.HasNext, p.HasPrev = more, behind
	}
	if first.ordinal != 0 {
		p.Prev, p.Next = req.ids.cursor(oldest), req.ids.cursor(newest)
	}
	return p, nil
}

// behind reports whether the search finds an asset that comes before the page in its order. first
// is the position of the page's first asset. It is zero if the page is empty; then the asset of the
// cursor and all before it count.
func (req *request) behind(found *index.Set, at pageRange, first position) (bool, error) {
	// One asset on the other side of the page's beginning is enough, in the opposite order.
	back := pageRange{ascending: !at.ascending, byCreated: at.byCreated, limit: 1}
	switch {
	case at.ascending && first.ordinal != 0:
		back.before = first
	case at.ascending:
		// with the asset of the cursor, which is not on the page
		back.before = position{at.after.created, at.after.ordinal + 1}
	case first.ordinal != 0:
		back.after = first
	default:
		back.after = position{at.before.created, at.before.ordinal - 1}
	}
	for _, err := range req.assetsIn(found, back) {
		return err == nil, err
	}
	return false, nil
}

// position is the place of an asset in the order of a search. The zero position is no place.
type position struct {
	// if the search is sorted by createdAt: the time, in milliseconds since the beginning of the year 0, so it is not 0
	created int64
	ordinal int64
}

func (p position) isBound() bool { return p != position{} }

func (p position) before(o position) bool {
	return cmp.Or(cmp.Compare(p.created, o.created), cmp.Compare(p.ordinal, o.ordinal)) < 0
}

// pageRange is the part of a library that a page is taken from. A cursor is the encrypted position
// of an asset, so it stays valid when the asset is removed.
type pageRange struct {
	after, before position // exclusive; zero = no bound
	ascending     bool
	byCreated     bool // in the order of createdAt, and of ordinals where it is the same
	limit         int  // assets at most
}

// position returns the place of an asset in the order of the range.
func (at pageRange) position(r assetRecord) position {
	p := position{ordinal: r.Ordinal}
	if at.byCreated {
		p.created = r.CreatedAt - yearZero
	}
	return p
}

// pageRange returns the range of assets that the search asks for with its cursors, its order and
// its limit. It returns ErrInvalid if a cursor is not of this library or of another sort, or the limit is out of range.
func (req *request) pageRange(in SearchRequest) (pageRange, error) {
	limit, err := paging.Limit(in.Limit, 50, req.limits.Page)
	c := pageRange{ascending: in.ascending(), byCreated: in.Sort == byCreated, limit: limit}
	if err != nil {
		return c, err
	}
	for _, p := range []struct {
		field, cursor string
		bound         *position
	}{{"since", in.Since, &c.after}, {"until", in.Until, &c.before}} {
		if p.cursor == "" {
			continue
		}
		at, ok := req.ids.position(p.cursor)
		if !ok {
			return c, fault.Invalid(p.field, "is not a cursor of this library")
		}
		byCreated := at.created != 0
		if in.Sort != "" && byCreated != c.byCreated {
			return c, fault.Invalid(p.field, "is the cursor of a search with another sort")
		}
		*p.bound, c.byCreated = at, byCreated
	}
	return c, nil
}

// createdBetween returns the terms of the times from from on and before before: the terms of whole days, and of single
// times in the first and last days. A zero time is no bound.
func createdBetween(from, before time.Time) []index.Span {
	// the times of assets are whole milliseconds
	milliseconds := func(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }
	first, last := int64(yearZero), int64(yearZero+dayLength*366*10_000)
	if !from.IsZero() {
		first = milliseconds(from)
	}
	if !before.IsZero() {
		last = max(first, milliseconds(before))
	}
	begin := func(at int64) int64 { return at - (at-yearZero)%daysLength } // the beginning of the days of a time
	firstDay, lastDay := begin(first+daysLength-1), begin(last)
	if firstDay >= lastDay {
		return []index.Span{{From: createdTerm(first), To: createdTerm(last)}}
	}
	return []index.Span{
		{From: createdTerm(first), To: createdTerm(firstDay)}, {From: daysTerm(firstDay), To: daysTerm(lastDay)},
		{From: createdTerm(lastDay), To: createdTerm(last)},
	}
}

// fewSorted is the number of found assets up to which they are read and sorted; more are sorted by the index.
const fewSorted = 100

// byCreated returns the ordinals of the assets of a range that are in a set, in the order of createdAt. A nil set
// contains all assets.
func (r *records) byCreated(found *index.Set, at pageRange) (list []int64, err error) {
	if found != nil && found.Count() <= min(fewSorted, fewAssets) {
		var all []position
		for a, err := range r.assetsIn(found, pageRange{}) {
			if err != nil {
				return nil, err
			}
			if p := at.position(a); at.has(p) {
				all = append(all, p)
			}
		}
		slices.SortFunc(all, func(a, b position) int {
			if a.before(b) == at.ascending {
				return -1
			}
			return 1
		})
		for _, p := range all[:min(at.limit, len(all))] {
			list = append(list, p.ordinal)
		}
		return list, nil
	}
	in := index.Prefix(string(kindCreated))
	if at.after.isBound() {
		in.From = createdTerm(at.after.created + yearZero)
	}
	if at.before.isBound() {
		in.To = createdTerm(at.before.created+yearZero) + "\x00"
	}
	err = r.index.Each(r.ctx, found, in, !at.ascending, func(term string, some []int64) bool {
		if !at.ascending {
			slices.Reverse(some)
		}
		for _, o := range some {
			if at.has(position{createdOf(term) - yearZero, o}) {
				list = append(list, o)
			}
		}
		return len(list) < at.limit
	})
	return list[:min(at.limit, len(list))], err
}

// has reports whether a position is between the bounds of the range.
func (at pageRange) has(p position) bool {
	return (!at.after.isBound() || at.after.before(p)) && (!at.before.isBound() || p.before(at.before))
}
