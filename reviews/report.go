package reviews

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxReported is the maximum number of problems in a report. Checker.Problems and ImportRequest.Problem return all of
// them.
const maxReported = 1000

// Counts are the numbers of a check or an import. Created to Rejected count reviews. After an import that has read the
// whole file they add up: Reviews = Created + Updated + Unchanged + Rejected. A line that is not JSON counts in Lines,
// and its problem in Errors, but neither as a collection nor with its reviews.
//
// A collection is created, updated or rejected, or else unchanged: what the file says of it, apart from its reviews, is
// stored already. It is rejected if it has an error, or if all of its reviews have one.
type Counts struct {
	Lines              int64 `json:"lines"`       // with blank ones
	Collections        int64 `json:"collections"` // lines that are a record, rejected or not
	CollectionsCreated int64 `json:"collectionsCreated"`
	// in their own members, such as the title; their reviews count below
	CollectionsUpdated  int64 `json:"collectionsUpdated"`
	CollectionsRejected int64 `json:"collectionsRejected"` // or all of their reviews were
	Reviews             int64 `json:"reviews"`             // in these records
	ReviewsCreated      int64 `json:"created"`
	ReviewsUpdated      int64 `json:"updated"`
	ReviewsUnchanged    int64 `json:"unchanged"`
	ReviewsRejected     int64 `json:"rejected"`
	Errors              int64 `json:"errors"` // problems of SeverityError
	Warnings            int64 `json:"warnings"`
	DryRun              bool  `json:"dryRun"` // nothing was stored
	// created collections whose id the network has from another source, too; not all are examined
	Namesakes int64 `json:"-"`
}

// Add adds the counts of another file. DryRun stays as it is.
func (c *Counts) Add(other Counts) {
	for _, n := range [...]struct{ to, from *int64 }{
		{&c.Lines, &other.Lines}, {&c.Collections, &other.Collections},
		{&c.CollectionsCreated, &other.CollectionsCreated},
		{&c.CollectionsUpdated, &other.CollectionsUpdated}, {&c.CollectionsRejected, &other.CollectionsRejected},
		{&c.Reviews, &other.Reviews},
		{&c.ReviewsCreated, &other.ReviewsCreated}, {&c.ReviewsUpdated, &other.ReviewsUpdated},
		{&c.ReviewsUnchanged, &other.ReviewsUnchanged},
		{&c.ReviewsRejected, &other.ReviewsRejected},
		{&c.Errors, &other.Errors}, {&c.Warnings, &other.Warnings}, {&c.Namesakes, &other.Namesakes},
	} {
		*n.to += *n.from
	}
}

// Report is the result of a check or an import. The HTTP API returns its JSON. It has only the first problems, so that
// it stays small whatever the file is.
type Report struct {
	Counts
	Problems          []Problem `json:"problems"`          // the first 1000, with all warnings about the whole file
	ProblemsTruncated bool      `json:"problemsTruncated"` // there were more
}

// MarshalJSON returns the report as the HTTP API returns it. problems is an array even if it is empty. The value of a
// problem may be cut from a line that is not UTF-8; AllowInvalidUTF8 writes U+FFFD for such bytes instead of failing.
func (r Report) MarshalJSON() ([]byte, error) {
	type report Report // without this method
	return json.Marshal(report(r), jsontext.AllowInvalidUTF8(true))
}
