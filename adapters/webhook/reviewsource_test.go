package webhook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// The changes of the reviews of each network are delivered as they are in its feed, also the erasing of all of them.
func TestChangesOfReviews(t *testing.T) {
	db := memory.New()
	service, operator := reviews.New(db, nil), vitrine.Caller{Operator: true}
	load := func(network, id string) {
		t.Helper()
		line := fmt.Sprintf(`{"source":"s","title":"t","created":"2020-01-01T00:00:00Z","id":%q,`+
			`"dimensions":["default"],"reviews":[]}`, id)
		if report, err := service.As(operator).Import(t.Context(),
			reviews.ImportRequest{Network: network, File: strings.NewReader(line)}); err != nil || report.Errors > 0 {
			t.Fatalf("%+v, %v", report, err)
		}
	}
	load("a.test", "YQ==")
	page, err := service.As(operator).Changes(t.Context(), reviews.ChangesRequest{Network: "a.test"})
	if err != nil {
		t.Fatal(err)
	}
	from := page.Next
	d, got := New(db, Services{Reviews: service}, nil), &bodies{got: map[string][]string{}}
	d.transport = got
	if err := d.Set(t.Context(),
		[]Endpoint{to("all", of("reviews.changed")), to("a", in("urn:vitrine:a.test")),
			to("apps", of("app.created"))}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := cancelable(t)
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	load("a.test", "YWI=")
	load("b.test", "YQ==")
	if _, err := service.As(operator).Delete(t.Context(),
		reviews.DeleteRequest{Network: "a.test", Everything: true}); err != nil {
		t.Fatal(err)
	}
	got.wait(t, "all", 3)
	got.wait(t, "a", 2)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if page, err = service.As(operator).Changes(t.Context(),
		reviews.ChangesRequest{Network: "a.test", After: from}); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range page.Changes {
		e.Cursor = ""
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want,
			fmt.Sprintf(`{"type":"reviews.changed","timestamp":"%s","data":%s}`,
				time.UnixMilli(e.At).UTC().Format("2006-01-02T15:04:05.000Z"), data))
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	if !slices.Equal(got.got["a"], want) || len(want) != 2 || len(got.got["all"]) != 3 || got.got["apps"] != nil {
		t.Errorf("%q, want %q", got.got, want)
	}
}
