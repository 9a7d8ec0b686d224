package storage

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Merge yields what Scan shall, for a driver that has a scan of one range.
func Merge(ranges []Range, scan func(Range) iter.Seq2[Entry, error]) iter.Seq2[Entry, error] {
	if len(ranges) == 1 {
		return scan(ranges[0])
	}
	if in, ok := inTurn(ranges); ok {
		return func(yield func(Entry, error) bool) {
			for _, r := range in {
				for e, err := range scan(r) {
					if !yield(e, err) || err != nil {
						return
					}
				}
			}
		}
	}
	return func(yield func(Entry, error) bool) {
		type source struct {
			next  func() (Entry, error, bool)
			entry Entry
			rest  string // of the key, what is compared
			skip  int
			place int // of its range
		}
		direction := 1
		if len(ranges) > 0 && ranges[0].Reverse {
			direction = -1
		}
		compare := func(a, b *source) int {
			return cmp.Or(direction*strings.Compare(a.rest, b.rest), a.place-b.place)
		}
		var open []*source // in the order of their entries
		// advance reads the next entry of a source. ok is false if there is none, or yield wants no more.
		advance := func(s *source) (ok bool, err error) {
			s.entry, err, ok = s.next()
			s.rest = s.entry.Key[min(s.skip, len(s.entry.Key)):]
			return ok, err
		}
		for i, r := range ranges {
			next, stop := iter.Pull2(scan(r))
			defer stop()
			s := &source{next: next, skip: r.Skip, place: i}
			ok, err := advance(s)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if ok {
				open = append(open, s)
			}
		}
		slices.SortFunc(open, compare)
		for len(open) > 0 {
			s := open[0]
			if !yield(s.entry, nil) {
				return
			}
			ok, err := advance(s)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			open = open[1:]
			if ok {
				i, _ := slices.BinarySearchFunc(open, s, compare)
				open = slices.Insert(open, i, s)
			}
		}
	}
}

// inTurn returns ranges in the order in which they can be scanned one after the other. ok is false if they overlap, or if not all of
// the keys is compared.
func inTurn(ranges []Range) (in []Range, ok bool) {
	in = slices.SortedFunc(slices.Values(ranges), func(a, b Range) int { return strings.Compare(a.From, b.From) })
	for i, r := range in {
		if r.Skip > 0 || i > 0 && (in[i-1].To == "" || in[i-1].To > r.From) {
			return nil, false
		}
	}
	if len(in) > 0 && in[0].Reverse {
		slices.Reverse(in)
	}
	return in, true
}

// Portions yields the entries of one range, for a driver that reads some at a time: n of the range in, about, and then what is left of
// the range, unless there is nothing more. It begins with first entries, or as many as are expected, and goes on with more, up to most.
func Portions(in Range, first, most int, read func(in Range, n int) (list []Entry, rest Range, more bool, err error)) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		left, more := in.Limit, true
		for n := min(cmp.Or(in.Expect, first), most); more; n = min(4*n, most) {
			if left > 0 {
				n = min(n, left)
			}
			var list []Entry
			var err error
			list, in, more, err = read(in, n)
			for _, e := range list {
				if left--; !yield(e, nil) || left == 0 {
					return
				}
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
		}
	}
}

// Spaces yields what the Spaces of a Reader shall, for a driver that has a scan of one range: it looks for the first key of each space.
func Spaces(prefix string, scan func(Range) iter.Seq2[Entry, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for in := Prefix(prefix); ; {
			space := ""
			in.Limit = 1
			for e, err := range scan(in) {
				if err != nil {
					yield("", err)
					return
				}
				space = SpaceOf(e.Key)
			}
			if space == "" || strings.HasPrefix(space, prefix) && !yield(space, nil) {
				return
			}
			in.From = Prefix(space + " ").To
		}
	}
}
