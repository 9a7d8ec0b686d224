package reviews_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// Stretches of a file in which nothing is found leave nothing behind that later findings fall into.
func TestBlankLinesLoseNoRecord(t *testing.T) {
	const count, buffer = 1000, 4096
	var file bytes.Buffer
	for i := range count {
		if i%200 == 0 {
			file.WriteString(strings.Repeat("\n", 12*buffer))
		}
		fmt.Fprintf(&file,
			`{"source":"s","title":"T","created":"2020-01-02T03:04:05Z","id":"%s","dimensions":["default"],"reviews":[`+
				`{"id":"r","imported_display_name":"N","title":"t","body_html":"","created":"2020-01-02T03:04:05Z",`+
				`"ratings":[50]}]}`+"\n", base64.StdEncoding.EncodeToString(fmt.Append(nil, i)))
	}
	for _, workers := range []int{1, 4} {
		for range 2 { // which block is done first is a matter of chance
			o := reviews.WithBuffer(reviews.ReadOptions{Workers: workers}, buffer)
			checker := reviews.Check(bytes.NewReader(file.Bytes()), o)
			for problem, err := range checker.Problems() {
				t.Fatal(problem, err)
			}
			if r := checker.Report(); r.Collections != count || r.Reviews != count {
				t.Fatalf("%d workers: check finds %d collections and %d reviews, want %d", workers, r.Collections,
					r.Reviews, count)
			}
			service := reviews.New(memory.New(), nil)
			r, err := service.As(vitrine.Caller{Operator: true}).Import(context.Background(),
				reviews.ImportRequest{Network: network, File: bytes.NewReader(file.Bytes()), ReadOptions: *o})
			if err != nil || r.ReviewsCreated != count {
				t.Fatalf("%d workers: import creates %d reviews, want %d: %v", workers, r.ReviewsCreated, count, err)
			}
		}
	}
}
