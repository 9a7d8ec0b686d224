package assets

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
)

// A caller with many pictures holds one core and the memory of one: another caller decodes meanwhile, and those of the
// caller wait for each other for as long as it takes. Only who waits for others gives up.
func TestPicturesOfACallerAreDecodedOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDecoding(100, 2)
		decoded := func(caller string, need int64, work time.Duration) <-chan error {
			ended := make(chan error, 1)
			go func() {
				ended <- d.do(t.Context(), caller, need, nil, func() error { time.Sleep(work); return nil })
			}()
			synctest.Wait()
			return ended
		}
		var many []<-chan error
		for range 6 {
			many = append(many, decoded("ann", 60, 8*time.Second))
		}
		begun := time.Now()
		if err := <-decoded("ben", 40, time.Second); err != nil || time.Since(begun) != time.Second {
			t.Errorf("another caller: %v after %v", err, time.Since(begun))
		}
		for i, ended := range many {
			if err := <-ended; err != nil {
				t.Errorf("picture %d: %v", i, err)
			}
		}
		if took := time.Since(begun); took != 48*time.Second {
			t.Errorf("six pictures of 8 s took %v", took)
		}
		first := decoded("ann", 60, time.Minute)
		if err := <-decoded("ben", 60, 0); !errors.Is(err, vitrine.ErrBusy) {
			t.Errorf("without memory: %v", err)
		}
		<-first
	})
}

// A store may have null for an address or an object, which is left out of what is added now.
func TestNullThatAnEarlierReleaseHasStoredIsNoFault(t *testing.T) {
	record := func(attachment string) assetRecord {
		return assetRecord{Ordinal: 1, Origin: originOf("g", "1"),
			Body: []byte(`{"content":{"id":"1","generator":{"id":"g"},` +
				`"attributedTo":null,"attachment":[` + attachment +
				`],"published":"1970-01-01T00:00:00.000Z"},"safe_tags":[]}`)}
	}
	limits := Limits{}.withDefaults()
	if err := checkBody(record(`{"version":"1.0","type":"link","url":null,"\u0068tml":"x"}`), nil, limits); err != nil {
		t.Error(err)
	}
	for _, never := range []string{`{"version":1.0,"type":"link"}`, `{"version":"1.0","type":"file"}`,
		`{"version":"1.0","type":"link","url":""}`} {
		if checkBody(record(never), nil, limits) == nil {
			t.Errorf("%s is no fault", never)
		}
	}
}
