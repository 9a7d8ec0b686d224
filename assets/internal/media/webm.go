package media

import "math/bits"

// Elements of WebM.
const (
	webmSegment       = 0x18538067
	webmTracks        = 0x1654ae6b
	webmTrack         = 0xae
	webmTrackType     = 0x83
	webmVideo         = 0xe0
	webmPixelWidth    = 0xb0
	webmPixelHeight   = 0xba
	webmDisplayWidth  = 0x54b0
	webmDisplayHeight = 0x54ba
	webmDisplayUnit   = 0x54b2
	webmAlpha         = 0x53c0
)

// copyWebM copies a WebM, and measures it by the tracks that its first bytes describe.
func copyWebM(c *copier) {
	tracks := map[int]int{}
	webmElements(c.head(maxTake), tracks, 0)
	c.info.Width, c.info.Height, c.info.Alpha = tracks[webmPixelWidth], tracks[webmPixelHeight], tracks[webmAlpha] > 0
	if tracks[webmDisplayUnit] == 0 && tracks[webmDisplayWidth] > 0 && tracks[webmDisplayHeight] > 0 { // in pixels
		c.info.Width, c.info.Height = tracks[webmDisplayWidth], tracks[webmDisplayHeight]
	}
	if tracks[webmTrackType] > 0 && c.info.Width == 0 {
		c.info.Type = Type{"audio/webm", ".webm"}
	}
	c.rest()
}

// webmElements puts the first value of each element in b that may be a number into values. An element has an id, the
// length of its data, and the data: further elements, or a number.
func webmElements(b []byte, values map[int]int, depth int) {
	for depth < 5 { // the file, a segment, tracks, a track, a video
		id, n := ebmlNumber(b)
		length, m := ebmlNumber(from(b, n))
		if n == 0 || m == 0 {
			return
		}
		b = b[n+m:]
		data := b[:min(length&^(1<<(7*m)), len(b))] // without the bit that marks how many bytes the length has
		b = b[len(data):]
		switch id {
		case webmSegment, webmTracks, webmTrack, webmVideo:
			webmElements(data, values, depth+1)
		default:
			if _, ok := values[id]; !ok && len(data) <= 4 {
				values[id] = int(big(data))
			}
		}
	}
}

// ebmlNumber returns the number at the beginning of b, with the bit that marks how many bytes it has, and how many
// these are: zero if b is too short.
func ebmlNumber(b []byte) (number, length int) {
	if len(b) == 0 || b[0] == 0 {
		return 0, 0
	}
	length = bits.LeadingZeros8(b[0]) + 1
	if len(b) < length {
		return 0, 0
	}
	return int(big(b[:length])), length
}
