package schemaguard

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What the classes of ECMA 262 contain where package regexp means something else by the same name.
const (
	space    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	notSpace = `\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	anything = `\x00-\x{10ffff}`
	noBreak  = `[^\n\r\x{2028}\x{2029}]`
)

// errBackslash is the error of a pattern that ends in the middle of an escape.
var errBackslash = errors.New(`it ends with \`)

// translation is an ECMA 262 pattern, in its Unicode form, written for package regexp, which names
// some classes and characters otherwise and has neither lookaround nor back-references. These stand
// in the text as empty groups with a name of ours: l0 is the first of looks, b0 the first of backs.
// The groups of the pattern are named g1, g2, … then. A repetition that package regexp finds too
// large stands there as (?P<c0>…)*, where c0 is the first of counts.
type translation struct {
	text   string
	looks  []lookaround // an inner one stands before the outer one
	backs  []int        // the group that each back-reference names
	counts [][2]int     // how often a repetition repeats, at least and at most, or -1 for no bound
	groups int
	folded int // characters outside of ASCII in classes, if case is ignored somewhere
}

// maxFolded bounds translation.folded over all patterns of a schema: package regexp takes milliseconds
// to ignore the case of a wide range of characters.
const maxFolded = 16

// errFolded is the error of a pattern that exceeds maxFolded, alone or together with those before it.
var errFolded = fmt.Errorf("patterns that ignore case may have %d characters outside of ASCII in their classes, \\S counted", maxFolded)

// lookaround is the pattern inside of (?=…), (?!…), (?<=…) or (?<!…).
type lookaround struct {
	text            string
	ahead, negative bool
}

// special reports whether package regexp alone cannot match the pattern.
func (t *translation) special() bool { return len(t.looks)+len(t.backs)+len(t.counts) > 0 }

// translate translates a pattern. What is wrong in both languages is left for package regexp to refuse. Repetitions are
// left to it too, unless counted is set.
func translate(pattern string, counted bool) (*translation, error) {
	t, err := translateAs(pattern, false, counted)
	if err == nil && t.special() {
		t, err = translateAs(pattern, true, counted)
	}
	return t, err
}

// translateAs translates a pattern, and gives names to its groups if named is set. Without names, its errors and those
// of package regexp quote the pattern as it was written, so names are given only where they are needed.
func translateAs(pattern string, named, counted bool) (*translation, error) {
	t := translator{rest: pattern, named: named, counted: counted, open: []*frame{{}}, names: map[string]int{}}
	for t.rest != "" {
		if err := t.next(); err != nil {
			return nil, err
		}
	}
	if len(t.open) > 1 {
		return nil, errors.New("the ) of a lookaround is missing")
	}
	for _, ref := range t.refs {
		number, ok := t.names[ref]
		if n, err := strconv.Atoi(ref); err == nil {
			number, ok = n, n <= t.groups
		}
		if !ok {
			return nil, fmt.Errorf("there is no group %s to refer back to", shorten(ref))
		}
		t.backs = append(t.backs, number)
	}
	t.folded = t.wide
	if !t.fold {
		t.folded = 0
	}
	if t.folded > maxFolded {
		return nil, errFolded
	}
	t.text = string(t.open[0].out)
	return &t.translation, nil
}

// translator is a translation that is under way.
type translator struct {
	translation
	rest    string
	named   bool
	counted bool
	open    []*frame // the pattern and the lookarounds that are open
	inClass bool
	fold    bool           // case is ignored somewhere
	wide    int            // characters outside of ASCII in classes
	names   map[string]int // of groups
	refs    []string       // the number or name in each back-reference
}

// frame is the pattern, or a lookaround in it, while its closing parenthesis is not yet reached.
type frame struct {
	lookaround
	out    []byte
	groups []int // where in out the groups begin that are open
	atom   int   // where in out the text begins that a repetition would repeat now
}

// top is the innermost lookaround that is open, or the pattern.
func (t *translator) top() *frame { return t.open[len(t.open)-1] }

// take consumes n bytes of the pattern and writes the text in their place.
func (t *translator) take(n int, text string) {
	t.rest = t.rest[n:]
	t.top().out = append(t.top().out, text...)
}

// next translates what the rest of the pattern begins with.
func (t *translator) next() error {
	c, f := t.rest[0], t.top()
	if !t.inClass && utf8.RuneStart(c) {
		if c == '{' && t.counted {
			if done, err := t.repetition(); done || err != nil {
				return err
			}
		}
		f.atom = len(f.out)
	}
	switch {
	case c == '\\':
		return t.escape()
	case t.inClass && c == ']':
		t.inClass = false
		t.take(1, "]")
	case t.inClass && c == '[':
		t.take(1, `\[`)
	case t.inClass:
		if c >= utf8.RuneSelf {
			t.wide++ // once for each byte of the character: too high a count is on the safe side
		}
		t.take(1, string([]byte{c}))
	case strings.HasPrefix(t.rest, "[^]"):
		t.take(3, "["+anything+"]")
	case strings.HasPrefix(t.rest, "[]"):
		t.take(2, "[^"+anything+"]")
	case strings.HasPrefix(t.rest, "[^"):
		t.inClass = true
		t.take(2, "[^")
	case c == '[':
		t.inClass = true
		t.take(1, "[")
	case c == '.':
		t.take(1, noBreak)
	case c == '(':
		return t.group()
	case c == ')':
		t.closing()
	default:
		t.take(1, string([]byte{c}))
	}
	return nil
}

// group translates what begins with an opening parenthesis.
func (t *translator) group() error {
	for _, look := range []struct {
		begins          string
		ahead, negative bool
	}{{"(?=", true, false}, {"(?!", true, true}, {"(?<=", false, false}, {"(?<!", false, true}} {
		if strings.HasPrefix(t.rest, look.begins) {
			t.open = append(t.open, &frame{lookaround: lookaround{ahead: look.ahead, negative: look.negative}})
			t.rest = t.rest[len(look.begins):]
			return nil
		}
	}
	t.top().groups = append(t.top().groups, len(t.top().out))
	name, isNamed := strings.CutPrefix(t.rest, "(?<")
	if !isNamed {
		name, isNamed = strings.CutPrefix(t.rest, "(?P<")
	}
	switch {
	case isNamed:
		name, _, closed := strings.Cut(name, ">")
		if !closed || name == "" || '0' <= name[0] && name[0] <= '9' {
			return errors.New("(?< is followed by the name of a group and >")
		}
		if _, again := t.names[name]; again {
			return fmt.Errorf("two groups are named %s", shorten(name))
		}
		t.names[name] = t.groups + 1
		t.capture(strings.IndexByte(t.rest, '>') + 1)
	case strings.HasPrefix(t.rest, "(?:"):
		t.take(3, "(?:")
	case strings.HasPrefix(t.rest, "(?") && t.named:
		return errors.New("flags cannot be used together with a lookaround, a back-reference or a repetition above 1000 times")
	case strings.HasPrefix(t.rest, "(?"):
		flags, _, _ := strings.Cut(t.rest[2:], ":")
		t.fold = t.fold || strings.Contains(flags, "i")
		t.take(2, "(?")
	default:
		t.capture(1)
	}
	return nil
}

// capture begins a capturing group, to which back-references may refer. n is the length of its opening, such as "(".
func (t *translator) capture(n int) {
	t.groups++
	if t.named {
		t.take(n, fmt.Sprintf("(?P<g%d>", t.groups))
	} else {
		t.take(n, "(")
	}
}

// closing translates a closing parenthesis: of a group, or of a lookaround, which then becomes an empty group.
func (t *translator) closing() {
	f := t.top()
	n := len(f.groups)
	if n > 0 {
		f.atom, f.groups = f.groups[n-1], f.groups[:n-1]
	}
	if n > 0 || len(t.open) == 1 {
		t.take(1, ")")
		return
	}
	f.text = string(f.out)
	t.open = t.open[:len(t.open)-1]
	t.top().atom = len(t.top().out)
	t.take(1, fmt.Sprintf("(?P<l%d>)", len(t.looks)))
	t.looks = append(t.looks, f.lookaround)
}

// braces is a repetition that is counted.
var braces = regexp.MustCompile(`^\{([0-9]+)(,([0-9]*))?\}`)

// repetition translates {2}, {2,} and {2,5}, or returns false where the brace is a character.
func (t *translator) repetition() (bool, error) {
	f, found := t.top(), braces.FindStringSubmatch(t.rest)
	if found == nil || f.atom == len(f.out) {
		return false, nil
	}
	least, err := strconv.Atoi(found[1])
	most := least
	if found[2] == "," {
		most = -1
	} else if found[2] != "" && err == nil {
		most, err = strconv.Atoi(found[3])
	}
	if err != nil || max(least, most) > maxProgram { // an iteration is a step at least
		return false, errLargePattern
	}
	if most >= 0 && least > most {
		return false, fmt.Errorf("the numbers of %s are out of order", found[0])
	}
	if t.named {
		f.out = slices.Insert(f.out, f.atom, fmt.Appendf(nil, "(?P<c%d>", len(t.counts))...)
		f.out = append(f.out, ')')
	}
	t.counts = append(t.counts, [2]int{least, most})
	t.take(len(found[0]), "*")
	f.atom = len(f.out) // what is repeated cannot be repeated again
	return true, nil
}

// parse parses the texts of the lookarounds and, last, that of the pattern.
func (t *translation) parse() (trees []*syntax.Regexp, err error) {
	for _, look := range append(slices.Clip(t.looks), lookaround{text: t.text}) {
		tree, err := syntax.Parse(look.text, syntax.Perl)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	return trees, nil
}

// parsePattern translates and parses a pattern. If package regexp finds a repetition too large, it does both again with
// the repetitions counted by us.
func parsePattern(text string) (*translation, []*syntax.Regexp, error) {
	for counted := false; ; counted = true {
		t, err := translate(text, counted)
		if err != nil {
			return nil, nil, err
		}
		trees, err := t.parse()
		var bad *syntax.Error
		if counted || !errors.As(err, &bad) || bad.Code != syntax.ErrInvalidRepeatSize {
			return t, trees, err
		}
	}
}

// escape translates what begins with a backslash.
func (t *translator) escape() error {
	if len(t.rest) < 2 {
		return errBackslash
	}
	switch c := t.rest[1]; {
	case c == 's':
		t.set(space)
	case c == 'S' && !t.inClass:
		t.take(2, "[^"+space+"]")
	case c == 'S':
		t.wide++
		t.take(2, notSpace)
	case c == '0' && (len(t.rest) == 2 || t.rest[2] < '0' || t.rest[2] > '9'):
		t.take(2, `\x00`)
	case c >= '1' && c <= '9' && !t.inClass, c == 'k' && !t.inClass:
		return t.backReference()
	case c == 'x':
		if len(t.rest) < 4 || !isHex(t.rest[2]) || !isHex(t.rest[3]) {
			return errors.New(`\x is followed by two hexadecimal digits`)
		}
		t.take(4, t.rest[:4])
	case c == 'b' && t.inClass:
		t.take(2, `\x08`)
	case c == 'c' && len(t.rest) > 2 && isLetter(t.rest[2]):
		t.take(3, fmt.Sprintf(`\x{%x}`, t.rest[2]%32))
	case c == 'u':
		return t.unicode()
	case c == 'p' || c == 'P':
		return t.property()
	case strings.IndexByte("dDwWtnrfvbB", c) >= 0 || c < utf8.RuneSelf && !isLetter(c) && (c < '0' || c > '9'):
		t.take(2, t.rest[:2])
	case c >= utf8.RuneSelf:
		t.take(1, "") // what stands there then is the character itself
	default: // what regexp has and ECMA 262 does not
		return fmt.Errorf("\\%c means nothing", c)
	}
	return nil
}

// backReference translates \1 and \k<name>. Which groups there are is known at the end.
func (t *translator) backReference() error {
	ref, n := strings.TrimLeft(t.rest[1:], "0123456789"), 0
	if n = len(t.rest) - len(ref); n > 1 {
		ref = t.rest[1:n]
	} else {
		name, ok := strings.CutPrefix(t.rest, `\k<`)
		end := strings.IndexByte(name, '>')
		if !ok || end < 1 || '0' <= name[0] && name[0] <= '9' {
			return errors.New(`\k is followed by the name of a group in < and >`)
		}
		ref, n = name[:end], end+len(`\k<>`)
	}
	t.take(n, fmt.Sprintf("(?P<b%d>)", len(t.refs)))
	t.refs = append(t.refs, ref)
	return nil
}

// set translates a class such as \s, inside brackets and outside.
func (t *translator) set(ranges string) {
	if t.inClass {
		t.take(2, ranges)
		return
	}
	t.take(2, "["+ranges+"]")
}

// unicode translates \uXXXX, a pair of them that is one character, and \u{X}.
func (t *translator) unicode() error {
	r, n := codePoint(t.rest)
	if n == 0 {
		return errors.New(`\u is followed by four hexadecimal digits`)
	}
	if low, m := codePoint(t.rest[n:]); r >= 0xd800 && r < 0xdc00 && low >= 0xdc00 && low < 0xe000 {
		r, n = 0x10000+(r-0xd800)<<10+(low-0xdc00), n+m
	}
	if t.inClass && r >= utf8.RuneSelf {
		t.wide++
	}
	t.take(n, fmt.Sprintf(`\x{%x}`, r))
	return nil
}

// codePoint reads \uXXXX or \u{X} and returns how long it is, 0 when it is not there.
func codePoint(s string) (point uint64, length int) {
	digits, ok := strings.CutPrefix(s, `\u`)
	if !ok {
		return 0, 0
	}
	length = 6
	if inner, ok := strings.CutPrefix(digits, "{"); ok {
		end := strings.IndexByte(inner, '}')
		if end < 0 {
			return 0, 0
		}
		digits, length = inner[:end], end+4
	} else if len(digits) < 4 {
		return 0, 0
	} else {
		digits = digits[:4]
	}
	point, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return 0, 0
	}
	return point, length
}

// property translates \p{Script=Greek} and \p{General_Category=Lu}, whose values regexp takes
// without the name of the property.
func (t *translator) property() error {
	end := strings.IndexByte(t.rest, '}')
	if end < 0 || t.rest[2] != '{' {
		return fmt.Errorf(`\%c is followed by a property in braces`, t.rest[1])
	}
	name := t.rest[3:end]
	for _, property := range []string{"Script=", "sc=", "Script_Extensions=", "scx=", "General_Category=", "gc="} {
		name = strings.TrimPrefix(name, property)
	}
	t.take(end+1, t.rest[:2]+"{"+name+"}")
	return nil
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
