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
			for rows[i].Snapshot() || rows[i+1].Snapshot() {
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
			last := slices.IndexFunc(rows[1:], Row.Snapshot) + 1
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
func snapshotOf(codec *Codec, body []byte) Row {
	v := Version{Body: body}
	return Row{0, codec.makeSnapshot(v, v.sum())}
}

func packOf(steps ...[]byte) []byte {
	p := pack{1, maxChain, maxSteps, nil}
	for _, step := range steps {
		p = p.with(append(step, 0, 0, 0, 0), 0)
	}
	p.stepsLeft = 0
	return p.encode()
}

// doubling is a step that writes a text of size bytes twice.
func doubling(size int) []byte {
	step := []byte{kindSpans, 0, 2}
	step = binary.AppendUvarint(step, uint64(size))
	step = append(step, 0, 0) // from the start, no literal
	step = binary.AppendUvarint(step, uint64(size))
	step = binary.AppendVarint(step, -int64(size))
	return append(step, 0)
}

func TestCorruptStepsAreBounded(t *testing.T) {
	codec := newCodec(t)
	base := bytes.Repeat([]byte("x"), 1000)
	zeros := codec.encoder.EncodeAll(make([]byte, MaxBody), nil)
	packed := func(n int) []byte {
		return append(binary.AppendUvarint([]byte{kindPacked, 0}, uint64(n)), zeros...)
	}
	var doublings [][]byte
	for size := len(base); size < 1<<40; size *= 2 {
		doublings = append(doublings, doubling(size))
	}
	same := []byte{kindSplice, 0, 0, 0}
	large := append([]byte{kindSplice, 0, 0, 0}, make([]byte, 5<<20)...)
	for _, tt := range []struct {
		name  string
		steps [][]byte
		want  string
	}{
		{"nothing", [][]byte{{}}, "flags has 0 bytes"},
		{"a kind that is not known", [][]byte{{kindMask, 0}}, "kind 3 of an edit"},
		{"a splice behind the end", [][]byte{{kindSplice, 0, 0xff, 0x7f, 0}}, "start of a splice is 16383"},
		{"a splice over the end", [][]byte{{kindSplice, 0, 10, 0xff, 0x7f}}, "length of a splice is 16383, more than 990"},
		{"a copy before the start", [][]byte{{kindSpans, 0, 1, 5, 1, 0}}, "copy of 5 bytes from -1 of 1000"},
		{"a copy over the end", [][]byte{{kindSpans, 0, 1, 0xe8, 0x07, 2, 0}}, "copy of 1000 bytes from 1 of 1000"},
		{"a copy from far away", [][]byte{append(binary.AppendVarint([]byte{kindSpans, 0, 1, 5}, 1<<62), 0)}, "copy of 5 bytes from 4611686018427387904"},
		{"a literal that is not there", [][]byte{{kindSpans, 0, 1, 0, 5}}, "literals has 0 bytes, not 5"},
		{"bytes too many", [][]byte{{kindSpans, 0, 0, 5}}, "1 bytes too many"},
		{"more spans than bytes", [][]byte{{kindSpans, 0, 0xff, 0xff, 0xff, 0xff, 0x7f}}, "number of spans"},
		{"an editor longer than the step", [][]byte{{flagEditor, 0, 0xff, 0x7f}}, "length of an editor"},
		{"a number without end", [][]byte{bytes.Repeat([]byte{0xff}, 30)}, "time of a step is not a number"},
		{"not what the compressor makes", [][]byte{{kindPacked, 0, 100, 1, 2, 3, 4}}, "magic number"},
		{"more than it says when unpacked", [][]byte{packed(1000)}, "exceeds"},
		{"much more than a chain may have", [][]byte{packed(MaxBody)}, "size of an edit is 67108864"},
		{"step after step of much", [][]byte{large, large}, "chain with more than 8388608 bytes of edits"},
		{"doubling again and again", doublings, "version 17: history: corrupt: edit makes more than 67108864 bytes"},
		{"more steps than a chain has", slices.Repeat([][]byte{same}, maxSteps+1), "chain of more than 1024 steps"},
		{"marks that make it too large", [][]byte{append([]byte{flagMarked, 0, 0, 0}, bytes.Repeat([]byte{mark}, MaxBody/21)...)}, "a body of 88368370 bytes"},
		{"another text", [][]byte{{kindSplice, 0, 1, 0, 'y'}}, "does not have its checksum"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := func(yield func(Row, error) bool) { yield(snapshotOf(codec, base), nil) }
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := codec.Read(packOf(tt.steps...), rows, int64(len(tt.steps)))
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, not %q", err, tt.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 4*MaxBody {
				t.Errorf("took %d bytes of memory", used)
			}
		})
	}
}

func TestAStepShorterThanItsChecksumIsAnError(t *testing.T) {
	codec := newCodec(t)
	rows := func(yield func(Row, error) bool) { yield(snapshotOf(codec, nil), nil) }
	tail := pack{1, 0, maxSteps, nil}.with([]byte{0, 0, 0}, 0).encode()
	if _, err := codec.Read(tail, rows, 1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

func TestCorruptSnapshotsAreErrors(t *testing.T) {
	codec := newCodec(t)
	good := snapshotOf(codec, bytes.Repeat([]byte("x"), 1000)).Data
	head := good[:1+1+1+1+sumSize] // without the size
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"nothing", nil},
		{"a format that is not known", append([]byte{0x12}, good[1:]...)},
		{"cut short", good[:len(good)-1]},
		{"without bytes", head},
		{"more than it says", append(append(bytes.Clone(head), 10), good[len(head)+2:]...)},
		{"less than it says", append(binary.AppendUvarint(bytes.Clone(head), 2000), good[len(head)+2:]...)},
		{"larger than a body may be", append(binary.AppendUvarint(bytes.Clone(head), 1<<40), good[len(head)+2:]...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := func(yield func(Row, error) bool) { yield(Row{0, tt.data}, nil) }
			if _, err := codec.Read(nil, rows, 0); !errors.Is(err, ErrCorrupt) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	h := sample(f, 40)
	f.Add(h.tail, h.rows[0].Data, int64(30), true)
	f.Add(h.rows[1].Data, h.rows[0].Data, int64(5), true)
	f.Add([]byte{}, snapshotOf(h.codec, []byte("body")).Data, int64(0), false)
	f.Add(packOf(doubling(4), doubling(8)), snapshotOf(h.codec, []byte("body")).Data, int64(2), false)
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
		v, err := h.codec.Read(tail, rows, number)
		if err == nil && v.Number != number {
			t.Errorf("read version %d as %d", number, v.Number)
		}
		if _, err := h.codec.Append(tail, v, Version{Number: v.Number + 1}); err != nil && len(tail) == 0 {
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
	codec := newCodec(f)
	f.Fuzz(func(t *testing.T, data []byte, separator uint8) {
		h := &history{tb: t, codec: codec}
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
