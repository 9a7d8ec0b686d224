package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// cuttable is a ResponseWriter that notes when its client is cut off.
type cuttable struct {
	http.ResponseWriter
	read, write bool
}

func (c *cuttable) SetReadDeadline(time.Time) error  { c.read = true; return nil }
func (c *cuttable) SetWriteDeadline(time.Time) error { c.write = true; return nil }

// bench is a budget of 8 MiB whose clock the test moves, and whose patience is short.
type bench struct {
	*budget
	t    *testing.T
	time time.Time
}

func newBench(t *testing.T) *bench {
	b := &bench{newBudget(8 << 20), t, time.Unix(1_700_000_000, 0)}
	b.patience = 20 * time.Millisecond
	b.armed = true // only the test sweeps
	b.now = func() time.Time { return b.time }
	return b
}

func (b *bench) holder(caller string) *holder {
	return &holder{all: b.budget, w: &cuttable{ResponseWriter: httptest.NewRecorder()}, caller: caller}
}

// takes calls take for n bytes, and fails the test unless the result is want.
func (b *bench) takes(h *holder, n int64, want bool) {
	b.t.Helper()
	if got := h.take(context.Background(), n, b.patience); got != want {
		b.t.Fatalf("%s takes %d bytes while %d are used: %v, want %v", h.caller, n, b.used.Load(), got, want)
	}
}

// writes is a holder that writes an answer of n bytes.
func (b *bench) writes(caller string, n int64) *holder {
	b.t.Helper()
	h := b.holder(caller)
	b.takes(h, n, true)
	h.begin(true)
	return h
}

// pass moves the clock in steps of a second, in each of which the clients move so many bytes.
func (b *bench) pass(d time.Duration, rates map[*holder]int) {
	for range d / time.Second {
		b.time = b.time.Add(time.Second)
		for h, n := range rates {
			if n > 0 {
				h.moved(n)
			}
		}
		b.mu.Lock()
		b.sweep(b.time)
		b.mu.Unlock()
	}
}

// waits makes a caller wait for n bytes until the function that it returns is called, which reports whether the caller
// got them.
func (b *bench) waits(caller string, n int64) (end func() bool) {
	h, had := b.holder(caller), make(chan bool)
	ctx, cancel := context.WithCancel(context.Background())
	b.mu.Lock()
	before := b.waiting.Len()
	b.time = b.time.Add(sweepAtOnce)
	b.mu.Unlock()
	go func() { had <- h.take(ctx, n, time.Minute) }()
	for now := before; now == before; time.Sleep(time.Millisecond) {
		b.mu.Lock()
		now = b.waiting.Len()
		b.mu.Unlock()
	}
	return sync.OnceValue(func() bool { cancel(); ok := <-had; h.release(); return ok })
}

const mib = 1 << 20

func (b *bench) left() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used.Load()
}

func TestSmallRequestsAreOnlyCounted(t *testing.T) {
	b := newBench(t)
	h := b.holder("a")
	b.takes(h, smallHold, true)
	if h.place != nil || b.left() != smallHold {
		t.Errorf("on record: %v; %d bytes are used", h.place != nil, b.left())
	}
	b.takes(h, smallHold+1, true)
	if h.place == nil || b.shares["a"] != smallHold+1 {
		t.Errorf("a larger one is not on record with all it holds: %v", b.shares)
	}
	h.release()
	if b.left() != 0 || len(b.shares) != 0 || b.holders.Len() != 0 {
		t.Errorf("%d bytes are left, %v", b.left(), b.shares)
	}
	var all []*holder
	for b.left() < mib {
		h := b.holder("a")
		b.takes(h, smallHold, true)
		all = append(all, h)
	}
	late := b.holder("a")
	b.takes(late, smallHold, true)
	if late.place == nil {
		t.Error("with an eighth of the budget in use, a small request is not on record and cannot be cut off")
	}
	for _, h := range append(all, late) {
		h.release()
	}
	if b.left() != 0 {
		t.Errorf("%d bytes are left", b.left())
	}
}

func TestACallerHoldsAnEighth(t *testing.T) {
	b := newBench(t)
	h := b.writes("a", mib/2)
	b.writes("a", mib/2)
	b.takes(b.holder("a"), mib/4, false)
	b.writes("b", mib)
	h.release()
	b.takes(b.holder("a"), mib/4, true)
	alone := b.holder("c")
	b.takes(alone, 3*mib, true) // larger than a share, but all that the caller holds
	b.takes(b.holder("c"), mib/4, false)
	b.takes(b.holder("d"), 3*mib, false)
}

func TestAnEighthIsKeptForModestRequests(t *testing.T) {
	b := newBench(t)
	for _, caller := range "abcdefg" {
		b.writes(string(caller), mib)
	}
	b.takes(b.holder("h"), modestHold+1, false)
	for range 16 {
		b.writes("h", modestHold)
	}
	b.takes(b.holder("i"), modestHold, false)
}

func TestARequestThatIsWorkedOnIsNotCutOff(t *testing.T) {
	b := newBench(t)
	h := b.writes("a", 7*mib)
	h.rest()
	defer b.waits("b", mib)()
	b.pass(time.Minute, nil)
	if h.cut {
		t.Error("it was: its client was not waited for")
	}
}

func TestSlowClientsAreCutOffWhenOthersWait(t *testing.T) {
	b := newBench(t)
	slow, fast := b.writes("a", 3*mib), b.writes("b", 4*mib)
	rates := map[*holder]int{slow: slowRate - 1, fast: 2 * slowRate}
	b.pass(30*time.Second, rates)
	if slow.cut || fast.cut {
		t.Fatal("cut off while nobody waited")
	}
	defer b.waits("c", mib)() // a holder that begins to wait causes a sweep
	if !slow.cut || fast.cut {
		t.Errorf("slow: %v, fast: %v", slow.cut, fast.cut)
	}
}

func TestASlowClientIsNotCutOffForAnothersShare(t *testing.T) {
	b := newBench(t)
	slow, own := b.writes("a", mib), b.writes("b", mib)
	rates := map[*holder]int{slow: 1, own: 1}
	b.pass(11*time.Second, rates)
	defer b.waits("b", mib)()
	if slow.cut || !own.cut {
		t.Errorf("of another caller: %v, of the same: %v", slow.cut, own.cut)
	}
}

func TestTheOldestMakesRoom(t *testing.T) {
	b := newBench(t)
	first := b.writes("a", 2*mib)
	b.pass(time.Second, map[*holder]int{first: oldRate - 1})
	second, third, fast := b.writes("b", 2*mib), b.writes("c", 2*mib), b.writes("d", mib)
	rates := map[*holder]int{first: oldRate - 1, second: oldRate - 1, third: oldRate - 1, fast: 2 * oldRate}
	defer b.waits("e", 3*mib)()
	b.pass(28*time.Second, rates)
	if first.cut {
		t.Fatal("cut off before 30 s")
	}
	b.pass(time.Second, rates)
	if !first.cut || second.cut {
		t.Errorf("after 30 s of the oldest: %v %v", first.cut, second.cut)
	}
	b.pass(time.Minute, rates)
	if !second.cut || fast.cut {
		t.Errorf("after a minute: %v, the fast one: %v", second.cut, fast.cut)
	}
}

func TestPace(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	p := newPace(10*time.Second, now)
	p.add(now, 100<<10) // before the last period, once the clock has moved
	for i := range 40 {
		now = now.Add(500 * time.Millisecond)
		p.add(now, 100)
		if below := p.below(1<<10, now); below != (i >= 21) {
			t.Errorf("after %s: below 1 KiB/s is %v", time.Duration(i+1)*500*time.Millisecond, below)
		}
	}
	if now = now.Add(time.Hour); !p.below(1, now) || p.idle(now) != time.Hour {
		t.Error("after an hour it is not below 1 byte/s")
	}
	p.add(now, 20<<10)
	if p.below(2<<10, now) {
		t.Error("20 KiB are not enough for 2 KiB/s over 10 s")
	}
}
