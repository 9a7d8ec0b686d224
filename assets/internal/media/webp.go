package media

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
)

// Flags of the chunk VP8X.
const (
	webpAnimated = 0x02
	webpXMP      = 0x04
	webpExif     = 0x08
	webpAlpha    = 0x10
)

// webpCopy copies a WebP.
type webpCopy struct {
	*copier
	length   int64  // of the file, for its header
	oriented bool   // the header says that there is an orientation
	written  int64  // bytes that the length counts
	extended bool   // there is the chunk VP8X
	exif     bool   // there was a chunk EXIF
	pixels   string // the chunk that has them
	data     int64  // coded bytes of pixels and transparency
	alpha    bool   // there is a chunk ALPH, with transparency apart from the pixels
	packed   bool   // which is compressed
}

// cleanWebP keeps the chunks that show the picture, and the orientation. It keeps nothing behind the end. The file is
// read twice: its length and its orientation are known last, and stand first in what is written.
func cleanWebP(w io.Writer, r *io.SectionReader) (Info, error) {
	first := webpCopy{copier: newCopier("WebP", io.Discard, io.NewSectionReader(r, 0, r.Size()))}
	first.file()
	info, err := first.done()
	if err != nil {
		return info, err
	}
	info.decode = first.memory()
	again := webpCopy{copier: newCopier("WebP", w, r), length: first.written, oriented: info.Orientation != 1}
	again.file()
	_, err = again.done()
	return info, err
}

func (c *webpCopy) file() {
	head := c.take(12)
	c.write(head[:4], binary.LittleEndian.AppendUint32(nil, uint32(c.length)), head[8:])
	c.written = 4
	for rest := little(head[4:8]) - 4; rest >= 8 && c.err == nil; {
		head := c.peek(8)
		size := little(head[4:])
		if rest -= 8 + size; rest < 0 {
			c.damaged("the chunk %q is longer than the file says it is", head[:4])
		}
		c.chunk(string(head[:4]), size)
		if size%2 == 1 && rest > 0 { // a byte to fill up
			rest--
			c.skip(1)
		}
	}
	if c.pixels == "" {
		c.damaged("it ends without a picture")
	}
	if c.info.Orientation != 1 {
		exif := exifOf(c.info.Orientation)
		c.written += 8 + int64(len(exif))
		c.write([]byte("EXIF"), binary.LittleEndian.AppendUint32(nil, uint32(len(exif))), exif)
	}
}

// chunk copies a chunk or leaves it out. Its first eight bytes are its name and its size.
func (c *webpCopy) chunk(name string, size int64) {
	keep := true
	switch name {
	case "VP8X":
		b := c.peek(8 + 10)
		if size != 10 {
			c.damaged("the chunk VP8X has %d bytes, want 10", size)
		}
		if keep = c.written == 4; keep { // decoders want it first
			c.extended = true
			c.info.Animated, c.info.Alpha = b[8]&webpAnimated != 0, b[8]&webpAlpha != 0
			c.info.Width, c.info.Height = 1+int(little(b[12:15])), 1+int(little(b[15:18]))
			b[8] &^= webpExif | webpXMP // in the buffer, which is then copied
			if c.oriented {
				b[8] |= webpExif
			}
		}
	case "VP8 ", "VP8L":
		if keep = c.pixels == ""; keep {
			c.pixels = name
			c.data += size
			c.measure()
		}
	case "ALPH":
		c.alpha, c.packed = true, c.peek(9)[8]&3 != 0
		c.data += size
	case "ANMF":
		c.written += 8 + size + size%2
		c.frame(size)
		return
	case "ANIM":
	case "ICCP":
		c.info.longProfile = size > maxProfile
	case "EXIF":
		if keep = false; c.extended && !c.exif {
			c.exif = true
			c.info.Orientation = orientation(c.peek(int(min(8+size, maxTake)))[8:])
		}
	default:
		keep = false
	}
	if !keep {
		c.skip(8 + size)
		return
	}
	c.written += 8 + size + size%2
	if name == "ICCP" && !c.info.longProfile {
		c.info.profile = from(c.tee(8+size), 8)
	} else {
		c.copy(8 + size)
	}
	c.zeros(size % 2)
}

// measure takes the size of a picture without the chunk VP8X from the header of its pixels.
func (c *webpCopy) measure() {
	b := c.peek(8 + 10)
	switch {
	case c.extended:
	case c.pixels == "VP8L": // a byte, and from the lowest bit width-1 and height-1 of 14 bits each, and transparency
		bits := int(little(b[9:13]))
		c.info.Width, c.info.Height, c.info.Alpha = 1+bits&0x3fff, 1+bits>>14&0x3fff, bits>>28&1 != 0
	default: // six bytes, and width and height of 14 bits each, each with two bits of scale above
		c.info.Width = int(little(b[14:16]) & 0x3fff)
		c.info.Height = int(little(b[16:18]) & 0x3fff)
	}
}

// frame copies a frame of an animation: 16 bytes and chunks. Of a chunk that does not show it, zeros are written.
func (c *webpCopy) frame(size int64) {
	if size < 16 {
		c.damaged("a frame has %d bytes, want at least 16", size)
	}
	c.pixels = "ANMF"
	c.copy(8 + 16)
	rest := size - 16
	for rest >= 8 && c.err == nil {
		head := c.peek(8)
		length := 8 + little(head[4:])
		length = min(rest, length+length%2)
		rest -= length
		if slices.Contains([]string{"VP8 ", "VP8L", "ALPH"}, string(head[:4])) {
			c.copy(length)
		} else {
			c.copy(8)
			c.blank(length - 8)
		}
	}
	c.blank(rest)
	c.zeros(size % 2)
}

// memory returns how many bytes golang.org/x/image/webp allocates for a still picture. VP8 takes 3 bytes for two
// pixels, in blocks of 16 by 16 with 8 bytes about each, and all coded bytes. Transparency has a
// byte a pixel, and may be compressed as a picture of VP8L.
func (c *webpCopy) memory() float64 {
	width, height := float64(c.info.Width), float64(c.info.Height)
	var memory float64
	if c.pixels == "VP8 " {
		memory = math.Ceil(width/16)*math.Ceil(height/16)*(384+8) + float64(c.data)
	}
	if c.pixels == "VP8L" || c.packed {
		// Pixels are decoded to 4 bytes; with a palette of up to 16 colors, to 2 and then to 4. Three transforms have 4
		// bytes for each 4 by 4 pixels at most. There are up to 2600 groups of codes of up to 54 KB, which a file of 90
		// KB can have.
		memory += 7*width*height + 2600*54e3
	}
	if c.alpha {
		memory += width * height
	}
	return memory
}
