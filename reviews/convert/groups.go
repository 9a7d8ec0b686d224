package convert

import (
	"bufio"
	"bytes"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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

// maxChunk is how many bytes of entries are sorted in memory.
const maxChunk = 2 << 20

// groups orders entries by collection, and keeps the order of the file inside of each. What is more than maxChunk goes into a temporary
// file, in runs that are each in order and are merged in the end.
type groups struct {
	ctx    context.Context
	spools chan struct{} // see Request
	most   int64

	chunk []byte // entries, each as encode writes it
	at    []place
	file  *os.File
	runs  []int64 // where each run ends in the file
}

// place is where an entry is in the chunk, and its collection.
type place struct{ begin, end, key, keyEnd int32 }

// add adds an entry. It keeps nothing of it.
func (g *groups) add(e *entry) error {
	begin := len(g.chunk)
	g.chunk = e.encode(g.chunk)
	_, n := binary.Uvarint(g.chunk[begin+binary.MaxVarintLen32:])
	key := begin + binary.MaxVarintLen32 + n
	g.at = append(g.at, place{int32(begin), int32(len(g.chunk)), int32(key), int32(key + len(e.collection))})
	if len(g.chunk) >= maxChunk {
		return g.spill()
	}
	return nil
}

// sort orders the chunk.
func (g *groups) sort() {
	slices.SortFunc(g.at, func(a, b place) int {
		if by := bytes.Compare(g.chunk[a.key:a.keyEnd], g.chunk[b.key:b.keyEnd]); by != 0 {
			return by
		}
		return int(a.begin - b.begin)
	})
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
	g.sort()
	out := bufio.NewWriterSize(g.file, 64<<10)
	for _, p := range g.at {
		if _, err = out.Write(g.chunk[p.begin:p.end]); err != nil {
			return err
		}
	}
	if err = out.Flush(); err != nil {
		return err
	}
	end := int64(len(g.chunk))
	if n := len(g.runs); n > 0 {
		end += g.runs[n-1]
	}
	if g.most > 0 && end > g.most {
		return invalid("", fmt.Sprintf("the table is too large: its reviews take more than %d bytes: convert it in parts", g.most))
	}
	g.runs = append(g.runs, end)
	g.chunk, g.at = g.chunk[:0], g.at[:0]
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

// each yields all entries in order. An entry is valid for good.
func (g *groups) each(yield func(*entry) bool) error {
	g.sort()
	if g.file == nil {
		for _, p := range g.at {
			if !yield(decodeEntry(g.chunk[p.begin+binary.MaxVarintLen32 : p.end])) {
				return nil
			}
		}
		return nil
	}
	if len(g.at) > 0 {
		if err := g.spill(); err != nil {
			return err
		}
	}
	g.chunk, g.at = nil, nil
	var m merger
	begin := int64(0)
	for i, end := range g.runs {
		r := &run{in: bufio.NewReaderSize(io.NewSectionReader(g.file, begin, end-begin), max(4<<10, min(64<<10, maxChunk/len(g.runs)))), number: i}
		if err := r.next(); err != nil {
			return err
		}
		m = append(m, r)
		begin = end
	}
	for heap.Init(&m); len(m) > 0; {
		r := m[0]
		if !yield(decodeEntry(r.data)) {
			return nil
		}
		switch err := r.next(); {
		case err == io.EOF:
			heap.Pop(&m)
		case err != nil:
			return err
		default:
			heap.Fix(&m, 0)
		}
	}
	return nil
}

// run is a part of the file that is in order. data is its next entry, without its size.
type run struct {
	in     *bufio.Reader
	number int
	data   []byte
	key    []byte
}

// next reads the next entry.
func (r *run) next() error {
	size, err := binary.ReadUvarint(r.in)
	if err != nil {
		return err
	}
	r.data = make([]byte, size)
	if _, err := io.ReadFull(r.in, r.data); err != nil {
		return errors.Join(errors.New("convert: a temporary file was cut short"), err)
	}
	n, m := binary.Uvarint(r.data)
	r.key = r.data[m : m+int(n)]
	return nil
}

// merger is a heap of runs by their next entry.
type merger []*run

func (m merger) Len() int { return len(m) }
func (m merger) Less(i, j int) bool {
	by := bytes.Compare(m[i].key, m[j].key)
	return by < 0 || by == 0 && m[i].number < m[j].number
}
func (m merger) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *merger) Push(x any)   { *m = append(*m, x.(*run)) }
func (m *merger) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// encode appends the entry: the size of what follows, then its texts, each with its size, its line and its cells.
func (e *entry) encode(out []byte) []byte {
	size := 4
	for _, s := range [...]int{len(e.collection), len(e.title), len(e.id), len(e.parent), len(e.created), len(e.json)} {
		size += s + 4
	}
	begin := len(out)
	out = slices.Grow(out, size+binary.MaxVarintLen32)
	out = append(out, make([]byte, binary.MaxVarintLen32)...)
	for _, s := range [...]string{e.collection, e.title, e.id, e.parent, e.created} {
		out = append(binary.AppendUvarint(out, uint64(len(s))), s...)
	}
	out = append(binary.AppendUvarint(out, uint64(len(e.json))), e.json...)
	out = binary.AppendUvarint(out, uint64(e.line))
	for _, s := range e.cells {
		out = append(binary.AppendUvarint(out, uint64(len(s))), s...)
	}
	// The size has all of its bytes, so that it can be written last.
	n := uint64(len(out) - begin - binary.MaxVarintLen32)
	for i := range binary.MaxVarintLen32 {
		out[begin+i] = byte(n>>(7*i))&0x7f | 0x80
	}
	out[begin+binary.MaxVarintLen32-1] &^= 0x80
	return out
}

// decodeEntry reads what encode has written, without the size. The entry shares the memory of data.
func decodeEntry(data []byte) *entry {
	text := func() string {
		n, m := binary.Uvarint(data)
		s := string(data[m : m+int(n)])
		data = data[m+int(n):]
		return s
	}
	e := &entry{collection: text(), title: text(), id: text(), parent: text(), created: text()}
	n, m := binary.Uvarint(data)
	e.json, data = data[m:m+int(n)], data[m+int(n):]
	line, m := binary.Uvarint(data)
	e.line, data = int64(line), data[m:]
	for len(data) > 0 {
		e.cells = append(e.cells, text())
	}
	return e
}
