package reviews_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const exampleFile = `{"source":"example.test","title":"A lamp","created":"2019-01-01T00:00:00Z","id":"bGFtcA==",` +
	`"dimensions":["default"],"reviews":[` +
	`{"id":"1","imported_display_name":"Visitor","title":"Bright","body_html":"<p>Very bright.</p>",` +
	`"created":"2019-02-03T04:05:06Z","ratings":[80]},` +
	`{"id":"2","imported_display_name":"Visitor","title":"Heavy","body_html":"<p>Too heavy.</p>","created":"2019-02-30T04:05:06Z","ratings":[20]}]}
`

func ExampleCheck() {
	checker := reviews.Check(strings.NewReader(exampleFile), nil)
	for problem, err := range checker.Problems() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(problem)
	}
	fmt.Println(checker.Report().Reviews, "reviews,", checker.Report().ReviewsRejected, "rejected")
	// Output:
	// line 1, column 374, collection bGFtcA==, review 2, /reviews/1/created: error: there is no such day; this month has 28 days (timestamp): "2019-02-30T04:05:06Z"
	// 2 reviews, 1 rejected
}

func ExampleSession_Import() {
	service := reviews.New(memory.New(), nil)
	operator := vitrine.Caller{Operator: true}
	for range 2 {
		report, err := service.As(operator).Import(context.Background(),
			reviews.ImportRequest{Network: "example.test", File: strings.NewReader(exampleFile)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(report.ReviewsCreated, "created,", report.ReviewsUnchanged, "unchanged,", report.ReviewsRejected,
			"rejected")
	}
	// Output:
	// 1 created, 0 unchanged, 1 rejected
	// 0 created, 1 unchanged, 1 rejected
}

func ExampleSession() {
	service := reviews.New(memory.New(), nil)
	session := service.As(vitrine.Caller{URN: "urn:vitrine:example.test:user=1",
		Moderates: []string{"urn:vitrine:example.test"}})
	in := reviews.ImportRequest{File: strings.NewReader(exampleFile), DryRun: true}
	in.Problem = func(p reviews.Problem) { fmt.Println(p.Pointer, p.Rule) }
	report, err := session.Import(context.Background(), in)
	fmt.Println(report.ReviewsCreated, report.ReviewsRejected, err)

	in.Network = "other.test"
	_, err = session.Import(context.Background(), in)
	var e *vitrine.Error
	fmt.Println(errors.Is(err, vitrine.ErrForbidden), errors.As(err, &e) && e.Code == vitrine.CodeForbidden)
	// Output:
	// /reviews/1/created timestamp
	// 1 1 <nil>
	// true true
}

func ExampleSession_Export() {
	service, operator := reviews.New(memory.New(), nil), vitrine.Caller{Operator: true}
	if _, err := service.As(operator).Import(context.Background(),
		reviews.ImportRequest{Network: "example.test", File: strings.NewReader(exampleFile)}); err != nil {
		log.Fatal(err)
	}
	if err := service.As(operator).Export(context.Background(), "example.test", os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"created":"2019-01-01T00:00:00Z","dimensions":["default"],"id":"bGFtcA==","source":"example.test","title":"A lamp","reviews":[{"body_html":"<p>Very bright.</p>","created":"2019-02-03T04:05:06Z","id":"1","imported_display_name":"Visitor","ratings":[80],"title":"Bright"}]}
}

func ExampleSession_Show() {
	service, operator := reviews.New(memory.New(), nil), vitrine.Caller{Operator: true}
	if _, err := service.As(operator).Import(context.Background(),
		reviews.ImportRequest{Network: "example.test", File: strings.NewReader(exampleFile)}); err != nil {
		log.Fatal(err)
	}
	lamp, err := service.As(operator).Show(context.Background(),
		reviews.ListReviewsRequest{Network: "example.test", Collection: "bGFtcA=="})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lamp.Title, lamp.Count, lamp.Dimensions[0].Name, lamp.Dimensions[0].Mean)
	// Output: A lamp 1 default 80
}

func ExampleSession_AllReviews() {
	service := reviews.New(memory.New(), nil)
	session := service.As(vitrine.Caller{URN: "urn:vitrine:example.test:user=1",
		Moderates: []string{"urn:vitrine:example.test"}})
	if _, err := session.Import(context.Background(),
		reviews.ImportRequest{File: strings.NewReader(exampleFile)}); err != nil {
		log.Fatal(err)
	}
	for review, err := range session.AllReviews(context.Background(),
		reviews.ListReviewsRequest{Collection: "bGFtcA=="}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(review.Created, review.Title, review.Ratings)
	}
	// Output: 2019-02-03T04:05:06Z Bright [80]
}

func ExampleSession_Delete() {
	service, operator := reviews.New(memory.New(), nil), vitrine.Caller{Operator: true}
	if _, err := service.As(operator).Import(context.Background(),
		reviews.ImportRequest{Network: "example.test", File: strings.NewReader(exampleFile)}); err != nil {
		log.Fatal(err)
	}
	done, err := service.As(operator).Delete(context.Background(),
		reviews.DeleteRequest{Network: "example.test", Collection: "bGFtcA==", Review: "1"})
	fmt.Println(done.Reviews, "erased", err)
	// Output: 1 erased <nil>
}
