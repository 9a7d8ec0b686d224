package records

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// AtOnce is the maximum number of apps that are read in one trip to the store.
const AtOnce = 64

// Position is a position in a list of apps: CreatedAt or UpdatedAt of an app, by which the list is sorted, and
// its ID. It may have no app.
type Position struct {
	Time int64
	ID   string
}

// List is lists of apps, merged, in one order.
type List struct {
	Lists      []int64 // their numbers
	ByUpdate   bool    // by the time of the latest version; otherwise by that of the first
	Descending bool
	After      *Position // only apps after this position; nil = from the start
	Expect     int       // how many the caller needs
}

// Positions yields the positions of the apps of lists in their order, each once. It is by time, and then by ascending
// ID.
func (r Reader) Positions(ctx context.Context, of List) iter.Seq2[Position, error] {
	w := listWalk{ctx, r, CreatedKind, of.Lists, of.Expect}
	if of.ByUpdate {
		w.kind = UpdatedKind
	}
	if !of.Descending {
		return w.forward(of.After)
	}
	return func(yield func(Position, error) bool) { w.backward(of.After, yield) }
}

// InList returns the range of the records of apps of a list.
func InList(number int64) storage.Range { return Under(CreatedKind, keyval.Number(number)) }

// WithWord returns the range of the records of apps with a word in their titles that begins so.
func WithWord(word string) storage.Range { return storage.Prefix(Key(WordKind, shortWord(word))) }

// AppsIn yields the ids of the apps in a range of used/ or word/.
func (r Reader) AppsIn(ctx context.Context, in storage.Range) iter.Seq2[string, error] {
	return keyval.Map(r.Scan(ctx, in), func(e storage.Entry) (string, error) {
		return keyval.Unescape(e.Key[strings.LastIndexByte(e.Key, ' ')+1:]), nil
	})
}

// listWalk reads lists of apps by time.
type listWalk struct {
	ctx    context.Context
	r      Reader
	kind   string // CreatedKind or UpdatedKind
	lists  []int64
	expect int
}

// forward yields the positions after a position, or all if it is nil, whose keys begin with these parts after the list.
func (w listWalk) forward(after *Position, parts ...string) iter.Seq2[Position, error] {
	return w.scan(func(list string) storage.Range {
		in := Under(w.kind, append([]string{list}, parts...)...)
		if after != nil {
			in.From = keyAfter(Key(w.kind, list, keyval.Number(after.Time), after.ID))
		}
		return in
	})
}

// scan yields the positions in ranges of the lists, merged, each once.
func (w listWalk) scan(rangeOf func(list string) storage.Range) iter.Seq2[Position, error] {
	ranges := make([]storage.Range, len(w.lists))
	for i, n := range w.lists {
		list := keyval.Number(n)
		ranges[i] = rangeOf(list)
		ranges[i].Expect, ranges[i].Skip = w.expect, len(keyval.Prefix(Space, w.kind, list))
	}
	return func(yield func(Position, error) bool) {
		last, any := Position{}, false
		for e, err := range w.r.Scan(w.ctx, ranges...) {
			var p Position
			if err == nil {
				name := Parts(e.Key, w.kind)
				p.ID = name[2]
				p.Time, err = keyval.ParseNumber(name[1])
			}
			if err == nil && any && p == last {
				continue
			}
			if !yield(p, err) || err != nil {
				return
			}
			last, any = p, true
		}
	}
}

// backward yields the positions after a position, or all if it is nil, in descending order of time. Those of one time
// are in ascending order of ids nevertheless: they are read in descending order and reversed, or read again if there
// are many.
func (w listWalk) backward(after *Position, yield func(Position, error) bool) {
	const many = 64
	before := int64(math.MaxInt64) // positions with this time or a later one were yielded
	if after != nil {
		before = after.Time + 1
	}
	for {
		var same []Position // of one time
		flush := func() bool {
			for _, p := range slices.Backward(same) {
				if after != nil && p.Time == after.Time && p.ID <= after.ID {
					continue
				}
				if !yield(p, nil) {
					return false
				}
			}
			same = same[:0]
			return true
		}
		for p, err := range w.scan(func(list string) storage.Range {
			in := Under(w.kind, list)
			in.To, in.Reverse = Under(w.kind, list, keyval.Number(before)).From, true
			return in
		}) {
			if err != nil {
				yield(p, err)
				return
			}
			if len(same) > 0 && same[0].Time != p.Time && !flush() {
				return
			}
			if same = append(same, p); len(same) > many {
				break
			}
		}
		if len(same) <= many {
			flush()
			return
		}
		before = same[0].Time
		from := after
		if after != nil && after.Time != before {
			from = nil
		}
		for p, err := range w.forward(from, keyval.Number(before)) {
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}
