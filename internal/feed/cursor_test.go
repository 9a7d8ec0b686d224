package feed

import (
	"encoding/base64"
	"errors"
	"testing"
)

func TestSealOpensWhatItClosed(t *testing.T) {
	state := State{Key: []byte("0123456789abcdef0123456789abcdef"), Identity: []byte("one")}
	seal := NewSeal(state, "apps")
	for _, p := range []Position{0, 1, 1 << 40, 1<<63 - 1} {
		c := seal.Close(p)
		if got, err := NewSeal(state, "apps").Open(c); got != p || err != nil {
			t.Errorf("Open(Close(%v)) = %v, %v", p, got, err)
		}
		if again := seal.Close(p); again != c {
			t.Errorf("Close(%v) is %q and then %q", p, c, again)
		}
	}
}

func TestSealRefusesForeignCursors(t *testing.T) {
	state := State{Key: []byte("0123456789abcdef0123456789abcdef"), Identity: []byte("one")}
	seal := NewSeal(state, "apps")
	good := seal.Close(5)
	raw, _ := base64.RawURLEncoding.DecodeString(good)
	foreign := []string{"", "now", good + "A", good[1:], good + "\n", good[:len(good)-1] + "=",
		NewSeal(state, "assets").Close(5),
		NewSeal(State{Key: []byte("another key"), Identity: state.Identity}, "apps").Close(5)}
	for i := range raw {
		changed := append([]byte(nil), raw...)
		changed[i] ^= 1
		foreign = append(foreign, base64.RawURLEncoding.EncodeToString(changed))
	}
	for _, c := range foreign {
		if p, err := seal.Open(c); !errors.Is(err, ErrForeign) {
			t.Errorf("Open(%q) = %v, %v, want ErrForeign", c, p, err)
		}
	}
}

func TestSealKnowsCursorsThatAreGone(t *testing.T) {
	state := State{Key: []byte("0123456789abcdef0123456789abcdef"), Identity: []byte("one"), Removed: 5}
	seal := NewSeal(state, "apps")
	other := state
	other.Identity = []byte("two")
	for _, c := range []string{seal.Close(0), seal.Close(4), NewSeal(other, "apps").Close(7)} {
		if p, err := seal.Open(c); !errors.Is(err, ErrGone) {
			t.Errorf("Open = %v, %v, want ErrGone", p, err)
		}
	}
	if _, err := seal.Open(seal.Close(5)); err != nil {
		t.Errorf("the cursor of the last entry that was removed: %v; nothing after it is missing", err)
	}
}
