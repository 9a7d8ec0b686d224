package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// This file removes the last copies of deleted data. All updates overwrite deleted and replaced data with zeros
// (secure_delete), so two kinds of copies are left when an update has returned:
//
//   - The log has the pages as they were before, until it is emptied.
//   - SQLite moves rows when it splits or joins pages, and does not overwrite the free part in the middle of a page
//     that it writes anew. The free part may have bytes of rows that are in another page now, or deleted.

// eraseWait is how long an update that erases waits for readers of the log.
const eraseWait = time.Minute

const (
	eraseTogether = 256                    // pages that one update overwrites
	eraseRuns     = 4                      // passes over all pages while other updates continue
	eraseBlock    = 250 * time.Millisecond // how long one attempt to empty the log makes writers of all processes wait
	erasePause    = 750 * time.Millisecond // and how long they may write until the next attempt
)

// eraser lets updates that erase share passes over the file: each needs one that begins after its commit. While a pass
// runs, all updates that come wait for the next one together, and so do those for which this pass is not enough.
type eraser struct {
	// pass reads and overwrites all b-trees. again is true if that has to be done again, since updates have changed
	// pages meanwhile. before is how many passes one of those who wait has waited for.
	pass func(ctx context.Context, before int) (again bool, err error)
	runs sync.WaitGroup // the passes that have not ended
	one  chan struct{}  // has a token while no pass runs

	mu   sync.Mutex
	next *erasing // has not begun; nil if nobody waits for it
}

// erasing is a pass, and how many updates wait for it.
type erasing struct {
	ctx     context.Context // ends when nobody waits any more
	cancel  context.CancelFunc
	waiting int
	before  int           // see eraser.pass
	done    chan struct{} // closed when the pass has ended
	err     error         // of the pass; set before done is closed
	then    *erasing      // for which all wait now, if this one was not enough; likewise
}

func newEraser(pass func(context.Context, int) (bool, error)) *eraser {
	e := &eraser{pass: pass, one: make(chan struct{}, 1)}
	e.one <- struct{}{}
	return e
}

// wait waits for a pass that begins after the call and is enough. If ctx ends before, it returns the error of ctx, and
// the pass continues for the other updates that wait for it.
func (e *eraser) wait(ctx context.Context) error {
	e.mu.Lock()
	p := e.join(1, 0)
	e.mu.Unlock()
	defer func() { e.leave(p) }()
	for {
		select {
		case <-p.done:
			if p.then == nil {
				return p.err
			}
			p = p.then
		case <-ctx.Done():
			return fmt.Errorf("sqlite: erase: the update is committed, and copies of what it has deleted are left: %w",
				ctx.Err())
		}
	}
}

// join returns the next pass, for some more updates that wait for it, and have waited for passes before. The caller
// holds mu.
func (e *eraser) join(updates, before int) *erasing {
	if e.next == nil {
		p := &erasing{done: make(chan struct{})}
		p.ctx, p.cancel = context.WithCancel(context.Background())
		e.next = p
		e.runs.Go(func() {
			<-e.one
			defer func() { e.one <- struct{}{} }()
			e.begin(p)
			again, err := e.pass(p.ctx, p.before)
			e.end(p, again, err)
		})
	}
	e.next.waiting += updates
	e.next.before = max(e.next.before, before)
	return e.next
}

// begin notes that updates which come from now on need another pass than p.
func (e *eraser) begin(p *erasing) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.next == p {
		e.next = nil
	}
}

// end notes that a pass has ended. If it was not enough, those who wait for it wait for the next one, too.
func (e *eraser) end(p *erasing, again bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.err = err; err == nil && again && p.waiting > 0 {
		p.then = e.join(p.waiting, p.before+1)
	}
	close(p.done)
}

// leave ends the pass for which an update waits, if nobody else waits for it.
func (e *eraser) leave(p *erasing) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for p.then != nil {
		p = p.then
	}
	if p.waiting--; p.waiting > 0 {
		return
	}
	p.cancel()
	if e.next == p {
		e.next = nil
	}
}

// erase overwrites the free parts of all pages of b-trees, and then empties the log. Readers continue meanwhile, and
// updates wait for eraseTogether pages, or for eraseBlock, at a time. If updates change pages meanwhile, again is true
// and the log is not emptied, unless this was so in each of the passes before, eraseRuns of them: then this one is a
// single update. The log cannot be emptied while a View of any process reads from it. If that lasts for eraseWait,
// erase returns ErrBusy.
func (s *store) erase(ctx context.Context, before int) (again bool, err error) {
	if before < eraseRuns {
		again, err = s.erasePages(ctx)
	} else {
		err = s.writer.update(ctx, "", true, func(t *tx) error {
			if err := t.direct(); err != nil {
				return err
			}
			return t.c.dirtyPages(ctx, func(p treePage) error { return t.c.cleanPage(p) })
		})
	}
	if err != nil {
		return false,
			fmt.Errorf("sqlite: erase: the update is committed, and copies of what it has deleted are left: %w",
				err)
	}
	if again {
		return true, nil
	}
	return false, s.emptyLog(ctx)
}

// erasePages finds, in a View, the pages whose free part is not all zeros, and overwrites these parts in updates.
// changed is true if one of the pages was changed meanwhile: its rows may be in another page now.
func (s *store) erasePages(ctx context.Context) (changed bool, err error) {
	r := &reader{pool: s.readers}
	defer r.end()
	if err := r.ready(ctx); err != nil {
		return false, err
	}
	var found []treePage
	overwrite := func() error {
		defer func() { found = nil }()
		return s.writer.update(ctx, "", false, func(t *tx) error {
			if err := t.direct(); err != nil {
				return err
			}
			for _, p := range found {
				now, err := t.c.treePage(p.number)
				if err == nil {
					changed = changed || !bytes.Equal(now.data, p.data)
					err = t.c.cleanPage(now)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = r.c.dirtyPages(ctx, func(p treePage) error {
		if found = append(found, p); len(found) < eraseTogether {
			return nil
		}
		return overwrite()
	})
	if err == nil && len(found) > 0 {
		err = overwrite()
	}
	return changed, err
}

// dirtyPages calls each with every page of a b-tree whose free part is not all zeros.
func (c *conn) dirtyPages(ctx context.Context, each func(treePage) error) error {
	for p, err := range c.treePages(ctx) {
		if err == nil && len(bytes.Trim(p.data[p.free:p.content], "\x00")) > 0 {
			err = each(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// treePages yields the pages of all b-trees but that of the schema. It goes down from the roots, so it reads none of
// the overflow pages, which have the most of large values, and no free page: SQLite overwrites these. An error is the
// last pair.
func (c *conn) treePages(ctx context.Context) iter.Seq2[treePage, error] {
	return func(yield func(treePage, error) bool) {
		last, err := c.value("PRAGMA page_count")
		if err == nil && last >= mostPages {
			err = fmt.Errorf("the file has %d pages, want less than %d", last, mostPages)
		}
		var left []int64 // numbers
		roots := c.query("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")
		for roots.next() {
			root, _ := roots.values[0].(int64)
			left = append(left, root)
		}
		roots.close()
		for err = cmp.Or(err, roots.err); len(left) > 0 && err == nil; {
			var p treePage
			if p, err = c.treePage(left[len(left)-1]); err == nil {
				err = ctx.Err()
			}
			left = p.appendBelow(left[:len(left)-1])
			if err == nil && !yield(p, nil) {
				return
			}
		}
		if err != nil {
			yield(treePage{}, err)
		}
	}
}

// appendBelow appends the numbers of the pages below an interior page: each cell begins with one, and the header has
// the last one.
func (p treePage) appendBelow(to []int64) []int64 {
	if len(p.data) == 0 || p.data[0] != 2 && p.data[0] != 5 {
		return to
	}
	to = append(to, int64(binary.BigEndian.Uint32(p.data[8:])))
	for at := 12; at < p.free; at += 2 {
		if cell := int(binary.BigEndian.Uint16(p.data[at:])); cell+4 <= len(p.data) {
			to = append(to, int64(binary.BigEndian.Uint32(p.data[cell:])))
		}
	}
	return to
}

// cleanPage overwrites the free part of a page.
func (c *conn) cleanPage(p treePage) error {
	if p.free == p.content {
		return nil
	}
	clear(p.data[p.free:p.content])
	_, err := c.exec("UPDATE sqlite_dbpage SET data = $1 WHERE pgno = $2", p.data, p.number)
	return err
}

// treePage is a page of a b-tree, or another page, which has no free part.
type treePage struct {
	number        int64
	data          []byte
	free, content int // the free part in the middle begins at free, and ends at content
}

// mostPages is the number of pages up to which the first byte of a page tells its type. A page of a b-tree begins with
// its type. Free pages and overflow pages of large values begin with the number of the next page, whose first byte is 0
// or 1 in a file of fewer pages. SQLite fills the rest of free pages with zeros (secure_delete).
const mostPages = 2 << 24

// treePage reads a page in the file format of SQLite: a header, pointers to the cells, the free part, and the cells.
// The header has the type, the number of cells, the offset of their content and, if there are pages below, the number
// of the last one.
func (c *conn) treePage(number int64) (treePage, error) {
	row, err := c.row("SELECT data FROM sqlite_dbpage WHERE pgno = $1", number)
	if err != nil || row == nil { // the file has become smaller
		return treePage{}, err
	}
	data, _ := row[0].([]byte)
	p := treePage{number: number, data: data}
	if len(data) < 8 {
		return treePage{}, fmt.Errorf("page %d has %d bytes", number, len(data))
	}
	header := 8
	switch data[0] {
	case 2, 5: // interior pages of an index and of a table
		header = 12
	case 10, 13: // leaf pages
	default:
		return p, nil
	}
	p.free = header + 2*int(binary.BigEndian.Uint16(data[3:]))
	if p.content = int(binary.BigEndian.Uint16(data[5:])); p.content == 0 { // 65,536 has no room in 16 bits
		p.content = 1 << 16
	}
	if p.free > p.content || p.content > len(data) {
		return treePage{},
			fmt.Errorf("page %d is damaged: the cells begin at %d, and the pointers to them end at %d", number,
				p.content, p.free)
	}
	return p, nil
}

// emptyLog copies the log into the file and truncates it. It returns ErrBusy if others keep it from doing so for
// s.eraseWait.
//
// During an attempt SQLite blocks all writers, and new readers use the file and not the log. So an attempt succeeds if
// all earlier readers end within eraseBlock.
func (s *store) emptyLog(ctx context.Context) error {
	c, err := dialLog(s.path, eraseBlock)
	if err != nil {
		return err
	}
	err = func() error {
		for deadline := time.Now().Add(s.eraseWait); ; {
			done, _, err := s.log.checkpoint(c, "TRUNCATE")
			if done || err != nil && !isBusy(err) {
				return err
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("sqlite: erase: %w: the update is committed, but the log still has copies of what "+
					"it has deleted, "+
					"since others have read from it for %v", storage.ErrBusy, s.eraseWait)
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("sqlite: erase: the update is committed, but the log still has copies of what it "+
					"has deleted: %w", ctx.Err())
			case <-time.After(min(erasePause, s.eraseWait)):
			}
		}
	}()
	return errors.Join(err, c.close())
}
