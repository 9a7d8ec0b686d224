package reviews_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const exampleFile = `{"source":"example.test","title":"A lamp","created":"2019-01-01T00:00:00Z","id":"bGFtcA==","dimensions":["default"],"reviews":[` +
	`{"id":"1","imported_display_name":"Visitor","title":"Bright","body_html":"<p>Very bright.</p>","created":"2019-02-03T04:05:06Z","ratings":[80]},` +
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
	fmt.Println(checker.Report().Reviews, "reviews,", checker.Report().Rejected, "rejected")
	// Output:
	// line 1, byte 373, /reviews/1/created: error: there is no such day in this month (timestamp)
	// 2 reviews, 1 rejected
}

func ExampleService_Import() {
	service := reviews.New(memory.NewReviews())
	operator := reviews.Caller{Operator: true}
	for range 2 {
		report, err := service.Import(context.Background(), operator, strings.NewReader(exampleFile), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(report.Created, "created,", report.Unchanged, "unchanged,", report.Rejected, "rejected")
	}
	// Output:
	// 1 created, 0 unchanged, 1 rejected
	// 0 created, 1 unchanged, 1 rejected
}

func ExampleService_Export() {
	service, operator := reviews.New(memory.NewReviews()), reviews.Caller{Operator: true}
	if _, err := service.Import(context.Background(), operator, strings.NewReader(exampleFile), nil); err != nil {
		log.Fatal(err)
	}
	if err := service.Export(context.Background(), operator, os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"created":"2019-01-01T00:00:00Z","dimensions":["default"],"id":"bGFtcA==","source":"example.test","title":"A lamp","reviews":[{"body_html":"<p>Very bright.</p>","created":"2019-02-03T04:05:06Z","id":"1","imported_display_name":"Visitor","ratings":[80],"title":"Bright"}]}
}

func ExampleService_Stats() {
	service := reviews.New(memory.NewReviews())
	if _, err := service.Import(context.Background(), reviews.Caller{Operator: true}, strings.NewReader(exampleFile), nil); err != nil {
		log.Fatal(err)
	}
	stats, err := service.Stats(context.Background(), reviews.Key{Source: "example.test", ID: "bGFtcA=="})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.Title, stats.Reviews, stats.Dimensions[0].Name, stats.Dimensions[0].Average)
	// Output: A lamp 1 default 80
}
