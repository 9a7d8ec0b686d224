package history

import (
	"encoding/binary"
	"hash/crc32"
)

// MaxBody is the size of the largest body that a history takes, in bytes. It also
// bounds the memory that a reader allocates because of damaged rows.
const MaxBody = 64 << 20

// Version is one version of one app, as a history stores it. The ID of the app is not in it: the driver keeps each
// history under its app.
type Version struct {
	Number    int64  // 0, 1, 2, …
	UpdatedAt int64  // milliseconds since the epoch, of this version
	UpdatedBy string // URN of the editor of this version
	Body      []byte // any bytes, at most MaxBody of them
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the checksum that each stored version carries, over all its fields,
// so that a row that was damaged, or stored under another app or version, is an
// error and never a wrong answer.
func (v Version) sum() uint32 {
	var fixed [16]byte
	binary.LittleEndian.PutUint64(fixed[:8], uint64(v.Number))
	binary.LittleEndian.PutUint64(fixed[8:], uint64(v.UpdatedAt))
	sum := crc32.Update(0, castagnoli, fixed[:])
	sum = crc32.Update(sum, castagnoli, []byte(v.UpdatedBy))
	return crc32.Update(sum, castagnoli, v.Body)
}
