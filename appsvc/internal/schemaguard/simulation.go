package schemaguard

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// simulation matches a pattern by following all alternatives of its program at once, as matchers do that never go back
// (Thompson's algorithm). So it takes at most as many steps as the text has characters times the instructions of the
// program. It matches patterns with lookarounds, and counts the steps of those that package regexp matches.
//
// Without back-references, whether a lookaround holds at a place depends on the text and the place alone. So each
// lookaround is decided for all places before the pattern around it is matched, in one pass over the text: backwards
// for what looks ahead, forwards for what looks behind.
type simulation struct {
	pattern     *pattern
	at          []int      // the position, over all texts, at which each instruction was last reached
	holds       [][]uint64 // a bit for each place of the text at which a lookaround's part matches
	queue, next []uint32
	stack       []uint32
	position    int
	taken, most int64
}

// newSimulation returns a matcher for a pattern without back-references.
func newSimulation(p *pattern) *simulation {
	most := 0
	for i := range p.parts {
		most = max(most, len(p.parts[i].program.Inst))
	}
	return &simulation{pattern: p, at: make([]int, most), holds: make([][]uint64, len(p.parts)-1)}
}

// work decides the lookarounds, the inner ones first, and then matches the pattern.
func (m *simulation) work(s string, most int64) (taken int64, found bool) {
	m.taken, m.most = 0, most
	for i := range m.holds {
		if m.taken+int64(len(s)) > most { // a pass takes this much at least
			return most + 1, false
		}
		m.holds[i] = slices.Grow(m.holds[i][:0], len(s)/64+1)[:len(s)/64+1]
		clear(m.holds[i])
		m.scan(&m.pattern.parts[i], s, m.holds[i])
	}
	found = m.scan(&m.pattern.parts[len(m.holds)], s, nil)
	return m.taken, found
}

// scan follows the program of a part over s, beginning at all places at once. If holds is nil it returns whether the
// part matches anywhere. Otherwise it sets the bit of each place where a match ends.
func (m *simulation) scan(p *part, s string, holds []uint64) (found bool) {
	m.queue = m.queue[:0]
	at, last := 0, rune(-1) // where it is, and the character that was read last
	if p.backwards {
		at = len(s)
	}
	for first := true; ; first = false {
		if first || !p.anchored {
			m.queue = append(m.queue, uint32(p.program.Start))
		}
		if len(m.queue) == 0 || m.taken > m.most {
			return found
		}
		next, width := rune(-1), 0
		if p.backwards && at > 0 {
			next, width = utf8.DecodeLastRuneInString(s[:at])
		} else if !p.backwards && at < len(s) {
			next, width = utf8.DecodeRuneInString(s[at:])
		}
		m.taken++
		if m.step(p, at, last, next) {
			found = true
			if holds != nil {
				holds[at/64] |= 1 << (at % 64)
			} else if m.pattern.re == nil { // else the count is for package regexp, which may go on
				return true
			}
		}
		switch {
		case width == 0:
			return found
		case p.backwards:
			at -= width
		default:
			at += width
		}
		last = next
	}
}

// step follows the program over the character next, and reports whether the program ends before it. last is the
// character that was read before. Both are -1 at an end of the text.
func (m *simulation) step(p *part, at int, last, next rune) (ends bool) {
	met := syntax.EmptyOpContext(last, next)
	if p.backwards {
		met = syntax.EmptyOpContext(next, last)
	}
	m.position++
	m.next = m.next[:0]
	for _, start := range m.queue {
		m.stack = append(m.stack[:0], start)
		for len(m.stack) > 0 && m.taken <= m.most {
			pc := m.stack[len(m.stack)-1]
			m.stack = m.stack[:len(m.stack)-1]
			if m.at[pc] == m.position {
				continue
			}
			m.at[pc] = m.position
			m.taken++
			switch in := &p.program.Inst[pc]; in.Op {
			case syntax.InstAlt, syntax.InstAltMatch:
				m.stack = append(m.stack, in.Arg, in.Out)
			case syntax.InstCapture:
				if m.passes(p, in.Arg, at) {
					m.stack = append(m.stack, in.Out)
				}
			case syntax.InstNop:
				m.stack = append(m.stack, in.Out)
			case syntax.InstEmptyWidth:
				if syntax.EmptyOp(in.Arg)&^met == 0 {
					m.stack = append(m.stack, in.Out)
				}
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				if next >= 0 && in.MatchRune(next) {
					m.next = append(m.next, in.Out)
				}
			case syntax.InstMatch:
				ends = true
			}
		}
	}
	m.queue, m.next = m.next, m.queue
	return ends
}

// passes reports whether the program goes on where a group begins or ends: always, except at the group of a lookaround
// that does not hold here.
func (m *simulation) passes(p *part, group uint32, at int) bool {
	if len(p.marks) == 0 || p.marks[group/2].kind != 'l' {
		return true
	}
	n := p.marks[group/2].n
	return m.holds[n][at/64]>>(at%64)&1 == 1 != m.pattern.parts[n].negative
}
