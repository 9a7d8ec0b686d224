package httpapi

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// shownFilePath is what the addresses of files begin with. They need no token.
const shownFilePath = "/x/file/"

// anyType stands for all media types.
const anyType = "*/*"

// anyBody is a file, which the endpoint reads while it arrives. Its type is found in its first bytes.
var anyBody = body{types: []string{anyType}, stream: true}

// mergeBody is a JSON Merge Patch, under its own name or as JSON.
var mergeBody = body{types: []string{"application/json", "application/merge-patch+json"}}

// fileMembers are the rules of a change of an asset with a file.
var fileMembers = []member{{"title", optional, nil}, {"alt", optional, nil}, {"createdAt", optional, nil},
	{"focus", whole, []member{{"x", needed, nil}, {"y", needed, nil}}}}

// upload serves POST …/files with the bytes of a file: it adds an asset with it. 200 with {"asset":Asset}. 400; 403;
// 404 for a folder that is absent or not visible; 413; 415; 422 for a picture that is not whole, and over the limit of
// the network; 503 if there is no memory for it.
func (a assetRoutes) upload(c *call) error {
	q := &c.query
	in := assets.UploadRequest{Name: q.text("name"), Folders: q.Values["folder"], Title: q.text("title"),
		Alt: q.text("alt"), Size: max(c.r.ContentLength, 0)}
	if q.err != nil {
		return q.err
	}
	asset, err := a.as(c).Upload(c.r.Context(), libraryOf(c), in, &fileBody{c: c})
	return c.member("asset", asset, err)
}

// replaceFile serves PUT …/asset/{asset}/file with the header If-Match and the bytes of a file, which replace those of
// the asset's file. 200 with {"asset":Asset}, and the errors of upload; 412 if the asset has another ETag; 422 if it
// has no file; 428 without If-Match.
func (a assetRoutes) replaceFile(c *call) error {
	in := assets.ReplaceFileRequest{Asset: c.params[2], IfMatch: c.ifMatch(), Size: max(c.r.ContentLength, 0)}
	asset, err := a.as(c).ReplaceFile(c.r.Context(), libraryOf(c), in, &fileBody{c: c})
	return c.member("asset", asset, err)
}

// editFile serves PATCH …/asset/{asset} with the header If-Match and {"title", "alt", "focus", "createdAt"}: it changes
// those members of an asset with a file that the body has. 200 with {"asset":Asset}. 400; 403; 404; 412; 422; 428.
func (a assetRoutes) editFile(c *call) error {
	in := assets.EditFileRequest{Asset: c.params[2], IfMatch: c.ifMatch(),
		Fill: fill[assets.EditFileRequest](c, fileMembers...)}
	asset, err := askLibrary(c, a.as(c).EditFile, in)
	return c.member("asset", asset, err)
}

// ifMatch returns the header If-Match, or "" if there is none. A compressed response has an ETag of its own, with which
// a client may ask, too.
func (c *call) ifMatch() string {
	etag := strings.Join(c.r.Header["If-Match"], ", ")
	if plain, ok := strings.CutSuffix(etag, zippedEnd); ok {
		etag = plain + `"`
	}
	return etag
}

// fileBody is the body of an upload, which the domain reads when it knows that the caller may upload.
type fileBody struct {
	c     *call
	begun bool
	err   error // the first one
}

// uploadMemory is what an upload takes, besides the decoding of pictures.
const uploadMemory = 4 << 20

// Read reads from the client. The first Read takes the memory for the upload.
func (b *fileBody) Read(p []byte) (n int, err error) {
	if !b.begun {
		b.begun, b.err = true, b.begin()
	}
	if b.err != nil {
		return 0, b.err
	}
	n, err = b.c.exchange(false, func() (int, error) { return b.c.r.Body.Read(p) })
	switch {
	case err == io.EOF:
		b.c.drained, b.c.bodyEnded = true, true
		_ = b.c.client.control.SetReadDeadline(time.Time{})
		b.c.large.keep(1) // for a chunk of the file: uploads that wait for memory to decode leave it to each other
	case err != nil:
		err = b.c.incomplete(err)
	}
	b.err = err
	return n, err
}

func (b *fileBody) begin() error {
	if err := b.c.enlarge(uploadMemory, slotPatience); err != nil {
		return err
	}
	b.c.left = b.c.patience(false)
	// HTTP/2 ends a request when the time to write is over, also where nothing is written yet.
	_ = b.c.client.control.SetWriteDeadline(time.Time{})
	return nil
}

// Reserve takes the memory for decoding a picture from that of large requests, a quarter of which is left for others.
// The domain decodes one picture of a caller at a time, so this counts in no caller's share.
func (b *fileBody) Reserve(ctx context.Context, bytes int64) (release func(), err error) {
	all := b.c.h.large
	x := &slot{all: all, caller: "pictures of " + b.c.counted()}
	count := min((bytes+slotBytes-1)/slotBytes, int64(all.total-max(all.total/4, 1)))
	return func() { x.keep(0) }, x.acquire(ctx, int(count), math.MaxInt64)
}

// file serves GET /x/file/{id}/{name}: the bytes of a file, without a token. 200, or 206 with a part of them; 304. With
// w a picture in a smaller width; with v shared caches keep it for a year, if that names the present bytes. 400 for
// another parameter; 404; 416; 503 while the bytes cannot be read. A response under way is cut short when the file is
// removed, replaced, or in deleted folders alone.
func (a assetRoutes) file(c *call) error {
	version := c.query.text("v")
	in := assets.FileRequest{ID: c.params[0], Name: c.params[1], Width: c.query.count("w")}
	file, err := ask(c, a.svc.File, in)
	if err != nil {
		return err
	}
	defer file.Bytes.Close()
	c.turn.keep(0)
	if !c.drain() {
		return errBodyMissing
	}
	size, err := file.Bytes.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if err := c.enlarge(int(min(size, slotBytes)), filePatience); err != nil {
		return err
	}
	c.left = c.patience(true)
	cache := "public, max-age=60"
	if version == file.Version {
		cache = "public, max-age=31536000, immutable"
	}
	c.cacheAs([]string{cache})
	header := http.Header{"Etag": {file.ETag}, "Content-Type": {file.Type}, "Content-Security-Policy": fileSecurity,
		"Cross-Origin-Resource-Policy": {"cross-origin"}, "Cache-Tag": {"file-" + file.ID}}
	if kind, ending, _ := strings.Cut(file.Type, "/"); !slices.Contains([]string{"image", "video", "audio"}, kind) {
		name := file.Name
		if !strings.EqualFold(path.Ext(name), "."+ending) {
			name += "." + ending // so that a desktop opens x.html as what it is, a PDF, and runs nothing in it
		}
		header["Content-Disposition"] = []string{"attachment; filename*=UTF-8''" + urlescape.Escape(name)}
	}
	delete(c.r.Header, "If-Match") // caches would keep a 412
	part := oneRange.FindStringSubmatch(c.r.Header.Get("Range"))
	switch {
	case part == nil || part[1]+part[2] == "" || part[1] != "" && part[2] != "" && before(part[2], part[1]):
		delete(c.r.Header, "Range") // thousands of ranges of a byte would each read a whole chunk
	case part[1] == "" && before(part[2], "1"): // http.ServeContent would send a range of no bytes
		c.r.Header["Range"] = []string{"bytes=" + strconv.FormatInt(size, 10) + "-"}
	}
	w, from := &fileWriter{call: c, header: header}, &fileReader{ReadSeeker: file.Bytes}
	http.ServeContent(w, c.r, "", time.Time{}, from)
	switch {
	case w.status == http.StatusRequestedRangeNotSatisfiable:
		c.w.Header()["Content-Range"] = []string{"bytes */" + strconv.FormatInt(size, 10)}
		return &httpError{status: w.status, details: details{Code: vitrine.CodeInvalid, Parameter: "Range"},
			Text: "header Range: the file has " + strconv.FormatInt(size, 10) + " bytes, and none of these"}
	case from.err == nil:
		w.begin()
		return nil
	case w.sent:
		if !errors.Is(from.err, fs.ErrNotExist) && c.r.Context().Err() == nil {
			c.log("the response was cut short", from.err)
		}
		panic(http.ErrAbortHandler)
	case errors.Is(from.err, fs.ErrNotExist):
		return fault.NotFound("there is no such file")
	}
	return from.err
}

// oneRange matches a header Range with one range of bytes. Any other header counts as if there were none: HTTP demands
// it of other units, and allows it of what is malformed.
var oneRange = regexp.MustCompile(`^bytes=[ \t]*(\d{0,18})-(\d{0,18})[ \t]*$`)

// before reports whether one number in digits is less than another one.
func before(a, b string) bool {
	x, _ := strconv.ParseInt(a, 10, 64)
	y, _ := strconv.ParseInt(b, 10, 64)
	return x < y
}

// filePatience is how long a download waits for others: a page may have any number of pictures, and a browser asks for
// them all at once.
const filePatience = time.Minute

// fileSecurity keeps a file from doing anything when a browser shows it as a page: SVG may have scripts.
var fileSecurity = []string{"default-src 'none'; style-src 'unsafe-inline'; sandbox"}

// fileReader notes the error that ends a file early, which http.ServeContent does not tell.
type fileReader struct {
	io.ReadSeeker
	err error
}

func (r *fileReader) Read(p []byte) (int, error) {
	n, err := r.ReadSeeker.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// fileWriter sends a file at the pace of the client. It holds the header back until there are bytes, so that a file
// whose bytes cannot be read, and a part that is outside of it, gets the response of an error.
type fileWriter struct {
	*call
	status int
	header http.Header
}

func (w *fileWriter) Header() http.Header { return w.header }

func (w *fileWriter) WriteHeader(status int) { w.status = status }

// begin sends the header, unless it was sent.
func (w *fileWriter) begin() {
	if !w.sent {
		w.call.status, w.sent = w.status, true
		maps.Copy(w.w.Header(), w.header)
		w.w.WriteHeader(w.status)
	}
}

func (w *fileWriter) Write(p []byte) (int, error) {
	if w.status == http.StatusRequestedRangeNotSatisfiable {
		return len(p), nil
	}
	w.begin()
	before := w.written
	err := w.write(p)
	return int(w.written - before), err
}

// ReadFrom lets http.ServeContent copy with a buffer that other downloads have used before.
func (w *fileWriter) ReadFrom(r io.Reader) (int64, error) {
	b, _ := w.h.copies.Get().(*[128 << 10]byte)
	if b == nil {
		b = new([128 << 10]byte)
	}
	defer w.h.copies.Put(b)
	return io.CopyBuffer(struct{ io.Writer }{w}, r, b[:])
}
