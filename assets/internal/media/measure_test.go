package media_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/assets/internal/media"
)

// ebml is an element of a WebM.
func ebml(id, data string) string { return concat(id, 0x10, be32(len(data))[1:], data) }

// webmOf is a WebM of these tracks. The lengths of the segment and the cluster are unknown, as browsers record it.
func webmOf(tracks string) string {
	return concat("\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm", strings.Repeat("\xec\x80", 10),
		"\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff", ebml("\x16\x54\xae\x6b", tracks),
		"\x1f\x43\xb6\x75\x01\xff\xff\xff\xff\xff\xff\xff", strings.Repeat("\xa3", 500))
}

func movie(tracks ...string) string {
	return concat(atom("ftyp", "isom", be32(0), "isom"), atom("moov", strings.Join(tracks, "")),
		atom("mdat", "samples"))
}

func TestMeasures(t *testing.T) {
	video := ebml("\x83", "\x01") + ebml("\xe0", ebml("\xb0", "\x02\x80")+ebml("\xba", "\x01\x68"))
	display := ebml("\xe0",
		ebml("\xb0", "\x02\x80")+ebml("\xba", "\x01\x68")+ebml("\x54\xb0", "\x03\x00")+ebml("\x54\xba", "\x02\x00"))
	sound := ebml("\xae", ebml("\x83", "\x02"))
	svg := func(attributes string) string { return "<svg xmlns='http://www.w3.org/2000/svg' " + attributes + "/>" }
	lossy := riffChunk("VP8 ", vp8(48, 32))
	for _, c := range []struct{ name, file, want string }{
		{"JPEG", asJPEG(grey(30, 20)), "30 by 20 image/jpeg"},
		{"JPEG whose height stands behind the scan", strings.Replace(flatJPEG(0xc0, 30, 0, 0x11), "\xff\xd9",
			segment(0xdc, be16(20))+"\xff\xd9", 1), "30 by 20 image/jpeg"},
		{"PNG", asPNG(grey(30, 20)), "30 by 20 image/png"},
		{"PNG with transparency", asPNG(colored(30, 20, true)), "30 by 20 image/png alpha"},
		{"PNG with a transparent color", insert(asPNG(grey(30, 20)), 33, chunk("tRNS", "\x00\x00")),
			"30 by 20 image/png alpha"},
		{"animated PNG", insert(asPNG(grey(30, 20)), 33, chunk("acTL", be32(1)+be32(0))),
			"30 by 20 image/png animated"},
		{"GIF", gifOf(1, ""), "2 by 1 image/gif"},
		{"animated GIF", gifOf(2, ""), "2 by 1 image/gif animated"},
		{"GIF with transparency", gifOf(1, "\x21\xf9\x04\x01\x0a\x00\x00\x00"), "2 by 1 image/gif alpha"},
		{"WebP", riff(lossy), "48 by 32 image/webp"},
		{"WebP without loss", riff(riffChunk("VP8L", vp8l(colored(30, 20, true)))), "30 by 20 image/webp alpha"},
		{"WebP with a header", riff(vp8x(0x10, 300, 200), lossy), "300 by 200 image/webp alpha"},
		{"animated WebP", riff(vp8x(2, 300, 200), riffChunk("ANMF", strings.Repeat("\x00", 16)+lossy)),
			"300 by 200 image/webp animated"},
		{"AVIF", avifOf("xx", "x"), "48 by 64 image/avif"},
		{"AVIF with transparency", strings.Replace(avifOf("xx", "x"), atom("av1C", "configuration   "),
			atom("auxC", ":auxiliary:alpha"), 1), "48 by 64 image/avif alpha"},
		{"animated AVIF", avifOf("xx", "x") + atom("moov", trackOf("pict", "av01")), "48 by 64 image/avif animated"},
		{"MP4 that stands on its side", movie(trackOf("soun", "mp4a"), trackOf("vide", "avc1")),
			"360 by 640 video/mp4"},
		{"MP4 that stands upright",
			strings.Replace(movie(trackOf("vide", "avc1")), be32(0)+be32(1<<16)+be32(0)+be32(-1<<16),
				be32(1<<16)+be32(0)+be32(0)+be32(0), 1), "640 by 360 video/mp4"},
		{"MP4 of sound", movie(trackOf("soun", "mp4a")), "0 by 0 audio/mp4"},
		{"WebM", webmOf(sound + ebml("\xae", video)), "640 by 360 video/webm"},
		{"WebM with a size of display", webmOf(ebml("\xae", display)), "768 by 512 video/webm"},
		{"WebM with a ratio of display",
			webmOf(ebml("\xae", video+ebml("\xe0", ebml("\x54\xb0", "\x10")+ebml("\x54\xba", "\x09")+
				ebml("\x54\xb2", "\x03")))), "640 by 360 video/webm"},
		{"WebM of sound", webmOf(sound), "0 by 0 audio/webm"},
		{"WebM without tracks", webmOf(""), "0 by 0 video/webm"},
		{"SVG", svg("width='30' height=' 20px ' other:width='5'"), "30 by 20 image/svg+xml alpha"},
		{"SVG in units", svg("width='1in' height='3pc'"), "96 by 48 image/svg+xml alpha"},
		{"SVG with a viewBox", svg("viewBox='0,0 30.4, 20'"), "30 by 20 image/svg+xml alpha"},
		{"SVG with a width", svg("width='60' height='100%' viewBox='0 0 30 20'"), "60 by 40 image/svg+xml alpha"},
		{"SVG with a height", svg("width='auto' height='40' viewBox='0 0 30 20'"), "60 by 40 image/svg+xml alpha"},
		{"SVG without a size", svg("width='-3' height='NaN' viewBox='0 0 0 1e999'"), "0 by 0 image/svg+xml alpha"},
		{"SVG without end", svg("width='1e300' height='1e-300'"), "2147483647 by 1 image/svg+xml alpha"},
		{"PDF", "%PDF-1.7", "0 by 0 application/pdf"},
	} {
		cleaned, info, err := clean(t, c.file)
		got := fmt.Sprintf("%d by %d %s", info.Width, info.Height, info.MediaType)
		if info.Alpha {
			got += " alpha"
		}
		if info.Animated {
			got += " animated"
		}
		if got != c.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
		}
		if info.Kind() != "photo" && info.MediaType != "video/mp4" && cleaned != c.file &&
			info.MediaType != "audio/mp4" {
			t.Errorf("%s: it is not as it was sent", c.name)
		}
	}
}

// Files that claim to be large are judged by their headers, in little memory and time.
func TestBombs(t *testing.T) {
	end := chunk("IDAT", "") + chunk("IEND", "")
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	w.Write(make([]byte, 50<<20))
	w.Close()
	boxes := strings.Repeat("\x00\x00\x00\x08junk", 300000)
	deep := ""
	for range 20000 {
		deep = be32(len(deep)+8) + "moov" + deep
	}
	data := atom("mdat", strings.Repeat("x", 300000))
	one := concat(be32(0), 0x44, 0, be16(1), be16(1), be16(0)) // item, in extents of which the number follows
	extents := strings.Repeat(be32(700000)+be32(900), 10000)
	for _, c := range []struct {
		name, file string
		memory     int64 // at least; with -1 the file is damaged
	}{
		{"PNG", pngHeader(100000, 100000, 8, 6, 0) + end, 40e9},
		{"PNG as large as can be", pngHeader(math.MaxInt32, math.MaxInt32, 16, 6, 1) + end, math.MaxInt64},
		{"PNG with a profile that inflates",
			pngHeader(1000, 1, 8, 6, 0) + chunk("iCCP", "x\x00\x00"+deflated.String()) +
				chunk("zTXt", "x\x00\x00"+deflated.String()) + end, 4000},
		{"PNG with a long chunk", pngHeader(1, 1, 8, 6, 0) + "\x7f\xff\xff\xffIDATx", -1},
		{"PNG with too long a chunk", pngHeader(1, 1, 8, 6, 0) + "\xff\xff\xff\xffIDATx", -1},
		{"progressive JPEG of 60 million pixels", flatJPEG(0xc2, 10000, 6000, 0x22, 0x11, 0x11), 60e6 * 1.5 * 5},
		{"JPEG with a frame of no components",
			"\xff\xd8" + segment(0xc0, "\x08\x00\x01\x00\x01\x00") + segment(0xda, "") +
				"\xff\xd9", 0},
		{"JPEG with a sampling of 0", flatJPEG(0xc0, 700, 1, 0x00, 0x11, 0x11)[:0] + "\xff\xd8" +
			segment(0xc0, "\x08\x00\x01\x02\x00\x01\x01\x00\x00") + segment(0xda, "") + "\xff\xd9", 0},
		{"GIF", strings.Replace(gifOf(1, ""), "a\x02\x00\x01\x00", "a\xff\xff\xff\xff", 1), 0},
		{"GIF of short blocks", gifOf(1, "\x21\xfe"+strings.Repeat("\x01x", 500000)+"\x00"), 0},
		{"WebP", riff(vp8x(0, 1<<24, 1<<24), riffChunk("VP8L", "\x2f"+strings.Repeat("\xff", 20))), 1 << 50},
		{"WebP of many chunks", riff(strings.Repeat(riffChunk("junk", ""), 300000), riffChunk("VP8 ", vp8(16, 16))), 0},
		{"WebP of many chunks in a frame", riff(vp8x(2, 1, 1), riffChunk("ANMF", strings.Repeat("\x00", 16)+
			strings.Repeat(riffChunk("junk", ""), 300000))), 0},
		{"WebP with a chunk that is too long", "RIFF\x20\x00\x00\x00WEBPVP8L\xff\xff\xff\x7fxxxxxxxxxxxx", -1},
		{"WebP with a profile that is too long", "RIFF\x20\x00\x00\x00WEBPICCP\x20\x00\x00\x00xxxxxxxxxxxx", -1},
		{"AVIF with extents of no bytes", avifOfItem("av01", concat(be32(1<<24), 0, 0, be16(60000), strings.Repeat(
			concat(be16(1), be16(0), be16(0), be16(65535)), 60000))), 0},
		{"AVIF with extents one over the other", avifOfItem("Exif", concat(one, be16(10000), extents)) + data, 0},
		{"AVIF with too many extents", avifOfItem("Exif", concat(one, be16(20000), extents+extents)) + data, -1},
		{"AVIF with an extent in the header", avifOfItem("Exif", concat(one, be16(1), be32(10), be32(9))), -1},
		{"AVIF with an extent beyond the end", avifOfItem("Exif", concat(one, be16(1), be32(math.MaxInt32), be32(1))),
			0},
		{"AVIF with an extent of no bytes", avifOfItem("Exif", concat(one, be16(1), be32(700000), be32(0))) + data, -1},
		{"AVIF with Exif that is made of another item",
			avifOfItem("Exif", concat(be32(1<<24), 0x44, 0, be16(1), be16(1),
				be16(2), be16(0), be16(1), be32(1), be32(1))), -1},
		{"AVIF with a box meta that is too long", atom("ftyp", "avif", be32(0), "avif") + "\x00\x00\x00\x01meta\x7f" +
			strings.Repeat("\xff", 7), -1},
		{"MP4 of many boxes", movie(trackOf("vide", "avc1"), boxes), 0},
		{"MP4 of many tracks of text", strings.Repeat(movie(strings.Repeat(trackOf("text", "text"), 9000)), 3), 0},
		{"MP4 of many tracks of data", strings.Repeat(movie(strings.Repeat(trackOf("meta", "mebx"), 3000)), 3), 0},
		{"MP4 of deep boxes", atom("ftyp", "isom", be32(0)) + deep, -1},
		{"MP4 with a box that is too long",
			atom("ftyp", "isom", be32(0)) + "\x00\x00\x00\x01moov" + strings.Repeat("\xff", 8), -1},
		{"WebM of deep elements", webmOf(strings.Repeat("\xae\x10\x00\x40\x00", 10000)), 0},
		{"SVG with a long comment", "<svg width='1'><!--" + strings.Repeat("-", 1<<20) + "--></svg>", 0},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		kind, began := typeOf(t, c.file), time.Now()
		var info media.Info
		var err error
		if !kind.Streams() {
			info, err = media.Clean(io.Discard, section(c.file), kind)
		} else {
			info, err = media.CleanStream(io.Discard, strings.NewReader(c.file), kind)
		}
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		if (err != nil) != (c.memory < 0) || info.Memory() < c.memory {
			t.Errorf("%s: %v, needs %d bytes, want %d", c.name, err, info.Memory(), c.memory)
		}
		if peak := int64(after.TotalAlloc - before.TotalAlloc); peak > 32<<20 || took > 10*time.Second {
			t.Errorf("%s: judging it allocated %d bytes and took %s", c.name, peak, took)
		}
	}
}

// What is sent passes in the same memory however much it is.
func TestStreamsInBoundedMemory(t *testing.T) {
	const size = 200 << 20
	head := atom("ftyp", "isom", be32(0)) + atom("moov", trackOf("vide", "avc1")) + be32(size+8) + "mdat"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := media.Clean(io.Discard, io.NewSectionReader(endless(head), 0, int64(len(head))+size), typeOf(t, head))
	if err == nil {
		_, err = media.CleanStream(io.Discard, io.NewSectionReader(endless("%PDF-"), 0, size), typeOf(t, "%PDF-"))
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > 1<<20 {
		t.Errorf("400 MiB: %v, %d bytes allocated, want at most 1 MiB", err, n)
	}
}

// endless is a file with these first bytes.
type endless string

func (e endless) ReadAt(b []byte, at int64) (int, error) {
	copy(b, e[min(at, int64(len(e))):])
	return len(b), nil
}

// What is left of a file stays as it is when it is cleaned again, and its header says enough about decoding.
func FuzzClean(f *testing.F) {
	for _, file := range files() {
		f.Add([]byte(file.file))
	}
	f.Add([]byte(flatJPEG(0xc2, 400, 8, 0x22, 0x11, 0x11)))
	f.Add([]byte(asPNG(colored(400, 8, true))))
	f.Add([]byte(riff(riffChunk("VP8L", vp8l(colored(400, 2, true))))))
	f.Add([]byte(webmOf(ebml("\xae", ebml("\x83", "\x01")))))
	f.Add([]byte(movie(trackOf("meta", "mebx"), trackOf("vide", "avc1"))))
	for _, c := range telemetry() {
		f.Add([]byte(c.file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		kind, err := media.Detect(file[:min(len(file), media.HeadSize)])
		if err != nil {
			return
		}
		cleaned, info, err := clean(t, string(file))
		if err != nil {
			return
		}
		if _, err := media.Detect([]byte(cleaned[:min(len(cleaned), media.HeadSize)])); err != nil {
			t.Fatalf("what is left of %v is of no kind", kind)
		}
		again, _, err := clean(t, cleaned)
		if err != nil || again != cleaned {
			t.Fatalf("cleaned again: %v\n%.500q\n%.500q", err, cleaned, again)
		}
		if memory := info.Memory(); memory > 0 && memory < 4<<20 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			info.Renditions(section(string(file)), func(_ int, encode func(io.Writer) error) error {
				return encode(io.Discard)
			})
			runtime.ReadMemStats(&after)
			if took := int64(after.TotalAlloc - before.TotalAlloc); took > memory {
				t.Errorf("%v: allocated %d bytes, counted %d", info, took, memory)
			}
		}
	})
}
