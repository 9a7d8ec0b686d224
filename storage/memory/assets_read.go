package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/assets"
)

// State returns what the library knows of itself.
func (l *library) State(ctx context.Context) (assets.State, error) { return l.state, ctx.Err() }

// Asset returns the asset with this ordinal.
func (l *library) Asset(ctx context.Context, ordinal int64) (assets.Record, error) {
	r, found := l.row(ordinal)
	if !found {
		return assets.Record{}, fmt.Errorf("%w: asset %d", assets.ErrNotFound, ordinal)
	}
	return r.record(), ctx.Err()
}

// AssetFrom returns the asset with this origin.
func (l *library) AssetFrom(ctx context.Context, o assets.Origin) (assets.Record, error) {
	r, found := l.origins.find(func(r *row) int { return bytes.Compare(r.Origin[:], o[:]) })
	if !found {
		return assets.Record{}, fmt.Errorf("%w: asset of origin %x", assets.ErrNotFound, o)
	}
	return r.record(), ctx.Err()
}

// Assets yields the assets that match q.
func (l *library) Assets(ctx context.Context, q assets.AssetQuery) iter.Seq2[assets.Record, error] {
	return func(yield func(assets.Record, error) bool) {
		out := limited(ctx, q.Limit, yield)
		l.match(q, func(r *row) bool { return out(r.record()) })
	}
}

// Count counts the assets that match q.
func (l *library) Count(ctx context.Context, q assets.AssetQuery) (int64, error) {
	var n int64
	l.match(q, func(*row) bool { n++; return ctx.Err() == nil })
	return n, ctx.Err()
}

// Folders yields the folders.
func (l *library) Folders(ctx context.Context) iter.Seq2[assets.FolderRecord, error] {
	return func(yield func(assets.FolderRecord, error) bool) {
		out := limited(ctx, 0, yield)
		l.folders.ascend(nil, func(f assets.FolderRecord) bool { return out(f.Clone()) })
	}
}

// Values yields the values that attributes with this key have, of assets that match all the sets.
func (l *library) Values(ctx context.Context, key string, all []assets.AnyOf) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		out := limited(ctx, 0, yield)
		q := assets.AssetQuery{All: all}
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

// match yields the assets that match q, in its order. It walks the shortest of the lists that every
// match is in.
func (l *library) match(q assets.AssetQuery, yield func(*row) bool) {
	shortest := l.list("")
	for _, set := range q.All {
		lists := make([][]int64, len(set))
		total := 0
		for i, term := range set {
			lists[i] = l.list(term)
			total += len(lists[i])
		}
		if total >= len(shortest) {
			continue
		}
		shortest = slices.Concat(lists...)
		slices.Sort(shortest)
		shortest = slices.Compact(shortest)
	}
	shortest = between(shortest, q.After, q.Before)
	for i := range shortest {
		if !q.Ascending {
			i = len(shortest) - 1 - i
		}
		r, found := l.row(shortest[i])
		if found && q.Match(r.Ordinal, r.index.Terms) && !yield(r) {
			return
		}
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

func (l *library) row(ordinal int64) (*row, bool) {
	return l.rows.find(func(r *row) int { return cmp.Compare(r.Ordinal, ordinal) })
}

func (l *library) list(term string) []int64 { return l.posting(term).ordinals }

func (l *library) posting(term string) posting {
	p, found := l.postings.find(func(p posting) int { return strings.Compare(p.term, term) })
	if !found {
		p.term = term
	}
	return p
}

// record returns the asset with a list of its own.
func (r *row) record() assets.Record {
	out := r.Record
	out.Folders = slices.Clone(r.Folders)
	return out
}
