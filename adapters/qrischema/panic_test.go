package qrischema

import (
	"errors"
	"testing"
)

func TestLocked(t *testing.T) {
	err := locked("baking", func() error { panic("oops") })
	if err == nil || err.Error() != "baking failed: oops" {
		t.Errorf("have %v", err)
	}
	burnt := errors.New("burnt")
	if err := locked("baking", func() error { return burnt }); !errors.Is(err, burnt) { // the lock is free again
		t.Errorf("have %v", err)
	}
}
