package spelling_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/spelling"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"type", "type", 0}, {"tpye", "type", 1}, {"typ", "type", 1},
		{"tyype", "type", 1}, {"tape", "type", 1},
		{"adr", "addr", 1}, {"dmeo", "demo", 1}, {"spam", "type", 4}, {"ca", "abc", 3},
	} {
		if got := spelling.Distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
