package appsvc

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// appQuery asks for the latest versions of apps that a caller may read, or for deleted ones that the caller could
// change.
type appQuery struct {
	by        vitrine.Caller
	deleted   bool
	component ComponentRef      // of an element; "" = any, or any version
	group     string            // contains one of the groups of the app; "" = any
	owner     string            // "" = any
	words     []string          // each of them must begin a word of the title
	content   bool              // or of a text in the body
	sort      Sort              // one of the four
	after     *records.Position // only apps after this position; nil = from the start
	limit     int               // the number of apps that the caller needs
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
	words := records.TitleWords(title)
	return !slices.ContainsFunc(q.words, func(begin string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, begin) })
	})
}

// has reports whether an element has a component; "" means any version.
func (h appHead) has(c ComponentRef) bool {
	return slices.ContainsFunc(h.uses, func(u records.Use) bool {
		return u.Name == c.Name && (c.Version == "" || slices.Contains(u.Versions, c.Version))
	})
}

// filtered reports whether q matches only some of the apps of a list.
func (q appQuery) filtered() bool {
	return q.component.Name != "" || q.group != "" || q.owner != "" || len(q.words) > 0
}

// position returns the position of an app in the order of q.
func (q appQuery) position(a App) records.Position {
	if q.byUpdate() {
		return records.Position{Time: a.UpdatedAt, ID: a.ID}
	}
	return records.Position{Time: a.CreatedAt, ID: a.ID}
}

func (q appQuery) byUpdate() bool   { return q.sort == UpdatedAscending || q.sort == UpdatedDescending }
func (q appQuery) descending() bool { return strings.HasPrefix(string(q.sort), "-") }

// compare is negative if the position a comes before b: by time in the direction of q.sort, and then by ascending ID.
// IDs are unique, so the order is total, and each cursor has one place in it.
func (q appQuery) compare(a, b records.Position) int {
	byTime := cmp.Compare(a.Time, b.Time)
	if q.descending() {
		byTime = -byTime
	}
	return cmp.Or(byTime, strings.Compare(a.ID, b.ID))
}

// positionsOf yields the positions of the apps that match q, in their order, reading size of them at a time. It merges
// the lists that the caller may read.
func (r *reader) positionsOf(ctx context.Context, q appQuery, size int) iter.Seq2[records.Position, error] {
	return func(yield func(records.Position, error) bool) {
		lists, err := r.listsOf(ctx, q)
		if err != nil {
			yield(records.Position{}, err)
		}
		if len(lists) == 0 {
			return
		}
		at := r.Positions(ctx, q.in(lists))
		if q.filtered() {
			at = r.positionsWith(ctx, q, lists, size)
		}
		at(yield)
	}
}

// idsAt returns the ids of positions.
func idsAt(at []records.Position) []string {
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
		used, ok, err := r.UsedIn(ctx, q.component.Name, "")
		if !ok {
			return in, 0, err
		}
		ranges = append(ranges, used)
	}
	for _, word := range q.words {
		ranges = append(ranges, records.WithWord(word))
	}
	few = -1
	for _, one := range ranges {
		n, err := r.Estimate(ctx, one)
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
func (r *reader) positionsWith(
	ctx context.Context, q appQuery, lists []int64, size int,
) iter.Seq2[records.Position, error] {
	return func(yield func(records.Position, error) bool) {
		in, few, err := r.candidates(ctx, q)
		if err != nil {
			yield(records.Position{}, err)
		}
		if err != nil || few == 0 {
			return
		}
		if few < 0 || few > size {
			looked := 0
			for part, err := range keyval.Chunks(r.Positions(ctx, q.in(lists)), records.AtOnce) {
				var found []records.Position
				if err == nil {
					found, err = r.matching(ctx, q, idsAt(part))
				}
				if err != nil {
					yield(records.Position{}, err)
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
		var all []records.Position
		for ids, err := range keyval.Chunks(r.AppsIn(ctx, in), 8*records.AtOnce) {
			var found []records.Position
			if err == nil {
				found, err = r.matching(ctx, q, ids)
			}
			if err != nil {
				yield(records.Position{}, err)
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
func (r *reader) matching(ctx context.Context, q appQuery, ids []string) (at []records.Position, err error) {
	heads, err := r.heads(ctx, ids)
	for _, h := range heads {
		if q.match(h) {
			at = append(at, q.position(h.App))
		}
	}
	return at, err
}

// heads reads the heads of apps. It leaves out apps without a head: the index entries of deleted apps stay.
func (r *reader) heads(ctx context.Context, ids []string) ([]appHead, error) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = records.Key(r.headKind, id)
	}
	values, err := r.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	out := make([]appHead, 0, len(ids))
	for i, id := range ids {
		if values[i] == nil {
			continue
		}
		h, err := r.s.decodeHead(id, values[i])
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
			keys = append(keys, records.Key(r.headKind, id), records.BodyKey(id))
		}
		values, err := r.Get(ctx, keys...)
		if err != nil {
			yield(App{}, err)
			return
		}
		for i, id := range ids {
			h, err := r.s.decodeHead(id, values[2*i])
			var body Body
			if err == nil {
				body, _, err = r.Body(ctx, id, h.large, values[2*i+1])
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
	only := records.ListKey(records.OfOwner, q.owner, q.deleted)
	if q.owner == "" {
		only = records.ListKey(records.OfGroup, q.group, q.deleted)
	}
	if err != nil || q.owner == "" && (q.group == "" || records.IsWide(q.group)) {
		return own, err
	}
	other, err := r.NumbersOf(ctx, []string{only})
	if err != nil || other[0] == 0 {
		return nil, err
	}
	size := func(lists []int64) (sum int) {
		for _, n := range lists {
			few, wrong := r.Estimate(ctx, records.InList(n))
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
		lists = append(lists, records.ListKey(records.OfOwner, by.URN, q.deleted))
	}
	for g := range wanted {
		outer := urn.Containers(g)
		if !slices.ContainsFunc(outer[:len(outer)-1], func(o string) bool { return wanted[o] }) {
			lists = append(lists, records.ListKey(records.OfGroup, g, q.deleted))
		}
	}
	numbers, err := r.NumbersOf(ctx, lists)
	return slices.DeleteFunc(numbers, func(n int64) bool { return n == 0 }), err
}

// in returns lists in the order of q.
func (q appQuery) in(lists []int64) records.List {
	return records.List{Lists: lists, ByUpdate: q.byUpdate(), Descending: q.descending(), After: q.after,
		Expect: q.limit}
}
