package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// This file removes the last copies of what was deleted. All updates overwrite with zeros what they delete or replace
// (secure_delete), so two kinds of copies are left when an update has returned:
//
//   - The log has the pages as they were before, until it is emptied.
//   - SQLite moves rows when it splits or joins pages, and does not overwrite the free part in the middle of a page that it
//     writes anew. The free part may have bytes of rows that are in another page now, or deleted.

// eraseWait is how long an update that erases waits for readers of the log.
const eraseWait = time.Minute

const (
	eraseTogether = 256                    // pages that one update overwrites
	eraseHold     = 250 * time.Millisecond // how long one attempt to empty the log makes writers of all processes wait
	erasePause    = 750 * time.Millisecond // and how long they have their turn until the next attempt
)

// erase overwrites the free parts of all pages, and then empties the log. Both need no time in which nobody works:
// readers continue, and updates wait for eraseTogether pages, or for eraseHold, at a time. The log cannot be emptied while a View
// of any process reads from it. If there is one for eraseWait, erase returns ErrBusy.
func (s *store) erase(ctx context.Context) error {
	for {
		moved, err := s.erasePages(ctx)
		if err != nil {
			return fmt.Errorf("sqlite: erase: the update is committed, and copies of what it has deleted are left: %w", err)
		}
		if !moved { // what is free before it begins is never copied to another page, so that this ends
			return s.emptyLog(ctx)
		}
	}
}

// erasePages overwrites the free part of each page. It finds the pages in a View, and overwrites them in updates of their own.
// moved is true if another update has moved one of these pages meanwhile.
func (s *store) erasePages(ctx context.Context) (moved bool, err error) {
	r := &reader{pool: s.readers}
	defer r.end()
	if err := r.ready(ctx); err != nil {
		return false, err
	}
	var found []pagePath
	overwrite := func() error {
		err := s.writer.update(ctx, "", false, func(t *tx) error {
			if err := t.direct(); err != nil {
				return err
			}
			some, err := t.c.cleanPages(found)
			moved = moved || some
			return err
		})
		found = nil
		return err
	}
	err = r.c.uncleanPages(ctx, func(path pagePath) error {
		if found = append(found, path); len(found) < eraseTogether {
			return nil
		}
		return overwrite()
	})
	if err == nil && len(found) > 0 {
		err = overwrite()
	}
	return moved, err
}

// pagePath is the way to a page of a b-tree: the numbers of its root, of the pages below that, and of the page itself.
type pagePath []uint32

// uncleanPages calls each with every page whose free part is not all zeros.
func (c *conn) uncleanPages(ctx context.Context, each func(pagePath) error) error {
	roots, err := c.roots()
	if err != nil {
		return err
	}
	var walk func(path pagePath) error
	walk = func(path pagePath) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := c.treePage(path[len(path)-1])
		if err != nil {
			return err
		}
		if !p.clean() {
			if err := each(path); err != nil {
				return err
			}
		}
		for _, child := range p.children {
			if err := walk(append(slices.Clip(path), child)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, root := range roots {
		if err := walk(pagePath{root}); err != nil {
			return err
		}
	}
	return nil
}

// roots returns the roots of the tables and of their indices.
func (c *conn) roots() (roots []uint32, err error) {
	r := c.query("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")
	defer r.close()
	for r.next() {
		roots = append(roots, uint32(r.int(0)))
	}
	return roots, r.err
}

// cleanPages overwrites the free parts of pages. If one of them is no longer where it was found, moved is true, and that page stays
// as it is: its number may have been given to other data, which has no free part there.
func (c *conn) cleanPages(paths []pagePath) (moved bool, err error) {
	roots, err := c.roots()
	if err != nil {
		return false, err
	}
	for _, path := range paths {
		p, err := c.follow(roots, path)
		if errors.Is(err, errPageMoved) {
			moved = true
			continue
		}
		if err == nil && !p.clean() {
			clear(p.data[p.free:p.content])
			_, err = c.exec("UPDATE sqlite_dbpage SET data = $1 WHERE pgno = $2", p.data, int64(path[len(path)-1]))
		}
		if err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// errPageMoved is returned for a page that is no longer where it was.
var errPageMoved = errors.New("the page has moved")

// follow returns the page at the end of a path. It returns errPageMoved unless the path still begins with one of the roots, and each
// page on it points to the next one.
func (c *conn) follow(roots []uint32, path pagePath) (p treePage, err error) {
	below := roots
	for _, number := range path {
		if !slices.Contains(below, number) {
			return treePage{}, errPageMoved
		}
		if p, err = c.treePage(number); err != nil {
			return treePage{}, err
		}
		below = p.children
	}
	return p, nil
}

// treePage is a page of a b-tree.
type treePage struct {
	data          []byte
	free, content int      // the free part in the middle begins at free, and ends at content
	children      []uint32 // the pages below it
}

// clean returns whether the free part is all zeros.
func (p treePage) clean() bool {
	return len(bytes.Trim(p.data[p.free:p.content], "\x00")) == 0
}

// treePage reads a page of a b-tree, as the file format of SQLite says: a header, pointers to the cells, the free part, and the
// cells. The header has the type, the number of cells and where their content begins. A page with children has the last of them
// in the header, and each other one at the beginning of a cell.
func (c *conn) treePage(number uint32) (treePage, error) {
	r := c.query("SELECT data FROM sqlite_dbpage WHERE pgno = $1", int64(number))
	defer r.close()
	if !r.next() {
		return treePage{}, errors.Join(fmt.Errorf("page %d is missing", number), r.err)
	}
	const innerIndex, innerTable, leafIndex, leafTable = 2, 5, 10, 13
	p := treePage{data: r.blob(0)}
	word := func(at int) int { return int(binary.BigEndian.Uint16(p.data[at:])) }
	kind, cells, inner := p.data[0], word(3), false
	p.free, p.content = 8, word(5)
	switch kind {
	case innerIndex, innerTable:
		p.free, inner = 12, true
		p.children = append(p.children, binary.BigEndian.Uint32(p.data[8:]))
	case leafIndex, leafTable:
	default:
		return treePage{}, fmt.Errorf("page %d is damaged: its type is %d", number, kind)
	}
	pointers := p.free
	p.free += 2 * cells
	if p.content == 0 { // 65,536 has no room in 16 bits
		p.content = 1 << 16
	}
	if p.free > p.content || p.content > len(p.data) {
		return treePage{}, fmt.Errorf("page %d is damaged: the cells begin at %d, and the pointers to them end at %d", number, p.content, p.free)
	}
	for at := pointers; inner && at < p.free; at += 2 {
		cell := word(at)
		if cell+4 > len(p.data) {
			return treePage{}, fmt.Errorf("page %d is damaged: a cell is at %d", number, cell)
		}
		p.children = append(p.children, binary.BigEndian.Uint32(p.data[cell:]))
	}
	return p, nil
}

// emptyLog copies the log into the file and truncates it. It returns ErrBusy if others keep it from doing so for s.eraseWait.
//
// While an attempt runs, SQLite lets nobody write, and those who begin to read use the file and not the log. So an attempt succeeds
// if all who read before have ended within eraseHold.
func (s *store) emptyLog(ctx context.Context) error {
	c, err := dialLog(s.path, eraseHold)
	if err != nil {
		return err
	}
	err = func() error {
		for deadline := time.Now().Add(s.eraseWait); ; {
			done, _, err := c.checkpoint("TRUNCATE")
			if done || err != nil && !isBusy(err) {
				return err
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("sqlite: erase: %w: the update is committed, but the log still has copies of what it has deleted, "+
					"since others have read from it for %v", storage.ErrBusy, s.eraseWait)
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("sqlite: erase: the update is committed, but the log still has copies of what it has deleted: %w", ctx.Err())
			case <-time.After(min(erasePause, s.eraseWait)):
			}
		}
	}()
	return errors.Join(err, c.close())
}
