package appsvc

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
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
		return 0, fmt.Errorf("%w: limit: %d is not in 1 to %d", ErrInvalid, asked, l.Page)
	}
	return asked, nil
}

// cursor writes a position as an opaque text: the time, then the ID, in base64url.
func (p AppPosition) cursor() string {
	b := binary.BigEndian.AppendUint64(nil, uint64(p.Time))
	return base64.RawURLEncoding.EncodeToString(append(b, p.ID...))
}

// parseCursor reads what cursor wrote. ErrInvalid.
func parseCursor(s string) (AppPosition, error) {
	var p AppPosition
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err == nil && len(b) > 8 {
		p = AppPosition{int64(binary.BigEndian.Uint64(b)), string(b[8:])}
	}
	// The decoder skips line ends, and a store need not take every string as an ID.
	if p.ID == "" || p.cursor() != s || checkText(ErrInvalid, "after", p.ID) != nil {
		return AppPosition{}, fmt.Errorf("%w: after: not a cursor of this list", ErrInvalid)
	}
	return p, nil
}
