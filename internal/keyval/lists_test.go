package keyval_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine/internal/keyval"
)

// Each slice is yielded before the value after it is asked for: who has enough then reads no more.
func TestChunks(t *testing.T) {
	failed := errors.New("failed")
	for _, test := range []struct {
		values int
		err    error
		want   string
	}{{0, nil, ""}, {2, nil, "01[0 1]"}, {3, nil, "01[0 1]2[2]"}, {2, failed, "01[0 1]failed"},
		{3, failed, "01[0 1]2failed"}} {
		got := ""
		for part, err := range keyval.Chunks(func(yield func(int, error) bool) {
			for i := range test.values {
				if got += fmt.Sprint(i); !yield(i, nil) {
					return
				}
			}
			if test.err != nil {
				yield(0, test.err)
			}
		}, 2) {
			if err != nil {
				got += err.Error()
			} else {
				got += fmt.Sprint(part)
			}
		}
		if got != test.want {
			t.Errorf("%d values, %v: have %s, want %s", test.values, test.err, got, test.want)
		}
	}
}
