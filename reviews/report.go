package reviews

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxReported is how many problems a report holds.
const maxReported = 1000

// Counts are what a check or an import came to, in numbers. Created to Rejected count reviews.
type Counts struct {
	Lines       int64 `json:"lines"`       // of the file, blank ones too
	Collections int64 `json:"collections"` // records, rejected ones too
	Reviews     int64 `json:"reviews"`     // reviews in these
	Created     int64 `json:"created"`
	Updated     int64 `json:"updated"`
	Unchanged   int64 `json:"unchanged"`
	Rejected    int64 `json:"rejected"`
	Errors      int64 `json:"errors"` // problems of SeverityError
	Warnings    int64 `json:"warnings"`
	DryRun      bool  `json:"dryRun"` // nothing was stored
}

// Add adds the counts of another file.
func (c *Counts) Add(other Counts) {
	for _, n := range [...]struct{ to, from *int64 }{
		{&c.Lines, &other.Lines}, {&c.Collections, &other.Collections}, {&c.Reviews, &other.Reviews},
		{&c.Created, &other.Created}, {&c.Updated, &other.Updated}, {&c.Unchanged, &other.Unchanged}, {&c.Rejected, &other.Rejected},
		{&c.Errors, &other.Errors}, {&c.Warnings, &other.Warnings},
	} {
		*n.to += *n.from
	}
}

// Report is the outcome of a check or an import.
type Report struct {
	Counts
	Problems          []Problem `json:"problems"`          // the first 1000
	ProblemsTruncated bool      `json:"problemsTruncated"` // there were more
}

// MarshalJSON gives the report as it is answered over HTTP, where problems is an array also when there are none.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	return json.Marshal(plain(r), jsontext.AllowInvalidUTF8(true))
}

func (r *Report) add(p Problem) {
	if p.Severity == SeverityError {
		r.Errors++
	} else {
		r.Warnings++
	}
	if len(r.Problems) == maxReported {
		r.ProblemsTruncated = true
		return
	}
	r.Problems = append(r.Problems, p)
}

// Progress is how far a check or an import has come.
type Progress struct {
	Bytes    int64 // read from the input as it is, compressed or not
	Lines    int64
	Reviews  int64
	Problems int64
}
