package history

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestDiffMakesTheNewText(t *testing.T) {
	for _, tr := range traces() {
		t.Run(tr.name, func(t *testing.T) {
			p := newPage(1, 20<<10)
			old := p.body()
			for i := range 40 {
				tr.edit(p, i)
				body := p.body()
				e := diff(old, body)
				if got := e.apply(nil, old, body); !bytes.Equal(got, body) {
					t.Fatalf("edit %d: %d spans make %d bytes that differ from the %d wanted", i, len(e), len(got), len(body))
				}
				old = body
			}
		})
	}
}

func TestDiffOfText(t *testing.T) {
	for _, tt := range []struct {
		name, old, new string
		want           edit
	}{
		{"both empty", "", "", nil},
		{"from empty", "", "abc", edit{{^0, 3}}},
		{"to empty", "abc", "", nil},
		{"equal", "abc", "abc", edit{{0, 3}}},
		{"replaced", "one two three", "one 22 three", edit{{0, 4}, {^4, 6}, {7, 12}}},
		{"put in", "abcd", "abXcd", edit{{0, 2}, {^2, 3}, {2, 5}}},
		{"taken out", "abXcd", "abcd", edit{{0, 2}, {3, 4}}},
		{"blocks swapped", "0123456789abcdefghijklmnopqrstuv" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?-_",
			"ABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?-_" + "0123456789abcdefghijklmnopqrstuv", edit{{32, 32}, {0, 64}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := diff([]byte(tt.old), []byte(tt.new))
			if len(got) != len(tt.want) {
				t.Fatalf("got %v, want %v", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Fatalf("got %v, want %v", got, tt.want)
				}
			}
		})
	}
}

// mixed returns an edit of a text of size bytes to one of up to n spans.
func mixed(rnd *rand.Rand, size, literals, n int) edit {
	var e edit
	for range 1 + rnd.IntN(n) {
		if size == 0 || rnd.IntN(3) == 0 {
			at := rnd.IntN(literals)
			e = e.add(0, ^int32(at), int32(1+rnd.IntN(literals-at)))
		} else {
			at := rnd.IntN(size)
			e = e.add(0, int32(at), int32(1+rnd.IntN(min(size-at, 50))))
		}
	}
	return e
}

func TestAComposedEditEqualsItsPartsInOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	literals := []byte("the quick brown fox jumps over the lazy dog")
	base := []byte("0123456789abcdefghijklmnopqrstuvwxyz")
	for round := range 500 {
		want := base
		var edits []edit
		for range rnd.IntN(20) {
			e := mixed(rnd, len(want), len(literals), 12)
			edits = append(edits, e)
			want = e.apply(nil, want, literals)
		}
		got := base
		all := composeAll(edits)
		if len(edits) > 0 && len(all) != 1 {
			t.Fatalf("round %d: %d edits became %d, not 1", round, len(edits), len(all))
		}
		for _, e := range all {
			got = e.apply(nil, got, literals)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d edits give\n%q, not\n%q", round, len(edits), got, want)
		}
	}
}

// Copies of copies would make more spans than there is memory for.
func TestEditsOfTooManySpansAreNotComposed(t *testing.T) {
	base := bytes.Repeat([]byte("ab"), 500)
	var scatter, repeat edit
	for i := range 1000 {
		scatter = scatter.add(0, int32(999-i), 1)
	}
	for range 3000 {
		repeat = repeat.add(0, 0, 500)
		repeat = repeat.add(0, 500, 500)
		repeat = repeat.add(0, 1, 1)
	}
	if e := compose(nil, scatter, repeat); len(e) > maxSpans+len(scatter) {
		t.Errorf("made an edit of %d spans", len(e))
	}
	edits := []edit{scatter, repeat, {{0, 2_000_000}}}
	want := base
	for _, e := range edits {
		want = e.apply(nil, want, nil)
	}
	got := base
	for _, e := range composeAll(edits) {
		got = e.apply(nil, got, nil)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes differ from the %d wanted", len(got), len(want))
	}
}
