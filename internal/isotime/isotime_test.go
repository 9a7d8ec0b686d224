package isotime_test

import (
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/isotime"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"2024-02-29":                    "2024-02-29T00:00:00Z",
		"2024-02-29T18:30":              "2024-02-29T18:30:00Z",
		"2024-02-29T18:30:01":           "2024-02-29T18:30:01Z",
		"2024-02-29T18:30:01,5":         "2024-02-29T18:30:01.5Z",
		"2024-02-29T18:30+01:00":        "2024-02-29T17:30:00Z",
		"2024-02-29T18:30:01.123-02:30": "2024-02-29T21:00:01.123Z",
		"0001-01-01":                    "0001-01-01T00:00:00Z",
		"0001-01-01T00:00+00:01":        "", // in the year 0
		"2023-02-29":                    "",
		"2024-02-29 18:30":              "",
		"2024-2-29":                     "",
		"2024-02-29T8:30":               "",
		"2024-02-29T18:30:01+24:00":     "",
		"":                              "",
	} {
		got, err := isotime.Parse(text)
		if (err == nil) != (want != "") || err == nil && got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q: %v (%v), want %q", text, got, err, want)
		}
	}
}
