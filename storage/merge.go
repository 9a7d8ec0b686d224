package storage

import (
	"cmp"
	"iter"
)

// Merge yields what Scan shall, for a driver that has a scan of one range.
func Merge(ranges []Range, scan func(Range) iter.Seq2[Entry, error]) iter.Seq2[Entry, error] {
	if len(ranges) == 1 {
		return scan(ranges[0])
	}
	return func(yield func(Entry, error) bool) {
		type source struct {
			next  func() (Entry, error, bool)
			entry Entry
			rest  string // of the key, what is compared
			skip  int
		}
		var open []*source
		// advance reads the next entry of a source. ok is false if there is none, or yield wants no more.
		advance := func(s *source) (ok bool, err error) {
			s.entry, err, ok = s.next()
			s.rest = s.entry.Key[min(s.skip, len(s.entry.Key)):]
			return ok, err
		}
		for _, r := range ranges {
			next, stop := iter.Pull2(scan(r))
			defer stop()
			s := &source{next: next, skip: r.Skip}
			ok, err := advance(s)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if ok {
				open = append(open, s)
			}
		}
		direction := 1
		if len(ranges) > 0 && ranges[0].Reverse {
			direction = -1
		}
		for len(open) > 0 {
			first := 0
			for i, s := range open {
				if direction*cmp.Compare(s.rest, open[first].rest) < 0 {
					first = i
				}
			}
			s := open[first]
			if !yield(s.entry, nil) {
				return
			}
			ok, err := advance(s)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !ok {
				open = append(open[:first:first], open[first+1:]...)
			}
		}
	}
}
