package schemaguard

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"sync"
)

// errMuchPattern is the error of a pattern that exceeds MaxPattern together with those before it.
var errMuchPattern = fmt.Errorf("with this one the schema has more than %d bytes of patterns", MaxPattern)

// errLargePattern is the error of a pattern whose program exceeds maxProgram, alone or together with those before it.
var errLargePattern = fmt.Errorf("with this one the patterns of the schema are too large once their repetitions are written out: "+
	"at most %d steps together are allowed", maxProgram)

// maxSteps bounds the work of a match that package regexp cannot do. The budget of a config is far
// below it; it is for engines that are used without one.
const maxSteps = 1 << 25

// pattern is a compiled pattern. It satisfies jsonschema.Regexp. It is safe for concurrent use: the matchers, which are
// not, come from a pool.
type pattern struct {
	text   string
	re     *regexp.Regexp // nil if only a matcher of ours can match it
	parts  []part         // what lookarounds hold, an inner one before the outer one; the pattern itself last
	groups int            // of a pattern with back-references, 0 of others
	folded int            // see translation
	loops  []loop         // the repetitions of a pattern with back-references
	free   sync.Pool      // of matchers that are not in use
}

// part is the compiled program of the pattern itself, or of the body of one of its lookarounds.
type part struct {
	program   *syntax.Prog
	marks     []mark // by the number of the group in the program
	backwards bool   // it reads the text from its end
	anchored  bool   // it begins at that end of the text where reading begins
	negative  bool   // the lookaround holds where this does not match
	groups    []int  // of the pattern that are in it, if there are back-references
}

// mark is what a group of a program stands for. These are the kinds, and what n is:
//
//	'g'            a group of the pattern; its number
//	'l'            a lookaround; the index of its part
//	'b'            a back-reference; the number of the group that it names
//	'c'            a repetition that is counted by us; its index in translation.counts
//	'i', 'e', 'x'  the beginning of a loop, and the beginning and the end of one iteration; the index of the loop
type mark struct {
	kind byte
	n    int
}

// matcher looks for one pattern in texts and counts what that takes.
type matcher interface {
	// work returns how many steps it takes to look for the pattern in s, and whether it is found.
	// It gives up, without a verdict, when more than most steps are taken.
	work(s string, most int64) (taken int64, found bool)
}

// matcher returns a new matcher, which may be used for one text after the other.
func (p *pattern) matcher() matcher {
	if p.groups > 0 {
		return newBacktracker(p)
	}
	return newSimulation(p)
}

// String returns the pattern as the schema has it.
func (p *pattern) String() string { return p.text }

// MatchString reports whether the pattern matches anywhere in s. It panics with ErrCostly if a matcher of ours takes
// more than maxSteps steps: jsonschema.Regexp has no error to return. Package regexp always takes linear time.
func (p *pattern) MatchString(s string) bool {
	if p.re != nil {
		return p.re.MatchString(s)
	}
	m, ok := p.free.Get().(matcher)
	if !ok {
		m = p.matcher()
	}
	taken, found := m.work(s, maxSteps)
	if taken > maxSteps {
		panic(ErrCostly)
	}
	p.free.Put(m)
	return found
}

// size is how many instructions the pattern has.
func (p *pattern) size() int {
	n := 0
	for i := range p.parts {
		n += len(p.parts[i].program.Inst)
	}
	return n
}

// compilePattern compiles an ECMA 262 pattern whose programs have at most most instructions together. Package regexp
// matches what it can. Lookarounds are simulated, in time linear in the text. Only patterns with back-references are
// matched by trying and going back, whose time the caller must bound.
func compilePattern(text string, most int) (*pattern, error) {
	p, err := compileTranslated(text, most)
	if err != nil && err != errLargePattern {
		return nil, fmt.Errorf("the pattern %q cannot be used: %s", shorten(text), reason(err))
	}
	return p, err
}

// compileTranslated compiles a pattern: it translates and parses the pattern, turns the groups of the translation into
// marks, reverses the parts that are read from the end, and compiles each part.
func compileTranslated(text string, most int) (*pattern, error) {
	t, trees, err := parsePattern(text)
	if err != nil {
		return nil, err
	}
	p := &pattern{text: text, folded: t.folded}
	if len(t.backs) > 0 {
		p.groups = t.groups + 1
	}
	for i, tree := range trees {
		var own part
		look := lookaround{} // the pattern itself
		if i < len(t.looks) {
			look = t.looks[i]
			own.negative = look.negative
		}
		if t.special() {
			own.marks = marksOf(tree.CapNames(), t.backs)
			own.count(tree, t.counts)
		}
		if p.groups > 0 { // going back reads ahead forwards and behind backwards
			own.backwards = i < len(t.looks) && !look.ahead
		} else { // a simulation asks at each place whether something ends here that began further on, or before
			own.backwards = look.ahead
		}
		if own.backwards {
			reverse(tree)
		}
		if p.groups > 0 {
			own.groups = p.groupsIn(tree, &own)
			tree = p.loop(tree, &own)
		}
		if most -= steps(tree, most); most < 0 {
			return nil, errLargePattern
		}
		if own.program, err = syntax.Compile(tree.Simplify()); err != nil {
			return nil, err
		}
		end := syntax.EmptyBeginText
		if own.backwards {
			end = syntax.EmptyEndText
		}
		own.anchored = own.program.StartCond()&end != 0
		p.parts = append(p.parts, own)
	}
	if !t.special() {
		p.re, err = regexp.Compile(t.text)
	}
	return p, err
}

// marksOf returns what each group of a tree stands for, by the names that the translation gave to groups.
func marksOf(names []string, backs []int) []mark {
	marks := make([]mark, len(names))
	for i, name := range names {
		if name == "" {
			continue
		}
		n, _ := strconv.Atoi(name[1:])
		if name[0] == 'b' {
			n = backs[n]
		}
		marks[i] = mark{name[0], n}
	}
	return marks
}

// count puts the repetitions that the translation wrote as (?P<c0>…)* back into a tree as repetitions.
func (p *part) count(re *syntax.Regexp, counts [][2]int) {
	if re.Op == syntax.OpStar && re.Sub[0].Op == syntax.OpCapture && p.marks[re.Sub[0].Cap].kind == 'c' {
		times := counts[p.marks[re.Sub[0].Cap].n]
		re.Op, re.Min, re.Max = syntax.OpRepeat, times[0], times[1]
		re.Sub[0] = re.Sub[0].Sub[0]
	}
	for _, sub := range re.Sub {
		p.count(sub, counts)
	}
}

// reverse turns a tree into one that matches the same texts read from their end. ^ and $ keep their meaning.
func reverse(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		re.Rune = slices.Clone(re.Rune)
		slices.Reverse(re.Rune)
	case syntax.OpConcat:
		slices.Reverse(re.Sub)
	}
	for _, sub := range re.Sub {
		reverse(sub)
	}
}

// reason returns an error of package regexp/syntax without the words that are about Go.
func reason(err error) string {
	var bad *syntax.Error
	if errors.As(err, &bad) {
		return fmt.Sprintf("%s in %q", bad.Code, shorten(bad.Expr))
	}
	return err.Error()
}

// steps is an upper bound of the instructions that re compiles to, found without compiling it: a short pattern such as
// ((a{1000}){1000}){1000} would take gigabytes.
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
