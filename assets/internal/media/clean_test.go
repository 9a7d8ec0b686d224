package media_test

import (
	"encoding/binary"
	"errors"
	"image"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	_ "golang.org/x/image/webp"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets/internal/media"
)

// files are files with secrets, and what is left of them.
func files() []struct{ name, file, want string } {
	plain := asJPEG(colored(40, 30, false))
	start := func(segments ...string) string { return insert(plain, 2, strings.Join(segments, "")) }
	end := func(segments string) string { return insert(plain, len(plain)-2, segments) }
	app1 := func(tiff string) string { return segment(0xe1, "Exif\x00\x00"+tiff) }
	upright := exif(binary.BigEndian, 1)
	jfif := "JFIF\x00\x01\x02\x01\x00\x48\x00\x48"
	icc := "ICC_PROFILE\x00\x01\x01" + strings.Repeat("p", 40) + "RGB "
	adobe := "Adobe\x00\x64\x00\x00\x00\x00\x01"
	xmp := "http://ns.adobe.com/xap/1.0/\x00" + secret
	film := concat(atom("ftyp", "mp42"), atom("moov", secret))

	blank := asPNG(colored(20, 10, true))
	pngStart := func(chunks ...string) string { return insert(blank, 33, strings.Join(chunks, "")) }
	pngEnd := func(chunks ...string) string { return insert(blank, len(blank)-12, strings.Join(chunks, "")) }
	shown := concat(chunk("gAMA", be32(45455)), chunk("cHRM", strings.Repeat("\x00", 32)), chunk("sRGB", "\x00"),
		chunk("cICP", "\x01\x0d\x00\x01"), chunk("iCCP", "name\x00\x00data"), chunk("sBIT", "\x08\x08\x08\x08"),
		chunk("pHYs", strings.Repeat("\x01", 9)), chunk("bKGD", "\x00\x00\x00\x00\x00\x00"),
		chunk("acTL", be32(1)+be32(0)), chunk("fcTL", strings.Repeat("\x00", 26)))

	control, loop := "\x21\xf9\x04\x01\x0a\x00\x00\x00", "\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
	block := string(rune(len(secret))) + secret + "\x00"

	lossy := riffChunk("VP8 ", vp8(32, 16))
	frame := func(chunks string) string {
		return riffChunk("ANMF", strings.Repeat("\x00", 16)+riffChunk("VP8 ", vp8(32, 16))+chunks)
	}
	anim := riffChunk("ANIM", strings.Repeat("\x00", 6))

	exifItem := be32(0) + upright
	noExif := "\x00\x00\x00\x00MM\x00*\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00"
	noExif += strings.Repeat("\x00", len(exifItem)-len(noExif))
	blankAVIF := avifOf(noExif, strings.Repeat("\x00", len(secret)))

	behind := func(at int) string { // an item that begins at the end of what stays
		return avifOfItem("Exif", concat(be32(0), 0x44, 0, be16(1), be16(1), be16(0), be16(1), be32(at), be32(9)))
	}
	movie := func(hidden, after string) string {
		return concat(atom("ftyp", "isom", be32(0), "isom"), hidden, atom("moov", atom("mvhd", "times"), hidden,
			trackOf("vide", "avc1", hidden), trackOf("soun", "mp4a")), atom("mdat", "samples"), after)
	}
	hidden := concat(atom("udta", atom("\xa9xyz", secret)), atom("meta", secret), atom("uuid", secret),
		atom("free", secret), atom("XMP_", secret))
	free := atom("free", strings.Repeat("\x00", len(hidden)-8))
	meta := trackOf("meta", "mebx", secret)

	// Each of two tracks has something at the place of the name of an encoder.
	encoded := concat(atom("ftyp", "isom", be32(0)), atom("moov",
		trackOf("vide", "avc1"+strings.Repeat("\x00", 42)+strings.Repeat("e", 32)+"depth"),
		trackOf("soun", "mp4a"+strings.Repeat("\x01", 99))), atom("mdat", "samples"))
	noName := "soun" + strings.Repeat("\x00", 12+len(secret))

	return []struct{ name, file, want string }{
		{"JPEG", plain, plain},
		{"JPEG: Exif", start(app1(exif(binary.BigEndian, 0))), plain},
		{"JPEG: Exif in the other order", start(app1(exif(binary.LittleEndian, 1))), plain},
		{"JPEG: several blocks of Exif", start(app1(upright), app1(exif(binary.BigEndian, 6))), plain},
		{"JPEG: Exif behind the scan", end(app1(exif(binary.BigEndian, 6))), plain},
		{"JPEG: Exif that is broken", start(app1("MM\x00*\xff\xff\xff\xff" + secret)), plain},
		{"JPEG: XMP", start(segment(0xe1, xmp), segment(0xe1, "http://ns.adobe.com/xmp/extension/\x00"+secret)), plain},
		{"JPEG: IPTC", start(segment(0xed, "Photoshop 3.0\x00"+secret)), plain},
		{"JPEG: comment", start(segment(0xfe, secret)), plain},
		{"JPEG: comment behind the scan", end(segment(0xfe, secret)), plain},
		{"JPEG: a further picture", start(segment(0xe2, "MPF\x00"+secret)) + start(app1(upright)), plain},
		{"JPEG: motion photo", plain + film, plain},
		{"JPEG: other segments", start(segment(0xe2, "FPXR\x00"+secret), segment(0xe0, "JFXX\x00"+secret),
			segment(0xe3, secret), segment(0xef, secret), segment(0xf0, secret), segment(0xde, secret)), plain},
		{"JPEG: bytes between segments", start(segment(0xfe, ""), secret, "\xff\xff\xff\x01"), plain},
		{"JPEG: thumbnail of JFIF", start(segment(0xe0, jfif+"\x09\x01"+secret)),
			start(segment(0xe0, jfif+"\x00\x00"))},
		{"JPEG: what is shown", start(segment(0xee, adobe+secret), segment(0xe2, icc)),
			start(segment(0xee, adobe), segment(0xe2, icc))},
		{"PNG", blank, blank},
		{"PNG: text, times, Exif, unknown",
			pngStart(chunk("tEXt", secret), chunk("zTXt", secret), chunk("iTXt", secret),
				chunk("tIME", secret), chunk("eXIf", upright), chunk("caBX", secret), chunk("prVw", secret)), blank},
		{"PNG: the same behind the pixels", pngEnd(chunk("iTXt", secret), chunk("eXIf", upright)), blank},
		{"PNG: bytes behind the end", blank + secret, blank},
		{"PNG: what is shown", pngStart(shown, chunk("tEXt", secret)) + secret, pngStart(shown)},
		{"GIF", gifOf(2, control), gifOf(2, control)},
		{"GIF: comment, XMP, text",
			gifOf(1, "\x21\xfe"+block+"\x21\xff\x0bXMP DataXMP"+block+"\x21\x01\x0c"+secret[:12]+block),
			gifOf(1, "")},
		{"GIF: loop with more in it", gifOf(1, loop[:len(loop)-1]+block), gifOf(1, "")},
		{"GIF: loop, and bytes behind the end", gifOf(2, loop+control) + secret, gifOf(2, loop+control)},
		{"WebP", riff(lossy), riff(lossy)},
		{"WebP: short chunks, and one behind the end",
			riff(strings.Repeat(riffChunk("junk", "x"), 9), lossy) + riffChunk("ICCP", secret), riff(lossy)},
		{"WebP: Exif without the header that announces it", riff(lossy, riffChunk("EXIF", exif(binary.BigEndian, 6))),
			riff(lossy)},
		{"WebP with a profile", riff(vp8x(0x20, 32, 16), riffChunk("ICCP", "profile"), lossy),
			riff(vp8x(0x20, 32, 16), riffChunk("ICCP", "profile"), lossy)},
		{"WebP: bytes behind the end", riff(lossy) + secret, riff(lossy)},
		{"WebP: Exif, XMP, unknown",
			riff(vp8x(0x2c, 32, 16), riffChunk("ICCP", "profile"), lossy, riffChunk("EXIF", upright),
				riffChunk("XMP ", secret), riffChunk("BLOB", secret)),
			riff(vp8x(0x20, 32, 16), riffChunk("ICCP", "profile"), lossy)},
		{"WebP: second picture, second header", riff(vp8x(0, 32, 16), vp8x(0, 1, 1), lossy, riffChunk("VP8L", secret)),
			riff(vp8x(0, 32, 16), lossy)},
		{"WebP: animation", riff(vp8x(0x06, 32, 16), anim, frame(riffChunk("XMP ", secret)), frame("")),
			riff(vp8x(0x02, 32, 16), anim, frame(riffChunk("XMP ", strings.Repeat("\x00", len(secret)))), frame(""))},
		{"AVIF", avifOf(exifItem, secret), blankAVIF},
		{"AVIF: animated", avifOf(exifItem, secret) + atom("moov", hidden, trackOf("pict", "av01", hidden), "mvhd"),
			blankAVIF + atom("moov", free, trackOf("pict", "av01", free), strings.Repeat("\x00", 4))},
		{"AVIF: Exif behind the last box", behind(len(behind(0))) + secret, behind(len(behind(0)))},
		{"AVIF: further boxes", avifOf(exifItem, secret) + atom("mpvd", secret) + atom("meta", secret), blankAVIF},
		{"MP4", movie("", ""), movie("", "")},
		{"MP4: user data", movie(hidden, ""), movie(free, "")},
		{"MP4: user data at the end", movie("", hidden+secret+secret), movie("", "")},
		{"MP4: track that is not played", movie(meta, ""),
			movie(atom("free", strings.Repeat("\x00", len(meta)-8)), "")},
		{"MP4: lengths of 64 bits, and data up to the end",
			concat(atom("ftyp", "qt  ", be32(0)), be32(1)+"uuid"+be32(0),
				be32(16+len(secret)), secret, atom("moov", trackOf("vide", "avc1")), be32(1)+"mdat"+be32(0), be32(16+7),
				"samples",
				be32(0)+"mdatsamples"),
			concat(atom("ftyp", "qt  ", be32(0)), atom("free", strings.Repeat("\x00", 8+len(secret))),
				atom("moov", trackOf("vide", "avc1")), be32(1)+"mdat"+be32(0), be32(16+7), "samples",
				be32(0)+"mdatsamples")},
		{"MP4: fragments", movie("", atom("moof", atom("traf", hidden))+atom("mdat", "more")),
			movie("", atom("moof", atom("traf", free))+atom("mdat", "more"))},
		{"MP4: name of an encoder", strings.Replace(encoded, strings.Repeat("e", 32), secret[:32], 1),
			strings.Replace(encoded, strings.Repeat("e", 32), strings.Repeat("\x00", 32), 1)},
		{"MP4: name of a handler", strings.Replace(movie("", ""), noName, noName[:16]+secret, 1), movie("", "")},
		{"SVG", "<svg width='1'/>", "<svg width='1'/>"},
	}
}

func TestCleaningLeavesWhatShows(t *testing.T) {
	for _, f := range files() {
		got, info, err := clean(t, f.file)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if got != f.want {
			t.Errorf("%s: got %d bytes\n%.300q\nwant %d bytes\n%.300q", f.name, len(got), got, len(f.want), f.want)
		}
		again, infoAgain, err := clean(t, got)
		if err != nil || again != got || !reflect.DeepEqual(info, infoAgain) {
			t.Errorf("%s: cleaned again: %v, %v, want %v and the same bytes", f.name, infoAgain, err, info)
		}
	}
}

// Items of an AVIF can share bytes.
func TestItemsOneOverTheOther(t *testing.T) {
	build := func(at int) string {
		return avifOfItem("mime",
			concat(be32(0), 0x44, 0, be16(1), be16(1), be16(0), be16(3), be32(at+5), be32(3), be32(at),
				be32(2), be32(at), be32(len(secret)))) + atom("mdat", secret, "image")
	}
	want := build(len(build(0)) - len(secret) - len("image"))
	want, file := strings.Replace(want, secret, strings.Repeat("\x00", len(secret)), 1), want
	if got, _, err := clean(t, file); got != want {
		t.Errorf("%v, left is %q", err, got[len(got)-60:])
	}
}

// What is left has the same pixels.
func TestCleaningKeepsPixels(t *testing.T) {
	for _, f := range files() {
		before, _, err := image.Decode(strings.NewReader(f.file))
		if err != nil {
			continue // the kinds that are not decoded, and animations
		}
		cleaned, _, _ := clean(t, f.file)
		after, _, err := image.Decode(strings.NewReader(cleaned))
		if err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: other pixels, %v", f.name, err)
		}
	}
}

// A picture whose bytes end early is refused, wherever they end, and so is an MP4.
// SVG has no length: it is whole when its root element ends.
func TestSVGThatEndsEarly(t *testing.T) {
	for file, whole := range map[string]bool{
		"<svg><g/></svg>": true, "<s:svg><g/></s:svg\n>\n<!-- made by hand -->\n": true,
		"<?xml version='1.0'?><svg/>\n":                        true,
		"<svg>" + strings.Repeat("<g></g>", 40_000) + "</svg>": true,
		"<svg><g/>": false, "<svg><g></svg": false, "<svg>": false, "<svg>" + strings.Repeat("<g></g>", 40_000): false,
	} {
		_, _, err := clean(t, file)
		if early := err != nil && strings.Contains(err.Error(), "ends early"); early == whole || err != nil && whole {
			t.Errorf("%.60q: %v", file, err)
		}
	}
}

func TestFilesThatEndEarly(t *testing.T) {
	for _, f := range files() {
		if f.file != f.want {
			continue
		}
		for n := media.HeadSize / 1000; n < len(f.file); n++ {
			kind, err := media.Detect([]byte(f.file[:min(n, media.HeadSize)]))
			if err != nil {
				continue
			}
			if _, _, err = clean(t, f.file[:n]); !errors.Is(err, vitrine.ErrUnprocessable) {
				t.Errorf("%s: %d of %d bytes of %s: %v, want ErrUnprocessable", f.name, n, len(f.file), kind.MediaType,
					err)
				break
			}
		}
	}
}

// Errors of what is read from and written to are not those of a picture.
func TestErrorsOfReadersAndWriters(t *testing.T) {
	broken := errors.New("broken disk")
	for _, f := range files() {
		kind := typeOf(t, f.file)
		for n := 0; n < len(f.file); n += 1 + len(f.file)/7 {
			r := io.NewSectionReader(brokenAt{f.file, int64(n), broken}, 0, int64(len(f.file)))
			var err error
			if !kind.Streams() {
				_, err = media.Clean(io.Discard, r, kind)
			} else {
				_, err = media.CleanStream(io.Discard,
					io.MultiReader(strings.NewReader(f.file[:n]), iotest.ErrReader(broken)),
					kind)
			}
			if err != broken && len(f.file) == len(f.want) {
				t.Errorf("%s: reading breaks at %d: %v, want the error of the reader", f.name, n, err)
			}
		}
	}
	big := asPNG(colored(600, 300, true))
	if _, err := media.Clean(brokenWriter{broken}, section(big), typeOf(t, big)); err != broken {
		t.Errorf("writing breaks: %v, want the error of the writer", err)
	}
}

// brokenAt is a file that cannot be read behind this place.
type brokenAt struct {
	file string
	at   int64
	err  error
}

func (b brokenAt) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > b.at && b.at < int64(len(b.file)) {
		n := copy(p, b.file[min(at, b.at):b.at])
		return n, b.err
	}
	return strings.NewReader(b.file).ReadAt(p, at)
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }
