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

// apps passes the apps that q asks for to out, in their order, as long as that returns true. It merges the lists that the caller may
// read. With a component, it does so for at most as many apps as have the component. Then it reads all apps with the component instead,
// and sorts them. So it takes at most twice as long as the better of the two ways.
func (r *reader) apps(ctx context.Context, q appQuery, out func(App) (bool, error)) error {
	lists, err := r.listsOf(ctx, q.by)
	if err != nil || len(lists) == 0 {
		return err
	}
	size := min(atOnce, q.limit)
	if q.component != "" {
		return r.appsWith(ctx, q, lists, size, out)
	}
	for at, err := range rec.Chunks(r.positions(ctx, q, lists), size) {
		if err != nil {
			return err
		}
		if more, err := r.whole(ctx, idsAt(at), out); err != nil || !more {
			return err
		}
	}
	return nil
}

// idsAt returns the ids of the apps at some positions.
func idsAt(at []appPosition) []string {
	ids := make([]string, len(at))
	for i, p := range at {
		ids[i] = p.ID
	}
	return ids
}

// appsWith passes the apps of lists that have the component of q to out.
func (r *reader) appsWith(ctx context.Context, q appQuery, lists []int64, size int, out func(App) (bool, error)) error {
	numbers, err := r.numbersOf(ctx, []string{keyOf(listKind, ofComponent, q.component)})
	if err != nil || numbers[0] == 0 {
		return err
	}
	used := under(usedKind, rec.Number(numbers[0]))
	few, err := r.r.Estimate(ctx, used)
	if err != nil {
		return err
	}
	if few > size {
		looked, all := 0, true
		for at, err := range rec.Chunks(r.positions(ctx, q, lists), atOnce) {
			if err != nil {
				return err
			}
			if more, err := r.matching(ctx, q, at, size, out); err != nil || !more {
				return err
			}
			if looked += len(at); looked >= few && len(at) == atOnce {
				q.after, all = &at[len(at)-1], false
				break
			}
		}
		if all {
			return nil
		}
	}
	var found []appPosition
	for ids, err := range rec.Chunks(r.appsUsing(ctx, used), 8*atOnce) {
		if err != nil {
			return err
		}
		heads, err := r.heads(ctx, ids)
		if err != nil {
			return err
		}
		for _, h := range heads {
			if q.match(h) {
				found = append(found, q.position(h.Meta))
			}
		}
	}
	slices.SortFunc(found, q.compare)
	for part := range slices.Chunk(found, size) {
		if more, err := r.whole(ctx, idsAt(part), out); err != nil || !more {
			return err
		}
	}
	return nil
}

// appsUsing yields the ids of the apps in a range of used/.
func (r *reader) appsUsing(ctx context.Context, in storage.Range) iter.Seq2[string, error] {
	return rec.Map(r.r.Scan(ctx, in), func(e storage.Entry) (string, error) { return partsOf(e.Key, usedKind)[1], nil })
}

// matching passes those of the apps at some positions that match q to out, and returns false if that did.
func (r *reader) matching(ctx context.Context, q appQuery, at []appPosition, size int, out func(App) (bool, error)) (bool, error) {
	heads, err := r.heads(ctx, idsAt(at))
	if err != nil {
		return false, err
	}
	var ids []string
	for _, h := range heads {
		if q.match(h) {
			ids = append(ids, h.ID)
		}
	}
	for part := range slices.Chunk(ids, size) {
		if more, err := r.whole(ctx, part, out); err != nil || !more {
			return false, err
		}
	}
	return true, nil
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

// whole passes the latest versions of apps to out, and returns false if that did. It reads them in one trip, but for large bodies.
func (r *reader) whole(ctx context.Context, ids []string, out func(App) (bool, error)) (bool, error) {
	keys := make([]string, 0, 2*len(ids))
	for _, id := range ids {
		keys = append(keys, keyOf(headKind, id), keyOf(bodyKind, id))
	}
	values, err := r.r.Get(ctx, keys...)
	if err != nil {
		return false, err
	}
	for i, id := range ids {
		h, err := r.s.headOf(id, values[2*i])
		if err != nil {
			return false, err
		}
		body, _, err := r.body(ctx, h, values[2*i+1])
		if err != nil {
			return false, err
		}
		if more, err := out(App{Meta: h.Meta, Body: body.withKeys()}); err != nil || !more {
			return false, err
		}
	}
	return true, nil
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
	kind := createdKind
	if q.byUpdate() {
		kind = updatedKind
	}
	w := listWalk{ctx, r, kind, lists, q.limit}
	if !q.descending() {
		return w.forward(q.after, nil)
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

// scan yields the positions in ranges of the lists, merged, each once.
func (w listWalk) scan(rangeOf func(list int64) storage.Range) iter.Seq2[appPosition, error] {
	ranges := make([]storage.Range, len(w.lists))
	for i, n := range w.lists {
		ranges[i] = rangeOf(n)
		ranges[i].Expect, ranges[i].Skip = w.expect, len(rec.Prefix(appSpace, w.kind, rec.Number(n)))
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

// forward yields the positions after one, nil for all, with rising times. If at is not nil, it yields those of this time alone.
func (w listWalk) forward(after *appPosition, at *int64) iter.Seq2[appPosition, error] {
	return w.scan(func(n int64) storage.Range {
		in := under(w.kind, rec.Number(n))
		if at != nil {
			in = under(w.kind, rec.Number(n), rec.Number(*at))
		}
		if after != nil && (at == nil || *at == after.Time) {
			in.From = keyAfter(timeKey(w.kind, n, *after))
		}
		return in
	})
}

// backward yields the positions after one, nil for all, with falling times. Those of one time have rising ids nevertheless: it reads
// them backwards and turns them round, or reads them again if there are many.
func (w listWalk) backward(after *appPosition, yield func(appPosition, error) bool) {
	const many = 64
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
	skipped := 0
	for to := (*int64)(nil); ; {
		var rest *int64 // the times before this one, if they are to be read anew
		for p, err := range w.scan(func(n int64) storage.Range {
			in := under(w.kind, rec.Number(n))
			if to != nil {
				in.To = under(w.kind, rec.Number(n), rec.Number(*to)).From
			} else if after != nil {
				in.To = under(w.kind, rec.Number(n), rec.Number(after.Time)).To
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
			if after != nil && p.Time == after.Time && p.ID <= after.ID {
				if skipped++; skipped > many {
					rest = &p.Time
					break
				}
				continue
			}
			if same = append(same, p); len(same) > many {
				rest = &p.Time
				break
			}
		}
		if len(same) > many {
			same = same[:0]
			for p, err := range w.forward(after, rest) {
				if !yield(p, err) || err != nil {
					return
				}
			}
		} else if !flush() {
			return
		}
		if rest == nil {
			return
		}
		to = rest
	}
}
