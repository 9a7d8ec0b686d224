package record_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestNumbersSort(t *testing.T) {
	numbers := []int64{math.MinInt64, math.MinInt64 + 1, -1000, -999, -100, -99, -42, -10, -9, -2, -1, 0, 1, 9, 10, 42,
		99, 100, math.MaxInt64 - 1, math.MaxInt64}
	var texts []string
	for _, n := range numbers {
		s := record.Number(n)
		texts = append(texts, s)
		if got, err := record.ParseNumber(s); got != n || err != nil {
			t.Errorf("%d is %q, which is read as %d, %v", n, s, got, err)
		}
	}
	if !slices.IsSorted(texts) {
		t.Errorf("%q do not sort as the numbers", texts)
	}
	for _, s := range []string{"", "a", "Z", "5", "bx", "ZZ"} {
		if n, err := record.ParseNumber(s); err == nil {
			t.Errorf("%q is read as %d", s, n)
		}
	}
}

func TestKeysSortAsTheirParts(t *testing.T) {
	const alphabet = "\x00 !a\"/~\xff"
	rng := rand.New(rand.NewPCG(1, 2))
	part := func() string {
		b := make([]byte, rng.IntN(4))
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		return string(b)
	}
	for range 20_000 {
		a, b := []string{part(), part()}, []string{part(), part()}
		x, y := record.Key("s", "kind/", a...), record.Key("s", "kind/", b...)
		if got, want := strings.Compare(x, y), slices.Compare(a, b); got != want {
			t.Fatalf("%q and %q compare as %d, and their keys %q and %q as %d", a, b, want, x, y, got)
		}
		if got := record.Parts(x, record.Prefix("s", "kind/")); !slices.Equal(got, a) {
			t.Fatalf("the parts of %q are %q, want %q", x, got, a)
		}
		if !strings.HasPrefix(x, record.Prefix("s", "kind/", a[0])) {
			t.Fatalf("%q does not begin with the prefix of %q", x, a[0])
		}
		space := record.Space("s", a[0], a[1])
		if storage.SpaceOf(record.Key(space, "kind/")) != space ||
			!slices.Equal(record.SpaceParts(space), []string{"s", a[0], a[1]}) {
			t.Fatalf("the space of %q is %q, with the parts %q", a, space, record.SpaceParts(space))
		}
	}
}

func TestLongPartsDiffer(t *testing.T) {
	long := strings.Repeat("x", 300)
	keys := map[string]bool{}
	for _, s := range []string{long, long + "y", long[:200], long[:168],
		record.Parts(record.Key("s", "k/", long), "s k/")[0][:200]} {
		keys[record.Key("s", "k/", s)] = true
	}
	if len(keys) != 5 {
		t.Errorf("5 texts have %d keys", len(keys))
	}
	if key := record.Key("s", "k/", strings.Repeat(" ", 1000),
		strings.Repeat("\x00", 1000)); len(key) > storage.MaxKey {
		t.Errorf("two long parts make a key of %d bytes", len(key))
	}
}

// Parts that are longer than a key keeps of them begin alike, and so much is stored with them that no group fits into
// memory at once.
func TestSortedIsInTheOrderOfTheWholeParts(t *testing.T) {
	ctx, db := context.Background(), memory.New()
	defer db.Close()
	rng := rand.New(rand.NewPCG(3, 4))
	part := func() string {
		beginning := strings.Repeat("x!", 100)[:[]int{0, 3, 165, 168, 170, 199}[rng.IntN(6)]]
		return beginning + []string{"", " ", "a", "b", "aa"}[rng.IntN(5)] + strings.Repeat("a", rng.IntN(3)*30)
	}
	prefix, all := record.Prefix("s", "k/"), [][]string{}
	err := db.Update(ctx, "s", storage.UpdateOptions{}, func(tx storage.Tx) error {
		for i := range 400 {
			parts := []string{part(), part()}
			all = append(all, parts)
			value := record.AppendText(record.AppendText(nil, parts[0]), parts[1])
			if i%20 == 0 {
				value = append(value, make([]byte, 400<<10)...)
			}
			if err := tx.Put(ctx, storage.Entry{Key: record.Join(prefix, parts...), Value: value},
				storage.Entry{Key: record.Key("s", "j/", parts...)},
				storage.Entry{Key: record.Key("s", "l/", parts...)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, slices.Compare)
	all = slices.CompactFunc(all, slices.Equal)
	whole := func(e storage.Entry) []string {
		f := record.Fields{Key: e.Key, Rest: e.Value}
		return []string{string(f.Text()), string(f.Text())}
	}
	for i := range 200 {
		after, want := []string(nil), all
		if i > 0 {
			after = []string{part(), part()}
			if i%2 == 0 {
				after = all[rng.IntN(len(all))]
			}
			at, same := slices.BinarySearchFunc(all, after, slices.Compare)
			if want = all[at:]; same {
				want = want[1:]
			}
		}
		if i%3 == 1 {
			want = want[:min(len(want), rng.IntN(20)+1)]
		}
		err := db.View(ctx, func(r storage.Reader) error {
			n := 0
			for e, err := range record.Sorted(ctx, r, prefix, after, 0, whole) {
				if err != nil {
					return err
				}
				if n == len(want) {
					if i%3 == 1 {
						return nil
					}
					return fmt.Errorf("after %q it yields more than %d", after, n)
				}
				if got := whole(e); !slices.Equal(got, want[n]) {
					return fmt.Errorf("number %d after %q is %q, want %q", n, after, got, want[n])
				}
				n++
			}
			if n < len(want) {
				return fmt.Errorf("after %q it yields %d, want %d", after, n, len(want))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestFieldsOfADamagedValue(t *testing.T) {
	value := record.AppendText(binary.AppendVarint(binary.AppendUvarint(nil, 300), -300), "text")
	for n := range len(value) + 1 {
		f := record.Fields{Key: "s k/", Rest: value[:n]}
		a, b, text := f.Uint(), f.Int(), string(f.Text())
		if whole := a == 300 && b == -300 && text == "text"; whole != (n == len(value)) || (f.Err() == nil) != whole {
			t.Errorf("%d bytes: %d %d %q, %v", n, a, b, text, f.Err())
		}
	}
}

func TestFeed(t *testing.T) {
	ctx, db, f := context.Background(), memory.New(), record.Feed{Space: "s"}
	defer db.Close()
	if err := storage.EnsureIdentity(ctx, db); err != nil {
		t.Fatal(err)
	}
	update := func(fn func(storage.Tx) error) {
		t.Helper()
		if err := db.Update(ctx, "s", storage.UpdateOptions{}, fn); err != nil {
			t.Fatal(err)
		}
	}
	read := func(after int64, limit int) (numbers []int64, entries []feed.Entry, s feed.State) {
		t.Helper()
		err := db.View(ctx, func(r storage.Reader) (err error) {
			numbers, entries = nil, nil
			for e, err := range f.Entries(ctx, r, feed.Position(after), limit) {
				if err != nil {
					return err
				}
				numbers, entries = append(numbers, int64(e.Position)), append(entries, e)
			}
			s, err = f.State(ctx, r)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return numbers, entries, s
	}
	want := []feed.Entry{{At: 5, Names: []string{"a", "b", "a"}, Data: []byte("one")},
		{At: 6, Names: []string{"b", "c"}, Data: []byte{}}, {At: 7, Names: nil, Data: []byte("three")}}
	update(func(tx storage.Tx) error { return f.Add(ctx, tx, want[:2]...) })
	update(func(tx storage.Tx) error { return f.Add(ctx, tx, want[2]) })
	for i := range want {
		want[i].Position = feed.Position(i + 1)
	}
	var numbers []int64
	_, entries, state := read(0, 0)
	if !reflect.DeepEqual(entries, want) || int64(state.Last) != 3 || len(state.Key) < 16 || len(state.Identity) < 16 {
		t.Errorf("the feed has %+v, %+v, want %+v", entries, state, want)
	}
	if numbers, _, _ = read(1, 1); fmt.Sprint(numbers) != "[2]" {
		t.Errorf("after 1, one entry at most: %d", numbers)
	}
	for _, step := range []struct {
		before int64
		limit  int
		want   string
	}{{4, 10, "[1 2 3]"}, {7, 1, "[2 3]"}, {6, 10, "[3]"}, {9, 10, "[]"}} {
		update(func(tx storage.Tx) error { return f.Remove(ctx, tx, step.before, step.limit) })
		if numbers, _, state = read(0, 0); fmt.Sprint(numbers) != step.want ||
			int64(state.Removed) != 3-int64(len(numbers)) || int64(state.Last) != 3 {
			t.Errorf("after removing up to %d, at most %d: %d, %+v, want %s", step.before, step.limit, numbers, state,
				step.want)
		}
	}
	update(func(tx storage.Tx) error { return f.Add(ctx, tx, want[0]) })
	if numbers, _, _ = read(0, 0); fmt.Sprint(numbers) != "[4]" {
		t.Errorf("the next entry has the number %d, want 4", numbers)
	}
	before := state
	if err := storage.RenewIdentity(ctx, db); err != nil {
		t.Fatal(err)
	}
	if _, _, state = read(0, 0); string(state.Key) != string(before.Key) ||
		string(state.Identity) == string(before.Identity) {
		t.Errorf("a renewed identity: %x %x, before %x %x", state.Key, state.Identity, before.Key, before.Identity)
	}
}

// Who knows the secret of a store can make cursors up. They lead to nothing else than what a follower gets to see that
// begins without a cursor, and they cost no more.
func TestCursorsThatAreMadeUp(t *testing.T) {
	ctx, db, f := context.Background(), memory.New(), record.Feed{Space: "s"}
	defer db.Close()
	if err := storage.EnsureIdentity(ctx, db); err != nil {
		t.Fatal(err)
	}
	err := db.Update(ctx, "s", storage.UpdateOptions{}, func(tx storage.Tx) error {
		for i := range int64(100) {
			if err := f.Add(ctx, tx, feed.Entry{At: i, Data: make([]byte, 100)}); err != nil {
				return err
			}
		}
		return f.Remove(ctx, tx, 40, 100)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(ctx, func(r storage.Reader) error {
		state, err := f.State(ctx, r)
		seal := feed.NewSeal(state, "feed")
		seen := 0
		see := func(feed.Entry, func() string) (bool, error) { seen++; return false, nil }
		for p, want := range map[feed.Position]int{
			-1 << 63: -1, -1: -1, 0: -1, 40: -1, 41: 59, 99: 1, 100: 0, 101: -1, 1<<63 - 1: -1, // -1: gone
		} {
			scanned := &counted{Reader: r}
			seen = 0
			_, _, err := f.Walk(ctx, scanned, "feed", seal.Close(p), see)
			gone := errors.Is(err, vitrine.ErrGone)
			if gone != (want < 0) || !gone && seen != want || gone && scanned.scans > 0 {
				t.Errorf("after %d: %d entries in %d scans, %v, want %d", p, seen, scanned.scans, err, want)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// counted counts scans.
type counted struct {
	storage.Reader
	scans int
}

func (c *counted) Scan(ctx context.Context, in ...storage.Range) iter.Seq2[storage.Entry, error] {
	c.scans++
	return c.Reader.Scan(ctx, in...)
}

// A feed of many entries reads the same from every position, and after every removal, whether they are in blocks yet or
// not.
func TestAFeedIsOneListWhateverItsBlocks(t *testing.T) {
	ctx, db, f := context.Background(), memory.New(), record.Feed{Space: "s"}
	defer db.Close()
	const n = 150
	for i := 0; i < n; {
		var some []feed.Entry
		for range 1 + i%7 {
			i++
			some = append(some,
				feed.Entry{At: int64(i), Names: []string{fmt.Sprint("name", i%5)}, Data: make([]byte, i*i%90)})
		}
		if err := db.Update(ctx, "s", storage.UpdateOptions{}, func(tx storage.Tx) error {
			return f.Add(ctx, tx, some...)
		}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(removed int64) {
		t.Helper()
		err := db.View(ctx, func(r storage.Reader) error {
			state, err := f.State(ctx, r)
			if err != nil || int64(state.Removed) != removed || int64(state.Last) < n {
				t.Errorf("after %d were removed: %+v, %v", removed, state, err)
			}
			for after := int64(0); after <= int64(state.Last); after++ {
				next, want := max(after, removed)+1, min(10, int64(state.Last)-max(after, removed))
				for e, err := range f.Entries(ctx, r, feed.Position(after), 10) {
					if err != nil {
						return err
					}
					if int64(e.Position) != next || e.At != next || e.Names[0] != fmt.Sprint("name", next%5) ||
						len(e.Data) != int(next*next%90) {
						t.Errorf("after %d: %+v, want the entry %d", after, e, next)
					}
					next, want = next+1, want-1
				}
				if want != 0 {
					t.Errorf("after %d: %d entries too few", after, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check(0)
	for _, removed := range []int64{1, 2, 40, 41, 100, n - 1} {
		err := db.Update(ctx, "s", storage.UpdateOptions{}, func(tx storage.Tx) error {
			return f.Remove(ctx, tx, removed, n)
		})
		if err != nil {
			t.Fatal(err)
		}
		check(removed)
	}
}
