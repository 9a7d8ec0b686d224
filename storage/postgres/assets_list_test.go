//go:build proof

package postgres

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
)

// decodeParts returns the ordinals of all parts.
func decodeParts(t *testing.T, parts []part) (out []int64) {
	for _, p := range parts {
		ordinals, err := decodePart(p.data)
		if err != nil || len(ordinals) != p.count || ordinals[0] != p.low {
			t.Fatalf("a part of %d from %d on has %v, error %v", p.count, p.low, ordinals, err)
		}
		out = append(out, ordinals...)
	}
	return out
}

func TestPartsDecodeToTheirOrdinals(t *testing.T) {
	const most, head = 100, 11
	rng := rand.New(rand.NewPCG(3, 4))
	for _, step := range []int64{1, 2, 7, 8, 9, 30, 127, 128, 5000, 1 << 30} {
		var list []int64
		for o := rng.Int64N(100) + 1; len(list) < 2000 && o < assets.MaxOrdinal; o += 1 + rng.Int64N(2*step-1) {
			list = append(list, o)
		}
		for n := range min(70, len(list)) {
			if got := decodeParts(t, encodeParts(list[:n], most)); !slices.Equal(got, list[:n]) {
				t.Fatalf("steps of %d: %v became %v", step, list[:n], got)
			}
		}
		parts := encodeParts(list, most)
		if got := decodeParts(t, parts); !slices.Equal(got, list) {
			t.Fatalf("steps of %d: the list became another", step)
		}
		size := 0
		for _, p := range parts {
			size += len(p.data)
			if len(p.data) > most+head {
				t.Errorf("steps of %d: a part takes %d bytes", step, len(p.data))
			}
		}
		if limit := len(list)*(uvarintLen(2*step)) + head*len(parts); size > limit {
			t.Errorf("steps of %d: %d ordinals take %d bytes, want %d at most", step, len(list), size, limit)
		}
		if step == 1 && size > len(list)/8+(head+8)*len(parts) {
			t.Errorf("a run of %d takes %d bytes, more than a bit each", len(list), size)
		}
	}
}

// A part that pieces are added to holds the ordinals of all of them.
func TestAppendedPiecesDecodeToAllOrdinals(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	x := newAssetIndex(1000)
	for range 200 {
		data, want := []byte{formatPieces}, []int64(nil)
		for range 1 + rng.IntN(20) {
			var changes []listChange
			for range 1 + rng.IntN(12) {
				last := x.top
				if len(want) > 0 {
					last = want[len(want)-1]
				}
				want = append(want, last+1+rng.Int64N(1<<rng.IntN(30)))
				changes = append(changes, listChange{want[len(want)-1], true})
			}
			piece, ok := x.piece(changes)
			if !ok {
				t.Fatalf("%v makes no piece", changes)
			}
			data = append(data, piece...)
		}
		if got, err := decodePart(data); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v became %v, error %v", want, got, err)
		}
	}
	x.top = 7
	for name, changes := range map[string][]listChange{
		"one that is taken out": {{8, true}, {9, false}}, "one that is not above all": {{7, true}, {8, true}}, "too many": manyChanges(1001),
	} {
		if _, ok := x.piece(changes); ok {
			t.Errorf("%s: a piece", name)
		}
	}
	if _, ok := x.piece(manyChanges(1000)); !ok {
		t.Error("as many as a part holds make no piece")
	}
}

// manyChanges are ordinals that take two bytes each, but the first.
func manyChanges(bytes int) (out []listChange) {
	for n := range int64(bytes/2 + bytes%2) {
		out = append(out, listChange{1000 * (n + 1), true})
	}
	return append(out, listChange{out[len(out)-1].ordinal + 1000, true})
}

// A list that is added to in any order stays what it should be, in parts that are not nearly empty.
func TestPostingListsThatGrowInTheMiddle(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x := newAssetIndex(60)
	stored, want := map[int64][]byte{}, []int64{}
	for range 4000 {
		o := 1 + rng.Int64N(1_000_000)
		want = append(want, o)
		err := x.rewrite(stored, []listChange{{o, true}}, func(low int64, parts []part) {
			for i, p := range parts {
				if i > 0 {
					low = p.low
				}
				stored[low] = p.data
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	var got []int64
	for _, low := range slices.Sorted(maps.Keys(stored)) {
		ordinals, err := decodePart(stored[low])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, ordinals...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the list became another, of %d instead of %d", len(got), len(want))
	}
	if least := len(encodeParts(want, 60)); len(stored) > 2*least {
		t.Errorf("it takes %d parts, where %d would do", len(stored), least)
	}
}

func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var list []int64
		for range rng.IntN(300) {
			list = append(list, 1+rng.Int64N(5000))
		}
		slices.Sort(list)
		list = slices.Compact(list)
		set := blocks{}
		for _, p := range encodeParts(list, 50) {
			if err := set.add(p.data); err != nil {
				t.Fatal(err)
			}
		}
		low, high := rng.Int64N(6000), rng.Int64N(6000)
		want := slices.DeleteFunc(slices.Clone(list), func(o int64) bool { return o < low || o >= high })
		for _, ascending := range []bool{true, false} {
			var got []int64
			count := 0
			for n := range int64(6) {
				if !ascending {
					n = 5 - n
				}
				if b := set[n]; b != nil {
					cut := *b
					cut.cut(n, low, high)
					count += cut.count()
					cut.each(n, ascending, func(o int64) bool { got = append(got, o); return true })
				}
			}
			if count != len(want) || !slices.Equal(got, want) {
				t.Fatalf("from %d to %d: %d %v, want %v", low, high, count, got, want)
			}
			slices.Reverse(want)
		}
		one := encodeParts([]int64{1 + rng.Int64N(5000)}, 50)[0]
		meets, err := set.meets(one.data)
		if _, in := slices.BinarySearch(list, one.low); err != nil || meets != in {
			t.Fatalf("meets %d: %t, %v; want %t", one.low, meets, err, in)
		}
	}
}

func TestDamagedParts(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":               "",
		"another format":        "\x03\x01",
		"no piece":              "\x02",
		"half a length":         "\x02\x80",
		"half a piece":          "\x02\x08\x00\x01",
		"a piece in a piece":    "\x02\x04\x02\x03",
		"no ordinal":            "\x00",
		"half an ordinal":       "\x00\x80",
		"half a step":           "\x00\x01\x80",
		"bits out of step":      "\x01\x01\xff",
		"an ordinal of 11 byte": "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		if _, err := decodePart([]byte(data)); err != errDamaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzPart(f *testing.F) {
	for _, list := range [][]int64{{1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {5, 900, 100_000}, {assets.MaxOrdinal}} {
		f.Add(encodeParts(list, partBytes)[0].data)
	}
	f.Add([]byte{formatBits, 0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		ordinals, err := decodePart(data)
		set := blocks{}
		if added := set.add(data); (added == nil) != (err == nil) {
			t.Fatalf("it is read with %v, and as a set with %v", err, added)
		}
		if err != nil || len(ordinals) == 0 || !slices.IsSorted(ordinals) || ordinals[0] < 1 || ordinals[len(ordinals)-1] > assets.MaxOrdinal {
			return
		}
		ordinals = slices.Compact(ordinals)
		if got := decodeParts(t, encodeParts(ordinals, partBytes)); !slices.Equal(got, ordinals) {
			t.Fatalf("%v became %v", ordinals, got)
		}
	})
}
