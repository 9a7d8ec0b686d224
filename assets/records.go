package assets

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// Each library has a space of its own, assets/<network>/<id>, with these records:
//
//	library          the names of network and library, as JSON; put with the first State
//	asset/<ordinal>  an asset: assetRecord
//	current          the State, as JSON; put by each update, and beside the last asset, so that an update changes few pages of a file
//	folder/<id>      a folder, as JSON
//	file/<id>        the ordinal of the asset that has the file, as JSON
//	gone/<name>      bytes that no file has any more, see goneFile
//	index, new/, t/  the index of the terms of the assets by oldRules: package index
//	index1, …        the one by newRules
//	feed, log/, …    the feed of changes: feed.Feed
const (
	libraryKind = "library/"
	assetKind   = "asset/"
	stateKind   = "current/"
	folderKind  = "folder/"
	fileKind    = "file/"
	goneKind    = "gone/"

	librarySpaces = "assets/"
)

func spaceOf(l Library) string { return keyval.Space("assets", l.Network, l.ID) }

// segmentBytes is the size of the cache of index segments.
const segmentBytes = 32 << 20

// records reads the records of a library in a snapshot, or reads and writes them in an update.
type records struct {
	ctx    context.Context
	lib    Library
	r      storage.Reader
	tx     *keyval.Tx // nil in a snapshot
	space  string
	assets string // what the keys of assets begin with
	state  libraryState
	old    bool          // searches read the index by oldRules, as long as the other one is not complete
	left   bool          // the index by oldRules is not dropped yet, and nothing reads it any more
	index  *index.Reader // the one that searches read
	next   *index.Reader // the one that replaces it, while that is built; else nil
	// both, in an update
	writers []*index.Writer
}

// rules returns the number of the rules of the index that searches read.
func (r *records) rules() rules {
	if r.old {
		return oldRules
	}
	return newRules
}

// indexBy returns the index of the library by these rules.
func (r *records) indexBy(by rules, cache *index.Cache) index.Index {
	return index.Index{Space: r.space, Rules: int(by), Cache: cache}
}

// openRecords returns the records of a library. tx is r in an update, and nil in a snapshot.
func openRecords(
	ctx context.Context, lib Library, cache *index.Cache, r storage.Reader, tx *keyval.Tx,
) (*records, error) {
	out := newRecords(ctx, lib, r, tx)
	kinds := []index.Index{out.indexBy(oldRules, cache), out.indexBy(newRules, cache)}
	values, err := r.Get(ctx, out.key(stateKind), kinds[oldRules].Key(), kinds[newRules].Key())
	if err != nil {
		return nil, err
	}
	if values[0] != nil {
		if err := readJSON(out.key(stateKind), values[0], &out.state); err != nil {
			return nil, err
		}
	}
	values = values[1:]
	if wasWritten(out.state) {
		out.old = out.state.Rules != newRules
		out.left = !out.old && !bytes.Equal(values[oldRules], index.Dropped)
	}
	if out.index, err = out.open(kinds[out.rules()], values[out.rules()]); err == nil && out.old &&
		values[newRules] != nil {
		out.next, err = out.open(kinds[newRules], values[newRules])
	}
	return out, err
}

// open opens an index, in an update for writing too. value is the value of its key.
func (r *records) open(in index.Index, value []byte) (*index.Reader, error) {
	if r.tx == nil {
		return in.Reader(r.r, value)
	}
	w, err := in.Writer(r.tx, value)
	if err != nil {
		return nil, err
	}
	r.writers = append(r.writers, w)
	return &w.Reader, nil
}

// finish stores the changes of the indices. It must be the last call of an update.
func (r *records) finish() error {
	for _, w := range r.writers {
		if err := w.Finish(r.ctx); err != nil {
			return err
		}
	}
	return nil
}

// newRecords returns records without the State and the index.
func newRecords(ctx context.Context, lib Library, r storage.Reader, tx *keyval.Tx) *records {
	space := spaceOf(lib)
	return &records{ctx: ctx, lib: lib, r: r, tx: tx, space: space, assets: keyval.Prefix(space, assetKind)}
}

func (r *records) key(kind string) string      { return keyval.Key(r.space, kind) }
func (r *records) assetKey(o int64) string     { return r.assets + keyval.Number(o) }
func (r *records) folderKey(id string) string  { return keyval.Key(r.space, folderKind, id) }
func (r *records) fileKey(id string) string    { return keyval.Key(r.space, fileKind, id) }
func (r *records) feed() feed.Feed             { return feed.Feed{Space: r.space} }
func (r *records) put(e storage.Entry) error   { return r.tx.Put(r.ctx, e) }
func (r *records) delete(keys ...string) error { return r.tx.Delete(r.ctx, keys...) }
func (r *records) putJSON(key string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return r.put(storage.Entry{Key: key, Value: b})
}

// readJSON decodes the value of a record.
func readJSON(key string, value []byte, out any) error {
	if err := json.Unmarshal(value, out); err != nil {
		return keyval.Damaged(key, err)
	}
	return nil
}

// putState stores the State. first creates the library, so that Libraries yields it. It also marks the index by
// oldRules as dropped, so that v0.2.0 does not begin one.
func (r *records) putState(s libraryState, first bool) error {
	if first {
		err := r.putJSON(r.key(libraryKind), r.lib)
		if err == nil {
			err = r.put(storage.Entry{Key: r.indexBy(oldRules, nil).Key(), Value: index.Dropped})
		}
		if err != nil {
			return err
		}
	}
	return r.putJSON(r.key(stateKind), s)
}

// putAsset stores an asset in place of old, the zero assetRecord for a new one. before and after are sorted: the terms
// by newRules that it loses and those that it gets.
func (r *records) putAsset(old, a assetRecord, before, after []string) error {
	if !r.old {
		r.writers[0].Change(a.Ordinal, before, after)
	} else if err := r.changeTerms(a.Ordinal, old, a); err != nil {
		return err
	}
	return r.put(storage.Entry{Key: r.assetKey(a.Ordinal), Value: encodeAsset(a)})
}

// deleteAsset removes an asset.
func (r *records) deleteAsset(a assetRecord) error {
	if err := r.changeTerms(a.Ordinal, a, assetRecord{}); err != nil {
		return err
	}
	return r.delete(r.assetKey(a.Ordinal))
}

// changeTerms changes the terms of an asset from those of old to those of new. The zero assetRecord has none.
func (r *records) changeTerms(ordinal int64, old, new assetRecord) error {
	for _, w := range r.writers {
		before, err := termsOf(old, rules(w.Rules))
		if err != nil {
			return err
		}
		after, err := termsOf(new, rules(w.Rules))
		if err != nil {
			return err
		}
		w.Change(ordinal, before, after)
	}
	return nil
}

// assetsWith returns the assets with these ordinals, and the zero assetRecord for each ordinal that has none.
func (r *records) assetsWith(ordinals []int64) ([]assetRecord, error) {
	keys := make([]string, len(ordinals))
	for i, o := range ordinals {
		keys[i] = r.assetKey(o)
	}
	values, err := r.r.Get(r.ctx, keys...)
	if err != nil {
		return nil, err
	}
	out := make([]assetRecord, len(ordinals))
	for i, v := range values {
		if v == nil {
			continue
		}
		if out[i], err = r.decode(storage.Entry{Key: keys[i], Value: v}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decode returns the asset of an entry. The body shares memory with the value.
func (r *records) decode(e storage.Entry) (a assetRecord, err error) {
	ordinal, err := keyval.ParseNumber(e.Key[len(r.assets):])
	if err != nil {
		return a, keyval.Damaged(e.Key, err)
	}
	a.Ordinal = ordinal
	f := keyval.Fields{Key: e.Key, Rest: e.Value}
	form := f.Uint()
	if (form < oldestRowForm || form > rowForm) && f.Err() == nil {
		return a, fmt.Errorf("the record %q has the form %d, want %d", e.Key, form, rowForm)
	}
	copy(a.Origin[:], f.Text())
	a.CreatedAt = f.Int()
	a.UpdatedAt = a.CreatedAt + f.Int()
	for n := f.Uint(); n > 0 && f.Err() == nil; n-- {
		a.Folders = append(a.Folders, string(f.Text()))
	}
	a.words = int(f.Uint())
	switch form {
	case oldestRowForm:
		f.Uint()
	case rowForm:
		if a.File = f.Text(); len(a.File) == 0 {
			a.File = nil
		}
	}
	a.Body = f.Rest
	return a, f.Err()
}

// atOnce is the maximum number of assets that one trip to the store reads.
const atOnce = 200

// assetsFrom returns the assets with these origins that exist.
func (r *records) assetsFrom(origins []origin) (*index.Set, error) {
	var terms []string
	for _, o := range origins {
		terms = append(terms, originTerm(o))
	}
	return r.index.Find(r.ctx, index.Query{All: [][]string{terms}})
}

// byOrigin returns the assets of a set by their origins.
func (r *records) byOrigin(found *index.Set) (map[origin]assetRecord, error) {
	out := map[origin]assetRecord{}
	for a, err := range r.assetsIn(found, pageRange{}) {
		if err != nil {
			return nil, err
		}
		out[a.Origin] = a
	}
	return out, nil
}

// assetsIn yields the assets of a range that are in a set. A nil set contains all assets.
func (r *records) assetsIn(found *index.Set, at pageRange) iter.Seq2[assetRecord, error] {
	if found == nil && !at.byCreated {
		return r.every(at)
	}
	keys := func(yield func(string, error) bool) {
		if at.byCreated {
			list, err := r.byCreated(found, at)
			for _, o := range list {
				if !yield(r.assetKey(o), nil) {
					return
				}
			}
			if err != nil {
				yield("", err)
			}
			return
		}
		left := at.limit
		for o := range found.Between(at.after.ordinal, at.before.ordinal, at.ascending) {
			if left--; !yield(r.assetKey(o), nil) || left == 0 {
				return
			}
		}
	}
	return keyval.Map(keyval.Load(r.ctx, r.r, keys, atOnce), r.decode)
}

// every yields all assets of a range.
func (r *records) every(at pageRange) iter.Seq2[assetRecord, error] {
	in := storage.Prefix(r.assets)
	in.From = r.assetKey(max(at.after.ordinal, 0) + 1)
	if at.before.isBound() {
		in.To = r.assetKey(at.before.ordinal)
	}
	if in.From >= in.To {
		return func(func(assetRecord, error) bool) {}
	}
	in.Reverse, in.Limit, in.Expect = !at.ascending, at.limit, at.limit
	return keyval.Map(r.r.Scan(r.ctx, in), r.decode)
}

// folders yields every folder, including deleted ones, by id in byte order.
func (r *records) folders() iter.Seq2[folderRecord, error] {
	return keyval.Map(r.r.Scan(r.ctx, storage.Prefix(keyval.Prefix(r.space, folderKind))),
		func(e storage.Entry) (folderRecord, error) {
			var f folderRecord
			err := readJSON(e.Key, e.Value, &f)
			return f, err
		})
}

// libraries yields every library that was written to, by network and then by id, both in byte order. An error is the
// last pair.
func libraries(ctx context.Context, db storage.Store) iter.Seq2[Library, error] {
	return func(yield func(Library, error) bool) {
		var all []Library
		err := db.View(ctx, func(r storage.Reader) error {
			all = all[:0]
			keys := keyval.Map(r.Spaces(ctx, librarySpaces), func(space string) (string, error) {
				return keyval.Key(space, libraryKind), nil
			})
			for e, err := range keyval.Load(ctx, r, keys, 1000) {
				var l Library
				if err == nil {
					err = readJSON(e.Key, e.Value, &l)
				}
				if err != nil {
					return err
				}
				all = append(all, l)
			}
			return nil
		})
		if err != nil {
			yield(Library{}, err)
			return
		}
		// Spaces are not in the order of networks and ids.
		slices.SortFunc(all, func(a, b Library) int {
			return cmp.Or(strings.Compare(a.Network, b.Network), strings.Compare(a.ID, b.ID))
		})
		for _, l := range all {
			if !yield(l, nil) {
				return
			}
		}
	}
}
