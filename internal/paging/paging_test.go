package paging_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/paging"
)

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		asked, otherwise, most int
		limit                  int
		fault                  string
	}{
		{0, 50, 500, 50, ""},
		{0, 50, 10, 10, ""}, // the default is no way around the highest number
		{0, 0, 500, 0, ""},
		{1, 50, 500, 1, ""},
		{500, 50, 500, 500, ""},
		{501, 50, 500, 0, "want 1 to 500"},
		{-1, 50, 500, 0, "want 1 to 500"},
	} {
		limit, err := paging.Limit(c.asked, c.otherwise, c.most)
		fault := ""
		if err != nil {
			fault = err.Error()
		}
		if limit != c.limit || fault != c.fault {
			t.Errorf("Limit(%d, %d, %d) is %d, %q; want %d, %q", c.asked, c.otherwise, c.most, limit, fault, c.limit, c.fault)
		}
	}
}
