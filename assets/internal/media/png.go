package media

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strings"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// pngColors are the chunks that say what the numbers of a PNG mean as colors. They are copied to its renditions, too.
var pngColors = strings.Fields("cHRM gAMA iCCP sRGB cICP")

// pngChunks are the further chunks that show a PNG: its header, palette, transparency, pixels and frames, and hints how
// to show it.
var pngChunks = strings.Fields("IHDR PLTE tRNS IDAT IEND acTL fcTL fdAT sBIT bKGD pHYs mDCV cLLI")

// Kinds of colors, as in the header.
const (
	pngGrey      = 0
	pngPalette   = 3
	pngGreyAlpha = 4
	pngRGBAlpha  = 6
)

// cleanPNG keeps the chunks that show the picture, and the orientation. It keeps nothing behind the end.
func cleanPNG(c *copier) {
	c.copy(int64(len(pngSignature)))
	header := slices.Clone(c.peek(8 + 13))
	if string(header[:8]) != "\x00\x00\x00\x0dIHDR" {
		c.damaged("want the chunk IHDR of 13 bytes first")
	}
	var exif, pixels bool
	for kind := ""; kind != "IEND" && c.err == nil; {
		head := c.peek(8)
		kind = string(head[4:])
		length := big(head[:4])
		if length > math.MaxInt32 || kind == "IHDR" && length != 13 {
			c.damaged("the chunk %q has a length of %d bytes", kind, length)
		}
		whole := 8 + length + 4 // with a checksum
		switch colors := slices.Contains(pngColors, kind); {
		case colors && whole <= maxProfile:
			c.info.addProfile(c.tee(whole))
		case colors || slices.Contains(pngChunks, kind):
			c.info.longProfile = c.info.longProfile || kind == "iCCP"
			c.copy(whole)
		case kind == "eXIf" && !exif && whole <= maxTake:
			exif = true
			if c.info.Orientation = orientation(c.take(int(whole))[8:]); c.info.Orientation != 1 {
				c.write(pngChunk(kind, exifOf(c.info.Orientation)))
			}
		default:
			c.skip(whole)
		}
		c.info.Animated = c.info.Animated || kind == "acTL"
		c.info.Alpha = c.info.Alpha || kind == "tRNS"
		pixels = pixels || kind == "IDAT"
	}
	if !pixels {
		c.damaged("it ends without a picture")
	}
	i := &c.info
	i.Width, i.Height = int(big(header[8:12])), int(big(header[12:16]))
	depth, colors, interlaced := header[16], header[17], header[20] != 0
	i.grey = colors == pngGrey || colors == pngGreyAlpha
	i.Alpha = i.Alpha || colors == pngGreyAlpha || colors == pngRGBAlpha
	if i.grey && i.Alpha {
		i.profile = nil // it is of grey, and renditions with transparency are RGB
	}
	i.decode = 4 * float64(i.Width) * float64(i.Height) // as image/png decodes it
	if colors == pngPalette || i.grey && !i.Alpha {
		i.decode /= 4
	}
	if depth == 16 {
		i.decode *= 2
	}
	if interlaced { // seven pictures are put together to one
		i.decode *= 2
	}
	i.decode += 2 * 8 * float64(i.Width) // two lines
}

// pngChunk returns a chunk with its length and its checksum.
func pngChunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}
