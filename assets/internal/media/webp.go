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

// cleanWebP keeps the chunks that show the picture, and the orientation. It keeps nothing behind the end. The file is
// read twice: its length and its orientation are known last, and stand first in what is written.
func cleanWebP(w io.Writer, r *io.SectionReader) (Info, error) {
	first := webpCopy{copier: newCopier("WebP", io.Discard, r), info: Info{Orientation: 1}}
	if err := first.run(); err != nil {
		return first.info, err
	}
	again := webpCopy{copier: newCopier("WebP", w, io.NewSectionReader(r, 0, r.Size())), length: first.written,
		oriented: first.info.Orientation != 1}
	if err := again.run(); err != nil {
		return first.info, err
	}
	first.info.decode = first.memory()
	return first.info, again.w.Flush()
}

// webpCopy copies a WebP.
type webpCopy struct {
	*copier
	info     Info
	length   int64 // of the file, for its header
	oriented bool  // the header says that there is an orientation
	written  int64 // bytes that the length counts
	extended bool  // there is the chunk VP8X
	exif     bool
	pixels   string // the chunk that has them
	data     int64  // bytes of pixels and transparency
	alpha    bool   // there is a chunk ALPH
}

func (c *webpCopy) run() error {
	head, err := c.take(12)
	if err != nil {
		return err
	}
	rest := int64(binary.LittleEndian.Uint32(head[4:])) - 4
	c.written = 4
	if err := c.write([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(c.length)), head[8:]); err != nil {
		return err
	}
	for rest >= 8 {
		head, err := c.peek(8)
		if err != nil {
			return err
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		if rest -= 8 + size; rest < 0 {
			return c.damaged("the chunk %q is longer than the file says it is", head[:4])
		}
		if err := c.chunk(string(head[:4]), size); err != nil {
			return err
		}
		if size%2 == 1 && rest > 0 { // a byte to fill up
			rest--
			if err := c.skip(1); err != nil {
				return err
			}
		}
	}
	if c.pixels == "" {
		return c.damaged("it ends without a picture")
	}
	if c.info.Orientation > 1 {
		exif := exifOf(c.info.Orientation)
		c.written += 8 + int64(len(exif))
		return c.write([]byte("EXIF"), []byte{byte(len(exif)), 0, 0, 0}, exif)
	}
	return nil
}

// chunk copies a chunk or leaves it out. Its first eight bytes are its name and its size.
func (c *webpCopy) chunk(name string, size int64) error {
	keep := true
	switch name {
	case "VP8X":
		keep = c.written == 4 // decoders want it first
		b, err := c.peek(8 + 10)
		if err != nil {
			return err
		}
		if size != 10 {
			return c.damaged("want a chunk VP8X of 10 bytes")
		}
		if keep {
			c.extended = true
			c.info.Animated, c.info.Alpha = b[8]&webpAnimated != 0, b[8]&webpAlpha != 0
			c.info.Width, c.info.Height = 1+uint24(b[12:]), 1+uint24(b[15:])
			b[8] &^= webpExif | webpXMP // in the buffer that is then copied from
			if c.oriented {
				b[8] |= webpExif
			}
		}
	case "VP8 ", "VP8L":
		if keep = c.pixels == ""; keep {
			c.pixels = name
			c.data += size
			if err := c.measure(); err != nil {
				return err
			}
		}
	case "ALPH":
		c.alpha = true
		c.data += size
	case "ICCP":
		c.info.longProfile = c.info.longProfile || size > maxProfile
		if c.info.profile == nil && !c.info.longProfile {
			c.written += 8 + size + size%2
			chunk, err := c.tee(8 + size)
			if err != nil {
				return err
			}
			c.info.addProfile(chunk[8:])
			return c.zeros(size % 2)
		}
	case "ANMF":
		return c.frame(size)
	case "EXIF":
		keep = false
		if c.extended && !c.exif {
			c.exif = true
			b, err := c.peek(int(min(8+size, maxTake)))
			if err != nil {
				return err
			}
			c.info.Orientation = orientation(b[8:])
		}
	default:
		keep = name == "ANIM"
	}
	if !keep {
		return c.skip(8 + size)
	}
	c.written += 8 + size + size%2
	if err := c.copy(8 + size); err != nil {
		return err
	}
	return c.zeros(size % 2)
}

// measure takes the size of a picture without the chunk VP8X from the header of its pixels.
func (c *webpCopy) measure() error {
	b, err := c.peek(8 + 10)
	if err != nil || c.extended {
		return err
	}
	if c.pixels == "VP8L" { // a byte, and from the lowest bit: width-1 and height-1 of 14 bits each, transparency
		bits := binary.LittleEndian.Uint32(b[9:])
		c.info.Width, c.info.Height, c.info.Alpha = int(1+bits&0x3fff), int(1+bits>>14&0x3fff), bits>>28&1 != 0
	} else { // six bytes, then width and height of 14 bits each, with two bits of scale above
		c.info.Width, c.info.Height = int(binary.LittleEndian.Uint16(b[14:])&0x3fff),
			int(binary.LittleEndian.Uint16(b[16:])&0x3fff)
	}
	return nil
}

// frame copies a frame of an animation: 16 bytes and chunks. Of a chunk that does not show it, zeros are written.
func (c *webpCopy) frame(size int64) error {
	if size < 16 {
		return c.damaged("a frame has %d bytes, want at least 16", size)
	}
	c.pixels = "ANMF"
	c.written += 8 + size + size%2
	if err := c.copy(8 + 16); err != nil {
		return err
	}
	rest := size - 16
	for rest >= 8 {
		head, err := c.peek(8)
		if err != nil {
			return err
		}
		length := 8 + int64(binary.LittleEndian.Uint32(head[4:]))
		length = min(rest, length+length%2)
		if rest -= length; slices.Contains([]string{"VP8 ", "VP8L", "ALPH"}, string(head[:4])) {
			err = c.copy(length)
		} else if err = c.copy(8); err == nil {
			err = c.blank(length - 8)
		}
		if err != nil {
			return err
		}
	}
	if err := c.blank(rest); err != nil {
		return err
	}
	return c.zeros(size % 2)
}

// memory returns how many bytes golang.org/x/image/webp allocates for a still picture. VP8 takes 3 bytes for two
// pixels, in blocks of 16 by 16 with 8 bytes about each, and all coded bytes. Transparency is a picture of VP8L, of
// which a byte a pixel is kept.
func (c *webpCopy) memory() float64 {
	width, height := float64(c.info.Width), float64(c.info.Height)
	var memory float64
	if c.pixels == "VP8 " {
		memory = math.Ceil(width/16)*math.Ceil(height/16)*(384+8) + float64(c.data)
	}
	if c.pixels == "VP8L" || c.alpha {
		// Pixels are decoded to 4 bytes; with a palette of up to 16 colors, to 2 and then to 4. Three transforms have 4
		// bytes for each 4 by 4 pixels at most. So do groups of codes have, up to 2600 of them: a group has tables of
		// 2700 bytes, and nodes of codes, which take up to 128 times the bytes that they are coded in, and 51 KB.
		groups := min(2600, math.Ceil(width/4)*math.Ceil(height/4))
		memory += 7*width*height + groups*2700 + min(groups*51e3, 128*float64(c.data))
	}
	if c.alpha {
		memory += width * height
	}
	return memory
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
