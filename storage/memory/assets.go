package memory

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vitrine-go/vitrine/assets"
)

// Assets is an assets.Store.
type Assets struct {
	now    atomic.Pointer[tree[*library]]
	writer sync.Mutex // held by the one Update that builds the next state
}

// library is everything that is kept of a library at one moment. It never changes once it is in place.
type library struct {
	name     assets.Library
	state    assets.State
	rows     tree[*row]
	origins  tree[*row]
	folders  tree[assets.FolderRecord]
	values   tree[labelled]
	postings tree[posting]
}

// row is an asset with all it is found by.
type row struct {
	assets.Record
	index assets.Index
}

// labelled is an attribute of an asset.
type labelled struct {
	assets.Attribute
	ordinal int64
}

// posting lists the assets that have a term, by ordinal. The empty term, which no asset is given,
// lists them all.
type posting struct {
	term     string
	ordinals []int64
}

// NewAssets returns an empty store.
func NewAssets() *Assets {
	a := new(Assets)
	a.now.Store(&tree[*library]{compare: func(a, b *library) int { return compareLibraries(a.name, b.name) }})
	return a
}

func newLibrary(name assets.Library) *library {
	return &library{
		name:    name,
		rows:    tree[*row]{compare: func(a, b *row) int { return cmp.Compare(a.Ordinal, b.Ordinal) }},
		origins: tree[*row]{compare: func(a, b *row) int { return bytes.Compare(a.Origin[:], b.Origin[:]) }},
		folders: tree[assets.FolderRecord]{compare: func(a, b assets.FolderRecord) int { return strings.Compare(a.ID, b.ID) }},
		values:  tree[labelled]{compare: compareLabelled},
		postings: tree[posting]{compare: func(a, b posting) int {
			return strings.Compare(a.term, b.term)
		}},
	}
}

func compareLibraries(a, b assets.Library) int {
	return cmp.Or(strings.Compare(a.Network, b.Network), strings.Compare(a.ID, b.ID))
}

func compareLabelled(a, b labelled) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value), cmp.Compare(a.ordinal, b.ordinal))
}

// View calls fn with the library of now.
func (s *Assets) View(ctx context.Context, lib assets.Library, fn func(assets.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fn(find(*s.now.Load(), lib))
}

// Update calls fn with a copy of the library, and puts the copy in place when fn returns nil.
func (s *Assets) Update(ctx context.Context, lib assets.Library, fn func(assets.Tx) error) error {
	s.writer.Lock()
	defer s.writer.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	now := *s.now.Load()
	next := *find(now, lib) // shares every tree
	if err := fn(assetTx{&next}); err != nil {
		return err
	}
	now = now.put(&next)
	s.now.Store(&now)
	return nil
}

// find returns the library, an empty one where nothing is kept of it.
func find(all tree[*library], lib assets.Library) *library {
	l, found := all.find(func(l *library) int { return compareLibraries(l.name, lib) })
	if !found {
		return newLibrary(lib)
	}
	return l
}

// Libraries yields the libraries that have a state.
func (s *Assets) Libraries(ctx context.Context) iter.Seq2[assets.Library, error] {
	return func(yield func(assets.Library, error) bool) {
		out := limited(ctx, 0, yield)
		s.now.Load().ascend(nil, func(l *library) bool {
			return l.state == assets.State{} || out(l.name)
		})
	}
}

// with returns the posting with the ordinal added.
func (p posting) with(ordinal int64) posting {
	i, found := slices.BinarySearch(p.ordinals, ordinal)
	switch {
	case found:
	case i == len(p.ordinals):
		// Older states share the array, but look no further than their own length.
		p.ordinals = append(p.ordinals, ordinal)
	default:
		p.ordinals = slices.Insert(slices.Clip(p.ordinals), i, ordinal)
	}
	return p
}

// without returns the posting with the ordinal taken out.
func (p posting) without(ordinal int64) posting {
	i, found := slices.BinarySearch(p.ordinals, ordinal)
	if found {
		p.ordinals = slices.Concat(p.ordinals[:i], p.ordinals[i+1:])
	}
	return p
}
