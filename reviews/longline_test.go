package reviews_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// large is a text that makes a line one that needs a place.
var large = strings.Repeat("0123456789abcde ", 3<<20/32)

func largeReview(id string) string { return review(id, 5, `,"subparts":{"s":"`+large+`"}`) }

// failingStore is a store whose updates fail.
type failingStore struct {
	storage.Store
	err error
}

func (s failingStore) Update(context.Context, string, storage.UpdateOptions, func(storage.Tx) error) error {
	return s.err
}

// A line of more than the limit is one error, whatever it is, and the lines around it are read.
func TestALineThatIsTooLongIsOneError(t *testing.T) {
	fits := collection("YWI", single, review("1", 5, ""), review("2", 0, ""))
	limit := len(fits) - 1
	padded := strings.TrimSuffix(fits, "\n") + " \n"
	for name, long := range map[string]string{
		"a record": strings.Replace(padded, "YWI", "YWM", 1), "no JSON": strings.Repeat("x", limit+1) + "\n",
		"white space":    strings.Repeat(" ", 10*limit) + "\n",
		"much longer":    collection("YWM", single, review("1", 5, ""), largeReview("2")),
		"without an end": strings.Repeat("[", 3*limit),
	} {
		file := fits + long
		if strings.HasSuffix(long, "\n") {
			file += collection("YWQ", single, review("1", 0, ""))
		}
		for _, buffer := range []int{32, limit, limit + 1, 2 * limit, 1 << 20} {
			o := reviews.WithBuffer(reviews.ReadOptions{MaxLine: limit}, buffer)
			var got []string
			for _, p := range check(t, []byte(file), o) {
				got = append(got,
					fmt.Sprintf("%d:%d %d %s %s %s", p.Line, p.Column, p.Offset, p.Pointer, p.Rule, p.Value))
			}
			at := strings.Index(file, "[0]") + 1
			want := []string{fmt.Sprintf("1:%d %d /reviews/1/ratings/0 rating-range 0", at+1, at),
				fmt.Sprintf("2:1 %d  line-too-long ", len(fits))}
			if strings.HasSuffix(long, "\n") {
				last := strings.LastIndex(file, "[0]") + 1
				want = append(want,
					fmt.Sprintf("3:%d %d /reviews/0/ratings/0 rating-range 0", last-len(fits+long)+1, last))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, buffer %d:\n got %q\nwant %q", name, buffer, got, want)
			}
		}
	}
	r, err := reviews.New(memory.New(),
		&reviews.Options{Limits: reviews.Limits{Line: limit}}).As(operator).Import(ctx,
		request(network, strings.NewReader(padded+fits), nil))
	if err != nil || r.Errors != 2 || r.Lines != 2 || r.Collections != 1 || r.Problems[0].Rule != "line-too-long" {
		t.Errorf("%+v, %v", r, err)
	}
}

// Lines of more than 1 MiB wait for a place, others do not; and waiting ends with the context.
func TestLongLinesWaitForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := make(chan struct{}, 1)
		in := &reviews.ImportRequest{ReadOptions: reviews.ReadOptions{LongLines: places, Now: clock}}
		importInto(t, memory.New(), collection("YQ", single, review("1", 5, `,"subparts":{"s":"`+large[:900<<10]+`"}`)),
			in)
		importInto(t, memory.New(),
			collection("YQ", single, largeReview("1"))+collection("Yg", single, largeReview("1")), in)
		if len(places) != 0 {
			t.Fatal("an import has kept its place")
		}
		places <- struct{}{}
		over, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		start := func(ctx context.Context) {
			_, err := reviews.New(memory.New(), nil).As(operator).Import(ctx,
				request(network, strings.NewReader(collection("YQ", single, largeReview("1"))), in))
			ended <- err
		}
		go start(over)
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		go start(t.Context())
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("an import has not waited: %v", err)
		default:
		}
		<-places
		if err := <-ended; err != nil || len(places) != 0 {
			t.Errorf("%v, and %d places are taken", err, len(places))
		}
		failing := errors.New("failed")
		_, err := reviews.New(failingStore{memory.New(), failing}, nil).As(operator).Import(ctx,
			request(network, strings.NewReader(collection("YQ", single, largeReview("1"))), in))
		if !errors.Is(err, failing) || len(places) != 0 {
			t.Errorf("%v, and %d places are taken", err, len(places))
		}
	})
}
