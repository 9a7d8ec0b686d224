package media

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

const taken = "JPEG, PNG, GIF, WebP, AVIF, SVG, MP4, WebM, MP3, OGG, WAV"

// The types that are taken.
var (
	jpegType = Type{"image/jpeg", ".jpg"}
	pngType  = Type{"image/png", ".png"}
	gifType  = Type{"image/gif", ".gif"}
	webpType = Type{"image/webp", ".webp"}
	avifType = Type{"image/avif", ".avif"}
	svgType  = Type{"image/svg+xml", ".svg"}
	mp4Type  = Type{"video/mp4", ".mp4"}
	m4aType  = Type{"audio/mp4", ".m4a"}
	webmType = Type{"video/webm", ".webm"}
	mp3Type  = Type{"audio/mpeg", ".mp3"}
	oggType  = Type{"audio/ogg", ".ogg"}
	wavType  = Type{"audio/wav", ".wav"}
	pdfType  = Type{"application/pdf", ".pdf"}
)

var (
	errNotTaken = errors.New("the file is of a kind that is not taken: want " + taken + " or PDF")
	errHEIC     = errors.New("the file is a HEIC picture, which browsers do not show: export it as JPEG, and upload " +
		"that; " + taken + " and PDF are taken")
)

// Detect returns the type of a file by its first bytes, of which it wants HeadSize, or all if the file has fewer. The
// error is for the one who sent the file: it lists what is taken, and for HEIC pictures it says what to do.
//
// A QuickTime movie with the brand "qt  ", as iPhones record it, is an MP4: the boxes are the same, and browsers play
// it as video/mp4. An Ogg file has to begin with a stream of sound.
func Detect(head []byte) (Type, error) {
	switch {
	case hasPrefix(head, "\xff\xd8\xff"):
		return jpegType, nil
	case hasPrefix(head, pngSignature):
		return pngType, nil
	case hasPrefix(head, "GIF87a", "GIF89a"):
		return gifType, nil
	case hasPrefix(head, "RIFF") && hasPrefix(from(head, 8), "WEBP"):
		return webpType, nil
	case hasPrefix(head, "RIFF") && hasPrefix(from(head, 8), "WAVE"):
		return wavType, nil
	case hasPrefix(from(head, 4), "ftyp"):
		return detectBrands(head)
	case hasPrefix(head, "\x1a\x45\xdf\xa3") && bytes.Contains(head[:min(len(head), 64)], []byte("\x42\x82\x84webm")):
		return webmType, nil // the EBML header has the element DocType, whose size is 4
	case hasPrefix(head, "OggS") && isOggSound(head):
		return oggType, nil
	case hasPrefix(head, "%PDF-"):
		return pdfType, nil
	case hasPrefix(head, "ID3") || isMP3(head):
		return mp3Type, nil
	case isSVG(head):
		return svgType, nil
	}
	return Type{}, errNotTaken
}

// detectBrands tells the files apart that begin with an ftyp box: its size, "ftyp", the major brand, a version of four
// bytes, and the compatible brands. Files of images and sound have a brand of their own first.
func detectBrands(head []byte) (Type, error) {
	size := big(head[:4])
	if size < 16 || size > int64(len(head)) {
		return Type{}, errNotTaken
	}
	major := string(head[8:12])
	has := func(brands ...string) bool {
		return slices.ContainsFunc(brands, func(brand string) bool {
			for at := 16; at+4 <= int(size); at += 4 {
				if string(head[at:at+4]) == brand {
					return true
				}
			}
			return major == brand
		})
	}
	image := major == "mif1" || major == "msf1" || major == "miaf"
	switch {
	case major == "avif" || major == "avis" || image && has("avif", "avis"):
		return avifType, nil
	case major == "crx ": // a raw picture of a camera
		return Type{}, errNotTaken
	case image || slices.Contains(strings.Fields("heic heix heim heis hevc hevx hevm hevs"), major):
		return Type{}, errHEIC
	case strings.HasPrefix(major, "M4A") || strings.HasPrefix(major, "M4B") || major == "F4A ":
		return m4aType, nil
	case major == "qt  " || strings.HasPrefix(major, "M4V") ||
		has(strings.Fields("isom iso2 iso3 iso4 iso5 iso6 iso7 iso8 iso9 mp41 mp42 avc1 dash mmp4 MSNV")...):
		return mp4Type, nil
	}
	return Type{}, errNotTaken
}

// isOggSound reports whether the first page of an Ogg file begins a stream of sound. The page has a header of 27 bytes
// and a segment for its one packet.
func isOggSound(head []byte) bool {
	return hasPrefix(from(head, 28), "OpusHead", "\x01vorbis", "\x7fFLAC", "Speex   ")
}

// isMP3 reports whether there is the header of a frame of MPEG sound of layer 3: eleven bits that are set, a version,
// the layer, and a rate of bits and one of samples that there are.
func isMP3(head []byte) bool {
	return len(head) >= 4 && head[0] == 0xff && head[1]&0xe6 == 0xe2 && head[1]&0x18 != 0x08 && head[2]>>4 != 0 &&
		head[2]>>4 != 15 && head[2]>>2&3 != 3
}

// hasPrefix reports whether b begins with one of the prefixes.
func hasPrefix(b []byte, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return bytes.HasPrefix(b, []byte(prefix)) })
}

// from returns what is behind the first n bytes of b.
func from(b []byte, n int) []byte { return b[min(n, len(b)):] }
