package appsvc

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// atOnce is the maximum number of apps that are read in one trip to the store.
const atOnce = 64

// appQuery asks for the latest versions of apps that a caller may read, or for deleted ones that the caller could
// change.
type appQuery struct {
	by        vitrine.Caller
	deleted   bool
	component ComponentRef // of an element; "" = any, or any version
	group     string       // contains one of the groups of the app; "" = any
	owner     string       // "" = any
	words     []string     // each of them must begin a word of the title
	sort      Sort         // one of the four
	after     *appPosition // only apps after this position; nil = from the start
	limit     int          // the number of apps that the caller needs
}

// appPosition is a position in the order of an appQuery: CreatedAt or UpdatedAt of an app, by which it is sorted, and
// its ID. It may have no app.
type appPosition struct {
	Time int64
	ID   string
}

// match reports whether the app with this head matches q.
func (q appQuery) match(h appHead) bool {
	may := mayRead
	if q.deleted {
		may = mayUse
	}
	return (q.component.Name == "" || h.has(q.component)) && (q.owner == "" || q.owner == h.Owner) &&
		(q.group == "" || slices.ContainsFunc(h.Groups, func(g string) bool { return urn.Contains(q.group, g) })) &&
		(q.after == nil || q.compare(*q.after, q.position(h.App)) < 0) && may(q.by, h) && q.matchTitle(h.Title)
}

// matchTitle reports whether each word of q begins a word of a title.
func (q appQuery) matchTitle(title string) bool {
	if len(q.words) == 0 {
		return true
	}
	words := titleWords(title)
	return !slices.ContainsFunc(q.words, func(begin string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, begin) })
	})
}

// has reports whether an element has a component; "" means any version.
func (h appHead) has(c ComponentRef) bool {
	return slices.ContainsFunc(h.uses, func(u use) bool {
		return u.Name == c.Name && (c.Version == "" || slices.Contains(u.Versions, c.Version))
	})
}

// filtered reports whether q matches only some of the apps of a list.
func (q appQuery) filtered() bool {
	return q.component.Name != "" || q.group != "" || q.owner != "" || len(q.words) > 0
}

// position returns the position of an app in the order of q.
func (q appQuery) position(a App) appPosition {
	if q.byUpdate() {
		return appPosition{a.UpdatedAt, a.ID}
	}
	return appPosition{a.CreatedAt, a.ID}
}

func (q appQuery) byUpdate() bool   { return q.sort == UpdatedAscending || q.sort == UpdatedDescending }
func (q appQuery) descending() bool { return strings.HasPrefix(string(q.sort), "-") }

// compare is negative if the position a comes before b: by time in the direction of q.sort, and then by ascending ID.
// IDs are unique, so the order is total, and each cursor has one place in it.
func (q appQuery) compare(a, b appPosition) int {
	byTime := cmp.Compare(a.Time, b.Time)
	if q.descending() {
		byTime = -byTime
	}
	return cmp.Or(byTime, strings.Compare(a.ID, b.ID))
}

// positionsOf yields the positions of the apps that match q, in their order, reading size of them at a time. It merges
// the lists that the caller may read.
func (r *reader) positionsOf(ctx context.Context, q appQuery, size int) iter.Seq2[appPosition, error] {
	return func(yield func(appPosition, error) bool) {
		lists, err := r.listsOf(ctx, q)
		if err != nil {
			yield(appPosition{}, err)
		}
		if len(lists) == 0 {
			return
		}
		at := r.positions(ctx, q, lists)
		if q.filtered() {
			at = r.positionsWith(ctx, q, lists, size)
		}
		at(yield)
	}
}

// idsAt returns the ids of positions.
func idsAt(at []appPosition) []string {
	ids := make([]string, len(at))
	for i, p := range at {
		ids[i] = p.ID
	}
	return ids
}

// candidates returns the smallest range of index entries that includes all apps with the component and the words of q,
// and their approximate number. The last part of each key is the id of an app. few is -1 if q has neither component nor
// words.
func (r *reader) candidates(ctx context.Context, q appQuery) (in storage.Range, few int, err error) {
	var ranges []storage.Range
	if q.component.Name != "" {
		numbers, err := r.numbersOf(ctx, []string{keyOf(listKind, ofComponent, q.component.Name)})
		if err != nil || numbers[0] == 0 {
			return in, 0, err
		}
		ranges = append(ranges, under(usedKind, rec.Number(numbers[0])))
	}
	for _, word := range q.words {
		ranges = append(ranges, storage.Prefix(keyOf(wordKind, shortWord(word))))
	}
	few = -1
	for _, one := range ranges {
		n, err := r.r.Estimate(ctx, one)
		if err != nil {
			return in, 0, err
		}
		if few < 0 || n < few {
			in, few = one, n
		}
	}
	return in, few, nil
}

// positionsWith yields the positions of the apps of lists that match q, in the order of q. If an index has more than
// size candidates, or there is none, it scans the lists first, but no more apps than there are candidates. Then it
// reads the candidates instead, and sorts them. So it takes at most twice as long as the better of the two ways.
func (r *reader) positionsWith(ctx context.Context, q appQuery, lists []int64, size int) iter.Seq2[appPosition, error] {
	return func(yield func(appPosition, error) bool) {
		in, few, err := r.candidates(ctx, q)
		if err != nil {
			yield(appPosition{}, err)
		}
		if err != nil || few == 0 {
			return
		}
		if few < 0 || few > size {
			looked := 0
			for part, err := range rec.Chunks(r.positions(ctx, q, lists), atOnce) {
				var found []appPosition
				if err == nil {
					found, err = r.matching(ctx, q, idsAt(part))
				}
				if err != nil {
					yield(appPosition{}, err)
					return
				}
				for _, p := range found {
					if !yield(p, nil) {
						return
					}
				}
				if looked += len(part); few >= 0 && looked >= few {
					q.after = &part[len(part)-1]
					break
				}
			}
			if looked < few || few < 0 {
				return
			}
		}
		var all []appPosition
		for ids, err := range rec.Chunks(r.appsIn(ctx, in), 8*atOnce) {
			var found []appPosition
			if err == nil {
				found, err = r.matching(ctx, q, ids)
			}
			if err != nil {
				yield(appPosition{}, err)
				return
			}
			all = append(all, found...)
		}
		slices.SortFunc(all, q.compare)
		for _, p := range slices.Compact(all) { // an app is repeated if several words of its title match
			if !yield(p, nil) {
				return
			}
		}
	}
}

// matching returns the positions of the apps that match q.
func (r *reader) matching(ctx context.Context, q appQuery, ids []string) (at []appPosition, err error) {
	heads, err := r.heads(ctx, ids)
	for _, h := range heads {
		if q.match(h) {
			at = append(at, q.position(h.App))
		}
	}
	return at, err
}

// appsIn yields the ids of the apps in a range of used/ or word/.
func (r *reader) appsIn(ctx context.Context, in storage.Range) iter.Seq2[string, error] {
	return rec.Map(r.r.Scan(ctx, in), func(e storage.Entry) (string, error) {
		return rec.Unescape(e.Key[strings.LastIndexByte(e.Key, ' ')+1:]), nil
	})
}

// heads reads the heads of apps. It leaves out apps without a head: the index entries of deleted apps stay.
func (r *reader) heads(ctx context.Context, ids []string) ([]appHead, error) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = r.headKey(id)
	}
	values, err := r.r.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	out := make([]appHead, 0, len(ids))
	for i, id := range ids {
		if values[i] == nil {
			continue
		}
		h, err := r.s.headOf(id, values[i])
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// whole yields the latest versions of apps. It reads them in one trip, except large bodies.
func (r *reader) whole(ctx context.Context, ids []string) iter.Seq2[App, error] {
	return func(yield func(App, error) bool) {
		keys := make([]string, 0, 2*len(ids))
		for _, id := range ids {
			keys = append(keys, r.headKey(id), keyOf(bodyKind, id))
		}
		values, err := r.r.Get(ctx, keys...)
		if err != nil {
			yield(App{}, err)
			return
		}
		for i, id := range ids {
			h, err := r.s.headOf(id, values[2*i])
			var body Body
			if err == nil {
				body, _, err = r.body(ctx, h, values[2*i+1])
			}
			if !yield(h.whole(body), err) || err != nil {
				return
			}
		}
	}
}

// listsOf returns the numbers of the lists that together have the apps that the caller may read, without lists that are
// part of another one. If q has an owner or a group with a shorter list, it returns that one.
func (r *reader) listsOf(ctx context.Context, q appQuery) ([]int64, error) {
	own, err := r.listsOfCaller(ctx, q)
	only := listKey(ofOwner, q.owner, q.deleted)
	if q.owner == "" {
		only = listKey(ofGroup, q.group, q.deleted)
	}
	if err != nil || q.owner == "" && (q.group == "" || isWide(q.group)) {
		return own, err
	}
	other, err := r.numbersOf(ctx, []string{only})
	if err != nil || other[0] == 0 {
		return nil, err
	}
	size := func(lists []int64) (sum int) {
		for _, n := range lists {
			few, wrong := r.r.Estimate(ctx, under(createdKind, rec.Number(n)))
			if sum += few; wrong != nil {
				err = wrong
			}
		}
		return sum
	}
	if size(other) < size(own) {
		own = other
	}
	return own, err
}

// listsOfCaller returns the numbers of the lists of the caller only.
func (r *reader) listsOfCaller(ctx context.Context, q appQuery) ([]int64, error) {
	by, wanted := q.by, map[string]bool{}
	for _, g := range by.Moderates {
		wanted[g] = true
	}
	if !q.deleted {
		for _, g := range by.Reads {
			wanted[g] = true
		}
	}
	var lists []string
	if by.Owns(by.URN) {
		lists = append(lists, listKey(ofOwner, by.URN, q.deleted))
	}
	for g := range wanted {
		outer := urn.Containers(g)
		if !slices.ContainsFunc(outer[:len(outer)-1], func(o string) bool { return wanted[o] }) {
			lists = append(lists, listKey(ofGroup, g, q.deleted))
		}
	}
	numbers, err := r.numbersOf(ctx, lists)
	return slices.DeleteFunc(numbers, func(n int64) bool { return n == 0 }), err
}

// positions yields the positions of the apps of lists after q.after, in the order of q, each once.
func (r *reader) positions(ctx context.Context, q appQuery, lists []int64) iter.Seq2[appPosition, error] {
	w := listWalk{ctx, r, createdKind, lists, q.limit}
	if q.byUpdate() {
		w.kind = updatedKind
	}
	if !q.descending() {
		return w.forward(q.after)
	}
	return func(yield func(appPosition, error) bool) { w.backward(q.after, yield) }
}

// listWalk reads lists of apps by time.
type listWalk struct {
	ctx    context.Context
	r      *reader
	kind   string // createdKind or updatedKind
	lists  []int64
	expect int
}

// forward yields the positions after a position, or all if it is nil, whose keys begin with these parts after the list.
func (w listWalk) forward(after *appPosition, parts ...string) iter.Seq2[appPosition, error] {
	return w.scan(func(list string) storage.Range {
		in := under(w.kind, append([]string{list}, parts...)...)
		if after != nil {
			in.From = keyAfter(keyOf(w.kind, list, rec.Number(after.Time), after.ID))
		}
		return in
	})
}

// scan yields the positions in ranges of the lists, merged, each once.
func (w listWalk) scan(rangeOf func(list string) storage.Range) iter.Seq2[appPosition, error] {
	ranges := make([]storage.Range, len(w.lists))
	for i, n := range w.lists {
		list := rec.Number(n)
		ranges[i] = rangeOf(list)
		ranges[i].Expect, ranges[i].Skip = w.expect, len(rec.Prefix(appSpace, w.kind, list))
	}
	return func(yield func(appPosition, error) bool) {
		last, any := appPosition{}, false
		for e, err := range w.r.r.Scan(w.ctx, ranges...) {
			var p appPosition
			if err == nil {
				name := partsOf(e.Key, w.kind)
				p.ID = name[2]
				p.Time, err = rec.ParseNumber(name[1])
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
func (w listWalk) backward(after *appPosition, yield func(appPosition, error) bool) {
	const many = 64
	before := int64(math.MaxInt64) // positions with this time or a later one were yielded
	if after != nil {
		before = after.Time + 1
	}
	for {
		var same []appPosition // of one time
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
			in := under(w.kind, list)
			in.To, in.Reverse = under(w.kind, list, rec.Number(before)).From, true
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
		for p, err := range w.forward(from, rec.Number(before)) {
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}
