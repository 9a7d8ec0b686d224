package storage

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Merge implements Scan for a driver that can scan one range.
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
			rest  string // the part of the key that is compared
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
		var active []*source // in the order of their entries
		// advance reads the next entry of a source. ok is false if there is none.
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
				active = append(active, s)
			}
		}
		slices.SortFunc(active, compare)
		for len(active) > 0 {
			s := active[0]
			if !yield(s.entry, nil) {
				return
			}
			ok, err := advance(s)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			active = active[1:]
			if ok {
				i, _ := slices.BinarySearchFunc(active, s, compare)
				active = slices.Insert(active, i, s)
			}
		}
	}
}

// inTurn returns ranges in the order in which they can be scanned one after the other. ok is false if they overlap, or
// if a part of the keys is skipped in comparisons.
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

// Portions yields the entries of one range, for a driver that reads some at a time. read returns about n entries of the
// range in, and the rest of the range. The first call asks for first entries, or as many as are expected, and later
// calls for more, up to most.
func Portions(
	in Range, first, most int, read func(in Range, n int) (list []Entry, rest Range, more bool, err error),
) iter.Seq2[Entry, error] {
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

// Spaces implements Reader.Spaces for a driver that can scan one range: it looks for the first key of each space.
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
