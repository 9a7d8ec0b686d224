package records_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc/internal/records"
)

// A Finder finds a query in a text if each of its words begins a word of the text, as titles are searched.
func TestAFinderHasTheRulesOfTitles(t *testing.T) {
	letters := []rune("aAbß漢キ한éÉøŁ½ﬁǅ .-_\n0٣İ\u0301\u0903\u20dd😀𝔄")
	random := rand.New(rand.NewPCG(1, 2))
	text := func(most int) string {
		var b strings.Builder
		for range 1 + random.IntN(most) {
			b.WriteRune(letters[random.IntN(len(letters))])
		}
		return b.String()
	}
	found := 0
	for range 100_000 {
		in, words := text(8), records.TitleWords(text(3))
		want := !slices.ContainsFunc(words, func(begin string) bool {
			return !slices.ContainsFunc(records.TitleWords(in), func(word string) bool {
				return strings.HasPrefix(word, begin)
			})
		})
		if got := records.NewFinder(words).In(records.Fold([]byte{0}, []byte(in))); got != want {
			t.Fatalf("%q in %q (%q): %v", words, in, records.TitleWords(in), got)
		} else if got && len(words) > 0 {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("found %d", found)
	}
}

func TestNear(t *testing.T) {
	long := strings.Repeat("x ", 500)
	for _, test := range []struct{ text, word, want string }{
		{"aus Kiel", "kiel", "aus Kiel"},
		{"kiel " + long, "kiel", "kiel x x …"},
		{long + "Kiel", "kiel", "…x x xKiel"},
		{long + "Kiel " + long, "kie", "…x Kiel x…"},
		{long + "漢字 " + long, "字", "…x x漢字 x…"},
	} {
		got := records.NewFinder([]string{test.word}).Near(test.text, 10)
		if !strings.Contains(strings.ToLower(got), test.word) || len([]rune(got)) > 10 ||
			strings.HasPrefix(got, "…") != strings.HasPrefix(test.want, "…") ||
			strings.HasSuffix(got, "…") != strings.HasSuffix(test.want, "…") {
			t.Errorf("%q near %q, want something like %q", got, test.word, test.want)
		}
	}
}
