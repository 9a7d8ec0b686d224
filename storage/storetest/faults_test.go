package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// faulty is a store with a fault. Where a function is nil, the method of the Store inside is called.
type faulty struct {
	storage.Store
	read   func(storage.Reader) storage.Reader
	write  func(storage.Tx) storage.Tx
	update func(s storage.Store, c context.Context, space string, o storage.UpdateOptions,
		fn func(storage.Tx) error) error
	view    func(s storage.Store, c context.Context, fn func(storage.Reader) error) error
	changed func(s storage.Store, prefix string) <-chan struct{}
	close   func(s storage.Store) error
}

func (f faulty) View(c context.Context, fn func(storage.Reader) error) error {
	inner := func(r storage.Reader) error {
		if f.read != nil {
			r = f.read(r)
		}
		return fn(r)
	}
	if f.view != nil {
		return f.view(f.Store, c, inner)
	}
	return f.Store.View(c, inner)
}

func (f faulty) Update(c context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	inner := func(t storage.Tx) error {
		if f.read != nil {
			t = tx{f.read(t), t}
		}
		if f.write != nil {
			t = f.write(t)
		}
		return fn(t)
	}
	if f.update != nil {
		return f.update(f.Store, c, space, o, inner)
	}
	return f.Store.Update(c, space, o, inner)
}

func (f faulty) Changed(prefix string) <-chan struct{} {
	if f.changed != nil {
		return f.changed(f.Store, prefix)
	}
	return f.Store.Changed(prefix)
}

func (f faulty) Close() error {
	if f.close != nil {
		return f.close(f.Store)
	}
	return f.Store.Close()
}

// tx reads through one and writes through the other.
type tx struct {
	storage.Reader
	to storage.Tx
}

func (t tx) Put(c context.Context, entries ...storage.Entry) error { return t.to.Put(c, entries...) }
func (t tx) Delete(c context.Context, keys ...string) error        { return t.to.Delete(c, keys...) }
func (t tx) DeleteRange(c context.Context, r storage.Range) error  { return t.to.DeleteRange(c, r) }

// reader has methods of its own in place of some.
type reader struct {
	storage.Reader
	get      func(r storage.Reader, keys []string) ([][]byte, error)
	scan     func(r storage.Reader, in []storage.Range) iter.Seq2[storage.Entry, error]
	estimate func(r storage.Reader, in storage.Range) int
	spaces   func(yield func(string, error) bool)
}

func (r reader) Get(c context.Context, keys ...string) ([][]byte, error) {
	if r.get == nil {
		return r.Reader.Get(c, keys...)
	}
	return r.get(r.Reader, keys)
}

func (r reader) Scan(c context.Context, in ...storage.Range) iter.Seq2[storage.Entry, error] {
	if r.scan == nil {
		return r.Reader.Scan(c, in...)
	}
	return r.scan(r.Reader, in)
}

func (r reader) Estimate(c context.Context, in storage.Range) (int, error) {
	if r.estimate == nil {
		return r.Reader.Estimate(c, in)
	}
	return r.estimate(r.Reader, in), nil
}

func (r reader) Spaces(c context.Context, prefix string) iter.Seq2[string, error] {
	if r.spaces == nil {
		return r.Reader.Spaces(c, prefix)
	}
	return r.spaces
}

// scanFault returns a store whose loops go over what f makes of the entries of each.
func scanFault(f func(in []storage.Range, all []storage.Entry) []storage.Entry) faulty {
	return faulty{read: func(r storage.Reader) storage.Reader {
		return reader{Reader: r, scan: func(r storage.Reader, in []storage.Range) iter.Seq2[storage.Entry, error] {
			return func(yield func(storage.Entry, error) bool) {
				var all []storage.Entry
				for e, err := range r.Scan(ctx, in...) {
					if err != nil {
						yield(e, err)
						return
					}
					all = append(all, e)
				}
				for _, e := range f(in, all) {
					if !yield(e, nil) {
						return
					}
				}
			}
		}}
	}}
}

// got returns a store whose Gets return what f makes of them.
func got(f func(keys []string, values [][]byte) [][]byte) faulty {
	return faulty{read: func(r storage.Reader) storage.Reader {
		return reader{Reader: r, get: func(r storage.Reader, keys []string) ([][]byte, error) {
			values, err := r.Get(ctx, keys...)
			return f(keys, values), err
		}}
	}}
}

// putFault returns a store that puts what f makes of an entry.
func putFault(f func(t storage.Tx, e storage.Entry) error) faulty {
	return faulty{write: func(t storage.Tx) storage.Tx { return puts{t, f} }}
}

type puts struct {
	storage.Tx
	f func(t storage.Tx, e storage.Entry) error
}

func (p puts) Put(_ context.Context, entries ...storage.Entry) error {
	for _, e := range entries {
		if err := p.f(p.Tx, e); err != nil {
			return err
		}
	}
	return nil
}

type deletes struct{ storage.Tx }

// DeleteRange deletes what has the key To as well.
func (d deletes) DeleteRange(c context.Context, r storage.Range) error {
	return errors.Join(d.Tx.DeleteRange(c, r), d.Tx.Delete(c, r.To))
}

// faults are drivers' mistakes, by the rule that finds each.
var faults = map[string]func() faulty{
	"keys are in the order of their bytes": func() faulty {
		return scanFault(func(_ []storage.Range, all []storage.Entry) []storage.Entry {
			slices.SortStableFunc(all, func(a, b storage.Entry) int {
				return strings.Compare(strings.ToLower(a.Key), strings.ToLower(b.Key))
			})
			return all
		})
	},
	"an empty value is not an absent one": func() faulty {
		return got(func(_ []string, values [][]byte) [][]byte {
			for i, v := range values {
				if len(v) == 0 {
					values[i] = nil
				}
			}
			return values
		})
	},
	"Get returns values in the order of its keys, which may repeat": func() faulty {
		return faulty{read: func(r storage.Reader) storage.Reader {
			return reader{Reader: r, get: func(r storage.Reader, keys []string) ([][]byte, error) {
				return r.Get(ctx, slices.Compact(slices.Sorted(slices.Values(keys)))...)
			}}
		}}
	},
	"a range begins with From, ends before To, and has Limit entries at most": func() faulty {
		return faulty{read: func(r storage.Reader) storage.Reader {
			return reader{Reader: r, scan: func(r storage.Reader, in []storage.Range) iter.Seq2[storage.Entry, error] {
				in = slices.Clone(in)
				for i := range in {
					if in[i].To != "" {
						in[i].To += "\x00"
					}
				}
				return r.Scan(ctx, in...)
			}}
		}}
	},
	"ranges are merged by what follows Skip bytes": func() faulty {
		return scanFault(func(in []storage.Range, all []storage.Entry) []storage.Entry {
			if len(in) > 1 {
				slices.SortStableFunc(all, func(a, b storage.Entry) int { return strings.Compare(a.Key, b.Key) })
			}
			return all
		})
	},
	"loops may contain other loops and may be left early": func() faulty {
		return faulty{read: func(r storage.Reader) storage.Reader {
			begun := 0 // a new loop ends the one before, as when they share a statement
			return reader{Reader: r, scan: func(r storage.Reader, in []storage.Range) iter.Seq2[storage.Entry, error] {
				return func(yield func(storage.Entry, error) bool) {
					begun++
					mine := begun
					for e, err := range r.Scan(ctx, in...) {
						if mine != begun || !yield(e, err) {
							return
						}
					}
				}
			}}
		}}
	},
	"a loop goes on while its transaction writes": func() faulty {
		return faulty{read: func(r storage.Reader) storage.Reader {
			return reader{Reader: r, scan: func(r storage.Reader, in []storage.Range) iter.Seq2[storage.Entry, error] {
				return func(yield func(storage.Entry, error) bool) {
					for n := 0; ; n++ { // by position, which moves when entries before it go
						i, more := 0, false
						for e, err := range r.Scan(ctx, in...) {
							if i++; i == n+1 {
								if more = true; !yield(e, err) {
									return
								}
								break
							}
						}
						if !more {
							return
						}
					}
				}
			}}
		}}
	},
	"an update reads what it has written": func() faulty {
		return faulty{update: func(s storage.Store, c context.Context, space string, o storage.UpdateOptions,
			fn func(storage.Tx) error) error {
			return s.Update(c, space, o, func(t storage.Tx) error {
				return s.View(c, func(r storage.Reader) error { return fn(tx{r, t}) })
			})
		}}
	},
	"an error leaves nothing of an update": func() faulty {
		return faulty{update: swallow(func() bool { return true })}
	},
	"a panic writes nothing, and goes on to the caller": func() faulty {
		return faulty{view: func(s storage.Store, c context.Context, fn func(storage.Reader) error) (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("panic: %v", p)
				}
			}()
			return s.View(c, fn)
		}}
	},
	"keys that are read again and again have their values of one moment": func() faulty {
		kept := map[string][][]byte{}
		var mu sync.Mutex
		return got(func(keys []string, values [][]byte) [][]byte {
			mu.Lock()
			defer mu.Unlock()
			name := strings.Join(keys, ",")
			if kept[name] == nil {
				kept[name] = values
			}
			return kept[name]
		})
	},
	"a View is one moment": func() faulty {
		return faulty{view: func(s storage.Store, c context.Context, fn func(storage.Reader) error) error {
			return fn(reader{Reader: nil, get: func(_ storage.Reader, keys []string) (values [][]byte, err error) {
				err = s.View(c, func(r storage.Reader) error { values, err = r.Get(c, keys...); return err })
				return values, err
			}, scan: func(_ storage.Reader, in []storage.Range) iter.Seq2[storage.Entry, error] {
				return func(yield func(storage.Entry, error) bool) {
					_ = s.View(c, func(r storage.Reader) error {
						for e, err := range r.Scan(c, in...) {
							if !yield(e, err) {
								break
							}
						}
						return nil
					})
				}
			}})
		}}
	},
	"a View has what was acknowledged before it": func() faulty {
		return faulty{update: func(s storage.Store, c context.Context, space string, o storage.UpdateOptions,
			fn func(storage.Tx) error) error {
			go func() { _ = s.Update(c, space, o, fn) }()
			return nil
		}}
	},
	"updates of a space read what earlier ones have written": func() faulty { return faulty{update: unordered} },
	"updates that fail beside others leave nothing": func() faulty {
		var n atomic.Int32
		return faulty{update: swallow(func() bool { return n.Add(1)%7 == 0 })}
	},
	"an update reads of other spaces what was committed": func() faulty {
		return faulty{update: func(s storage.Store, c context.Context, space string, o storage.UpdateOptions,
			fn func(storage.Tx) error) error {
			return s.Update(c, space, o, func(t storage.Tx) error {
				return fn(tx{reader{Reader: t, get: func(r storage.Reader, keys []string) ([][]byte, error) {
					values, err := r.Get(c, keys...)
					for i, key := range keys {
						if storage.SpaceOf(key) != space {
							values[i] = nil
						}
					}
					return values, err
				}}, t})
			})
		}}
	},
	"DeleteRange deletes what Scan would yield": func() faulty {
		return faulty{write: func(t storage.Tx) storage.Tx { return deletes{t} }}
	},
	"Large, Erase and Exclusive updates are updates": func() faulty {
		return faulty{update: func(s storage.Store, c context.Context, space string, o storage.UpdateOptions,
			fn func(storage.Tx) error) error {
			if o.Erase {
				return nil
			}
			return s.Update(c, space, o, fn)
		}}
	},
	"beside an exclusive update there is no other one": func() faulty { return faulty{update: unordered} },
	"a channel of Changed is closed for what a later View does not see": func() faulty {
		return faulty{changed: func(storage.Store, string) <-chan struct{} { return make(chan struct{}) }}
	},
	"Changed tells of the spaces below its prefix": func() faulty {
		return faulty{changed: func(s storage.Store, prefix string) <-chan struct{} {
			if strings.HasSuffix(prefix, "/") {
				return s.Changed(prefix + "/")
			}
			return s.Changed(prefix)
		}}
	},
	"Spaces yields those that have entries": func() faulty {
		return faulty{read: func(r storage.Reader) storage.Reader {
			return reader{Reader: r, spaces: func(yield func(string, error) bool) {
				for _, space := range []string{"a/b", "a/c", "a", "b", "gone"} {
					if !yield(space, nil) {
						return
					}
				}
			}}
		}}
	},
	"Estimate is 0 only for a range without entries": func() faulty {
		return faulty{read: func(r storage.Reader) storage.Reader {
			return reader{Reader: r, estimate: func(r storage.Reader, in storage.Range) int {
				n, _ := r.Estimate(ctx, in)
				return n / 10
			}}
		}}
	},
	"keys have 1 KiB and values 64 MiB at most": func() faulty {
		return putFault(func(t storage.Tx, e storage.Entry) error {
			e.Value = e.Value[:min(len(e.Value), 1<<20)]
			return t.Put(ctx, e)
		})
	},
	"a store is returned through Checked": func() faulty {
		return putFault(func(t storage.Tx, e storage.Entry) error {
			if storage.SpaceOf(e.Key) == "b" {
				return nil
			}
			return t.Put(ctx, e)
		})
	},
	"a context that has ended ends a call": func() faulty {
		return faulty{view: func(s storage.Store, _ context.Context, fn func(storage.Reader) error) error {
			return s.View(ctx, fn)
		}}
	},
	"a caller's bytes and a store's are not changed": func() faulty {
		kept := map[string][]byte{}
		return putFault(func(t storage.Tx, e storage.Entry) error {
			if old := kept[e.Key]; old != nil && len(old) == len(e.Value) {
				copy(old, e.Value)
				e.Value = old
			}
			kept[e.Key] = e.Value
			return t.Put(ctx, e)
		})
	},
	"Close waits, and ends everything": func() faulty {
		return faulty{close: func(s storage.Store) error {
			go s.Close()
			return nil
		}}
	},
	"any operations do what they do on a sorted map": func() faulty {
		return putFault(func(t storage.Tx, e storage.Entry) error {
			if len(e.Value) > 2048 {
				e.Value = e.Value[:2048]
			}
			return t.Put(ctx, e)
		})
	},
}

// swallow makes an update commit although its function has returned an error, whenever now returns true.
func swallow(
	now func() bool,
) func(storage.Store, context.Context, string, storage.UpdateOptions, func(storage.Tx) error) error {
	return func(s storage.Store, c context.Context, space string, o storage.UpdateOptions,
		fn func(storage.Tx) error) (failed error) {
		err := s.Update(c, space, o, func(t storage.Tx) error {
			if failed = fn(t); failed != nil && now() {
				return nil
			}
			return failed
		})
		if failed == nil {
			failed = err
		}
		return failed
	}
}

// unordered lets a function read a snapshot, and writes later what it has written.
func unordered(
	s storage.Store, c context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	var written []storage.Entry
	err := s.View(c, func(r storage.Reader) error {
		time.Sleep(time.Millisecond)
		return fn(tx{r, noted{nil, &written}})
	})
	if err != nil {
		return err
	}
	return s.Update(c, space, o, func(t storage.Tx) error { return t.Put(c, written...) })
}

type noted struct {
	storage.Tx
	written *[]storage.Entry
}

func (n noted) Put(_ context.Context, entries ...storage.Entry) error {
	*n.written = append(*n.written, entries...)
	return nil
}

// Each rule finds a driver that breaks it.
func TestFaultsAreFound(t *testing.T) {
	defer func(before time.Duration) { patience = before }(patience)
	patience = 100 * time.Millisecond
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			fault, ok := faults[r.name]
			if !ok {
				t.Fatal("no driver breaks this rule")
			}
			s := fault()
			s.Store = memory.New()
			if err := r.check(s); err == nil {
				t.Error("the rule does not find a driver that breaks it")
			} else {
				t.Log(err)
			}
		})
	}
}

// A driver that forgets, and two openings that are two stores, are found.
func TestForgettingAndStrangersAreFound(t *testing.T) {
	defer func(before time.Duration) { patience = before }(patience)
	patience = 100 * time.Millisecond
	if counts(memory.New(), memory.New()) == nil || tells(memory.New(), memory.New()) == nil {
		t.Error("two stores pass for one")
	}
	if contains(memory.New(), "a 1", "one") == nil {
		t.Error("an empty store passes for one that has kept something")
	}
}
