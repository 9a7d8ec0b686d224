package schemaguard

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

var errLargePattern = fmt.Errorf("with this one the patterns of the schema are too large once their repetitions are written out: "+
	"at most %d steps together are allowed", maxProgram)

// pattern is a compiled pattern. It satisfies jsonschema.Regexp.
type pattern struct {
	text    string
	re      *regexp.Regexp
	program *syntax.Prog
}

// String returns the pattern as the schema has it.
func (p *pattern) String() string { return p.text }

// MatchString reports whether the pattern matches anywhere in s.
func (p *pattern) MatchString(s string) bool { return p.re.MatchString(s) }

// compilePattern compiles an ECMA 262 pattern into one of at most most steps.
func compilePattern(text string, most int) (*pattern, error) {
	translated, err := translate(text)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be used: %w", shorten(text), err)
	}
	tree, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be used: %s", shorten(text), reason(err))
	}
	if steps(tree, most) > most {
		return nil, errLargePattern
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be used: %s", shorten(text), reason(err))
	}
	re, err := regexp.Compile(translated)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be used: %s", shorten(text), reason(err))
	}
	return &pattern{text, re, program}, nil
}

func reason(err error) string {
	var bad *syntax.Error
	if errors.As(err, &bad) {
		return fmt.Sprintf("%s in %q", bad.Code, shorten(bad.Expr))
	}
	return err.Error()
}

// steps bounds the size of the program that re compiles to, without building it.
func steps(re *syntax.Regexp, most int) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCapture:
		n = 2
	case syntax.OpAlternate:
		n = len(re.Sub)
	case syntax.OpConcat:
		n = 0
	}
	for _, sub := range re.Sub {
		n += steps(sub, most)
	}
	if re.Op == syntax.OpRepeat { // n is one more than what is repeated: a branch for each time
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, most+1) // no overflow on nested repetitions
}

// matcher counts what matching a pattern takes, by a simulation of its program that follows all
// alternatives at once, as the matchers do that never go back.
type matcher struct {
	program     *syntax.Prog
	anchored    bool
	at          []int // the position, over all texts, at which each instruction was last reached
	queue, next []uint32
	stack       []uint32
	position    int
	taken, most int64
	matched     bool
}

func newMatcher(p *pattern) *matcher {
	return &matcher{
		program:  p.program,
		anchored: p.program.StartCond()&syntax.EmptyBeginText != 0,
		at:       make([]int, len(p.program.Inst)),
	}
}

// work returns how many steps it takes at most to look for the pattern in s, counted up to most,
// and notes whether it was found.
func (m *matcher) work(s string, most int64) int64 {
	m.taken, m.most, m.matched = 0, most, false
	m.queue = m.queue[:0]
	before := rune(-1)
	for i, r := range s {
		if i == 0 || !m.anchored {
			m.queue = append(m.queue, uint32(m.program.Start))
		}
		if len(m.queue) == 0 || m.taken > m.most {
			return m.taken
		}
		m.taken++
		m.step(before, r)
		before = r
	}
	if s == "" || !m.anchored {
		m.queue = append(m.queue, uint32(m.program.Start))
	}
	m.step(before, -1)
	return m.taken
}

// step follows the program over r, which stands behind before. -1 is either end of the text.
func (m *matcher) step(before, r rune) {
	met := syntax.EmptyOpContext(before, r)
	m.position++
	m.next = m.next[:0]
	for _, start := range m.queue {
		m.stack = append(m.stack[:0], start)
		for len(m.stack) > 0 && m.taken <= m.most {
			pc := m.stack[len(m.stack)-1]
			m.stack = m.stack[:len(m.stack)-1]
			if m.at[pc] != m.position {
				m.at[pc] = m.position
				m.taken++
				m.follow(&m.program.Inst[pc], r, met)
			}
		}
	}
	m.queue, m.next = m.next, m.queue
}

func (m *matcher) follow(in *syntax.Inst, r rune, met syntax.EmptyOp) {
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		m.stack = append(m.stack, in.Arg, in.Out)
	case syntax.InstCapture, syntax.InstNop:
		m.stack = append(m.stack, in.Out)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(in.Arg)&^met == 0 {
			m.stack = append(m.stack, in.Out)
		}
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		if r >= 0 && in.MatchRune(r) {
			m.next = append(m.next, in.Out)
		}
	case syntax.InstMatch:
		m.matched = true
	}
}
