package convert

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/reviews"
)

// appendJSON appends a text as a string of JSON.
func appendJSON(out []byte, text string) []byte {
	out, err := jsontext.AppendQuote(out, text)
	if err != nil { // decode has made it valid
		panic("convert: a cell is not UTF-8: " + err.Error())
	}
	return out
}

// cell returns a cell without space around it; "" for a field without a column.
func cell(cells []string, at int) string {
	if at < 0 {
		return ""
	}
	return strings.TrimSpace(cells[at])
}

// review converts the cells of a row into e, or returns why it cannot.
func (c *conversion) review(cells []string, e *entry) (reason string) {
	p := c.plan
	e.collection, e.title, e.id, e.parent = cell(cells, p.collection), cell(cells, p.collectionTitle), cell(cells, p.review), cell(cells, p.parent)
	name, author := cell(cells, p.name), cell(cells, p.author)
	switch {
	case e.collection == "":
		return "the id of the collection is empty: it says what is reviewed"
	case base64.StdEncoding.EncodedLen(len(e.collection)) > 150:
		return "the id of the collection is longer than 112 bytes, which would be more than 150 characters of Base64"
	case e.id == "" && p.review >= 0:
		return "the id of the review is empty"
	case name == "" && author == "":
		return "the name of the author is empty"
	case utf8.RuneCountInString(author) > 255:
		return "the id of the author is longer than 255 characters"
	}
	if e.parent == "0" { // as WordPress has it for a review that replies to none
		e.parent = ""
	}
	created := cell(cells, p.created)
	if created == "" {
		return "the date is empty"
	}
	if e.created, reason = date(created, c.orders); reason != "" {
		return reason
	}
	out := append(appendJSON(append(e.json[:0], `"title":`...), cell(cells, p.title)), `,"body_html":`...)
	text := ""
	if p.body >= 0 {
		text = c.bodies.body(cells[p.body])
	}
	out = append(append(appendJSON(out, text), `,"created":"`...), e.created...)
	out = append(out, `","ratings":`...)
	for i, r := range p.ratings {
		n, reason := rating(cell(cells, r.at), c.Scale)
		if reason != "" {
			if len(p.ratings) > 1 {
				reason = r.name + ": " + reason
			}
			return reason
		}
		out = strconv.AppendInt(append(out, "[,"[min(i, 1)]), int64(n), 10)
	}
	out = append(out, ']')
	if author != "" {
		out = appendJSON(append(out, `,"author_id":`...), author)
	} else {
		out = appendJSON(append(out, `,"imported_display_name":`...), name)
		if email := cell(cells, p.email); email != "" {
			out = appendJSON(append(out, `,"imported_email":`...), email)
		}
		if url := cell(cells, p.url); url != "" {
			if !strings.Contains(url, "://") {
				url = "https://" + url
			}
			out = appendJSON(append(out, `,"imported_url":`...), url)
		}
	}
	parts := 0
	for _, s := range p.subparts {
		if value := cell(cells, s.at); value != "" {
			if parts++; parts == 1 {
				out = append(out, `,"subparts":{`...)
			} else {
				out = append(out, ',')
			}
			out = appendJSON(append(appendJSON(out, s.name), ':'), value)
		}
	}
	if parts > 0 {
		out = append(out, '}')
	}
	e.json = out
	if p.review < 0 {
		sum := sha256.Sum256(out)
		e.id = hex.EncodeToString(sum[:12])
	}
	return ""
}

// collection is a line that is being put together.
type collection struct {
	id, title, created string
	reviews            []*entry // in the order of the line
}

// writeLines writes a line for each collection.
func (c *conversion) writeLines(ctx context.Context, g *groups) (err error) {
	w := &lineWriter{conversion: c}
	var same []*entry
	size, large := 0, false
	end := func() bool {
		if len(same) > 0 {
			w.add(c.assemble(same))
		}
		same, size = nil, 0
		if w.size >= maxBatch || large {
			if err = ctx.Err(); err == nil {
				err = w.flush()
			}
		}
		if large {
			<-c.Large
			large = false
		}
		return err == nil
	}
	failed := g.each(func(e *entry) bool {
		if len(same) > 0 && same[0].collection != e.collection && !end() {
			return false
		}
		if len(same) == 0 {
			size = quotedSize(e.title)
		}
		size += len(e.json) + quotedSize(e.id) + quotedSize(e.parent) + len(`,{"id":"","parent_id":"",}`)
		if size > c.MaxLine-8<<10 && len(same) > 0 {
			c.reject(e.line, fmt.Sprintf("the reviews of its collection would be a line of more than %d bytes: convert the rejected rows as a file of their own, and import both", c.MaxLine), e.cells)
			return true
		}
		if size > maxBatch && !large && c.Large != nil {
			select {
			case c.Large <- struct{}{}:
				large = true
			case <-ctx.Done():
				err = ctx.Err()
				return false
			}
		}
		same = append(same, e)
		return true
	})
	if failed == nil && err == nil && end() {
		failed = w.flush()
	}
	return cmp.Or(failed, err)
}

// quotedSize returns how many bytes a text has in JSON at most: an escaped byte has six.
func quotedSize(text string) int {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		return 6 * len(text)
	}
	return len(text)
}

// maxBatch is about how many bytes of lines are checked together.
const maxBatch = 1 << 20

// assemble orders the reviews of a collection, so that replies follow what they reply to, and rejects those whose id came before and those
// that reply to a review that is not there. Ids that were made of the content get a number where they repeat.
func (c *conversion) assemble(all []*entry) *collection {
	out := &collection{id: all[0].collection, created: all[0].created}
	seen, repeats, waiting := map[string]int64{}, map[string]int{}, map[string][]*entry{}
	for _, e := range all {
		if c.plan.review < 0 {
			if repeats[e.id]++; repeats[e.id] > 1 { // a made id has no hyphen, so no other one is like this
				e.id += "-" + strconv.Itoa(repeats[e.id])
			}
		} else if line := seen[e.id]; line != 0 {
			c.reject(e.line, fmt.Sprintf("the id of the review came before in this collection, in line %d", line), e.cells)
			continue
		}
		seen[e.id] = e.line
		if e.parent != "" {
			waiting[e.parent] = append(waiting[e.parent], e)
			continue
		}
		out.reviews = append(out.reviews, e)
	}
	// Each review is followed, in the end, by its replies, and these by theirs.
	for i := 0; i < len(out.reviews) && len(waiting) > 0; i++ {
		e := out.reviews[i]
		out.reviews = append(out.reviews, waiting[e.id]...)
		delete(waiting, e.id)
	}
	lost := slices.Concat(slices.Collect(maps.Values(waiting))...)
	slices.SortFunc(lost, func(a, b *entry) int { return cmp.Compare(a.line, b.line) })
	for _, e := range lost {
		c.reject(e.line, "it replies to a review that is not in this collection of the file, or was rejected", e.cells)
	}
	for _, e := range out.reviews {
		if out.title == "" {
			out.title = e.title
		}
		out.created = min(out.created, e.created)
	}
	if out.title == "" {
		out.title = out.id
	}
	return out
}

// append appends the line of a collection.
func (l *collection) append(out, source, dimensions []byte) []byte {
	out = append(append(out, `{"source":`...), source...)
	out = append(base64.StdEncoding.AppendEncode(append(out, `,"id":"`...), []byte(l.id)), `","title":`...)
	out = append(append(appendJSON(out, l.title), `,"created":"`...), l.created...)
	out = append(append(append(out, `","dimensions":`...), dimensions...), `,"reviews":[`...)
	for i, e := range l.reviews {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendJSON(append(out, `{"id":`...), e.id)
		if e.parent != "" {
			out = appendJSON(append(out, `,"parent_id":`...), e.parent)
		}
		out = append(append(append(out, ','), e.json...), '}')
	}
	return append(out, "]}\n"...)
}

// lineWriter collects lines, checks them and writes them.
type lineWriter struct {
	*conversion
	lines []*collection
	size  int // about how many bytes they have
	out   []byte
}

// add adds a line unless it has no reviews.
func (w *lineWriter) add(l *collection) {
	if len(l.reviews) == 0 {
		return
	}
	w.lines = append(w.lines, l)
	for _, e := range l.reviews {
		w.size += len(e.json) + 64
	}
}

// flush writes the lines. The rules of the format are applied first: a review that breaks one is rejected, and the rest is checked again,
// so what is written is accepted by every check.
func (w *lineWriter) flush() error {
	source := appendJSON(nil, strings.ReplaceAll(strings.ToValidUTF8(w.Source, "\ufffd"), "\x00", ""))
	for wrong := true; wrong && len(w.lines) > 0; {
		w.out = w.out[:0]
		for _, l := range w.lines {
			w.out = l.append(w.out, source, w.plan.dimensions)
		}
		wrong = false
		check := reviews.Check(bytes.NewReader(w.out), &reviews.Options{Workers: 1, MaxLine: w.MaxLine})
		for p, err := range check.Problems() {
			if err != nil {
				return err
			}
			if p.Severity == reviews.SeverityError {
				wrong = true
				w.remove(w.lines[p.Line-1], p)
			}
		}
		w.lines = slices.DeleteFunc(w.lines, func(l *collection) bool {
			l.reviews = slices.DeleteFunc(l.reviews, func(e *entry) bool { return e == nil })
			return len(l.reviews) == 0
		})
	}
	if len(w.lines) > 0 {
		if _, err := w.To.Write(w.out); err != nil {
			return err
		}
	}
	for _, l := range w.lines {
		w.result.Converted += int64(len(l.reviews))
	}
	w.lines, w.size = nil, 0
	return nil
}

// remove rejects the review of a line that has a problem, or all of them if the problem is in the collection.
func (w *lineWriter) remove(l *collection, p reviews.Problem) {
	first, last := 0, len(l.reviews)
	if rest, ok := strings.CutPrefix(p.Pointer, "/reviews/"); ok {
		number, _, _ := strings.Cut(rest, "/")
		if n, err := strconv.Atoi(number); err == nil && n < last {
			first, last = n, n+1
		}
	}
	for i := first; i < last; i++ {
		if e := l.reviews[i]; e != nil {
			w.reject(e.line, p.Message+" ("+p.Rule+")", e.cells)
			l.reviews[i] = nil
		}
	}
}
