package reviews_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// recordKey is the key of record.
var recordKey = reviews.Key{Source: "s", ID: "YQ=="}

const user = "urn:vitrine:example.test:user=1"

// moderator returns a user who moderates what the URNs name.
func moderator(moderates ...string) vitrine.Caller {
	return vitrine.Caller{URN: user, Moderates: moderates}
}

// admissions are callers with what they may do in the network example.test.
var admissions = []struct {
	who  string
	by   vitrine.Caller
	want error
}{
	{"an operator", operator, nil},
	{"a moderator of the network", moderator("urn:vitrine:example.test"), nil},
	{"a moderator of the network and more",
		moderator("urn:vitrine:other.test", "urn:vitrine:example.test:site=1", "urn:vitrine:example.test"), nil},
	{"a moderator who is a user of another network",
		vitrine.Caller{URN: "urn:vitrine:other.test:user=1", Moderates: []string{"urn:vitrine:example.test"}}, nil},
	{"nobody", vitrine.Caller{}, vitrine.ErrInvalid},
	{"a moderator of nothing", moderator(), vitrine.ErrForbidden},
	{"a moderator of a site", moderator("urn:vitrine:example.test:site=1"), vitrine.ErrForbidden},
	{"a moderator of another network", moderator("urn:vitrine:other.test"), vitrine.ErrForbidden},
	{"a moderator of a network whose name is the start of it", moderator("urn:vitrine:example.te"),
		vitrine.ErrForbidden},
	{"a moderator of a network whose name begins with it", moderator("urn:vitrine:example.test.org"),
		vitrine.ErrForbidden},
	{"a moderator of the network in other letters", moderator("urn:vitrine:Example.test"), vitrine.ErrForbidden},
	{"a moderator of another vendor's network", moderator("urn:other:example.test"), vitrine.ErrForbidden},
	{"a moderator of an empty URN", moderator(""), vitrine.ErrInvalid},
	{"a moderator of every URN", moderator("urn"), vitrine.ErrInvalid},
	{"a moderator of a vendor", moderator("urn:vitrine"), vitrine.ErrInvalid},
	{"a moderator of a vendor, with a colon", moderator("urn:vitrine:"), vitrine.ErrInvalid},
	{"a moderator of a user", moderator(user), vitrine.ErrInvalid},
	{"a moderator of a malformed URN beside the network", moderator("urn:vitrine:example.test", "urn"),
		vitrine.ErrInvalid},
	{"a network as the user",
		vitrine.Caller{URN: "urn:vitrine:example.test", Moderates: []string{"urn:vitrine:example.test"}},
		vitrine.ErrInvalid},
	{"a site as the user",
		vitrine.Caller{URN: "urn:vitrine:example.test:site=1", Moderates: []string{"urn:vitrine:example.test"}},
		vitrine.ErrInvalid},
	{"no user", vitrine.Caller{Moderates: []string{"urn:vitrine:example.test"}}, vitrine.ErrInvalid},
}

func TestOnlyModeratorsOfTheWholeNetworkAndOperatorsAreAdmitted(t *testing.T) {
	store := memory.New()
	importInto(t, store, record, nil)
	service := reviews.New(store, nil)
	for _, test := range admissions {
		for method, call := range methods(service, test.by, network) {
			if err := call(); !errors.Is(err, test.want) {
				t.Errorf("%s: %s: %v, want %v", test.who, method, err, test.want)
			}
		}
	}
}

// methods are the methods that are about one network.
func methods(s *reviews.Service, by vitrine.Caller, network string) map[string]func() error {
	load := func(o *reviews.ImportRequest) error {
		file := &counting{Reader: strings.NewReader(record)}
		report, err := s.As(by).Import(ctx, request(network, file, o))
		if err != nil && (file.n > 0 || report.Lines > 0 || report.Problems == nil) {
			return fmt.Errorf("the file was looked at before the caller: %d bytes, %+v", file.n, report)
		}
		return err
	}
	return map[string]func() error{
		"Network": func() error { _, err := s.As(by).Network(network); return err },
		"Import":  func() error { return load(nil) },
		"dry run": func() error { return load(&reviews.ImportRequest{DryRun: true}) },
		"Export": func() error {
			var out bytes.Buffer
			err := s.As(by).Export(ctx, network, &out)
			if err != nil && out.Len() > 0 {
				return fmt.Errorf("%q was written before the caller was looked at", &out)
			}
			return err
		},
		"ListCollections": func() error {
			_, err := s.As(by).ListCollections(ctx, reviews.ListCollectionsRequest{Network: network})
			return err
		},
		"ListReviews": func() error {
			_, err := s.As(by).ListReviews(ctx, reviews.ListReviewsRequest{Network: network, Collection: recordKey.ID})
			return err
		},
		"AllReviews": func() error {
			for _, err := range s.As(by).AllReviews(ctx,
				reviews.ListReviewsRequest{Network: network, Collection: recordKey.ID}) {
				return err
			}
			return errors.New("there is nothing")
		},
		"Delete": func() error {
			_, err := s.As(by).Delete(ctx, reviews.DeleteRequest{Network: network, Author: "nobody"})
			if errors.Is(err, vitrine.ErrNotFound) {
				return nil // the caller was admitted
			}
			return err
		},
	}
}

type counting struct {
	io.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

func TestWithoutANameTheOnlyNetworkOfTheCallerIsMeant(t *testing.T) {
	store := memory.New()
	importInto(t, store, record, nil)
	service := reviews.New(store, nil)
	for _, c := range []struct {
		who  string
		by   vitrine.Caller
		want error
	}{
		{"a moderator of one network", moderator("urn:vitrine:example.test", "urn:vitrine:other.test:site=1"), nil},
		{"a moderator of two networks", moderator("urn:vitrine:example.test", "urn:vitrine:other.test"),
			vitrine.ErrInvalid},
		{"a moderator of none", moderator(), vitrine.ErrForbidden},
		{"an operator", operator, vitrine.ErrInvalid},
	} {
		for method, call := range methods(service, c.by, "") {
			want := c.want
			if method == "Delete" { // it always needs a name
				want = vitrine.ErrInvalid
			}
			if err := call(); !errors.Is(err, want) {
				t.Errorf("%s: %s: %v, want %v", c.who, method, err, want)
			}
		}
	}
	other, err := service.As(moderator("urn:vitrine:other.test")).Import(ctx,
		reviews.ImportRequest{File: strings.NewReader(record)})
	if err != nil || other.ReviewsCreated != 1 {
		t.Errorf("an import without a name reaches another network than that of the caller: %+v, %v", other, err)
	}
}

func TestTheNameOfANetworkIsOneSegmentOfAURN(t *testing.T) {
	service := reviews.New(memory.New(), nil)
	for _, name := range []string{":", "urn:vitrine:example.test", "example.test:site=1", "example.test:", "a b",
		"a\nb", "a\x00", "\xff", strings.Repeat("x", 600)} {
		by := moderator("urn:vitrine:example.test")
		for method, call := range methods(service, by, name) {
			if err := call(); !errors.Is(err, vitrine.ErrInvalid) {
				t.Errorf("%q: %s: %v", name, method, err)
			}
		}
		for method, call := range methods(service, operator, name) {
			if err := call(); !errors.Is(err, vitrine.ErrInvalid) {
				t.Errorf("%q for an operator: %s: %v", name, method, err)
			}
		}
	}
}

func TestNetworkReturnsTheOnlyNetworkOfTheCaller(t *testing.T) {
	for _, test := range []struct {
		by   vitrine.Caller
		name string
		err  error
	}{
		{moderator("urn:vitrine:example.test"), "example.test", nil},
		{moderator("urn:vitrine:example.test", "urn:vitrine:example.test"), "example.test", nil},
		{moderator("urn:vitrine:example.test", "urn:vitrine:other.test:site=1", "urn:other:third.test"), "example.test",
			nil},
		{moderator("urn:vitrine:example.test", "urn:vitrine:other.test"), "", vitrine.ErrInvalid},
		{moderator(), "", vitrine.ErrForbidden},
		{moderator("urn:vitrine:example.test:site=1"), "", vitrine.ErrForbidden},
		{moderator("urn:other:example.test"), "", vitrine.ErrForbidden},
		{moderator("urn:vitrine"), "", vitrine.ErrInvalid},
		{vitrine.Caller{}, "", vitrine.ErrInvalid},
	} {
		name, err := reviews.New(memory.New(), nil).As(test.by).Network("")
		if name != test.name || !errors.Is(err, test.err) {
			t.Errorf("%q: %q, %v, want %q, %v", test.by.Moderates, name, err, test.name, test.err)
		}
	}
}

func TestTheVendorOfURNsIsAnOption(t *testing.T) {
	service := reviews.New(memory.New(), &reviews.Options{Vendor: "acme"})
	by := moderator("urn:acme:example.test", "urn:vitrine:other.test")
	if _, err := service.As(by).Network("example.test"); err != nil {
		t.Error(err)
	}
	if _, err := service.As(by).Network("other.test"); !errors.Is(err, vitrine.ErrForbidden) {
		t.Errorf("a network of another vendor: %v", err)
	}
	if name, err := service.As(by).Network(""); name != "example.test" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
}

func TestOnlyAnOperatorListsNetworks(t *testing.T) {
	store := memory.New()
	service := reviews.New(store, nil)
	for _, name := range []string{"b", "a", "b"} {
		if _, err := service.As(operator).Import(ctx,
			reviews.ImportRequest{Network: name, File: strings.NewReader(record)}); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := service.Networks(ctx); !slices.Equal(names, []string{"a", "b"}) || err != nil {
		t.Errorf("%q, %v", names, err)
	}
}

func TestNetworksDoNotShowInEachOther(t *testing.T) {
	service := reviews.New(memory.New(), nil)
	titled := func(name string) string { return strings.ReplaceAll(record, `"title":"t"`, `"title":"`+name+`"`) }
	names := []string{network, otherNetwork, "example.test.org"}
	for _, name := range names {
		if r, err := service.As(operator).Import(ctx,
			reviews.ImportRequest{Network: name, File: strings.NewReader(titled(name))}); err != nil ||
			r.ReviewsCreated != 1 {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
	}
	for _, name := range names {
		c, err := service.As(operator).Show(ctx, reviews.ListReviewsRequest{Network: name, Collection: recordKey.ID})
		collections, err2 := service.As(operator).ListCollections(ctx, reviews.ListCollectionsRequest{Network: name})
		list, err3 := service.As(operator).ListReviews(ctx,
			reviews.ListReviewsRequest{Network: name, Collection: recordKey.ID})
		var out bytes.Buffer
		err4 := service.As(operator).Export(ctx, name, &out)
		if err := errors.Join(err, err2, err3, err4); err != nil || len(collections.Items) != 1 ||
			len(list.Items) != 1 {
			t.Fatalf("%s: %+v, %+v, %v", name, collections.Items, list.Items, err)
		}
		if c.Title != name || collections.Items[0].Title != name || list.Items[0].Title != name {
			t.Errorf("%s has %+v, %+v and %+v", name, c, collections.Items, list.Items)
		}
		sameRecords(t, out.String(), titled(name))
	}
}

// stops is a file that waits in the middle.
type stops struct {
	before  io.Reader
	reached chan struct{}
	goOn    chan struct{}
}

func (s *stops) Read(p []byte) (int, error) {
	n, err := s.before.Read(p)
	if err == io.EOF {
		close(s.reached)
		<-s.goOn
	}
	return n, err
}

// No transaction is open while an import waits for its file, so that of another network goes on.
func TestAnImportDoesNotWaitForThatOfAnotherNetwork(t *testing.T) {
	file := &stops{before: strings.NewReader(record), reached: make(chan struct{}), goOn: make(chan struct{})}
	service := reviews.New(memory.New(), nil)
	done := make(chan error)
	go func() {
		_, err := service.As(operator).Import(ctx, reviews.ImportRequest{Network: "slow.test", File: file})
		done <- err
	}()
	<-file.reached
	report, err := service.As(operator).Import(ctx,
		reviews.ImportRequest{Network: network, File: strings.NewReader(record)})
	if err != nil || report.ReviewsCreated != report.Reviews {
		t.Errorf("%+v, %v", report, err)
	}
	close(file.goOn)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
