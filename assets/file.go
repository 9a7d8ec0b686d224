package assets

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets/internal/media"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// filesGenerator is the generator of assets that have a file. ChangeAssets adds none.
const filesGenerator = "files"

// filePath is what the addresses of files begin with, below the base path of a server.
const filePath = "/x/file/"

// fileRecord is the record of a file, a part of the record of its asset. The content of the asset follows from it.
type fileRecord struct {
	ID    string `json:"id"` // of the asset's content, too: 128 random bits in hex. Who knows it can read the bytes.
	Name  string `json:"name"`
	Type  string `json:"type"` // media type
	Size  int64  `json:"size"`
	Sum   string `json:"sha256"` // in hex
	Focus Focus  `json:"focus"`

	Width  int `json:"width,omitzero"` // of the upright picture; 0 if it is unknown
	Height int `json:"height,omitzero"`

	Bytes      string      `json:"bytes"` // the name of the bytes in Files; it begins with ID
	Renditions []rendition `json:"renditions,omitzero"`

	Title string `json:"title"`
	Alt   string `json:"alt,omitzero"`
	By    string `json:"by"` // URN of the caller who has uploaded it
}

// rendition is a picture in another width. Its bytes have the name of those of the file, with a hyphen and the width.
type rendition struct {
	Width int    `json:"width"`
	Type  string `json:"type"`
	Size  int64  `json:"size"`
}

// Focus is the point of a picture that stays visible when it is cropped: 0, 0 is at the left of the top, and 1, 1 at
// the right of the bottom.
type Focus struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// names returns the names of all bytes of the file.
func (f fileRecord) names() []string {
	names := []string{f.Bytes}
	for _, r := range f.Renditions {
		names = append(names, f.renditionName(r.Width))
	}
	return names
}

func (f fileRecord) renditionName(width int) string { return fmt.Sprintf("%s-%d", f.Bytes, width) }

// stored returns how many bytes the file has, with its renditions.
func (f fileRecord) stored() int64 {
	size := f.Size
	for _, r := range f.Renditions {
		size += r.Size
	}
	return size
}

// version is the parameter v of an address, which names the bytes.
func (f fileRecord) version() string { return f.Sum[:16] }

// fileHead is the content of an asset that has a file.
type fileHead struct {
	ID           string    `json:"id"`
	Generator    Generator `json:"generator"`
	Content      string    `json:"content"`
	AttributedTo struct {
		ID string `json:"id"`
	} `json:"attributedTo"`
	Attachment []fileAttachment `json:"attachment"`
}

type fileAttachment struct {
	Version     string    `json:"version"`
	Type        string    `json:"type"`
	Title       string    `json:"title"`
	Description string    `json:"description,omitzero"`
	URL         fileLink  `json:"url"`
	Thumbnail   *fileLink `json:"thumbnail_url,omitzero"`
	Width       int       `json:"width,omitzero"`
	Height      int       `json:"height,omitzero"`
	File        FileInfo  `json:"file"`
}

type fileLink struct {
	Href string `json:"href"`
}

// FileInfo is what an attachment shows of its file.
type FileInfo struct {
	ID     string `json:"id"` // a part of the address
	Name   string `json:"name"`
	Type   string `json:"type"` // media type
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // in hex
	Focus  Focus  `json:"focus"`
	Widths []int  `json:"widths"` // of the renditions of a picture
}

// head returns the content as contentHead does.
func (f fileRecord) head() []byte {
	address := filePath + f.ID + "/" + urlescape.Escape(f.Name) + "?v=" + f.version()
	at := fileAttachment{Version: "1.0", Type: media.Type{MediaType: f.Type}.Kind(), Title: f.Name, Description: f.Alt,
		URL: fileLink{address}, Width: f.Width, Height: f.Height,
		File: FileInfo{f.ID, f.Name, f.Type, f.Size, f.Sum, f.Focus, []int{}}}
	for _, r := range f.Renditions {
		at.File.Widths = append(at.File.Widths, r.Width)
	}
	if at.Type == "photo" {
		at.Thumbnail = &fileLink{address}
		if len(f.Renditions) > 0 {
			at.Thumbnail.Href += fmt.Sprintf("&w=%d", f.Renditions[0].Width)
		}
	}
	h := fileHead{ID: f.ID, Generator: Generator{filesGenerator}, Content: html.EscapeString(f.Title),
		Attachment: []fileAttachment{at}}
	h.AttributedTo.ID = f.By
	text, err := json.Marshal(h)
	if err != nil {
		panic(err) // all texts are UTF-8
	}
	return text[:len(text)-1] // without the closing brace
}

// shownBelow returns the body of an asset with a file, with addresses of a server with this base path. In JSON the
// quotes of a text are escaped, so only the members href of the attachment can have these bytes.
func shownBelow(base string, body []byte) []byte {
	const before = `"href":"`
	return bytes.ReplaceAll(body, []byte(before+filePath), []byte(before+base+filePath))
}

// draft returns what is stored of an asset with the file.
func (f fileRecord) draft(folders []string, lim Limits) (draft, error) {
	d := draft{NewAsset: NewAsset{ID: f.ID, Generator: Generator{filesGenerator}, Folders: unique(folders)},
		origin: originOf(filesGenerator, f.ID), content: f.head(), file: &f}
	var err error
	d.text, err = searchable(append(slices.Clip(d.content), '}'), lim.SearchedWords, newRules)
	return d, err
}

// fileOf returns the record of an asset's file, or nil if it has none.
func (r assetRecord) fileOf() (*fileRecord, error) {
	if r.File == nil {
		return nil, nil
	}
	var f fileRecord
	if err := json.Unmarshal(r.File, &f); err != nil {
		return nil, fmt.Errorf("stored file of the asset %d: %w", r.Ordinal, err)
	}
	return &f, nil
}

// encode is the inverse of fileOf.
func (f *fileRecord) encode() []byte {
	if f == nil {
		return nil
	}
	text, err := json.Marshal(*f)
	if err != nil {
		panic(err) // all texts are UTF-8
	}
	return text
}

// goneFile is a record of bytes that no file has any more. It is written by the update that takes them from their file,
// and deleted when the bytes are.
type goneFile struct {
	Names []string `json:"names"`         // of the bytes
	Home  string   `json:"home,omitzero"` // the id of the file, if it was removed
}

// moveFile keeps the records beside an asset that change with its file. r is the asset as it was, and after its file
// from now on, nil for none.
func (req *request) moveFile(r assetRecord, after *fileRecord) error {
	before, err := r.fileOf()
	if err != nil || before != nil && after != nil && before.Bytes == after.Bytes {
		return err
	}
	if before != nil {
		gone := goneFile{Names: before.names()}
		if req.state.Files -= before.stored(); after == nil {
			gone.Home = before.ID
			if err := req.delete(req.fileKey(before.ID)); err != nil {
				return err
			}
		}
		if err := req.putJSON(keyval.Key(req.space, goneKind, before.Bytes), gone); err != nil {
			return err
		}
		req.changes.files = append(req.changes.files, before.ID)
	}
	if after == nil {
		return nil
	}
	if err := req.checkRoom(after.stored()); err != nil {
		return err
	}
	req.state.Files += after.stored()
	if before != nil {
		return nil
	}
	return req.putJSON(req.fileKey(after.ID), r.Ordinal)
}

// checkRoom returns ErrUnprocessable if the libraries of the network would have more bytes of files than
// Limits.Files with so many more. The counts of other libraries are as they were committed. They do not grow meanwhile:
// an upload to another library than the network's own is an exclusive update, so that no two run at the same time.
func (req *request) checkRoom(more int64) error {
	total := req.state.Files + more
	states := keyval.Map(req.r.Spaces(req.ctx, keyval.Space("assets", req.lib.Network)+"/"),
		func(space string) (string, error) { return keyval.Key(space, stateKind), nil })
	for e, err := range keyval.Load(req.ctx, req.r, states, 1000) {
		var state libraryState
		if err == nil && e.Key != req.key(stateKind) {
			err = readJSON(e.Key, e.Value, &state)
		}
		if err != nil {
			return err
		}
		total += state.Files
	}
	if total > req.limits.Files {
		return fault.Unprocessable(vitrine.CodeLimit, "",
			"the files of the network would have %d bytes together, at most %d are allowed: remove some first", total,
			req.limits.Files)
	}
	return nil
}

// UploadRequest says which asset an upload becomes.
//
// # Files
//
// Session.Upload adds an asset with a file: a picture, a video, sound or a PDF. Its content is made by the service,
// with the generator files and one attachment; ChangeAssets adds no asset with this generator, and what other content
// says about a file means nothing. EditFile changes the texts, and ReplaceFile the bytes. Both want the [Asset.ETag]
// with which the caller has read the asset, so nobody overwrites what they have not seen. Everything else holds for
// these assets as for all others: folders, attributes, search, the feed, removal.
//
// Who may read an asset is decided by its folders. Its bytes are for everybody who has their address: the id in it has
// 128 random bits. Service.File returns them as long as the asset is there, and is in no folder or in one that is not
// deleted.
//
// The bytes are in the store, in chunks, or where [Options].Files keeps them. Each upload has bytes of its own, and the
// record that names them is committed last. So no reader sees a part of a file. Service.Upkeep deletes what was removed
// or replaced.
type UploadRequest struct {
	// Name is the name of the file, of 1 to 255 bytes without slashes, backslashes and control characters; "" = file,
	// with the ending of its type. It never changes.
	Name    string
	Folders []string // ids of the folders that the asset is put into
	Title   string   // the text of the asset; "" = Name
	Alt     string   // what a picture shows, for people who do not see it
	Size    int64    // how many bytes the body has; 0 = unknown
}

// Upload adds an asset with a file, whose bytes it reads from body once it is known that the caller may add it. The
// type is found in the first bytes. What tells of place, camera and person is taken out of pictures, and pictures are
// also stored in smaller widths.
//
// It returns
//
//   - ErrNotFound, ErrForbidden: as ChangeAssets does for a new asset;
//   - ErrInvalid if a field is malformed;
//   - ErrUnprocessable with CodeMediaType if files of this type are not taken, with CodeNotApplicable for a picture
//     that is not whole, and with CodeLimit if the network would have more than Limits.Files;
//   - ErrTooLarge if the file is longer than Limits.File;
//   - ErrBusy if there is no memory for the picture in time.
//
// An error of body is returned as it is. The body may be a [Reserver]. Asset.Attachments returns the address of the
// file.
func (s *Session) Upload(ctx context.Context, lib Library, in UploadRequest, body io.Reader) (Asset, error) {
	s = s.calls("Upload")
	lim := s.service.limits
	if _, err := s.authorize(lib); err != nil {
		return Asset{}, err
	}
	if err := in.check(lim); err != nil {
		return Asset{}, err
	}
	mayAdd := func(req *request) error {
		for _, id := range in.Folders {
			if _, err := req.folderToFill("folder", id); err != nil {
				return err
			}
		}
		if len(in.Folders) == 0 && !req.moderator {
			return fault.At("folder", fault.Forbidden("to add an asset to no folder is for moderators"))
		}
		return nil
	}
	err := s.allowed(ctx, lib, func(req *request) error { return cmp.Or(mayAdd(req), req.checkRoom(in.Size)) })
	if err != nil {
		return Asset{}, err
	}
	f := fileRecord{ID: s.service.newFileID(), Name: in.Name, Title: in.Title, Alt: in.Alt, By: s.by.URN,
		Focus: Focus{0.5, 0.5}}
	return s.keep(ctx, lib, f, body, func(req *request, f fileRecord) (assetRecord, error) {
		d, err := f.draft(in.Folders, req.limits)
		if err == nil {
			err = mayAdd(req)
		}
		if err != nil {
			return assetRecord{}, err
		}
		return req.addNew(d, max(req.now().UnixMilli(), req.state.At))
	})
}

// check returns ErrInvalid unless the fields are well-formed.
func (in UploadRequest) check(lim Limits) error {
	if n := len(in.Folders); n > lim.AssetFolders {
		return fault.Invalid("folder", "is given %d times, at most %d are allowed", n, lim.AssetFolders)
	}
	if in.Name != "" {
		if err := checkFileName(in.Name); err != nil {
			return err
		}
	}
	if in.Size > int64(lim.File) {
		return errFileSize(lim)
	}
	if err := checkText("title", in.Title, lim.Text); err != nil {
		return err
	}
	return checkText("alt", in.Alt, lim.Text)
}

// checkFileName returns ErrInvalid unless a file may have the name.
func checkFileName(name string) error {
	if name == "." || name == ".." || len(name) > 255 || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) }) {
		return fault.Invalid("name",
			"want the name of a file: 1 to 255 bytes of UTF-8 without slashes, backslashes and control characters")
	}
	return nil
}

func errFileSize(lim Limits) error {
	return fault.TooLarge("the file is larger than %d bytes", lim.File)
}

// newFileID returns 128 random bits in hex, whatever Options.NewID is.
func (s *Service) newFileID() string {
	secret := s.newSecret()
	return hex.EncodeToString(secret[:16])
}

// EditFileRequest says what to change of an asset that has a file. A nil field leaves that part as it is.
type EditFileRequest struct {
	Asset   string `json:"-"` // its id
	IfMatch string `json:"-"` // the ETag of the asset as the caller has read it: see Asset.ETag

	Title     *string                      `json:"title,omitempty"` // the text of the asset
	Alt       *string                      `json:"alt,omitempty"`
	Focus     *Focus                       `json:"focus,omitempty"`
	CreatedAt *time.Time                   `json:"createdAt,omitempty"` // as in NewAsset
	Fill      func(*EditFileRequest) error `json:"-"`                   // as in ChangeAssetsRequest
}

// EditFile changes the texts of an asset that has a file, and the focus of its picture. It returns
//
//   - ErrNotFound, ErrForbidden: as ChangeAssets does for an asset that it replaces;
//   - ErrInvalid if a field is malformed, and with CodePrecondition if IfMatch is "";
//   - ErrConflict with CodeChanged if IfMatch is not the ETag of the asset;
//   - ErrUnprocessable if the asset has no file.
func (s *Session) EditFile(ctx context.Context, lib Library, in EditFileRequest) (Asset, error) {
	err := fill(ctx, s, lib, &in, in.Fill, func(req *request) error {
		_, _, err := req.fileToChange(in.Asset, in.IfMatch)
		return err
	})
	if err != nil {
		return Asset{}, err
	}
	return update(ctx, s, lib, size{}, func(req *request) (Asset, error) {
		r, f, err := req.fileToChange(in.Asset, in.IfMatch)
		if err != nil {
			return Asset{}, err
		}
		if err := in.apply(f, req.limits); err != nil {
			return Asset{}, err
		}
		dated := NewAsset{CreatedAt: in.CreatedAt}
		if err := dated.checkCreated("", req.now()); err != nil {
			return Asset{}, err
		}
		if r, err = req.putFile(r, *f, in.CreatedAt); err != nil {
			return Asset{}, err
		}
		return req.asset(r), nil
	})
}

// apply changes f as the request says.
func (in EditFileRequest) apply(f *fileRecord, lim Limits) error {
	for _, text := range []struct {
		at       string
		from, to *string
	}{{"/title", in.Title, &f.Title}, {"/alt", in.Alt, &f.Alt}} {
		if text.from == nil {
			continue
		}
		if err := checkText(text.at, *text.from, lim.Text); err != nil {
			return err
		}
		*text.to = *text.from
	}
	if p := in.Focus; p != nil {
		if !(p.X >= 0 && p.X <= 1 && p.Y >= 0 && p.Y <= 1) {
			return fault.Invalid("/focus", "want x and y from 0 to 1")
		}
		f.Focus = *p
	}
	return nil
}

// ReplaceFileRequest says which file to replace.
type ReplaceFileRequest struct {
	Asset   string // its id
	IfMatch string // as in EditFileRequest
	Size    int64  // how many bytes the body has; 0 = unknown
}

// ReplaceFile replaces the bytes of an asset's file. Its name and its address stay. It reads body once it is known that
// the caller may do so, and returns the errors of Upload and EditFile.
func (s *Session) ReplaceFile(ctx context.Context, lib Library, in ReplaceFileRequest, body io.Reader) (Asset, error) {
	if in.Size > int64(s.service.limits.File) {
		return Asset{}, errFileSize(s.service.limits)
	}
	var old fileRecord
	err := s.allowed(ctx, lib, func(req *request) error {
		_, f, err := req.fileToChange(in.Asset, in.IfMatch)
		if err != nil {
			return err
		}
		old = *f
		return req.checkRoom(in.Size - f.stored())
	})
	if err != nil {
		return Asset{}, err
	}
	return s.keep(ctx, lib, old, body, func(req *request, f fileRecord) (assetRecord, error) {
		r, _, err := req.fileToChange(in.Asset, in.IfMatch) // so it is still what old was made of
		if err != nil {
			return assetRecord{}, err
		}
		return req.putFile(r, f, nil)
	})
}

// fileToChange returns an asset that has a file and that the caller may change, if ifMatch is its ETag.
func (req *request) fileToChange(id, ifMatch string) (r assetRecord, f *fileRecord, err error) {
	found, err := req.find(id)
	if err == nil && found != nil {
		r = *found
		f, err = r.fileOf()
	}
	switch {
	case err != nil:
	case found == nil:
		err = noAsset("")
	case !req.editsAsset(req.tree, r.Folders):
		err = fault.Forbidden("to change an asset needs edit on one of its folders")
	case f == nil:
		err = fault.NotApplicable("", "the asset has no file: change it as it was added")
	case ifMatch == "":
		e := fault.Invalid("If-Match", "is missing: want the ETag of the asset")
		e.Code = vitrine.CodePrecondition
		err = e
	case ifMatch != req.asset(r).ETag():
		err = fault.At("If-Match", fault.Conflict(vitrine.CodeChanged, vitrine.Version{},
			"is not the present ETag of the asset: read it again"))
	}
	return r, f, err
}

// putFile stores f as the file of an asset that has one. createdAt is as in NewAsset.
func (req *request) putFile(r assetRecord, f fileRecord, createdAt *time.Time) (assetRecord, error) {
	d, err := f.draft(nil, req.limits)
	if err != nil {
		return assetRecord{}, err
	}
	d.CreatedAt = createdAt
	return req.replace(r, d, req.now().UnixMilli())
}
