package reviews_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestShown(t *testing.T) {
	store := memory.New()
	importInto(t, store,
		collection("YQ", single,
			review("1", 20,
				`,"imported_email":"ann@example.test","imported_url":"https://example.test","subparts":{"size":"L"}`),
			`{"id":"2","parent_id":"1","title":"t","body_html":"<p>b</p>","created":"2020-01-03T00:00:00Z",`+
				`"ratings":[81],"author_id":"user-7"}`), nil)
	importInto(t, store, from("other", collection("YQ", single)), nil)
	service := reviews.New(store, nil)
	whole := "urn:vitrine:" + network
	page := vitrine.Caller{URN: whole + ":user=page", Reads: []string{whole}, TagsOnly: true, PublicReviews: true}
	in := reviews.ListReviewsRequest{Network: network, Source: "s", Collection: "YQ", Limit: 1}
	first, err := service.As(page).Show(ctx, in)
	if err != nil || first.Next == "" {
		t.Fatal(first, err)
	}
	in.After = first.Next
	second, err := service.As(page).Show(ctx, in)
	if err != nil || second.Next != "" {
		t.Fatal(second, err)
	}
	got, err := json.Marshal([]reviews.Shown{first, second})
	const head = `{"title":"t","count":2,"dimensions":[{"name":"default","mean":50.5,"histogram":[0,1,0,0,0,0,0,0,1,` +
		`0]}],"reviews":[`
	if want := `[` + head +
		`{"id":"2","title":"t","body_html":"\u003cp\u003eb\u003c/p\u003e","created":"2020-01-03T00:00:00Z",` +
		`"ratings":[81],"author":{"name":""},"parent_id":"1"}]},` +
		head + `{"id":"1","title":"t","body_html":"b","created":"2020-01-02T03:04:05","ratings":[20],` +
		`"author":{"name":"n"},"subparts":{"size":"L"}}]}]`; err != nil || string(got) != want {
		t.Errorf("%s\nwant %s, %v", got, want, err)
	}

	change := func(f func(*vitrine.Caller)) vitrine.Caller {
		c := page
		f(&c)
		return c
	}
	for name, c := range map[string]struct {
		by   vitrine.Caller
		in   reviews.ListReviewsRequest
		want error
	}{
		"a moderator": {moderator(whole),
			reviews.ListReviewsRequest{Network: network, Source: "s", Collection: "YQ"}, nil},
		"an operator": {operator, reviews.ListReviewsRequest{Network: network, Source: "s", Collection: "YQ"},
			nil},
		"somebody": {vitrine.Caller{URN: whole + ":user=x", Reads: []string{whole}, PublicReviews: true}, in,
			vitrine.ErrForbidden},
		"a page with tags": {change(func(c *vitrine.Caller) { c.PublicReviews, c.Tags = false, []string{"x"} }), in,
			vitrine.ErrForbidden},
		"a page of a site": {change(func(c *vitrine.Caller) { c.Reads = []string{whole + ":site=1"} }), in,
			vitrine.ErrForbidden},
		"a page of others": {change(func(c *vitrine.Caller) { c.Reads = []string{"urn:vitrine:other.test"} }), in,
			vitrine.ErrForbidden},
		"a moderator in tags": {change(func(c *vitrine.Caller) { c.Reads, c.Moderates = nil, []string{whole} }), in,
			vitrine.ErrForbidden},
		"a malformed caller": {change(func(c *vitrine.Caller) { c.URN = "x" }), in, vitrine.ErrInvalid},
		"no network":         {page, reviews.ListReviewsRequest{Collection: "YQ"}, vitrine.ErrInvalid},
		"no collection": {page, reviews.ListReviewsRequest{Network: network, Collection: "Yg"},
			vitrine.ErrNotFound},
		"two sources": {page, reviews.ListReviewsRequest{Network: network, Collection: "YQ"},
			vitrine.ErrInvalid},
		"a limit": {page,
			reviews.ListReviewsRequest{Network: network, Source: "s", Collection: "YQ", Limit: 501},
			vitrine.ErrInvalid},
		"a cursor of another": {page,
			reviews.ListReviewsRequest{Network: network, Source: "other", Collection: "YQ", After: first.Next},
			vitrine.ErrInvalid},
	} {
		if _, err := service.As(c.by).Show(ctx, c.in); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
