package keyval

import (
	"context"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine/storage"
)

// Cut reports whether a part is so long that it is cut in keys.
func Cut(part string) bool { return len(part) > mostOfPart }

// Sorted yields the entries whose keys begin with prefix, which Prefix has returned, in the order of the parts after
// it. Unless after is nil, it yields only entries behind the parts of after. expect is Range.Expect.
//
// Keys with cut parts are not in this order among keys with the same beginning. Each such group is read as a whole, and
// sorted by the results of whole: the uncut parts of a key, which the value must contain.
func Sorted(
	ctx context.Context, r storage.Reader, prefix string, after []string, expect int,
	whole func(storage.Entry) []string,
) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		in := storage.Prefix(prefix)
		in.Expect = expect
		if after != nil {
			at := Join(prefix, after...)
			in.From = at + "\x00"
			if group := alike(at, prefix); group != "" {
				in.From = group
			}
		}
		for {
			group := ""
			for e, err := range r.Scan(ctx, in) {
				if err == nil {
					group = alike(e.Key, prefix)
				}
				if group != "" {
					break
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
			if group == "" || !sortGroup(ctx, r, group, after, whole, yield) {
				return
			}
			in.From = storage.Prefix(group).To
		}
	}
}

// alike returns the prefix of all keys that may be out of order with this one: the key up to keptOfPart bytes of its
// first part that has as many. It returns "" if all parts are shorter.
func alike(key, prefix string) string {
	n := 0
	for i := len(prefix); i < len(key); i++ {
		switch key[i] {
		case ' ':
			n = 0
			continue
		case '!': // two bytes that encode one
			i++
		}
		if n++; n == keptOfPart && i < len(key) {
			return key[:i+1]
		}
	}
	return ""
}

// mostSorted is how many bytes of keys and values sortGroup keeps in memory.
const mostSorted = 1 << 20

// sortGroup yields the entries whose keys begin with group and are behind the parts of after. It returns the last
// result of yield. It reads the whole group once for each mostSorted bytes of entries that it yields.
func sortGroup(
	ctx context.Context, r storage.Reader, group string, after []string, whole func(storage.Entry) []string,
	yield func(storage.Entry, error) bool,
) bool {
	type sorted struct {
		parts []string
		entry storage.Entry
	}
	for more := true; more; {
		more = false // whether entries after those of next were left out
		var next []sorted
		size := 0
		for e, err := range r.Scan(ctx, storage.Prefix(group)) {
			if err != nil {
				yield(storage.Entry{}, err)
				return false
			}
			s := sorted{whole(e), e}
			i, _ := slices.BinarySearchFunc(next, s, func(a, b sorted) int { return slices.Compare(a.parts, b.parts) })
			if after != nil && slices.Compare(s.parts, after) <= 0 || more && i == len(next) {
				continue
			}
			next = slices.Insert(next, i, s)
			for size += len(e.Key) + len(e.Value); size > mostSorted && len(next) > 1; more = true {
				last := next[len(next)-1].entry
				size -= len(last.Key) + len(last.Value)
				next = next[:len(next)-1]
			}
		}
		for _, s := range next {
			after = s.parts
			if !yield(s.entry, nil) {
				return false
			}
		}
	}
	return true
}
