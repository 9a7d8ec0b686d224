package media

import (
	"bytes"
	"io"
	"slices"
)

// avifImages are the types of items that show a picture: coded ones, and those that are made of others.
var avifImages = []string{"av01", "grid", "iovl", "iden", "tmap"}

// maxAVIFMeta is how many bytes the box meta of an AVIF may have. It lists the items, and is read into memory.
const maxAVIFMeta = 1 << 20

// maxAVIFPatches is how many places of an AVIF are overwritten at most.
const maxAVIFPatches = 1 << 14

// emptyExif takes the place of Exif: an offset, and a block without entries. Decoders want at least that.
var emptyExif = []byte("\x00\x00\x00\x00MM\x00*\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00")

// patch is a place of a file that is overwritten: with data, and with zeros behind these.
type patch struct {
	from, to int64
	data     []byte
}

// cleanAVIF keeps the boxes that show the picture, and of the items in them the images. The bytes of other items, such
// as Exif and XMP, are overwritten where they are, so that nothing moves.
func cleanAVIF(w io.Writer, r *io.SectionReader) (Info, error) {
	meta, at, err := avifMeta(r)
	if err != nil {
		return Info{}, err
	}
	source := &patchReader{r: r}
	c := newCopier("AVIF", w, source)
	source.patches = inOrder(append(avifPatches(c, meta, at, r.Size()), moviePatches(c, r)...))
	b := boxCopy{copier: c, image: true}
	b.boxes(-1, 0)
	if width, height := avifSize(meta); width > 0 {
		c.info.Width, c.info.Height = width, height
	}
	c.info.Animated = b.movie
	c.info.Alpha = bytes.Contains(boxIn(meta, "iprp", "ipco").body, []byte("auxiliary:alpha"))
	return c.done()
}

// avifMeta returns the content of the box meta, and its offset in the file. The content is nil if there is no such box
// near the beginning.
func avifMeta(r *io.SectionReader) (meta []byte, at int64, err error) {
	head := make([]byte, 16)
	for range 16 {
		if _, err := r.ReadAt(head, at); err != nil && err != io.EOF {
			return nil, 0, err
		}
		kind, header, size := boxHead(head)
		if size < header+4 || size > r.Size()-at {
			break
		}
		if header += 4; kind == "meta" && size <= maxAVIFMeta { // with a version
			meta := make([]byte, size-header)
			_, err := io.ReadFull(io.NewSectionReader(r, at+header, size-header), meta)
			return meta, at + header, err
		}
		at += size
	}
	return nil, 0, nil
}

// avifPatches returns what to overwrite of a file: all items that are not images.
func avifPatches(c *copier, meta []byte, at, size int64) []patch {
	if meta == nil {
		c.damaged("want a box meta of up to 1 MiB near the beginning")
	}
	kinds := map[int64]string{} // of items, by their ids
	iinf := fields{b: boxIn(meta, "iinf").body}
	iinf.next(idSize(iinf.versionAndFlags()>>24 > 0)) // how many items there are
	for item := range boxesIn(iinf.b) {
		infe := fields{b: item.body}
		version := infe.versionAndFlags() >> 24
		id := infe.next(idSize(version > 2))
		infe.next(2)
		if version >= 2 {
			kinds[id] = string(infe.b[:min(4, len(infe.b))])
		}
	}
	idat := boxIn(meta, "idat")
	iloc := fields{b: boxIn(meta, "iloc").body}
	version := iloc.versionAndFlags() >> 24
	sizes := int(iloc.next(2)) // of offsets, lengths, base offsets and indices, four bits each
	offsets, lengths, bases, indices := sizes>>12, sizes>>8&15, sizes>>4&15, sizes&15
	if version == 0 {
		indices = 0
	}
	var patches []patch
	for items := iloc.next(idSize(version > 1)); items > 0 && !iloc.short; items-- {
		id, method := iloc.next(idSize(version > 1)), int64(0)
		if version > 0 {
			method = iloc.next(2) & 15
		}
		iloc.next(2) // the file that has the data
		base, extents := iloc.next(bases), iloc.next(2)
		image := slices.Contains(avifImages, kinds[id])
		if method > 1 && !image {
			c.damaged("an item that is no image is made of other items")
		}
		if indices+offsets+lengths == 0 {
			extents = min(extents, 1) // all would be the same
		}
		var data []byte
		if kinds[id] == "Exif" {
			data = emptyExif
		}
		for ; extents > 0 && !iloc.short; extents-- {
			iloc.next(indices)
			start, length := base+iloc.next(offsets), iloc.next(lengths)
			if image {
				continue
			}
			begin, limit := at+int64(len(meta)), size // behind the box meta, or in its box idat
			if method == 1 {
				begin, limit = at+int64(idat.at), at+int64(idat.at+len(idat.body))
				start += begin
			}
			if start < begin || length < 1 || len(patches) == maxAVIFPatches {
				c.damaged("items that are no images have no bytes, or stand in headers, or in too many places")
				return nil
			}
			if length = min(length, limit-start); length <= 0 { // it begins beyond the end
				continue
			}
			n := min(length, int64(len(data)))
			patches = append(patches, patch{start, start + length, data[:n]})
			data = data[n:]
		}
	}
	if iloc.short {
		c.damaged("the box iloc, which says where items are, ends early")
	}
	return patches
}

// avifSize returns width and height of the primary item, upright.
func avifSize(meta []byte) (int, int) {
	pitm := fields{b: boxIn(meta, "pitm").body}
	primary := pitm.next(idSize(pitm.versionAndFlags()>>24 > 0))
	ipma := fields{b: boxIn(meta, "iprp", "ipma").body}
	head := ipma.versionAndFlags()
	var properties []int64 // of the primary item, counted from 1
	for items := ipma.next(4); items > 0 && !ipma.short && properties == nil; items-- {
		id := ipma.next(idSize(head>>24 > 0))
		for count := ipma.next(1); count > 0; count-- {
			property := ipma.next(1) & 0x7f // the highest bit says that decoders must know it
			if head&1 == 1 {
				property = property<<8 | ipma.next(1)
			}
			if id == primary {
				properties = append(properties, property)
			}
		}
	}
	var measures [2]int
	var turned bool
	number := int64(0)
	for property := range boxesIn(boxIn(meta, "iprp", "ipco").body) {
		if number++; !slices.Contains(properties, number) {
			continue
		}
		f := fields{b: property.body}
		switch property.kind {
		case "ispe":
			f.versionAndFlags()
			measures = [2]int{int(f.next(4)), int(f.next(4))}
		case "irot": // by so many quarters
			turned = f.next(1)&1 == 1
		}
	}
	if turned {
		return measures[1], measures[0]
	}
	return measures[0], measures[1]
}

// fields reads the fields of a box. Behind the end they are zero, and short is set.
type fields struct {
	b     []byte
	short bool
}

func (f *fields) versionAndFlags() int64 { return f.next(4) }

// next reads a number of n bytes.
func (f *fields) next(n int) int64 {
	if len(f.b) < n {
		f.b, f.short = nil, true
		return 0
	}
	b := f.b[:n]
	f.b = f.b[n:]
	return big(b)
}

// idSize returns how many bytes the id of an item or a count has, of which a box has two kinds.
func idSize(wide bool) int {
	if wide {
		return 4
	}
	return 2
}

// patchReader reads a file with its patches.
type patchReader struct {
	r       io.Reader
	at      int64
	patches []patch // in order, without overlaps
}

func (p *patchReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	end := p.at + int64(n)
	for len(p.patches) > 0 && p.patches[0].from < end {
		next := p.patches[0]
		from, to := max(next.from, p.at), min(next.to, end)
		if from < to {
			place := b[from-p.at : to-p.at]
			clear(place)
			copy(place, next.data[min(from-next.from, int64(len(next.data))):])
		}
		if next.to > end {
			break
		}
		p.patches = p.patches[1:]
	}
	p.at = end
	return n, err
}
