package media

import (
	"encoding/binary"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
)

// MP4 and AVIF consist of boxes: four bytes of length, which counts these, four of kind, and what is in the box, which
// may be boxes. The length 1 stands for one of eight bytes behind the kind, and 0 for the rest of the file.

// boxParents are the boxes that hold boxes, with the number of bytes before these.
var boxParents = map[string]int64{"moov": 0, "trak": 0, "mdia": 0, "minf": 0, "stbl": 0, "edts": 0, "dinf": 0,
	"mvex": 0, "moof": 0, "traf": 0, "mfra": 0, "meta": 4}

// boxesKept are the boxes that stay: what is played or shown, and where it is. Others, such as udta and uuid, do not.
var boxesKept = strings.Fields(`ftyp styp pdin mdat sidx ssix prft mvhd iods tkhd tref tapt load elst mdhd hdlr elng
	vmhd smhd hmhd nmhd sthd gmhd dref stsd stts ctts cslg stsc stsz stz2 stco co64 stss stsh padb stdp sdtp sbgp sgpd
	subs saiz saio mehd trex trep leva mfhd tfhd trun tfdt senc pssh tfra mfro pitm iinf iloc iref iprp idat grpl`)

// tracksKept are the kinds of tracks that are played: pictures, sound, subtitles; and those of an animated AVIF. Others
// tell of place and camera.
var tracksKept = strings.Fields("vide soun text sbtl subt clcp pict auxv")

// boxCopy copies the boxes that stay. What is between these becomes a box free with zeros, so that nothing moves; at
// the end of the file it is left out.
type boxCopy struct {
	*copier
	image    bool // the file is an AVIF, whose box meta shows the picture
	items    bool // there was a box meta
	movie    bool // there is a box moov, which says what there is to play
	data     bool // there is a box mdat, which has it
	video    bool // there is a track of pictures
	sound    bool
	pictures bool // the present track is one of pictures
}

// cleanMP4 keeps the boxes that are played.
func cleanMP4(w io.Writer, r *io.SectionReader) (Info, error) {
	source := &patchReader{r: r}
	c := newCopier("MP4", w, source)
	source.patches = moviePatches(c, r)
	b := boxCopy{copier: c}
	b.boxes(-1, 0)
	if !b.movie || !b.data {
		c.damaged("want a box moov, which says what there is to play, and a box mdat, which has it")
	}
	if b.sound && !b.video {
		c.info.Type = m4aType
	}
	return c.done()
}

// boxes copies the boxes in the next rest bytes, and in the rest of the file if rest is negative.
func (b *boxCopy) boxes(rest int64, depth int) {
	if depth > 8 {
		b.damaged("its boxes are nested more than 8 deep")
	}
	free := int64(0) // bytes before the next box that are left out
	for b.err == nil && (rest < 0 || rest >= 8) {
		head := b.head(16)
		if rest < 0 && len(head) < 8 {
			return
		}
		kind, header, size := boxHead(b.peek(max(8, len(head))))
		keep := slices.Contains(boxesKept, kind)
		before, parent := boxParents[kind]
		header += before
		toEnd := size == 0 && rest < 0
		if !toEnd && (size < header || rest >= 0 && size > rest) {
			b.damaged("the box %q has a length of %d bytes", kind, size)
			return
		}
		if rest >= 0 {
			rest -= size
		}
		switch kind {
		case "meta":
			parent = b.image && depth == 0 && !b.items
			b.items = true
		case "trak":
			parent = depth == 1 && b.track(size)
		case "moov":
			b.movie = true
		case "mdat":
			b.data = true
		}
		if !keep && !parent {
			_, err := io.CopyN(io.Discard, b.r, size)
			if rest < 0 && err == io.EOF || toEnd { // it may be no box at all
				return
			}
			b.fail(err)
			free += size
			continue
		}
		b.free(free)
		free = 0
		switch {
		case parent && toEnd:
			b.copy(header)
			b.boxes(-1, depth+1)
		case parent:
			b.copy(header)
			b.boxes(size-header, depth+1)
		case toEnd:
			b.rest()
		case kind == "hdlr" && size > header+24: // a name at the end, which may be that of a camera
			b.copy(header + 24)
			b.blank(size - header - 24)
		case kind == "stsd" && b.pictures && size >= header+90: // the name of an encoder, which may be that of a camera
			b.copy(header + 58)
			b.blank(32)
			b.copy(size - header - 90)
		default:
			b.copy(size)
		}
	}
	b.free(free)
	b.blank(max(0, rest))
}

// free writes a box free of this size.
func (b *boxCopy) free(size int64) {
	head := append(binary.BigEndian.AppendUint32(nil, uint32(size)), "free"...)
	if size > math.MaxUint32 {
		binary.BigEndian.PutUint32(head, 1)
		head = binary.BigEndian.AppendUint64(head, uint64(size))
	}
	if size > 0 {
		b.write(head)
		b.zeros(size - int64(len(head)))
	}
}

// track reads the kind of a track, and its size. Both are in the beginning of the box.
func (b *boxCopy) track(size int64) bool {
	trak := boxIn(b.head(int(min(size, maxTake))), "trak").body
	handler := from(boxIn(trak, "mdia", "hdlr").body, 8)
	if len(handler) < 4 {
		b.damaged("a track does not say of what kind it is")
		return false
	}
	kind := string(handler[:4])
	if !slices.Contains(tracksKept, kind) { // the others have been overwritten, but in a box that is too long
		b.fail(errTrack)
		return false
	}
	b.pictures = kind == "vide"
	b.video, b.sound = b.video || b.pictures, b.sound || kind == "soun"
	if tkhd := boxIn(trak, "tkhd").body; kind == "vide" && b.info.Width == 0 && len(tkhd) >= 84 {
		// At the end are a matrix of nine numbers, and width and height with 16 bits of fraction each.
		matrix, measures := tkhd[len(tkhd)-44:], tkhd[len(tkhd)-8:]
		b.info.Width = int(big(measures[:2]))
		b.info.Height = int(big(measures[4:6]))
		if big(matrix[:4]) == 0 && big(matrix[4:8]) != 0 { // a quarter turn
			b.info.Width, b.info.Height = b.info.Height, b.info.Width
		}
	}
	return true
}

// boxHead returns what b, of 8 bytes or more, says of the box that it begins with: its kind, and the lengths of its
// header and of the whole box.
func boxHead(b []byte) (kind string, header, size int64) {
	kind, header, size = string(b[4:8]), 8, big(b[:4])
	if size == 1 && len(b) >= 16 {
		header, size = 16, big(b[8:16])
	}
	return kind, header, size
}

// box is a box in memory.
type box struct {
	kind   string
	header int    // its length
	at     int    // where the body begins
	body   []byte // without what is missing at the end
}

// boxesIn returns the boxes of b, which follow each other.
func boxesIn(b []byte) iter.Seq[box] {
	return func(yield func(box) bool) {
		for at := 0; at+8 <= len(b); {
			kind, header, size := boxHead(b[at:])
			if size == 0 {
				size = int64(len(b) - at)
			}
			if size < header {
				return
			}
			begin, end := at+int(header), at+int(min(size, int64(len(b)-at)))
			if !yield(box{kind, int(header), begin, b[min(begin, end):end]}) {
				return
			}
			at = end
		}
	}
}

// boxIn returns the first box of this path in b, of which each part is in the one before. It is empty if there is none.
func boxIn(b []byte, path ...string) (found box) {
	found.body = b
	for _, kind := range path {
		next := box{}
		for child := range boxesIn(found.body) {
			if child.kind == kind {
				next = child
				next.at += found.at
				break
			}
		}
		found = next
	}
	return found
}
