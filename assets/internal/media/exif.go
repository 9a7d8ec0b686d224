package media

import (
	"bytes"
	"encoding/binary"
)

const (
	exifHeader     = "Exif\x00\x00"
	orientationTag = 0x0112
)

// orientation returns the orientation of a block of Exif, a TIFF file that begins with its byte order, with or without
// the header that JPEG puts before it. It is 1, which is upright, if the block has none.
func orientation(block []byte) int {
	block = bytes.TrimPrefix(block, []byte(exifHeader))
	var order binary.ByteOrder = binary.BigEndian
	if hasPrefix(block, "II*\x00") {
		order = binary.LittleEndian
	} else if !hasPrefix(block, "MM\x00*") {
		return 1
	}
	if len(block) < 8 || int64(order.Uint32(block[4:])) > int64(len(block)) {
		return 1
	}
	entries := block[order.Uint32(block[4:]):] // a count, and as many entries of 12 bytes
	if len(entries) < 2 {
		return 1
	}
	count := int(order.Uint16(entries))
	for entries = entries[2:]; count > 0 && len(entries) >= 12; count, entries = count-1, entries[12:] {
		if value := int(order.Uint16(entries[8:])); order.Uint16(entries) == orientationTag {
			if value < 1 || value > 8 {
				return 1
			}
			return value
		}
	}
	return 1
}

// exifOf returns a block of Exif, without JPEG's header, that has the orientation alone.
func exifOf(orientation int) []byte {
	return []byte{'M', 'M', 0, '*', 0, 0, 0, 8, // big endian, and where the entries are
		0, 1, // one entry: tag, type SHORT, one value of two bytes and two to fill up
		orientationTag >> 8, orientationTag & 0xff, 0, 3, 0, 0, 0, 1, 0, byte(orientation), 0, 0,
		0, 0, 0, 0} // no further entries
}
