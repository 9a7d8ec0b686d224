package reviews

// maxReported is how many problems a report holds.
const maxReported = 1000

// Report is the outcome of a check or an import. Created to Rejected count reviews.
type Report struct {
	Lines       int64 `json:"lines"`       // of the file, blank ones too
	Collections int64 `json:"collections"` // records, rejected ones too
	Reviews     int64 `json:"reviews"`     // reviews in these
	Created     int64 `json:"created"`
	Updated     int64 `json:"updated"`
	Unchanged   int64 `json:"unchanged"`
	Rejected    int64 `json:"rejected"`
	Errors      int64 `json:"errors"` // problems of severity Error
	Warnings    int64 `json:"warnings"`
	DryRun      bool  `json:"dryRun"` // nothing was stored

	Problems          []Problem `json:"problems"`          // the first 1000
	ProblemsTruncated bool      `json:"problemsTruncated"` // there were more
}

func (r *Report) add(p Problem) {
	if p.Severity == Error {
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
