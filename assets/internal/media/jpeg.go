package media

import (
	"bufio"
	"encoding/binary"
	"errors"
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

const iccHeader = "ICC_PROFILE\x00"

// cleanJPEG keeps what is needed to show the picture: tables, frames and scans up to the first end of an image, JFIF
// without its thumbnail, Adobe's transform of colors, the color profile, and the orientation. That it keeps nothing
// behind the end takes out further pictures (MPF) and films (motion photos).
func cleanJPEG(c *copier) (info Info, err error) {
	info = Info{Orientation: 1}
	var frame []byte // the parameters of the frame
	var progressive, rgb, exif, scans bool
	if _, err = c.take(2); err != nil {
		return info, err
	}
	if err = c.write([]byte{0xff, jpegSOI}); err != nil {
		return info, err
	}
	marker, err := nextMarker(c, false)
	for ; err == nil && marker != jpegEOI; marker, err = nextMarker(c, marker == jpegSOS) {
		if marker <= 1 || marker >= jpegRST0 && marker <= jpegSOI { // these have no parameters, and do not belong here
			continue
		}
		head, err := c.peek(2)
		if err != nil {
			return info, err
		}
		length := binary.BigEndian.Uint16(head)
		if length < 2 {
			return info, c.damaged("a segment has the length %d, want at least 2", length)
		}
		segment, err := c.take(int(length))
		if err != nil {
			return info, err
		}
		body := segment[2:]
		switch {
		case marker >= jpegSOF0 && marker <= jpegSOF15 && marker != jpegDHT && marker != jpegJPG && marker != jpegDAC:
			if frame != nil || len(body) < 6 || len(body) < 6+3*int(body[5]) {
				return info, c.damaged("want one frame header with as many components as it says")
			}
			frame, progressive = append(frame, body...), marker == jpegSOF2
			info.Height, info.Width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
			if marker > jpegSOF2 || info.Height == 0 {
				frame[0] = 0 // no precision that can be decoded
			}
			err = writeSegment(c, marker, body)
		case marker == jpegSOS:
			scans = true
			err = writeSegment(c, marker, body)
		case marker == jpegDNL:
			if len(body) >= 2 && info.Height == 0 {
				info.Height = int(binary.BigEndian.Uint16(body))
			}
			err = writeSegment(c, marker, body)
		case marker == jpegDHT || marker == jpegDAC || marker == jpegDQT || marker == jpegDRI:
			err = writeSegment(c, marker, body)
		case marker == jpegAPP0 && hasPrefix(body, "JFIF\x00") && len(body) >= 12:
			err = writeSegment(c, marker, append(body[:12:12], 0, 0)) // the last two are the size of the thumbnail
		case marker == jpegAPP14 && hasPrefix(body, "Adobe") && len(body) >= 12:
			rgb = rgb || body[11] == 0
			err = writeSegment(c, marker, body[:12])
		case marker == jpegAPP2 && hasPrefix(body, iccHeader):
			info.addProfile([]byte{0xff, marker}, segment)
			err = writeSegment(c, marker, body)
		// what stands elsewhere, nobody reads
		case marker == jpegAPP1 && hasPrefix(body, exifHeader) && !exif && !scans:
			exif = true
			if info.Orientation = orientation(body); info.Orientation != 1 {
				err = writeSegment(c, marker, append([]byte(exifHeader), exifOf(info.Orientation)...))
			}
		}
		if err != nil {
			return info, err
		}
	}
	if err != nil {
		return info, err
	}
	if frame == nil || !scans {
		return info, c.damaged("it ends without a picture")
	}
	info.decode = jpegMemory(frame, progressive, rgb)
	info.grey = frame[5] == 1
	if frame[5] == 4 {
		info.profile = nil // it is of CMYK, and renditions are RGB
	}
	return info, c.write([]byte{0xff, jpegEOI})
}

func writeSegment(c *copier, marker byte, body []byte) error {
	length := len(body) + 2
	return c.write([]byte{0xff, marker, byte(length >> 8), byte(length)}, body)
}

// nextMarker returns the next marker. It copies what stands before it if that is the data of a scan, and otherwise
// leaves it out.
func nextMarker(c *copier, scan bool) (byte, error) {
	for {
		data, err := c.r.ReadSlice(0xff)
		if full := errors.Is(err, bufio.ErrBufferFull); err != nil && !full {
			return 0, c.readError(err)
		} else if !full {
			data = data[:len(data)-1]
		}
		if scan {
			if err := c.write(data); err != nil {
				return 0, err
			}
		}
		if err != nil {
			continue
		}
		marker, err := c.r.ReadByte()
		switch {
		case err != nil:
			return 0, c.readError(err)
		case marker == 0xff: // a byte to fill up
			if err := c.r.UnreadByte(); err != nil {
				return 0, err
			}
		case scan && (marker == 0 || marker >= jpegRST0 && marker < jpegSOI): // belongs to the data
			if err := c.write([]byte{0xff, marker}); err != nil {
				return 0, err
			}
		case marker != 0:
			return marker, nil
		}
	}
}

// jpegMemory returns how many bytes image/jpeg allocates for a frame, and 0 if it does not decode it. A sample takes a
// byte, and its coefficient 4 more if the picture is progressive. RGB and CMYK are then put together as 4 bytes a
// pixel.
func jpegMemory(frame []byte, progressive, rgb bool) float64 {
	components := frame[6:]
	if n := frame[5]; frame[0] != 8 || n != 1 && n != 3 && n != 4 {
		return 0
	}
	height, width := int(binary.BigEndian.Uint16(frame[1:])), int(binary.BigEndian.Uint16(frame[3:]))
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
