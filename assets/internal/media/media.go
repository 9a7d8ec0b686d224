// Package media knows the kinds of files that the library takes. It tells them apart by their first bytes, takes out
// what tells of place, camera and person without encoding anything anew, measures them, and makes smaller pictures of
// pictures. It gets bytes and gives bytes: it knows no store and no HTTP.
//
// A picture is read several times and needs random access, so it is spooled first. Video and sound stream through in
// bounded memory. No length that a file claims is allocated before as many bytes have been seen.
package media

import (
	"errors"
	"io"
)

// HeadSize is how many of a file's first bytes Detect looks at. A shorter file is all of its bytes.
const HeadSize = 16 << 10

// Type is a kind of file.
type Type struct {
	MediaType string // for example "image/jpeg"
	Kind      string // "photo", "video", "audio" or "link", the type of an attachment that holds it
	Ending    string // the usual ending of names, for example ".jpg"
}

// Info is what a file's header says.
type Info struct {
	// Type is the type of Detect. A video/mp4 or video/webm whose tracks are all sound is audio/mp4 or audio/webm.
	Type
	Width, Height int // in pixels, of the picture as it stands upright; zero if the file does not say
	// Orientation is the one of Exif, from 1 to 8, that turns the stored pixels upright. Width and Height have it
	// applied already. It is 1 unless the file is a JPEG, PNG or WebP.
	Orientation int
	Animated    bool // the picture has several frames, or may have
	Alpha       bool // the picture has transparency, or may have
}

// CleanPicture copies the picture in r, whose Kind is "photo", to w, without what tells of place, camera and person.
// The coded pixels stay as they are. It returns an ErrUnprocessable for a picture that ends early or is damaged, and
// errors of r and w as they are. What was written to w before an error is of no use.
func CleanPicture(w io.Writer, r *io.SectionReader, t Type) (Info, error) {
	return Info{}, errors.ErrUnsupported
}

// CleanStream copies a file that is no picture from r to w. Of a video/mp4 and an audio/mp4 it takes out what tells of
// place, camera and person; others are copied as they are. It returns an ErrUnprocessable for an MP4 that ends early
// or is damaged, or that has a track of positions, and errors of r and w as they are. What was written to w before an
// error is of no use.
func CleanStream(w io.Writer, r io.Reader, t Type) (Info, error) {
	return Info{}, errors.ErrUnsupported
}

// Widths returns the widths of the picture's renditions in pixels, the smallest first: those of 320, 640, 1280 and
// 2560 that are smaller than the picture. AVIF, GIF, SVG, animations, kinds of JPEG and PNG that cannot be decoded, and
// pictures with a color profile of more than 1 MiB have none.
func (i Info) Widths() []int { return nil }

// Memory returns the number of bytes that Renditions allocates at most, as counted from the header. It does not
// overflow: pictures of absurd sizes need math.MaxInt64.
func (i Info) Memory() int64 { return 0 }

// RenditionType returns the type of all renditions: PNG for a PNG and a WebP with transparency, otherwise JPEG.
func (i Info) RenditionType() Type { return Type{} }

// Renditions decodes the picture in r once, and calls put for each of Widths, the largest first. encode writes the
// rendition, and is valid until put returns. r is what was given to CleanPicture, or what it wrote. Renditions returns
// an ErrUnprocessable if the picture cannot be decoded, and errors of r and put as they are.
func (i Info) Renditions(r *io.SectionReader, put func(width int, encode func(w io.Writer) error) error) error {
	return errors.ErrUnsupported
}
