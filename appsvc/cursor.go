package appsvc

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// sorts are the orders of apps; a cursor holds an index into them.
var sorts = []Sort{CreatedAscending, CreatedDescending, UpdatedAscending, UpdatedDescending}

// The cursor of a list of apps is the position of the last app of a page, not a number of apps to skip. So a page begins
// where the one before ended, even if apps were added or removed meanwhile, and each page costs the store the same.

// cursor encodes a position in the order of sort as an opaque string: base64url of
//
//	CRC-32 of the rest (4 bytes), index of the order (1), time (8), ID
//
// The checksum detects a damaged cursor. It is not a secret: a caller who makes up a cursor sees nothing but another page
// of the same list.
func (p appPosition) cursor(sort Sort) string {
	b := make([]byte, 4, 4+1+8+len(p.ID))
	b = append(b, byte(slices.Index(sorts, sort)))
	b = binary.BigEndian.AppendUint64(b, uint64(p.Time))
	b = append(b, p.ID...)
	binary.BigEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads what cursor wrote for the same order. It returns ErrInvalid for anything else, also for a cursor of
// another order: its position would mean nothing there.
func parseCursor(s string, sort Sort) (appPosition, error) {
	var p appPosition
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err == nil && len(b) > 13 {
		p = appPosition{int64(binary.BigEndian.Uint64(b[5:])), string(b[13:])}
	}
	// Encoding the position again finds a damaged cursor, one of another order, and one with line ends, which the decoder skips.
	// A store need not take every string as an ID.
	if p.ID == "" || p.cursor(sort) != s || !isText(p.ID) {
		return appPosition{}, invalidParameter("after", "not a cursor of this list in this order")
	}
	return p, nil
}
