package client_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/reviews"
)

const oneReview = `{"source":"https://old.example.test","title":"T","created":"2020-01-02T03:04:05Z","id":"YQ==",` +
	`"dimensions":["default"],` +
	`"reviews":[{"id":"r1","imported_display_name":"N","title":"t","body_html":"<p>x</p>",` +
	`"created":"2020-01-02T03:04:05Z","ratings":[80]}]}` + "\n"

var reviewBehaviours = []behaviour{
	{"a file is imported with a report of every line, and changes nothing the second time",
		func(t *testing.T, as func(httpapi.Principal) services) {
			file := oneReview + "\nno JSON\n"
			for i, want := range []reviews.Counts{
				{Lines: 3, Collections: 1, CollectionsCreated: 1, Reviews: 1, ReviewsCreated: 1, Errors: 1,
					DryRun: true},
				{Lines: 3, Collections: 1, CollectionsCreated: 1, Reviews: 1, ReviewsCreated: 1, Errors: 1},
				{Lines: 3, Collections: 1, Reviews: 1, ReviewsUnchanged: 1, Errors: 1},
			} {
				report := ok(as(editor).reviews.Import(t.Context(),
					reviews.ImportRequest{Network: "example.test", File: strings.NewReader(file),
						DryRun: want.DryRun}))(t)
				if len(report.Problems) != 1 || report.Problems[0].Line != 3 || report.Problems[0].Rule != "json" ||
					report.Problems[0].Severity != reviews.SeverityError {
					t.Errorf("%d: %+v", i, report.Problems)
				}
				if report.Counts != want || report.ProblemsTruncated {
					t.Errorf("%d: %+v, want %+v", i, report, want)
				}
			}
		}},
	{"a file may be compressed, and may be empty", func(t *testing.T, as func(httpapi.Principal) services) {
		var b bytes.Buffer
		zip := gzip.NewWriter(&b)
		_, _ = zip.Write([]byte(oneReview))
		must(t, zip.Close())
		if report := ok(as(editor).reviews.Import(t.Context(),
			reviews.ImportRequest{Network: "example.test", File: &b}))(t); report.ReviewsCreated != 1 ||
			report.Errors != 0 {
			t.Errorf("%+v", report)
		}
		if report := ok(as(editor).reviews.Import(t.Context(),
			reviews.ImportRequest{Network: "example.test", File: strings.NewReader("")}))(t); report.Lines != 0 {
			t.Errorf("%+v", report)
		}
	}},
	{"what a request names is erased, once", func(t *testing.T, as func(httpapi.Principal) services) {
		mine := strings.Replace(oneReview, `"title":"t"`, `"imported_email":"Me@Example.test","title":"t"`, 1)
		ok(as(editor).reviews.Import(t.Context(),
			reviews.ImportRequest{Network: "example.test", File: strings.NewReader(mine)}))(t)
		in := reviews.DeleteRequest{Network: "example.test", Email: "me@example.TEST", DryRun: true}
		for range 2 {
			if done := ok(as(editor).reviews.Delete(t.Context(), in))(t); done != (reviews.Deleted{Reviews: 1}) {
				t.Errorf("dry run %t: %+v", in.DryRun, done)
			}
			in.DryRun = false
		}
		for _, c := range []struct {
			by        httpapi.Principal
			in        reviews.DeleteRequest
			kind      error
			parameter string
		}{
			{editor, in, vitrine.ErrNotFound, ""},
			{siteOne, in, vitrine.ErrForbidden, ""},
			{editor, reviews.DeleteRequest{Everything: true}, vitrine.ErrInvalid, "network"},
			{editor, reviews.DeleteRequest{Network: "example.test"}, vitrine.ErrInvalid, ""},
			{editor, reviews.DeleteRequest{Network: "example.test", Collection: "YQ==", Review: "r1", Email: "x"},
				vitrine.ErrInvalid, "email"},
		} {
			_, err := as(c.by).reviews.Delete(t.Context(), c.in)
			if e, isOne := errors.AsType[*vitrine.Error](err); !isOne || e.Kind != c.kind ||
				e.Parameter != c.parameter {
				t.Errorf("%+v: %v, want %v", c.in, err, c.kind)
			}
		}
	}},
	{"without a name the only network that the caller moderates is meant",
		func(t *testing.T, as func(httpapi.Principal) services) {
			only := as(moderatorOf("example.test")).reviews
			var out bytes.Buffer
			var sent int64
			var problems []reviews.Problem
			in := reviews.ImportRequest{File: strings.NewReader(oneReview + "\nno JSON\n"),
				Problem: func(p reviews.Problem) { problems = append(problems, p) }}
			in.Progress = func(bytes int64, _ reviews.Counts) { sent = bytes }
			report := ok(only.Import(t.Context(), in))(t)
			if report.ReviewsCreated != 1 || !reflect.DeepEqual(problems, report.Problems) ||
				sent != int64(len(oneReview)+len("\nno JSON\n")) {
				t.Errorf("%+v, problems %+v, %d bytes", report, problems, sent)
			}
			must(t, only.Export(t.Context(), "", &out))
			if !strings.Contains(out.String(), "YQ==") {
				t.Errorf("%s", &out)
			}
			_, err := as(moderatorOf("example.test", "other.test")).reviews.Import(t.Context(),
				reviews.ImportRequest{File: strings.NewReader(oneReview)})
			wantError(t, "one of two", err, vitrine.ErrInvalid)
			if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Parameter != "network" ||
				e.Reason != "the caller moderates 2 networks, so the request must name one of them" {
				t.Errorf("one of two: %+v", e)
			}
			err = as(stranger).reviews.Export(t.Context(), "", &out)
			wantError(t, "one of none", err, vitrine.ErrForbidden)
		}},
	{"a request without a file, or without a place to write to, is refused",
		func(t *testing.T, as func(httpapi.Principal) services) {
			_, err := as(editor).reviews.Import(t.Context(), reviews.ImportRequest{})
			e, _ := errors.AsType[*vitrine.Error](err)
			f, _ := errors.AsType[*vitrine.Error](as(editor).reviews.Export(t.Context(), "", nil))
			if e == nil || f == nil || e.Kind != vitrine.ErrInvalid ||
				f.Error() != "the request does not say where to write the export to" || f.Kind != e.Kind ||
				e.Reason != "the request has no file to import" {
				t.Errorf("%+v, %+v", e, f)
			}
		}},
	{"what changed reviews is in the feed of the network", func(t *testing.T, as func(httpapi.Principal) services) {
		by := as(moderatorOf("example.test")).reviews
		start := ok(by.Changes(t.Context(), reviews.ChangesRequest{After: vitrine.Now}))(t)
		if len(start.Changes) > 0 || start.Next == "" || start.More {
			t.Errorf("%+v", start)
		}
		ok(by.Import(t.Context(), reviews.ImportRequest{File: strings.NewReader(oneReview)}))(t)
		ok(by.Import(t.Context(), reviews.ImportRequest{File: strings.NewReader(oneReview)}))(t) // changes nothing
		ok(by.Delete(t.Context(), reviews.DeleteRequest{Network: "example.test", Everything: true}))(t)
		page := ok(by.Changes(t.Context(),
			reviews.ChangesRequest{Network: "example.test", Limit: 5, After: start.Next}))(t)
		var followed []reviews.Event
		for e, err := range by.Follow(t.Context(), reviews.ChangesRequest{After: start.Next, Limit: 1}) {
			must(t, err)
			if followed = append(followed, e); len(followed) == 2 {
				break
			}
		}
		for i, want := range []reviews.Event{{Action: reviews.ActionImported, Created: 1},
			{Action: reviews.ActionDeleted, Deleted: 1}} {
			e := page.Changes[i]
			if e.Action != want.Action || e.Created != want.Created || e.Deleted != want.Deleted ||
				len(e.Collections) != 1 || e.Collections[0].ID != "YQ==" || e.At == 0 || e.By == "" {
				t.Errorf("%+v, want %+v", e, want)
			}
		}
		if !reflect.DeepEqual(followed, page.Changes) {
			t.Errorf("%+v, want %+v", followed, page.Changes)
		}
		_, err := by.Changes(t.Context(), reviews.ChangesRequest{After: "none"})
		e, _ := errors.AsType[*vitrine.Error](err)
		_, err = as(moderatorOf("other.test")).reviews.Changes(t.Context(),
			reviews.ChangesRequest{Network: "example.test"})
		if e == nil || e.Kind != vitrine.ErrInvalid || e.Parameter != "after" || !errors.Is(err, vitrine.ErrForbidden) {
			t.Errorf("%+v, %v", e, err)
		}
	}},
	{"what was imported is exported, of the network alone", func(t *testing.T, as func(httpapi.Principal) services) {
		both := as(moderatorOf("example.test", "other.test")).reviews
		ok(both.Import(t.Context(),
			reviews.ImportRequest{Network: "example.test", File: strings.NewReader(oneReview)}))(t)
		ok(both.Import(t.Context(),
			reviews.ImportRequest{Network: "other.test",
				File: strings.NewReader(strings.Replace(oneReview, "YQ==", "Yg==", 1))}))(t)
		var out bytes.Buffer
		must(t, both.Export(t.Context(), "example.test", &out))
		if strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), "YQ==") {
			t.Errorf("%s", &out)
		}
		if report := ok(both.Import(t.Context(),
			reviews.ImportRequest{Network: "example.test", File: &out}))(t); report.ReviewsUnchanged != 1 ||
			report.ReviewsCreated+report.ReviewsUpdated+int64(report.Errors) != 0 {
			t.Errorf("importing the export: %+v", report)
		}
		out.Reset()
		must(t, as(moderatorOf("third.test")).reviews.Export(t.Context(), "third.test", &out))
		if out.Len() > 0 {
			t.Errorf("a network without reviews: %s", &out)
		}
	}},
	{"collections and reviews are listed page by page", func(t *testing.T, as func(httpapi.Principal) services) {
		by := as(moderatorOf("example.test")).reviews
		second := strings.Replace(strings.Replace(oneReview, "YQ==", "Yg/+", 1), `"source":"`, `"source":"b`, 1)
		ok(by.Import(t.Context(), reviews.ImportRequest{File: strings.NewReader(oneReview + "\n" + second)}))(t)
		var ids []string
		for c, err := range by.AllCollections(t.Context(), reviews.ListCollectionsRequest{Limit: 1}) {
			must(t, err)
			if c.Count != 1 || len(c.Dimensions) != 1 || c.Dimensions[0].Mean < 1 {
				t.Errorf("%+v", c)
			}
			ids = append(ids, c.ID)
			for r, err := range by.AllReviews(t.Context(),
				reviews.ListReviewsRequest{Network: "example.test", Source: c.Source, Collection: c.ID, Limit: 1}) {
				must(t, err)
				ids = append(ids, r.ID)
			}
		}
		if len(ids) != 4 || ids[1] != ids[3] {
			t.Errorf("%q", ids)
		}
		if page := ok(by.ListCollections(t.Context(),
			reviews.ListCollectionsRequest{Source: "none"}))(t); len(page.Items) != 0 || page.Items == nil ||
			page.Next != "" {
			t.Errorf("%+v", page)
		}
	}},
	{"an export that cannot be written on gives the writer's error",
		func(t *testing.T, as func(httpapi.Principal) services) {
			ok(as(editor).reviews.Import(t.Context(),
				reviews.ImportRequest{Network: "example.test", File: strings.NewReader(oneReview)}))(t)
			failed := errors.New("the disk is full")
			wantError(t, "a writer that fails", as(editor).reviews.Export(t.Context(), "example.test", failing{failed}),
				failed)
		}},
	{"a file that cannot be read on gives the reader's error, and what came before is kept",
		func(t *testing.T, as func(httpapi.Principal) services) {
			failed := errors.New("the disk has failed")
			_, err := as(editor).reviews.Import(t.Context(),
				reviews.ImportRequest{Network: "example.test",
					File: io.MultiReader(strings.NewReader(oneReview), failing{failed})})
			wantError(t, "a file that fails", err, failed)
		}},
}

// moderatorOf returns someone who moderates networks.
func moderatorOf(networks ...string) httpapi.Principal {
	p := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=moderator"}}
	for _, name := range networks {
		p.Moderates = append(p.Moderates, "urn:vitrine:"+name)
	}
	return p
}

// failing is a reader and a writer that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }
