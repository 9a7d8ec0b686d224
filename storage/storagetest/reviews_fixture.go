package storagetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

type (
	reviewRule   = rule[oneNetwork]
	reviewReader = reviewstore.Reader
	reviewTx     = reviewstore.Tx
)

// oneNetwork is one network of a store. Its methods are those of Store without the network.
type oneNetwork struct {
	all  reviewstore.Store
	name string
}

func (s oneNetwork) View(ctx context.Context, fn func(reviewstore.Reader) error) error {
	return s.all.View(ctx, s.name, fn)
}

func (s oneNetwork) Update(ctx context.Context, fn func(reviewstore.Tx) error) error {
	return s.all.Update(ctx, s.name, fn)
}

// beside returns the network that the rules test, and its neighbour: another network, which has collections under many
// of the keys that the rules write.
func beside(t *testing.T, s reviewstore.Store) (network, neighbour oneNetwork) {
	t.Helper()
	network, neighbour = oneNetwork{s, "rule"}, oneNetwork{s, "neighbour"}
	for _, c := range neighbourCollections {
		putCollections(t, neighbour, c)
		putReviews(t, neighbour, c.Key, neighbourReviews...)
	}
	return network, neighbour
}

var (
	neighbourCollections = []reviewstore.Collection{
		newCollection(key("s", "b"), "neighbour"), newCollection(key("s", "a"), "neighbour"), newCollection(key("s", "0"), "neighbour"),
		newCollection(key("", ""), "neighbour"), newCollection(key("s", "new"), "neighbour"), newCollection(key("s", "gone"), "neighbour"),
	}
	neighbourReviews = many(0, 30, "neighbour")
)

// oddKeys are pairs of source and id that a careless driver confuses.
var oddKeys = []string{"", "\x00", "\x00\x00", "\n", " ", "%", "'", "A", "A ", "_", "a", "a\x00", "a\x00b", "aa", "É", "é", "e\u0301", "Я", "\uffff", "😀", "\xff"}

// key returns the key of a collection.
func key(source, id string) reviewstore.Key { return reviewstore.Key{Source: source, ID: id} }

// newCollection returns a collection with bytes that no other one has.
func newCollection(k reviewstore.Key, text string) reviewstore.Collection {
	return reviewstore.Collection{Key: k, Fields: fmt.Appendf(nil, "{\"fields\": %q}\x00", k.Source+k.ID+text), Tally: fmt.Appendf(nil, "\x00tally %s\xff", text)}
}

// newReview returns a review with bytes that no other pair of id and text has.
func newReview(id, text string) reviewstore.Review {
	at := int64(crc32.ChecksumIEEE([]byte(id+text))%7) - 3 // many reviews have the same time, and some are before 1970
	return reviewstore.Review{ID: id, Time: at, Data: fmt.Appendf(nil, "{\"data\": %q}\x00\xff", id+text)}
}

// many returns reviews with the ids from…to-1.
func many(from, to int, text string) (list []reviewstore.Review) {
	for i := from; i < to; i++ {
		list = append(list, newReview(fmt.Sprint(i), text))
	}
	return list
}

func updateReviews(t *testing.T, s oneNetwork, fn func(w reviewTx) error) {
	t.Helper()
	if err := s.Update(ctx, fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func putCollections(t *testing.T, s oneNetwork, list ...reviewstore.Collection) {
	t.Helper()
	for _, c := range list {
		updateReviews(t, s, func(w reviewTx) error { return w.PutCollection(ctx, c) })
	}
}

func putReviews(t *testing.T, s oneNetwork, k reviewstore.Key, list ...reviewstore.Review) {
	t.Helper()
	updateReviews(t, s, func(w reviewTx) error { return w.PutReviews(ctx, k, list) })
}

// checkCollections fails unless the network has exactly the wanted collections; see hasCollections.
func checkCollections(t *testing.T, s oneNetwork, want ...reviewstore.Collection) {
	t.Helper()
	if err := s.View(ctx, func(r reviewReader) error { return hasCollections(r, want...) }); err != nil {
		t.Error(err)
	}
}

// hasCollections returns an error unless the network has exactly the wanted collections, in this order, by key and by
// id.
func hasCollections(r reviewReader, want ...reviewstore.Collection) error {
	got, err := collect(r.Collections(ctx))
	if err != nil {
		return err
	}
	if !slices.EqualFunc(got, want, equalCollections) {
		return fmt.Errorf("collections:\n got %q\nwant %q", got, want)
	}
	for _, w := range want {
		if got, err := r.Collection(ctx, w.Key); err != nil || !equalCollections(got, w) {
			return fmt.Errorf("collection: got %q, error %v, want %q", got, err, w)
		}
	}
	return hasKeys(r, want)
}

// hasKeys returns an error if CollectionsByKey or CollectionsWithID does not agree with want. It tries queries without a
// start, with some of the keys and with an absent key as the start.
func hasKeys(r reviewReader, want []reviewstore.Collection) error {
	want = slices.SortedFunc(slices.Values(want), func(a, b reviewstore.Collection) int { return compareKeys(a.Key, b.Key) })
	starts := []reviewstore.CollectionQuery{{}, {Limit: 2}, {After: key("s", "b\x00"), Limit: 1}}
	for i, c := range want {
		if i < 5 {
			starts = append(starts, reviewstore.CollectionQuery{After: c.Key}, reviewstore.CollectionQuery{After: c.Key, Limit: 3})
		}
	}
	for _, q := range starts {
		var rest []reviewstore.Collection
		for _, c := range want {
			if (q.After == reviewstore.Key{} || compareKeys(c.Key, q.After) > 0) && (q.Limit == 0 || len(rest) < q.Limit) {
				rest = append(rest, c)
			}
		}
		if got, err := collect(r.CollectionsByKey(ctx, q)); err != nil || !slices.EqualFunc(got, rest, equalCollections) {
			return fmt.Errorf("collections by key, query %+v: error %v\n got %.2000q\nwant %.2000q", q, err, got, rest)
		}
	}
	for _, id := range []string{"a", "absent", ""} {
		var of []reviewstore.Collection
		for _, c := range want {
			if c.ID == id {
				of = append(of, c)
			}
		}
		if got, err := collect(r.CollectionsWithID(ctx, id)); err != nil || !slices.EqualFunc(got, of, equalCollections) {
			return fmt.Errorf("collections with the id %q: error %v\n got %.2000q\nwant %.2000q", id, err, got, of)
		}
	}
	return nil
}

// tell returns reviews as text for the message of a failure.
func tell(list []reviewstore.Review) string {
	var out strings.Builder
	for _, r := range list {
		fmt.Fprintf(&out, "{%q %d %q}", r.ID, r.Time, r.Data)
	}
	return out.String()
}

// compareKeys compares keys in the order of CollectionsByKey.
func compareKeys(a, b reviewstore.Key) int {
	return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.ID, b.ID))
}

// newestFirst compares positions in the order of ReviewsByTime.
func newestFirst(a, b reviewstore.Position) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), strings.Compare(a.ID, b.ID))
}

// hasTimes returns an error if ReviewsByTime does not agree with want. It tries queries without a start, with the positions
// of some reviews, and with positions where no review is.
func hasTimes(r reviewReader, k reviewstore.Key, want []reviewstore.Review) error {
	at := func(r reviewstore.Review) reviewstore.Position { return reviewstore.Position{Time: r.Time, ID: r.ID} }
	want = slices.SortedFunc(slices.Values(want), func(a, b reviewstore.Review) int { return newestFirst(at(a), at(b)) })
	starts := []reviewstore.ReviewQuery{{}, {Limit: 2}, {After: &reviewstore.Position{Time: 1 << 60}, Limit: 1}, {After: &reviewstore.Position{Time: -1 << 60}},
		{After: &reviewstore.Position{ID: "absent"}}, {After: &reviewstore.Position{Time: 2}, Limit: 2}}
	for i, r := range want {
		if i < 5 {
			from := at(r)
			starts = append(starts, reviewstore.ReviewQuery{After: &from}, reviewstore.ReviewQuery{After: &from, Limit: 3})
		}
	}
	for _, q := range starts {
		q.Collection = k
		var rest []reviewstore.Review
		for _, r := range want {
			if (q.After == nil || newestFirst(at(r), *q.After) > 0) && (q.Limit == 0 || len(rest) < q.Limit) {
				rest = append(rest, r)
			}
		}
		if got, err := collect(r.ReviewsByTime(ctx, q)); err != nil || !slices.EqualFunc(got, rest, equalReviews) {
			return fmt.Errorf("reviews of %q by time, after %+v, limit %d: error %v\n got %.2000s\nwant %.2000s", k, q.After, q.Limit, err, tell(got), tell(rest))
		}
	}
	return nil
}

func checkReviews(t *testing.T, s oneNetwork, k reviewstore.Key, want ...reviewstore.Review) {
	t.Helper()
	if err := s.View(ctx, func(r reviewReader) error { return hasReviews(r, k, want...) }); err != nil {
		t.Error(err)
	}
}

// hasReviews returns an error unless the collection has exactly the wanted reviews, in this order, by time and by id.
func hasReviews(r reviewReader, k reviewstore.Key, want ...reviewstore.Review) error {
	got, err := collect(r.Reviews(ctx, k))
	if err != nil {
		return err
	}
	if !slices.EqualFunc(got, want, equalReviews) {
		return fmt.Errorf("reviews of %q:\n got %.2000s\nwant %.2000s", k, tell(got), tell(want))
	}
	ids := make([]string, len(want))
	for i, w := range want {
		ids[i] = w.ID
	}
	if err := hasTimes(r, k, want); err != nil {
		return err
	}
	return hasByID(r, k, ids, want...)
}

// hasByID returns an error unless ReviewsByID yields the wanted reviews for these ids, in any order.
func hasByID(r reviewReader, k reviewstore.Key, ids []string, want ...reviewstore.Review) error {
	got, err := collect(r.ReviewsByID(ctx, k, ids))
	if err != nil {
		return err
	}
	byID := func(a, b reviewstore.Review) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) }
	want = slices.SortedFunc(slices.Values(want), byID)
	slices.SortFunc(got, byID)
	if !slices.EqualFunc(got, want, equalReviews) {
		return fmt.Errorf("reviews of %q by the ids %.2000q:\n got %.2000s\nwant %.2000s", k, ids, tell(got), tell(want))
	}
	return nil
}

func equalCollections(a, b reviewstore.Collection) bool {
	return a.Key == b.Key && bytes.Equal(a.Fields, b.Fields) && bytes.Equal(a.Tally, b.Tally)
}

func equalReviews(a, b reviewstore.Review) bool {
	return a.ID == b.ID && a.Time == b.Time && bytes.Equal(a.Data, b.Data)
}
