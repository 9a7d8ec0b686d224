package appsvc

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// atOnce is how many apps are read at once at most.
const atOnce = 64

// appQuery asks for the latest versions of apps that a caller may read.
type appQuery struct {
	by        vitrine.Caller
	component string       // that powers an element; "" = any
	sort      Sort         // one of the four
	after     *appPosition // only apps after this position; nil = from the start
	limit     int          // how many are wanted
}

// appPosition is a position in the order of an appQuery: CreatedAt or UpdatedAt of an app, by which it is sorted, and
// its ID. There may be no app at the position.
type appPosition struct {
	Time int64
	ID   string
}

// match reports whether q asks for the app with this head.
func (q appQuery) match(h Head) bool {
	return (q.component == "" || slices.Contains(h.Components, q.component)) &&
		(q.after == nil || q.compare(*q.after, q.position(h.Meta)) < 0) && mayRead(q.by, h)
}

// position returns the position of an app in the order of q.
func (q appQuery) position(m Meta) appPosition {
	if q.byUpdate() {
		return appPosition{m.UpdatedAt, m.ID}
	}
	return appPosition{m.CreatedAt, m.ID}
}

func (q appQuery) byUpdate() bool   { return q.sort == UpdatedAscending || q.sort == UpdatedDescending }
func (q appQuery) descending() bool { return strings.HasPrefix(string(q.sort), "-") }

// compare is negative when the position a comes before b: by time in the direction of q.sort, and then by ascending ID. No two
// apps have the same ID, so the order is total, and a cursor leads to one place in it.
func (q appQuery) compare(a, b appPosition) int {
	byTime := cmp.Compare(a.Time, b.Time)
	if q.descending() {
		byTime = -byTime
	}
	return cmp.Or(byTime, strings.Compare(a.ID, b.ID))
}

// apps yields the apps that q asks for, in their order. It merges the lists that the caller may read.
func (r *reader) apps(ctx context.Context, q appQuery) iter.Seq2[App, error] {
	return func(yield func(App, error) bool) {
		lists, err := r.listsOf(ctx, q.by)
		if err != nil {
			yield(App{}, err)
		}
		if len(lists) == 0 {
			return
		}
		at, size := r.positions(ctx, q, lists), min(atOnce, q.limit)
		if q.component != "" {
			at = r.positionsWith(ctx, q, lists, size)
		}
		for part, err := range rec.Chunks(at, size) {
			if err != nil {
				yield(App{}, err)
				return
			}
			for app, err := range r.whole(ctx, idsAt(part)) {
				if !yield(app, err) || err != nil {
					return
				}
			}
		}
	}
}

// idsAt returns the ids of the apps at some positions.
func idsAt(at []appPosition) []string {
	ids := make([]string, len(at))
	for i, p := range at {
		ids[i] = p.ID
	}
	return ids
}

// positionsWith yields the positions of the apps of lists that have the component of q, in the order of q. If they are more than size,
// it looks at the apps of the lists first, but at no more than as many as have the component. Then it reads those that have the component
// instead, and sorts them. So it takes at most twice as long as the better of the two ways.
func (r *reader) positionsWith(ctx context.Context, q appQuery, lists []int64, size int) iter.Seq2[appPosition, error] {
	return func(yield func(appPosition, error) bool) {
		numbers, err := r.numbersOf(ctx, []string{keyOf(listKind, ofComponent, q.component)})
		if err == nil && numbers[0] == 0 {
			return
		}
		var used storage.Range
		few := 0
		if err == nil {
			used = under(usedKind, rec.Number(numbers[0]))
			few, err = r.r.Estimate(ctx, used)
		}
		if err != nil {
			yield(appPosition{}, err)
			return
		}
		if few > size {
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
				if looked += len(part); looked >= few {
					q.after = &part[len(part)-1]
					break
				}
			}
			if looked < few {
				return
			}
		}
		var all []appPosition
		for ids, err := range rec.Chunks(r.appsUsing(ctx, used), 8*atOnce) {
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
		for _, p := range all {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// matching returns the positions of those apps for which q asks.
func (r *reader) matching(ctx context.Context, q appQuery, ids []string) (at []appPosition, err error) {
	heads, err := r.heads(ctx, ids)
	for _, h := range heads {
		if q.match(h) {
			at = append(at, q.position(h.Meta))
		}
	}
	return at, err
}

// appsUsing yields the ids of the apps in a range of used/.
func (r *reader) appsUsing(ctx context.Context, in storage.Range) iter.Seq2[string, error] {
	return rec.Map(r.r.Scan(ctx, in), func(e storage.Entry) (string, error) { return partsOf(e.Key, usedKind)[1], nil })
}

// heads reads the heads of apps.
func (r *reader) heads(ctx context.Context, ids []string) ([]Head, error) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = keyOf(headKind, id)
	}
	values, err := r.r.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	out := make([]Head, len(ids))
	for i, id := range ids {
		if out[i], err = r.s.headOf(id, values[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// whole yields the latest versions of apps. It reads them in one trip, but for large bodies.
func (r *reader) whole(ctx context.Context, ids []string) iter.Seq2[App, error] {
	return func(yield func(App, error) bool) {
		keys := make([]string, 0, 2*len(ids))
		for _, id := range ids {
			keys = append(keys, keyOf(headKind, id), keyOf(bodyKind, id))
		}
		values, err := r.r.Get(ctx, keys...)
		if err != nil {
			yield(App{}, err)
			return
		}
		for i, id := range ids {
			h, err := r.s.headOf(id, values[2*i])
			app := App{Meta: h.Meta}
			if err == nil {
				app.Body, _, err = r.body(ctx, h, values[2*i+1])
			}
			if !yield(app, err) || err != nil {
				return
			}
		}
	}
}

// listsOf returns the numbers of the lists that have the apps that a caller may read, without those that are in another one.
func (r *reader) listsOf(ctx context.Context, by vitrine.Caller) ([]int64, error) {
	wanted := map[string]bool{}
	for _, g := range slices.Concat(by.Moderates, by.Reads) {
		wanted[g] = true
	}
	lists := []string{keyOf(listKind, ofOwner, by.URN)}
	for g := range wanted {
		outer := urn.Containers(g)
		if !slices.ContainsFunc(outer[:len(outer)-1], func(o string) bool { return wanted[o] }) {
			lists = append(lists, keyOf(listKind, ofGroup, g))
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
		return w.scan(func(list string) (in storage.Range) {
			if in = under(w.kind, list); q.after != nil {
				in.From = w.keyAfter(list, *q.after)
			}
			return in
		})
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

// keyAfter returns the smallest key in a list after a position.
func (w listWalk) keyAfter(list string, p appPosition) string {
	return keyAfter(keyOf(w.kind, list, rec.Number(p.Time), p.ID))
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

// at yields the positions of a time, those after one if that is of this time. It returns whether yield wants more.
func (w listWalk) at(time int64, after *appPosition, yield func(appPosition, error) bool) bool {
	for p, err := range w.scan(func(list string) (in storage.Range) {
		if in = under(w.kind, list, rec.Number(time)); after != nil {
			in.From = w.keyAfter(list, *after)
		}
		return in
	}) {
		if !yield(p, err) || err != nil {
			return false
		}
	}
	return true
}

// backward yields the positions after one, nil for all, with falling times. Those of one time have rising ids nevertheless: it reads
// them backwards and turns them round, or reads them again if there are many.
func (w listWalk) backward(after *appPosition, yield func(appPosition, error) bool) {
	const many = 64
	var before *int64 // what has this time or a later one was yielded
	if after != nil {
		if before = &after.Time; !w.at(after.Time, after, yield) {
			return
		}
	}
	for {
		var same []appPosition // of one time
		flush := func() bool {
			for _, p := range slices.Backward(same) {
				if !yield(p, nil) {
					return false
				}
			}
			same = same[:0]
			return true
		}
		for p, err := range w.scan(func(list string) (in storage.Range) {
			if in = under(w.kind, list); before != nil {
				in.To = under(w.kind, list, rec.Number(*before)).From
			}
			in.Reverse = true
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
		if before = &same[0].Time; !w.at(*before, nil, yield) {
			return
		}
	}
}
