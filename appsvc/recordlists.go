package appsvc

import (
	"context"
	"iter"
	"slices"

	rec "github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// atOnce is how many apps are read at once at most.
const atOnce = 64

// Apps merges the lists that the owner and the groups of q have. With a component it looks at so many apps of these lists as there are
// apps with the component at most; then it reads all of the latter and sorts them, so that it takes no more than twice the better way.
func (r *recordReader) Apps(ctx context.Context, q AppQuery) iter.Seq2[App, error] {
	return yields(ctx, q.Limit, func(out func(App) bool) error {
		lists, err := r.listsOf(ctx, q)
		if err != nil || len(lists) == 0 {
			return err
		}
		size := atOnce
		if q.Limit > 0 {
			size = min(size, q.Limit)
		}
		if q.Component != "" {
			return r.appsWith(ctx, q, lists, size, out)
		}
		ids := make([]string, 0, size)
		for p, err := range r.positions(ctx, q, lists) {
			if err != nil {
				return err
			}
			if ids = append(ids, p.ID); len(ids) == size {
				if more, err := r.whole(ctx, ids, out); err != nil || !more {
					return err
				}
				ids = ids[:0]
			}
		}
		_, err = r.whole(ctx, ids, out)
		return err
	})
}

// appsWith passes the apps of lists that have the component of q to out.
func (r *recordReader) appsWith(ctx context.Context, q AppQuery, lists []int64, size int, out func(App) bool) error {
	numbers, err := r.numbersOf(ctx, []string{keyOf(listKind, ofComponent, q.Component)})
	if err != nil || numbers[0] == 0 {
		return err
	}
	used := under(usedKind, rec.Number(numbers[0]))
	few, err := r.r.Estimate(ctx, used)
	if err != nil {
		return err
	}
	if few > size {
		var at []AppPosition
		looked, all := 0, true
		for p, err := range r.positions(ctx, q, lists) {
			if err != nil {
				return err
			}
			if at = append(at, p); len(at) < atOnce {
				continue
			}
			if more, err := r.matching(ctx, q, at, size, out); err != nil || !more {
				return err
			}
			looked, at = looked+len(at), at[:0]
			if looked >= few {
				q.After, all = &p, false
				break
			}
		}
		if all {
			_, err := r.matching(ctx, q, at, size, out)
			return err
		}
	}
	var found []Head
	var ids []string
	add := func() error {
		heads, err := r.heads(ctx, ids)
		for _, h := range heads {
			if q.Match(h.Head) {
				found = append(found, h.Head)
			}
		}
		ids = ids[:0]
		return err
	}
	for e, err := range r.r.Scan(ctx, used) {
		if err != nil {
			return err
		}
		if ids = append(ids, partsOf(e.Key, usedKind)[1]); len(ids) == 8*atOnce {
			if err := add(); err != nil {
				return err
			}
		}
	}
	if err := add(); err != nil {
		return err
	}
	slices.SortFunc(found, q.Compare)
	for part := range slices.Chunk(found, size) {
		ids = ids[:0]
		for _, h := range part {
			ids = append(ids, h.ID)
		}
		if more, err := r.whole(ctx, ids, out); err != nil || !more {
			return err
		}
	}
	return nil
}

// matching passes those of the apps at some positions that match q to out, and returns false if that did.
func (r *recordReader) matching(ctx context.Context, q AppQuery, at []AppPosition, size int, out func(App) bool) (bool, error) {
	ids := make([]string, len(at))
	for i, p := range at {
		ids[i] = p.ID
	}
	heads, err := r.heads(ctx, ids)
	if err != nil {
		return false, err
	}
	ids = ids[:0]
	for _, h := range heads {
		if q.Match(h.Head) {
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
func (r *recordReader) heads(ctx context.Context, ids []string) ([]storedHead, error) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = keyOf(headKind, id)
	}
	values, err := r.r.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	out := make([]storedHead, len(ids))
	for i, id := range ids {
		if out[i], err = decodeHead(id, values[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// whole passes the latest versions of apps to out, and returns false if that did. It reads them in one trip, but for large bodies.
func (r *recordReader) whole(ctx context.Context, ids []string, out func(App) bool) (bool, error) {
	if len(ids) == 0 {
		return true, nil
	}
	keys := make([]string, 0, 2*len(ids))
	for _, id := range ids {
		keys = append(keys, keyOf(headKind, id), keyOf(bodyKind, id))
	}
	values, err := r.r.Get(ctx, keys...)
	if err != nil {
		return false, err
	}
	for i, id := range ids {
		h, err := decodeHead(id, values[2*i])
		if err != nil {
			return false, err
		}
		body, _, err := r.body(ctx, h, values[2*i+1])
		if err != nil {
			return false, err
		}
		if !out(App{Meta: h.Meta, Body: body}) {
			return false, nil
		}
	}
	return true, nil
}

// listsOf returns the numbers of the lists that have the apps of the owner and the groups of q, without those that are in another one.
func (r *recordReader) listsOf(ctx context.Context, q AppQuery) ([]int64, error) {
	wanted := make(map[string]bool, len(q.Groups))
	for _, g := range q.Groups {
		wanted[g] = g != ""
	}
	lists := []string{keyOf(listKind, ofOwner, q.Owner)}
	for g, ok := range wanted {
		outer := urn.Containers(g)
		if !ok || slices.ContainsFunc(outer[:len(outer)-1], func(o string) bool { return wanted[o] }) {
			continue
		}
		lists = append(lists, keyOf(listKind, ofGroup, g))
		if !isWide(g) {
			continue
		}
		// No caller of a Service has such a right. The apps are in the lists of the networks and of the groups below it.
		for e, err := range r.r.Scan(ctx, storage.Prefix(keyOf(listKind, ofGroup, g+":"))) {
			if err != nil {
				return nil, err
			}
			lists = append(lists, e.Key)
		}
	}
	numbers, err := r.numbersOf(ctx, lists)
	return slices.DeleteFunc(numbers, func(n int64) bool { return n == 0 }), err
}

// positions yields the positions of the apps of lists after q.After, in the order of q, each once.
func (r *recordReader) positions(ctx context.Context, q AppQuery, lists []int64) iter.Seq2[AppPosition, error] {
	kind := createdKind
	if q.Sort == UpdatedAscending || q.Sort == UpdatedDescending {
		kind = updatedKind
	}
	w := listWalk{ctx, r, kind, lists, q.Limit}
	if !q.Descending() {
		return w.forward(q.After, nil)
	}
	return func(yield func(AppPosition, error) bool) { w.backward(q.After, yield) }
}

// listWalk reads lists of apps by time.
type listWalk struct {
	ctx    context.Context
	r      *recordReader
	kind   string // createdKind or updatedKind
	lists  []int64
	expect int
}

// scan yields the positions in ranges of the lists, merged, each once.
func (w listWalk) scan(rangeOf func(list int64) storage.Range) iter.Seq2[AppPosition, error] {
	ranges := make([]storage.Range, len(w.lists))
	for i, n := range w.lists {
		ranges[i] = rangeOf(n)
		ranges[i].Expect, ranges[i].Skip = w.expect, len(rec.Prefix(appSpace, w.kind, rec.Number(n)))
	}
	return func(yield func(AppPosition, error) bool) {
		last, any := AppPosition{}, false
		for e, err := range w.r.r.Scan(w.ctx, ranges...) {
			var p AppPosition
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
func (w listWalk) forward(after *AppPosition, at *int64) iter.Seq2[AppPosition, error] {
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
func (w listWalk) backward(after *AppPosition, yield func(AppPosition, error) bool) {
	const many = 64
	var same []AppPosition // of one time
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

func (r *recordReader) IDs(ctx context.Context) iter.Seq2[string, error] {
	return yields(ctx, 0, func(out func(string) bool) error {
		for e, err := range r.r.Scan(ctx, under(headKind)) {
			if err != nil || !out(partsOf(e.Key, headKind)[0]) {
				return err
			}
		}
		return nil
	})
}
