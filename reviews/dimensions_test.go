package reviews_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// retrying is a store that runs each View twice, and rolls each update back once and then runs it again.
type retrying struct{ storage.Store }

func (s retrying) View(ctx context.Context, fn func(storage.Reader) error) error {
	return s.Store.View(ctx, func(r storage.Reader) error {
		if err := fn(r); err != nil {
			return err
		}
		return fn(r)
	})
}

func (s retrying) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	again := errors.New("once more")
	err := s.Store.Update(ctx, space, o, func(tx storage.Tx) error { return errors.Join(fn(tx), again) })
	if !errors.Is(err, again) {
		return err
	}
	return s.Store.Update(ctx, space, o, fn)
}

func statistics(t *testing.T, store storage.Store) []reviews.Dimension {
	t.Helper()
	page, err := reviews.New(store, nil).As(operator).ListCollections(ctx,
		reviews.ListCollectionsRequest{Network: network})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%v, %v", page.Items, err)
	}
	return page.Items[0].Dimensions
}

// A later file may name the dimensions in another order: the scores go by the names.
func TestDimensionsAreMetByName(t *testing.T) {
	// A text that looks like the member is not taken for it.
	looksSo := func(line string) string {
		return strings.NewReplacer(`"body_html":"b"`, `"body_html":"\"ratings\":[7,7,7],\"dimensions\":[\"x\"]"`,
			`"title":"t"`, `"title":"\"dimensions\":[\"x\"]"`).Replace(line)
	}
	stored := looksSo(collection("YQ", `,"dimensions":["price","quality","caf\u00e9"]`, review("1", "10,90,50", ""),
		review("2", "9,100,1", "")))
	shuffled := looksSo(collection("YQ", `,"dimensions":["quality","café","price"]`, review("1", "90,50,10", ""),
		review("2", "100,1,9", "")))
	changed := looksSo(collection("YQ", `,"dimensions":["café","price","quality"]`, review("1", "50,10,90", ""),
		review("2", "2,10,99", ""), review("3", "3,30,60", "")))
	result := looksSo(collection("YQ", `,"dimensions":["price","quality","caf\u00e9"]`, review("1", "10,90,50", ""),
		review("2", "10,99,2", ""), review("3", "30,60,3", "")))
	for _, buffer := range []int{150, 1 << 20} { // a line in parts, and a line in one block
		o := *reviews.WithBuffer(reviews.ReadOptions{}, buffer)
		plain := memory.New()
		importInto(t, plain, stored, nil)
		before, counted := export(t, plain), statistics(t, plain)
		checkCounts(t, dryAndReal(t, plain, shuffled, o), 1, 1, 2, 0, 0, 2, 0, 0, 0)
		if export(t, plain) != before || !reflect.DeepEqual(statistics(t, plain), counted) {
			t.Errorf("buffer %d: the same scores in another order have changed the store:\n%s%s", buffer,
				export(t, plain), before)
		}
		store := retrying{plain}
		for _, updated := range []int64{1, 0} {
			checkCounts(t, importInto(t, store, changed, &reviews.ImportRequest{ReadOptions: o}), 1, 1, 3, updated,
				updated,
				3-2*updated, 0, 0, 0)
			sameRecords(t, export(t, plain), result)
		}
		want := []reviews.Dimension{{Name: "price", Mean: 16.67}, {Name: "quality", Mean: 83},
			{Name: "café", Mean: 18.33}}
		for i, got := range statistics(t, store) {
			if got.Histogram = [10]int64{}; got != want[i] {
				t.Errorf("buffer %d: %+v, want %+v", buffer, got, want[i])
			}
		}
		// An erased review takes its scores along: counts and rows agree.
		if _, err := reviews.New(store, nil).As(operator).Delete(ctx,
			reviews.DeleteRequest{Network: network, Source: "s", Collection: "YQ", Review: "2"}); err != nil {
			t.Fatal(err)
		}
		if got := statistics(t, store)[0]; got.Mean != 20 {
			t.Errorf("buffer %d: %+v", buffer, got)
		}
	}
}

// A stored collection without reviews takes the dimensions of the file, and keeps its order of the same ones.
func TestDimensionsOfACollectionWithoutReviews(t *testing.T) {
	store := memory.New()
	importInto(t, store, collection("YQ", `,"dimensions":["a","b"]`), nil)
	importInto(t, store, collection("YQ", `,"dimensions":["b","a"]`), nil)
	sameRecords(t, export(t, store), collection("YQ", `,"dimensions":["a","b"]`))
	importInto(t, store, collection("YQ", `,"dimensions":["b","a"]`, review("1", "20,10", "")), nil)
	sameRecords(t, export(t, store), collection("YQ", `,"dimensions":["a","b"]`, review("1", "10,20", "")))
}

// The most dimensions that a collection may have, the other way round, in a line of many parts.
func TestManyDimensionsAreMetByName(t *testing.T) {
	const n = 1000
	var up, down, ups, downs []string
	for i := range n {
		up, down = append(up, fmt.Sprintf(`"d%d"`, i)), append(down, fmt.Sprintf(`"d%d"`, n-1-i))
		ups, downs = append(ups, fmt.Sprint(1+i%100)), append(downs, fmt.Sprint(1+(n-1-i)%100))
	}
	file := func(names, ratings []string) string {
		list := make([]string, 400)
		for i := range list {
			list[i] = review(fmt.Sprint(i), strings.Join(ratings, ","), "")
		}
		return collection("YQ", `,"dimensions":[`+strings.Join(names, ",")+`]`, list...)
	}
	store := memory.New()
	importInto(t, store, file(up, ups), nil)
	checkCounts(t, importInto(t, retrying{store}, file(down, downs), nil), 1, 1, 400, 0, 0, 400, 0, 0, 0)
}
