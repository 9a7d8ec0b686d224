package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

var collectionRules = []reviewRule{
	// Reading it is no error.
	{"a new network has no collections and no reviews", func(t *testing.T, s oneNetwork) {
		checkCollections(t, s)
		checkReviews(t, s, key("s", "a"))
	}},
	// The Service tells by it whether a collection is new.
	{"an absent collection is ErrNotFound", func(t *testing.T, s oneNetwork) {
		putCollections(t, s, newCollection(key("s", "a"), ""))
		err := s.View(ctx, func(r reviewReader) error {
			_, err := r.Collection(ctx, key("s", "b"))
			return err
		})
		checkError(t, err, vitrine.ErrNotFound, "Collection")
	}},
	// Fields and Tally are any bytes, also NUL and invalid UTF-8.
	{"a collection is returned byte for byte", func(t *testing.T, s oneNetwork) {
		c := reviewstore.Collection{Key: key("s", "a"), Fields: []byte("\x00\xff{ \n"), Tally: []byte("'\x00;--")}
		putCollections(t, s, c)
		checkCollections(t, s, c)
	}},
	// A nil slice and an empty one mean the same, so neither may become NULL where NULL is refused.
	{"empty Fields and an empty Tally are stored as empty", func(t *testing.T, s oneNetwork) {
		putCollections(t, s, reviewstore.Collection{Key: key("s", "a")}, reviewstore.Collection{Key: key("s", "b"), Fields: []byte{}, Tally: []byte{}})
		checkCollections(t, s, reviewstore.Collection{Key: key("s", "a")}, reviewstore.Collection{Key: key("s", "b")})
	}},
	// An export has them in the order of the import.
	{"Collections yields collections in the order in which they were first put, not in that of their keys", func(t *testing.T, s oneNetwork) {
		var want []reviewstore.Collection
		for _, id := range []string{"m", "a", "z", "B", "b", "10", "9"} {
			want = append(want, newCollection(key("s", id), ""))
		}
		putCollections(t, s, want...)
		checkCollections(t, s, want...)
	}},
	// A second import of the same file changes no order.
	{"putting a collection again replaces its Fields and Tally, and keeps its place and its reviews", func(t *testing.T, s oneNetwork) {
		a, b := newCollection(key("s", "a"), ""), newCollection(key("s", "b"), "")
		putCollections(t, s, a, b)
		putReviews(t, s, a.Key, many(0, 3, "")...)
		a = newCollection(a.Key, "again")
		putCollections(t, s, a)
		checkCollections(t, s, a, b)
		checkReviews(t, s, a.Key, many(0, 3, "")...)
	}},
	// The names differ by case, by NUL, by Unicode form or by a wildcard. Each pair of them is a collection of its own.
	{"sources and ids are compared byte by byte", func(t *testing.T, s oneNetwork) {
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
	// They are longer than a row of an index may be in some databases.
	{"sources and ids may be very long", func(t *testing.T, s oneNetwork) {
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
	// The error comes even if the list of reviews is empty.
	{"putting reviews into an absent collection is ErrNotFound, and reading them yields nothing", func(t *testing.T, s oneNetwork) {
		putCollections(t, s, newCollection(key("s", "a"), ""))
		for _, list := range [][]reviewstore.Review{nil, many(0, 1, "")} {
			err := s.Update(ctx, func(w reviewTx) error { return w.PutReviews(ctx, key("s", "b"), list) })
			checkError(t, err, vitrine.ErrNotFound, "PutReviews of %d", len(list))
		}
		checkReviews(t, s, key("s", "b"))
	}},
	// Later calls of PutReviews continue the order.
	{"reviews are returned byte for byte, in the order in which they were first put", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""))
		want := []reviewstore.Review{newReview("z", ""), newReview("a", ""), newReview("10", ""), newReview("9", "")}
		putReviews(t, s, k, want[:2]...)
		putReviews(t, s, k, want[2:]...)
		checkReviews(t, s, k, want...)
	}},
	// New reviews of the same call go to the end.
	{"a review that is put again replaces the old one and keeps its place", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""))
		putReviews(t, s, k, many(0, 5, "")...)
		putReviews(t, s, k, newReview("3", "again"), newReview("5", ""), newReview("0", "again"))
		checkReviews(t, s, k, newReview("0", "again"), newReview("1", ""), newReview("2", ""), newReview("3", "again"), newReview("4", ""), newReview("5", ""))
	}},
	// It has the place of the first. Some databases refuse to upsert a row twice in one statement.
	{"if one call puts an id twice, the last review counts", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""))
		putReviews(t, s, k, newReview("1", "x"), newReview("2", ""), newReview("1", "y"))
		checkReviews(t, s, k, newReview("1", "y"), newReview("2", ""))
	}},
	// Some drivers gather the reviews of new collections and write them together. The second Update puts again what the first
	// has stored. Both read before they have written everything.
	{"one Update adds collections and puts reviews in turn, some twice, and reads between", func(t *testing.T, s oneNetwork) {
		a, b := key("s", "a"), key("s", "b")
		for _, text := range []string{"first", "second"} {
			updateReviews(t, s, func(w reviewTx) error {
				err := errors.Join(
					w.PutCollection(ctx, newCollection(a, "")),
					w.PutCollection(ctx, newCollection(b, "")),
					w.PutReviews(ctx, a, many(0, 4, text)),
					w.PutReviews(ctx, b, many(2, 6, text)),
					w.PutReviews(ctx, a, many(2, 10, text+" again")),
				)
				if err == nil {
					err = hasReviews(w, a, slices.Concat(many(0, 2, text), many(2, 10, text+" again"))...)
				}
				return errors.Join(err, w.PutReviews(ctx, a, many(7, 10, text+" at last")))
			})
			checkReviews(t, s, a, slices.Concat(many(0, 2, text), many(2, 7, text+" again"), many(7, 10, text+" at last"))...)
			checkReviews(t, s, b, many(2, 6, text)...)
		}
	}},
	// The same review id in four collections is four reviews.
	{"collections do not share reviews", func(t *testing.T, s oneNetwork) {
		keys := []reviewstore.Key{key("s", "a"), key("s", "b"), key("sa", ""), key("", "sa")}
		for i, k := range keys {
			putCollections(t, s, newCollection(k, ""))
			putReviews(t, s, k, newReview("1", fmt.Sprint(i)))
		}
		for i, k := range keys {
			checkReviews(t, s, k, newReview("1", fmt.Sprint(i)))
		}
	}},
	// Case, NUL and Unicode form count.
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
	// An import asks for all ids of a batch at once, thousands of them, of which some are absent and some repeated.
	{"ReviewsByID yields the given reviews that exist, each once, in any order", func(t *testing.T, s oneNetwork) {
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
	// The Service stores records of up to this size.
	{"a review of 16 MiB is stored", func(t *testing.T, s oneNetwork) {
		k := key("s", "a")
		putCollections(t, s, newCollection(k, ""))
		want := reviewstore.Review{ID: "1", Data: []byte(strings.Repeat("0123456789abcdef", 16<<20/16))}
		putReviews(t, s, k, want)
		checkReviews(t, s, k, want)
	}},
	// The caller overwrites its slices after the call.
	{"a store copies what it is given, and what it returned does not change when the store is written later", func(t *testing.T, s oneNetwork) {
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
	// A driver that indexes only the beginning of a long text must compare the rest. The long names of this test share
	// their first 999 bytes.
	{"CollectionsByKey and ReviewsByTime keep their order when sources and ids are longer than an index entry", func(t *testing.T, s oneNetwork) {
		long := strings.Repeat("x", 999)
		var collections []reviewstore.Collection
		for i, k := range []reviewstore.Key{key(long+"b", "a"), key(long+"aa", "b"), key(long, "z"), key(long+"aa", "a"), key(long+"a", "z"), key("s", long+"bb"),
			key("s", long), key("s", long+"ba"), key("s", long+"b"), key("\xff", "a"), key("é", "a"), key("s", "a")} {
			c := newCollection(k, fmt.Sprint(i))
			collections = append(collections, c)
			putCollections(t, s, c)
		}
		checkCollections(t, s, collections...)
		var list []reviewstore.Review
		for i, id := range []string{long + "bb", long, long + "ba", long + "b", "a", "\xff", "b"} {
			for at := range int64(2) {
				r := newReview(fmt.Sprint(at)+id, fmt.Sprint(i))
				r.Time = at - 1
				list = append(list, r)
			}
		}
		putReviews(t, s, key("s", "a"), list...)
		checkReviews(t, s, key("s", "a"), list...)
	}},
	// Times may be negative. The lowest and the highest value must not overflow when a driver turns the order around.
	{"every 64-bit time is stored and ordered, and a review whose time changes moves", func(t *testing.T, s oneNetwork) {
		putCollections(t, s, newCollection(key("s", "a"), ""))
		var list []reviewstore.Review
		for i, at := range []int64{0, 1<<63 - 1, -1 << 63, 1, -1, 253402300799999999, -62135596800000000} {
			r := newReview(fmt.Sprint(i), "")
			r.Time = at
			list = append(list, r)
		}
		putReviews(t, s, key("s", "a"), list...)
		checkReviews(t, s, key("s", "a"), list...)
		moved := slices.Clone(list)
		moved[1].Time, moved[2].Time = moved[2].Time, moved[1].Time
		putReviews(t, s, key("s", "a"), moved...)
		checkReviews(t, s, key("s", "a"), moved...)
	}},
}
