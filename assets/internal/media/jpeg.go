package media

import (
	"bufio"
	"bytes"
	"slices"
)

// Markers of JPEG, the byte behind 0xff.
const (
	jpegSOF0  = 0xc0 // frames are SOF0 to SOF15, but for the three that follow
	jpegSOF2  = 0xc2 // progressive
	jpegDHT   = 0xc4
	jpegJPG   = 0xc8 // reserved
	jpegDAC   = 0xcc
	jpegSOF15 = 0xcf
	jpegRST0  = 0xd0
	jpegSOI   = 0xd8
	jpegEOI   = 0xd9
	jpegSOS   = 0xda
	jpegDQT   = 0xdb
	jpegDNL   = 0xdc
	jpegDRI   = 0xdd
	jpegAPP0  = 0xe0
	jpegAPP1  = 0xe1
	jpegAPP2  = 0xe2
	jpegAPP14 = 0xee
)

// maxScans is how many scans a JPEG may have that is decoded. Pictures have up to about 20. A scan of some bytes can go
// over all pixels, so thousands of scans would take hours.
const maxScans = 100

const iccHeader = "ICC_PROFILE\x00"

// cleanJPEG keeps what is needed to show the picture: tables, frames and scans up to the first end of an image, JFIF
// without its thumbnail, Adobe's transform of colors, the color profile, and the orientation. That it keeps nothing
// behind the end takes out further pictures (MPF) and films (motion photos).
func cleanJPEG(c *copier) {
	var frame []byte // the parameters of the frame
	var progressive, rgb, exif bool
	scans := 0
	c.copy(2)
	keep := func(marker byte, parts ...[]byte) {
		length := 2
		for _, part := range parts {
			length += len(part)
		}
		c.write([]byte{0xff, marker, byte(length >> 8), byte(length)})
		c.write(parts...)
	}
	marker := nextMarker(c, false)
	for ; marker != jpegEOI && c.err == nil; marker = nextMarker(c, marker == jpegSOS) {
		if marker <= 1 || marker >= jpegRST0 && marker <= jpegSOI { // these have no parameters, and do not belong here
			continue
		}
		length := int(big(c.peek(2)))
		if length < 2 {
			c.damaged("a segment has the length %d, want at least 2", length)
			return
		}
		segment := c.take(length)
		body := segment[2:]
		switch {
		case marker == jpegDHT || marker == jpegDAC || marker == jpegDQT || marker == jpegDRI:
			keep(marker, body)
		case marker >= jpegSOF0 && marker <= jpegSOF15 && marker != jpegJPG:
			if frame != nil || len(body) < 6 || len(body) < 6+3*int(body[5]) {
				c.damaged("want one frame header with as many components as it says")
				return
			}
			frame, progressive = slices.Clone(body), marker == jpegSOF2
			c.info.Height, c.info.Width = int(big(body[1:3])), int(big(body[3:5]))
			if marker > jpegSOF2 || c.info.Height == 0 {
				frame[0] = 0 // no precision that can be decoded
			}
			keep(marker, body)
		case marker == jpegSOS:
			scans++
			keep(marker, body)
		case marker == jpegDNL && len(body) == 2:
			if c.info.Height == 0 {
				c.info.Height = int(big(body))
			}
			keep(marker, body)
		case marker == jpegAPP0 && hasPrefix(body, "JFIF\x00") && len(body) >= 12:
			keep(marker, body[:12], []byte{0, 0}) // without a thumbnail
		case marker == jpegAPP14 && hasPrefix(body, "Adobe") && len(body) >= 12:
			rgb = rgb || body[11] == 0
			keep(marker, body[:12])
		case marker == jpegAPP2 && hasPrefix(body, iccHeader):
			c.info.addProfile([]byte{0xff, marker}, segment)
			keep(marker, body)
		case marker == jpegAPP1 && hasPrefix(body, exifHeader) && !exif && scans == 0:
			exif = true // further ones, and those behind a scan, nobody reads
			if c.info.Orientation = orientation(body); c.info.Orientation != 1 {
				keep(marker, []byte(exifHeader), exifOf(c.info.Orientation))
			}
		}
	}
	if frame == nil || scans == 0 {
		c.damaged("it ends without a picture")
		return
	}
	c.write([]byte{0xff, jpegEOI})
	if scans <= maxScans {
		c.info.decode = jpegMemory(frame, progressive, rgb)
	}
	c.info.grey = frame[5] == 1
	if frame[5] == 4 {
		c.info.profile = nil // it is of CMYK, and renditions are RGB
	}
}

// nextMarker returns the next marker. It copies the bytes before it if they are the data of a scan, and leaves them out
// otherwise.
func nextMarker(c *copier, scan bool) byte {
	for c.err == nil {
		data, err := c.r.ReadSlice(0xff)
		data = bytes.TrimSuffix(data, []byte{0xff})
		if scan {
			c.write(data)
		}
		if err != nil {
			if err != bufio.ErrBufferFull {
				c.fail(err)
			}
			continue
		}
		switch marker := c.peek(1)[0]; {
		case scan && (marker == 0 || marker >= jpegRST0 && marker < jpegSOI): // belongs to the data
			c.write([]byte{0xff})
			c.copy(1)
		case marker == 0xff: // the one before it fills up
		default:
			c.skip(1)
			if marker != 0 {
				return marker
			}
		}
	}
	return 0
}

// jpegMemory returns how many bytes image/jpeg allocates for a frame, and 0 if it does not decode it. A sample takes a
// byte, and its coefficient 4 more if the picture is progressive. RGB and CMYK are then put together as 4 bytes a
// pixel.
func jpegMemory(frame []byte, progressive, rgb bool) float64 {
	components := frame[6:]
	if n := frame[5]; frame[0] != 8 || n != 1 && n != 3 && n != 4 {
		return 0
	}
	height, width := int(big(frame[1:3])), int(big(frame[3:5]))
	sampling := func(i int) (h, v int) {
		if frame[5] == 1 {
			return 1, 1
		}
		return int(components[3*i+1] >> 4), int(components[3*i+1] & 15)
	}
	h, v := sampling(0)
	if h == 0 || v == 0 {
		return 0
	}
	units := 0
	for i := range int(frame[5]) {
		h, v := sampling(i)
		units += h * v
	}
	samples := float64(64*units) * float64((width+8*h-1)/(8*h)) * float64((height+8*v-1)/(8*v))
	memory := samples
	if progressive {
		memory += 4 * samples
	}
	if frame[5] == 4 || frame[5] == 3 && (rgb || components[0] == 'R' && components[3] == 'G' && components[6] == 'B') {
		memory += 4 * float64(width) * float64(height)
	}
	return memory
}
