//go:build proof

package crash

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// loss is how a disk treats what was written to it and not synced when the power went.
type loss int

const (
	allKept loss = iota
	nothingKept
	someWrites  // some are there, others not
	somePages   // each page is as it was at some moment since the last sync
	someSectors // each sector is, so that a page may be torn
	cutOff      // all up to a write of which only the beginning is there
)

// realLoss is every kind that loses something, anyLoss is every kind.
var (
	realLoss = []loss{nothingKept, someWrites, somePages, someSectors, cutOff}
	anyLoss  = append([]loss{allKept}, realLoss...)
)

func (l loss) String() string {
	return [...]string{"all kept", "nothing kept", "some writes", "some pages", "some sectors", "cut off"}[l]
}

const (
	page   = 4096
	sector = 512
)

// disk is what the power left.
type disk struct {
	files        map[string][]byte
	acknowledged [workers]int
}

// crash returns a disk as it may be after the given events.
func crash(events []event, l loss, r *rand.Rand) disk {
	var d disk
	synced := map[int]int{} // how many events each file has seen synced
	dirSynced := 0
	for i, e := range events {
		switch e.kind {
		case syncFile:
			synced[e.file] = i
		case syncDir:
			dirSynced = i
		case mark:
			d.acknowledged[e.worker] = max(d.acknowledged[e.worker], e.count)
		}
	}
	names := bound(events, dirSynced, l, r)
	d.files = map[string][]byte{}
	for name, file := range names {
		if strings.HasPrefix(name, ".") {
			continue // a store that was still being built, under a name that nobody opens
		}
		var kept, pending []event
		for i, e := range events {
			if e.file == file && (e.kind == write || e.kind == truncate) {
				if i < synced[file] {
					kept = append(kept, e)
				} else {
					pending = append(pending, e)
				}
			}
		}
		var f content
		f.apply(kept)
		f.lose(pending, l, r)
		d.files[name] = f
	}
	return d
}

// bound returns the names that are on the disk: changes come to it in their order.
func bound(events []event, synced int, l loss, r *rand.Rand) map[string]int {
	var changes []event
	sure := 0
	for i, e := range events {
		if e.kind == bind {
			changes = append(changes, e)
			if i < synced {
				sure++
			}
		}
	}
	switch l {
	case nothingKept:
	case allKept:
		sure = len(changes)
	default:
		sure += r.IntN(len(changes) - sure + 1)
	}
	names := map[string]int{}
	for _, e := range changes[:sure] {
		if names[e.name] = e.file; e.file == 0 {
			delete(names, e.name)
		}
	}
	return names
}

// content is the content of a file.
type content []byte

func (c *content) apply(events []event) {
	for _, e := range events {
		if e.kind == truncate {
			c.resize(e.offset)
			continue
		}
		c.write(e.offset, e.data)
	}
}

func (c *content) write(offset int64, data []byte) {
	if end := offset + int64(len(data)); end > int64(len(*c)) {
		c.resize(end)
	}
	copy((*c)[offset:], data)
}

func (c *content) resize(size int64) {
	if size <= int64(len(*c)) {
		*c = (*c)[:size]
		return
	}
	*c = append(*c, make([]byte, size-int64(len(*c)))...)
}

// lose applies what the disk kept of events that were not synced.
func (c *content) lose(events []event, l loss, r *rand.Rand) {
	whole := *c
	whole = append(content(nil), whole...)
	whole.apply(events)
	switch l {
	case nothingKept:
		return
	case allKept:
		*c = whole
		return
	case someWrites:
		for _, e := range events {
			if r.IntN(2) == 0 {
				c.apply([]event{e})
			}
		}
	case somePages:
		c.blocks(events, page, r)
	case someSectors:
		c.blocks(events, sector, r)
	case cutOff:
		c.cutOff(events, r)
	}
	if len(whole) > len(*c) && r.IntN(2) == 0 {
		c.resize(int64(len(whole))) // the size is there, the data is not
	}
}

// blocks has each block as it was at a moment of its own.
func (c *content) blocks(events []event, size int64, r *rand.Rand) {
	for i := len(events) - 1; i >= 0; i-- { // a change of size has come with all before it, or not at all
		if events[i].kind == truncate {
			if r.IntN(2) == 0 {
				c.apply(events[:i+1])
			}
			events = events[i+1:]
			break
		}
	}
	pieces := map[int64][]event{}
	for _, e := range events {
		for from := int64(0); from < int64(len(e.data)); {
			at := e.offset + from
			to := min(from+size-at%size, int64(len(e.data)))
			pieces[at/size] = append(pieces[at/size], event{kind: write, offset: at, data: e.data[from:to]})
			from = to
		}
	}
	for _, list := range pieces {
		c.apply(list[:r.IntN(len(list)+1)])
	}
}

func (c *content) cutOff(events []event, r *rand.Rand) {
	if len(events) == 0 {
		return
	}
	n := r.IntN(len(events))
	c.apply(events[:n])
	if e := events[n]; e.kind == write {
		c.write(e.offset, e.data[:r.IntN(len(e.data)/sector+1)*sector])
	}
}

// save writes the files into a directory.
func (d disk) save(dir string) error {
	for name, data := range d.files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
