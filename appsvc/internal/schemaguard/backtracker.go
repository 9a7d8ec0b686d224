package schemaguard

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxStack is how many choices a backtracker keeps. A match that needs more counts as one that takes too many steps.
const maxStack = 1 << 18

// backtracker matches a pattern with back-references the way ECMA 262 defines it: it tries one alternative after the
// other and goes back where one fails. The time may grow exponentially with the text, as for every matcher that has
// back-references, so each step is counted.
//
// It runs the programs of package regexp/syntax. What those do not have is marked by empty groups with a mark (see
// mark): a group of the pattern saves a place, a back-reference reads what a group has matched, a lookaround runs
// another program.
type backtracker struct {
	pattern     *pattern
	text        string
	slots       []int // three for each group: where it was opened, where its last match begins and ends; then one for each loop
	stack       []choice
	taken, most int64
}

// choice is an entry of the stack. It is either an alternative that was not tried yet: the instruction pc at a place of
// the text. Or, with a negative pc, it is the value that a slot had before it was set, which going back restores.
type choice struct {
	pc    int32 // or the slot, as its complement
	value int32 // the place in the text, or the value of the slot
}

// loop is a repetition in a pattern with back-references.
type loop struct {
	least  int   // how many iterations it has at least
	groups []int // whose matches each iteration forgets
}

// newBacktracker returns a matcher for a pattern with back-references.
func newBacktracker(p *pattern) *backtracker {
	return &backtracker{pattern: p, slots: make([]int, 3*p.groups+len(p.loops))}
}

// work tries to match at each place of the text, from the first on.
func (b *backtracker) work(s string, most int64) (taken int64, found bool) {
	b.text, b.taken, b.most = s, 0, most
	defer func() { b.text = "" }()
	whole := &b.pattern.parts[len(b.pattern.parts)-1]
	for at := 0; ; {
		for i := range b.slots {
			b.slots[i] = -1
		}
		b.taken += int64(len(b.slots))
		b.stack = b.stack[:0]
		if b.run(whole, at) {
			return b.taken, true
		}
		if b.taken > b.most || at == len(s) || whole.anchored {
			return b.taken, false
		}
		_, width := utf8.DecodeRuneInString(s[at:])
		at += width
	}
}

// run reports whether a part matches at a place of the text. If it does, the alternatives that are left and the earlier
// values of slots stay on the stack, for a later failure. If it does not, the stack and the slots are as they were
// before. If more steps are taken than allowed, the result means nothing, and taken exceeds most.
func (b *backtracker) run(p *part, at int) bool {
	base, pc := len(b.stack), uint32(p.program.Start)
	for {
		if b.taken++; b.taken > b.most {
			return false
		}
		in, ok := &p.program.Inst[pc], true
		pc = in.Out
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			b.push(choice{int32(in.Arg), int32(at)})
		case syntax.InstCapture:
			at, ok = b.group(p, in.Arg, at)
		case syntax.InstEmptyWidth:
			before, after, _ := b.around(at)
			ok = syntax.EmptyOp(in.Arg)&^syntax.EmptyOpContext(before, after) == 0
		case syntax.InstMatch:
			return true
		case syntax.InstFail:
			ok = false
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			at, ok = b.read(p, in, at)
		}
		if !ok {
			back, more := b.back(base)
			if !more {
				return false
			}
			pc, at = uint32(back.pc), int(back.value)
		}
	}
}

// push puts a choice on the stack. A stack that is full ends the match as one that takes too many steps.
func (b *backtracker) push(c choice) {
	b.stack = append(b.stack, c)
	b.taken++
	if len(b.stack) > maxStack {
		b.taken = b.most + 1
	}
}

// back takes the last alternative above base from the stack, and restores the slots that were set since. It returns
// false if there is no alternative.
func (b *backtracker) back(base int) (choice, bool) {
	for len(b.stack) > base {
		c := b.stack[len(b.stack)-1]
		b.stack = b.stack[:len(b.stack)-1]
		if c.pc >= 0 {
			return c, true
		}
		b.slots[^c.pc] = int(c.value)
	}
	return choice{}, false
}

// set sets a slot, so that going back restores its value.
func (b *backtracker) set(slot, value int) {
	if old := b.slots[slot]; old != value {
		b.push(choice{^int32(slot), int32(old)})
		b.slots[slot] = value
	}
}

// around returns the characters before and after a place, -1 at the ends, and the length of both.
func (b *backtracker) around(at int) (before, after rune, widths [2]int) {
	before, after = -1, -1
	if at > 0 {
		before, widths[0] = utf8.DecodeLastRuneInString(b.text[:at])
	}
	if at < len(b.text) {
		after, widths[1] = utf8.DecodeRuneInString(b.text[at:])
	}
	return before, after, widths
}

// read matches the next character with an instruction. It returns the place behind it, and whether it matches.
func (b *backtracker) read(p *part, in *syntax.Inst, at int) (int, bool) {
	before, after, widths := b.around(at)
	if p.backwards {
		return at - widths[0], before >= 0 && in.MatchRune(before)
	}
	return at + widths[1], after >= 0 && in.MatchRune(after)
}

// group carries out what a group of the program stands for, where it begins and where it ends (see mark). It returns
// the place where the program goes on, and false if this alternative has failed.
func (b *backtracker) group(p *part, arg uint32, at int) (int, bool) {
	m, begins := mark{}, arg%2 == 0
	if arg >= 2 { // else the whole match
		m = p.marks[arg/2]
	}
	loops := 3 * b.pattern.groups
	switch {
	case m.kind == 'g' && begins:
		b.set(3*m.n, at)
	case m.kind == 'g':
		other := b.slots[3*m.n]
		b.set(3*m.n+1, min(other, at))
		b.set(3*m.n+2, max(other, at))
	case !begins: // all others are empty groups
	case m.kind == 'b':
		return b.again(p, m.n, at)
	case m.kind == 'l':
		return at, b.look(&b.pattern.parts[m.n], at)
	case m.kind == 'i': // a repetition: as many iterations as it has at least may be empty
		b.set(loops+m.n, -1-b.pattern.loops[m.n].least)
	case m.kind == 'e': // an iteration
		if left := b.slots[loops+m.n]; left < -1 {
			b.set(loops+m.n, left+1)
		} else {
			b.set(loops+m.n, at)
		}
		groups := b.pattern.loops[m.n].groups
		b.taken += int64(len(groups))
		for _, group := range groups {
			b.set(3*group+1, -1)
			b.set(3*group+2, -1)
		}
	case m.kind == 'x': // its end
		return at, b.slots[loops+m.n] != at
	}
	return at, true
}

// again matches the text that a group has matched. A group that has matched nothing matches the empty text, as ECMA 262
// has it.
func (b *backtracker) again(p *part, group, at int) (int, bool) {
	start, end := b.slots[3*group+1], b.slots[3*group+2]
	if start < 0 {
		return at, true
	}
	b.taken += int64(end-start) / 16
	if p.backwards {
		return at - (end - start), strings.HasSuffix(b.text[:at], b.text[start:end])
	}
	return at + end - start, strings.HasPrefix(b.text[at:], b.text[start:end])
}

// look reports whether a lookaround holds at a place. The groups in a positive one keep what they have matched, and its
// other alternatives are dropped: ECMA 262 never goes back into a lookaround.
func (b *backtracker) look(p *part, at int) bool {
	base := len(b.stack)
	if !b.run(p, at) {
		return p.negative
	}
	if p.negative {
		for more := true; more; {
			_, more = b.back(base)
		}
		return false
	}
	kept := slices.DeleteFunc(b.stack[base:], func(c choice) bool { return c.pc >= 0 })
	b.stack = b.stack[:base+len(kept)]
	return true
}

// loop puts marks into the repetitions of a tree. ECMA 262 forgets what the groups in a repetition have matched when an
// iteration begins, and refuses an empty iteration beyond the least number of iterations.
func (p *pattern) loop(re *syntax.Regexp, own *part) *syntax.Regexp {
	for i, sub := range re.Sub {
		re.Sub[i] = p.loop(sub, own)
	}
	least := 0
	switch re.Op {
	case syntax.OpStar, syntax.OpQuest:
	case syntax.OpPlus:
		least = 1
	case syntax.OpRepeat:
		least = re.Min
	default:
		return re
	}
	groups := p.groupsIn(re.Sub[0], own)
	if len(groups) == 0 && !p.nullable(re.Sub[0], own) {
		return re
	}
	p.loops = append(p.loops, loop{least, groups})
	n := len(p.loops) - 1
	re.Sub[0] = concat(own.mark('e', n), re.Sub[0], own.mark('x', n))
	return concat(own.mark('i', n), re)
}

// concat returns a tree that matches these trees one after the other.
func concat(subs ...*syntax.Regexp) *syntax.Regexp {
	return &syntax.Regexp{Op: syntax.OpConcat, Flags: syntax.Perl, Sub: subs}
}

// mark returns an empty group that stands for something of a loop, see mark.
func (own *part) mark(kind byte, loop int) *syntax.Regexp {
	own.marks = append(own.marks, mark{kind, loop})
	return &syntax.Regexp{Op: syntax.OpCapture, Flags: syntax.Perl, Cap: len(own.marks) - 1,
		Sub: []*syntax.Regexp{{Op: syntax.OpEmptyMatch, Flags: syntax.Perl}}}
}

// groupsIn returns the groups in a tree, also those in its lookarounds.
func (p *pattern) groupsIn(re *syntax.Regexp, own *part) (groups []int) {
	if re.Op == syntax.OpCapture {
		switch m := own.marks[re.Cap]; m.kind {
		case 'g':
			groups = append(groups, m.n)
		case 'l':
			groups = append(groups, p.parts[m.n].groups...)
		}
	}
	for _, sub := range re.Sub {
		groups = append(groups, p.groupsIn(sub, own)...)
	}
	return groups
}

// nullable reports whether a tree may match the empty text.
func (p *pattern) nullable(re *syntax.Regexp, own *part) bool {
	switch re.Op {
	case syntax.OpNoMatch, syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return p.nullable(re.Sub[0], own)
	case syntax.OpRepeat:
		return re.Min == 0 || p.nullable(re.Sub[0], own)
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !p.nullable(sub, own) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return p.nullable(sub, own) })
	}
	return true
}
