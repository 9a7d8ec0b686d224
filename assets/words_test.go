package assets

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// wordsOf returns the words of a text that may have HTML.
func wordsOf(text string) (out []string) {
	for _, w := range newRules.words(newRules.strip(text).text) {
		out = append(out, w.text)
	}
	return out
}

func TestWords(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":            {"", ""},
		"no letter or digit": {" -- !? … © ", ""},
		"emoji":              {"a🙂b 👍🏽 👍 ❤\ufe0f", "a 🙂 b 👍 👍 ❤"},
		"joined emoji and flags": {"👨‍👩‍👧👍 🇩🇪🇫🇷 🏴\U000e0067\U000e0062\U000e007f",
			"👨‍👩‍👧 👍 🇩🇪 🇫🇷 🏴\U000e0067\U000e0062\U000e007f"},
		"compatible forms":              {"ﬁn ＡＢＣ ｶﾞ ① ㎏ Ⅷ", "fin abc ガ 1 kg viii"},
		"ligatures":                     {"Œuvre cœur Æon ĳs", "oeuvre coeur aeon ijs"},
		"points of Hebrew":              {"שָׁלוֹם שלום \ufb2a", "שלום שלום ש"},
		"forms of Arabic letters":       {"\ufefb أحمد احمد كـــتاب", "لا احمد احمد كتاب"},
		"soft hyphens":                  {"co\u00adoperate", "cooperate"},
		"joiners within a word":         {"ශ්\u200dරී න්\u200d x", "ශ්\u200dරී න් x"},
		"case":                          {"Hello WORLD", "hello world"},
		"sharp s":                       {"Straße STRASSE", "strasse strasse"},
		"final sigma":                   {"ΟΔΟΣ οδος ὁδός", "οδοσ οδοσ οδοσ"},
		"Turkish dotted i":              {"İstanbul Istanbul ıstanbul", "istanbul istanbul istanbul"},
		"diacritics of Latin":           {"Café cafe\u0301 naïve Ångström", "cafe cafe naive angstrom"},
		"strokes":                       {"Łódź Søren Đorđe", "lodz soren dorde"},
		"diacritics of Cyrillic":        {"Йод ёлка", "йод елка"},
		"diacritics of Vietnamese":      {"Việt Nam", "viet nam"},
		"marks of Hindi stay":           {"हिन्दी हन्द", "हिन्दी हन्द"},
		"marks of Arabic":               {"كَتَبَ كتب", "كتب كتب"},
		"hash, at and underscore":       {"#Tag @name a_b", "tag name a b"},
		"punctuation":                   {"don't e-mail a.b,c/d", "don t e mail a b c d"},
		"Cherokee in both cases":        {"Ꭰ ꭰ", "Ꭰ Ꭰ"},
		"digits":                        {"v2 42 ٤٢ ๓ 3.14", "v2 42 42 3 3 14"},
		"Han":                           {"漢字かな", "漢 字 か な"},
		"Han numerals":                  {"二〇二六年 a〇b 〡〢", "二 〇 二 六 年 a 〇 b 〡 〢"},
		"Han among Latin":               {"abc漢def", "abc 漢 def"},
		"Katakana with a length mark":   {"コーヒー", "コ ー ヒ ー"},
		"voiced Katakana, both forms":   {"ガ カ\u3099", "ガ ガ"},
		"Hangul, both forms":            {"한국 \u1112\u1161\u11ab국", "한국 한국"},
		"Thai":                          {"ภาษาไทย กิ็", "ภ า ษ า ไ ท ย กิ็"},
		"selector of an emoji":          {"❤\ufe0ftext", "❤ text"},
		"selector of a digit":           {"5\ufe0f 5", "5 5"},
		"mark on nothing":               {"\u0301 \u0301abc", "abc"},
		"mark of another script":        {"a\u093fb", "ab"},
		"tags inside a line":            {"<b>H</b>ello <a href=\"x\">wor</a>ld", "hello world"},
		"tags between lines":            {"<p>one</p><p>two</p>three<br>four<br/>five", "one two three four five"},
		"attributes":                    {`<img alt="no" src="http://no.example/">yes`, "yes"},
		"scripts, styles and comments":  {"a<script>no()</script>b<style>no{}</style>c<!-- no -->d", "a b cd"},
		"entities":                      {"Caf&eacute; a&nbsp;b &#x6f22; &lt;b&gt;", "cafe a b 漢 b"},
		"less-than that is no tag":      {"1 < 2 a<3", "1 2 a 3"},
		"half a tag":                    {"yes <b no", "yes"},
		"NUL":                           {"a\x00b", "a b"},
		"not UTF-8":                     {"a\xffb", "a b"},
		"search operators are no words": {`"foo" -bar NEAR(x*) col:y ^z`, "foo bar near x col y z"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(wordsOf(c.text), " "); got != c.want {
				t.Errorf("words(%q) are %q, want %q", c.text, got, c.want)
			}
		})
	}
}

// The terms of a text grow with its length, whatever is joined in it.
func TestJoinedWordsHaveFewTerms(t *testing.T) {
	for _, part := range []string{"👩\u200d", "a-", "ab'", "ä-", "c++-", ".a", "a\u200c", "١-a"} {
		const n = 5000
		if terms := len(edges(newRules.words(strings.Repeat(part, n)))); terms > 5*n {
			t.Errorf("%d times %q has %d terms", n, part, terms)
		}
		if len(part) > 6 && len(newRules.words(strings.Repeat(part, n))[0].also) > 1 {
			t.Errorf("%d times %q has a part twice", n, part)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{
		"Hello <b>World</b>", "Café cafe\u0301 İı ŉ ǰ ΐ", "漢字カ\u3099コーヒー", "a\xffb\x00", "&#x130;&eacute;<",
		"❤\ufe0f1\ufe0f\u20e3", "हिन्दी ᾳ\u0345",
		"C++ c#, F#-dur .NET x.net a@b.example 1,5 H₂O m² ½ e-mail-Adresse Müller-Ørsted O’Neill",
		"👩‍🔬 ก็ำ ខ្មែរ 서울의 می\u200cخواهم ٣", "<ruby>漢<rt>かん</ruby><noscript>x</noscript><template>y",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list := wordsOf(text)
		for _, w := range list {
			if w == "" || !utf8.ValidString(w) || strings.ContainsAny(w, " \x00<&") {
				t.Fatalf("words(%q) has %q", text, w)
			}
		}
		if again := wordsOf(strings.Join(list, " ")); !slices.Equal(again, list) {
			t.Fatalf("words(%q) are %q, but their words are %q", text, list, again)
		}
		// A text is found by itself, by each of its phrases, and by the terms of these.
		all := newRules.words(newRules.strip(text).text)
		var terms []string
		for _, e := range edges(all) {
			terms = append(terms, e.text)
		}
		q := newRules.parseQuery(text)
		for _, p := range q.must {
			for _, w := range p.words {
				if !p.in(all) || !p.prefix && !slices.Contains(terms, w.text) {
					t.Fatalf("%q is not found by %q of it, %v", text, w.text, p)
				}
			}
		}
		if !strings.ContainsAny(text, "<&") && utf8.ValidString(text) {
			for name, form := range map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD} {
				if other := wordsOf(form.String(text)); !slices.Equal(other, list) {
					t.Fatalf("words(%q) are %q, in %s they are %q", text, list, name, other)
				}
			}
		}
	})
}

// taken writes a query that was taken apart: words, "phrases", prefixes*, -exclusions.
func taken(query string) string {
	q := newRules.parseQuery(query)
	var out []string
	for i, p := range append(slices.Clone(q.must), q.mustNot...) {
		text := ""
		for i, w := range p.words {
			if text += w.text; i < len(p.words)-1 {
				text += " "
			}
		}
		if p.prefix {
			text += "*"
		}
		if len(p.words) > 1 || p.exact && i < len(q.must) {
			text = `"` + text + `"`
		}
		if i >= len(q.must) {
			text = "-" + text
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestQueriesAreTakenApart(t *testing.T) {
	for query, want := range map[string]string{
		// A * ends a word.
		"foo*": "foo*", "foo* bar": "foo* bar", "foo*bar": "foo bar", "* foo": "foo", "*foo": "foo", "foo *": "foo",
		"foo**":     "foo*",
		"foo*,bar*": "foo* bar*", "FOO*": "foo*", "Caf\u00c9*": "cafe*", "ß*": "ss*", "<b>foo</b>*": "foo*",
		"<p>foo</p>*": "foo",
		"漢*":          "漢*", "漢字*": `"漢 字*"`, "a漢*": "a 漢*", "fo*漢": "fo 漢", "#foo*": "foo*", "foo-*": "foo", "*": "",
		"":           "",
		"foo*\u0301": "foo", "❤\ufe0f*": "❤*", "foo&#42;": "foo*", "foo＊": "foo*", "12*": "12*", "हि*": "हि*",
		"a b*c d*": "a b c d*", "foo*🙂": "foo 🙂",
		// Quotes make a phrase.
		`"a b" c`: `"a b" c`, `"a"`: `"a"`, `"a b`: `"a b"`, `a "b`: `a "b"`, `""`: "", `"`: "", `"foo"*`: `"foo"`,
		`"a b*"`: `"a b*"`, `"a*b"`: `"a b"`, `"-a b"`: `"a b"`,
		"„a b“": `"a b"`, "“a b”": `"a b"`, "« a b »": `"a b"`, "＂a b＂": `"a b"`, `27" monitor`: "27 monitor",
		`x"a b"`: `"x a" b`, `#"a b"`: `"a b"`, `"a-b"`: `"a b"`,
		"&quot;a b&quot;": `"a b"`, `"a<p>b"`: `"a b"`, `"a b"c`: `"a b" c`,
		// So does a run of scripts without spaces.
		"東京タワー": `"東 京 タ ワ ー"`, "東京 タワー": `"東 京" "タ ワ ー"`, "iPhone手机": `iphone "手 机"`, "2026年6月": "2026 年 6 月",
		"漢字한글": `"漢 字 한글*"`, "한국어": "한국어*", `"한국어"`: `"한국어"`,
		"ｶﾞｽ": `"ガ ス"`, "한국 은행": "한국* 은행*",
		// A minus excludes.
		"a -b": "a -b", `a -"b c"`: `a -"b c"`, "-b a": "a -b", "e-mail": `"e mail"`, "a - b": "a b", "a -b*": "a -b*",
		"a -#b": "a -b", "a -東京": `a -"東 京"`, "a --b": "a -b",
		"a -don't": `a -"don t"`, "a -": "a", `a -""`: "a", "a －b": "a -b", "-a": "-a", "a\u00a0-b": "a -b",
	} {
		if got := taken(query); got != want {
			t.Errorf("%q is %s, want %s", query, got, want)
		}
	}
	for query, ok := range map[string]bool{
		"a*": false, "é*": false, "🙂*": false, "ab*": true, "漢*": true, "カ*": true, "ー*": true, "ｱ*": true,
		"a": true, "x -a*": false, `"b a*"`: false, "ก*": true, "한*": true,
		"-a": true, "-a -b": true, "a -b": true, "": true, "*": true, strings.Repeat("a ", 63) + "-b": true,
		strings.Repeat("a ", 64) + "-b": false, "-b " + strings.Repeat("a", 2000): false,
		strings.Repeat("-b ", 64): true, strings.Repeat("-b ", 65): false,
	} {
		if _, _, err := newRules.query(query, Limits{}.withDefaults()); (err == nil) != ok {
			t.Errorf("%q: error %v", query, err)
		}
	}
}

func TestSimilarWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		w := make([]rune, rng.IntN(9))
		for i := range w {
			w[i] = []rune("abé漢")[rng.IntN(4)]
		}
		return string(w)
	}
	near := 0
	for range 3000 {
		w, most := "ab"+word(), 1+rng.IntN(2)
		like := similar(w, most)
		for range 20 {
			text := word()
			want := Distance([]rune(w), []rune(text)) <= most
			if got := like(text); got != want {
				t.Fatalf("%q and %q are similar by %d: %t, want %t", w, text, most, got, want)
			}
			if want {
				near++
			}
		}
	}
	if near < 100 {
		t.Errorf("%d pairs are similar", near)
	}
	for word, want := range map[string]int{"abc": 0, "abcd": 1, "abcdefg": 1, "abcdefgh": 2, "abcdefghijklmnop": 2,
		"2024": 0, "ab12": 0, "abcd12": 1, "хлеб": 1, "東": 0, "हिन्दी": 1} {
		if got := typosIn(word); got != want {
			t.Errorf("%q may have %d typos, want %d", word, got, want)
		}
	}
}

// A text of simple characters folds as it does beside one that is not.
func TestSimpleCharactersFoldAsOthers(t *testing.T) {
	for c := rune(0); c <= unicode.MaxRune; c++ {
		for _, by := range []rules{oldRules, newRules} {
			if text := string(c); isSimple(c) && by.fold(text)+"e" != by.fold(text+"é") {
				t.Errorf("%q folds to %q, and beside é to %q", text, by.fold(text), by.fold(text+"é"))
			}
		}
	}
}
