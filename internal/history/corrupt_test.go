package history

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/keyval"
)

// sample is a history with every kind of row and step.
func sample(tb testing.TB, versions int) *history {
	h := newHistory(tb)
	p := newPage(3, 3<<10)
	for i := range versions {
		h.append(Version{UpdatedAt: int64(i), UpdatedBy: []string{"a", "b"}[i/7%2], Body: p.body()})
		traces()[i%5].edit(p, i)
	}
	return h
}

// readAll reads every version; each must be right or an error.
func (h *history) readAll(t *testing.T) (bad int) {
	for number := range h.latest.Number {
		v, err := h.read(number)
		switch {
		case err != nil && !errors.Is(err, ErrCorrupt):
			t.Fatalf("version %d: %v is not ErrCorrupt", number, err)
		case err != nil:
			bad++
		case !equal(v, h.all[number]):
			t.Fatalf("version %d reads wrong, without an error", number)
		}
	}
	return bad
}

func TestDamagedRowsAreErrors(t *testing.T) {
	h := sample(t, 120)
	rnd := rand.New(rand.NewPCG(5, 6))
	rows, tail := h.rows, h.tail
	for range 60 {
		h.rows, h.tail = slices.Clone(rows), tail
		data := &h.tail
		if i := rnd.IntN(len(rows) + 1); i < len(rows) {
			data = &h.rows[i].Data
		}
		damaged := bytes.Clone(*data)
		at := rnd.IntN(len(damaged))
		if rnd.IntN(4) == 0 {
			damaged = damaged[:at]
		} else {
			damaged[at] ^= 1 << rnd.IntN(8)
		}
		*data = damaged
		h.readAll(t)
	}
}

func TestRowsInDisorderAreErrors(t *testing.T) {
	h := sample(t, 200)
	rows, tail := h.rows, h.tail
	for _, tt := range []struct {
		name   string
		change func()
	}{
		{"a row is gone", func() {
			i := 1
			for isSnapshot(rows[i]) || isSnapshot(rows[i+1]) {
				i++
			}
			h.rows = slices.Delete(h.rows, i, i+1)
			if _, err := h.read(rows[i+1].Version); err == nil || !strings.Contains(err.Error(), "do not follow") {
				t.Errorf("got %v", err)
			}
		}},
		{"the first row is gone", func() { h.rows = rows[1:] }},
		{"two rows are swapped", func() { h.rows[1].Data, h.rows[2].Data = rows[2].Data, rows[1].Data }},
		{"a row has another's number", func() { h.rows[1].Version++ }},
		{"an older snapshot has a newer one's number", func() {
			last := slices.IndexFunc(rows[1:], isSnapshot) + 1
			h.rows[last].Data = rows[0].Data
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h.rows, h.tail = slices.Clone(rows), tail
			h.tb = t
			tt.change()
			if h.readAll(t) == 0 {
				t.Error("every version reads, which cannot be")
			}
		})
	}
}

func TestAbsentVersionsAreErrors(t *testing.T) {
	h := sample(t, 50)
	for _, number := range []int64{-1, h.latest.Number + 1, 1 << 40} {
		if v, err := h.read(number); err == nil {
			t.Errorf("version %d reads as %d", number, v.Number)
		}
	}
}

// snapshotOf and packOf make rows that belong together, so that a test reaches
// what lies behind that.
func snapshotOf(body []byte) Row {
	return Row{0, makeSnapshot(Version{Body: body})}
}

func packOf(steps ...[]byte) []byte {
	p := pack{first: 1}
	for _, step := range steps {
		p.steps = keyval.AppendText(p.steps, append(step, 0, 0, 0, 0))
	}
	return p.encode()
}

// doubling is a step that writes a text of size bytes twice.
func doubling(size int) []byte {
	step := binary.AppendUvarint([]byte{0, 0, 0}, uint64(size)<<1)
	step = append(step, 0) // no new bytes
	step = binary.AppendUvarint(step, uint64(size)<<1|1)
	step = binary.AppendVarint(step, -int64(size))
	return append(step, 0)
}

func TestCorruptStepsAreBounded(t *testing.T) {
	base := bytes.Repeat([]byte("x"), 1000)
	var doublings [][]byte
	for size := len(base); size < 1<<40; size *= 2 {
		doublings = append(doublings, doubling(size))
	}
	for _, tt := range []struct {
		name  string
		steps [][]byte
		want  string
	}{
		{"nothing", [][]byte{{}}, "the step to version 1 has 4 bytes"},
		{"an end before the start", [][]byte{{0, 0, 0xff, 0x7f, 0}}, "keeps the last 16383 of 1000 bytes"},
		{"a copy before the start", [][]byte{{0, 0, 0, 11, 1, 0}}, "copies 5 bytes from -1 of 1000"},
		{"a copy over the end", [][]byte{{0, 0, 0, 0xd1, 0x0f, 2, 0}}, "copies 1000 bytes from 1 of 1000"},
		{"a copy from far away", [][]byte{append(binary.AppendVarint([]byte{0, 0, 0, 11}, 1<<62), 0)},
			"copies 5 bytes from 4611686018427387904"},
		{"new bytes that are not there", [][]byte{{0, 0, 0, 0, 5}}, "an edit is cut short"},
		{"an editor longer than the step", [][]byte{{flagEditor, 0, 0xff, 0x7f}}, "ends too early"},
		{"a number without end", [][]byte{bytes.Repeat([]byte{0xff}, 30)}, "ends too early"},
		{"not what the compressor makes", [][]byte{{flagPacked, 0, 100, 1, 2, 3, 4}}, "magic number"},
		{"doubling again and again", doublings, "the step to version 17: an edit"},
		{"another text", [][]byte{{0, 0, 0, 0, 1, 'y'}}, "does not have its checksum"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := func(yield func(Row, error) bool) { yield(snapshotOf(base), nil) }
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Read(packOf(tt.steps...), rows, int64(len(tt.steps)))
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, not %q", err, tt.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 6*MaxBody {
				t.Errorf("took %d bytes of memory", used)
			}
		})
	}
}

func TestCorruptSnapshotsAreErrors(t *testing.T) {
	good := snapshotOf(bytes.Repeat([]byte("x"), 1000)).Data
	bomb := append(compress(bytes.Clone(good[:3]), make([]byte, MaxBody+1)), 0, 0, 0, 0)
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"nothing", nil},
		{"a format that is not known", append([]byte{0x11}, good[1:]...)},
		{"cut short", good[:len(good)-1]},
		{"without bytes", good[:3]},
		{"larger than a body may be", bomb},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := func(yield func(Row, error) bool) { yield(Row{0, tt.data}, nil) }
			if _, err := Read(nil, rows, 0); !errors.Is(err, ErrCorrupt) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	h := sample(f, 40)
	f.Add(h.tail, h.rows[0].Data, int64(30), true)
	f.Add(h.rows[1].Data, h.rows[0].Data, int64(5), true)
	f.Add([]byte{}, snapshotOf([]byte("body")).Data, int64(0), false)
	f.Add(packOf(doubling(4), doubling(8)), snapshotOf([]byte("body")).Data, int64(2), false)
	f.Fuzz(func(t *testing.T, tail, snapshot []byte, number int64, two bool) {
		rows := func(yield func(Row, error) bool) {
			if two && !yield(Row{1, tail}, nil) {
				return
			}
			yield(Row{0, snapshot}, nil)
		}
		if two {
			tail = nil
		}
		v, err := Read(tail, rows, number)
		if err == nil && v.Number != number {
			t.Errorf("read version %d as %d", number, v.Number)
		}
		if _, err := Append(tail, v, Version{Number: v.Number + 1}); err != nil && len(tail) == 0 {
			t.Errorf("version %d cannot be followed: %v", v.Number, err)
		}
	})
}

// FuzzHistory cuts its input into bodies, and makes more of them by joining
// and repeating parts.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("one field\x00one more field\x00"), uint8(0))
	f.Add(newPage(1, 2<<10).body(), uint8('{'))
	f.Add(bytes.Repeat([]byte(`{"id":"0","component":{"x":1}},`), 30), uint8('0'))
	f.Fuzz(func(t *testing.T, data []byte, separator uint8) {
		h := &history{tb: t}
		var last []byte
		for i, part := range bytes.SplitN(data, []byte{separator}, 60) {
			h.append(Version{UpdatedAt: int64(len(part)), UpdatedBy: string(part[:min(3, len(part))]), Body: part})
			body := slices.Concat(last[len(last)/3:], part, bytes.Repeat(part, i%4), last[:len(last)/3])
			h.append(Version{Body: body})
			last = body[:min(len(body), 20<<10)]
		}
		for number := range h.latest.Number {
			h.check(number)
		}
	})
}
