package schemaguard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What the classes of ECMA 262 stand for where regexp has others by the same name.
const (
	space    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	notSpace = `\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	anything = `\x00-\x{10ffff}`
	noBreak  = `[^\n\r\x{2028}\x{2029}]`
)

var (
	errLook      = errors.New("looking ahead or behind, (?= (?! (?<= or (?<!, is not supported")
	errBackward  = errors.New("references to what a group matched are not supported")
	errBackslash = errors.New(`it ends with \`)
)

// translate writes an ECMA 262 pattern, in its Unicode form, for package regexp, which has no
// looking around and no references back, and names some classes and characters otherwise. What is
// wrong in both languages is left for regexp to refuse.
func translate(pattern string) (string, error) {
	t := translator{rest: pattern}
	for t.rest != "" {
		if err := t.next(); err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

type translator struct {
	rest    string
	out     strings.Builder
	inClass bool
}

func (t *translator) take(n int, as string) {
	t.rest = t.rest[n:]
	t.out.WriteString(as)
}

func (t *translator) next() error {
	switch c := t.rest[0]; {
	case c == '\\':
		return t.escape()
	case t.inClass && c == ']':
		t.inClass = false
		t.take(1, "]")
	case t.inClass && c == '[':
		t.take(1, `\[`)
	case t.inClass:
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
	case looks(t.rest):
		return errLook
	default:
		t.take(1, string([]byte{c}))
	}
	return nil
}

func looks(rest string) bool {
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(rest, look) {
			return true
		}
	}
	return false
}

// escape translates what begins with a backslash.
func (t *translator) escape() error {
	if len(t.rest) < 2 {
		return errBackslash
	}
	switch c := t.rest[1]; {
	case c == 's':
		t.set(space)
	case c == 'S':
		t.set(notSpace)
	case c == '0' && (len(t.rest) == 2 || t.rest[2] < '0' || t.rest[2] > '9'):
		t.take(2, `\x00`)
	case c >= '0' && c <= '9' && !t.inClass, c == 'k':
		return errBackward
	case c == 'b' && t.inClass:
		t.take(2, `\x08`)
	case c == 'c' && len(t.rest) > 2 && isLetter(t.rest[2]):
		t.take(3, fmt.Sprintf(`\x{%x}`, t.rest[2]%32))
	case c == 'u':
		return t.unicode()
	case c == 'p' || c == 'P':
		return t.property()
	case strings.IndexByte("dDwWtnrfvxbB", c) >= 0 || !isLetter(c) && (c < '0' || c > '9'):
		t.take(2, t.rest[:2])
	default: // what regexp has and ECMA 262 does not
		return fmt.Errorf("\\%c means nothing", c)
	}
	return nil
}

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

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
