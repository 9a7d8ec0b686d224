package convert

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/reviews"
)

// appendJSON appends a text as a JSON string.
func appendJSON[T string | []byte](out []byte, text T) []byte {
	out, err := jsontext.AppendQuote(out, text)
	if err != nil { // decode has made the text valid
		panic("convert: a cell is not UTF-8: " + err.Error())
	}
	return out
}

// review converts the cells of a row into e, or returns the reasons why it cannot.
func (c *conversion) review(cells []string, e *entry) (reason string) {
	p := c.plan
	get := func(field string) string {
		text, _ := p.at[field].read(cells)
		return text
	}
	named := p.at["review_id"] != nil
	e.collection, e.title, e.id, e.parent = get("collection_id"), get("collection_title"), get("review_id"),
		get("parent_id")
	name, author, created := get("author_name"), get("author_id"), get("created")
	for _, id := range []string{e.collection, e.id} {
		if id != "" && digit(id[0]) && strings.ContainsAny(id, "eE") && powered.MatchString(id) {
			c.powers++
			c.power = cmp.Or(c.power, fmt.Sprintf("%q in line %d", id, e.line))
		}
	}
	name, e.title = html.UnescapeString(name), html.UnescapeString(e.title)
	var faults []string
	failIf := func(wrong bool, reason string) {
		if wrong {
			faults = append(faults, reason)
		}
	}
	failIf(e.collection == "", "the id of the collection is empty: it says what is reviewed")
	failIf(base64.StdEncoding.EncodedLen(len(e.collection)) > 150,
		"the id of the collection is longer than 112 bytes, which would be more than 150 characters of Base64")
	failIf(e.id == "" && named, "the id of the review is empty")
	if e.parent == "0" { // WordPress writes 0 for a review that is no reply
		e.parent = ""
	}
	text := get("body")
	if e.parent != "" && text != "" && c.unrated(cells) {
		out := appendJSON(append(c.json[:0], answerMember...), text)
		if created != "" {
			out = appendJSON(append(out, `,"reply_created":`...), c.dates.readable(created))
		}
		if name = cmp.Or(name, author); name != "" {
			out = appendJSON(append(out, `,"reply_author":`...), name)
		}
		c.json, e.json = out, string(out)
		return strings.Join(faults, "; ")
	}
	failIf(name == "" &&
		author == "", "the name of the author is empty: write one, such as Anonymous, or leave the row out")
	failIf(utf8.RuneCountInString(author) > 255, "the id of the author is longer than 255 characters")
	e.created, reason = c.dates.read(created)
	if reason != "" {
		c.dates.refute(created, e.line)
		if created != "" {
			reason = fmt.Sprintf("%s in column %s: %s", quoted([]string{created}),
				quoted(c.header[max(0, p.at["created"].first()):][:1]), reason)
		}
		faults = append(faults, reason)
	}
	out := appendJSON(append(c.json[:0], `"title":`...), html.UnescapeString(get("title")))
	out = appendJSON(append(out, `,"body_html":`...), c.bodies.body(text))
	out = appendJSON(append(out, `,"created":`...), e.created)
	out = append(out, `,"ratings":`...)
	ratings, reason := c.ratings(cells, e.line)
	failIf(reason != "", reason)
	for i, n := range ratings {
		out = strconv.AppendInt(append(out, "[,"[min(i, 1)]), int64(n), 10)
	}
	if len(faults) > 0 {
		return strings.Join(faults, "; ")
	}
	out = append(out, ']')
	if author != "" {
		out = appendJSON(append(out, `,"author_id":`...), author)
	} else {
		out = appendJSON(append(out, `,"imported_display_name":`...), name)
		if email := get("author_email"); email != "" {
			out = appendJSON(append(out, `,"imported_email":`...), email)
		}
		if url := get("author_url"); url != "" {
			if !strings.Contains(url, "://") {
				url = "https://" + url
			}
			out = appendJSON(append(out, `,"imported_url":`...), url)
		}
	}
	between, end := `,"subparts":{`, ""
	answer := get("reply")
	for _, s := range p.subparts {
		value, _ := s.read(cells)
		if p.at["reply"] != nil && answer == "" && s.first() < 0 && slices.Contains(replies, s.name) {
			continue // nobody has answered
		}
		if s.name == "reply_created" {
			value = c.replyDates.readable(value)
		}
		if value != "" {
			out = appendJSON(append(appendJSON(append(out, between...), s.name), ':'), value)
			between, end = ",", "}"
		}
	}
	c.json = append(out, end...)
	e.json = string(c.json)
	if (c.Charset != "" || c.charset != "utf-8" && c.charset != latin) && strings.ContainsRune(e.json, utf8.RuneError) {
		c.unknown++
	}
	if !named {
		sum := sha256.Sum256(c.json)
		e.id = hex.EncodeToString(sum[:12])
	}
	return ""
}

// unrated reports whether a row has no rating at all, as the rows of answers in tables of WooCommerce.
func (c *conversion) unrated(cells []string) bool {
	return !slices.ContainsFunc(c.plan.ratings, func(r namedValue) bool {
		text, _ := r.read(cells)
		return text != "" && strings.Trim(text, "0.,") != ""
	})
}

// powered matches numbers in scientific notation, which spreadsheets make of long ids.
var powered = regexp.MustCompile(`^\d([.,]\d+)?[eE]\+?\d+$`)

// ratings returns the ratings of a row, or why there are none.
func (c *conversion) ratings(cells []string, line int64) (out []int, reason string) {
	var faults []string
	sum, empty := 0, 0
	out = c.rated[:0]
	for _, r := range c.plan.ratings {
		text, from := r.read(cells)
		n, of, reason := readRating(text)
		rating, scale := 0, cmp.Or(of, from.scale)
		best := ""
		if of == 0 && from.scales != nil {
			best, _ = from.scales.read(cells)
			scale, _ = parseNumber(best)
		}
		switch {
		case text == "" && c.Fill && len(c.plan.ratings) > 1:
			empty++
			reason = ""
		case reason != "":
		case n <= 0:
			reason = "the rating is 0: want one above 0, or leave the row out"
		case !validScale(scale):
			reason = fmt.Sprintf("the best rating is %q: want a number above 0 and at most 100", best)
		case n > scale:
			reason = fmt.Sprintf("the rating %v is above %v: mend it, or give another scale", n, scale)
			if of == 0 && from.guessed && c.refuted == nil {
				c.refuted = fault.Invalid("scale", "line %d has the rating %v, and the first rows have nearly all up "+
					"to %v: give the best rating there is; rows above it are rejected then", line, n, scale)
			}
		default:
			rating = max(1, int(math.Round(n*100/scale)))
			sum += rating
		}
		if reason != "" && len(c.plan.ratings) > 1 {
			reason = r.name + ": " + reason
		}
		if reason != "" {
			faults = append(faults, reason)
		}
		out = append(out, rating)
	}
	c.rated = out
	if rated := len(out) - empty; empty > 0 && rated == 0 {
		faults = append(faults, "all ratings are empty")
	} else if empty > 0 && len(faults) == 0 {
		c.filled += int64(empty)
		for i, n := range out {
			if n == 0 {
				out[i] = int(math.Round(float64(sum) / float64(rated)))
			}
		}
	}
	return out, strings.Join(faults, "; ")
}

// collection is the line of a collection while it is being built.
type collection struct {
	id, title, created string
	reviews            []*entry // in the order of the line
}

// writeLines writes a line for each collection.
func (c *conversion) writeLines(ctx context.Context, g *groups) error {
	w := &lineWriter{conversion: c, ctx: ctx, large: slot{c.Large, false}}
	defer w.large.release()
	var same []*entry // of one collection
	size := 0         // bytes of its line
	err := g.merge(ctx, func(e *entry) error {
		if e.collection == behindAll {
			if err := w.finish(same); err != nil {
				return err
			}
			same = nil
		}
		switch e.fault {
		case "":
		case continued:
			c.rejectText(e.json)
			return nil
		default:
			c.reject(e, e.fault)
			return nil
		}
		if len(same) > 0 && same[0].collection != e.collection {
			if err := w.add(same); err != nil {
				return err
			}
			same, size = nil, 0
		}
		quoted := appendJSON(appendJSON(w.out[:0], e.id), e.parent)
		if len(same) == 0 {
			quoted = appendJSON(quoted, e.title)
		}
		size += len(e.json) + len(quoted) + len(`,{"id":,"parent_id":,}`)
		if size > c.MaxLine-8<<10 && len(same) > 0 {
			c.reject(e, fmt.Sprintf("the reviews of its collection would be a line of more than %d bytes: convert "+
				"and import with a higher -max-line, or convert the rejected rows as a file of their own, and "+
				"import both", c.MaxLine))
			return nil
		}
		if size > maxBatch {
			if err := w.large.acquire(ctx); err != nil {
				return err
			}
		}
		same = append(same, e)
		return nil
	})
	if err != nil {
		return err
	}
	return w.finish(same)
}

// maxBatch is the approximate number of bytes of lines that are checked together.
const maxBatch = 1 << 20

// assemble sorts the reviews of a collection so that replies follow their parents. It rejects reviews with a repeated
// id and replies whose parent is missing. A repeated id that was made from content gets a number instead.
func (c *conversion) assemble(all []*entry) *collection {
	out := &collection{id: all[0].collection}
	named := c.plan.at["review_id"] != nil
	seen, repeats, waiting := map[string]int64{}, map[string]int{}, map[string][]*entry{}
	reviews, answers := map[string]*entry{}, []*entry(nil)
	for _, e := range all {
		if e.answers() {
			answers = append(answers, e)
			continue
		}
		if !named {
			if repeats[e.id]++; repeats[e.id] > 1 { // unique, since an id made from content has no hyphen
				e.id += "-" + strconv.Itoa(repeats[e.id])
				if c.alike++; c.alike <= 5 {
					c.alikeAt = append(c.alikeAt, strconv.FormatInt(e.line, 10))
				}
			}
		} else if line := seen[e.id]; line != 0 {
			c.reject(e, fmt.Sprintf("the id of the review came before in this collection, in line %d", line))
			continue
		}
		seen[e.id] = e.line
		reviews[e.id] = e
		if e.parent != "" {
			waiting[e.parent] = append(waiting[e.parent], e)
			continue
		}
		out.reviews = append(out.reviews, e)
	}
	// Append the replies of each review after all reviews so far; their own replies follow when the loop reaches them.
	for i := 0; i < len(out.reviews) && len(waiting) > 0; i++ {
		e := out.reviews[i]
		out.reviews = append(out.reviews, waiting[e.id]...)
		delete(waiting, e.id)
	}
	lost := slices.Concat(slices.Collect(maps.Values(waiting))...)
	slices.SortFunc(lost, func(a, b *entry) int { return cmp.Compare(a.line, b.line) })
	for _, e := range lost {
		delete(reviews, e.id)
		c.reject(e, "it replies to a review that is not in this collection of the file, or was rejected or left "+
			"out: add the row of its parent")
	}
	for _, e := range answers {
		switch review := reviews[e.parent]; {
		case review == nil:
			c.reject(e, "it has no rating, and answers no review of this collection of the file: give it a rating, or "+
				"add the row of the review")
		case review.answer != nil || replied.MatchString(review.json):
			c.reject(e, fmt.Sprintf("it has no rating, and the review that it answers, in line %d, has an answer "+
				"already: make one of both", review.line))
		default:
			review.answer = e
		}
	}
	for _, e := range out.reviews {
		if out.title == "" {
			out.title = e.title
		}
		out.created = min(cmp.Or(out.created, e.created), e.created)
	}
	if out.title == "" {
		out.title = out.id
	}
	return out
}

// replied matches the JSON of reviews with a subpart such as reply: in a text, a backslash stands before each quote.
var replied = regexp.MustCompile(`[{,]"reply`)

// appendLine appends the line of a collection.
func (w *lineWriter) appendLine(out []byte, l *collection) []byte {
	out = appendJSON(append(out, `{"source":`...),
		strings.ReplaceAll(strings.ToValidUTF8(w.Source, "\ufffd"), "\x00", ""))
	out = base64.StdEncoding.AppendEncode(append(out, `,"id":"`...), []byte(l.id))
	out = appendJSON(append(out, `","title":`...), l.title)
	out = appendJSON(append(out, `,"created":`...), l.created)
	out = append(out, `,"dimensions":`...)
	for i, r := range w.plan.ratings {
		out = appendJSON(append(out, "[,"[min(i, 1)]), r.name)
	}
	between := `],"reviews":[{"id":`
	for _, e := range l.reviews {
		out = appendJSON(append(out, between...), e.id)
		if e.parent != "" {
			out = appendJSON(append(out, `,"parent_id":`...), e.parent)
		}
		out = append(append(append(out, ','), e.json...), '}')
		if e.answer != nil {
			if out = out[:len(out)-1]; out[len(out)-1] == '}' { // of other subparts
				out = append(out[:len(out)-1], ',')
			} else {
				out = append(out, `,"subparts":{`...)
			}
			out = append(append(out, e.answer.json...), "}}"...)
		}
		between = `,{"id":`
	}
	return append(out, "]}\n"...)
}

// lineWriter collects lines, checks them and writes them.
type lineWriter struct {
	*conversion
	ctx   context.Context
	lines []*collection
	size  int  // their approximate size in bytes
	large slot // for a collection of more than maxBatch
	out   []byte
}

// add adds the line of a collection, unless all of its reviews are rejected.
func (w *lineWriter) add(reviews []*entry) error {
	if l := w.assemble(reviews); len(l.reviews) > 0 {
		w.lines = append(w.lines, l)
		for _, e := range l.reviews {
			w.size += len(e.json) + 64
		}
	}
	if w.size < maxBatch && !w.large.taken {
		return nil
	}
	defer w.large.release()
	return w.flush()
}

// finish adds the line of the last collection, and writes all lines.
func (w *lineWriter) finish(reviews []*entry) error {
	if len(reviews) > 0 {
		if err := w.add(reviews); err != nil {
			return err
		}
	}
	return w.flush()
}

// flush writes the lines. It first checks them by the rules of the format. A review that breaks one is rejected, and
// the rest is checked again, so every check accepts what is written.
func (w *lineWriter) flush() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	for wrong := true; wrong && len(w.lines) > 0; {
		w.out = w.out[:0]
		for _, l := range w.lines {
			w.out = w.appendLine(w.out, l)
		}
		wrong = false
		check := reviews.Check(bytes.NewReader(w.out), &reviews.ReadOptions{Workers: 1, MaxLine: w.MaxLine})
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
		for _, e := range l.reviews {
			if e.answer != nil {
				w.answered++
			}
		}
	}
	w.lines, w.size = nil, 0
	return nil
}

// remove rejects the review that has a problem, or all reviews of the line if the problem is in the collection.
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
			w.reject(e, p.Message+" ("+p.Rule+")")
			if e.answer != nil {
				w.reject(e.answer, fmt.Sprintf("the review that it answers, in line %d, is rejected", e.line))
			}
			l.reviews[i] = nil
		}
	}
}
