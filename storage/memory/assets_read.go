package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/internal/top"
)

// State returns the State of the library.
func (l *library) State(ctx context.Context) (assetstore.State, error) { return l.state, ctx.Err() }

// Asset returns the asset with this ordinal.
func (l *library) Asset(ctx context.Context, ordinal int64) (assetstore.Record, error) {
	r, found := l.row(ordinal)
	if !found {
		return assetstore.Record{}, fmt.Errorf("%w: asset %d", vitrine.ErrNotFound, ordinal)
	}
	return r.record(), ctx.Err()
}

// AssetsFrom yields, for each origin, the asset that has it now, or the zero Record.
func (l *library) AssetsFrom(ctx context.Context, origins []assetstore.Origin) iter.Seq2[assetstore.Record, error] {
	return func(yield func(assetstore.Record, error) bool) {
		out := limited(ctx, 0, yield)
		for _, o := range origins {
			var asset assetstore.Record
			if r, found := l.origins.find(func(r *row) int { return bytes.Compare(r.Origin[:], o[:]) }); found {
				asset = r.record()
			}
			if !out(asset) {
				return
			}
		}
	}
}

// Assets yields the assets that match q.
func (l *library) Assets(ctx context.Context, q assetstore.AssetQuery) iter.Seq2[assetstore.Record, error] {
	return func(yield func(assetstore.Record, error) bool) {
		out := limited(ctx, q.Limit, yield)
		found := l.found(ctx, q)
		for i := range found {
			if !q.Ascending {
				i = len(found) - 1 - i
			}
			if r, there := l.row(found[i]); there && !out(r.record()) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(assetstore.Record{}, err)
		}
	}
}

// Count counts the assets that match q.
func (l *library) Count(ctx context.Context, q assetstore.AssetQuery) (int64, error) {
	return int64(len(l.found(ctx, q))), ctx.Err()
}

// CountTerms counts, for each term that begins with prefix, the assets that match q and have it. Its memory does not grow
// with the number of terms: with a limit it keeps the most frequent ones so far, and without one it yields each at once.
func (l *library) CountTerms(ctx context.Context, q assetstore.AssetQuery, prefix string) iter.Seq2[assetstore.TermCount, error] {
	return func(yield func(assetstore.TermCount, error) bool) {
		out := limited(ctx, 0, yield)
		common := counter(l.found(ctx, q))
		most := top.New(q.Limit, assetstore.TermCount.Compare)
		more := true // the caller has not left the loop, nor seen an error
		l.withPrefix(prefix, func(p posting) bool {
			n := common(between(p.ordinals, q.After, q.Before))
			switch c := (assetstore.TermCount{Term: p.term, Count: int64(n)}); {
			case n == 0:
			case q.Limit == 0:
				more = out(c)
			default:
				most.Add(c)
			}
			return more && ctx.Err() == nil
		})
		if !more {
			return
		}
		if err := ctx.Err(); err != nil {
			yield(assetstore.TermCount{}, err)
			return
		}
		for _, c := range most.Items() {
			if !out(c) {
				return
			}
		}
	}
}

// withPrefix yields the postings of the terms that begin with prefix.
func (l *library) withPrefix(prefix string, yield func(posting) bool) {
	l.postings.ascend(func(p posting) bool { return p.term < prefix }, func(p posting) bool {
		return strings.HasPrefix(p.term, prefix) && yield(p)
	})
}

// found returns the ordinals of the assets that match q, in ascending order whatever q.Ascending is, and all of them
// whatever q.Limit is. It intersects the sets of q, the smallest first. When ctx is done, it returns nil, and the caller looks
// at ctx. The caller must not change the slice, which may be a posting list.
func (l *library) found(ctx context.Context, q assetstore.AssetQuery) []int64 {
	sets := [][]int64{between(l.list(""), q.After, q.Before)}
	for lists := range l.sets(q) {
		for i := range lists {
			lists[i] = between(lists[i], q.After, q.Before)
		}
		set := union(lists)
		if len(set) == 0 {
			return nil
		}
		sets = append(sets, set)
	}
	slices.SortFunc(sets, func(a, b []int64) int { return cmp.Compare(len(a), len(b)) })
	both := sets[0]
	for _, other := range sets[1:] {
		if ctx.Err() != nil {
			return nil
		}
		if len(other) == len(l.list("")) {
			break // this set and all after it have every asset
		}
		next := make([]int64, 0, len(both))
		eachCommon(both, other, func(ordinal int64) { next = append(next, ordinal) })
		both = next
	}
	return both
}

// sets yields, for each set of q, the posting lists of which an asset must be in one.
func (l *library) sets(q assetstore.AssetQuery) iter.Seq[[][]int64] {
	return func(yield func([][]int64) bool) {
		for _, set := range q.All {
			lists := make([][]int64, len(set))
			for i, term := range set {
				lists[i] = l.list(term)
			}
			if !yield(lists) {
				return
			}
		}
		for _, set := range q.Prefixes {
			var lists [][]int64
			for _, prefix := range set {
				l.withPrefix(prefix, func(p posting) bool {
					lists = append(lists, p.ordinals)
					return true
				})
			}
			if !yield(lists) {
				return
			}
		}
	}
}

// union returns the ordinals that are in at least one of the lists, ascending and each once. Nobody may change the result:
// that of a single list is the list itself.
func union(lists [][]int64) []int64 {
	if len(lists) == 1 {
		return lists[0]
	}
	if b, ok := newBitmap(lists...); ok {
		return b.ordinals()
	}
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// counter returns a function that counts how many ordinals of a list are in found. It is called with thousands of
// lists, so found is turned into a bitmap if that is not too large.
func counter(found []int64) func(list []int64) int {
	if b, ok := newBitmap(found); ok {
		return b.count
	}
	return func(list []int64) (n int) {
		eachCommon(found, list, func(int64) { n++ })
		return n
	}
}

// eachCommon calls fn with the ordinals that are in both ascending lists. It looks each ordinal of the shorter list up
// in the rest of the longer one, with steps that double from the beginning of the rest.
func eachCommon(a, b []int64, fn func(ordinal int64)) {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, ordinal := range a {
		step := 1
		for step < len(b) && b[step] < ordinal {
			step *= 2
		}
		i, found := slices.BinarySearch(b[step/2:min(step+1, len(b))], ordinal)
		b = b[step/2+i:]
		if found {
			fn(ordinal)
		}
		if len(b) == 0 {
			return
		}
	}
}

// Folders yields the folders.
func (l *library) Folders(ctx context.Context) iter.Seq2[assetstore.FolderRecord, error] {
	return func(yield func(assetstore.FolderRecord, error) bool) {
		out := limited(ctx, 0, yield)
		l.folders.ascend(nil, func(f assetstore.FolderRecord) bool { return out(f.Clone()) })
	}
}

// Values yields the values that attributes with this key have, of assets that match all the sets.
func (l *library) Values(ctx context.Context, key string, all []assetstore.AnyOf) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		out := limited(ctx, 0, yield)
		q := assetstore.AssetQuery{All: all}
		last, some := "", false
		l.values.ascend(func(v labelled) bool { return v.Key < key }, func(v labelled) bool {
			if v.Key != key {
				return false
			}
			if some && v.Value == last {
				return true
			}
			if r, found := l.row(v.ordinal); !found || !q.Match(r.Ordinal, r.index.Terms) {
				return true
			}
			last, some = v.Value, true
			return out(v.Value)
		})
	}
}

// between returns the ordinals above after and below before, 0 = no bound.
func between(list []int64, after, before int64) []int64 {
	from, _ := slices.BinarySearch(list, after+1)
	to := len(list)
	if before != 0 {
		to, _ = slices.BinarySearch(list, before)
	}
	return list[min(from, to):to]
}

// row returns the asset with this ordinal.
func (l *library) row(ordinal int64) (*row, bool) {
	return l.rows.find(func(r *row) int { return cmp.Compare(r.Ordinal, ordinal) })
}

// list returns the ordinals of the assets that have a term; "" stands for all assets.
func (l *library) list(term string) []int64 { return l.posting(term).ordinals }

// posting returns the posting list of a term, or an empty one if no asset has it.
func (l *library) posting(term string) posting {
	p, found := l.postings.find(func(p posting) int { return strings.Compare(p.term, term) })
	if !found {
		p.term = term
	}
	return p
}

// record returns a copy of the asset that shares only the body, which nobody changes.
func (r *row) record() assetstore.Record {
	out := r.Record
	out.Folders = slices.Clone(r.Folders)
	return out
}

// Feed returns the state of the feed.
func (l *library) Feed(ctx context.Context) (assetstore.FeedState, error) {
	return l.feed.state(), ctx.Err()
}

// Entries yields the entries of the feed after a position.
func (l *library) Entries(ctx context.Context, after assetstore.FeedPosition, limit int) iter.Seq2[assetstore.FeedEntry, error] {
	return l.feed.entries(ctx, after, limit)
}
