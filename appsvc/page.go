package appsvc

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

// page gathers the items of a list until it has enough of them or of their bytes. One item always
// fits.
type page[T any] struct {
	items []T
	more  bool // an item came that had no more room
	limit int  // items; 0 = any number
	room  int  // bytes that are left
}

func newPage[T any](limit, bytes int) *page[T] { return &page[T]{limit: limit, room: bytes} }

// add takes an item of about size bytes, or reports that the page is full.
func (p *page[T]) add(item T, size int) bool {
	full := p.limit > 0 && len(p.items) == p.limit || len(p.items) > 0 && p.room <= 0
	if full {
		p.more = true
		return false
	}
	p.items = append(p.items, item)
	p.room -= size
	return true
}

// pageLimit is the number of items asked for, or its default when none was.
func (l Limits) pageLimit(asked, otherwise int) (int, error) {
	if asked == 0 {
		return otherwise, nil
	}
	if asked < 1 || asked > l.Page {
		return 0, fmt.Errorf("%w: limit: want 1 to %d", ErrInvalid, l.Page)
	}
	return asked, nil
}

// sorts are the orders of apps; a cursor holds an index into them.
var sorts = []Sort{CreatedAscending, CreatedDescending, UpdatedAscending, UpdatedDescending}

// cursor writes a position in the order of sort as an opaque text: base64url of a checksum, the
// order, the time and the ID. The checksum tells a damaged cursor; it is no secret.
func (p AppPosition) cursor(sort Sort) string {
	b := make([]byte, 4, 4+1+8+len(p.ID))
	b = append(b, byte(slices.Index(sorts, sort)))
	b = binary.BigEndian.AppendUint64(b, uint64(p.Time))
	b = append(b, p.ID...)
	binary.BigEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads what cursor wrote for the same order. ErrInvalid.
func parseCursor(s string, sort Sort) (AppPosition, error) {
	var p AppPosition
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err == nil && len(b) > 13 {
		p = AppPosition{int64(binary.BigEndian.Uint64(b[5:])), string(b[13:])}
	}
	// The decoder skips line ends, and a store need not take every string as an ID.
	if p.ID == "" || p.cursor(sort) != s || checkText(ErrInvalid, "after", p.ID) != nil {
		return AppPosition{}, fmt.Errorf("%w: after: not a cursor of this list in this order", ErrInvalid)
	}
	return p, nil
}
