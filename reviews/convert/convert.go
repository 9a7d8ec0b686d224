package convert

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// Request is the request of Convert. File and To are required.
type Request struct {
	File    io.Reader // CSV or JSON, as it is or compressed with gzip
	To      io.Writer // gets NDJSON in the import format
	Mapping Mapping   // which columns the fields come from; nil = what Look guesses
	Source  string    // the source of all collections; "" = "import"
	Scale   float64   // the best rating, above 0 and at most 100; 0 = that of Mapping, or guessed as Look does
	Dates   string    // "dmy" or "mdy": what 03/04/2019 means; "" = that of Mapping, or by the first 1,000 rows
	// Zone is that of times that name none, such as Europe/Berlin, unless the name of their column says UTC or GMT. ""
	// = that of Mapping, or UTC.
	Zone    string
	Charset string // a name such as iso-8859-2, as the Encoding Standard of the Web has them; "" = guessed
	Fill    bool   // an empty rating of a dimension becomes the mean of the others

	// Rejects, if not nil, gets the rows that could not be converted, as CSV with a header. Until then they are in the
	// temporary file too.
	Rejects io.Writer
	// OnReject, if not nil, is called for each row that could not be converted.
	OnReject func(Rejected)
	// Progress, if not nil, is called with the number of bytes of File that were read.
	Progress func(int64)
	// Large, if not nil, bounds how many collections of more than 1 MiB are in memory at a time. A conversion sends a
	// value to this channel before it loads one, and receives it afterwards.
	Large chan struct{}
	// Spools, if not nil, bounds how many conversions have a temporary file at a time, as Large does. A table of up to
	// 2 MiB needs none.
	Spools chan struct{}
	// MaxSpool is the maximum size of a temporary file in bytes, which is about that of the reviews as JSON. 0 = no
	// limit.
	MaxSpool int64
	// MaxLine is the maximum length of a line of the output in bytes. 0 = 16 MiB, which every import accepts.
	MaxLine int
}

// Rejected is a row that could not be converted.
type Rejected struct {
	Line int64 `json:"line"` // of the file, from 1, where the row begins
	// where it ends, if that is a later line: a lost quote makes one of several rows
	Last   int64  `json:"last,omitzero"`
	Reason string `json:"reason"`
}

// mostRejected is the maximum number of rejected rows in a Result.
const mostRejected = 100

// Result is the result of a conversion. The HTTP API returns its JSON as the last line.
type Result struct {
	Converted     int64      `json:"converted"`     // reviews
	Rejected      []Rejected `json:"rejected"`      // the first 100, by line
	RejectedTotal int64      `json:"rejectedTotal"` // all of them
	Skipped       int64      `json:"skipped"`       // rows that the mapping leaves out

	// Notes are sentences about the whole table that somebody should read before the import: what was decided about
	// dates, which columns are not used, and the like.
	Notes []string `json:"notes,omitempty"`
}

// conversion is the state of a Convert.
type conversion struct {
	Request
	*table
	plan  *plan
	dates *dateReader
	// of replies, since a reader keeps the layout of the last date
	replyDates *dateReader
	refuted    error // the scale was guessed, and a row shows that this was wrong
	rated      []int // memory for the ratings of a row
	filled     int64 // ratings that are the mean of others
	answered   int64 // reviews whose answer was a row of its own
	unknown    int64 // reviews with a replacement character, if the character set was named
	powers     int64 // ids in scientific notation, and the first of them
	power      string
	result     Result
	alike      int64    // rows that are like an earlier one, in a table without a column of ids
	alikeAt    []string // the lines of the first of them
	bodies     bodyWriter
	json       []byte        // memory for the JSON of a review
	rejects    *csv.Writer   // nil before the first rejected row
	text       *bufio.Writer // whose buffer rejects uses
}

// Convert reads a table and writes its reviews in the import format. It writes nothing to To and Rejects before it has
// read the whole file, so a server can answer with either of them.
//
// It returns ErrInvalid if the file is not a table, if it needs a temporary file of more than MaxSpool bytes, or if
// Mapping, Scale or Dates do not fit the file; the parameter of the error names the cause. It also returns the errors
// of File, To and Rejects, of a temporary file, and of ctx. A row that cannot be converted is not an error.
func Convert(ctx context.Context, in Request) (Result, error) {
	c := &conversion{Request: in, result: Result{Rejected: []Rejected{}}}
	if c.Source == "" {
		c.Source = "import"
		c.result.Notes = notes{`source: "import", since none was given; give the same one with every file of a site`}
	}
	if c.MaxLine == 0 {
		c.MaxLine = 16 << 20
	}
	if in.File == nil || in.To == nil {
		return c.result, fault.Invalid("", "the request needs a file to convert and a place to write to")
	}
	err := ctx.Err()
	if err == nil {
		c.table, err = openTable(in.File, in.Mapping, in.Charset)
	}
	if err != nil {
		return c.result, err
	}
	defer c.close()
	if c.Mapping == nil {
		c.Mapping = c.guess()
	}
	if c.plan, err = newPlan(c.Mapping, c.table); err == nil {
		err = c.Mapping.complete(c.header)
	}
	if err != nil {
		return c.result, err
	}
	c.Scale, c.Dates = cmp.Or(c.Scale, c.plan.scale), cmp.Or(c.Dates, c.plan.dates)
	switch {
	case c.Scale != 0 && !validScale(c.Scale):
		return c.result, fault.Invalid("scale", "it is above 0 and at most 100, such as 5 for stars")
	case c.Dates != "" && c.Dates != "dmy" && c.Dates != "mdy":
		return c.result, fault.Invalid("dates", "want dmy or mdy")
	}
	c.result.Notes = append(c.result.Notes, c.setScales(c.plan, c.Scale)...)
	c.dates = newDateReader(c.texts(c.plan.at["created"]), c.Dates)
	c.replyDates = newDateReader(c.texts(c.plan.at["reply_created"]), c.Dates)
	if c.Zone != "" {
		if c.plan.zone, err = time.LoadLocation(c.Zone); err != nil {
			return c.result, fault.Invalid("zone", "%s", err)
		}
	}
	for field, dates := range map[string]*dateReader{"created": c.dates, "reply_created": c.replyDates} {
		if at := c.plan.at[field].first(); at < 0 || !inUTC.MatchString(c.header[at]) {
			dates.zone = c.plan.zone
		}
	}
	groups := &groups{slot: slot{in.Spools, false}, most: in.MaxSpool}
	defer groups.close()
	if err = c.readRows(ctx, groups); err == nil {
		err = c.writeLines(ctx, groups)
	}
	c.result.Notes = append(c.result.Notes, c.notes()...)
	if c.rejects != nil {
		c.rejects.Flush()
		err = cmp.Or(err, c.rejects.Error())
	}
	slices.SortStableFunc(c.result.Rejected, func(a, b Rejected) int { return int(a.Line - b.Line) })
	return c.result, err
}

// notes returns the notes of the result.
func (c *conversion) notes() notes {
	out := c.table.notes(c.plan)
	switch d, rejected := c.dates, c.result.RejectedTotal > 0; {
	case d.refuted != "":
		out.add("%s", d.refuted)
	case d.ambiguous != "":
		text, as := d.example()
		out.add("dates: %s was taken for %s; dates=dmy or dates=mdy says otherwise", text, as)
	case d.order != "" && rejected:
		out.add("dates: the order was decided by %s; give dates=%s with the rejected rows", d.proof, d.order)
	}
	at := c.plan.at["created"].first()
	if c.dates.zoneless != "" && (at < 0 || !inUTC.MatchString(c.header[at])) {
		out.add("times that name no zone, such as %s, were taken for UTC; zone=Europe/Berlin says otherwise",
			c.dates.zoneless)
	}
	if c.plan.at["review_id"] == nil && c.result.Converted > 0 {
		out.add("no column has ids, so a review that is edited in the shop later becomes another one")
	}
	for _, s := range c.plan.skips {
		for _, text := range slices.Sorted(maps.Keys(s.is)) {
			if s.is[text] == 0 {
				out.add("skip: no row has %q in column %q", text, c.header[s.column])
			}
		}
	}
	if c.unknown > 0 {
		out.add("reviews with characters that %s does not have: %d: look whether it is the right one", c.charset,
			c.unknown)
	}
	if c.powers > 0 {
		out.add("ids such as %s, whose digits a spreadsheet has lost: %d; export the table again, and do not save it "+
			"with a spreadsheet", c.power, c.powers)
	}
	if c.bodies.media > 0 {
		out.add("texts with pictures or films, which are left out: %d", c.bodies.media)
	}
	if c.filled > 0 {
		out.add("empty ratings that became the mean of the others: %d", c.filled)
	}
	if c.answered > 0 {
		out.add("rows that name another one and have no rating: %d; each is kept with that one, as its reply",
			c.answered)
	}
	if c.alike > 0 {
		out.add("rows that are like an earlier one: %d; all are kept, since the table has no ids: see line %s", c.alike,
			strings.Join(c.alikeAt, ", "))
	}
	if c.foreign > 0 {
		out.add("line %d is not UTF-8: such cells were read as Windows-1252, so look whether their letters are right",
			c.foreign)
	}
	return out
}

// inUTC matches names of columns whose times are in UTC.
var inUTC = regexp.MustCompile("(?i)utc|gmt")

// continued is the fault of a part of a rejected row that another part follows.
const continued = "continued"

// behindAll is the collection of rejected rows that are written last. It is behind all others, since these are UTF-8.
const behindAll = "\xff"

// readRows converts each row and adds the result to groups. A row waits until no later one can make it doubtful.
func (c *conversion) readRows(ctx context.Context, groups *groups) error {
	var waiting []*entry
	settle := func(before int64) error {
		n := 0
		for ; n < len(waiting) && waiting[n].line < before; n++ {
			if waiting[n].skipped {
				c.result.Skipped++
			} else if err := groups.add(ctx, waiting[n]); err != nil {
				return err
			}
		}
		waiting = slices.Delete(waiting, 0, n)
		return nil
	}
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := c.next()
		if err == io.EOF {
			return settle(math.MaxInt64)
		}
		if err != nil {
			return err
		}
		if c.Progress != nil && (n%256 == 0 || row.more) {
			c.Progress(c.read.n)
		}
		if row.piece {
			for n := len(waiting); n > 0 && waiting[n-1].line >= row.line; n-- {
				waiting = waiting[:n-1]
			}
		}
		if err := settle(row.sure); err != nil {
			return err
		}
		e := c.entry(row)
		if c.refuted != nil {
			return c.refuted
		}
		if row.fault == "" || !row.piece && row.part == 0 {
			waiting = append(waiting, e)
		} else if e != nil {
			if err := groups.add(ctx, e); err != nil {
				return err
			}
		}
	}
}

// entry converts a row. It returns nil for a part that need not be kept.
func (c *conversion) entry(row row) *entry {
	e := &entry{line: row.line, lines: row.lines, part: int64(row.part), fault: row.fault}
	if e.fault == "" && c.plan.skipped(row.cells) {
		e.skipped = true
		return e
	}
	if e.fault == "" {
		reason := c.review(row.cells, e)
		if row.wrong != "" {
			reason = row.wrong
		}
		if reason != "" {
			e = &entry{line: row.line, lines: row.lines, part: int64(row.part), fault: reason}
		}
	}
	switch {
	case c.Rejects != nil && row.fault != "":
		e.json = row.text
	case c.Rejects != nil:
		e.cells = slices.Clone(row.cells)
	}
	if row.last {
		e.collection = behindAll
	}
	if row.more {
		if e.fault = continued; c.Rejects == nil {
			return nil
		}
	}
	e.size = entrySize + len(e.json)
	for _, cell := range row.cells {
		e.size += len(cell)
	}
	return e
}

// The columns that Rejects has in addition to those of the file. If the file has them already, it consists of rejected
// rows, and they are left out.
const (
	lineColumn   = "rejected_line"
	reasonColumn = "rejected_reason"
)

// reject counts a row that cannot be converted, and writes it to Rejects.
func (c *conversion) reject(e *entry, reason string) {
	c.result.RejectedTotal++
	if c.table.json != nil && e.part > e.line { // of JSON that has several rows in a line
		reason = fmt.Sprintf("row %d: %s", e.part, reason)
	}
	rejected := Rejected{Line: e.line, Reason: reason}
	if e.lines > 1 {
		rejected.Last = e.line + e.lines - 1
	}
	if c.OnReject != nil {
		c.OnReject(rejected)
	}
	if len(c.result.Rejected) < mostRejected {
		c.result.Rejected = append(c.result.Rejected, rejected)
	}
	if c.Rejects == nil {
		return
	}
	c.startRejects()
	if len(e.cells) > 0 {
		cells := slices.Clone(e.cells[:len(c.header)-c.extra])
		_ = c.rejects.Write(append(cells, strconv.FormatInt(e.line, 10), reason))
		return
	}
	c.rejectText(e.json)
	_ = c.rejects.Write([]string{strconv.FormatInt(e.line, 10), reason})
}

// rejectText writes the text of rejected rows, or a part of it, to Rejects.
func (c *conversion) rejectText(text string) {
	c.startRejects()
	_, _ = c.text.WriteString(text) // Error returns the first error
}

// startRejects writes the header of Rejects, unless it is there.
func (c *conversion) startRejects() {
	if c.rejects != nil {
		return
	}
	c.text = bufio.NewWriter(c.Rejects)
	if c.marked {
		_, _ = c.text.WriteString(bom)
	}
	c.rejects = csv.NewWriter(c.text) // which uses the buffer of text
	c.rejects.Comma = rune(c.scan.comma)
	names := slices.Clone(c.header[:len(c.header)-c.extra])
	_ = c.rejects.Write(append(names, lineColumn, reasonColumn)) // Error returns the first error
}

// slot is one of a limited number of slots that conversions share. of has a value for each slot in use; nil means no
// limit.
type slot struct {
	of    chan struct{}
	taken bool
}

// acquire waits for a slot, unless it has one already.
func (s *slot) acquire(ctx context.Context) error {
	if s.of == nil || s.taken {
		return nil
	}
	select {
	case s.of <- struct{}{}:
		s.taken = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// release returns the slot, if it has one.
func (s *slot) release() {
	if s.taken {
		s.taken = false
		<-s.of
	}
}
