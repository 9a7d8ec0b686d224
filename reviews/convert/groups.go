package convert

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// entry is a converted review, before it becomes part of the line of its collection. The entry of a rejected row has a
// fault and no collection, so it is sorted before all others.
type entry struct {
	fault      string
	collection string // its id, as it is in the file
	title      string // of the collection
	id, parent string
	created    string
	// the members of the review except its id and its parent, without braces; of a row with a fault, see row.text
	json  string
	line  int64    // of the row
	lines int64    // of the row
	part  int64    // see row
	cells []string // of the row, if it may still be rejected
	size  int      // bytes in memory, about

	skipped bool // the mapping leaves the row out

	answer *entry // the row that answers this one, once it was found
}

// answers reports whether the row is an answer to a review and not a review. Its json is then the answer's subparts.
func (e *entry) answers() bool { return strings.HasPrefix(e.json, answerMember) }

// answerMember begins the json of an answer.
const answerMember = `"reply":`

// compareEntries orders entries by collection, and those of a collection by their line in the file.
func compareEntries(a, b *entry) int {
	return cmp.Or(strings.Compare(a.collection, b.collection), cmp.Compare(a.line, b.line), cmp.Compare(a.part, b.part))
}

// maxChunk is the number of bytes of entries that are sorted in memory. entrySize is the size of an entry without its
// texts.
const (
	maxChunk  = 4 << 20
	entrySize = 200
)

// groups sorts entries by an external merge sort: when the chunk in memory has more than maxChunk bytes, it is sorted
// and written to a temporary file as a run, and the runs are merged at the end.
type groups struct {
	slot       // for the file
	most int64 // see Request.MaxSpool

	chunk []*entry
	size  int // of the entries in chunk
	file  *os.File
	runs  []int64 // where each run ends in the file
}

// add adds an entry.
func (g *groups) add(ctx context.Context, e *entry) error {
	g.chunk = append(g.chunk, e)
	if g.size += e.size; g.size >= maxChunk {
		return g.spill(ctx)
	}
	return nil
}

// spill sorts the chunk and writes it to the file as a run.
func (g *groups) spill(ctx context.Context) (err error) {
	if g.file == nil {
		if err := g.acquire(ctx); err != nil {
			return err
		}
		if g.file, err = os.CreateTemp("", "vitrine-convert-*"); err != nil {
			return err
		}
		// the file disappears if the process is killed; where an open file cannot be removed, close removes it
		_ = os.Remove(g.file.Name())
	}
	slices.SortFunc(g.chunk, compareEntries)
	out, end := bufio.NewWriterSize(g.file, 64<<10), int64(0)
	if len(g.runs) > 0 {
		end = g.runs[len(g.runs)-1]
	}
	var data []byte
	for _, e := range g.chunk {
		data = e.encode(data[:0])
		n, err := out.Write(data)
		if err != nil {
			return err
		}
		end += int64(n)
	}
	if err = out.Flush(); err != nil {
		return err
	}
	if g.most > 0 && end > g.most {
		return fault.Invalid("",
			"the table is too large: its reviews take more than %d bytes: convert it in parts", g.most)
	}
	g.runs = append(g.runs, end)
	clear(g.chunk)
	g.chunk, g.size = g.chunk[:0], 0
	return nil
}

// close removes the file.
func (g *groups) close() {
	if g.file != nil {
		_ = g.file.Close()
		_ = os.Remove(g.file.Name())
	}
	g.release()
}

// merge calls take with all entries in order, until it returns an error.
func (g *groups) merge(ctx context.Context, take func(*entry) error) error {
	if g.file != nil && len(g.chunk) > 0 {
		if err := g.spill(ctx); err != nil {
			return err
		}
	}
	slices.SortFunc(g.chunk, compareEntries)
	for _, e := range g.chunk {
		if err := take(e); err != nil {
			return err
		}
	}
	var sorted []*run // in the order of their next entries
	begin := int64(0)
	for _, end := range g.runs {
		r := &run{in: bufio.NewReaderSize(io.NewSectionReader(g.file, begin, end-begin),
			max(4<<10, min(64<<10, maxChunk/len(g.runs))))}
		if _, err := r.read(); err != nil {
			return err
		}
		sorted = append(sorted, r)
		begin = end
	}
	slices.SortFunc(sorted, compareRuns)
	for len(sorted) > 0 {
		r := sorted[0]
		if err := take(r.next); err != nil {
			return err
		}
		more, err := r.read()
		if err != nil {
			return err
		}
		sorted = sorted[1:]
		if more {
			at, _ := slices.BinarySearchFunc(sorted, r, compareRuns)
			sorted = slices.Insert(sorted, at, r)
		}
	}
	return nil
}

// run is a sorted part of the file, with its next entry.
type run struct {
	in   *bufio.Reader
	data []byte // memory for an entry
	next *entry
}

func compareRuns(a, b *run) int { return compareEntries(a.next, b.next) }

// read reads the next entry. It returns false at the end of the run.
func (r *run) read() (bool, error) {
	var size [4]byte
	_, err := io.ReadFull(r.in, size[:])
	if err == io.EOF {
		return false, nil
	}
	if err == nil {
		n := int(binary.BigEndian.Uint32(size[:]))
		r.data = slices.Grow(r.data[:0], n)[:n]
		_, err = io.ReadFull(r.in, r.data)
	}
	if err != nil {
		return false, errors.Join(errors.New("convert: a temporary file was cut short"), err)
	}
	r.next = decodeEntry(string(r.data))
	return true, nil
}

// encode appends the entry: the size of the rest, its numbers, and its texts, each after a zero byte, which no text
// contains.
func (e *entry) encode(out []byte) []byte {
	begin := len(out)
	out = append(out, 0, 0, 0, 0)
	for _, n := range [...]int64{e.line, e.lines, e.part} {
		out = append(strconv.AppendInt(out, n, 10), ' ')
	}
	for _, text := range [...]string{e.fault, e.collection, e.title, e.id, e.parent, e.created, e.json} {
		out = append(append(out, 0), text...)
	}
	for _, cell := range e.cells {
		out = append(append(out, 0), cell...)
	}
	binary.BigEndian.PutUint32(out[begin:], uint32(len(out)-begin-4))
	return out
}

// decodeEntry decodes the output of encode, without the size.
func decodeEntry(text string) *entry {
	e := &entry{}
	for _, to := range [...]*int64{&e.line, &e.lines, &e.part} {
		var n string
		n, text, _ = strings.Cut(text, " ")
		*to, _ = strconv.ParseInt(n, 10, 64)
	}
	text, more := text[min(1, len(text)):], true
	for _, to := range [...]*string{&e.fault, &e.collection, &e.title, &e.id, &e.parent, &e.created, &e.json} {
		*to, text, more = strings.Cut(text, "\x00")
	}
	if more {
		e.cells = strings.Split(text, "\x00")
	}
	return e
}
