package media_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math/bits"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets/internal/media"
)

// secret stands wherever a file tells what it must not tell.
const secret = "48.2082N 16.3738E, camera of Maria"

// concat returns the parts one behind the other: texts, bytes, and single bytes.
func concat(parts ...any) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			b.WriteString(part)
		case []byte:
			b.Write(part)
		case int:
			b.WriteByte(byte(part))
		}
	}
	return b.String()
}

func be16(n int) string { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }
func be32(n int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }
func le32(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

// colored is a picture in which each pixel differs from its neighbors a little, and all corners differ.
func colored(width, height int, alpha bool) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.NRGBA{uint8(255 * x / width), uint8(255 * y / height), uint8(40 * (x / 8 % 2)), 255}
			if alpha {
				c.A = uint8(255 * x / width)
			}
			m.SetNRGBA(x, y, c)
		}
	}
	return m
}

func grey(width, height int) *image.Gray {
	m := image.NewGray(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = uint8(i % width)
	}
	return m
}

func asJPEG(m image.Image) string {
	var b bytes.Buffer
	jpeg.Encode(&b, m, nil)
	return b.String()
}

func asPNG(m image.Image) string {
	var b bytes.Buffer
	png.Encode(&b, m)
	return b.String()
}

// exif returns a TIFF of this byte order with a position, the name of a camera, a MakerNote and a thumbnail. It has no
// entry of orientation if that is zero.
func exif(order binary.AppendByteOrder, orientation int) string {
	b := []byte(map[bool]string{true: "MM\x00*", false: "II*\x00"}[order == binary.AppendByteOrder(binary.BigEndian)])
	b = order.AppendUint32(b, 8)
	entry := func(tag, kind uint16, count, value uint32) {
		b = order.AppendUint16(order.AppendUint16(b, tag), kind)
		b = order.AppendUint32(b, count)
		if kind == 3 {
			b = order.AppendUint16(order.AppendUint16(b, uint16(value)), 0)
		} else {
			b = order.AppendUint32(b, value)
		}
	}
	b = order.AppendUint16(b, 4)
	entry(0x010f, 2, uint32(len(secret)), 62)
	if orientation > 0 {
		entry(0x0112, 3, 1, uint32(orientation))
	} else {
		entry(0x0100, 3, 1, 6) // another tag
	}
	entry(0x8769, 4, 1, 62)
	entry(0x8825, 4, 1, 62)
	b = order.AppendUint32(b, 62)
	return concat(b, secret, "MakerNote"+secret, asJPEG(grey(8, 8)))
}

// segment is one of a JPEG.
func segment(marker int, body string) string { return concat(0xff, marker, be16(len(body)+2), body) }

// flatJPEG is a JPEG without details of this kind of frame, with components of this sampling, such as 0x22.
func flatJPEG(frame, width, height int, sampling ...int) string {
	b := "\xff\xd8"
	sof, sos := concat(8, be16(height), be16(width), len(sampling)), concat(len(sampling))
	units, most := 0, 0
	for i, s := range sampling {
		sof += concat(i+1, s, 0)
		sos += concat(i+1, 0)
		units += s >> 4 * (s & 15)
		most = max(most, s)
	}
	if len(sampling) == 1 {
		units, most = 1, 0x11
	}
	b += segment(0xdb, concat(0, strings.Repeat("\x01", 64))) + segment(frame, sof)
	for _, table := range []int{0x00, 0x10} { // one code, of one bit: no difference, and the end of a block
		b += segment(0xc4, concat(table, 1, strings.Repeat("\x00", 15), 0))
	}
	end, bitsOfBlock := 63, 2
	if frame == 0xc2 {
		end, bitsOfBlock = 0, 1 // a scan of DC alone
	}
	h, v := 8*(most>>4), 8*(most&15)
	blocks := units * ((width + h - 1) / h) * ((height + v - 1) / v)
	return concat(b, segment(0xda, concat(sos, 0, end, 0)), strings.Repeat("\x00", (blocks*bitsOfBlock+7)/8),
		"\xff\xd9")
}

// chunk is one of a PNG.
func chunk(kind, data string) string {
	return concat(be32(len(data)), kind, data, be32(int(crc32.ChecksumIEEE([]byte(kind+data)))))
}

// pngHeader is a PNG without pixels.
func pngHeader(width, height, depth, colors, interlaced int) string {
	return "\x89PNG\r\n\x1a\n" + chunk("IHDR", concat(be32(width), be32(height), depth, colors, 0, 0, interlaced))
}

// riff is a WebP of these chunks.
func riff(chunks ...string) string {
	all := "WEBP" + strings.Join(chunks, "")
	return concat("RIFF", le32(len(all)), all)
}

func riffChunk(kind, data string) string {
	return concat(kind, le32(len(data)), data, strings.Repeat("\x00", len(data)%2))
}

func vp8x(flags, width, height int) string {
	return riffChunk("VP8X", concat(flags, 0, 0, 0, le32(width - 1)[:3], le32(height - 1)[:3]))
}

// vp8 is the data of a picture that is grey: all bits of its coded data are zeros.
func vp8(width, height int) string {
	first := 64 + width*height/64
	return concat(le32(first<<5 | 1<<4)[:3], "\x9d\x01\x2a", le32(width)[:2], le32(height)[:2],
		strings.Repeat("\x00", first+64+width*height/16))
}

// vp8l is the data of a picture without loss. Each value of a pixel is coded as it is, in 8 bits.
func vp8l(m *image.NRGBA) string {
	w := bitWriter{}
	w.header(m.Rect.Dx(), m.Rect.Dy())
	w.write(0, 3) // no transforms, no cache of colors, one group of codes
	w.pixels(m.Pix)
	w.write(0, 7)
	return string(w.b)
}

// vp8lOfCodes is the data of a picture of one color, with as many and as large groups of codes as decoders take.
func vp8lOfCodes(width, height int) string {
	const groups = 2600
	w := bitWriter{}
	w.header(width, height)
	w.write(0, 1)       // no transforms
	w.write(1|11<<1, 5) // a cache of 2048 colors
	w.write(1|0<<1, 4)  // a group of codes for each 4 by 4 pixels
	w.write(0, 1)       // no cache for these
	var numbers []byte
	for i := range ((width + 3) / 4) * ((height + 3) / 4) {
		n := min(i, groups-1)
		numbers = append(numbers, byte(n>>8), byte(n), 0, 0)
	}
	w.pixels(numbers)
	for range groups {
		for _, tree := range [][3]int{{2328, 1768, 11}, {256, 256, 8}, {256, 256, 8}, {256, 256, 8}, {40, 24, 5}} {
			w.write(0, 1)
			w.write(16-4, 4)
			for _, length := range []int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12} {
				w.write(map[bool]int{true: 1}[length == tree[2] || length == tree[2]+1], 3)
			}
			w.write(0, 1)
			for code := range tree[0] { // the first ones are one bit shorter
				w.write(map[bool]int{true: 1}[code >= tree[1]], 1)
			}
		}
	}
	for range width * height { // the first color of the cache
		w.write(int(bits.Reverse16((256+24)<<5)), 11)
	}
	w.write(0, 7)
	return string(w.b)
}

type bitWriter struct {
	b       []byte
	pending uint64
	n       int
}

func (w *bitWriter) write(value, n int) {
	w.pending |= uint64(value) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.b = append(w.b, byte(w.pending))
		w.pending >>= 8
	}
}

// header writes the header of VP8L.
func (w *bitWriter) header(width, height int) {
	w.write(0x2f, 8)
	w.write(width-1, 14)
	w.write(height-1, 14)
	w.write(1, 1) // there is transparency
	w.write(0, 3) // the version
}

// pixels writes codes of 8 bits for each value, and the pixels with them.
func (w *bitWriter) pixels(rgba []byte) {
	for _, symbols := range []int{256 + 24, 256, 256, 256} {
		w.write(0, 1)
		w.write(12-4, 4) // lengths of the codes of lengths: 17, 18, 0, 1 to 5, 16, 6, 7, 8
		for i := range 12 {
			w.write(map[int]int{2: 1, 11: 1}[i], 3)
		}
		w.write(0, 1)
		for s := range symbols { // its length is 0 or 8
			w.write(map[bool]int{true: 1}[s < 256], 1)
		}
	}
	w.write(1, 4) // one distance
	for i := 0; i < len(rgba); i += 4 {
		for _, at := range []int{1, 0, 2, 3} {
			w.write(int(bits.Reverse8(rgba[i+at])), 8)
		}
	}
}

// atom is a box of an MP4 or an AVIF.
func atom(kind string, parts ...any) string {
	body := concat(parts...)
	return concat(be32(8+len(body)), kind, body)
}

// typeOf returns the type by the first bytes.
func typeOf(t testing.TB, file string) media.Type {
	t.Helper()
	kind, err := media.Detect([]byte(file[:min(len(file), media.HeadSize)]))
	if err != nil {
		t.Fatal(err)
	}
	return kind
}

// clean returns what is left of a file.
func clean(t testing.TB, file string) (string, media.Info, error) {
	t.Helper()
	var b bytes.Buffer
	var info media.Info
	var err error
	if kind := typeOf(t, file); !kind.Streams() {
		info, err = media.Clean(&b, section(file), kind)
	} else {
		info, err = media.CleanStream(&b, strings.NewReader(file), kind)
	}
	return b.String(), info, err
}

func section(file string) *io.SectionReader {
	return io.NewSectionReader(strings.NewReader(file), 0, int64(len(file)))
}

// insert puts text into a file.
func insert(file string, at int, text string) string { return file[:at] + text + file[at:] }

// gifOf is a GIF of so many frames of 2 by 1 pixels, with these extensions before each of them.
func gifOf(frames int, extensions string) string {
	frame := extensions + "\x2c\x00\x00\x00\x00\x02\x00\x01\x00\x00\x02\x02\x44\x0a\x00"
	return "GIF89a\x02\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff" + strings.Repeat(frame, frames) + ";"
}

// avifOf is an AVIF of 64 by 48 pixels that stand on end. Item 1 is the image, 2 is Exif in the box mdat, in two parts,
// and 3 is XMP in the box idat.
func avifOf(exif, xmp string) string {
	const coded = "coded image"
	infe := func(id int, kind string) string {
		return atom("infe", 2, "\x00\x00\x00", be16(id), be16(0), kind, "\x00")
	}
	full := "\x00\x00\x00\x00"
	build := func(data int) string { // where the data begin
		half := len(exif) / 2
		iloc := atom("iloc", "\x01\x00\x00\x00", 0x44, 0x00, be16(3),
			be16(1), be16(0), be16(0), be16(1), be32(data), be32(len(coded)),
			be16(2), be16(0), be16(0), be16(2), be32(data+len(coded)+len(exif)-half), be32(half),
			be32(data+len(coded)), be32(len(exif)-half),
			be16(3), be16(1), be16(0), be16(1), be32(0), be32(len(xmp)))
		meta := atom("meta", full, atom("hdlr", full, full, "pict", strings.Repeat("\x00", 12), "\x00"),
			atom("pitm", full, be16(1)),
			atom("iinf", full, be16(3), infe(1, "av01"), infe(2, "Exif"), infe(3, "mime")), iloc,
			atom("iprp",
				atom("ipco", atom("ispe", full, be32(64), be32(48)), atom("av1C", "configuration   "), atom("irot", 1)),
				atom("ipma", full, be32(1), be16(1), 3, 1, 0x82, 0x83)),
			atom("idat", xmp))
		return concat(atom("ftyp", "avif", full, "avifmif1"), meta, atom("mdat", coded, exif[half:], exif[:half]))
	}
	return build(len(build(0)) - len(exif) - len(coded))
}

// avifOfItem is an AVIF with an item of this type, and this box iloc. Its properties take long to find for who looks
// for each in all of them.
func avifOfItem(kind, iloc string) string {
	infe := atom("infe", "\x02\x00\x00\x00", be16(1), be16(0), kind, 0)
	ipma := atom("ipma", be32(0), be32(1<<30), strings.Repeat("\x00\x00\xff"+strings.Repeat("\x01", 255), 1000))
	return atom("ftyp", "avif", be32(0), "avif") + atom("meta", be32(0), atom("iinf", be32(0), be16(1), infe),
		atom("iloc", iloc), atom("iprp", atom("ipco", strings.Repeat(atom("free"), 20000)), ipma))
}

// trackOf is a track of an MP4.
func trackOf(kind, format string, more ...any) string {
	matrix := concat(be32(0), be32(1<<16), be32(0), be32(-1<<16), be32(0), be32(0), be32(0), be32(0), be32(1<<30))
	tkhd := atom("tkhd", strings.Repeat("\x00", 40), matrix, be32(640<<16), be32(360<<16))
	hdlr := atom("hdlr", strings.Repeat("\x00", 8), kind, strings.Repeat("\x00", 12+len(secret)))
	stsd := atom("stsd", be32(0), be32(1), be32(16), format, be32(0), be32(1))
	return atom("trak", tkhd, atom("mdia", hdlr, atom("minf", atom("stbl", stsd))), concat(more...))
}
