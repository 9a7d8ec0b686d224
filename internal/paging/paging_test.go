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
		{501, 50, 500, 0, "limit: want 1 to 500"},
		{-1, 50, 500, 0, "limit: want 1 to 500"},
	} {
		limit, err := paging.Limit(c.asked, c.otherwise, c.most)
		fault := ""
		if err != nil {
			fault = err.Error()
		}
		if limit != c.limit || fault != c.fault {
			t.Errorf("Limit(%d, %d, %d) is %d, %q; want %d, %q", c.asked, c.otherwise, c.most, limit, fault, c.limit,
				c.fault)
		}
	}
}

func TestRoom(t *testing.T) {
	for name, tc := range map[string]struct {
		limit, most int
		sizes       []int // of the items that are there
		want        int   // items of the page
	}{
		"as many items as it may have": {2, 100, []int{1, 1, 1}, 2},
		"any number of items":          {0, 100, []int{1, 1, 1}, 3},
		"an item that fills it":        {9, 10, []int{4, 6, 1}, 2},
		"an item that would pass it":   {9, 10, []int{4, 7, 1}, 1},
		"a first item that passes it":  {9, 10, []int{11, 1}, 1},
		"no items":                     {9, 10, nil, 0},
	} {
		room, n := paging.NewRoom(tc.limit, tc.most), 0
		for _, size := range tc.sizes {
			if !room.Takes(size) {
				break
			}
			n++
		}
		if n != tc.want {
			t.Errorf("%s: the page has %d items, want %d", name, n, tc.want)
		}
	}
}
