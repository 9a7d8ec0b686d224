package reviews_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// large is a text that makes a review, or a collection, large.
var large = strings.Repeat("0123456789abcde ", 3<<20/32)

// gated imports a file through a gate, in a goroutine of its own.
type gated struct {
	report reviews.Report
	err    error
	ended  chan struct{}
}

func startImport(ctx context.Context, store storage.Store, gate *reviews.Gate, file io.Reader) *gated {
	g := &gated{ended: make(chan struct{})}
	go func() {
		in := request(network, file, &reviews.ImportRequest{Options: reviews.Options{Gate: gate, Now: clock}})
		g.report, g.err = reviews.New(store, nil).Import(ctx, operator, in)
		close(g.ended)
	}()
	return g
}

// waits reports whether the import is under way although nothing moves any more.
func (g *gated) waits() bool {
	synctest.Wait()
	select {
	case <-g.ended:
		return false
	default:
		return true
	}
}

// slowStore has each Update wait for a word.
type slowStore struct {
	storage.Store
	goOn chan struct{}
}

func (s *slowStore) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	<-s.goOn
	return s.Store.Update(ctx, space, o, fn)
}

func largeReview(id string) string { return review(id, 5, `,"subparts":{"s":"`+large+`"}`) }

func TestALargeReviewWaitsUntilTheGateHasRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := reviews.NewGate(1)
		plain := memory.New()
		slow := &slowStore{Store: plain, goOn: make(chan struct{})}
		first := startImport(ctx, slow, gate, strings.NewReader(collection("YQ", single, largeReview("1"), largeReview("2"))))
		if !first.waits() || gate.Taken() != 1 {
			t.Fatalf("%d imports are inside of the gate", gate.Taken())
		}
		second := startImport(ctx, plain, gate, strings.NewReader(collection("YWI", single, largeReview("1"))))
		if !second.waits() {
			close(slow.goOn)
			t.Fatal("two imports hold a large review at a time")
		}
		if small := startImport(ctx, plain, gate, strings.NewReader(collection("YWJj", single, review("1", 5, "")))); small.waits() {
			t.Error("an import without a large review waits")
		}
		close(slow.goOn)
		if first.waits() || second.waits() || first.err != nil || second.err != nil {
			t.Fatal("the imports do not end")
		}
		checkCounts(t, first.report, 1, 1, 2, 2, 0, 0, 0, 0, 0)
		checkCounts(t, second.report, 1, 1, 1, 1, 0, 0, 0, 0, 0)
		if gate.Taken() != 0 {
			t.Errorf("%d imports are inside in the end", gate.Taken())
		}
	})
}

func TestWaitingForTheGateEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := reviews.NewGate(1)
		slow := &slowStore{Store: memory.New(), goOn: make(chan struct{})}
		first := startImport(ctx, slow, gate, strings.NewReader(collection("YQ", single, largeReview("1"))))
		first.waits()
		ctx, cancel := context.WithCancel(ctx)
		second := startImport(ctx, slow, gate, strings.NewReader(collection("YWI", single, largeReview("1"))))
		if !second.waits() {
			t.Fatal("there is room for two")
		}
		cancel()
		<-second.ended
		if !errors.Is(second.err, context.Canceled) {
			t.Errorf("it ended with %v", second.err)
		}
		close(slow.goOn)
		first.waits()
		checkCounts(t, first.report, 1, 1, 1, 1, 0, 0, 0, 0, 0)
	})
}

// A large collection is stored, with all of its reviews, while the import is inside of the gate.
func TestALargeCollectionStaysInTheGateUntilItIsStored(t *testing.T) {
	titled := strings.Replace(collection("YQ", single, largeReview("1"), largeReview("2"), review("3", 5, "")), `"title":"t"`,
		`"title":"`+strings.Repeat(`\u0061`, 200_000)+`"`, 1) // its stored form is short
	synctest.Test(t, func(t *testing.T) {
		gate := reviews.NewGate(1)
		slow := &slowStore{Store: memory.New(), goOn: make(chan struct{})}
		one := startImport(ctx, slow, gate, strings.NewReader(titled))
		for one.waits() {
			if gate.Taken() != 1 {
				t.Errorf("%d imports are inside while the collection is stored", gate.Taken())
			}
			slow.goOn <- struct{}{}
		}
		checkCounts(t, one.report, 1, 1, 3, 3, 0, 0, 0, 0, 0)
	})
}

// An import whose source is slow is outside of the gate, however much the source has sent already.
func TestAnImportIsOutsideTheGateWhileItWaitsForItsSource(t *testing.T) {
	whole := collection("YQ", `,"dimensions":["default"]`, largeReview("1"))
	titled := strings.Replace(collection("YQ", single, largeReview("1")), `"title":"t"`, `"title":"`+large+`"`, 1)
	faulty := strings.Replace(titled, `"title":"`+large+`"`, `"title":"`+large+`",x`, 1)
	for name, file := range map[string]string{"a review": whole, "a collection": titled, "a line that is no JSON": faulty} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := reviews.NewGate(1)
				store := memory.New()
				r, w := io.Pipe()
				slow := startImport(ctx, store, gate, r)
				for _, rest := range []string{file[:len(file)/2], file[len(file)/2 : len(file)-2]} { // all but the end of the line
					if _, err := io.WriteString(w, rest); err != nil {
						t.Fatal(err)
					}
					if !slow.waits() || gate.Taken() != 0 {
						t.Fatalf("%d imports are inside while the source is waited for", gate.Taken())
					}
				}
				if other := startImport(ctx, store, gate, strings.NewReader(collection("YWI", single, largeReview("1")))); other.waits() || other.err != nil {
					t.Error("another import waits for the slow source")
				}
				_, _ = io.WriteString(w, file[len(file)-2:])
				_ = w.Close()
				if slow.waits() || slow.err != nil || gate.Taken() != 0 {
					t.Errorf("it does not end, or ended with %v; %d imports are inside", slow.err, gate.Taken())
				}
				if file == faulty {
					checkCounts(t, slow.report, 1, 0, 0, 0, 0, 0, 0, 1, 0)
					return
				}
				checkCounts(t, slow.report, 1, 1, 1, 1, 0, 0, 0, 0, 0)
			})
		})
	}
}

// Large reviews and collections pass through the smallest gate one at a time, and the import leaves it however it ends.
func TestOneLargeReviewIsInMemoryAtATime(t *testing.T) {
	titled := func(line string) string {
		return strings.Replace(line, `"title":"t","created":"2020-01-02T03:04:05Z"`, `"title":"`+large+`","created":"2020-01-02T03:04:05Z"`, 1)
	}
	source := func(line string) string { return strings.Replace(line, `"source":"s"`, `"source":"`+large+`"`, 1) }
	longest := func(id string) string {
		return review(id, 5, `,"subparts":{"s":"`+strings.Repeat("x", reviews.MaxStored-len(review(id, 5, `,"subparts":{"s":""}`)))+`"}`)
	}
	for _, test := range []struct {
		name, file               string
		reviews, created, errors int64
	}{
		{"a review as long as may be", collection("YQ", single, longest("1")), 1, 1, 0},
		{"a review longer than that", collection("YQ", single, strings.Replace(longest("1"), "xx", strings.Repeat("x", 128<<10), 1), review("2", 5, "")), 2, 1, 1},
		{"a review that is refused", collection("YQ", single, strings.Replace(largeReview("1"), "[5]", "[0]", 1), largeReview("2")), 2, 1, 1},
		{"a large id", collection("YQ", single, review(large, 5, ""), review("2", 5, "")), 2, 2, 0},
		{"a large title", titled(collection("YQ", single, review("1", 5, ""), largeReview("2"), largeReview("3"))), 3, 3, 0},
		{"a large source", source(collection("YQ", single, review("1", 5, ""))), 1, 1, 0},
		{"a large source without reviews", source(collection("YQ", single)), 0, 0, 0},
		{"a collection that is refused", strings.Replace(titled(collection("YQ", single, largeReview("1"))), `"YQ"`, `"?"`, 1), 1, 0, 1},
		{"a line that is no JSON", titled(collection("YQ", single, largeReview("1"), largeReview("2")) + "x"), 2, 2, 1},
		{"a review that is no JSON", strings.Replace(collection("YQ", single, largeReview("1"), largeReview("2")), `"2"`, `2"`, 1), 0, 0, 1},
		{"a collection that is repeated", collection("YQ", single, largeReview("1")) + titled(collection("YQ", single, largeReview("2"))), 2, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			if len(test.file) > reviews.MaxStored && test.errors == 0 && proof.Short() {
				t.Skip("one that is longer still shows the same in half the time")
			}
			gate := reviews.NewGate(1)
			store := memory.New()
			in := &reviews.ImportRequest{Options: reviews.Options{Gate: gate, Now: clock}}
			r := importInto(t, store, test.file, in)
			if r.Reviews != test.reviews || r.Created != test.created || r.Errors != test.errors {
				t.Errorf("%d reviews, %d created, %d errors, want %d, %d, %d; %.500v", r.Reviews, r.Created, r.Errors, test.reviews, test.created, test.errors, r.Problems)
			}
			if gate.Taken() != 0 {
				t.Fatalf("%d imports are inside in the end", gate.Taken())
			}
			if strings.Contains(test.name, "source") {
				in := reviews.CollectionRequest{Network: network, Source: large, ID: "YQ"}
				if stats, err := reviews.New(store, nil).Collection(ctx, operator, in); err != nil || stats.Count != test.reviews {
					t.Errorf("%d reviews by the source, %.300v", stats.Count, err)
				}
			}
			if test.errors == 0 {
				sameRecords(t, export(t, store), test.file)
			}
			if r := importInto(t, store, test.file, in); r.Created+r.Updated > 0 {
				t.Errorf("imported again, %d are created and %d updated", r.Created, r.Updated)
			}
		})
	}
}

// A store that fails, and no room for the temporary file of a large collection, end an import. It leaves the gate.
func TestAFailedImportLeavesTheGate(t *testing.T) {
	gate := reviews.NewGate(1)
	file := collection("YQ", single, largeReview("1"), largeReview("2"))
	failing := errors.New("failed")
	_, err := reviews.New(failingStore{memory.New(), failing}, nil).Import(ctx, operator,
		request(network, strings.NewReader(file), &reviews.ImportRequest{Options: reviews.Options{Gate: gate, Now: clock}}))
	if !errors.Is(err, failing) || gate.Taken() != 0 {
		t.Errorf("%v, and %d imports are inside", err, gate.Taken())
	}
	titled := strings.Replace(collection("YQ", single, review("1", 5, "")), `"title":"t"`, `"title":"`+large+`"`, 1)
	_, err = reviews.New(memory.New(), nil).Import(ctx, operator,
		request(network, strings.NewReader(titled), &reviews.ImportRequest{Options: reviews.Options{Gate: gate, Spool: reviews.NewSpool(1 << 20)}}))
	if !errors.Is(err, reviews.ErrSpool) || gate.Taken() != 0 {
		t.Errorf("%v, want ErrSpool, and %d places are taken", err, gate.Taken())
	}
}

type failingStore struct {
	storage.Store
	err error
}

func (s failingStore) Update(context.Context, string, storage.UpdateOptions, func(storage.Tx) error) error {
	return s.err
}
