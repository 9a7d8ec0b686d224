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

// This file reads archives of format 2, which older releases have written: they have a line for each record, in a form of its domain.
// The file can be deleted, with importold.go of each domain, when nobody has such archives any more.

// oldHeader is the first line of such an archive.
const oldHeader = `{"vitrine":2}`

// oldBatchLines and oldBatchBytes are how many lines, and how many bytes, are put in one update at most.
const oldBatchLines, oldBatchBytes = 1000, 1 << 20

// importOld reads an archive into an empty store, and returns how many lines it has. After an error the store has a part of it.
func importOld(ctx context.Context, db storage.Store, r io.Reader) (int64, error) {
	var (
		sum    = sha256.New()
		put    func(context.Context, storage.Store, [][]byte) error // of the domain that the batch belongs to
		within []byte                                               // the line of the library or collection; each of its batches begins with it
		batch  [][]byte
		size   int   // bytes of batch
		first  int64 // number of the first line of batch
	)
	flush := func() error {
		lines := batch
		batch, size = nil, 0
		switch {
		case len(lines) == 0:
			return nil
		case put == nil:
			return fmt.Errorf("%w: line %d: belongs to no library or collection", archive.ErrDamaged, first)
		}
		if err := put(ctx, db, lines); err != nil {
			return fmt.Errorf("lines %d to %d: %w", first, first+int64(len(lines))-1, err)
		}
		return nil
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	lines.Scan() // oldHeader
	sum.Write([]byte(oldHeader + "\n"))
	for number := int64(2); lines.Scan(); number++ {
		text := bytes.Clone(lines.Bytes())
		kind, _, _ := bytes.Cut(text, []byte(":"))
		before := within
		switch string(kind) {
		case `{"library"`, `{"collection"`:
			if err := flush(); err != nil {
				return 0, err
			}
			before, within = nil, text
			put = assets.Maintenance(assets.Limits{}).ImportOld
			if string(kind) == `{"collection"` {
				put = reviews.Maintenance().ImportOld
			}
		case `{"component"`, `{"version"`, `{"tag"`, `{"move"`, `{"answer"`:
			if put == nil {
				put = appsvc.Maintenance(appsvc.Limits{}).ImportOld
			}
		case `{"folder"`, `{"asset"`, `{"review"`:
		case `{"end"`:
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
			return number, flush()
		default:
			return 0, fmt.Errorf("%w: line %d: is none of an archive of format 2", archive.ErrDamaged, number)
		}
		if len(batch) == oldBatchLines || size+len(text) > oldBatchBytes {
			if err := flush(); err != nil {
				return 0, err
			}
		}
		if len(batch) == 0 {
			first = number
			if before != nil {
				batch = append(batch, before)
			}
		}
		batch, size = append(batch, text), size+len(text)
		sum.Write(append(text, '\n'))
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("%w: it ends before its last line", archive.ErrDamaged)
}
