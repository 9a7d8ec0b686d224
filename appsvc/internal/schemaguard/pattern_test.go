package schemaguard

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestTranslate(t *testing.T) {
	for _, tc := range []struct {
		pattern      string
		match, other []string
	}{
		{`^[a-z]+$`, []string{"abc"}, []string{"", "aBc", "abc\n"}},
		{`^\d{3}\/\-$`, []string{"123/-"}, []string{"१२३/-"}},
		{`^\w\W$`, []string{"a-", "a\u00e9"}, []string{"\u00e9-"}},
		{`^\s$`, []string{" ", "\t", "\v", "\u00a0", "\ufeff", "\u2029", "\u2003"}, []string{"a", "\u200b", "\u180e"}},
		{`^\S$`, []string{"a", "\u200b", "\U00010400"}, []string{" ", "\v", "\u00a0", "\ufeff", "\u2003"}},
		{`^[\s,]+$`, []string{", \u00a0"}, []string{"a"}},
		{`^[^\S]$`, []string{"\u00a0"}, []string{"a"}},
		{`^.$`, []string{"a", "\u00e9", "\U00010400"}, []string{"\n", "\r", "\u2028"}},
		{`^[.]$`, []string{"."}, []string{"a"}},
		{`^\cC\cj$`, []string{"\x03\n"}, []string{"cC"}},
		{`^\u00e9\u{1f600}\ud83d\ude00\x41\0$`, []string{"\u00e9\U0001f600\U0001f600A\x00"}, nil},
		{`^[\u0041-\u0043]$`, []string{"B"}, []string{"D"}},
		{`^\p{L}\p{Lu}\P{Lu}$`, []string{"\u00e9Aa"}, []string{"aaa"}},
		{`^\p{Script=Greek}\p{gc=Nd}$`, []string{"\u03b17"}, []string{"a7"}},
		{`^[^]$`, []string{"\n", "a"}, []string{""}},
		{`[]`, nil, []string{"", "a"}},
		{`^[[a]$`, []string{"[", "a"}, []string{"b"}},
		{`^[\b]$`, []string{"\b"}, []string{"b"}},
		{`\bfoo\b`, []string{"a foo b"}, []string{"afoo"}},
		{`^(?:a|b)(?<x>c)$`, []string{"ac"}, []string{"c"}},
		{`^\$\{[^}]+\}$`, []string{"${a}"}, []string{"${}"}},
		{`^a{2,3}?$`, []string{"aa"}, []string{"a"}},
		{`^[a\]]+$`, []string{"a]"}, []string{"b"}},
		{`^\[\\\]$`, []string{`[\]`}, nil},
	} {
		p, err := compilePattern(tc.pattern, maxProgram)
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
			continue
		}
		if p.String() != tc.pattern {
			t.Errorf("%s names itself %s", tc.pattern, p)
		}
		for _, s := range tc.match {
			if !p.MatchString(s) {
				t.Errorf("%s does not match %q", tc.pattern, s)
			}
		}
		for _, s := range tc.other {
			if p.MatchString(s) {
				t.Errorf("%s matches %q", tc.pattern, s)
			}
		}
	}
}

func TestTranslateRefuses(t *testing.T) {
	for pattern, says := range map[string]string{
		`(?=a)`: "looking", `a(?!b)`: "looking", `(?<=a)b`: "looking", `(?<!a)b`: "looking",
		`(a)\1`: "references", `(?<x>a)\k<x>`: "references",
		`a\`: "ends with", `\u12`: "four hexadecimal", `\u{110000000000}`: "four hexadecimal",
		`\a`: "means nothing", `\Z`: "means nothing", `\Qa\E`: "means nothing", `[\A]`: "means nothing",
		`\pL`: "in braces", `\p{Klingon}`: "cannot be used", `(`: "cannot be used", `a**`: "cannot be used",
		`[z-a]`: "cannot be used", `a{1001}`: "cannot be used", `(a{100}){100}`: "cannot be used",
	} {
		if p, err := compilePattern(pattern, maxProgram); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: have %v, %v, want an error that says %q", pattern, p, err, says)
		}
	}
}

func TestPatternSize(t *testing.T) {
	for pattern, ok := range map[string]bool{
		`^[A-Za-z0-9_-]{1,255}$`:       true,
		`((a{0,100}){0,10}){0,1}$`:     true,
		`(a{100}){10}`:                 true,
		`.{1000}.{1000}`:               true,
		`.{1000}.{1000}.{1000}.{1000}`: true,
		strings.Repeat(`.{1000}`, 9):   true,
		strings.Repeat(`.{1000}`, 21):  false,
		`(((a|b){0,100}){0,10}c?)+`:    true,
		strings.Repeat(`.{1000}`, 500): false,
	} {
		p, err := compilePattern(pattern, maxProgram)
		if (err == nil) != ok {
			t.Errorf("%.40s: have %v", pattern, err)
		}
		if err == nil && len(p.program.Inst) > maxProgram {
			t.Errorf("%.40s: %d steps", pattern, len(p.program.Inst))
		}
		if err == nil && steps(parse(t, pattern), maxProgram)+2 < len(p.program.Inst) { // and two around it
			t.Errorf("%.40s: %d steps, estimated as %d", pattern, len(p.program.Inst), steps(parse(t, pattern), maxProgram))
		}
	}
}

func parse(t *testing.T, pattern string) *syntax.Regexp {
	t.Helper()
	translated, err := translate(pattern)
	if err != nil {
		t.Fatal(err)
	}
	re, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// TestMatcherAgrees compares the simulation that counts steps with package regexp.
func TestMatcherAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b", ".", "[ab]", "(a|b)", "(ab|a)*", "a+", "b?", "^", "$", `\b`, "a{2,3}", "c", "[^a]"}
	for range 3000 {
		var text, s strings.Builder
		for range 1 + r.IntN(5) {
			text.WriteString(parts[r.IntN(len(parts))])
		}
		for range r.IntN(8) {
			s.WriteByte("abc \n"[r.IntN(5)])
		}
		p, err := compilePattern(text.String(), maxProgram)
		if err != nil {
			continue // ^* and the like
		}
		if estimate := steps(parse(t, text.String()), maxProgram); estimate+2 < len(p.program.Inst) {
			t.Fatalf("%s: %d steps, estimated as %d", text.String(), len(p.program.Inst), estimate)
		}
		m := newMatcher(p)
		for range 2 { // a matcher is used again and again
			if m.work(s.String(), 1<<40); m.matched != p.MatchString(s.String()) {
				t.Fatalf("%s on %q: have %v", text.String(), s.String(), m.matched)
			}
		}
	}
}

func TestMatcherStops(t *testing.T) {
	p, err := compilePattern(`((a{0,100}){0,10}){0,1}$`, maxProgram)
	if err != nil {
		t.Fatal(err)
	}
	m := newMatcher(p)
	if taken := m.work(strings.Repeat("a", 1<<20), 1000); taken < 1000 || taken > 10_000 {
		t.Errorf("took %d steps of 1000", taken)
	}
}

func TestNumberSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 1, "-1.5": 4, "1e5": 6, "1E-5": 6, "1e1000000": 1000001, "1e1000001": 1<<31 - 1, "1e99999999999999999999": 1<<31 - 1} {
		if have := numberSize(text); have != want {
			t.Errorf("%s: have %d, want %d", text, have, want)
		}
	}
}
