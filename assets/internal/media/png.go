package media

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// pngColors are the chunks that say what the numbers of a PNG mean as colors. They are copied to its renditions, too.
var pngColors = []string{"cHRM", "gAMA", "iCCP", "sRGB", "cICP"}

// pngChunks are the further chunks that show a PNG: its header, palette, transparency, pixels and frames, and hints how
// to show it.
var pngChunks = []string{"IHDR", "PLTE", "tRNS", "IDAT", "IEND", "acTL", "fcTL", "fdAT", "sBIT", "bKGD", "pHYs", "mDCV",
	"cLLI"}

// Kinds of colors, as in the header.
const (
	pngGrey      = 0
	pngPalette   = 3
	pngGreyAlpha = 4
	pngRGBAlpha  = 6
)

// cleanPNG keeps the chunks that show the picture, and the orientation. It keeps nothing behind the end.
func cleanPNG(c *copier) (info Info, err error) {
	info = Info{Orientation: 1}
	signature, err := c.take(len(pngSignature))
	if err != nil {
		return info, err
	}
	if err := c.write(signature); err != nil {
		return info, err
	}
	header, err := c.peek(8 + 13)
	if err != nil {
		return info, err
	}
	if string(header[:8]) != "\x00\x00\x00\x0dIHDR" {
		return info, c.damaged("want the chunk IHDR of 13 bytes first")
	}
	ihdr := slices.Clone(header[8:])
	var exif, pixels bool
	for kind := ""; kind != "IEND"; {
		head, err := c.peek(8)
		if err != nil {
			return info, err
		}
		length := int64(binary.BigEndian.Uint32(head))
		kind = string(head[4:])
		if length > math.MaxInt32 || kind == "IHDR" && length != 13 {
			return info, c.damaged("the chunk %q has a length of %d bytes", kind, length)
		}
		whole := 8 + length + 4 // with a checksum
		switch {
		case slices.Contains(pngColors, kind) && whole <= maxProfile:
			var chunk []byte
			chunk, err = c.tee(whole)
			info.addProfile(chunk)
		case slices.Contains(pngColors, kind) || slices.Contains(pngChunks, kind):
			info.longProfile = info.longProfile || kind == "iCCP"
			err = c.copy(whole)
		case kind == "eXIf" && !exif && whole <= maxTake:
			exif = true
			var chunk []byte
			if chunk, err = c.take(int(whole)); err != nil {
				return info, err
			}
			if info.Orientation = orientation(chunk[8:]); info.Orientation != 1 {
				err = c.write(pngChunk("eXIf", exifOf(info.Orientation)))
			}
		default:
			err = c.skip(whole)
		}
		if err != nil {
			return info, err
		}
		info.Animated = info.Animated || kind == "acTL"
		info.Alpha = info.Alpha || kind == "tRNS"
		pixels = pixels || kind == "IDAT"
	}
	if !pixels {
		return info, c.damaged("it ends without a picture")
	}
	depth, colors := ihdr[8], ihdr[9]
	info.Width, info.Height = int(binary.BigEndian.Uint32(ihdr)), int(binary.BigEndian.Uint32(ihdr[4:]))
	info.grey = colors == pngGrey || colors == pngGreyAlpha
	info.Alpha = info.Alpha || colors == pngGreyAlpha || colors == pngRGBAlpha
	if info.grey && info.Alpha {
		info.profile = nil // it is of grey, and renditions with transparency are RGB
	}
	bytes := 4.0 // a pixel, as image/png decodes it
	if colors == pngPalette || info.grey && !info.Alpha {
		bytes = 1
	}
	if depth == 16 {
		bytes *= 2
	}
	info.decode = bytes * float64(info.Width) * float64(info.Height)
	if ihdr[12] != 0 { // interlaced: seven pictures are put together to one
		info.decode *= 2
	}
	info.decode += 4 * 8 * float64(info.Width) // lines
	return info, nil
}

// pngChunk returns a chunk with its length and its checksum.
func pngChunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}
