package schemaguard

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof"
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
		{`^(?<a$>b)\é$`, []string{"b\u00e9"}, []string{"b"}},

		{`^(?!@@)[@a-z]+$`, []string{"@a", "a@@"}, []string{"@@a", ""}},
		{`^(?!(a|b)$|c)\w+$`, []string{"ab", "d"}, []string{"a", "b", "cd"}},
		{`^(?=.*\d)(?=.*[a-z]).{4,}$`, []string{"abc1"}, []string{"abcd", "1234", "a1"}},
		{`(?<=\$)\d+$`, []string{"$12", "a $1"}, []string{"12", "$a1"}},
		{`(?<!\$|€)\b\d+$`, []string{"12", "a 1"}, []string{"$12", "€1"}},
		{`^(?=(?!(?<=b)c)..)a`, []string{"ab"}, []string{"a"}},
		{`a(?!(?=b)b)`, []string{"ac", "a"}, []string{"ab"}},
		{`(?:(?=a)\w){3}$`, []string{"aaa"}, []string{"aab"}},
		{`^(?!)|^b`, []string{"b"}, []string{"a", ""}},
		{`a(?=$)`, []string{"ba"}, []string{"ab"}},
		{`(?<=^é)b`, []string{"\u00e9b"}, []string{"b", "a\u00e9b"}},
		{`(?<=\u{1f600}.)\bb`, []string{"\U0001f600 b"}, []string{"\U0001f600b"}},

		{`^a{1,1500}$`, []string{"a", strings.Repeat("a", 1500)}, []string{"", strings.Repeat("a", 1501), "b"}},
		{`^\d{0,2048}$`, []string{"", "12"}, []string{"a", strings.Repeat("1", 2049)}},
		{`^é{1001}b{2}?$`, []string{strings.Repeat("é", 1001) + "bb"}, []string{strings.Repeat("é", 1001) + "b"}},
		{`^[\]a-c]{1001,}$`, []string{strings.Repeat("a]", 501)}, []string{strings.Repeat("a", 1000)}},
		{`^(?:(ab?){10}){101}$`, []string{strings.Repeat("aab", 505)}, []string{strings.Repeat("ab", 1009)}},
		{`^(?:a+){1001}$`, []string{strings.Repeat("a", 1002)}, []string{strings.Repeat("a", 1000)}},
		{`^\u{1f600}{1001}$`, []string{strings.Repeat("\U0001f600", 1001)}, []string{"\U0001f600"}},
		{`^(?=a{1001})(?<=^)(?!b{2000})\w{3,}$`, []string{strings.Repeat("a", 1001)},
			[]string{strings.Repeat("a", 1000)}},
		{`^(a|b){1001}c\1{2}$`, []string{strings.Repeat("ab", 500) + "bcbb"},
			[]string{strings.Repeat("ab", 500) + "acbb"}},
		{`^x{,1001}{$`, []string{"x{,1001}{"}, []string{"x"}},

		{`^(['"]).*\1$`, []string{`"a'"`, `''`}, []string{`"a'`, `"`}},
		{`^(?<q>a|b)\k<q>$`, []string{"aa", "bb"}, []string{"ab"}},
		{`^\k<q>(?<q>a)$`, []string{"a"}, []string{"aa"}},
		// a group keeps what it matched in an iteration before
		{`^(?:(a)|b)*\1$`, []string{"aa", "", "b"}, []string{"ba"}},
		{`^(a*)*\1c$`, []string{"c", "aac"}, []string{"b"}},
		{`^(?=(a+))\1b`, []string{"aab"}, []string{"b"}},
		{`^(?=(a+))a*b\1`, []string{"aaabaaa"}, []string{"aab"}},
		{`(?<=(\d+)\1)x`, []string{"1212x", "12x"}, []string{"x"}}, // read from its end: \1 comes first
		{`(?<=\1(a))b`, []string{"aab"}, []string{"ab"}},
		{`^(?!(a)\1)\w\w$`, []string{"ab"}, []string{"aa"}},
		{`^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10$`, []string{"abcdefghijj"}, []string{"abcdefghija0"}},
	} {
		p, err := compilePattern(tc.pattern)
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
		`(?=a`: "missing closing )", `a(?!b`: "missing closing )", `(?<=(a)b`: "missing closing )",
		`(?=a))`: "unexpected )",
		`(a)\2`:  "no group 2", `(?<x>a)\k<y>`: "no group y", `\k`: "name of a group",
		`(?<x>a)\k<1>`: "name of a group", `(?<>a)`: "name of a group",
		`(?<x>a)(?<x>b)`: "two groups", `[\1]`: "means nothing", `[\k]`: "means nothing", `\x4`: "two hexadecimal",
		`(?=*)`: "cannot be used",
		`(?i:[B-\u{1e942}]{2}` + strings.Repeat(`[\Sé]`, 8) + `)`: "16 characters", `(?>a)`: "cannot be used",
		`a\`: "ends with", `\u12`: "four hexadecimal", `\u{110000000000}`: "four hexadecimal",
		`(?<a`: "name of a group", `[\B]`: "means nothing", `\a`: "means nothing", `\Z`: "means nothing",
		`\Qa\E`: "means nothing", `[\A]`: "means nothing",
		`\pL`: "in braces", `\p{Klingon}`: "cannot be used", `(`: "cannot be used", `a**`: "cannot be used",
		`[z-a]`: "cannot be used", `a{2,1}`: "invalid repeat count", `a{1001}{2}`: "cannot be used",
		`{1001}`:                       "cannot be used",
		`a{1001,99999999999999999999}`: "out of range", `a{9223372036854775807}`: "out of range",
		`a*{1001}`: "cannot be used",
	} {
		if p, err := compilePattern(pattern); err == nil || !strings.Contains(err.Error(), says) {
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
		_, err := compilePattern(pattern)
		if (err == nil) != ok {
			t.Errorf("%.40s: have %v", pattern, err)
		}
	}
}

// compilePattern compiles a pattern alone, with a budget that does not end soon.
func compilePattern(text string) (*pattern, error) {
	ps := patterns{meter: &meter{left: 1 << 40, patterns: time.Hour}, known: map[string]*pattern{}}
	return ps.compile(text)
}

// TestECMA has random patterns with lookarounds and back-references, and what V8 says of them: all
// of RegExp(pattern, "u").test(text).
func TestECMA(t *testing.T) {
	text, err := os.ReadFile("testdata/ecma262.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Pattern      string
		Match, Other []string
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 400 {
		t.Fatal(len(cases), err)
	}
	for _, tc := range cases {
		p, err := compilePattern(tc.Pattern)
		if err != nil {
			t.Errorf("%s: %v", tc.Pattern, err)
			continue
		}
		for _, s := range tc.Match {
			if !p.MatchString(s) {
				t.Errorf("%s does not match %q", tc.Pattern, s)
			}
		}
		for _, s := range tc.Other {
			if p.MatchString(s) {
				t.Errorf("%s matches %q", tc.Pattern, s)
			}
		}
	}
}

// stalls are patterns on which matchers are known to hang, and texts of 1 MiB for them.
var stalls = func() map[string]string {
	a, wide := strings.Repeat("a", 1<<20), strings.Repeat("\u00e9", 1<<19)
	return map[string]string{
		`(a+)+$`: a + "b", `(a|a)*b`: a, `(.*)*x`: a, `(a|aa)+$`: a + "b", `(x+x+)+y`: strings.Repeat("x", 1<<20),
		`(?!.*foo)x`: a, `(?=(a+)+$)x`: a, `(a|a)*b(?!c)`: a, `(.*)*x(?!c)`: a, `(?=.*a.*b.*c)x`: a,
		strings.Repeat("(?=", 300) + "a*b" + strings.Repeat(")", 300):        a,
		strings.Repeat("(?=.*", 300) + "b" + strings.Repeat(")", 300):        a,
		strings.Repeat("(?!a*", 200) + "(?<=a*)b" + strings.Repeat(")", 200): a,
		strings.Repeat("(?=)", 1000):                                         a,
		`(?<=(a{0,100}){0,10}b)c`:                                            a, `(?<!\p{L}{0,500})b`: wide,
		`(?=((a{0,100}){0,10}){0,1}$)b`: a,
		`(a+)+\1$`:                      a + "b", `(a|a)*\1b`: a, `(a*)*\1b`: a, `(.*)*x\1`: a,
		`(a*)(a*)(a*)(a*)\1\2\3\4b`: a, `^(.*)\1b`: a,
		`(a?){1000}\1b`: a, `^(?:(a{1,50}){1,20})+\1b`: a, `(?=(a+))\1b`: a, `(?<=(a+))\1b`: a, `^(a{1000})*\1b`: a,
		`(?:a|(b)|(c)|(d))*\1\2\3e`: a, `([\p{L}\p{N}]*)x\1`: wide, `(?:(?=(a*))(?=\1(a*)))*\2b`: a,
		`^(?:(a)|a)*\1b`: a,
		`(` + strings.Repeat(`(?:`, 200) + `a` + strings.Repeat(`*)`, 200) + `)\1b`: a,
		`(` + strings.Repeat(`(`, 200) + `a?` + strings.Repeat(`)*`, 200) + `)\1b`:  a,
	}
}()

// TestNoPatternStalls matches each with the budget of a request.
func TestNoPatternStalls(t *testing.T) {
	for text, s := range stalls {
		p, err := compilePattern(text)
		if err != nil {
			t.Errorf("%.40s: %v", text, err)
			continue
		}
		for _, s := range []string{s, s[:min(len(s), maxText)]} {
			if proof.Short() && len(s) < 1<<18 && p.linear == nil {
				continue
			}
			p.meter.left, p.meter.patterns = configSteps, patternTime
			start := time.Now()
			func() {
				defer func() {
					if r := recover(); r != nil && r != ErrCostly {
						t.Errorf("%.40s: %v", text, r)
					}
				}()
				p.MatchString(s)
			}()
			if took := time.Since(start); took > time.Minute { // about 0.4 s where nobody else is at work
				t.Errorf("%.40s: took %v", text, took)
			}
		}
	}
}

// TestAMatchKeepsNoMemory matches a long text, for which regexp2 needs a stack of 23 MiB.
func TestAMatchKeepsNoMemory(t *testing.T) {
	p, err := compilePattern(`(?:(?=(a))(a|a))*b`)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if p.MatchString(strings.Repeat("a", 1000) + "b"); p.MatchString(strings.Repeat("a", maxText-1) + "b") {
		runtime.GC()
		runtime.ReadMemStats(&after)
	}
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 1<<20 {
		t.Errorf("%d bytes are kept", kept)
	}
	runtime.KeepAlive(p)
}

func FuzzPattern(f *testing.F) {
	for text := range stalls {
		f.Add(text, "aaaaaaaaaaaaaaab")
	}
	for _, text := range []string{`^(?!x)(?<=a\b)`, `(?<n>\p{L})\k<n>`, `[^\S\u{1f600}]{2,3}?`, `(?:(a)|b)*\1`,
		`(?i:a)\x41`, `(?<!(?=(a)\1)*)$`} {
		f.Add(text, "ab\u00e9\U0001f600\xff")
	}
	f.Fuzz(func(t *testing.T, text, s string) {
		if len(text) > MaxPattern {
			return
		}
		p, err := compilePattern(text)
		if err != nil {
			return
		}
		p.meter.patterns = 10 * time.Millisecond
		defer func() {
			if r := recover(); r != nil && r != ErrCostly {
				t.Fatalf("%q on %q: %v", text, s, r)
			}
		}()
		p.MatchString(s)
	})
}

// TestBothPackagesAgree matches what package regexp can match with package regexp2 too.
func TestBothPackagesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b", ".", "[ab]", "(a|b)", "(ab|a)*", "a+", "b?", "^", "$", `\b`, `\B`, `\s`, `[\S]`, `\w`,
		`[^\d]`, "a{2,3}", "é", "[^a]"}
	for range 1000 {
		var text, s strings.Builder
		for range 1 + r.IntN(5) {
			text.WriteString(parts[r.IntN(len(parts))])
		}
		for range r.IntN(8) {
			s.WriteRune([]rune("abé \n\u2028")[r.IntN(6)])
		}
		one, err := compilePattern(text.String())
		if err != nil {
			continue // ^* and the like
		}
		other, err := compilePattern("(?=)" + text.String())
		if err != nil || one.linear == nil || other.linear != nil {
			t.Fatalf("%s: %v, %v, %v", text.String(), one, other, err)
		}
		if one.MatchString(s.String()) != other.MatchString(s.String()) {
			t.Fatalf("%s on %q: package regexp says %v", text.String(), s.String(), one.MatchString(s.String()))
		}
	}
}

func TestNumberSize(t *testing.T) {
	for text, want := range map[string]int{"0": 1, "-1.5": 4, "1e5": 6, "1E-5": 6, "1e1000000": 1000001,
		"1e1000001": 1<<31 - 1, "1e99999999999999999999": 1<<31 - 1} {
		if have := numberSize(text); have != want {
			t.Errorf("%s: have %d, want %d", text, have, want)
		}
	}
}
