package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
	"golang.org/x/image/webp"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// jpegQuality is that of renditions.
const jpegQuality = 80

// AllWidths are the widths in pixels that a rendition may have.
var AllWidths = []int{320, 640, 1280, 2560}

// Widths returns the widths of the picture's renditions, the smallest first: those of AllWidths that are smaller than
// the picture. AVIF, GIF, SVG, animations, kinds of JPEG that image/jpeg does not decode, JPEGs with more than 100
// scans, and pictures with a color profile of more than 1 MiB have none.
func (i Info) Widths() (widths []int) {
	for _, width := range AllWidths {
		if i.decode > 0 && width < i.Width {
			widths = append(widths, width)
		}
	}
	return widths
}

// RenditionType returns the type of all renditions: PNG for a PNG and a WebP with transparency, otherwise JPEG.
func (i Info) RenditionType() Type {
	if i.Type == pngType || i.Type == webpType && i.Alpha {
		return pngType
	}
	return jpegType
}

// Memory returns how many bytes Renditions allocates at most, as counted from the header: what decoding and all scaled
// pictures take, with nothing given back before the end. It is math.MaxInt64 where an int64 is too small.
func (i Info) Memory() int64 {
	widths := i.Widths()
	if len(widths) == 0 {
		return 0
	}
	memory := i.decode + 256<<10 // buffers
	for _, size := range i.halves() {
		memory += 4 * float64(size.X) * float64(size.Y)
	}
	for _, width := range widths {
		pixels := float64(width) * float64(i.height(width))
		memory += 4 * pixels
		if i.grey && !i.Alpha {
			memory += pixels
		}
		if i.RenditionType() == pngType {
			memory += 1 << 20 // for compressing
		}
	}
	if memory >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(memory)
}

// height returns the height of the rendition of this width.
func (i Info) height(width int) int {
	return max(1, int(math.Round(float64(i.Height)*float64(width)/float64(i.Width))))
}

// stored returns the size of a picture as it is stored, before it is turned.
func (i Info) stored(upright image.Point) image.Point {
	if i.Orientation >= 5 {
		return image.Pt(upright.Y, upright.X)
	}
	return upright
}

// halves returns the sizes, as stored, to which the picture is halved before it is scaled to the largest rendition.
// ApproxBiLinear looks at 2 by 2 pixels, so it scales well down to a half.
func (i Info) halves() (sizes []image.Point) {
	widths := i.Widths()
	size := i.stored(image.Pt(i.Width, i.Height))
	for width := i.Width; width > 2*widths[len(widths)-1]; width = (width + 1) / 2 {
		size = image.Pt((size.X+1)/2, (size.Y+1)/2)
		sizes = append(sizes, size)
	}
	return sizes
}

// turns are the matrices that bring a picture of width and height 1 from how it is stored upright, by orientation.
var turns = [9]f64.Aff3{
	1: {1, 0, 0, 0, 1, 0},
	2: {-1, 0, 1, 0, 1, 0},
	3: {-1, 0, 1, 0, -1, 1},
	4: {1, 0, 0, 0, -1, 1},
	5: {0, 1, 0, 1, 0, 0},
	6: {0, -1, 1, 1, 0, 0},
	7: {0, -1, 1, -1, 0, 1},
	8: {0, 1, 0, -1, 0, 1},
}

// Renditions decodes the picture in r once, and calls put for each of Widths, the largest first. encode writes the
// rendition, and is valid until put returns. r is what was given to Clean, or what it wrote. put is never called
// for a kind of JPEG or PNG that turns out to be unknown to the decoders. Renditions returns an ErrUnprocessable if the
// pixels are damaged, and errors of r and put as they are.
func (i Info) Renditions(r *io.SectionReader, put func(width int, encode func(w io.Writer) error) error) error {
	widths := i.Widths()
	if len(widths) == 0 {
		return nil
	}
	picture, err := i.decoded(io.NewSectionReader(r, 0, r.Size()))
	if picture == nil {
		return err
	}
	for _, size := range i.halves() {
		half := image.NewRGBA(image.Rectangle{Max: size})
		draw.ApproxBiLinear.Scale(half, half.Rect, picture, picture.Bounds(), draw.Src, nil)
		picture = half
	}
	for n := len(widths) - 1; n >= 0; n-- {
		width := widths[n]
		scaled := image.NewRGBA(image.Rect(0, 0, width, i.height(width)))
		if n < len(widths)-1 || i.Orientation == 1 {
			draw.ApproxBiLinear.Scale(scaled, scaled.Rect, picture, picture.Bounds(), draw.Src, nil)
		} else {
			i.turn(scaled, picture)
		}
		picture = scaled
		if err := put(width, func(w io.Writer) error { return i.encode(w, scaled) }); err != nil {
			return err
		}
	}
	return nil
}

// turn draws the picture upright and scaled.
func (i Info) turn(upright *image.RGBA, picture image.Image) {
	from, m := picture.Bounds(), turns[i.Orientation]
	fromX, fromY := float64(from.Dx()), float64(from.Dy())
	x, y := float64(upright.Rect.Dx()), float64(upright.Rect.Dy())
	m = f64.Aff3{m[0] * x / fromX, m[1] * x / fromY, m[2] * x, m[3] * y / fromX, m[4] * y / fromY, m[5] * y}
	draw.ApproxBiLinear.Transform(upright, m, picture, from, draw.Src, nil)
}

// decoded decodes the picture. It is nil without an error if decoders do not know its kind.
func (i Info) decoded(r io.Reader) (image.Image, error) {
	decode := map[Type]func(io.Reader) (image.Image, error){jpegType: jpeg.Decode, pngType: png.Decode,
		webpType: webp.Decode}[i.Type]
	source := &errorReader{r: r}
	picture, err := decode(source)
	if source.err != nil {
		return nil, source.err
	}
	switch err.(type) {
	case jpeg.UnsupportedError, png.UnsupportedError:
		return nil, nil
	}
	if err == nil && picture.Bounds().Size() != i.stored(image.Pt(i.Width, i.Height)) {
		err = errors.New("its header has another size than its pixels")
	}
	if err != nil {
		return nil, fault.NotApplicable("", "the picture is damaged: %s", err)
	}
	if m, ok := picture.(*image.YCbCr); ok && m.SubsampleRatio > image.YCbCrSubsampleRatio440 {
		return struct{ image.RGBA64Image }{m}, nil // draw would allocate each pixel of these kinds
	}
	return picture, nil
}

// errorReader keeps the error of a reader, which decoders may replace by one of their own.
type errorReader struct {
	r   io.Reader
	err error
}

func (e *errorReader) Read(b []byte) (int, error) {
	n, err := e.r.Read(b)
	if err != nil && err != io.EOF {
		e.err = err
	}
	return n, err
}

// encode writes a rendition, with the color profile of the picture.
func (i Info) encode(w io.Writer, scaled *image.RGBA) error {
	var picture image.Image = scaled
	if i.grey && !i.Alpha {
		grey := image.NewGray(scaled.Rect)
		for n := range grey.Pix {
			grey.Pix[n] = scaled.Pix[4*n]
		}
		picture = grey
	}
	if i.RenditionType() == pngType {
		profile := i.profile
		if i.Type == webpType && len(profile) > 0 {
			profile = pngProfile(profile)
		}
		// Behind the signature and the chunk IHDR.
		return png.Encode(&inserter{w: w, before: len(pngSignature) + 8 + 13 + 4, data: profile}, picture)
	}
	profile := i.profile
	if i.Type == webpType {
		profile = jpegProfile(profile)
	}
	return jpeg.Encode(&inserter{w: w, before: 2, data: profile}, picture, &jpeg.Options{Quality: jpegQuality})
}

// jpegProfile returns the segments of a JPEG that have an ICC profile.
func jpegProfile(icc []byte) (segments []byte) {
	const most = math.MaxUint16 - 2 - len(iccHeader) - 2
	count := (len(icc) + most - 1) / most
	for n := range count {
		part := icc[n*most : min(len(icc), (n+1)*most)]
		segments = append(segments, 0xff, jpegAPP2)
		segments = binary.BigEndian.AppendUint16(segments, uint16(2+len(iccHeader)+2+len(part)))
		segments = append(append(segments, iccHeader...), byte(n+1), byte(count))
		segments = append(segments, part...)
	}
	return segments
}

// pngProfile returns the chunk of a PNG that has an ICC profile.
func pngProfile(icc []byte) []byte {
	b := bytes.NewBufferString("ICC profile\x00\x00")
	w := zlib.NewWriter(b)
	w.Write(icc) // a Buffer has no errors
	w.Close()
	return pngChunk("iCCP", b.Bytes())
}

// inserter writes data behind the first bytes of what is written.
type inserter struct {
	w      io.Writer
	before int
	data   []byte
}

func (i *inserter) Write(b []byte) (int, error) {
	n := min(i.before, len(b))
	if _, err := i.w.Write(b[:n]); err != nil {
		return 0, err
	}
	if i.before -= n; i.before == 0 && i.data != nil {
		if _, err := i.w.Write(i.data); err != nil {
			return n, err
		}
		i.data = nil
	}
	rest, err := i.w.Write(b[n:])
	return n + rest, err
}
