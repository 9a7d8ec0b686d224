package httpapi

import (
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "%40a%2Fb": "@a/b", "%2540": "%40", "a+b": "a+b", "é": "é", "%C3%A9": "é", "%FF": "\x00",
		"a%ED%A0%80b": "a\x00b", "%zz": "\x00", "%": "\x00",
	} {
		if got := unescape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Every list reserves the memory of its pages, those of other packages too. The stream of x/changes does so for each
// page by itself.
func TestEveryListReservesMemory(t *testing.T) {
	h := handler{Config: Config{Apps: appsvc.New(memory.New(), nil), Assets: assets.New(memory.New(), nil),
		Reviews: reviews.New(memory.New(), nil),
		Extras: []Extra{{Method: "GET", Path: "/x/things/", List: func(*Request) (List, error) {
			return List{}, nil
		}}}}}
	lists := 0
	for _, r := range h.routes() {
		if !slices.Contains(r.query, "limit") {
			continue
		}
		if lists++; !r.is(reserves) && r.path != "/x/changes" {
			t.Errorf("%s %s takes memory that is not counted", r.method, r.path)
		}
	}
	if lists < 15 {
		t.Errorf("%d lists: this shows nothing", lists)
	}
}
