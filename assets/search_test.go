package assets_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// add adds an asset as the moderator.
func (d *desk) add(a assets.NewAsset) assets.Asset {
	d.t.Helper()
	out, err := d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{a}})
	if err != nil {
		d.t.Fatal(err)
	}
	return out.Added[0]
}

func (d *desk) label(id string, add ...assets.Attribute) {
	d.t.Helper()
	out, err := d.As(moderator).ChangeAttributes(ctx, lib,
		assets.ChangeAttributesRequest{Assets: []string{id}, Add: add})
	if err != nil || out.Result[0] != 200 {
		d.t.Fatal(out.Result, err)
	}
}

func TestTheBoundsOfASearch(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	d.add(newAsset("x", "text"))
	list := func(n int, of string) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprint(of, i))
		}
		return out
	}
	long := strings.Repeat("v", 1024)
	longer := long + "v"
	for name, c := range map[string]struct {
		in assets.SearchRequest
		ok bool
	}{
		"16 tags":                       {assets.SearchRequest{Tags: list(16, "t")}, true},
		"17 tags":                       {assets.SearchRequest{Tags: list(17, "t")}, false},
		"16 attributes":                 {assets.SearchRequest{Attributes: list(16, "k")}, true},
		"17 attributes":                 {assets.SearchRequest{Attributes: list(17, "k")}, false},
		"8 facets":                      {assets.SearchRequest{Facets: list(8, "attribute:k")}, true},
		"9 facets":                      {assets.SearchRequest{Facets: list(9, "attribute:k")}, false},
		"an unknown facet":              {assets.SearchRequest{Facets: []string{"tag"}}, false},
		"an empty facet":                {assets.SearchRequest{Facets: []string{""}}, false},
		"a facet without a key":         {assets.SearchRequest{Facets: []string{"attribute:"}}, false},
		"a facet of a key with a comma": {assets.SearchRequest{Facets: []string{"attribute:a,b"}}, true},
		"a key of 128": {assets.SearchRequest{Attributes: []string{long[:128]},
			Facets: []string{"attribute:" + long[:128]}}, true},
		"a key of 129":                     {assets.SearchRequest{Attributes: []string{long[:129]}}, false},
		"a facet of a key of 129":          {assets.SearchRequest{Facets: []string{"attribute:" + long[:129]}}, false},
		"an empty key":                     {assets.SearchRequest{Attributes: []string{""}}, false},
		"an empty key with a value":        {assets.SearchRequest{Attributes: []string{":v"}}, false},
		"a value of 1,024":                 {assets.SearchRequest{Attributes: []string{"k:" + long}}, true},
		"a value of 1,025":                 {assets.SearchRequest{Attributes: []string{"k:" + longer}}, false},
		"64 words, one of them excluded":   {assets.SearchRequest{Query: strings.Repeat("ab* ", 63) + "-c"}, true},
		"65 words, one of them excluded":   {assets.SearchRequest{Query: strings.Repeat("ab* ", 64) + "-c"}, false},
		"a prefix of two characters":       {assets.SearchRequest{Query: "te*"}, true},
		"a prefix of one character":        {assets.SearchRequest{Query: "t*"}, false},
		"a prefix of one character of Han": {assets.SearchRequest{Query: "漢*"}, true},
		"a prefix of one folded character": {assets.SearchRequest{Query: "é*"}, false},
		"the last year": {
			assets.SearchRequest{CreatedFrom: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}, true},
		"the year 10000": {
			assets.SearchRequest{CreatedBefore: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, false},
		"a time that begins after its end": {assets.SearchRequest{CreatedFrom: d.now.Add(time.Hour),
			CreatedBefore: d.now}, true},
		"facets, each mentioned many times": {assets.SearchRequest{Facets: []string{"tags", "tags", "via", "tags"}},
			true},
	} {
		if _, err := d.As(moderator).Search(ctx, lib, c.in); c.ok && err != nil || !c.ok &&
			!errors.Is(err, vitrine.ErrInvalid) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for n, ok := range map[int]bool{100: true, 101: false} {
		for _, in := range []assets.ListFoldersRequest{{IDs: list(n, "id")}, {Paths: list(n, "/")}} {
			if _, err := d.As(moderator).ListFolders(ctx, lib, in); (err == nil) != ok {
				t.Errorf("%d ids or paths of folders: error %v", n, err)
			}
		}
	}
}

func TestAPrefixFindsTheWordsThatBeginWithIt(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	long := strings.Repeat("ක", 160) // 480 bytes
	d.add(newAsset("1", "Launching the launchpad"))
	d.add(newAsset("2", "lunch 漢字 "+long))
	for query, want := range map[string]int64{
		"launch*": 1, "la*": 1, "LAUN*": 1, "launching*": 1, "launchings*": 0, "lu*": 1, "launch": 0, "the la*": 1,
		"lu* la*": 0, "漢*": 1, "字*": 1,
		"ක": 0, "කක*": 1, long + "*": 1, long: 1, long[:477] + "*": 1, long[:300] + "*": 1, long[:477]: 0,
		long + "ක*": 0,
	} {
		if n := d.total(member, assets.SearchRequest{Query: query}); n != want {
			t.Errorf("%.40q of %d bytes finds %d, want %d", query, len(query), n, want)
		}
	}
}

func TestAttributesFilter(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	long := strings.Repeat("v", 1000)
	d.label(d.add(newAsset("1", "")).ID, assets.Attribute{Key: "color", Value: "red"},
		assets.Attribute{Key: "size", Value: ""})
	d.label(d.add(newAsset("2", "")).ID, assets.Attribute{Key: "color", Value: "blue"},
		assets.Attribute{Key: "color", Value: long + "1"})
	d.label(d.add(newAsset("3", "")).ID, assets.Attribute{Key: "colors", Value: "red"},
		assets.Attribute{Key: "a=b", Value: "c"})
	for _, c := range []struct {
		pairs []string
		want  int64
	}{
		{[]string{"color:red"}, 1}, {[]string{"color"}, 2}, {[]string{"colors"}, 1}, {[]string{"size:"}, 1},
		{[]string{"color:"}, 0}, {[]string{"Color"}, 2},
		{[]string{"COLOR:red"}, 1}, {[]string{"color:Red"}, 0},
		{[]string{"color", "size"}, 1}, {[]string{"color:red", "color:blue"}, 0},
		{[]string{"color:blue", "color:" + long + "1"}, 1},
		{[]string{"color:" + long + "2"}, 0}, {[]string{"colo"}, 0}, {[]string{"a=b:c"}, 1}, {[]string{"a:b=c"}, 0},
		{[]string{"none"}, 0},
	} {
		if n := d.total(member, assets.SearchRequest{Attributes: c.pairs}); n != c.want {
			t.Errorf("%.60q finds %d, want %d", c.pairs, n, c.want)
		}
	}
}

// A key with a colon is quoted. Without quotes its filter found nothing, and is an error where the caller sees such a
// key.
func TestKeysWithColons(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	_, hidden := d.folder("hidden", "", false)
	hidden = hidden[strings.LastIndex(hidden, "/")+1:]
	d.label(d.asset("1", "a"), assets.Attribute{Key: "dc:title", Value: "Harbour"},
		assets.Attribute{Key: "time", Value: "12:30"})
	d.label(d.asset("2", "b"), assets.Attribute{Key: "a:b:c", Value: "d:e"}, assets.Attribute{Key: `"q"`, Value: "x"},
		assets.Attribute{Key: "dc", Value: "title:Harbour"})
	d.label(d.asset("3", "c", hidden), assets.Attribute{Key: "time:12", Value: "x"})
	for filter, want := range map[string]string{
		`"dc:title":Harbour`: "1", `"dc:title"`: "1", `"dc:title":`: "0", `"dc\u003atitle":Harbour`: "1",
		`"dc":title:Harbour`: "1", `"time":12:30`: "1",
		`"a:b:c":d:e`: "1", `"\"q\"":x`: "1", `time:12:30`: "1", `none:a:b`: "0", `"none":a:b`: "0", `dc:other`: "0",
		`dc:title:Harbour`: `"dc:title":Harbour`, `dc:title:`: `"dc:title":`, `a:b:c:d:e`: `"a:b:c":d:e`,
		`"dc:title"Harbour`: `"key":value`, `"dc:title`: `"key":value`, `"":x`: "empty key",
	} {
		page, err := d.As(member).Search(ctx, lib, assets.SearchRequest{Attributes: []string{filter}})
		switch {
		case len(want) == 1 && (err != nil || fmt.Sprint(page.Total) != want):
			t.Errorf("%s finds %d, %v, want %s", filter, page.Total, err, want)
		case len(want) > 1:
			if d.want(filter, err, "invalid"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s in it", filter, err, want)
			}
		}
	}
	_, err := d.As(moderator).Search(ctx, lib, assets.SearchRequest{Attributes: []string{"time:12:30"}})
	d.want("a key in a folder that the caller sees", err, "invalid")
	long := "k" + strings.Repeat(":", 1000)
	if page, err := d.As(moderator).Search(ctx, lib,
		assets.SearchRequest{Attributes: slices.Repeat([]string{long}, 16)}); err != nil || page.Total != 0 {
		t.Errorf("many colons: %d, %v", page.Total, err)
	}
}

func TestTimesFilter(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	begin := d.now
	for i := range 50 { // three at a time
		d.now = begin.Add(time.Duration(i/3) * time.Second)
		d.asset(fmt.Sprint(i), "")
	}
	at := func(second int, more time.Duration) time.Time {
		return begin.Add(time.Duration(second)*time.Second + more)
	}
	count := func(from, to time.Time) int64 {
		return d.total(member, assets.SearchRequest{CreatedFrom: from, CreatedBefore: to})
	}
	for second := range 18 {
		before := int64(min(3*second, 50))
		until := int64(min(3*second+3, 50))
		for more, want := range map[time.Duration]int64{-time.Nanosecond: before, 0: before, time.Nanosecond: until,
			time.Second: until} {
			if n, rest := count(time.Time{}, at(second, more)), count(at(second, more), time.Time{}); n != want ||
				rest != 50-want {
				t.Errorf("%d are before %d s and %s, and %d from then on, want %d and %d", n, second, more, rest, want,
					50-want)
			}
		}
		if n := count(at(second, 0), at(second+1, 0)); n != until-before {
			t.Errorf("%d from second %d to the next, want %d", n, second, until-before)
		}
	}
	page := d.search(member, assets.SearchRequest{CreatedFrom: at(1, 0), CreatedBefore: at(3, 0), Limit: 2})
	page = d.search(member,
		assets.SearchRequest{CreatedFrom: at(1, 0), CreatedBefore: at(3, 0), Limit: 9, Until: page.Prev})
	if len(page.Assets) != 4 || page.HasPrev || !page.HasNext || page.Total != 6 {
		t.Errorf("the second page has %d assets, %+v", len(page.Assets), page)
	}
}

func TestFacetsCountWhatTheCallerSees(t *testing.T) {
	t.Run("few", facetsCountWhatTheCallerSees)
	t.Run("index", func(t *testing.T) { assets.FacetsByIndex(t); facetsCountWhatTheCallerSees(t) })
}

func facetsCountWhatTheCallerSees(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	open, _ := d.folder("open", "", true)
	secret, _ := d.folder("secret", "", false, grants...)
	via := int64(-7)
	for i := range 30 {
		a := newAsset(fmt.Sprint(i), "all", open)
		a.SafeTags = []string{fmt.Sprintf("t%02d", i), "every"}
		if i%2 == 0 {
			a.Folders = append(a.Folders, secret)
		}
		if i%3 == 0 {
			a.Folders, a.Via = []string{secret}, &via
		}
		labels := []assets.Attribute{{Key: "n", Value: fmt.Sprint(i % 4)}}
		if i%3 == 0 { // members do not see these assets, nor that they have this key
			labels = append(labels, assets.Attribute{Key: "hidden", Value: "a"},
				assets.Attribute{Key: "hidden", Value: "b"})
		}
		d.label(d.add(a).ID, labels...)
	}
	in := assets.SearchRequest{Query: "all", Limit: 1,
		Facets: []string{"tags", "folder", "via", "rights", "attribute:n", "attribute", "tags"}}
	for name, by := range map[string]vitrine.Caller{"member": member, "writer": writer} {
		page, err := d.As(by).Search(ctx, lib, in)
		if err != nil {
			t.Fatal(err)
		}
		rest := page
		rest.Facets = page.Facets[1:]
		_, got, _ := strings.Cut(string(rest.AppendJSON(nil)), `"facets":`)
		want := map[string]string{
			"member": fmt.Sprintf(`{"folder":[{"value":%q,"count":20}],"via":[],"rights":[],"attribute:n":[`, open) +
				`{"value":"1","count":6},{"value":"0","count":5},{"value":"2","count":5},{"value":"3","count":4}],` +
				`"attribute":[{"value":"n","count":20}]}`,
			"writer": fmt.Sprintf(`{"folder":[{"value":%q,"count":20},{"value":%q,"count":20}],"via":[{"value":"-7",`+
				`"count":10}],"rights":[],"attribute:n":[`,
				min(open, secret), max(open, secret)) +
				`{"value":"0","count":8},{"value":"1","count":8},{"value":"2","count":7},{"value":"3","count":7}],` +
				`"attribute":[{"value":"n","count":30},{"value":"hidden","count":10}]}`,
		}[name]
		if got != want+"}" {
			t.Errorf("%s: facets %s\nwant %s", name, got, want)
		}
		tags := page.Facets[0].Values
		if len(tags) != 20 || tags[0] != (assets.FacetValue{Value: "every", Count: page.Total}) || tags[1].Count != 1 ||
			!slices.IsSortedFunc(tags[1:], func(a, b assets.FacetValue) int {
				return strings.Compare(a.Value, b.Value)
			}) {
			t.Errorf("%s: the most frequent tags are %v", name, tags)
		}
		if name == "writer" && tags[19].Value != "t18" || name == "member" && tags[1].Value != "t01" {
			t.Errorf("%s: of equally frequent ones the first come first: %v", name, tags)
		}
		text, err := json.Marshal(page)
		var back assets.SearchPage
		if err := errors.Join(err, json.Unmarshal(text, &back)); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(back.Facets) != fmt.Sprint(page.Facets) {
			t.Errorf("facets %v come back as %v", page.Facets, back.Facets)
		}
	}
	if page := d.search(member,
		assets.SearchRequest{Query: "...", Facets: []string{"via"}}); !strings.HasSuffix(string(page.AppendJSON(nil)),
		`"facets":{"via":[]}}`) {
		t.Errorf("a search that finds nothing has the facets %v", page.Facets)
	}
	if page := d.search(member, assets.SearchRequest{}); page.Facets != nil ||
		strings.Contains(string(page.AppendJSON(nil)), "facets") {
		t.Errorf("a search without facets has %v", page.Facets)
	}
}

// Values that are too long for a term are counted and returned like others.
func TestFacetsOfLongValues(t *testing.T) {
	t.Run("few", facetsOfLongValues)
	t.Run("index", func(t *testing.T) { assets.FacetsByIndex(t); facetsOfLongValues(t) })
}

func facetsOfLongValues(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	var want []assets.FacetValue
	for i := range 24 {
		tag, key, value := strings.Repeat("語", 120)+fmt.Sprintf("%02d", i), strings.Repeat("語", 100),
			strings.Repeat("v", 900)+fmt.Sprintf("%02d", i)
		if i == 7 {
			value = "short"
		}
		for n := range 1 + i%2 {
			a := newAsset(fmt.Sprint(i, " ", n), "")
			a.SafeTags = []string{tag}
			a.Generator.ID = strings.Repeat("語", 120) + fmt.Sprint(i%2)
			d.label(d.add(a).ID, assets.Attribute{Key: key, Value: value}, assets.Attribute{Key: "k", Value: value})
		}
		want = append(want, assets.FacetValue{Value: value, Count: int64(1 + i%2)})
	}
	slices.SortFunc(want, func(a, b assets.FacetValue) int {
		if a.Count != b.Count {
			return int(b.Count - a.Count)
		}
		return strings.Compare(a.Value, b.Value)
	})
	page := d.search(member,
		assets.SearchRequest{Facets: []string{"attribute:k", "attribute:" + strings.Repeat("語", 100), "tags",
			"generator", "attribute"}})
	for _, f := range page.Facets[:2] {
		if !slices.Equal(f.Values, want[:20]) {
			t.Errorf("%.20s: %.3000v", f.Name, f.Values)
		}
	}
	tags := page.Facets[2].Values
	for i := range 12 { // the odd ones are twice as frequent
		if tags[i] != (assets.FacetValue{Value: strings.Repeat("語", 120) + fmt.Sprintf("%02d", 2*i+1), Count: 2}) {
			t.Errorf("tag %d is %v", i, tags[i])
		}
	}
	if last := tags[len(tags)-1]; len(tags) != 20 ||
		last != (assets.FacetValue{Value: strings.Repeat("語", 120) + "14", Count: 1}) {
		t.Errorf("the last of %d tags is %v", len(tags), last)
	}
	if got := page.Facets[3].Values; len(got) != 2 || got[0].Count != 24 || !strings.HasSuffix(got[0].Value, "1") ||
		got[1].Count != 12 {
		t.Errorf("generators: %v", got)
	}
	if got := page.Facets[4].Values; !slices.Equal(got,
		[]assets.FacetValue{{Value: "k", Count: 36}, {Value: strings.Repeat("語", 100), Count: 36}}) {
		t.Errorf("keys: %v", got)
	}
}

// readCounter counts the entries that are read.
type readCounter struct {
	storage.Store
	gets, entries int
}

func (c *readCounter) View(ctx context.Context, fn func(storage.Reader) error) error {
	return c.Store.View(ctx, func(r storage.Reader) error { return fn(countingReader{r, c}) })
}

type countingReader struct {
	storage.Reader
	c *readCounter
}

func (r countingReader) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	r.c.gets++
	return r.Reader.Get(ctx, keys...)
}

func (r countingReader) Scan(ctx context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		for e, err := range r.Reader.Scan(ctx, ranges...) {
			if r.c.entries++; !yield(e, err) {
				return
			}
		}
	}
}

// Neither tags that are too long for a term nor the tags of another library make facets slow.
func TestWhatFacetsRead(t *testing.T) {
	assets.FacetsByIndex(t)
	store := &readCounter{Store: memory.New()}
	d := &desk{t: t, Service: assets.New(store, nil)}
	add := func(l assets.Library, n, tags int, tag string) {
		var in assets.ChangeAssetsRequest
		for i := range n {
			a := newAsset(fmt.Sprint(i), "x")
			for k := range tags {
				a.SafeTags = append(a.SafeTags, fmt.Sprintf("%s%d %d", tag, i, k))
			}
			in.Add = append(in.Add, a)
		}
		if _, err := d.As(moderator).ChangeAssets(ctx, l, in); err != nil {
			t.Fatal(err)
		}
	}
	facets := func(l assets.Library) (gets, entries int) {
		store.gets, store.entries = 0, 0
		page, err := d.As(moderator).Search(ctx, l, assets.SearchRequest{Facets: []string{"tags"}, Limit: 1})
		if err != nil || len(page.Facets[0].Values) != 20 {
			t.Fatal(page.Facets, err)
		}
		return store.gets, store.entries
	}
	small, large, long := lib, assets.Library{Network: lib.Network, ID: "large"},
		assets.Library{Network: lib.Network, ID: "long"}
	add(small, 10, 10, "tag")
	add(large, 500, 100, "tag")
	if gets, entries := facets(small); gets > 10 || entries > 20 {
		t.Errorf("beside a library with 50,000 tags, facets read %d times and %d entries", gets, entries)
	}
	add(long, 20, 100, strings.Repeat("語", 100)) // all terms begin alike
	if gets, _ := facets(long); gets > 500 {
		t.Errorf("to count long tags, facets read %d times", gets)
	}
}

func (c *readCounter) Update(
	ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	return c.Store.Update(ctx, space, o, func(t storage.Tx) error { return fn(countingTransaction{t, c}) })
}

type countingTransaction struct {
	storage.Tx
	c *readCounter
}

func (t countingTransaction) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	t.c.gets++
	return t.Tx.Get(ctx, keys...)
}

// Others wait while an update reads, so it reads many assets at once.
func TestAssetsOfAListAreReadTogether(t *testing.T) {
	store := &readCounter{Store: memory.New()}
	d := &desk{t: t, Service: assets.New(store, nil)}
	f, _ := d.folder("f", "", true)
	var in assets.ChangeAssetsRequest
	for i := range 500 {
		in.Add = append(in.Add, newAsset(fmt.Sprint(i), "x"))
	}
	out, err := d.As(moderator).ChangeAssets(ctx, lib, in)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, a := range out.Added {
		ids = append(ids, a.ID)
	}
	for what, fn := range map[string]func() error{
		"assigning": func() error {
			_, err := d.As(moderator).AssignAssets(ctx, lib, assets.AssignAssetsRequest{Folder: f, Assign: ids})
			return err
		},
		"removing": func() error {
			_, err := d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Remove: ids})
			return err
		},
	} {
		if store.gets = 0; fn() != nil || store.gets > 20 {
			t.Errorf("%s 500 assets takes %d trips to the store", what, store.gets)
		}
	}
}

// A word that is too long for a term is found as any other: as a whole, by its beginning, and as one that must not be
// there.
func TestWordsThatAreTooLongForATerm(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	long := strings.Repeat("é", 200)
	one, two := d.asset("1", "begin "+long+"one end"), d.asset("2", long+"two")
	for query, want := range map[string][]string{
		long + "one":                     {one},
		long + "two":                     {two},
		long + "three":                   nil,
		long + "*":                       {two, one},
		long + "o*":                      {one},
		"begin -" + long + "two":         {one},
		"begin -" + long + "o*":          nil,
		`"` + long + `one end"`:          {one},
		`"begin ` + long + `"`:           nil,
		`"begin ` + long + `*"`:          {one},
		strings.Repeat("é", 126) + "*":   {two, one},
		strings.Repeat("é", 127) + "*":   {two, one},
		strings.Repeat("e", 200) + "one": {one},
	} {
		page, err := d.As(moderator).Search(ctx, lib, assets.SearchRequest{Query: query})
		var got []string
		for _, a := range page.Assets {
			got = append(got, a.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%.20q… %q finds %q, %v, want %q", query, query[max(len(query)-10, 0):], got, err, want)
		}
	}
}
