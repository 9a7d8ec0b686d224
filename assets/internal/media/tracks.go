package media

import (
	"cmp"
	"io"
	"regexp"
	"slices"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// A movie with a larger box moov, and with more chunks of samples, is taken if all of its tracks are played.
const (
	maxMovie  = 2 << 20
	maxChunks = 1 << 14
)

// tracksText are the kinds of tracks that have text. Drones write where they are into such a track.
var tracksText = []string{"text", "sbtl", "subt"}

// positions matches a place in text, such as "GPS (11.2371, 43.7702, 19)", "[latitude: 43.7702]", and "$GPRMC,".
var positions = regexp.MustCompile(`(?i)(gps|latitude|longitude)\W{0,4}[nsew]?\W{0,3}\d|\$G[A-Z]{4},`)

// movie finds the tracks of an MP4 or an AVIF that do not stay, and their samples.
type movie struct {
	r          *io.SectionReader
	keep, gone []patch // samples of tracks that stay, with the boxes around samples; and samples of the others
	heads      []patch // the boxes of tracks that do not stay
	text       int64   // bytes of text that were searched for positions
	buffer     []byte  // for them
	unclear    bool    // it is not known where all samples are
}

// moviePatches returns what to overwrite of a movie, in order and without overlaps: tracks that do not stay become
// boxes free with zeros, and their samples zeros.
func moviePatches(c *copier, r *io.SectionReader) []patch {
	m := movie{r: r, buffer: make([]byte, maxTake)}
	for at := int64(0); at+8 <= r.Size(); {
		head := make([]byte, min(16, r.Size()-at))
		_, err := r.ReadAt(head, at)
		kind, header, size := boxHead(head)
		if size == 0 {
			size = r.Size() - at
		}
		if size < header || size > r.Size()-at {
			break
		}
		kept := patch{from: at, to: at + size}
		if kind == "mdat" {
			kept.to = at + header
		}
		m.add(&m.keep, kept)
		if kind == "moov" {
			moov := make([]byte, min(size, maxMovie))
			_, err = r.ReadAt(moov, at)
			m.tracks(moov, at, int(header))
		}
		m.unclear = m.unclear || kind == "moof" || kind == "moov" && size > maxMovie // or samples are in fragments
		if err != nil && err != io.EOF {
			c.fail(err)
		}
		at += size
	}
	if len(m.heads) == 0 {
		return nil
	}
	m.gone = inOrder(m.gone)
	for _, p := range m.keep {
		i, _ := slices.BinarySearchFunc(m.gone, p.from+1, func(g patch, from int64) int {
			return cmp.Compare(g.to, from)
		})
		m.unclear = m.unclear || i < len(m.gone) && m.gone[i].from < p.to
	}
	if m.unclear {
		c.fail(errTrack)
	}
	return inOrder(append(m.gone, m.heads...))
}

var errTrack = fault.NotApplicable("", "the video has a track of data, which may tell where it was taken, and it is "+
	"unclear which bytes belong to it: export it with pictures and sound alone")

// inOrder sorts patches, and joins those that overlap.
func inOrder(patches []patch) []patch {
	slices.SortFunc(patches, func(a, b patch) int { return cmp.Compare(a.from, b.from) })
	merged := patches[:0]
	for _, p := range patches {
		if last := len(merged) - 1; last >= 0 && p.from < merged[last].to {
			merged[last].to = max(merged[last].to, p.to)
		} else {
			merged = append(merged, p)
		}
	}
	return merged
}

// add adds a place of the file to a list.
func (m *movie) add(list *[]patch, p patch) {
	if p.from < 0 || p.to < p.from || p.to > m.r.Size() || len(*list) > maxChunks {
		m.unclear = true
	} else if p.from < p.to {
		*list = append(*list, p)
	}
}

// tracks reads a box moov, which begins at the offset, and its content at header.
func (m *movie) tracks(moov []byte, offset int64, header int) {
	for b := range boxesIn(moov[header:]) {
		handler := from(boxIn(b.body, "mdia", "hdlr").body, 8)
		if b.kind != "trak" || len(handler) < 4 {
			continue
		}
		samples, ok := chunks(boxIn(b.body, "mdia", "minf", "stbl").body)
		m.unclear = m.unclear || !ok
		list, kind := &m.keep, string(handler[:4])
		if !slices.Contains(tracksKept, kind) || slices.Contains(tracksText, kind) && m.tells(samples) {
			list = &m.gone
			head := slices.Clone(moov[header+b.at-b.header : header+b.at])
			copy(head[4:], "free")
			at := offset + int64(header+b.at)
			m.heads = append(m.heads, patch{at - int64(b.header), at + int64(len(b.body)), head})
		}
		for _, p := range samples {
			m.add(list, p)
		}
	}
}

// tells reports whether there are positions in samples of text. Samples that lie one over the other count as such.
func (m *movie) tells(samples []patch) bool {
	for _, p := range samples {
		for n := 0; p.from < p.to; p.from += int64(n) {
			if n, _ = m.r.ReadAt(m.buffer[:min(maxTake, p.to-p.from)], p.from); n == 0 {
				break // behind the end
			}
			if m.text += int64(n); m.text > m.r.Size() || positions.Match(m.buffer[:n]) {
				return true
			}
		}
	}
	return false
}

// chunks returns where the samples of a track are, by its box stbl. They follow each other in chunks. ok is false if
// the tables do not fit each other.
func chunks(stbl []byte) (all []patch, ok bool) {
	sizes := fields{b: from(boxIn(stbl, "stsz").body, 4)}
	each, bits := sizes.next(4), int64(32)
	if stz2 := boxIn(stbl, "stz2").body; stz2 != nil {
		sizes.b = from(stz2, 4)
		each, bits = 0, sizes.next(4)&0xff
	}
	samples := sizes.next(4)
	if each == 0 && (!slices.Contains([]int64{4, 8, 16, 32}, bits) || samples*bits > int64(len(sizes.b))*8) {
		return nil, false
	}
	runs := fields{b: from(boxIn(stbl, "stsc").body, 8)} // of chunks with as many samples
	offsets, width := fields{b: from(boxIn(stbl, "stco").body, 4)}, 4
	if co64 := boxIn(stbl, "co64").body; co64 != nil {
		offsets.b, width = from(co64, 4), 8
	}
	inEach, first := int64(0), runs.next(4)
	for n, chunk, sample := offsets.next(4), int64(1), int64(0); chunk <= n && sample < samples; chunk++ {
		if chunk == first {
			inEach = runs.next(4)
			runs.next(4)
			first = runs.next(4)
		}
		p := patch{from: offsets.next(width)}
		if offsets.short || len(all) == maxChunks {
			return all, false
		}
		end := min(samples, sample+inEach)
		p.to = p.from + each*(end-sample)
		for ; each == 0 && sample < end; sample++ {
			at := sample * bits
			size := big(sizes.b[at/8 : (at+bits+7)/8])
			if bits == 4 {
				size = size >> (4 - at%8) & 15
			}
			p.to += size
		}
		sample = end
		all = append(all, p)
		ok = sample == samples
	}
	return all, ok || samples == 0
}
