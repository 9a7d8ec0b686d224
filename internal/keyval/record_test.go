package keyval_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestNumbersSort(t *testing.T) {
	numbers := []int64{math.MinInt64, math.MinInt64 + 1, -1000, -999, -100, -99, -42, -10, -9, -2, -1, 0, 1, 9, 10, 42,
		99, 100, math.MaxInt64 - 1, math.MaxInt64}
	var texts []string
	for _, n := range numbers {
		s := keyval.Number(n)
		texts = append(texts, s)
		if got, err := keyval.ParseNumber(s); got != n || err != nil {
			t.Errorf("%d is %q, which is read as %d, %v", n, s, got, err)
		}
	}
	if !slices.IsSorted(texts) {
		t.Errorf("%q do not sort as the numbers", texts)
	}
	for _, s := range []string{"", "a", "Z", "5", "bx", "ZZ"} {
		if n, err := keyval.ParseNumber(s); err == nil {
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
		x, y := keyval.Key("s", "kind/", a...), keyval.Key("s", "kind/", b...)
		if got, want := strings.Compare(x, y), slices.Compare(a, b); got != want {
			t.Fatalf("%q and %q compare as %d, and their keys %q and %q as %d", a, b, want, x, y, got)
		}
		if got := keyval.Parts(x, keyval.Prefix("s", "kind/")); !slices.Equal(got, a) {
			t.Fatalf("the parts of %q are %q, want %q", x, got, a)
		}
		if !strings.HasPrefix(x, keyval.Prefix("s", "kind/", a[0])) {
			t.Fatalf("%q does not begin with the prefix of %q", x, a[0])
		}
		space := keyval.Space("s", a[0], a[1])
		if storage.SpaceOf(keyval.Key(space, "kind/")) != space ||
			!slices.Equal(keyval.SpaceParts(space), []string{"s", a[0], a[1]}) {
			t.Fatalf("the space of %q is %q, with the parts %q", a, space, keyval.SpaceParts(space))
		}
	}
}

func TestLongPartsDiffer(t *testing.T) {
	long := strings.Repeat("x", 300)
	keys := map[string]bool{}
	for _, s := range []string{long, long + "y", long[:200], long[:168],
		keyval.Parts(keyval.Key("s", "k/", long), "s k/")[0][:200]} {
		keys[keyval.Key("s", "k/", s)] = true
	}
	if len(keys) != 5 {
		t.Errorf("5 texts have %d keys", len(keys))
	}
	if key := keyval.Key("s", "k/", strings.Repeat(" ", 1000),
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
	prefix, all := keyval.Prefix("s", "k/"), [][]string{}
	err := db.Update(ctx, "s", storage.UpdateOptions{}, func(tx storage.Tx) error {
		for i := range 400 {
			parts := []string{part(), part()}
			all = append(all, parts)
			value := keyval.AppendText(keyval.AppendText(nil, parts[0]), parts[1])
			if i%20 == 0 {
				value = append(value, make([]byte, 400<<10)...)
			}
			if err := tx.Put(ctx, storage.Entry{Key: keyval.Join(prefix, parts...), Value: value},
				storage.Entry{Key: keyval.Key("s", "j/", parts...)},
				storage.Entry{Key: keyval.Key("s", "l/", parts...)}); err != nil {
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
		f := keyval.Fields{Key: e.Key, Rest: e.Value}
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
			for e, err := range keyval.Sorted(ctx, r, prefix, after, 0, whole) {
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
	value := keyval.AppendText(binary.AppendVarint(binary.AppendUvarint(nil, 300), -300), "text")
	for n := range len(value) + 1 {
		f := keyval.Fields{Key: "s k/", Rest: value[:n]}
		a, b, text := f.Uint(), f.Int(), string(f.Text())
		if whole := a == 300 && b == -300 && text == "text"; whole != (n == len(value)) || (f.Err() == nil) != whole {
			t.Errorf("%d bytes: %d %d %q, %v", n, a, b, text, f.Err())
		}
	}
}
