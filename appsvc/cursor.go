package appsvc

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// The cursor of a list is the position of the last item of a page, not a number of items to skip. So a page begins
// where the previous one ended, even if items were added or removed meanwhile, and the cost of a page does not depend
// on its position.

// cursor encodes a position, a number and a text, as an opaque string: base64url of a checksum, the number and the
// text. The checksum covers the name of the list. It is not a secret: with a made-up cursor, a caller only sees another
// page of the list.
func cursor(list string, number int64, text string) string {
	rest := append(binary.AppendVarint(nil, number), text...)
	sum := crc32.Update(crc32.ChecksumIEEE([]byte(list)), crc32.IEEETable, rest)
	return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, sum), rest...))
}

// parseCursor decodes a cursor of the same list. ok is false for any other text.
func parseCursor(list, s string) (number int64, text string, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < 5 {
		return 0, "", false
	}
	number, n := binary.Varint(b[4:])
	if n <= 0 {
		return 0, "", false
	}
	text = string(b[4+n:])
	return number, text, cursor(list, number, text) == s && isText(text) // each position has only one valid encoding
}

// numberIn returns the number in a cursor of a list of numbered items, which a request has as this parameter. It
// returns 0 for "".
func numberIn(list, parameter, s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	number, text, ok := parseCursor(list, s)
	if !ok || text != "" || number <= 0 {
		return 0, fault.Invalid(parameter, "not a cursor of this list")
	}
	return number, nil
}
