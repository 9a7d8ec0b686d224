package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

var collectionRules = []reviewRule{
	{"a new store holds nothing", func(t *testing.T, s oneNetwork) {
		checkCollections(t, s)
		checkReviews(t, s, key("s", "a"))
	}},
	{"a collection that is not there is ErrNotFound", func(t *testing.T, s oneNetwork) {
		putCollections(t, s, newCollection(key("s", "a"), ""))
		err := s.View(ctx, func(r reviewReader) error {
			_, err := r.Collection(ctx, key("s", "b"))
			return err
		})
		checkError(t, err, reviewstore.ErrNotFound, "Collection")
	}},
	{"a collection comes back byte for byte", func(t *testing.T, s oneNetwork) {
		c := reviewstore.Collection{Key: key("s", "a"), Fields: []byte("\x00\xff{ \n"), Tally: []byte("'\x00;--")}
		putCollections(t, s, c)
		checkCollections(t, s, c)
	}},
	{"empty fields and an empty tally are kept", func(t *testing.T, s oneNetwork) {
		putCollections(t, s, reviewstore.Collection{Key: key("s", "a")}, reviewstore.Collection{Key: key("s", "b"), Fields: []byte{}, Tally: []byte{}})
		checkCollections(t, s, reviewstore.Collection{Key: key("s", "a")}, reviewstore.Collection{Key: key("s", "b")})
	}},
	{"collections come in the order in which they were first put, not in that of their keys", func(t *testing.T, s oneNetwork) {
		var want []reviewstore.Collection
		for _, id := range []string{"m", "a", "z", "B", "b", "10", "9"} {
			want = append(want, newCollection(key("s", id), ""))
		}
		putCollections(t, s, want...)
		checkCollections(t, s, want...)
	}},
	{"putting a collection again replaces its fields and tally; its place and its reviews stay", func(t *testing.T, s oneNetwork) {
		a, b := newCollection(key("s", "a"), ""), newCollection(key("s", "b"), "")
		putCollections(t, s, a, b)
		putReviews(t, s, a.Key, many(0, 3, "")...)
		a = newCollection(a.Key, "again")
		putCollections(t, s, a)
		checkCollections(t, s, a, b)
		checkReviews(t, s, a.Key, many(0, 3, "")...)
	}},
	{"sources and ids are compared byte by byte, and together", func(t *testing.T, s oneNetwork) {
		var want []reviewstore.Collection
		for _, source := range oddKeys {
			for _, id := range oddKeys {
				want = append(want, newCollection(key(source, id), fmt.Sprint(len(want))))
			}
		}
		updateReviews(t, s, func(w reviewTx) error {
			for _, c := range want {
				if err := w.PutCollection(ctx, c); err != nil {
					return err
				}
			}
			return nil
		})
		checkCollections(t, s, want...)
	}},
	{"keys and ids may be long", func(t *testing.T, s oneNetwork) {
		long := strings.Repeat("é\x00long", 20_000)
		a, b := newCollection(key(long, long), "a"), newCollection(key(long+"b", long), "b")
		putCollections(t, s, a, b)
		putReviews(t, s, a.Key, newReview(long, "1"), newReview(long+"2", "2"))
		checkCollections(t, s, a, b)
		checkReviews(t, s, a.Key, newReview(long, "1"), newReview(long+"2", "2"))
		checkReviews(t, s, b.Key)
	}},
}

var reviewRules = []reviewRule{
	{"reviews of a collection that is not there are ErrNotFound to put, and none to read", func(t *testing.T, s oneNetwork) {
		putCollections(t, s, newCollection(key("s", "a"), ""))
		for _, list := range [][]reviewstore.Review{nil, many(0, 1, "")} {
			err := s.Update(ctx, func(w reviewTx) error { return w.PutReviews(ctx, key("s", "b"), list) })
			checkError(t, err, reviewstore.ErrNotFound, "PutReviews of %d", len(list))
		}
		checkReviews(t, s, key("s", "b"))
	}},
	{"reviews come back byte for byte, in the order in which they were first put", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""))
		want := []reviewstore.Review{newReview("z", ""), newReview("a", ""), newReview("10", ""), newReview("9", "")}
		putReviews(t, s, k, want[:2]...)
		putReviews(t, s, k, want[2:]...)
		checkReviews(t, s, k, want...)
	}},
	{"a review that is put again is replaced in its place", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""))
		putReviews(t, s, k, many(0, 5, "")...)
		putReviews(t, s, k, newReview("3", "again"), newReview("5", ""), newReview("0", "again"))
		checkReviews(t, s, k, newReview("0", "again"), newReview("1", ""), newReview("2", ""), newReview("3", "again"), newReview("4", ""), newReview("5", ""))
	}},
	{"of a review that is put twice at once the last counts", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""))
		putReviews(t, s, k, newReview("1", "x"), newReview("2", ""), newReview("1", "y"))
		checkReviews(t, s, k, newReview("1", "y"), newReview("2", ""))
	}},
	{"collections share no reviews", func(t *testing.T, s oneNetwork) {
		keys := []reviewstore.Key{key("s", "a"), key("s", "b"), key("sa", ""), key("", "sa")}
		for i, k := range keys {
			putCollections(t, s, newCollection(k, ""))
			putReviews(t, s, k, newReview("1", fmt.Sprint(i)))
		}
		for i, k := range keys {
			checkReviews(t, s, k, newReview("1", fmt.Sprint(i)))
		}
	}},
	{"ids of reviews are compared byte by byte", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""))
		var want []reviewstore.Review
		for _, id := range oddKeys {
			want = append(want, newReview(id, "x"))
		}
		putReviews(t, s, k, want...)
		checkReviews(t, s, k, want...)
	}},
	{"ReviewsByID yields those that are there, each once, whatever is asked for", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""), newCollection(key("s", "b"), ""))
		putReviews(t, s, k, many(0, 3000, "")...)
		putReviews(t, s, key("s", "b"), newReview("other", ""))
		var ids []string
		for i := range 5000 {
			ids = append(ids, fmt.Sprint(4999-i))
		}
		err := s.View(ctx, func(r reviewReader) error {
			for _, test := range []struct {
				ids  []string
				want []reviewstore.Review
			}{
				{nil, nil},
				{[]string{"other"}, nil},
				{[]string{"7", "x", "7", "", "0", "7"}, []reviewstore.Review{newReview("7", ""), newReview("0", "")}},
				{ids, many(0, 3000, "")},
				{slices.Repeat(ids[4000:], 3), many(0, 1000, "")},
			} {
				if err := hasByID(r, k, test.ids, test.want...); err != nil {
					return err
				}
			}
			return hasByID(r, key("s", "c"), []string{"1"})
		})
		if err != nil {
			t.Error(err)
		}
	}},
	{"a large review comes back", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""))
		want := reviewstore.Review{ID: "1", Data: []byte(strings.Repeat("0123456789abcdef", 16<<20/16))}
		putReviews(t, s, k, want)
		checkReviews(t, s, k, want)
	}},
	{"what was given and what was returned is nobody's to share", func(t *testing.T, s oneNetwork) {
		c, list := newCollection(key("s", "a"), ""), many(0, 2, "")
		putCollections(t, s, c)
		putReviews(t, s, c.Key, list...)
		clear(c.Fields)
		clear(c.Tally)
		clear(list[0].Data)
		list[1] = newReview("x", "x")
		checkCollections(t, s, newCollection(c.Key, ""))
		checkReviews(t, s, c.Key, many(0, 2, "")...)
		var kept reviewstore.Collection
		var keptReviews []reviewstore.Review
		updateReviews(t, s, func(w reviewTx) (err error) {
			if kept, err = w.Collection(ctx, c.Key); err != nil {
				return err
			}
			keptReviews, err = collect(w.Reviews(ctx, c.Key))
			return err
		})
		putCollections(t, s, newCollection(c.Key, "later"))
		putReviews(t, s, c.Key, many(0, 2, "later")...)
		if !equalCollections(kept, newCollection(c.Key, "")) || !slices.EqualFunc(keptReviews, many(0, 2, ""), equalReviews) {
			t.Errorf("later writes changed what was returned: %q %s", kept, tell(keptReviews))
		}
	}},
}
