package client_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/reviews"
)

const oneReview = `{"source":"https://old.example.test","title":"T","created":"2020-01-02T03:04:05Z","id":"YQ==","dimensions":["default"],` +
	`"reviews":[{"id":"r1","imported_display_name":"N","title":"t","body_html":"<p>x</p>","created":"2020-01-02T03:04:05Z","ratings":[80]}]}` + "\n"

var reviewBehaviours = []behaviour{
	{"a file is imported with a report of every line, and changes nothing the second time", func(t *testing.T, as func(httpapi.Principal) services) {
		file := oneReview + "\nno JSON\n"
		for i, want := range []reviews.Report{
			{Lines: 3, Collections: 1, Reviews: 1, Created: 1, Errors: 1, DryRun: true},
			{Lines: 3, Collections: 1, Reviews: 1, Created: 1, Errors: 1},
			{Lines: 3, Collections: 1, Reviews: 1, Unchanged: 1, Errors: 1},
		} {
			report := ok(as(siteOne).reviews.Import(t.Context(), strings.NewReader(file), want.DryRun))(t)
			if len(report.Problems) != 1 || report.Problems[0].Line != 3 || report.Problems[0].Rule != "json" || report.Problems[0].Severity != reviews.Error {
				t.Errorf("%d: %+v", i, report.Problems)
			}
			if report.Problems = nil; !reflect.DeepEqual(report, want) {
				t.Errorf("%d: %+v, want %+v", i, report, want)
			}
		}
	}},
	{"a file may be compressed, and may be empty", func(t *testing.T, as func(httpapi.Principal) services) {
		var b bytes.Buffer
		zip := gzip.NewWriter(&b)
		_, _ = zip.Write([]byte(oneReview))
		must(t, zip.Close())
		if report := ok(as(editor).reviews.Import(t.Context(), &b, false))(t); report.Created != 1 || report.Errors != 0 {
			t.Errorf("%+v", report)
		}
		if report := ok(as(editor).reviews.Import(t.Context(), strings.NewReader(""), false))(t); report.Lines != 0 {
			t.Errorf("%+v", report)
		}
	}},
	{"an import of someone who moderates nothing is refused", func(t *testing.T, as func(httpapi.Principal) services) {
		_, err := as(reader).reviews.Import(t.Context(), strings.NewReader(oneReview), false)
		wantError(t, "a reader", err, reviews.ErrForbidden)
	}},
	{"a file that cannot be read on gives the reader's error, and what came before is kept", func(t *testing.T, as func(httpapi.Principal) services) {
		failed := errors.New("the disk has failed")
		_, err := as(editor).reviews.Import(t.Context(), io.MultiReader(strings.NewReader(oneReview), failing{failed}), false)
		wantError(t, "a file that fails", err, failed)
	}},
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
