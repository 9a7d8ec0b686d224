// Package media knows the kinds of files that the library takes. It tells them apart by their first bytes, takes out
// what tells of place, camera and person without encoding anything anew, measures them, and makes smaller pictures of
// pictures. It gets bytes and gives bytes: it knows no store and no HTTP.
//
// A picture and an MP4 are read several times and need random access, so they are spooled first. Others stream through.
// Both need bounded memory. No length that a file claims is allocated before as many bytes have been seen.
package media

import (
	"io"
	"strings"
)

// HeadSize is how many of a file's first bytes Detect looks at. A shorter file is all of its bytes.
const HeadSize = 16 << 10

// Type is a kind of file.
type Type struct {
	MediaType string // for example "image/jpeg"
	Ending    string // the usual ending of names, for example ".jpg"
}

// Kind returns the type of an attachment with the file: photo, video, audio or link.
func (t Type) Kind() string {
	switch kind, _, _ := strings.Cut(t.MediaType, "/"); kind {
	case "image":
		return "photo"
	case "video", "audio":
		return kind
	}
	return "link"
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

	decode      float64 // how many bytes decoding allocates; zero if the picture cannot be decoded
	grey        bool    // decoded pixels are grey alone
	profile     []byte  // what says what colors are: chunks of a PNG, segments of a JPEG, or an ICC profile of a WebP
	longProfile bool    // profile is missing because it is too long
}

// maxProfile is how many bytes of a color profile are kept in memory for renditions.
const maxProfile = 1 << 20

// addProfile adds to the color profile.
func (i *Info) addProfile(parts ...[]byte) {
	for _, part := range parts {
		i.longProfile = i.longProfile || len(i.profile)+len(part) > maxProfile
		if !i.longProfile {
			i.profile = append(i.profile, part...)
		}
	}
}

// Streams reports whether CleanStream cleans files of this type. Clean cleans the others.
func (t Type) Streams() bool { return t.Kind() != "photo" && t != mp4Type && t != m4aType }

// Clean copies a picture, an MP4 or an M4A from r to w, without what tells of place, camera and person. Coded pixels,
// frames and sound stay as they are; an SVG is copied as it is. It returns an ErrUnprocessable for a file that ends
// early or is damaged, and errors of r and w as they are. What was written to w before an error is of no use.
func Clean(w io.Writer, r *io.SectionReader, t Type) (info Info, err error) {
	r = io.NewSectionReader(r, 0, r.Size())
	switch t {
	case jpegType:
		info, err = clean(cleanJPEG, "JPEG", w, r)
	case pngType:
		info, err = clean(cleanPNG, "PNG", w, r)
	case gifType:
		info, err = clean(cleanGIF, "GIF", w, r)
	case webpType:
		info, err = cleanWebP(w, r)
	case avifType:
		info, err = cleanAVIF(w, r)
	case mp4Type, m4aType:
		info, err = cleanMP4(w, r)
	default:
		info, err = clean(copySVG, "SVG", w, r)
	}
	if info.Type == (Type{}) {
		info.Type = t
	}
	if info.Orientation >= 5 { // a quarter turn
		info.Width, info.Height = info.Height, info.Width
	}
	if info.Animated || info.longProfile {
		info.decode = 0
	}
	return info, err
}

// CleanStream copies a file of another type from r to w, as it is. It returns the errors of r and w. What was written
// to w before an error is of no use.
func CleanStream(w io.Writer, r io.Reader, t Type) (info Info, err error) {
	if t == webmType {
		info, err = clean(copyWebM, "WebM", w, r)
	} else {
		info, err = clean((*copier).rest, "", w, r)
	}
	if info.Type == (Type{}) {
		info.Type = t
	}
	return info, err
}

// clean runs a function that copies a file of this format.
func clean(run func(*copier), format string, w io.Writer, r io.Reader) (Info, error) {
	c := newCopier(format, w, r)
	run(c)
	return c.done()
}
