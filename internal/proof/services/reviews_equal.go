package services

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

// ReviewsEqual has two stores, empty ones, go through the same random imports into two networks: good
// files and bad ones, dry runs, files that end in the middle and stores that fail there, each then done again. It
// fails when one is answered other bytes than the other, in a report, an export or a count.
func ReviewsEqual(t *testing.T, a, b reviews.Store, seed uint64, requests int) {
	t.Helper()
	if err := compareReviews(a, b, seed, requests); err != nil {
		t.Fatal(err)
	}
}

// compareReviews returns in what the two stores differ. Every fourth run ends with a file that takes
// more than one transaction.
func compareReviews(a, b reviews.Store, seed uint64, requests int) error {
	one, two := newImports(a, seed), newImports(b, seed)
	for i := range requests {
		long := i == requests-1 && seed%4 == 0
		if got, want := two.act(long), one.act(long); got != want {
			return fmt.Errorf("seed %d, after %d requests, the first store is answered\n%s\nand the second\n%s", seed, i+1, want, got)
		}
	}
	return nil
}

// imports is a random run of requests to a service of reviews.
type imports struct {
	randomData
	svc   *reviews.Service
	store *failingUpdates
	last  string // the file of the last request
}

func newImports(s reviews.Store, seed uint64) *imports {
	f := &failingUpdates{Store: s, left: -1}
	return &imports{randomData: randomData{rand.New(rand.NewPCG(seed, 3))}, store: f, svc: reviews.New(f, nil)}
}

// failingUpdates is a store that keeps so many updates more and fails at the next; none fails below 0.
type failingUpdates struct {
	reviews.Store
	left int
}

func (f *failingUpdates) Update(ctx context.Context, network string, fn func(reviews.Tx) error) error {
	return f.Store.Update(ctx, network, func(tx reviews.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		f.left--
		if f.left == -1 {
			return errRolledBack
		}
		return nil
	})
}

// The networks of the imports; the reviewer moderates both.
const network, otherNetwork = "urn:vitrine:example.test", "urn:vitrine:other.test"

var reviewedNetworks = []string{strings.TrimPrefix(network, "urn:vitrine:"), strings.TrimPrefix(otherNetwork, "urn:vitrine:")}

var (
	reviewer      = reviews.Caller{URN: network + ":user=reviewer", Moderates: []string{network, otherNetwork}}
	errRolledBack = errors.New("rolled back")
	errFileEnd    = errors.New("the file cannot be read on")
)

// act makes one request, and tells what is answered to it and of all that is there afterwards.
func (h *imports) act(long bool) string {
	if h.last == "" || long || h.IntN(4) > 0 {
		h.last = h.file(long)
	}
	in := reviews.ImportRequest{File: strings.NewReader(h.last), DryRun: h.IntN(5) == 0}
	var told strings.Builder
	in.Problem = func(p reviews.Problem) { fmt.Fprintln(&told, p) }
	switch h.IntN(6) {
	case 0:
		in.File = io.MultiReader(strings.NewReader(h.last[:h.IntN(len(h.last)+1)]), failingReader{})
	case 1:
		h.store.left = h.IntN(2)
	}
	in.Network = pick(h.randomData, reviewedNetworks)
	h.load(&told, in)
	if h.IntN(4) == 0 {
		h.erase(&told, in.Network)
	}
	if h.store.left = -1; h.IntN(3) == 0 { // what was cut short is done again
		in.File = strings.NewReader(h.last)
		h.load(&told, in)
	}
	h.look(&told)
	return told.String()
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errFileEnd }

// load imports a file and tells the report.
func (h *imports) load(told *strings.Builder, in reviews.ImportRequest) {
	report, err := h.svc.Import(ctx, reviewer, in)
	text, jsonErr := json.Marshal(report)
	fmt.Fprintf(told, "%s error %s\n", text, reviewError(errors.Join(err, jsonErr)))
}

// erase deletes something of a network and tells what went.
func (h *imports) erase(told *strings.Builder, network string) {
	in := reviews.DeleteRequest{Network: network, Source: pick(h.randomData, []string{"", h.source()})}
	switch h.IntN(6) {
	case 0:
		in.Everything = in.Source == ""
	case 1:
		in.Collection = h.collectionID()
	case 2:
		in.Author = "u1"
	default:
		in.Collection, in.Review = h.collectionID(), fmt.Sprint("r", h.IntN(8))
	}
	done, err := h.svc.Delete(ctx, reviewer, in)
	fmt.Fprintf(told, "erased %+v error %s\n", done, reviewError(err))
}

// reviewError is which of the known errors err is.
func reviewError(err error) string {
	if err == nil {
		return "none"
	}
	for _, known := range []error{errFileEnd, errRolledBack, reviews.ErrNotFound, reviews.ErrForbidden, reviews.ErrInvalid} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "unexpected: " + err.Error()
}

// look tells of all there is.
func (h *imports) look(told *strings.Builder) {
	names, err := h.svc.Networks(ctx, reviews.Caller{Operator: true})
	fmt.Fprintf(told, "networks %q error %s\n", names, reviewError(err))
	for _, name := range reviewedNetworks {
		var out bytes.Buffer
		err := h.svc.Export(ctx, reviewer, reviews.ExportRequest{Network: name, To: &out})
		fmt.Fprintf(told, "%s export error %s\n", &out, reviewError(err))
		for c, err := range h.svc.AllCollections(ctx, reviewer, reviews.ListCollectionsRequest{Network: name, Limit: 1 + h.IntN(3)}) {
			fmt.Fprintf(told, "%+v %s\n", c, reviewError(err))
		}
		for range 3 {
			in := reviews.ListReviewsRequest{Network: name, Source: pick(h.randomData, []string{"", h.source()}), Collection: h.collectionID(), Limit: 1 + h.IntN(3)}
			for r, err := range h.svc.AllReviews(ctx, reviewer, in) {
				fmt.Fprintf(told, "%+v %s\n", r, reviewError(err))
			}
		}
	}
}

func (h *imports) source() string { return pick(h.randomData, []string{"a.test", "A.test", "é"}) }

func (h *imports) collectionID() string {
	text := base64.StdEncoding.EncodeToString([]byte(pick(h.randomData, []string{"!", "0", "10", "2", "A", "AB", "Z", "Zz", "_"}) + "."))
	return pick(h.randomData, []string{text, text, strings.TrimRight(text, "=")})
}

// file is a random file of a few collections, a long one of more than a thousand.
func (h *imports) file(long bool) string {
	var out strings.Builder
	if long {
		for i := range 1100 {
			fmt.Fprintln(&out, h.collection(h.source(), base64.StdEncoding.EncodeToString(fmt.Append(nil, "many", i)), 1))
		}
	}
	for range 1 + h.IntN(6) {
		line := h.collection(h.source(), h.collectionID(), h.IntN(6))
		if h.IntN(8) == 0 {
			line = line[:h.IntN(len(line))] // no JSON
		}
		out.WriteString(line + pick(h.randomData, []string{"\n", "\n", "\r\n", "\n\n"}))
	}
	return out.String()
}

// collection is a line with so many reviews, some of them against a rule.
func (h *imports) collection(source, id string, count int) string {
	dims := pick(h.randomData, []string{`["default"]`, `["default"]`, `["default"]`, `["x","y"]`})
	list := make([]string, count)
	for i := range list {
		score := fmt.Sprint(h.IntN(103)) // 0, 101 and 102 are none
		if dims == `["x","y"]` {
			score += fmt.Sprint(",", 1+h.IntN(100))
		}
		list[i] = fmt.Sprintf(`{"id":"r%d",%s,"title":"%s","body_html":"<p>%s</p>","created":"2019-02-03T04:05:0%dZ","ratings":[%s]%s}`,
			h.IntN(8), pick(h.randomData, []string{`"imported_display_name":"Ann"`, `"imported_display_name":"É"`, `"imported_display_name":"\ud83d\ude00"`, `"author_id":"u1"`}), pick(h.randomData, []string{"", "t"}),
			strings.Repeat("text ", h.IntN(4)), h.IntN(10), score,
			pick(h.randomData, []string{"", "", `,"parent_id":"r1"`, `,"subparts":{"b":"2","a":"1"}`, `,"imported_email":"ann@example.test"`, `,"extra":1`}))
	}
	return fmt.Sprintf(`{"source":"%s","title":"About %d","created":"2019-01-01T00:00:00","id":"%s","dimensions":%s,"reviews":[%s]}`,
		source, h.IntN(3), id, dims, strings.Join(list, ","))
}
