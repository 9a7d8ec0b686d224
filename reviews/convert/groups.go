package convert

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// entry is a review that was converted, on its way to the line of its collection.
type entry struct {
	collection string // its id, as it is in the file
	title      string // of the collection
	id, parent string
	created    string
	json       []byte   // the members of the review but its id and its parent, without braces
	line       int64    // of the row
	cells      []string // of the row, if it may have to be rejected with them
}

// compareEntries orders entries by collection, and those of one as they are in the file.
func compareEntries(a, b *entry) int {
	return cmp.Or(strings.Compare(a.collection, b.collection), cmp.Compare(a.line, b.line))
}

// maxChunk is how many bytes of entries are sorted in memory.
const maxChunk = 2 << 20

// groups puts entries in order. What is more than maxChunk goes into a temporary file, in runs that are each in order and are merged in
// the end.
type groups struct {
	ctx    context.Context
	spools chan struct{} // see Request
	most   int64

	chunk []*entry
	size  int // of the entries in chunk
	file  *os.File
	runs  []int64 // where each run ends in the file
}

// add adds an entry.
func (g *groups) add(e *entry) error {
	g.chunk = append(g.chunk, e)
	g.size += len(e.collection) + len(e.title) + len(e.id) + len(e.parent) + len(e.created) + len(e.json)
	for _, cell := range e.cells {
		g.size += len(cell)
	}
	if g.size >= maxChunk {
		return g.spill()
	}
	return nil
}

// spill writes the chunk to the file.
func (g *groups) spill() (err error) {
	if g.file == nil {
		if g.spools != nil {
			select {
			case g.spools <- struct{}{}:
			case <-g.ctx.Done():
				return g.ctx.Err()
			}
		}
		if g.file, err = os.CreateTemp("", "vitrine-convert-*"); err != nil {
			if g.spools != nil {
				<-g.spools
			}
			return err
		}
		_ = os.Remove(g.file.Name()) // so that nothing is left if the process is killed; where an open file cannot be removed, close does it
	}
	slices.SortFunc(g.chunk, compareEntries)
	out, end, data := bufio.NewWriterSize(g.file, 64<<10), int64(0), []byte{}
	if len(g.runs) > 0 {
		end = g.runs[len(g.runs)-1]
	}
	for _, e := range g.chunk {
		data = e.encode(data[:0])
		size := binary.AppendUvarint(nil, uint64(len(data)))
		end += int64(len(size) + len(data))
		_, _ = out.Write(size) // the next Write, and Flush, return its error
		if _, err = out.Write(data); err != nil {
			return err
		}
	}
	if err = out.Flush(); err != nil {
		return err
	}
	if g.most > 0 && end > g.most {
		return invalid("", fmt.Sprintf("the table is too large: its reviews take more than %d bytes: convert it in parts", g.most))
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
		if g.spools != nil {
			<-g.spools
		}
	}
}

// all yields all entries in order, or an error.
func (g *groups) all() iter.Seq2[*entry, error] {
	return func(yield func(*entry, error) bool) {
		if err := g.merge(func(e *entry) bool { return yield(e, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// merge yields all entries in order. It returns nil if yield has returned false.
func (g *groups) merge(yield func(*entry) bool) error {
	if g.file != nil && len(g.chunk) > 0 {
		if err := g.spill(); err != nil {
			return err
		}
	}
	slices.SortFunc(g.chunk, compareEntries)
	for _, e := range g.chunk {
		if !yield(e) {
			return nil
		}
	}
	var open []*run // in the order of their next entries
	begin := int64(0)
	for _, end := range g.runs {
		r := &run{in: bufio.NewReaderSize(io.NewSectionReader(g.file, begin, end-begin), max(4<<10, min(64<<10, maxChunk/len(g.runs))))}
		if _, err := r.read(); err != nil {
			return err
		}
		open = append(open, r)
		begin = end
	}
	slices.SortFunc(open, compareRuns)
	for len(open) > 0 {
		r := open[0]
		if !yield(r.next) {
			return nil
		}
		more, err := r.read()
		if err != nil {
			return err
		}
		open = open[1:]
		if more {
			at, _ := slices.BinarySearchFunc(open, r, compareRuns)
			open = slices.Insert(open, at, r)
		}
	}
	return nil
}

// run is a part of the file that is in order, and its next entry.
type run struct {
	in   *bufio.Reader
	next *entry
}

func compareRuns(a, b *run) int { return compareEntries(a.next, b.next) }

// read reads the next entry. It returns false at the end of the run.
func (r *run) read() (bool, error) {
	size, err := binary.ReadUvarint(r.in)
	if err == io.EOF {
		return false, nil
	}
	data := make([]byte, size)
	if err == nil {
		_, err = io.ReadFull(r.in, data)
	}
	if err != nil {
		return false, errors.Join(errors.New("convert: a temporary file was cut short"), err)
	}
	r.next = decodeEntry(data)
	return true, nil
}

// encode appends the entry.
func (e *entry) encode(out []byte) []byte {
	for _, text := range [...]string{e.collection, e.title, e.id, e.parent, e.created} {
		out = record.AppendText(out, text)
	}
	out = binary.AppendVarint(record.AppendText(out, e.json), e.line)
	for _, cell := range e.cells {
		out = record.AppendText(out, cell)
	}
	return out
}

// decodeEntry reads what encode has appended to nothing.
func decodeEntry(data []byte) *entry {
	f := record.FieldsOf(storage.Entry{Value: data})
	text := func() string { return string(f.Text()) }
	e := &entry{collection: text(), title: text(), id: text(), parent: text(), created: text(), json: f.Text(), line: f.Int()}
	for len(f.Rest()) > 0 {
		e.cells = append(e.cells, text())
	}
	return e
}
