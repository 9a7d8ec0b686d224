package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

var assetLibraryRules = []assetRule{
	// A driver has no call that creates a library. Reading an unknown one is no error, and creates nothing.
	{"a library to which nothing was written is empty, and its State is zero", func(t *testing.T, s assetstore.Store) {
		newAssetModel().checkIn(t, s, nowhere)
		change(t, s, library, func(w assetstore.Tx) error { return fillAssets(w, newAssetModel()) })
		newAssetModel().checkIn(t, s, nowhere)
		wantNone(t, s, nowhere, 1, record(1).Origin)
	}},
	// Libraries are told apart by network and ID, byte by byte. The two parts must not be joined with a separator that
	// either of them may contain.
	{"libraries are separate: the same ordinals, origins and folder ids in two of them are different things", func(t *testing.T, s assetstore.Store) {
		libs := []assetstore.Library{library, nowhere, {Network: "nowhere", ID: "example.test"}, {Network: "Example.test", ID: "example.test"},
			{Network: "a", ID: "b/c"}, {Network: "a/b", ID: "c"}, {Network: "a", ID: "é' \""}}
		models := map[assetstore.Library]*assetModel{}
		for i, lib := range libs {
			m := newAssetModel()
			models[lib] = m
			change(t, s, lib, func(w assetstore.Tx) error {
				x := index("both", fmt.Sprint("of", i))
				x.Attributes = []assetstore.Attribute{{Key: "k", Value: fmt.Sprint("of", i)}}
				r := record(int64(i + 1))
				r.Origin = record(1).Origin // the same in all
				return errors.Join(fillAssets(w, m), m.delete(w, 1), m.delete(w, 2), m.put(w, r, x),
					m.putFolder(w, folderRecord("a", "", permission(fmt.Sprint(i)))))
			})
		}
		for _, lib := range libs {
			models[lib].checkIn(t, s, lib)
		}
		change(t, s, libs[3], func(w assetstore.Tx) error { return models[libs[3]].delete(w, 4) })
		for _, lib := range libs {
			models[lib].checkIn(t, s, lib)
		}
	}},
	// An Update that writes nothing makes no library.
	{"Libraries yields the libraries that have a State, by network and then by ID, in byte order", func(t *testing.T, s assetstore.Store) {
		if got, err := collect(s.Libraries(ctx)); err != nil || len(got) != 0 {
			t.Fatalf("an empty store has libraries %v, error %v", got, err)
		}
		want := []assetstore.Library{{Network: "B", ID: "a"}, {Network: "a", ID: "B"}, {Network: "a", ID: "a"}, {Network: "a b", ID: ""}, {Network: "é", ID: "x"}}
		for _, lib := range []int{3, 1, 4, 0, 2} {
			change(t, s, want[lib], func(w assetstore.Tx) error { return w.SetState(ctx, assetstore.State{Key: assetstore.Key{1}}) })
		}
		change(t, s, nowhere, func(w assetstore.Tx) error { return nil })
		got, err := collect(s.Libraries(ctx))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Libraries: %v, error %v; want %v", got, err, want)
		}
	}},
}

var assetTransactionRules = []assetRule{
	// Each write of assets, folders and the State is tried, and the reads of the transaction see its writes before it is
	// rolled back. Afterwards the same writes succeed.
	{"an Update that returns an error or panics commits nothing, and the caller gets the error or the panic", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error { return fillAssets(w, m) })
		own := errors.New("fn's own")
		all := func(w assetstore.Tx) error {
			spoiled := m.clone()
			x := index("both", "spoiled")
			x.Attributes = []assetstore.Attribute{{Key: "k", Value: "spoiled"}}
			return errors.Join(spoiled.put(w, record(2), x), spoiled.put(w, record(3), x), spoiled.delete(w, 1),
				spoiled.putFolder(w, folderRecord("a", "b")), spoiled.putFolder(w, folderRecord("c", "")),
				spoiled.setState(w, assetstore.State{Key: assetstore.Key{9}}), spoiled.check(w))
		}
		err := s.Update(ctx, library, func(w assetstore.Tx) error { return errors.Join(all(w), own) })
		checkError(t, err, own, "Update")
		m.checkIn(t, s, library)
		if got := panicOf(func() {
			_ = s.Update(ctx, library, func(w assetstore.Tx) error {
				if err := all(w); err != nil {
					t.Error(err)
				}
				panic(own)
			})
		}); got != any(own) {
			t.Errorf("the panic came out as %v", got)
		}
		m.checkIn(t, s, library)
		checkError(t, s.View(ctx, library, func(assetstore.Reader) error { return own }), own, "View")
		change(t, s, library, all)
	}},
	// An Update may read its own uncommitted rows. A cache that keeps them would show other callers what never
	// happened.
	{"reads inside an Update that is rolled back leave no trace in any cache", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error { return fillAssets(w, m) })
		// Each round writes the same ordinals, folders and State numbers with other content, and reads all of them.
		everything := func(w assetstore.Tx, m *assetModel, text string) error {
			x := index("both", text)
			x.Attributes = []assetstore.Attribute{{Key: "k", Value: text}}
			r := record(3, "c")
			r.Body = fmt.Appendf(nil, `{"content":{"id":%q}}`, text)
			return errors.Join(
				m.put(w, record(2), x), m.put(w, r, x), m.delete(w, 1), m.putFolder(w, folderRecord("c", "", permission(text))),
				m.setState(w, assetstore.State{Key: assetstore.Key{1}, Last: 3, At: 4, Count: 2, Tree: 2}), m.check(w),
			)
		}
		gone := errors.New("rolled back")
		for round := range 3 {
			err := s.Update(ctx, library, func(w assetstore.Tx) error {
				return errors.Join(everything(w, m.clone(), fmt.Sprint("round", round)), gone)
			})
			if err == nil || err.Error() != gone.Error() {
				t.Errorf("Update: error %v, want %v alone", err, gone)
			}
			m.checkIn(t, s, library)
		}
		change(t, s, library, func(w assetstore.Tx) error { return everything(w, m, "kept") })
		m.checkIn(t, s, library)
	}},
	// The rules of the domain read what the same transaction wrote a moment before. A driver that collects writes until
	// the commit, or that reads through a second connection, fails here.
	{"the reads of an Update see its own writes", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error {
			if err := errors.Join(fillAssets(w, m), m.check(w)); err != nil {
				return err
			}
			return errors.Join(m.put(w, record(2), index("other")), m.check(w), m.delete(w, 1), m.check(w),
				m.put(w, record(1), index("again")), m.check(w))
		})
		m.checkIn(t, s, library)
	}},
	// Another goroutine begins an Update while fn runs. The reads after it return the same as before. A store may let the
	// Update wait for the View.
	{"a View keeps its snapshot while others write", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error { return fillAssets(w, m) })
		later := m.clone()
		var done chan error // made when the Update begins
		err := s.View(ctx, library, func(r assetstore.Reader) error {
			if done != nil {
				return nil // a second run, whose snapshot may have the Update
			}
			if err := m.check(r); err != nil {
				return err
			}
			done = make(chan error, 1)
			go func() {
				done <- s.Update(ctx, library, func(w assetstore.Tx) error {
					return errors.Join(later.delete(w, 1), later.put(w, record(3), index("both")), later.putFolder(w, folderRecord("z", "")))
				})
			}()
			select {
			case err := <-done:
				done <- err
			case <-time.After(100 * time.Millisecond):
			}
			return m.check(r)
		})
		if done == nil {
			t.Fatal(err)
		}
		if err := errors.Join(err, <-done); err != nil {
			t.Error(err)
		}
		later.checkIn(t, s, library)
	}},
	// Each asset of the list is put again with other terms while the list is read.
	{"a caller may leave an iterator early, range over it again, and write between its steps", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error {
			if err := fillAssets(w, m); err != nil {
				return err
			}
			list := w.Assets(ctx, assetstore.AssetQuery{All: []assetstore.AnyOf{{"both"}}})
			for range list {
				break
			}
			for r, err := range list {
				if err == nil {
					err = m.put(w, r, index("moved", "both"))
				}
				if err != nil {
					return err
				}
			}
			return m.check(w)
		})
		m.checkIn(t, s, library)
	}},
	// Callers stop at an error, and a list that ends without one counts as complete. A driver must never end a list
	// early without an error.
	{"an iterator yields an error once, as its last pair", func(t *testing.T, s assetstore.Store) {
		change(t, s, library, func(w assetstore.Tx) error {
			return errors.Join(fillAssets(w, newAssetModel()), w.PutAsset(ctx, record(3), index("both", "once")))
		})
		look := func(r assetstore.Reader) error {
			over, cancel := context.WithCancel(ctx)
			cancel()
			whole := assetLists(r, ctx)
			for name, list := range assetLists(r, over) {
				want, err := countUpTo(whole[name], -1)
				if err != nil || want < 2 {
					return fmt.Errorf("%s: %d pairs, error %v; want two or more", name, want, err)
				}
				pairs, failed := 0, error(nil)
				for err := range list {
					if failed != nil {
						return fmt.Errorf("%s: a pair follows the error %v", name, failed)
					}
					pairs, failed = pairs+1, err
				}
				// A driver may have read the whole list already, and need not check the context then.
				if failed == nil && pairs != want || failed != nil && !errors.Is(failed, context.Canceled) {
					return fmt.Errorf("%s, with a context that is done: %d pairs, error %v", name, pairs, failed)
				}
			}
			return nil
		}
		if err := s.View(ctx, library, look); err != nil {
			t.Errorf("in a View: %v", err)
		}
		if err := s.Update(ctx, library, func(w assetstore.Tx) error { return look(w) }); err != nil {
			t.Errorf("in an Update: %v", err)
		}
	}},
	// This includes what pointers lead to: the group, role and user of a permission. Bodies that a store returns may be
	// shared, and nobody changes them.
	{"a store copies what it is given, and the caller may change what it returns", func(t *testing.T, s assetstore.Store) {
		r, x, f := record(1, "a"), index("one", "two"), folderRecord("a", "", permission("p"))
		x.Attributes = []assetstore.Attribute{{Key: "k", Value: "v"}}
		change(t, s, library, func(w assetstore.Tx) error {
			err := errors.Join(w.PutAsset(ctx, r, x), w.PutFolder(ctx, f))
			return err
		})
		scribble := func(r assetstore.Record, f assetstore.FolderRecord) {
			overwrite(r.Folders)
			f.Permissions[0].User.ID, *f.Permissions[0].Group, f.Permissions[0].ID = "#", "#", "#"
		}
		scribble(r, f)
		copy(r.Body, bytes.Repeat([]byte("#"), len(r.Body)))
		overwrite(x.Terms)
		x.Attributes[0].Value = "#"
		m := newAssetModel()
		m.rows[1] = assetRow{record(1, "a"), assetstore.Index{Terms: []string{"one", "two"}, Attributes: []assetstore.Attribute{{Key: "k", Value: "v"}}}}
		m.folders["a"] = folderRecord("a", "", permission("p"))
		for range 2 {
			m.checkIn(t, s, library)
			_ = s.View(ctx, library, func(reader assetstore.Reader) error {
				got, err := reader.Asset(ctx, 1)
				folders, err2 := collect(reader.Folders(ctx))
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				scribble(got, folders[0])
				return nil
			})
		}
	}},
	// Each Update reads the State and takes the next ordinal from it. If two read the same State, one of them must wait or run
	// again.
	{"parallel Updates of one library are all committed, one after the other", func(t *testing.T, s assetstore.Store) {
		together(t, workers, func(worker int) error {
			for range rounds {
				err := s.Update(ctx, library, func(w assetstore.Tx) error {
					state, err := w.State(ctx)
					if err != nil {
						return err
					}
					state.Last++
					return errors.Join(w.SetState(ctx, state), w.PutAsset(ctx, record(state.Last), index("all", fmt.Sprint(worker))))
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		err := s.View(ctx, library, func(r assetstore.Reader) error {
			state, err := r.State(ctx)
			n, err2 := r.Count(ctx, assetstore.AssetQuery{All: []assetstore.AnyOf{{"all"}}})
			one, err3 := r.Count(ctx, assetstore.AssetQuery{All: []assetstore.AnyOf{{"3"}}})
			if state.Last != workers*rounds || n != workers*rounds || one != rounds {
				t.Errorf("the last ordinal is %d, %d assets are there, %d of one worker; want %d, and %[4]d, and %[5]d", state.Last, n, one, workers*rounds, rounds)
			}
			return errors.Join(err, err2, err3)
		})
		if err != nil {
			t.Error(err)
		}
	}},
	// A client that has gone away costs the store no transaction.
	{"with a context that is done View and Update return the context's error and do not call fn", func(t *testing.T, s assetstore.Store) {
		over, cancel := context.WithCancel(ctx)
		cancel()
		never := func() error { t.Error("fn was called"); return nil }
		checkError(t, s.View(over, library, func(assetstore.Reader) error { return never() }), context.Canceled, "View")
		checkError(t, s.Update(over, library, func(assetstore.Tx) error { return never() }), context.Canceled, "Update")
	}},
}

// assetLists has each kind of iterator, except Entries. In a library of fillAssets that also has an asset with the term "once",
// each has two items or more. Each yields only the error of each pair.
func assetLists(r assetstore.Reader, ctx context.Context) map[string]iter.Seq[error] {
	every, both := assetstore.AssetQuery{}, assetstore.AssetQuery{All: []assetstore.AnyOf{{"both"}}}
	most := both
	most.Limit = 5
	return map[string]iter.Seq[error]{
		"Assets":                  errorsOf(r.Assets(ctx, every)),
		"Assets with a term":      errorsOf(r.Assets(ctx, both)),
		"AssetsFrom":              errorsOf(r.AssetsFrom(ctx, []assetstore.Origin{record(1).Origin, record(2).Origin})),
		"CountTerms":              errorsOf(r.CountTerms(ctx, every, "on")),
		"CountTerms among some":   errorsOf(r.CountTerms(ctx, both, "on")),
		"CountTerms with a limit": errorsOf(r.CountTerms(ctx, most, "on")),
		"Folders":                 errorsOf(r.Folders(ctx)),
		"Values":                  errorsOf(r.Values(ctx, "k", nil)),
		"Values among some":       errorsOf(r.Values(ctx, "k", both.All)),
	}
}
