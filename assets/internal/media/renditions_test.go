package media_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	xdraw "golang.org/x/image/draw"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets/internal/media"
)

// rendered returns the renditions of a file, decoded, by their widths, and their bytes.
func rendered(t testing.TB, file string) (pictures map[int]image.Image, files map[int]string, info media.Info) {
	t.Helper()
	_, info, err := clean(t, file)
	if err != nil {
		t.Fatal(err)
	}
	pictures, files = map[int]image.Image{}, map[int]string{}
	var widths []int
	err = info.Renditions(section(file), func(width int, encode func(io.Writer) error) error {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			return err
		}
		widths = append(widths, width)
		files[width] = b.String()
		kind := typeOf(t, files[width])
		if kind != info.RenditionType() {
			t.Errorf("a rendition is %v, want %v", kind, info.RenditionType())
		}
		var err error
		pictures[width], _, err = image.Decode(&b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(widths)
	if !slices.Equal(widths, info.Widths()) {
		t.Errorf("renditions are %v wide, want %v", widths, info.Widths())
	}
	return pictures, files, info
}

// stored returns how the pixels of an upright picture are stored with this orientation, as Exif defines it: where its
// first row and its first column are in the upright picture.
func stored(upright *image.NRGBA, orientation int) *image.NRGBA {
	w, h := upright.Rect.Dx(), upright.Rect.Dy()
	if orientation >= 5 {
		w, h = h, w
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			right, bottom := w-1-x, h-1-y
			at := [9]image.Point{1: {x, y}, 2: {right, y}, 3: {right, bottom}, 4: {x, bottom}, 5: {y, x},
				6: {bottom, x},
				7: {bottom, right}, 8: {y, right}}[orientation]
			m.SetNRGBA(x, y, upright.NRGBAAt(at.X, at.Y))
		}
	}
	return m
}

// distance is the mean of how much the channels of two pictures differ, from 0 to 255.
func distance(a, b image.Image) float64 {
	if a.Bounds().Size() != b.Bounds().Size() {
		return 255
	}
	rgba := func(m image.Image) *image.RGBA {
		to := image.NewRGBA(image.Rectangle{Max: m.Bounds().Size()})
		draw.Draw(to, to.Rect, m, m.Bounds().Min, draw.Src)
		return to
	}
	sum, x, y := 0.0, rgba(a), rgba(b)
	for i := range x.Pix {
		sum += math.Abs(float64(x.Pix[i]) - float64(y.Pix[i]))
	}
	return sum / float64(len(x.Pix))
}

// scaled is the picture in another width, in the best quality there is.
func scaled(m image.Image, width int) image.Image {
	to := image.NewRGBA(image.Rect(0, 0, width,
		int(math.Round(float64(m.Bounds().Dy())*float64(width)/float64(m.Bounds().Dx())))))
	xdraw.CatmullRom.Scale(to, to.Rect, m, m.Bounds(), draw.Src, nil)
	return to
}

func TestOrientation(t *testing.T) {
	upright := colored(350, 200, false)
	want := scaled(upright, 320)
	for n := 1; n <= 8; n++ {
		m := stored(upright, n)
		size := m.Bounds().Size()
		plain, lossless, block := asJPEG(m), asPNG(m), exif(binary.BigEndian, n)
		kept := "MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(n)) +
			"\x00\x00\x00\x00\x00\x00"
		pixels := riffChunk("VP8L", vp8l(m))
		files := map[string][2]string{
			"JPEG": {insert(plain, 2, segment(0xe1, "Exif\x00\x00"+block)),
				insert(plain, 2, segment(0xe1, "Exif\x00\x00"+kept))},
			"PNG": {insert(lossless, 33, chunk("eXIf", block)), insert(lossless, 33, chunk("eXIf", kept))},
			"WebP": {riff(vp8x(0x0c, size.X, size.Y), pixels, riffChunk("EXIF", block)),
				riff(vp8x(0x08, size.X, size.Y), pixels, riffChunk("EXIF", kept))},
		}
		if n == 1 {
			files = map[string][2]string{"JPEG": {plain, plain}, "PNG": {lossless, lossless}}
		}
		for name, f := range files {
			cleaned, _, err := clean(t, f[0])
			if err != nil || cleaned != f[1] {
				t.Errorf("%s: orientation %d: other bytes than the picture and its orientation alone (%v)", name, n,
					err)
			}
			pictures, encoded, info := rendered(t, f[0])
			if info.Width != 350 || info.Height != 200 || info.Orientation != n {
				t.Errorf("%s: %d by %d, orientation %d, want 350 by 200, %d", name, info.Width, info.Height,
					info.Orientation, n)
			}
			if d := distance(pictures[320], want); d > 4 {
				t.Errorf("%s: orientation %d: the rendition differs by %.2f", name, n, d)
			}
			if strings.Contains(encoded[320], "MM\x00*") {
				t.Errorf("%s: orientation %d: the rendition has one, too", name, n)
			}
		}
	}
}

func TestRenditionsThatFail(t *testing.T) {
	broken := errors.New("broken disk")
	file := asPNG(colored(400, 10, false))
	flat := flatJPEG(0xc0, 400, 10, 0x11, 0x11, 0x11)
	for _, c := range []struct {
		name, file string
		at         int // where the reader breaks
		put, want  error
	}{
		{"damaged PNG", strings.Replace(file, "IDAT\x78", "IDAT\xff", 1), len(file), nil, vitrine.ErrUnprocessable},
		{"damaged JPEG", strings.Replace(flat, "\x00\x00\xff\xd9", "\xff\xd9", 1), len(flat), nil,
			vitrine.ErrUnprocessable},
		{"reader of a PNG", file, 100, nil, broken},
		{"reader of a JPEG", flat, 100, nil, broken},
		{"put", file, len(file), broken, broken},
		{"CMYK of which decoders do not know whether it is inverted", flatJPEG(0xc0, 400, 10, 0x11, 0x11, 0x11, 0x11),
			1 << 20,
			broken, nil},
		{"sampling that decoders do not know", flatJPEG(0xc0, 400, 10, 0x21, 0x12, 0x11), 1 << 20, broken, nil},
	} {
		_, info, err := clean(t, c.file)
		if err != nil {
			t.Fatal(c.name, err)
		}
		r := io.NewSectionReader(brokenAt{c.file, int64(c.at), broken}, 0, int64(len(c.file)))
		err = info.Renditions(r, func(int, func(io.Writer) error) error { return c.put })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// rings is a picture of rings that become finer outwards, down to three pixels.
func rings(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			v := uint8(128 + 100*math.Sin(float64(x*x+y*y)/float64(width)))
			m.SetNRGBA(x, y, color.NRGBA{v, uint8(x * 255 / width), 255 - v, 255})
		}
	}
	return m
}

func TestRenditions(t *testing.T) {
	icc := strings.Repeat("profile ", 10000)
	iccJPEG := segment(0xe2, "ICC_PROFILE\x00\x01\x02"+icc[:60000]) +
		segment(0xe2, "ICC_PROFILE\x00\x02\x02"+icc[60000:])
	iccPNG := chunk("gAMA", be32(45455)) + chunk("iCCP", "name\x00\x00compressed")
	opaque, transparent := colored(700, 30, false), colored(700, 30, true)
	grey16, color16 := image.NewGray16(opaque.Rect), image.NewNRGBA64(opaque.Rect)
	palette := image.NewPaletted(opaque.Rect, color.Palette{color.Black, color.White, color.NRGBA{255, 0, 0, 255}})
	for _, to := range []draw.Image{grey16, color16, palette} {
		draw.Draw(to, to.Bounds(), transparent, image.Point{}, draw.Over)
	}
	jpegFile := asJPEG(opaque)
	cmyk := insert(flatJPEG(0xc0, 700, 30, 0x11, 0x11, 0x11, 0x11), 2,
		segment(0xee, "Adobe\x00\x64\x00\x00\x00\x00\x00"))
	long := strings.Repeat(segment(0xe2, "ICC_PROFILE\x00\x01\x01"+strings.Repeat("p", 60000)), 18)
	webpLossy := riffChunk("VP8 ", vp8(700, 32))
	for _, c := range []struct {
		name, file string
		kind       string // media type of the renditions; "" = the file has no renditions
		profile    string // in each of them
	}{
		{"JPEG", jpegFile, "image/jpeg", ""},
		{"JPEG with a profile", insert(jpegFile, 2, iccJPEG), "image/jpeg", iccJPEG},
		{"JPEG with too long a profile", insert(jpegFile, 2, long), "", ""},
		{"grey JPEG", insert(asJPEG(grey(700, 30)), 2, iccJPEG), "image/jpeg", iccJPEG},
		{"JPEG in RGB",
			insert(flatJPEG(0xc0, 700, 30, 0x11, 0x11, 0x11), 2, segment(0xee, "Adobe\x00\x64\x00\x00\x00\x00\x00")),
			"image/jpeg", ""},
		{"JPEG in CMYK", insert(cmyk, 2, iccJPEG), "image/jpeg", ""},
		{"progressive JPEG", flatJPEG(0xc2, 700, 30, 0x22, 0x11, 0x11), "image/jpeg", ""},
		{"progressive JPEG of thousands of scans", strings.Replace(flatJPEG(0xc2, 700, 30, 0x11), "\xff\xd9",
			strings.Repeat(segment(0xda, "\x01\x01\x00\x01\x3f\x00")+"\x00", 5000)+"\xff\xd9", 1), "", ""},
		{"lossless JPEG", flatJPEG(0xc3, 700, 30, 0x11), "", ""},
		{"PNG", asPNG(opaque), "image/png", ""},
		{"PNG with a profile", insert(asPNG(transparent), 33, iccPNG), "image/png", iccPNG},
		{"PNG of 16 bits", asPNG(color16), "image/png", ""},
		{"grey PNG", insert(asPNG(grey16), 33, iccPNG), "image/png", iccPNG},
		{"PNG of grey and transparency", insert(asPNG(grey(700, 30)), 33, iccPNG+chunk("tRNS", "\x00\x00")),
			"image/png", ""},
		{"PNG with a palette", asPNG(palette), "image/png", ""},
		{"animated PNG", insert(asPNG(opaque), 33, chunk("acTL", be32(1)+be32(0))), "", ""},
		{"WebP", riff(vp8x(0x20, 700, 32), riffChunk("ICCP", icc), webpLossy), "image/jpeg",
			segment(0xe2, "ICC_PROFILE\x00\x01\x02"+icc[:65519]) +
				segment(0xe2, "ICC_PROFILE\x00\x02\x02"+icc[65519:])},
		{"WebP without loss", riff(riffChunk("VP8L", vp8l(transparent))), "image/png", ""},
		{"WebP with transparency apart",
			riff(vp8x(0x10, 700, 32), riffChunk("ALPH", "\x00"+strings.Repeat("\x80", 700*32)),
				webpLossy), "image/png", ""},
		{"WebP with transparency and a profile", riff(vp8x(0x30, 700, 30), riffChunk("ICCP", icc),
			riffChunk("VP8L", vp8l(transparent))), "image/png", "iCCPICC profile\x00\x00"},
		{"animated WebP", riff(vp8x(2, 700, 32), riffChunk("ANMF", strings.Repeat("\x00", 16)+webpLossy)), "", ""},
		{"GIF", gifOf(1, ""), "", ""},
		{"AVIF", avifOf("xx", "x"), "", ""},
		{"SVG", "<svg width='700' height='30'/>", "", ""},
		{"no wider than the smallest", asPNG(colored(320, 900, false)), "", ""},
	} {
		pictures, encoded, info := rendered(t, c.file)
		if c.kind == "" {
			if len(pictures) > 0 || info.Memory() != 0 {
				t.Errorf("%s: %d renditions, %d bytes, want none", c.name, len(pictures), info.Memory())
			}
			continue
		}
		if !slices.Equal(info.Widths(), []int{320, 640}) || info.RenditionType().MediaType != c.kind {
			t.Errorf("%s: renditions of %v as %v, want 320 and 640 as %s", c.name, info.Widths(), info.RenditionType(),
				c.kind)
		}
		original, _, err := image.Decode(strings.NewReader(c.file))
		if err != nil {
			t.Fatal(c.name, err)
		}
		for width, picture := range pictures {
			if d := distance(picture, scaled(original, width)); d > 5 {
				t.Errorf("%s: the rendition of %d differs by %.2f from the picture", c.name, width, d)
			}
			if c.profile == "" &&
				(strings.Contains(encoded[width], "ICC") || strings.Contains(encoded[width], "iCCP")) ||
				!strings.Contains(encoded[width], c.profile) {
				t.Errorf("%s: the rendition of %d does not have the profile of the picture, or has one", c.name, width)
			}
			_, grey := picture.(*image.Gray)
			if want := strings.HasPrefix(c.name, "grey"); grey != want {
				t.Errorf("%s: the rendition of %d is grey: %t, want %t", c.name, width, grey, want)
			}
		}
	}
}

// The pictures are as near to those of the best kernel as to the eye makes no difference, in each width and however
// much larger the picture is.
func TestQuality(t *testing.T) {
	for _, width := range []int{330, 600, 1300, 12000} {
		m := rings(width, 80)
		pictures, _, _ := rendered(t, asPNG(m))
		for w, picture := range pictures {
			if d := distance(picture, scaled(m, w)); d > 7 {
				t.Errorf("from %d to %d: differs by %.2f from the best kernel", width, w, d)
			} else {
				t.Logf("from %d to %d: differs by %.2f", width, w, d)
			}
		}
	}
}

// The count of the header is at least what is allocated, and not much more.
func TestMemory(t *testing.T) {
	const w, h = 900, 600
	m, clear := colored(w, h, false), colored(w, h, true)
	rgba64 := image.NewNRGBA64(m.Rect)
	draw.Draw(rgba64, rgba64.Rect, clear, image.Point{}, draw.Src)
	adobe := func(file string) string { return insert(file, 2, segment(0xee, "Adobe\x00\x64\x00\x00\x00\x00\x00")) }
	rgb, alpha := asPNG(m), asPNG(clear)
	for _, c := range []struct {
		name, file string
		most       float64
	}{
		{"JPEG 4:2:0", asJPEG(m), 1.5},
		{"JPEG 4:4:4", flatJPEG(0xc0, w, h, 0x11, 0x11, 0x11), 1.5},
		{"JPEG 4:2:2", flatJPEG(0xc0, w, h, 0x21, 0x11, 0x11), 1.5},
		{"JPEG of odd sampling", flatJPEG(0xc0, w, h, 0x41, 0x11, 0x11), 1.5},
		{"grey JPEG", asJPEG(grey(w, h)), 1.5},
		{"JPEG in RGB", adobe(flatJPEG(0xc0, w, h, 0x11, 0x11, 0x11)), 1.5},
		{"JPEG in CMYK", adobe(flatJPEG(0xc0, w, h, 0x22, 0x11, 0x11, 0x22)), 1.5},
		{"progressive JPEG", flatJPEG(0xc2, w, h, 0x22, 0x11, 0x11), 1.5},
		{"progressive JPEG in CMYK", adobe(flatJPEG(0xc2, w, h, 0x11, 0x11, 0x11, 0x11)), 1.5},
		{"JPEG of 6000 by 20", flatJPEG(0xc0, 6000, 20, 0x22, 0x11, 0x11), 1.5},
		{"JPEG that stands on its side", insert(asJPEG(m), 2, segment(0xe1, "Exif\x00\x00"+exif(binary.BigEndian, 6))),
			1.5},
		{"PNG", rgb, 1.5},
		{"PNG with transparency", alpha, 1.5},
		{"PNG of 16 bits", asPNG(rgba64), 1.5},
		{"grey PNG", asPNG(grey(w, h)), 1.5},
		{"WebP", riff(riffChunk("VP8 ", vp8(w, h))), 1.5},
		{"WebP with transparency", riff(vp8x(0x10, w, h), riffChunk("ALPH", "\x00"+strings.Repeat("\x80", w*h)),
			riffChunk("VP8 ", vp8(w, h))), 1.5},
		{"WebP without loss", riff(riffChunk("VP8L", vp8l(clear))), 99},
	} {
		_, info, err := clean(t, c.file)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = info.Renditions(section(c.file), func(_ int, encode func(io.Writer) error) error {
			return encode(io.Discard)
		})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Error(c.name, err)
		}
		real := float64(after.TotalAlloc - before.TotalAlloc)
		if ratio := float64(info.Memory()) / real; ratio < 1 || ratio > c.most {
			t.Errorf("%s: counted %d bytes, allocated %.0f: %.2f times, want 1 to %.1f", c.name, info.Memory(), real,
				ratio, c.most)
		} else {
			t.Logf("%s: %.1f MB, counted %.2f times", c.name, real/1e6, ratio)
		}
	}
}

// A WebP without loss can have many large groups of codes, whatever its size. The count has room for them.
func TestMemoryOfCodes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	file := riff(riffChunk("VP8L", vp8lOfCodes(400, 400)))
	_, info, err := clean(t, file)
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan uint64)
	go func() {
		most := uint64(0)
		for {
			select {
			case done <- most:
				return
			case <-time.After(time.Millisecond):
				var now runtime.MemStats
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			}
		}
	}()
	err = info.Renditions(section(file), func(int, func(io.Writer) error) error { return nil })
	most := int64(<-done) - int64(before.HeapAlloc)
	t.Logf("%d of %d bytes in use", most, info.Memory())
	if err != nil || most > info.Memory()*5/4 || most < 100e6 {
		t.Errorf("%v, %d bytes of %d in use, want at least 100 MB, and at most a fourth more", err, most, info.Memory())
	}
}

func BenchmarkRenditions(b *testing.B) {
	m := rings(4000, 3000)
	file := asJPEG(m)
	_, info, err := clean(b, file)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			info.Renditions(section(file), func(_ int, encode func(io.Writer) error) error {
				return encode(io.Discard)
			})
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			m, _, _ := image.Decode(strings.NewReader(file))
			for _, width := range info.Widths() {
				to := image.NewRGBA(image.Rect(0, 0, width, width*3/4))
				xdraw.ApproxBiLinear.Scale(to, to.Rect, m, m.Bounds(), draw.Src, nil)
			}
		}
	})
	b.Run("bare with CatmullRom", func(b *testing.B) {
		for b.Loop() {
			m, _, _ := image.Decode(strings.NewReader(file))
			for _, width := range info.Widths() {
				to := image.NewRGBA(image.Rect(0, 0, width, width*3/4))
				xdraw.CatmullRom.Scale(to, to.Rect, m, m.Bounds(), draw.Src, nil)
			}
		}
	})
}
