//go:build proof

package crash

import (
	"fmt"
	"net/http"
)

const (
	collections = 3  // of a file
	perLine     = 10 // reviews of a collection
)

// importer imports files of reviews.
type importer struct {
	name  string
	files int // that were acknowledged
	known int // of them, that were looked at after a failover
}

func newImporter(i int) *importer { return &importer{name: fmt.Sprintf("i%d", i)} }

// User is the URN of the importer.
func (w *importer) User() string { return urn + ":user=" + w.name }

// file is the text of a file, of which no two are alike.
func (w *importer) file(n int) []byte {
	return reviewLines(fmt.Sprintf("%s-%d.test", w.name, n), collections, perLine)
}

// report is what an import is answered with.
type report struct{ Created, Unchanged, Updated, Rejected int }

// Owns is false: reviews are for moderators.
func (w *importer) Owns() bool { return false }

// request imports a file.
func (w *importer) request(options string, file int) Request {
	return Request{Method: "POST", Path: "/x/reviews/import?" + options + "network=" + network, Body: w.file(file),
		Want: http.StatusOK}
}

// Step imports the next file.
func (w *importer) Step(c Sender) error {
	var out report
	if err := c.Write(w.request("", w.files), &out); err != nil {
		return err
	}
	if out.Created+out.Unchanged != collections*perLine {
		return Lost("import %d of %s: %+v", w.files, w.name, out)
	}
	w.files++
	return nil
}

// Settle has nothing to find out: the file is sent again. It may be there in part.
func (w *importer) Settle(Sender, bool) error { return nil }

// Verify asks what an import would change.
func (w *importer) Verify(c Sender, all bool) error {
	if all {
		w.known = 0
	}
	for ; w.known < w.files; w.known++ {
		var out report
		if err := c.Write(w.request("dryRun=true&", w.known), &out); err != nil {
			return err
		}
		if out != (report{Unchanged: collections * perLine}) {
			return Lost("import %d of %s is not whole: importing it again would be %+v", w.known, w.name, out)
		}
	}
	return nil
}
