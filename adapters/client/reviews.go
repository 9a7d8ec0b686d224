package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/vitrine-go/vitrine/reviews"
)

// Reviews is the import of reviews (contract, section 4.3).
type Reviews struct{ remote }

// Import sends a file of reviews as it is read, of any size, as it is or compressed with gzip, and returns
// the report. With dryRun nothing is stored. ErrForbidden unless the caller moderates something.
//
// It is sent once; when no answer comes, what was stored is kept, and the same file can be sent again. A
// service that refuses it does so before it is sent. How long it takes is bounded by ctx alone.
func (v *Reviews) Import(ctx context.Context, file io.Reader, dryRun bool) (reviews.Report, error) {
	r := request{
		method: http.MethodPost, url: v.base + "/x/reviews/import", query: url.Values(values{}.flag("dryRun", dryRun)), stream: file,
		header: http.Header{"Content-Type": {"application/x-ndjson"}, "Expect": {"100-continue"}},
	}
	var report reviews.Report
	_, err := v.call(ctx, r, &report)
	return report, err
}
