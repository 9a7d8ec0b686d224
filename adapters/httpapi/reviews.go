package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/vitrine-go/vitrine/internal/urlpath"
	"github.com/vitrine-go/vitrine/reviews"
)

// reviewRoutes is the import, the export and the lists of reviews, an extension. Each endpoint is about one network,
// which the caller must moderate as a whole.
type reviewRoutes struct {
	svc   Reviews
	spool *reviews.Spool // for the temporary files of all imports together
	gate  *reviews.Gate  // for their large reviews
}

// recordsBody is a file of records, of any size, as it is or compressed.
var recordsBody = body{
	types:  []string{"application/x-ndjson", "application/json", "text/plain", "application/octet-stream"},
	stream: true,
}

func (v reviewRoutes) table() []route {
	return []route{
		{method: "POST", path: "/x/reviews/import", status: 200, call: v.load, admit: v.admit,
			query: []string{"network", "dryRun"}, body: recordsBody},
		{method: "GET", path: "/x/reviews/export", status: 200, call: v.export, admit: v.admit, query: []string{"network"}},
		{method: "GET", path: "/x/reviews/collections", eitherSlash: true, status: 200, call: v.collections, admit: v.admit, reserves: true,
			query: []string{"network", "source", "limit", "after"}},
		{method: "GET", path: "/x/reviews/collections/{collection}/reviews", eitherSlash: true, status: 200, call: v.reviews, admit: v.admit, reserves: true,
			query: []string{"network", "source", "limit", "after"}},
	}
}

func (v reviewRoutes) caller(c *call) reviews.Caller {
	return reviews.Caller{URN: c.by.URN, Moderates: c.by.Moderates, TagsOnly: c.by.TagsOnly}
}

// network returns the network that a request is about: the parameter network or, without it, the only
// one that the caller moderates.
func (v reviewRoutes) network(c *call) (string, error) {
	network, err := c.query.one("network")
	if err != nil {
		return "", err
	}
	if !c.query.has("network") {
		network, err = v.svc.NetworkOf(v.caller(c))
	} else {
		err = reviews.CheckNetwork(network)
	}
	return network, err
}

// admit refuses who does not moderate the network before anything else is said of the request.
func (v reviewRoutes) admit(c *call) error {
	network, err := v.network(c)
	if err != nil {
		return err
	}
	return v.svc.Admit(v.caller(c), network)
}

func (v reviewRoutes) load(c *call) error {
	network, err := v.network(c)
	if err != nil {
		return err
	}
	dryRun, err := c.query.flag("dryRun")
	if err != nil {
		return err
	}
	file, err := newUpload(c, network)
	if err != nil {
		return err
	}
	defer file.leave()
	// net/http ends the context of a request whose body ends early, and what came before is to be stored.
	report, err := v.svc.Import(context.WithoutCancel(c.ctx()), v.caller(c), reviews.ImportRequest{
		Network: network, File: file, DryRun: dryRun, Options: reviews.Options{Spool: v.spool, Gate: v.gate},
	})
	if errors.Is(err, errEnded) { // the report says how far it came
		c.header()["Connection"] = closeConnection
		return c.json(report.WithoutEmail())
	}
	kept := "what came before is imported, and sending all of it again is safe"
	if dryRun {
		kept = "nothing is imported by a dry run"
	}
	if errors.Is(err, reviews.ErrSpool) {
		return refuse(http.StatusServiceUnavailable, "the temporary files of all uploads take as much room as they may: try again; %s", kept)
	}
	if fault := file.fault(err); fault != "" {
		return refuse(http.StatusBadRequest, "%s; %s", fault, kept)
	}
	if err != nil {
		return &inPart{err, kept}
	}
	return c.json(report.WithoutEmail())
}

// list reads what both lists are asked.
func (v reviewRoutes) list(c *call) (in reviews.ListReviewsRequest, err error) {
	if in.Network, err = v.network(c); err != nil {
		return in, err
	}
	if in.Source, err = c.query.one("source"); err != nil {
		return in, err
	}
	if in.Source == "" && c.query.has("source") {
		return in, refuseParameter("source", "no source is empty: want the source of a collection")
	}
	if in.After, err = c.query.cursor("after"); err != nil {
		return in, err
	}
	in.Limit, err = c.query.limit()
	return in, err
}

// collections answers the collections of the network, and what their ratings come to.
func (v reviewRoutes) collections(c *call) error {
	in, err := v.list(c)
	if err != nil {
		return err
	}
	page, err := v.svc.ListCollections(c.ctx(), v.caller(c), reviews.ListCollectionsRequest{Network: in.Network, Source: in.Source, After: in.After, Limit: in.Limit})
	if err != nil {
		return err
	}
	if page.Next != "" {
		c.next("/x/reviews/collections", "after", page.Next)
	}
	return c.json(struct {
		Collections []reviews.CollectionRecord `json:"collections"`
	}{page.Items})
}

// reviews answers the reviews of a collection, without imported_email.
func (v reviewRoutes) reviews(c *call) error {
	in, err := v.list(c)
	if err != nil {
		return err
	}
	in.Collection = c.param(0)
	page, err := v.svc.ListReviews(c.ctx(), v.caller(c), in)
	if err != nil {
		return err
	}
	if page.Next != "" {
		c.next("/x/reviews/collections/"+urlpath.Escape(in.Collection)+"/reviews", "after", page.Next)
	}
	return c.json(struct {
		Reviews []reviews.ReviewRecord `json:"reviews"`
	}{page.Items})
}

var recordsType = []string{"application/x-ndjson"}

// export sends all reviews of the network, in the format that load takes.
func (v reviewRoutes) export(c *call) error {
	network, err := v.network(c)
	if err != nil {
		return err
	}
	d := newDownload(c, recordsType)
	if c.r.Method != http.MethodHead {
		if err := c.h.exports.enter(c); err != nil {
			return err
		}
		defer c.h.exports.leave(c)
		err = v.svc.Export(c.ctx(), v.caller(c), reviews.ExportRequest{Network: network, To: d})
	}
	return d.end(err)
}

// inPart is an error that stopped an import after a part of it was stored.
type inPart struct {
	error
	kept string // says what is done
}

func (p *inPart) Unwrap() error { return p.error }
