//go:build proof

package crash

import (
	"bytes"
	"fmt"
)

// reviewLines returns a file to import: so many collections of a source, with so many reviews each, whose ids count
// from 0.
func reviewLines(source string, collections, reviews int) []byte {
	var text bytes.Buffer
	for c := range collections {
		fmt.Fprintf(&text,
			`{"source":"%s","title":"Article %d","created":"2019-01-01T00:00:00Z","id":"YXJ0aWNs%04d",`+
				`"dimensions":["default"],"reviews":[`, source, c, c)
		for r := range reviews {
			if r > 0 {
				text.WriteByte(',')
			}
			fmt.Fprintf(&text,
				`{"id":"%d","imported_display_name":"Visitor","title":"Title","body_html":"<p>Text %d.</p>",`+
					`"created":"2019-02-03T04:05:06Z","ratings":[80]}`, r, r)
		}
		text.WriteString("]}\n")
	}
	return text.Bytes()
}
