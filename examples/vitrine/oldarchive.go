package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/archive"
)

// This file reads archives of format 2, which releases before keys and values have written: a line for each thing, in the words of its
// domain. It can be deleted, with importold.go of each domain, when nobody has such archives any more.

// oldHeader is the first line of such an archive.
const oldHeader = `{"vitrine":2}`

// oldBatch is how many lines, and how many bytes, are put in one update at most.
const oldBatchLines, oldBatchBytes = 1000, 1 << 20

// oldArchive reads such an archive into an empty store.
type oldArchive struct {
	ctx    context.Context
	db     storage.Store
	put    func(context.Context, storage.Store, [][]byte) error // of the domain that the batch belongs to
	within []byte                                               // the line of the library or collection, with which each of its batches begins
	batch  [][]byte
	bytes  int
	first  int64 // number of the first line of the batch
}

// importOld puts what an archive says into an empty store, and returns how many lines it has. After an error the store has a part of it.
func importOld(ctx context.Context, db storage.Store, r io.Reader) (int64, error) {
	a, sum := oldArchive{ctx: ctx, db: db}, sha256.New()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for number := int64(1); lines.Scan(); number++ {
		text := bytes.Clone(lines.Bytes())
		kind, _, _ := bytes.Cut(text, []byte(":"))
		if string(kind) == `{"end"` {
			var l struct {
				End struct {
					Lines  int64
					SHA256 string
				}
			}
			if err := json.Unmarshal(text, &l); err != nil || l.End.Lines != number-1 || l.End.SHA256 != hex.EncodeToString(sum.Sum(nil)) {
				return 0, fmt.Errorf("%w: line %d: the lines before are not %d with the sum %s", archive.ErrDamaged, number, l.End.Lines, l.End.SHA256)
			}
			if lines.Scan() {
				return 0, fmt.Errorf("%w: line %d: something follows the last line", archive.ErrDamaged, number+1)
			}
			return number, a.flush()
		}
		sum.Write(append(text, '\n'))
		if number > 1 {
			if err := a.add(string(kind), text, number); err != nil {
				return 0, err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("%w: it ends before its last line", archive.ErrDamaged)
}

// add adds a line to the batch.
func (a *oldArchive) add(kind string, text []byte, number int64) error {
	begins := false // a library or a collection
	switch kind {
	case `{"library"`, `{"collection"`:
		begins = true
		if err := a.flush(); err != nil {
			return err
		}
		a.within = text
		a.put = map[string]func(context.Context, storage.Store, [][]byte) error{`{"library"`: assets.ImportOld, `{"collection"`: reviews.ImportOld}[kind]
	case `{"component"`, `{"version"`, `{"tag"`, `{"move"`, `{"answer"`:
		if a.put == nil {
			a.put = appsvc.ImportOld
		}
	case `{"folder"`, `{"asset"`, `{"review"`:
	default:
		return fmt.Errorf("%w: line %d: is none of an archive of format 2", archive.ErrDamaged, number)
	}
	if len(a.batch) == oldBatchLines || a.bytes+len(text) > oldBatchBytes {
		if err := a.flush(); err != nil {
			return err
		}
	}
	if len(a.batch) == 0 {
		a.first = number
		if a.within != nil && !begins {
			a.batch = append(a.batch, a.within)
		}
	}
	a.batch, a.bytes = append(a.batch, text), a.bytes+len(text)
	return nil
}

// flush puts the batch.
func (a *oldArchive) flush() error {
	if len(a.batch) == 0 {
		return nil
	}
	if a.put == nil {
		return fmt.Errorf("%w: line %d: belongs to no library or collection", archive.ErrDamaged, a.first)
	}
	if err := a.put(a.ctx, a.db, a.batch); err != nil {
		return fmt.Errorf("lines %d to %d: %w", a.first, a.first+int64(len(a.batch))-1, err)
	}
	a.batch, a.bytes = nil, 0
	return nil
}
