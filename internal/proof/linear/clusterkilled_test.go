//go:build proof && linux

package linear

import (
	"os"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof"
)

// What a keeper runs ends with a test that is killed, also what has left its parent, and its directory goes.
func TestNothingIsLeftOfAKilledKeeper(t *testing.T) {
	if proof.ChildState() != "" {
		k := newKeeper(t)
		if err := k.Start("one", nil, "sh", "-c", "setsid sleep 1000 & sleep 1000 & wait"); err != nil {
			t.Fatal(err)
		}
		for len(k.Processes("one")) < 3 {
			time.Sleep(time.Millisecond)
		}
		println(k.Dir)
		select {}
	}
	line, kill := proof.StartChild(t, "running")
	k := keeper{Dir: line}
	if n := len(k.Processes("one")); n < 3 {
		t.Errorf("%q has %d processes, want 3", k.Dir, n)
	}
	kill()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		_, err := os.Stat(k.Dir)
		left := k.Processes("one")
		if os.IsNotExist(err) && len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a minute after the test was killed %s is there (%v), and so are %v", k.Dir, err, left)
		}
	}
}
