package assets

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// Each library has a space of its own, assets/<network>/<id>, with these records:
//
//	library              the names of network and library, as JSON; put with the first State
//	state                libraryState, as JSON; put by each update
//	asset/<ordinal>      an asset: assetRow
//	origin/<digest>      the ordinal of the asset with this Origin
//	folder/<id>          a folder, as JSON
//	index, new/, t/, b/  the index of the terms of the assets: package index
//	feed, log/, …        the feed of changes: record.Feed
//
// Beside the terms of an asset the index has the empty one, which all assets have.
const (
	libraryKind = "library/"
	stateKind   = "state/"
	assetKind   = "asset/"
	originKind  = "origin/"
	folderKind  = "folder/"

	librarySpaces = "assets/"
)

// NotArchived returns what the keys begin with that no archive has (see archive.Without): those of feeds.
func NotArchived() []string { return record.FeedKinds(librarySpaces + "*") }

func spaceOf(l Library) string { return record.Space("assets", l.Network, l.ID) }

// records are the rows of libraries in a storage.Store.
type records struct {
	db         storage.Store
	segments   *index.Cache
	identified atomic.Bool // the store has the identity that feeds need
}

// segmentBytes is how large the cache of segments of the search indices is.
const segmentBytes = 32 << 20

// NewRecords returns the rows of libraries in a store of keys and values.
func NewRecords(db storage.Store) assetstore.Store {
	return &records{db: db, segments: index.NewCache(segmentBytes)}
}

// libraryState is the State of a library as it is stored.
type libraryState struct {
	Key     []byte `json:"key"`
	Last    int64  `json:"last"`
	At      int64  `json:"at"`
	Count   int64  `json:"count"`
	Tree    int64  `json:"tree"`
	Highest int64  `json:"highest,omitempty"` // no asset has ever had a higher ordinal; 0 stands for Last
}

func (s libraryState) state() State {
	out := State{Last: s.Last, At: s.At, Count: s.Count, Tree: s.Tree}
	copy(out.Key[:], s.Key)
	return out
}

// identify gives the store an identity if it has none.
func (s *records) identify(ctx context.Context) error {
	if s.identified.Load() {
		return nil
	}
	err := storage.EnsureIdentity(ctx, s.db)
	s.identified.Store(err == nil)
	return err
}

func (s *records) View(ctx context.Context, lib Library, fn func(Reader) error) error {
	if err := s.identify(ctx); err != nil {
		return err
	}
	return s.db.View(ctx, func(r storage.Reader) error {
		in, value, err := s.reader(ctx, lib, r)
		if err == nil {
			in.index, err = in.terms().Reader(r, value)
		}
		if err != nil {
			return err
		}
		return fn(in)
	})
}

func (s *records) Update(ctx context.Context, lib Library, fn func(Tx) error) error {
	if err := s.identify(ctx); err != nil {
		return err
	}
	return s.db.Update(ctx, spaceOf(lib), storage.UpdateOptions{}, func(t storage.Tx) error {
		in, value, err := s.reader(ctx, lib, t)
		if err != nil {
			return err
		}
		w := &recordTx{recordReader: *in, tx: t, pending: map[string][]byte{}, read: map[string][]byte{}}
		w.highest = max(w.state.Last, w.state.Highest)
		if w.writer, err = in.terms().Writer(t, value); err != nil {
			return err
		}
		w.recordReader.tx, w.index = w, &w.writer.Reader
		if err := fn(w); err != nil {
			return err
		}
		return w.finish(ctx)
	})
}

func (s *records) Changed() <-chan struct{} { return s.db.Changed(librarySpaces) }

// Libraries reads the names of all libraries, since those of their spaces sort otherwise.
func (s *records) Libraries(ctx context.Context) iter.Seq2[Library, error] {
	return func(yield func(Library, error) bool) {
		var all []Library
		err := s.db.View(ctx, func(r storage.Reader) error {
			all = all[:0]
			var keys []string
			for space, err := range r.Spaces(ctx, librarySpaces) {
				if err != nil {
					return err
				}
				keys = append(keys, record.Key(space, libraryKind))
			}
			for part := range slices.Chunk(keys, 1000) {
				values, err := r.Get(ctx, part...)
				if err != nil {
					return err
				}
				for i, v := range values {
					if v == nil {
						continue
					}
					var l Library
					if err := readJSON(part[i], v, &l); err != nil {
						return err
					}
					all = append(all, l)
				}
			}
			return nil
		})
		if err != nil {
			yield(Library{}, err)
			return
		}
		slices.SortFunc(all, func(a, b Library) int {
			if a.Network != b.Network {
				return strings.Compare(a.Network, b.Network)
			}
			return strings.Compare(a.ID, b.ID)
		})
		for _, l := range all {
			if !yield(l, nil) {
				return
			}
		}
	}
}

// reader returns the reader of a library, and the state of its index.
func (s *records) reader(ctx context.Context, lib Library, r storage.Reader) (*recordReader, []byte, error) {
	in := &recordReader{s: s, r: r, lib: lib, space: spaceOf(lib)}
	in.assets, in.origins = record.Prefix(in.space, assetKind), record.Prefix(in.space, originKind)
	values, err := r.Get(ctx, in.key(stateKind), in.terms().Key())
	if err != nil {
		return nil, nil, err
	}
	if values[0] != nil {
		err = readJSON(in.key(stateKind), values[0], &in.state)
	}
	return in, values[1], err
}

// readJSON decodes the value of a record.
func readJSON(key string, value []byte, out any) error {
	if err := json.Unmarshal(value, out); err != nil {
		return fmt.Errorf("the record %q is damaged: %w", key, err)
	}
	return nil
}

// jsonEntry returns an entry with a value in JSON.
func jsonEntry(key string, value any) (storage.Entry, error) {
	b, err := json.Marshal(value)
	return storage.Entry{Key: key, Value: b}, err
}
