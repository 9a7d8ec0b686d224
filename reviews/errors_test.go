package reviews_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestErrorsSayWhatIsWrongAndWhere(t *testing.T) {
	s := reviews.New(memory.New(), nil)
	member := moderator("urn:vitrine:example.test")
	networkOf := func(by vitrine.Caller, named string) error { _, err := s.As(by).Network(named); return err }
	_, noCollection := s.As(member).Show(ctx,
		reviews.ListReviewsRequest{Network: "example.test", Source: "s", Collection: "YQ"})
	for _, c := range []struct {
		what string
		err  error
		want vitrine.Error
	}{
		{"a URN in place of a network", networkOf(member, "urn:vitrine:a"),
			vitrine.Error{Kind: vitrine.ErrInvalid, Code: "invalid", Parameter: "network",
				Reason: `"urn:vitrine:a" is not the name of a network: want the name alone, without colons, and not ` +
					`its URN`}},
		{"several networks to choose from", networkOf(moderator("urn:vitrine:a", "urn:vitrine:b"), ""),
			vitrine.Error{Kind: vitrine.ErrInvalid, Code: "invalid", Parameter: "network",
				Reason: "the caller moderates 2 networks, so the request must name one of them"}},
		{"a caller who is none", networkOf(vitrine.Caller{URN: "nobody"}, "example.test"),
			vitrine.Error{Kind: vitrine.ErrInvalid, Code: "invalid",
				Reason: `the caller: "nobody" is not a user URN: want urn:<vendor>:<network>:user=<id>`}},
		{"a network of others", networkOf(member, "other.test"),
			vitrine.Error{Kind: vitrine.ErrForbidden, Code: "forbidden",
				Reason: "the reviews of a network are for moderators of the whole network, here " +
					"urn:vitrine:other.test"}},
		{"no network to choose from", networkOf(moderator(), ""),
			vitrine.Error{Kind: vitrine.ErrForbidden, Code: "forbidden",
				Reason: "only a moderator of a whole network may import, export, list or delete its reviews, and " +
					"the caller moderates none"}},
		{"a collection that is not there", noCollection,
			vitrine.Error{Kind: vitrine.ErrNotFound, Code: "not_found",
				Reason: `the network has no collection "YQ" of "s"`}},
	} {
		e, ok := errors.AsType[*vitrine.Error](c.err)
		if !ok || !reflect.DeepEqual(*e, c.want) {
			t.Errorf("%s: %+v, want %+v", c.what, e, c.want)
			continue
		}
		if !errors.Is(c.err, c.want.Kind) || strings.TrimPrefix(c.err.Error(), "network: ") != c.want.Reason {
			t.Errorf("%s: the sentence is %q", c.what, c.err)
		}
	}
	var placed error = &vitrine.Error{Kind: vitrine.ErrInvalid, Pointer: "/a", Reason: "want a string"}
	if placed.Error() != "/a: want a string" {
		t.Errorf("the sentence is %q", placed)
	}
}
