package appsvc

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// A search in content has no index: it reads the latest versions, the newest first, until the page is full or its time
// is over. The texts of a body are folded one after the other into a buffer, in which words are found by their bytes.
// Only a body that has all words is looked at text by text.

// Found is a text in the config of an element that has all words of a search, each at least as the beginning of a word.
type Found struct {
	Element string `json:"element"` // its key
	Pointer string `json:"pointer"` // JSON pointer into its config
	Text    string `json:"text"`    // up to 120 characters of the text, around the first word
}

// The limits of a search in content.
const (
	mostFound   = 3 // of an app
	mostOfFound = 120
	contentTime = time.Second // of a page, by the clock of Options.Now
)

// The values of ListAppsRequest.In.
const (
	inTitle   = "title"
	inContent = "content"
)

// inContent reports whether the request searches contents. It returns ErrInvalid for an In that cannot be.
func (in ListAppsRequest) inContent() (bool, error) {
	for _, place := range in.In {
		if place != inTitle && place != inContent {
			return false, fault.Invalid("in", "%q is not known: want title or content", place)
		}
	}
	content := slices.Contains(in.In, inContent)
	switch {
	case in.In != nil && len(in.In) == 0:
		return false, fault.Invalid("in", "is empty: want title or content")
	case in.In != nil && in.Query == "":
		return false, fault.Invalid("in", "want q beside it: it says where the words are looked for")
	case content && in.Sort != "":
		return false,
			fault.Invalid("sort", "a search in content has an order of its own: the version made last comes first")
	}
	return content, nil
}

// contentSearch finds words in bodies.
type contentSearch struct {
	words  records.Finder
	folded []byte // a buffer
}

// searchContent returns a page of the apps that q matches but for its words, which are in the title, if in says so, or
// in a text of a config.
func (s *Session) searchContent(
	ctx context.Context, r *reader, q appQuery, in ListAppsRequest, limit int,
) (page vitrine.Page[App], err error) {
	titles, find := q, contentSearch{words: records.NewFinder(q.words)}
	q.words, q.limit = nil, records.AtOnce
	until, room := s.service.now().Add(contentTime), paging.NewRoom(limit, s.service.limits.PageBytes)
	var last *records.Position // of the apps that were looked at
	for part, err := range keyval.Chunks(r.positionsOf(ctx, q, records.AtOnce), records.AtOnce) {
		if err != nil {
			return vitrine.Page[App]{}, err
		}
		i := 0
		for app, err := range r.whole(ctx, idsAt(part)) {
			if err == nil && last != nil && (room.Full() || !s.service.now().Before(until)) {
				page.Next = cursor(string(q.sort), last.Time, last.ID)
				return page, nil
			}
			var found []Found
			if err == nil {
				found, err = find.in(app.Body)
			}
			if err == nil && (len(found) > 0 || slices.Contains(in.In, inTitle) && titles.matchTitle(app.Title)) {
				if in.Summary {
					for app, err = range s.service.summaries(ctx, r, []string{app.ID}) {
						break
					}
				}
				if app.Found = append([]Found{}, found...); err == nil && !room.Takes(app.size()) {
					page.Next = cursor(string(q.sort), last.Time, last.ID)
					return page, nil
				}
				page.Items = append(page.Items, app)
			}
			if err != nil {
				return vitrine.Page[App]{}, err
			}
			last, i = &part[i], i+1
		}
	}
	return page, nil
}

// in returns the first texts of the elements of a body that have all words.
func (c *contentSearch) in(body Body) (found []Found, err error) {
	d, err := body.draft()
	if err != nil {
		return nil, err
	}
	configs := make([][]byte, len(d.elements))
	c.folded = c.folded[:0]
	for i, e := range d.elements {
		if _, configs[i], err = e.split(); err != nil {
			return nil, err
		}
		for text := range jsontree.Texts(configs[i]) {
			c.folded = records.Fold(append(c.folded, 0), text)
		}
	}
	if !c.words.In(c.folded) {
		return nil, nil
	}
	for i, e := range d.elements {
		node := jsontree.New(configs[i])
		if found = c.at(&node, e.key, "", found); len(found) == mostFound {
			break
		}
	}
	return found, nil
}

// at appends the texts in a value that have all words to found. pointer leads to the value.
func (c *contentSearch) at(value *jsontree.Node, element, pointer string, found []Found) []Found {
	switch kind := value.Kind(); kind {
	case '"':
		text, _ := jsontree.Text(value.Bytes())
		if c.folded = records.Fold(append(c.folded[:0], 0), []byte(text)); c.words.In(c.folded) {
			found = append(found, Found{element, pointer, c.words.Near(text, mostOfFound)})
		}
	case '{', '[':
		for i := 0; i < value.Len() && len(found) < mostFound; i++ {
			token := strconv.Itoa(i)
			if kind == '{' {
				token = jsonpointer.Escape(value.Name(i))
			}
			found = c.at(value.At(i), element, pointer+"/"+token, found)
		}
	}
	return found
}

// appendFound adds what a search has found to the JSON of an app.
func (a App) appendFound(app []byte) []byte {
	text, _ := json.Marshal(a.Found) // this only fails for invalid UTF-8, which no app has
	return append(append(append(app[:len(app)-1], `,"found":`...), text...), '}')
}
