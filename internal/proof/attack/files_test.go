//go:build proof

package attack

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
)

func be16(n int) string { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }

func be32(n int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }

// chunk is one of a PNG.
func chunk(kind, data string) string {
	return be32(len(data)) + kind + data + be32(int(crc32.ChecksumIEEE([]byte(kind+data))))
}

// pngOf is a PNG that says it has this size and four bytes a pixel, with this compressed data.
func pngOf(width, height int, data string) string {
	return "\x89PNG\r\n\x1a\n" + chunk("IHDR", be32(width)+be32(height)+"\x08\x06\x00\x00\x00") +
		chunk("IDAT", data) + chunk("IEND", "")
}

// black is a PNG of this width and height whose pixels are all there.
func black(size int) string {
	var b bytes.Buffer
	z, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed)                     // the level is one that there is
	_, _ = io.Copy(z, repeated(strings.Repeat("\x00", 1+4*size), size)) // into memory
	_ = z.Close()
	return pngOf(size, size, b.String())
}

// progressive is a JPEG of this size in three colors, whose coefficients a decoder has to keep until the end.
func progressive(width, height int) string {
	segment := func(kind int, data string) string {
		return string([]byte{0xff, byte(kind)}) + be16(2+len(data)) + data
	}
	file := "\xff\xd8" + segment(0xdb, "\x00"+strings.Repeat("\x01", 64)) +
		segment(0xc2, "\x08"+be16(height)+be16(width)+"\x03\x01\x22\x00\x02\x11\x00\x03\x11\x00")
	for _, table := range []string{"\x00", "\x10"} {
		file += segment(0xc4, table+"\x01"+strings.Repeat("\x00", 16))
	}
	blocks := 6 * ((width + 15) / 16) * ((height + 15) / 16)
	return file + segment(0xda, "\x03\x01\x00\x02\x00\x03\x00\x00\x00\x00") + strings.Repeat("\x00", blocks/8+1) +
		"\xff\xd9"
}

// TestPicturesThatClaimMuch uploads small files that say they are huge pictures, and some that are no pictures.
func TestPicturesThatClaimMuch(t *testing.T) {
	s := start(t)
	inflates := func() string {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, _ = io.Copy(z, repeated(strings.Repeat("\x00", 1<<20), 50))
		_ = z.Close()
		return b.String()
	}()
	var attacks []attack
	for name, c := range map[string]struct{ file, want string }{
		"PNG of 100,000 x 100,000":           {pngOf(100_000, 100_000, inflates), "200"},
		"PNG as large as can be":             {pngOf(1<<31-1, 1<<31-1, ""), "200"},
		"PNG with less data than it says":    {pngOf(2000, 2000, ""), "422"},
		"progressive JPEG of 60 megapixels":  {progressive(10_000, 6_000), "200"},
		"JPEG of the largest size":           {progressive(65_535, 65_535)[:1000] + "\xff\xd9", "200"},
		"WebP with a chunk that is too long": {"RIFF\x20\x00\x00\x00WEBPVP8L\xff\xff\xff\x7fxxxxxxxxxxxx", "422"},
		"MP4 with boxes in boxes":            {mp4(20_000), "422"},
		"SVG with entities in entities": {"<svg xmlns='http://www.w3.org/2000/svg'>" +
			strings.Repeat("&lol;", 9<<16) + "</svg>", "200 415 422"},
		"a page":                               {"<!doctype html><script>alert(1)</script>", "415"},
		"a page behind the signature of a PNG": {"\x89PNG\r\n\x1a\n<script>alert(1)</script>", "422"},
		"nothing":                              {"", "415"},
	} {
		attacks = append(attacks, attack{name: name, want: c.want, send: func(s *server) reply {
			return s.post(library+"/files?name=x", c.file)
		}})
	}
	run(t, s, attacks)
}

// mp4 has so many boxes within each other.
func mp4(depth int) string {
	var b strings.Builder
	b.WriteString("\x00\x00\x00\x10ftypisom\x00\x00\x00\x00")
	for i := depth; i > 0; i-- {
		b.WriteString(be32(8*i) + "moov")
	}
	return b.String()
}

// picturesAtOnce has callers upload pictures at once, each of which takes most of the memory for pictures.
func (s *server) picturesAtOnce() string {
	file := black(6_000)
	s.usage()
	return together(16, func(i int) reply {
		return s.send("POST", library+"/files?name="+fmt.Sprint(i), strings.NewReader(file),
			header("Authorization", "svctoken "+s.user(i)))
	})
}
