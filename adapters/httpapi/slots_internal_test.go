package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// deadlines is a response that keeps the deadlines that are set.
type deadlines struct {
	http.ResponseWriter
	read, write time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error  { d.read = t; return nil }
func (d *deadlines) SetWriteDeadline(t time.Time) error { d.write = t; return nil }

// slotFor returns a slot of a caller that has none yet, and the deadlines of its client.
func (s *slots) slotFor(caller, network string) (*slot, *deadlines) {
	d := &deadlines{ResponseWriter: httptest.NewRecorder()}
	return &slot{all: s, caller: caller, network: network, client: &client{control: http.NewResponseController(d)}}, d
}

// taken takes slots, or ends the test.
func taken(t *testing.T, s *slots, caller, network string, count int) *slot {
	t.Helper()
	x, _ := s.slotFor(caller, network)
	if err := x.acquire(t.Context(), count, 0); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestSlotsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots("uploads", 429, 5, 2, 3)
		rejected := func(caller, network, says string) {
			t.Helper()
			x, _ := s.slotFor(caller, network)
			begun := time.Now()
			err := x.acquire(t.Context(), 1, slotPatience)
			var r *httpError
			if !errors.As(err, &r) || r.status != 429 || !strings.Contains(r.Text, says) ||
				time.Since(begun) != slotPatience {
				t.Errorf("%s for %s: %v after %s, want 429 with %q after a second", caller, network, err,
					time.Since(begun), says)
			}
		}
		first := taken(t, s, "a", "n", 1)
		taken(t, s, "a", "n", 1)
		rejected("a", "m", "2 uploads of this caller")
		taken(t, s, "b", "n", 1)
		rejected("c", "n", "3 uploads for this network")
		taken(t, s, "c", "m", 1)
		taken(t, s, "d", "m", 1)
		rejected("e", "o", "5 uploads are under way")
		go func() {
			time.Sleep(slotPatience / 2)
			first.keep(0)
			first.keep(0) // which changes nothing
		}()
		x, _ := s.slotFor("e", "o")
		if err := x.acquire(t.Context(), 1, slotPatience); err != nil || s.inUse() != 5 {
			t.Errorf("a slot that became free was not taken: %v, %d are in use", err, s.inUse())
		}
	})
}

// A request that needs more slots than a caller may have gets them if it is the only one of its caller.
func TestALargeRequestIsCarriedOut(t *testing.T) {
	s := newSlots("large requests", 503, 8, 1, 0)
	x := taken(t, s, "a", "", 4)
	y, _ := s.slotFor("a", "")
	if err := y.acquire(t.Context(), 1, 0); err == nil {
		t.Error("another one of the caller was let in")
	}
	taken(t, s, "b", "", 4)
	x.keep(0)
	if err := y.acquire(t.Context(), 1, 0); err != nil {
		t.Error(err)
	}
	if err := y.acquire(t.Context(), 5, 0); err == nil {
		t.Error("there were nine slots")
	}
	if err := y.acquire(t.Context(), 3, 0); err != nil {
		t.Error(err)
	}
}

// While somebody waits, the slowest client of those that stand in the way is cut off, if the server has waited for it
// for more than ten seconds and it is below 64 KiB/s.
func TestTheSlowestIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots("uploads", 429, 4, 4, 0)
		type one struct {
			*slot
			*deadlines
		}
		var all []one
		for i, kib := range []int{100, 20, 10, 70} { // a second
			x, d := s.slotFor(string(rune('a'+i)), "")
			if err := x.acquire(t.Context(), 1, 0); err != nil {
				t.Fatal(err)
			}
			all = append(all, one{x, d})
			go func() {
				for range 300 {
					if x.client.begin(false, time.Now().Add(time.Minute)) != nil {
						break
					}
					time.Sleep(time.Second / 5)
					if x.client.end(kib<<10/5) != nil {
						break
					}
				}
				x.keep(0)
			}()
		}
		enter := func() error {
			x, _ := s.slotFor("another", "")
			return x.acquire(t.Context(), 1, slotPatience)
		}
		time.Sleep(5 * time.Second)
		if enter() == nil {
			t.Error("a client was cut off within ten seconds")
		}
		time.Sleep(6*time.Second + time.Millisecond)
		for _, slowest := range []int{2, 1} {
			if err := enter(); err != nil {
				t.Fatal(err)
			}
			if !all[slowest].client.cut || all[slowest].read.After(time.Now()) {
				t.Errorf("client %d is not cut off: until %s", slowest, all[slowest].read)
			}
		}
		if enter() == nil || all[0].client.cut || all[3].client.cut {
			t.Error("a client that is not slow was cut off")
		}
		time.Sleep(time.Minute)
	})
}

// Only the time in which the server waits for the client counts.
func TestTheServersOwnTimeDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots("exports", 503, 1, 1, 0)
		x, d := s.slotFor("a", "")
		if err := x.acquire(t.Context(), 1, 0); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if err := x.client.begin(true, time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if err := x.client.end(1); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
		}
		y, _ := s.slotFor("b", "")
		if y.acquire(t.Context(), 1, slotPatience) == nil || x.client.cut {
			t.Error("it was cut off for the time in which the server works")
		}
		_ = x.client.begin(true, time.Now().Add(time.Minute))
		time.Sleep(time.Millisecond)
		if y.acquire(t.Context(), 1, slotPatience) == nil || !x.client.cut || d.write.After(time.Now()) ||
			!errors.Is(x.client.end(0), errCut) {
			t.Error("it was not cut off")
		}
	})
}

// A caller without a name of its own counts as its address, one of IPv6 as its network.
func TestWhoIsCounted(t *testing.T) {
	for _, test := range []struct {
		by      Principal
		address string
		want    string
	}{
		{Principal{}, "192.0.2.7:1234", "192.0.2.7"},
		{Principal{}, "[2001:db8:1:2:3:4:5:6]:1234", "2001:db8:1:2::/64"},
		{Principal{}, "[fe80::1%eth0]:1", "fe80::/64"},
		{Principal{}, "[::ffff:192.0.2.7]:1", "::ffff:192.0.2.7"},
		{Principal{}, "@", "@"},
		{named("urn:v:n:user=x", false), "192.0.2.7:1234", "urn:v:n:user=x"},
		{named("urn:v:n:user=x", true), "192.0.2.7:1234", "192.0.2.7"},
	} {
		c := call{by: test.by, r: &http.Request{RemoteAddr: test.address}}
		if have := c.counted(); have != test.want {
			t.Errorf("%s is counted as %q, want %q", test.address, have, test.want)
		}
	}
}

func named(urn string, tagsOnly bool) (p Principal) {
	p.URN, p.TagsOnly = urn, tagsOnly
	return p
}

// Each read takes a second. A caller with many delays another one by one of them.
func TestCallersGetSlotsOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, begun := newSlots("reads", 503, 2, 2, 0), time.Now()
		var mu sync.Mutex
		ended := map[string][]time.Duration{}
		read := func(caller string, n int) {
			for range n {
				go func() {
					x := &slot{all: reads, caller: caller}
					if err := x.acquire(t.Context(), 1, time.Hour); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Second)
					x.keep(0)
					mu.Lock()
					defer mu.Unlock()
					ended[caller] = append(ended[caller], time.Since(begun))
				}()
				synctest.Wait()
			}
		}
		read("many", 100)
		read("some", 4)
		time.Sleep(time.Second / 2)
		read("one", 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		// In the order of their coming they would have ended after 51 seconds and more.
		if got := fmt.Sprint(ended["some"], ended["one"]); got != "[2s 3s 4s 5s] [2s]" {
			t.Errorf("the reads of the others have ended after %s", got)
		}
		if n := len(ended["many"]); n != 100 || reads.used != 0 || len(reads.callers) != 0 {
			t.Errorf("%d reads have ended, %d slots are used, and %d callers are known", n, reads.used,
				len(reads.callers))
		}
	})
}

func TestAReadThatIsGivenUpTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := newSlots("reads", 503, 1, 1, 0)
		ctx, cancel := context.WithCancel(t.Context())
		first := &slot{all: reads, caller: "0"}
		for i := range 3 { // the first one has a slot at once
			x := first
			if i > 0 {
				x = &slot{all: reads, caller: fmt.Sprint(i)}
			}
			go func() {
				if err := x.acquire(ctx, 1, time.Hour); (err == nil) != (i == 0) {
					t.Errorf("%d: %v", i, err)
				}
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		first.keep(0)
		if reads.used != 0 || len(reads.callers) != 0 || len(reads.waiting) != 0 {
			t.Errorf("%d slots are used, and %d callers are known", reads.used, len(reads.callers))
		}
	})
}

// While one caller has all slots, /healthz, writes and open streams go on, and reads of others wait.
func TestOnlyReadsWaitForASlotOfReads(t *testing.T) {
	const network = "urn:vitrine:example.test"
	synctest.Test(t, func(t *testing.T) {
		served, err := New(Config{
			Apps: appsvc.New(memory.New(), nil),
			Authenticate: func(*http.Request) (Principal, error) {
				return Principal{Caller: vitrine.Caller{URN: network + ":user=ann", Moderates: []string{network}}}, nil
			},
			Ready: func(context.Context) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		h := served.(*handler)
		h.reads = newSlots("reads", 503, 1, 1, 0)
		do := func(ctx context.Context, method, path, body string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if strings.Contains(path, "changes") {
				r.Header.Set("Accept", "text/event-stream")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		ctx, cancel := context.WithCancel(t.Context())
		go do(ctx, "GET", "/x/changes?after=now", "")
		synctest.Wait()
		if h.reads.inUse() != 0 {
			t.Error("a stream keeps its slot")
		}
		another := taken(t, h.reads, "another", "", 1)
		if w := do(t.Context(), "GET", "/healthz", ""); w.Code != 200 {
			t.Errorf("/healthz is %d", w.Code)
		}
		if w := do(t.Context(), "POST", "/apps/", `{"title":"x","groups":["`+network+`"]}`); w.Code != 201 {
			t.Errorf("a write is %d", w.Code)
		}
		begun := time.Now()
		time.AfterFunc(time.Second, func() { another.keep(0) })
		if w := do(t.Context(), "GET", "/apps/", ""); w.Code != 200 || time.Since(begun) != time.Second {
			t.Errorf("a read is %d after %v", w.Code, time.Since(begun))
		}
		if h.reads.inUse() != 0 {
			t.Error("the read keeps its slot")
		}
		cancel()
	})
}
