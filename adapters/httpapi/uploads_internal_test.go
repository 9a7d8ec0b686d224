package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// yard is uploads whose clock the test moves.
type yard struct {
	*uploads
	t    *testing.T
	time time.Time
}

func newYard(t *testing.T) *yard {
	var l Limits
	if err := l.normalise(); err != nil {
		t.Fatal(err)
	}
	y := &yard{newUploads(l), t, time.Unix(1_700_000_000, 0)}
	y.now = func() time.Time { return y.time }
	return y
}

func (y *yard) upload(caller, network string, body io.Reader) *upload {
	return &upload{all: y.uploads, caller: caller, network: network, body: body,
		control: http.NewResponseController(&cuttable{ResponseWriter: httptest.NewRecorder()})}
}

// enter takes a slot at once, or returns why there is none.
func (y *yard) enter(caller, network string, body io.Reader) (*upload, error) {
	u := y.upload(caller, network, body)
	_, err := y.tryEnter(u)
	return u, err
}

// gives is a body that has one read a second, of so many bytes.
func (y *yard) gives(rate int) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		y.time = y.time.Add(time.Second)
		return min(rate, len(p)), nil
	})
}

// reads reads the body for so many seconds, or to its end.
func (y *yard) reads(u *upload, seconds int) error {
	buffer := make([]byte, 1<<20)
	for range seconds {
		if _, err := u.readBody(buffer); err != nil {
			return err
		}
	}
	return nil
}

func TestUploadsHaveSlots(t *testing.T) {
	y := newYard(t)
	refused := func(err error, says string) {
		t.Helper()
		var r *refusal
		if !errors.As(err, &r) || r.status != 429 || !strings.Contains(r.text, says) {
			t.Errorf("want 429 with %q: %v", says, err)
		}
	}
	var first *upload
	for caller := range 8 {
		for range 4 {
			u, err := y.enter(fmt.Sprint("caller", caller), fmt.Sprint("network", caller/2), nil)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = u
			}
		}
		_, err := y.enter(fmt.Sprint("caller", caller), "another", nil)
		refused(err, "4 uploads of this caller")
	}
	_, err := y.enter("another", "network0", nil)
	refused(err, "8 uploads for this network")
	_, err = y.enter("another", "another", nil)
	refused(err, "32 uploads are under way")
	y.leave(first)
	if _, err = y.enter("another", "another", nil); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

func TestTheSlowestUploadMakesRoom(t *testing.T) {
	y := newYard(t)
	var all []*upload
	for i := range 32 {
		rate := 2 * uploadSafe
		if i == 5 || i == 6 {
			rate = uploadSafe/2 - i*1000
		}
		u, err := y.enter(fmt.Sprint(i), fmt.Sprint(i), y.gives(rate))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, u)
	}
	another := func() error { _, err := y.enter("another", "another", nil); return err }
	if another() == nil || all[6].ended {
		t.Error("an upload that nothing is known of was ended")
	}
	for _, u := range all {
		if err := y.reads(u, 40); err != nil {
			t.Fatal(err)
		}
	}
	for _, slowest := range []int{6, 5} {
		if err := another(); err == nil {
			t.Fatal("a slot was given that is not free")
		}
		for i, u := range all {
			if u.ended != (i == slowest) {
				t.Errorf("upload %d is ended: %v", i, u.ended)
			}
		}
		if err := y.reads(all[slowest], 1); !errors.Is(err, errEnded) {
			t.Errorf("its body goes on: %v", err)
		}
		all[slowest].ended = false // looked at
		delete(y.active, all[slowest])
		if _, err := y.enter(fmt.Sprint("new", slowest), fmt.Sprint("new", slowest), y.gives(2*uploadSafe)); err != nil {
			t.Fatal(err)
		}
	}
	if another() == nil {
		t.Error("a slot was given that is not free")
	}
	for i, u := range all {
		if u.ended {
			t.Errorf("upload %d, which is not slow, is ended", i)
		}
	}
}

func TestUploadsGive1KiBASecond(t *testing.T) {
	for rate, ends := range map[int]bool{uploadRate * 9 / 10: true, uploadRate: false} {
		y := newYard(t)
		u, _ := y.enter("a", "a", y.gives(rate))
		err := y.reads(u, 29)
		if err != nil {
			t.Errorf("%d B/s: ended within 30 s: %v", rate, err)
		}
		if err = y.reads(u, 100); errors.Is(err, errEnded) != ends {
			t.Errorf("%d B/s: %v", rate, err)
		}
	}
}

// TestTheServersOwnTimeIsNotTheClients tests that the time in which the server does not wait for the client does not count.
func TestTheServersOwnTimeIsNotTheClients(t *testing.T) {
	y := newYard(t)
	u, _ := y.enter("a", "a", iotest.OneByteReader(strings.NewReader("1234567890")))
	for range 10 {
		if _, err := u.readBody(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		y.time = y.time.Add(time.Minute) // the store is busy
	}
}
