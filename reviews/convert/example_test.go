package convert_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/vitrine-go/vitrine/reviews/convert"
)

// A table of a shop becomes a file of the import format. A row that cannot be converted is told apart with its reasons.
func Example() {
	const table = "product,stars,text,when,who\n" +
		"Lamp,4,Very bright,2024-02-03,Ann\n" +
		"Lamp,9,Too heavy,2024-02-04,Bob\n"
	var out, rejects bytes.Buffer
	result, err := convert.Convert(context.Background(), convert.Request{
		File: strings.NewReader(table), To: &out, Rejects: &rejects, Source: "shop.example.test", Scale: 5,
		Mapping: convert.Mapping{"collection_id": "product", "rating": "stars", "body": "text", "created": "when",
			"author_name": "who"},
	})
	fmt.Println(result.Converted, "converted,", result.Rejected, err)
	fmt.Print(out.String())
	fmt.Print(rejects.String())
	// Output:
	// 1 converted, [{3 0 the rating 9 is above 5: mend it, or give another scale}] <nil>
	// {"source":"shop.example.test","id":"TGFtcA==","title":"Lamp","created":"2024-02-03T00:00:00Z","dimensions":["default"],"reviews":[{"id":"a2647f790a50f2f2757dd616","title":"","body_html":"<p>Very bright</p>","created":"2024-02-03T00:00:00Z","ratings":[80],"imported_display_name":"Ann"}]}
	// product,stars,text,when,who,rejected_line,rejected_reason
	// Lamp,9,Too heavy,2024-02-04,Bob,3,"the rating 9 is above 5: mend it, or give another scale"
}
