package history

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof"
)

// Each kind of edit costs about what the new text alone compresses to, and some bytes for each element that gets
// another id.
func TestStepsAreNearTheSizeOfTheEdit(t *testing.T) {
	kinds := traces()
	for _, kind := range []struct {
		name string
		edit func(p *page, i int) string
	}{
		kinds[0], kinds[1], kinds[2], kinds[3], kinds[4], kinds[6],
		{"DeleteFirst", func(p *page, _ int) string { p.remove(0); return "" }},
		{"MoveLastToFirst", func(p *page, _ int) string { p.move(len(p.elements)-1, 0); return "" }},
		{"Swap", func(p *page, _ int) string { p.move(1, 5); p.move(6, 2); return "" }},
		{"Title", func(p *page, _ int) string { p.title = p.words(3); return p.title }},
	} {
		t.Run(kind.name, func(t *testing.T) {
			for _, size := range []int{8 << 10, 50 << 10, 200 << 10} {
				p := newPage(5, 8<<10)
				for len(p.elements) < size/800 {
					p.insert(0)
				}
				prev := Version{Body: p.body()}
				for i := range 3 {
					changed := len(compress(nil, []byte(kind.edit(p, i))))
					next := Version{Number: prev.Number + 1, Body: p.body()}
					if step := makeStep(prev, next); len(step) > changed*3/2+100+10*len(p.elements) {
						t.Errorf("app of %d bytes, edit %d: step of %d bytes for a change of %d", len(next.Body), i,
							len(step), changed)
					}
					prev = next
				}
			}
		})
	}
}

// Where elements are only put in another order, a step names each that moved.
func TestAStepForReorderedElementsIsSmall(t *testing.T) {
	p := newPage(5, 50<<10)
	prev := Version{Body: p.body()}
	traces()[5].edit(p, 0)
	step := makeStep(prev, Version{Number: 1, Body: p.body()})
	if limit := 16 + 10*len(p.elements); len(step) > limit {
		t.Errorf("step of %d bytes for %d elements, more than %d", len(step), len(p.elements), limit)
	}
}

func TestRowsFillHalfAPage(t *testing.T) {
	for _, tr := range traces()[:4] {
		h := newHistory(t)
		p := newPage(5, 5<<10)
		packs, bytes := 0, 0
		for i := range 300 {
			h.append(Version{Body: p.body()})
			tr.edit(p, i)
		}
		for _, row := range h.rows {
			if isSnapshot(row) {
				continue
			}
			if len(row.Data) > packBytes+20 {
				t.Errorf("%s: row of %d bytes, more than %d", tr.name, len(row.Data), packBytes)
			}
			packs, bytes = packs+1, bytes+len(row.Data)
		}
		if bytes/packs < packBytes/2 {
			t.Errorf("%s: rows of %d bytes", tr.name, bytes/packs)
		}
	}
}

// The space of a whole history: what the benchmark measures, small and exact.
func TestAutosavesTakeFewBytes(t *testing.T) {
	if proof.Short() {
		t.Skip("makes histories of 1000 versions")
	}
	for _, tt := range []struct{ size, limit int }{{5 << 10, 50}, {50 << 10, 60}} {
		h := newHistory(t)
		p := newPage(7, tt.size)
		h.append(Version{Body: p.body()})
		const n = 1000
		for range n {
			traces()[0].edit(p, 0)
			h.append(Version{UpdatedAt: h.latest.UpdatedAt + 7000, Body: p.body()})
		}
		bytes := len(h.tail)
		for _, row := range h.rows {
			bytes += len(row.Data) + 16
		}
		if bytes/n > tt.limit {
			t.Errorf("%d bytes a version of %d bytes, more than %d", bytes/n, tt.size, tt.limit)
		}
	}
}
