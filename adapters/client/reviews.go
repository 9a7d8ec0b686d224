package client

import (
	"context"
	"io"
	"iter"
	"net/http"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/reviews"
)

// Reviews is the import, the export and the lists of reviews of a server. Its methods are those of *reviews.Session,
// with the same errors; their comments say only what is different.
type Reviews struct{ remote }

// Import sends a file of reviews of any size while it reads it, plain or compressed with gzip, and returns the report.
// With DryRun nothing is stored. It returns ErrForbidden unless the caller moderates the network as a whole. An empty
// Network stands for the only one that the caller moderates; if there are several, it returns ErrInvalid.
//
// The file is sent once. If no response arrives, a part may be stored, and the same file can be sent again. A service
// that rejects the request does so before the file is sent. Only ctx limits how long the import takes.
//
// The service decides how it reads the file. Of the Options, Progress is called with the number of bytes that were
// sent, and Problem is called with the problems of the report at the end, the first 1,000 of the file.
func (v *Reviews) Import(ctx context.Context, in reviews.ImportRequest) (reviews.Report, error) {
	none := reviews.Report{Problems: []reviews.Problem{}}
	if in.File == nil {
		return none, fault.Invalid("", "the request has no file to import")
	}
	file := in.File
	if in.Progress != nil {
		file = &counted{in: file, tell: in.Progress}
	}
	q := values{}.flag("dryRun", in.DryRun).text("network", in.Network)
	report, err := send[reviews.Report](ctx, v.remote,
		request{method: http.MethodPost, path: "/x/reviews/import", query: q, stream: file}, object("problems"))
	if err != nil {
		return none, err
	}
	if in.Problem != nil {
		for _, p := range report.Problems {
			in.Problem(p)
		}
	}
	return report, nil
}

// counted is a file that reports how many bytes of it were read.
type counted struct {
	in   io.Reader
	read int64
	tell func(int64, reviews.Counts)
}

// Read reads, and reports how many bytes were read so far.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.read += int64(n)
	c.tell(c.read, reviews.Counts{})
	return n, err
}

// Export writes all reviews of the network to w while they arrive, in the format that Import sends. After an error, w
// may have a part of them. It returns ErrForbidden unless the caller moderates the network as a whole. An empty network
// stands for the only one that the caller moderates; if there are several, it returns ErrInvalid.
func (v *Reviews) Export(ctx context.Context, network string, w io.Writer) error {
	if w == nil {
		return fault.Invalid("", "the request does not say where to write the export to")
	}
	r := reading("/x/reviews/export", values{}.text("network", network))
	r.into, r.accept = w, exportType+", application/json"
	return v.do(ctx, r)
}

// Delete erases reviews for good.
func (v *Reviews) Delete(ctx context.Context, in reviews.DeleteRequest) (reviews.Deleted, error) {
	if in.Network == "" {
		return reviews.Deleted{}, fault.Invalid("network", "name the network whose reviews are erased")
	}
	q := values{}.text("network", in.Network).text("source", in.Source).text("collection", in.Collection).text("review",
		in.Review).
		text("author", in.Author).text("email", in.Email).flag("everything", in.Everything).flag("dryRun", in.DryRun)
	return send[reviews.Deleted](ctx, v.remote, request{method: http.MethodDelete, path: "/x/reviews", query: q},
		object("reviews"))
}

// ListCollections returns a page of the collections of the network, by source and then by id.
func (v *Reviews) ListCollections(
	ctx context.Context, in reviews.ListCollectionsRequest,
) (vitrine.Page[reviews.CollectionRecord], error) {
	q := values{}.text("network", in.Network).text("source", in.Source).page(in.After, in.Limit)
	return list[reviews.CollectionRecord](ctx, v.remote, "/x/reviews/collections", q, "collections", "after")
}

// AllCollections walks through the pages from in.After on.
func (v *Reviews) AllCollections(
	ctx context.Context, in reviews.ListCollectionsRequest,
) iter.Seq2[reviews.CollectionRecord, error] {
	return paging.All(&in.After, func() (vitrine.Page[reviews.CollectionRecord], error) {
		return v.ListCollections(ctx, in)
	})
}

// ListReviews returns a page of the reviews of a collection, the latest first, those of one microsecond by id.
func (v *Reviews) ListReviews(
	ctx context.Context, in reviews.ListReviewsRequest,
) (vitrine.Page[reviews.ReviewRecord], error) {
	q := values{}.text("network", in.Network).text("source", in.Source).page(in.After, in.Limit)
	return list[reviews.ReviewRecord](ctx, v.remote, path("/x/reviews/collections/%s/reviews", in.Collection), q,
		"reviews", "after")
}

// Show returns a page of a collection, as web pages show it. Only a key that may show reviews may be used.
func (v *Reviews) Show(ctx context.Context, in reviews.ListReviewsRequest) (reviews.Shown, error) {
	r := reading(path("/x/public/reviews/%s/%s", in.Network, in.Collection),
		values{}.text("source", in.Source).page(in.After, in.Limit))
	r.keyed = true
	var out reviews.Shown
	header, err := v.call(ctx, r, object("reviews"), &out)
	if err == nil {
		out.Next = next(header, "after")
	}
	return out, err
}

// Changes returns a page of the feed of changes of the network.
func (v *Reviews) Changes(ctx context.Context, in reviews.ChangesRequest) (vitrine.ChangesPage[reviews.Event], error) {
	q := values{}.text("network", in.Network).page(in.After, in.Limit)
	return get[vitrine.ChangesPage[reviews.Event]](ctx, v.remote, "/x/reviews/changes", q, object("next"))
}

// Follow yields the entries of the feed of changes of the network, and waits for more; see Apps.Follow.
func (v *Reviews) Follow(ctx context.Context, in reviews.ChangesRequest) iter.Seq2[reviews.Event, error] {
	q := values{}.text("network", in.Network).number("limit", in.Limit)
	return follow[reviews.Event](ctx, v.remote, "/x/reviews/changes", q, in.After)
}

// AllReviews walks through the pages from in.After on.
func (v *Reviews) AllReviews(
	ctx context.Context, in reviews.ListReviewsRequest,
) iter.Seq2[reviews.ReviewRecord, error] {
	return paging.All(&in.After, func() (vitrine.Page[reviews.ReviewRecord], error) { return v.ListReviews(ctx, in) })
}
