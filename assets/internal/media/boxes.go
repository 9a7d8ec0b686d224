package media

import (
	"bytes"
	"encoding/binary"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/fault"
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

// tracksKept are the kinds of tracks that are played: pictures, sound, subtitles. Others tell of place and camera.
var tracksKept = []string{"vide", "soun", "text", "sbtl", "subt", "clcp"}

// trackPositions are the formats of tracks that have positions: of GoPro, of Google's cameras, of Sony, of DJI.
var trackPositions = []string{"gpmd", "camm", "rtmd", "djmd"}

// boxCopy copies the boxes that stay. What is between these becomes a box free with zeros, so that nothing moves; at
// the end of the file it is left out.
type boxCopy struct {
	*copier
	image  bool // the file is an AVIF, whose box meta shows the picture
	info   Info
	items  bool     // there was a box meta
	movie  bool     // there is a box moov, which says what there is to play
	data   bool     // there is a box mdat, which has it
	tracks []string // the kinds of those that stay
}

// cleanMP4 keeps the boxes that are played. The samples of tracks that do not stay are left in the data, where nothing
// refers to them any more. A file in which they are positions is refused: where they are is often known only when the
// data have passed.
func cleanMP4(c *copier) (Info, error) {
	b := boxCopy{copier: c, info: Info{Orientation: 1}}
	if err := b.boxes(-1, 0); err != nil {
		return b.info, err
	}
	if !b.movie || !b.data {
		return b.info, c.damaged("want a box moov, which says what there is to play, and a box mdat, which has it")
	}
	if !slices.Contains(b.tracks, "vide") && slices.Contains(b.tracks, "soun") {
		b.info.Type = m4aType
	}
	return b.info, nil
}

// boxes copies the boxes in the next rest bytes, and in the rest of the file if rest is negative.
func (b *boxCopy) boxes(rest int64, depth int) error {
	if depth > 8 {
		return b.damaged("its boxes are nested more than 8 deep")
	}
	for free := int64(0); ; { // free is how many bytes before this box are left out
		head, err := b.r.Peek(16)
		if err != nil && err != io.EOF {
			return err
		}
		if rest < 0 && len(head) < 8 {
			return nil
		}
		if rest >= 0 && rest < 8 {
			return b.free(free, rest)
		}
		if len(head) < 8 {
			return b.readError(err)
		}
		kind, header, size := string(head[4:8]), int64(8), int64(binary.BigEndian.Uint32(head))
		if size == 1 && len(head) == 16 {
			header, size = 16, int64(binary.BigEndian.Uint64(head[8:]))
		}
		toEnd := size == 0 && rest < 0
		if !toEnd && (size < header || rest >= 0 && size > rest) {
			return b.damaged("the box %q has a length of %d bytes", kind, size)
		}
		keep := slices.Contains(boxesKept, kind)
		before, parent := boxParents[kind]
		switch kind {
		case "meta":
			parent = b.image && depth == 0 && !b.items
			b.items = true
		case "trak":
			if parent, err = b.track(header, size); err != nil {
				return err
			}
		case "moov":
			b.movie = true
		case "mdat":
			b.data = true
		}
		if !keep && !parent {
			if toEnd {
				return nil
			}
			if err := b.skip(size); rest < 0 && b.atEnd() { // what is not a box is left out, too
				return nil
			} else if err != nil {
				return err
			}
			free += size
		} else {
			if err := b.free(free, 0); err != nil {
				return err
			}
			free = 0
			if err := b.box(kind, parent, header+before, size, toEnd, depth); err != nil || toEnd {
				return err
			}
		}
		if rest >= 0 {
			rest -= size
		}
	}
}

// atEnd reports whether there is nothing more in the file.
func (b *boxCopy) atEnd() bool {
	_, err := b.r.Peek(1)
	return err == io.EOF
}

// box copies a box that stays. Its header has the length of the box and its kind, and what stands before boxes in it.
func (b *boxCopy) box(kind string, parent bool, header, size int64, toEnd bool, depth int) error {
	rest := size - header
	switch {
	case toEnd && !parent:
		_, err := io.Copy(b.w, b.r)
		return err
	case toEnd:
		rest = -1
	case rest < 0:
		return b.damaged("the box %q has a length of %d bytes", kind, size)
	}
	if kind == "hdlr" && rest > 24 { // a name behind 24 bytes, which may be that of a camera
		if err := b.copy(header + 24); err != nil {
			return err
		}
		return b.blank(rest - 24)
	}
	if !parent {
		return b.copy(size)
	}
	if err := b.copy(header); err != nil {
		return err
	}
	return b.boxes(rest, depth+1)
}

// free writes a box free of this size, and further zeros.
func (b *boxCopy) free(size, more int64) error {
	head := binary.BigEndian.AppendUint32(nil, uint32(size))
	head = append(head, "free"...)
	if size > math.MaxUint32 {
		binary.BigEndian.PutUint32(head, 1)
		head = binary.BigEndian.AppendUint64(head, uint64(size))
	}
	if size == 0 {
		head = nil
	}
	if err := b.skip(more); err != nil {
		return err
	}
	if err := b.write(head); err != nil {
		return err
	}
	return b.zeros(size + more - int64(len(head)))
}

// track reports whether a track stays, and measures it. What says so stands at the beginning of the box.
func (b *boxCopy) track(header, size int64) (keep bool, err error) {
	trak, err := b.r.Peek(int(min(size, maxTake)))
	if err != nil && err != io.EOF {
		return false, err
	}
	trak = from(trak, int(header))
	handler := from(boxIn(trak, "mdia", "hdlr").body, 8)
	if len(handler) < 4 {
		return false, b.damaged("a track does not say of what kind it is")
	}
	kind, format := string(handler[:4]), from(boxIn(trak, "mdia", "minf", "stbl", "stsd").body, 12)
	if !slices.Contains(tracksKept, kind) {
		if hasPrefix(format, trackPositions...) || hasPrefix(format, "mebx") &&
			bytes.Contains(format, []byte("location")) {
			return false,
				fault.NotApplicable("", "the video has a track %q that tells where it was taken, and cannot be "+
					"cleaned of it: export it with pictures and sound alone", format[:4])
		}
		return false, nil
	}
	b.tracks = append(b.tracks, kind)
	if tkhd := boxIn(trak, "tkhd").body; kind == "vide" && b.info.Width == 0 && len(tkhd) >= 84 {
		// At the end are a matrix of nine numbers, then width and height with 16 bits of fraction.
		matrix, measures := tkhd[len(tkhd)-44:], tkhd[len(tkhd)-8:]
		b.info.Width = int(binary.BigEndian.Uint16(measures))
		b.info.Height = int(binary.BigEndian.Uint16(measures[4:]))
		if number := binary.BigEndian.Uint32; number(matrix) == 0 && number(matrix[4:]) != 0 { // a quarter turn
			b.info.Width, b.info.Height = b.info.Height, b.info.Width
		}
	}
	return true, nil
}

// box is a box in memory.
type box struct {
	kind string
	at   int    // where the body begins
	body []byte // without what is missing at the end
}

// boxesIn returns the boxes that stand in b one behind the other.
func boxesIn(b []byte) iter.Seq[box] {
	return func(yield func(box) bool) {
		for at := 0; at+8 <= len(b); {
			header, size := 8, uint64(binary.BigEndian.Uint32(b[at:]))
			switch {
			case size == 0:
				size = uint64(len(b) - at)
			case size == 1 && at+16 <= len(b):
				header, size = 16, binary.BigEndian.Uint64(b[at+8:])
			}
			if size < uint64(header) {
				return
			}
			end := at + int(min(size, uint64(len(b)-at)))
			if !yield(box{string(b[at+4 : at+8]), at + header, b[min(at+header, end):end]}) {
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
