package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/gunzip"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/urlescape"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/reviews/convert"
)

// reviewRoutes are the endpoints of the import, the export, the lists and the erasing of reviews. Each is about one
// network, which the caller must moderate as a whole, else it is 403. The comment of appRoutes says what a handler
// does.
type reviewRoutes struct {
	svc       *reviews.Service
	longLines chan struct{} // of all imports together, see reviews.ReadOptions
	spools    chan struct{} // of all conversions together, see convert.Request
}

// as returns a Session for the caller of the request.
func (v reviewRoutes) as(c *call) *reviews.Session { return v.svc.As(c.by.Caller) }

// recordsBody is a file of records of any size, plain or compressed with gzip. The endpoint reads it while it arrives.
var recordsBody = body{
	types: []string{"application/x-ndjson", "application/json", "text/plain", "application/octet-stream"},
	// A form of another site can send text/plain without asking, with the cookie of its visitor. Before a page of
	// another site may send application/x-ndjson, the browser asks with a preflight request, whose response allows no
	// cookies.
	ambientTypes: []string{"application/x-ndjson"},
	stream:       true,
}

// authorize runs before the other parameters and the body are read. It sets c.network: the parameter network or,
// without it, the only network that the caller moderates. It returns 403 for a caller who does not moderate the
// network, and 400 for a parameter network that is malformed, repeated, or missing though the caller moderates several.
func (v reviewRoutes) authorize(c *call) (err error) {
	named := c.query.filled("network", "want the name of a network")
	if c.query.err != nil {
		return c.query.err
	}
	c.network, err = v.as(c).Network(named)
	return err
}

// load serves POST /x/reviews/import with NDJSON: it imports reviews, and with dryRun=true only checks them. 200 with a
// report, also if every line was rejected, and also if the upload was ended because it was too slow. 400 for a body
// that ends early, or that is not the gzip that its header or its first bytes announce; 415; 429 if no slot becomes
// free. What was imported before an error stays stored, except in a dry run; the sentence of the error says so.
func (v reviewRoutes) load(c *call) error {
	dryRun := c.query.flag("dryRun")
	if c.query.err != nil {
		return c.query.err
	}
	file, err := v.upload(c)
	if err != nil {
		return err
	}
	defer file.release()
	var report reviews.Report
	in := reviews.ImportRequest{Network: c.network, DryRun: dryRun,
		ReadOptions: reviews.ReadOptions{MaxLine: c.h.Limits.Line, LongLines: v.longLines}}
	if in.File, err = file.content(); err == nil {
		// net/http ends the context of a request whose body ends early, and the part before must be stored.
		report, err = v.as(c).Import(context.WithoutCancel(c.r.Context()), in)
	}
	if errors.Is(err, errEnded) { // the report says how much of the file was imported
		c.w.Header()["Connection"] = closeConnection
		return c.json(report.WithoutEmail(), nil)
	}
	c.stored = "what came before is imported, and sending all of it again is safe"
	if dryRun {
		c.stored = "nothing is imported by a dry run"
	}
	return c.json(report.WithoutEmail(), file.bodyError(err))
}

// tableBody is a table of reviews, or JSON with some. Browsers of Windows call CSV a file of Excel.
var tableBody = body{
	types: []string{"text/csv", "text/tab-separated-values", "application/vnd.ms-excel", "application/json",
		"application/x-ndjson", "text/plain", "application/octet-stream"},
	ambientTypes: []string{"text/csv"}, // as for recordsBody
	stream:       true,
}

// authorizeConverter allows every caller who may import into some network, whichever it is if the parameter network is
// missing.
func (v reviewRoutes) authorizeConverter(c *call) error {
	err := v.authorize(c)
	if errors.Is(err, vitrine.ErrInvalid) && !c.query.Has("network") { // there are several
		return nil
	}
	return err
}

// Limits of the temporary files of conversions, in bytes and in number.
const (
	mostSpooled   = 2 << 30 // of one table
	spoolsAtATime = 4
)

// tableType is the media type of rejected rows.
var tableType = []string{"text/csv; charset=utf-8"}

// convert serves POST /x/reviews/convert with a table: it stores nothing. 200 with NDJSON in the import format, whose
// last line is a convert.Result; with rejects=true with the rejected rows as CSV instead, and with guess=true with a
// guess from the beginning of the table (convert.Sight). 400 for a file that is no table, for a mapping that does not
// fit it, and for a body that does not arrive whole; 415; 429.
func (v reviewRoutes) convert(c *call) error {
	in := convert.Request{Source: c.query.filled("source", "it is empty: want the site that the reviews come from"),
		Dates: c.query.text("dates"), Zone: c.query.text("zone"),
		Large: v.longLines, Spools: v.spools, MaxSpool: mostSpooled, MaxLine: c.h.Limits.Line}
	mapping, scale := c.query.filled("mapping", "it is empty: want a JSON object"), c.query.text("scale")
	if c.query.Has("mapping") && mapping != "" {
		if err := strictjson.Decode([]byte(mapping), &in.Mapping); err != nil {
			c.query.invalid("mapping", "%s", err)
		}
	}
	if c.query.Has("scale") {
		var err error
		if in.Scale, err = strconv.ParseFloat(scale, 64); err != nil || in.Scale == 0 {
			c.query.invalid("scale", "%q is no number above 0", scale)
		}
	}
	rejects, guess := c.query.flag("rejects"), c.query.flag("guess")
	in.Fill, in.Charset = c.query.flag("fill"), c.query.text("charset")
	if c.query.err != nil {
		return c.query.err
	}
	file, err := v.upload(c)
	if err != nil {
		return err
	}
	defer file.release()
	if in.File, err = file.content(); err != nil {
		return file.bodyError(err)
	}
	if guess {
		sight, err := convert.Look(in.File, in.Charset)
		return c.json(sight, file.bodyError(err))
	}
	d := &download{call: c, control: http.NewResponseController(c.w), media: recordsType}
	in.To = d
	if rejects {
		d.media, in.To, in.Rejects = tableType, io.Discard, d
	}
	result, err := convert.Convert(c.r.Context(), in)
	if err == nil && !rejects {
		var last []byte
		if last, err = json.Marshal(result); err == nil {
			_, err = d.Write(append(last, '\n'))
		}
	}
	return d.end(file.bodyError(err))
}

// erase serves DELETE /x/reviews: it erases the reviews that the parameters name, for good, and with dryRun=true only
// counts them. 200 with {"collections","reviews","replies"}, the numbers of what was erased. 400 without a parameter
// that names something, and for one that is empty; 404 if there is nothing to erase; 503 if everything is erased, but
// copies are left in the files of the store.
func (v reviewRoutes) erase(c *call) error {
	named := func(parameter string) string {
		return c.query.filled(parameter, "it is empty: leave it out, or name what is to be erased")
	}
	in := reviews.DeleteRequest{Network: c.network, Source: named("source"), Collection: named("collection"),
		Review: named("review"), Author: named("author"), Email: named("email"),
		Everything: c.query.flag("everything"), DryRun: c.query.flag("dryRun")}
	if !in.DryRun {
		if err := c.erases(); err != nil {
			return err
		}
	}
	done, err := ask(c, v.as(c).Delete, in)
	if errors.Is(err, reviews.ErrCopies) {
		return errorf(http.StatusServiceUnavailable,
			"it is erased, and copies are left in the files of the store, since somebody reads there: send the "+
				"request again")
	}
	return c.json(done, err)
}

// source reads the source of collections.
func (v reviewRoutes) source(c *call) string {
	return c.query.filled("source", "no source is empty: want the source of a collection")
}

// collections serves GET /x/reviews/collections: the collections of the network by source and id, each with the mean
// and the distribution of its ratings. 200 with {"collections":[CollectionRecord]} and a Link to the next page if there
// is one. 400.
func (v reviewRoutes) collections(c *call) error {
	in := reviews.ListCollectionsRequest{Network: c.network, Source: v.source(c), After: c.query.cursor("after"),
		Limit: c.query.count("limit")}
	list, err := askPage(c, v.as(c).ListCollections, in, "after")
	return c.member("collections", list, err)
}

// reviews serves GET /x/reviews/collections/{collection}/reviews: the reviews of a collection, the latest first,
// without imported_email. 200 with {"reviews":[ReviewRecord]} and a Link to the next page if there is one. 400, also if
// several sources have a collection of this id and source names none of them; 404.
func (v reviewRoutes) reviews(c *call) error {
	in := reviews.ListReviewsRequest{Network: c.network, Source: v.source(c), Collection: c.params[0],
		After: c.query.cursor("after"), Limit: c.query.count("limit")}
	list, err := askPage(c, v.as(c).ListReviews, in, "after")
	return c.member("reviews", list, err)
}

// show serves GET /x/public/reviews/{network}/{collection}?key=KEY: the part of a collection that a page shows. 200
// with a reviews.Shown, an ETag, a Cache-Control for shared caches and a Link to the next page if there is one; or 304.
// 400; 401 unless the key is a delivery token; 403 if it may not show reviews of the network; 404.
func (v reviewRoutes) show(c *call) error {
	in := reviews.ListReviewsRequest{Network: c.params[0], Collection: c.params[1], Source: v.source(c),
		After: c.query.cursor("after"), Limit: c.query.count("limit")}
	shown, err := ask(c, v.as(c).Show, in)
	if err := c.json(shown, err); err != nil {
		return err
	}
	if shown.Next != "" {
		c.next("after", shown.Next)
	}
	c.share(c.forEverybody(c.out, "reviews-"+urlescape.Escape(in.Network)))
	return nil
}

// recordsType is the media type of an export. An import accepts it too.
var recordsType = []string{"application/x-ndjson"}

// export serves GET /x/reviews/export: all reviews of the network as NDJSON, in the format that load accepts. It is the
// only response with imported_email. 200; if an error comes after the first bytes, the connection is cut, so that a
// client sees that the file is not whole. 429 if no slot becomes free within a second.
func (v reviewRoutes) export(c *call) (err error) {
	c.turn.keep(0)
	if !c.drain() {
		return errBodyMissing
	}
	d := &download{call: c, control: http.NewResponseController(c.w), media: recordsType}
	if c.r.Method != http.MethodHead {
		if err := c.acquireSlot(c.h.exports, ""); err != nil {
			return err
		}
		err = v.as(c).Export(c.r.Context(), c.network, d)
	}
	return d.end(err)
}

// errEnded is the error that ends the body of a client that gives nothing for Limits.Pause, or that was cut off for
// another upload. The import stores the part before, and load returns its report with 200.
var errEnded = errors.New("the upload was too slow and was ended")

// upload is the body of an import: a reader of a file of any size, which has a slot of its own.
type upload struct {
	*call
	packed bool  // Content-Encoding says that it is gzip
	failed error // of the body; it stays
	whole  bool  // the body was read to its end
}

// Read reads from the client, which may pause for Limits.Pause at most. The first error of the body stays: a later Read
// returns the same one at once.
func (u *upload) Read(p []byte) (n int, err error) {
	if u.failed != nil {
		return 0, u.failed
	}
	u.left = u.h.Limits.Pause
	n, err = u.exchange(false, func() (int, error) { return u.r.Body.Read(p) })
	if errors.Is(err, errCut) || errors.Is(err, os.ErrDeadlineExceeded) {
		err = errEnded
	}
	u.failed, u.whole = err, err == io.EOF
	return n, err
}

// bodyError returns err, or a 400 in its place if the body is at fault. An error of the connection counts first, since
// a gzip file that did not arrive whole looks damaged too.
func (u *upload) bodyError(err error) error {
	damaged, isDamaged := errors.AsType[*gunzip.Error](err)
	fault := "the body did not arrive whole"
	switch {
	case err == nil || (u.failed == nil || u.whole) && !isDamaged:
		return err
	case u.failed != nil && !u.whole:
	case u.packed:
		fault = "header Content-Encoding: " + damaged.Error()
	default:
		fault = damaged.Error()
	}
	if u.stored != "" {
		fault += "; " + u.stored
	}
	return errorf(http.StatusBadRequest, "%s", fault)
}

// upload begins to read the body, for which it takes a slot.
func (v reviewRoutes) upload(c *call) (*upload, error) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(c.r.Header["Content-Encoding"], ",")))
	if coding != "" && coding != "identity" && coding != "gzip" {
		return nil, headerErrorf(http.StatusUnsupportedMediaType, "Content-Encoding", "want gzip or identity, have %q",
			coding)
	}
	if err := c.acquireSlot(c.h.uploads, c.network); err != nil {
		return nil, err
	}
	// HTTP/2 ends a request when the time to write is over, also where nothing is written yet. A writer
	// that knows no deadlines sets none.
	_ = c.client.control.SetWriteDeadline(time.Time{})
	return &upload{call: c, packed: coding == "gzip"}, nil
}

// content returns the body without the compression that Content-Encoding names. Import and convert recognise other gzip
// files themselves.
func (u *upload) content() (io.Reader, error) {
	if u.packed {
		return gunzip.NewReader(u)
	}
	return u, nil
}

// release releases the slot, notes whether the body was read to its end, and sets the server's deadline for the
// response.
func (u *upload) release() {
	u.drained, u.bodyEnded = u.whole, u.whole
	u.slot.keep(0)
	if server, ok := u.r.Context().Value(http.ServerContextKey).(*http.Server); ok && server.WriteTimeout > 0 {
		_ = u.client.control.SetWriteDeadline(time.Now().Add(server.WriteTimeout))
	}
}

// download is a response of any size, which is sent while it is made. The headers are sent with the first bytes, so an
// error before that becomes a response like any other. After a later error the connection is cut, so that a client
// notices that the response is not complete.
//
// The store is read as fast as the client reads, with a snapshot open meanwhile. The client has the time of any other
// large response; only the time in which the server waits for it counts.
type download struct {
	*call
	control *http.ResponseController
	media   []string // the Content-Type
	failed  bool     // a write has failed
}

// begin sends the headers, once. The length is not known yet, so there is no Content-Length; over HTTP/1.1 the body is
// chunked, and the last chunk is how a client knows that the response is complete.
func (d *download) begin() {
	if d.sent {
		return
	}
	d.sent = true
	d.w.Header()["Content-Type"] = d.media
	d.cacheAs(noStore)
	d.left = d.patience(true)
	_ = d.control.SetWriteDeadline(time.Now().Add(d.left))
	d.w.WriteHeader(d.status)
	// else net/http would add a Content-Length to a short response, also if an error ends it early
	_ = d.control.Flush()
}

// Write sends p.
func (d *download) Write(p []byte) (sent int, err error) {
	d.begin()
	before := d.written
	err = d.write(p)
	// over HTTP/2 a deadline ends the response also while nothing is written
	_ = d.control.SetWriteDeadline(time.Time{})
	d.failed = d.failed || err != nil
	return int(d.written - before), err
}

// end ends the response. err is the error that keeps it from being complete, nil if it is complete. If nothing was sent
// yet, end returns err. Otherwise the status 200 was sent already, so end drops the connection, with the panic that
// net/http has for this.
func (d *download) end(err error) error {
	if err != nil && !d.sent {
		return err
	}
	d.begin()
	if err != nil {
		if !d.failed && d.r.Context().Err() == nil { // else the client has disconnected or was cut off
			d.log("the response was cut short", err)
		}
		panic(http.ErrAbortHandler)
	}
	_ = d.control.SetWriteDeadline(time.Now().Add(d.left)) // for the bytes that net/http has yet to send
	return nil
}
