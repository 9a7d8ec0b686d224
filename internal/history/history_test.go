package history

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof"
)

// history is a driver in memory, which also knows what it was given.
type history struct {
	tb     interface{ Fatalf(string, ...any) }
	latest Version
	tail   []byte
	rows   []Row
	all    []Version
}

func newHistory(tb testing.TB) *history {
	return &history{tb: tb}
}

// append stores v as the next version, whatever number it has.
func (h *history) append(v Version) {
	v.Number = int64(len(h.all))
	if v.Number > 0 {
		before := bytes.Clone(h.tail)
		change, err := Append(h.tail, h.latest, v)
		if err != nil {
			h.tb.Fatalf("version %d: %v", v.Number, err)
		}
		if len(change.Rows) > 1 || !bytes.Equal(before, h.tail) {
			h.tb.Fatalf("version %d: %d rows at once, or the tail before was changed", v.Number, len(change.Rows))
		}
		h.rows = append(h.rows, change.Rows...)
		h.tail = change.Tail
	}
	h.latest = v
	h.all = append(h.all, v)
}

func (h *history) upTo(number int64) Rows {
	return func(yield func(Row, error) bool) {
		for i := len(h.rows) - 1; i >= 0; i-- {
			if h.rows[i].Version <= number && !yield(h.rows[i], nil) {
				return
			}
		}
	}
}

func (h *history) read(number int64) (Version, error) {
	return Read(h.tail, h.upTo(number), number)
}

// check reads version number and compares it with what was given.
func (h *history) check(number int64) {
	got, err := h.read(number)
	if err != nil {
		h.tb.Fatalf("version %d of %d: %v", number, len(h.all), err)
	}
	if !equal(got, h.all[number]) {
		h.tb.Fatalf("version %d of %d: got %d bytes, number %d, time %d, editor %q; that is not what was stored",
			number, len(h.all), len(got.Body), got.Number, got.UpdatedAt, got.UpdatedBy)
	}
}

func isSnapshot(row Row) bool { return row.Data[0] == formatSnapshot }

func equal(a, b Version) bool {
	return a.Number == b.Number && a.UpdatedAt == b.UpdatedAt && a.UpdatedBy == b.UpdatedBy &&
		bytes.Equal(a.Body, b.Body)
}

func TestEveryVersionReadsBack(t *testing.T) {
	for _, tr := range traces() {
		t.Run(tr.name, func(t *testing.T) {
			h := newHistory(t)
			p := newPage(3, 5<<10)
			for i := range 250 {
				h.append(Version{UpdatedAt: int64(i * i), UpdatedBy: fmt.Sprint("editor ", i/50), Body: p.body()})
				tr.edit(p, i)
			}
			for number := range h.latest.Number {
				h.check(number)
			}
		})
	}
}

func TestBytesOfAnyKind(t *testing.T) {
	random := make([]byte, 100_000)
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	zeros := make([]byte, 200_000)
	h := newHistory(t)
	for i, body := range [][]byte{
		nil, {}, {0}, []byte("a"), []byte("a"), nil, random, random[1:], append(random[50_000:], random[:50_000]...),
		zeros, append(zeros, 1),
		bytes.Repeat([]byte(`{"id":"0","component":`), 50), nil, zeros, random, {0},
	} {
		h.append(Version{UpdatedAt: int64(i%3)<<62 - 1, UpdatedBy: string(body[:min(len(body), 300)]), Body: body})
	}
	for number := range h.latest.Number {
		h.check(number)
	}
}

func TestHistoriesOfRandomEdits(t *testing.T) {
	seeds := uint64(100)
	if proof.Short() {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			randomEdits(&history{tb: t}, rand.New(rand.NewPCG(seed, 0)))
		})
	}
}

func randomEdits(h *history, r *rand.Rand) {
	p := newPage(r.Uint64N(1000), []int{0, 3 << 10, 9 << 10}[r.IntN(3)])
	p.insert(0)
	kinds := traces()
	h.append(Version{Body: p.body()})
	for range 1 + r.IntN(60) {
		v := Version{UpdatedAt: h.latest.UpdatedAt + r.Int64N(1<<20) - 5, UpdatedBy: []string{"", "a", "b"}[r.IntN(3)]}
		switch kind := r.IntN(len(kinds) + 2); {
		case kind == len(kinds):
			v.Body = h.all[r.IntN(len(h.all))].Body
		case kind == len(kinds)+1:
			v.Body = make([]byte, r.IntN(200))
			for i := range v.Body {
				v.Body[i] = byte(r.Uint32())
			}
		case len(p.elements) > 1:
			kinds[kind].edit(p, r.IntN(2))
			v.Body = p.body()
		default:
			p.insert(0)
			v.Body = p.body()
		}
		h.append(v)
	}
	for number := range h.latest.Number {
		h.check(number)
	}
	checkList(h, r.Int64N(h.latest.Number), 1+r.IntN(70), r.IntN(100_001))
}

// checkList compares a page with the versions it should hold: it may end once
// it has enough bytes, but neither earlier nor long after.
func checkList(h *history, from int64, limit, size int) {
	list, err := List(h.tail, h.upTo(from), from, limit, size)
	if err != nil {
		h.tb.Fatalf("list from %d: %v", from, err)
	}
	total := 0
	for i, v := range list {
		if i > 0 && total > 2*size {
			h.tb.Fatalf("list from %d goes on after %d bytes, with a limit of %d", from, total, size)
		}
		if !equal(v, h.all[from-int64(i)]) {
			h.tb.Fatalf("list from %d: item %d is not version %d", from, i, from-int64(i))
		}
		total += len(v.Body)
	}
	if whole := min(limit, int(from)+1); len(list) > whole || len(list) < whole && (len(list) == 0 || total < size/2) {
		h.tb.Fatalf("list from %d has %d of %d versions and %d of %d bytes", from, len(list), whole, total, size)
	}
}

func TestList(t *testing.T) {
	h := newHistory(t)
	p := newPage(3, 5<<10)
	for i := range 600 {
		h.append(Version{Body: p.body()})
		traces()[i%3].edit(p, i)
	}
	for _, tt := range []struct {
		name        string
		from        int64
		limit, size int
	}{
		{"the newest 50", 598, 50, 16 << 20},
		{"down to version 0", 20, 50, 16 << 20},
		{"version 0", 0, 1, 16 << 20},
		{"across snapshots", 598, 599, 16 << 20},
		{"as many as the bytes allow", 598, 500, 100_000},
		{"one, if the bytes allow none", 598, 500, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h.tb = t
			checkList(h, tt.from, tt.limit, tt.size)
		})
	}
	for _, tt := range []struct {
		from  int64
		limit int
	}{{-1, 1}, {5, 0}} {
		if _, err := List(h.tail, h.upTo(tt.from), tt.from, tt.limit, 1); err == nil {
			t.Errorf("%d versions from %d: no error", tt.limit, tt.from)
		}
	}
}

func TestRowsAreReadOnlyDownToTheSnapshot(t *testing.T) {
	h := newHistory(t)
	p := newPage(3, 5<<10)
	for range 600 {
		h.append(Version{Body: p.body()})
		traces()[0].edit(p, 0)
	}
	snapshots := 0
	for _, row := range h.rows {
		if isSnapshot(row) {
			snapshots++
		}
	}
	if snapshots < 3 {
		t.Fatalf("%d snapshots in %d versions", snapshots, len(h.all))
	}
	for _, limit := range []int{1, 500} { // the larger one ends because of its bytes
		seen := 0
		rows := func(yield func(Row, error) bool) {
			for row := range h.upTo(598) {
				if seen > 0 {
					t.Fatalf("row %d is taken after the snapshot", row.Version)
				}
				if isSnapshot(row) {
					seen++
				}
				if !yield(row, nil) {
					return
				}
			}
		}
		list, err := List(h.tail, rows, 598, limit, 1)
		if err != nil || len(list) != 1 || !equal(list[0], h.all[598]) {
			t.Errorf("got %d versions, %v", len(list), err)
		}
	}
}

// Small edits of a large body reach the number of steps before anything else.
func TestChainsEndAfterSoManySteps(t *testing.T) {
	body := make([]byte, 100<<10)
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range body {
		body[i] = byte(rnd.Uint32())
	}
	h := newHistory(t)
	for range maxSteps + 10 {
		h.append(Version{Body: bytes.Clone(body)})
		body[rnd.IntN(len(body))]++
	}
	for _, number := range []int64{maxSteps - 1, maxSteps, maxSteps + 1, maxSteps + 2, maxSteps + 8} {
		h.check(number)
	}
	if first := h.rows[len(h.rows)-1]; !isSnapshot(first) || first.Version != maxSteps+1 {
		t.Errorf("the last row is version %d's", first.Version)
	}
}

func TestLargeVersionsThatCompressWell(t *testing.T) {
	random := make([]byte, 200<<10)
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	h := newHistory(t)
	for i := range 40 {
		h.append(Version{Body: append(bytes.Clone(random), bytes.Repeat([]byte{byte(i)}, 300<<10)...)})
	}
	for number := range h.latest.Number {
		h.check(number)
	}
}

func TestReadReturnsTheErrorOfItsRows(t *testing.T) {
	disk := errors.New("disk gone")
	rows := func(yield func(Row, error) bool) { yield(Row{}, disk) }
	if _, err := Read(nil, rows, 1); !errors.Is(err, disk) {
		t.Errorf("got %v", err)
	}
}

func TestAnUnchangedAppHasNoRows(t *testing.T) {
	h := newHistory(t)
	h.append(Version{Body: []byte("{}")})
	if len(h.rows) != 0 || len(h.tail) != 0 {
		t.Errorf("%d rows, a tail of %d bytes", len(h.rows), len(h.tail))
	}
}

func TestResultsDoNotShareMemoryWithRows(t *testing.T) {
	h := newHistory(t)
	for _, body := range []string{"a", "ab", "abc", "abcd"} {
		h.append(Version{Body: []byte(body)})
	}
	list, err := List(h.tail, h.upTo(2), 2, 3, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range h.rows {
		clear(row.Data)
	}
	clear(h.tail)
	for i, want := range []string{"abc", "ab", "a"} {
		if string(list[i].Body) != want {
			t.Errorf("version %d changed to %q with the rows", 2-i, list[i].Body)
		}
		clear(list[i].Body)
	}
}

func TestAppendRefuses(t *testing.T) {
	first := Version{Number: 0, Body: []byte("a")}
	second := Version{Number: 1, Body: []byte("ab")}
	change, err := Append(nil, first, second)
	if err != nil {
		t.Fatal(err)
	}
	large := make([]byte, MaxBody+1) // of zeros, so that the limits are quick to test
	editor := string(large[:maxEditor+1])
	other := second
	other.UpdatedAt++
	for _, tt := range []struct {
		name       string
		tail       []byte
		prev, next Version
		corrupt    bool
	}{
		{"a gap", nil, first, Version{Number: 2}, false},
		{"the same number", nil, first, first, false},
		{"a number below 0", nil, Version{Number: -1}, Version{Number: 0}, false},
		{"a body over the limit", nil, first, Version{Number: 1, Body: large}, false},
		{"a latest body over the limit", nil, Version{Body: large}, second, false},
		{"an editor over the limit", nil, first, Version{Number: 1, UpdatedBy: editor}, false},
		{"a latest version that is not the tail's", change.Tail, other, Version{Number: 2}, true},
		{"a latest version before the tail's", change.Tail, first, second, true},
		{"a tail cut short", change.Tail[:5], second, Version{Number: 2}, true},
		{"a snapshot as a tail", change.Rows[0].Data, second, Version{Number: 2}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Append(tt.tail, tt.prev, tt.next)
			if err == nil || errors.Is(err, ErrCorrupt) != tt.corrupt || !reflect.DeepEqual(got, Change{}) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	if proof.Short() {
		return
	}
	if _, err := Append(nil, first,
		Version{Number: 1, Body: large[:MaxBody], UpdatedBy: editor[:maxEditor]}); err != nil {
		t.Errorf("at the limits: %v", err)
	}
}

func TestCodecInParallel(t *testing.T) {
	var group sync.WaitGroup
	for seed := range uint64(4) {
		group.Go(func() {
			h := &history{tb: t}
			p := newPage(seed, 3<<10)
			for i := range 60 {
				h.append(Version{Body: p.body()})
				traces()[i%len(traces())].edit(p, i)
				if i > 0 {
					h.check(int64(i) / 2)
				}
			}
		})
	}
	group.Wait()
}
