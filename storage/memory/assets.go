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

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/wake"
)

// assetStore is an assetstore.Store. now points to the tree of all libraries; an Update of a library replaces its state
// there.
type assetStore struct {
	db     *DB
	now    atomic.Pointer[tree[*library]]
	writer sync.Mutex // locked by the Update that builds the next state
	bell   wake.Bell  // rung after each commit
}

// library is one state of a library, and the Reader of a View. It does not change after the Update that builds it. rows
// are the assets by ordinal, origins the same assets by origin, folders are by ID, values are the attributes by key, value
// and ordinal, and postings are by term.
type library struct {
	name     assetstore.Library
	state    assetstore.State
	rows     tree[*row]
	origins  tree[*row]
	folders  tree[assetstore.FolderRecord]
	values   tree[labelled]
	postings tree[posting]
	feed     changes
}

// row is an asset with its terms and attributes.
type row struct {
	assetstore.Record
	index assetstore.Index
}

// labelled is an attribute of the asset with this ordinal.
type labelled struct {
	assetstore.Attribute
	ordinal int64
}

// posting is the posting list of a term: the ordinals of the assets that have it. No asset has the empty term; its
// posting list has all assets.
type posting struct {
	term     string
	ordinals []int64
}

func newAssetStore(db *DB) *assetStore {
	a := &assetStore{db: db}
	a.now.Store(&tree[*library]{compare: func(a, b *library) int { return compareLibraries(a.name, b.name) }})
	return a
}

func newLibrary(name assetstore.Library) *library {
	return &library{
		name:    name,
		rows:    tree[*row]{compare: func(a, b *row) int { return cmp.Compare(a.Ordinal, b.Ordinal) }},
		origins: tree[*row]{compare: func(a, b *row) int { return bytes.Compare(a.Origin[:], b.Origin[:]) }},
		folders: tree[assetstore.FolderRecord]{compare: func(a, b assetstore.FolderRecord) int { return strings.Compare(a.ID, b.ID) }},
		values:  tree[labelled]{compare: compareLabelled},
		postings: tree[posting]{compare: func(a, b posting) int {
			return strings.Compare(a.term, b.term)
		}},
	}
}

func compareLibraries(a, b assetstore.Library) int {
	return cmp.Or(strings.Compare(a.Network, b.Network), strings.Compare(a.ID, b.ID))
}

func compareLabelled(a, b labelled) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value), cmp.Compare(a.ordinal, b.ordinal))
}

// View calls fn with the current state of the library. No Update waits for it.
func (s *assetStore) View(ctx context.Context, lib assetstore.Library, fn func(assetstore.Reader) error) error {
	if err := s.db.Ping(ctx); err != nil {
		return err
	}
	return fn(s.find(*s.now.Load(), lib))
}

// Update calls fn with a copy of the library. If fn returns nil, the copy becomes its current state; otherwise it is
// dropped. Updates of all libraries run one after another.
func (s *assetStore) Update(ctx context.Context, lib assetstore.Library, fn func(assetstore.Tx) error) error {
	s.writer.Lock()
	defer s.writer.Unlock()
	if err := s.db.Ping(ctx); err != nil {
		return err
	}
	now := *s.now.Load()
	next := *s.find(now, lib) // shares every tree
	if err := fn(assetTx{&next}); err != nil {
		return err
	}
	now = now.put(&next)
	s.now.Store(&now)
	s.bell.Ring()
	return nil
}

// Changed returns a channel that is closed by the next commit in any library, or before that by ResetFeed or Close.
func (s *assetStore) Changed() <-chan struct{} { return s.db.changed(&s.bell) }

// find returns the library, or an empty one if nothing is stored of it.
func (s *assetStore) find(all tree[*library], lib assetstore.Library) *library {
	l, found := all.find(func(l *library) int { return compareLibraries(l.name, lib) })
	if !found {
		l = newLibrary(lib)
		l.feed.origin = &s.db.origin
	}
	return l
}

// Libraries yields the libraries that have a state.
func (s *assetStore) Libraries(ctx context.Context) iter.Seq2[assetstore.Library, error] {
	return func(yield func(assetstore.Library, error) bool) {
		if err := s.db.Ping(ctx); err != nil {
			yield(assetstore.Library{}, err)
			return
		}
		out := limited(ctx, 0, yield)
		s.now.Load().ascend(nil, func(l *library) bool {
			return l.state == assetstore.State{} || out(l.name)
		})
	}
}

// with returns the posting with the ordinal added, if it does not have it. The ordinals stay ascending. p keeps its own.
func (p posting) with(ordinal int64) posting {
	i, found := slices.BinarySearch(p.ordinals, ordinal)
	switch {
	case found:
	case i == len(p.ordinals):
		// Older states share the array, but read only up to their own length. Only one state is built at a time.
		p.ordinals = append(p.ordinals, ordinal)
	default:
		p.ordinals = slices.Insert(slices.Clip(p.ordinals), i, ordinal)
	}
	return p
}

// without returns the posting without the ordinal, in an array of its own.
func (p posting) without(ordinal int64) posting {
	i, found := slices.BinarySearch(p.ordinals, ordinal)
	if found {
		p.ordinals = slices.Concat(p.ordinals[:i], p.ordinals[i+1:])
	}
	return p
}
