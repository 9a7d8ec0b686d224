package media_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/draw"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	xdraw "golang.org/x/image/draw"

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
