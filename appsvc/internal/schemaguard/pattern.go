package schemaguard

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// Patterns are ECMA 262 in its Unicode form. Package regexp matches those that it can, in time linear in the text, so
// their steps can be charged before. Patterns with lookarounds, back-references or repetitions above 1,000 times are
// matched by package regexp2. It backtracks, which may take exponential time, and so has a limit of time.

// Limits of patterns.
const (
	MaxPattern = 4 << 10 // bytes of all patterns of a schema together

	maxProgram   = 20_000                 // instructions of all patterns for package regexp together
	maxWide      = 16                     // ranges beyond ASCII in the classes of all patterns that ignore case
	maxText      = 128 << 10              // bytes of a text for package regexp2
	keptText     = 4 << 10                // bytes of a text up to which regexp2 may keep its stack
	patternTime  = 250 * time.Millisecond // of package regexp2, for all configs of a request
	programSteps = 50                     // instructions at one byte of a text that count as a step
)

var (
	errMuchPattern  = fmt.Errorf("with this one the schema has more than %d bytes of patterns", MaxPattern)
	errLargePattern = fmt.Errorf("with this one the patterns of the schema are too large once their repetitions are "+
		"written out: "+
		"at most %d steps together are allowed", maxProgram)
	errWidePattern = fmt.Errorf("patterns that ignore case may have %d characters outside of ASCII in their "+
		"classes, \\S counted", maxWide)
)

// patterns compiles the patterns of one schema, each text once, and checks the limits of all of them together.
type patterns struct {
	meter               *meter
	known               map[string]*pattern
	text, program, wide int
}

// pattern is a compiled pattern. It satisfies jsonschema.Regexp.
type pattern struct {
	text    string
	linear  *regexp.Regexp // nil if only regexp2 can match it
	program int            // instructions of linear
	other   *regexp2.Regexp
	meter   *meter
}

// compile compiles a pattern and counts it towards the limits. A text that occurs twice counts twice.
func (ps *patterns) compile(text string) (*pattern, error) {
	if ps.text += len(text); ps.text > MaxPattern {
		return nil, errMuchPattern
	}
	p, known := ps.known[text]
	if !known {
		t, err := translate(text)
		if err == nil {
			if ps.wide += t.wide; ps.wide > maxWide {
				return nil, errWidePattern
			}
			p, err = t.compile()
		}
		if err == errLargePattern {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("the pattern %q cannot be used: %s", shorten(text), patternReason(err))
		}
		p.text, p.meter = text, ps.meter
		ps.known[text] = p
	}
	if ps.program += p.program; ps.program > maxProgram {
		return nil, errLargePattern
	}
	return p, nil
}

// String returns the pattern as the schema has it.
func (p *pattern) String() string { return p.text }

// MatchString reports whether the pattern matches anywhere in s. It charges the steps that it may take, and panics with
// ErrCostly if not so many are left: jsonschema.Regexp has no error to return.
func (p *pattern) MatchString(s string) bool {
	p.meter.charge(1 + len(s)*(1+p.program)/programSteps)
	if p.linear != nil {
		return p.linear.MatchString(s)
	}
	if len(s) > maxText || p.meter.patterns <= 0 {
		panic(ErrCostly)
	}
	start := time.Now()
	p.other.MatchTimeout = p.meter.patterns
	found, err := p.other.MatchString(s)
	p.meter.patterns -= time.Since(start)
	if len(s) > keptText { // regexp2 keeps the stack of a match, which may have megabytes
		p.other = regexp2.MustCompile(p.other.String(), regexp2.ECMAScript)
	}
	if err != nil {
		panic(ErrCostly)
	}
	return found
}

// \s and \S in a class. Package regexp knows fewer spaces. Both packages accept characters beyond ASCII as they are.
const (
	space    = "\\t-\\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
	notSpace = "\\x00-\\x08\\x0e-\\x1f!-\u009f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e" +
		"\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff"
	anything = "\\x00-\U0010ffff"
	noBreak  = "[^\\n\\r\u2028\u2029]"
)

// translation is a pattern written for package regexp, or for package regexp2 if package regexp cannot match it.
type translation struct {
	text    string
	before  *translation // that of the same pattern for package regexp, which has the groups; nil if this is that one
	special bool         // only package regexp2 can match the pattern
	inClass bool
	folds   bool // case is ignored somewhere
	// characters beyond ASCII in classes; package regexp takes milliseconds to ignore the case of a wide range
	wide   int
	groups int
	names  map[string]int // of groups; in the translation groups have numbers alone
}

// translate translates a pattern. It returns an error for syntax that the two packages read otherwise than ECMA 262,
// and for syntax errors.
func translate(pattern string) (*translation, error) {
	t := &translation{names: map[string]int{}}
	if err := t.read(pattern); err != nil {
		return nil, err
	}
	if !t.special {
		_, err := syntax.Parse(t.text, syntax.Perl)
		if bad, ok := errors.AsType[*syntax.Error](err); !ok || bad.Code != syntax.ErrInvalidRepeatSize {
			return t, err
		}
	}
	t = &translation{before: t, special: true, names: map[string]int{}}
	if err := t.read(pattern); err != nil {
		return nil, err
	}
	_, err := regexp2.Compile(t.text, regexp2.ECMAScript)
	return t, err
}

// read translates a pattern token by token.
func (t *translation) read(pattern string) error {
	var out strings.Builder
	for pattern != "" {
		token := tokens.FindString(pattern)
		if t.inClass && (token[0] == '[' || token[0] == '(') {
			token = token[:1]
		}
		text, err := t.token(token)
		if err != nil {
			return err
		}
		out.WriteString(text)
		pattern = pattern[len(token):]
	}
	if !t.folds {
		t.wide = 0
	}
	t.text = out.String()
	return nil
}

// boundaries are the boundaries of words for package regexp2, whose \b knows letters beyond ASCII.
var boundaries = map[string]string{
	`\b`: `(?:(?<=\w)(?!\w)|(?<!\w)(?=\w))`,
	`\B`: `(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))`,
}

// reference translates a back-reference, given as a number or a name. The groups are known once the pattern was read.
func (t *translation) reference(to string) (string, error) {
	if t.before == nil {
		t.special = true
		return "", nil
	}
	number, known := t.before.names[to]
	if n, err := strconv.Atoi(to); err == nil {
		number, known = n, n <= t.before.groups
	}
	if !known {
		return "", fmt.Errorf("there is no group %s to refer back to", shorten(to))
	}
	return fmt.Sprintf(`(?:\%d)`, number), nil
}

// compile compiles the translation with one of the two packages.
func (t *translation) compile() (*pattern, error) {
	if t.special {
		return &pattern{other: regexp2.MustCompile(t.text, regexp2.ECMAScript)}, nil
	}
	tree, _ := syntax.Parse(t.text, syntax.Perl)  // translate has parsed it already
	program, _ := syntax.Compile(tree.Simplify()) // never fails for a parsed tree
	if len(program.Inst) > maxProgram {
		return nil, errLargePattern
	}
	return &pattern{linear: regexp.MustCompile(t.text), program: len(program.Inst)}, nil
}

// patternReason returns an error of one of the packages without its prefix for the package.
func patternReason(err error) string {
	if bad, ok := errors.AsType[*syntax.Error](err); ok {
		return fmt.Sprintf("%s in %q", bad.Code, shorten(bad.Expr))
	}
	return shorten(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
}

// tokens matches the first token of a pattern.
var tokens = regexp.MustCompile(
	`(?s)\\u\{[[:xdigit:]]+\}|\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|\\u[[:xdigit:]]{4}|` +
		`\\x[[:xdigit:]]{2}|\\c[A-Za-z]|\\k<[^>]*>|\\[pP]\{[^}]*\}|\\[0-9]+|\\.|` +
		`\(\?<?[=!]|\(\?<[^>]*>?|\(\?[A-Za-z-]*|\[\^?\]?|.`)

// token translates a token of a pattern.
func (t *translation) token(token string) (string, error) {
	first, _ := utf8.DecodeRuneInString(token)
	switch {
	case token[0] == '\\':
		return t.escape(token)
	case first >= utf8.RuneSelf:
		return t.char(first), nil
	case t.inClass:
		t.inClass = token != "]"
		return strings.Replace(token, "[", `\[`, 1), nil
	case token == "[^]":
		return "[" + anything + "]", nil
	case token == "[]":
		return "[^" + anything + "]", nil
	case token[0] == '[':
		t.inClass = true
	case token == ".":
		return noBreak, nil
	case token == "(":
		t.groups++
	case slices.Contains([]string{"(?=", "(?!", "(?<=", "(?<!"}, token):
		t.special = true
	case strings.HasPrefix(token, "(?<"):
		name, ok := groupName(token[2:])
		if !ok {
			return "", errors.New("(?< is followed by the name of a group and >")
		}
		if _, again := t.names[name]; again {
			return "", fmt.Errorf("two groups are named %s", shorten(name))
		}
		t.groups++
		t.names[name] = t.groups
		return "(", nil
	case strings.HasPrefix(token, "(?"):
		t.folds = t.folds || strings.Contains(token, "i")
	}
	return token, nil
}

// groupName returns the name in <name>.
func groupName(s string) (name string, ok bool) {
	name, opened := strings.CutPrefix(s, "<")
	name, closed := strings.CutSuffix(name, ">")
	return name, opened && closed && name != "" && (name[0] < '0' || name[0] > '9')
}

// char returns a character as it is written.
func (t *translation) char(r rune) string {
	if r < utf8.RuneSelf {
		return fmt.Sprintf(`\x%02x`, r)
	}
	if t.inClass {
		t.wide++
	}
	return string(r)
}

// escape translates a token that begins with a backslash.
func (t *translation) escape(token string) (string, error) {
	if len(token) < 2 {
		return "", errors.New(`it ends with \`)
	}
	c, rest := token[1], token[2:]
	switch {
	case c == 's' && t.inClass:
		return space, nil
	case c == 's':
		return "[" + space + "]", nil
	case c == 'S' && t.inClass:
		t.wide++
		return notSpace, nil
	case c == 'S':
		return "[^" + space + "]", nil
	case token == `\0`:
		return t.char(0), nil
	case c == 'b' && t.inClass:
		return t.char('\b'), nil
	case (c == 'b' || c == 'B' && !t.inClass) && t.before != nil:
		return boundaries[token], nil
	case c == 'b' || c == 'B' && !t.inClass:
		return token, nil
	case c >= '1' && c <= '9' && !t.inClass:
		return t.reference(token[1:])
	case c == 'k' && !t.inClass:
		name, ok := groupName(rest)
		if !ok {
			return "", errors.New(`\k is followed by the name of a group in < and >`)
		}
		return t.reference(name)
	case c == 'c' && rest != "":
		return t.char(rune(rest[0] % 32)), nil
	case c == 'x' && rest == "":
		return "", errors.New(`\x is followed by two hexadecimal digits`)
	case c == 'x' || c == 'u':
		high, low, _ := strings.Cut(strings.Trim(rest, "{}"), `\u`)
		r, err := strconv.ParseUint(high, 16, 32)
		if second, none := strconv.ParseUint(low, 16, 32); none == nil {
			r = 0x10000 + (r-0xd800)<<10 + (second - 0xdc00)
		}
		if err != nil || r > utf8.MaxRune {
			return "", errors.New(`\u is followed by four hexadecimal digits`)
		}
		return t.char(rune(r)), nil
	case (c == 'p' || c == 'P') && rest == "":
		return "", fmt.Errorf(`\%c is followed by a property in braces`, c)
	// the packages take values of Script and General_Category without the name of the property
	case c == 'p' || c == 'P':
		if _, value, named := strings.Cut(rest, "="); named {
			return token[:2] + "{" + value, nil
		}
		return token, nil
	case c >= utf8.RuneSelf:
		r, _ := utf8.DecodeRuneInString(token[1:])
		return t.char(r), nil
	case strings.IndexByte("dDwWtnrfv", c) >= 0 || !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c)):
		return token, nil
	}
	return "", fmt.Errorf("\\%c means nothing", c) // an escape that the packages have and ECMA 262 does not
}
