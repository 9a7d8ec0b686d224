package history_test

import (
	"os"
	"os/exec"
	"testing"
	"testing/synctest"

	"github.com/vitrine-go/vitrine/internal/history"
)

// A test in a bubble of package synctest can be run twice, also where it is the first one that writes a history.
func TestHistoriesInBubbles(t *testing.T) {
	if os.Getenv("BUBBLES") == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestHistoriesInBubbles$", "-test.count=2")
		again.Env = append(os.Environ(), "BUBBLES=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v: %.500s", err, out)
		}
		return
	}
	synctest.Test(t, func(t *testing.T) {
		if _, err := history.Append(nil, history.Version{}, history.Version{Number: 1, Body: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	})
}
