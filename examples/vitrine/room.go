package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// roomy is the store of a server, or of an import. It knows whether updates find room. On a disk that is nearly full it
// keeps the bytes of files out, so that everything else can still be changed: what is deleted needs room in the log at
// first. Pages that are free within the file of the store count as room, while a quarter of the reserve is left on the
// disk for the log.
type roomy struct {
	storage.Store
	disk func() (disk, bool) // of the store; ok is false if nobody knows
	full atomic.Bool         // an update found no room, and look has found none since
	last atomic.Int64        // when an update found no room, in nanoseconds since the epoch

	mu    sync.Mutex
	tried time.Time // when look has written last
}

// newRoomy returns the store that -db names, and that has been opened.
func newRoomy(s storage.Store, db string) *roomy {
	return &roomy{Store: s, disk: func() (disk, bool) {
		if !inFile(db) {
			return disk{}, false
		}
		return diskNear(db)
	}}
}

func (r *roomy) Update(
	ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	do, found := fn, false // the spaces that assets.FileBytes names have the bytes of files
	if strings.HasPrefix(space, "files/") && r.nearlyFull() {
		do = func(t storage.Tx) error {
			var deleted int64 // bytes that are free in the file, which does not shrink
			own, err := sqlite.SQL(t)
			if err == nil {
				err = own.QueryRow("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size").
					Scan(&deleted)
			}
			if err != nil {
				return err
			}
			d, _ := r.disk()
			if found = d.free >= d.reserve()/4 && d.free+deleted >= d.reserve(); !found {
				t = sparing{t}
			}
			return fn(t)
		}
	}
	err := r.Store.Update(ctx, space, o, do)
	if errors.Is(err, storage.ErrFull) {
		r.last.Store(time.Now().UnixNano())
		r.full.Store(true)
	} else if err == nil && found {
		r.full.Store(false)
	}
	return err
}

// Defaults returns those of the store.
func (r *roomy) Defaults() storage.Defaults { return storage.DefaultsOf(r.Store) }

// nearlyFull reports whether the disk is known to be nearly full.
func (r *roomy) nearlyFull() bool {
	d, ok := r.disk()
	return ok && d.nearlyFull()
}

// sparing is a transaction that takes no bytes of files, but the short records about them.
type sparing struct{ storage.Tx }

func (t sparing) Put(ctx context.Context, entries ...storage.Entry) error {
	for _, e := range entries {
		if len(e.Value) > 4<<10 {
			return fmt.Errorf("%w: the disk is nearly full, and files are refused before that", storage.ErrFull)
		}
	}
	return t.Tx.Put(ctx, entries...)
}

// The space of the record that look writes, which no archive has, and how many bytes it has: more than most updates
// write, since a short one may find room in the log when others find none.
const (
	roomSpace = "room"
	roomTried = 256 << 10
)

// ready returns an error that wraps storage.ErrFull if the store can be read and has no room to write, and another one
// if it cannot be read or its file is gone.
func (r *roomy) ready(ctx context.Context) error {
	if file, ok := r.Store.(*sqlite.DB); ok && file.Moved() != nil {
		return file.Moved()
	}
	err := r.View(ctx, func(v storage.Reader) error {
		_, err := storage.ReadIdentity(ctx, v)
		return err
	})
	if err == nil && r.look(ctx) {
		err = storage.ErrFull
	}
	return err
}

// look reports whether updates find no room. An update that found none counts for half a minute, while the disk is
// nearly full: a shorter one may still find some, in the log. Later, and when somebody has made room, look writes a
// record to learn it, and so it does once in half a minute if the disk is nearly full.
func (r *roomy) look(ctx context.Context) (full bool) {
	pause := 30 * time.Second
	switch recent := time.Since(time.Unix(0, r.last.Load())) < pause; {
	case r.full.Load() && recent && r.nearlyFull():
		return true
	case r.full.Load():
		pause = time.Second
	case !r.nearlyFull():
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.tried) < pause {
		return r.full.Load()
	}
	r.tried = time.Now()
	err := r.Update(ctx, roomSpace, storage.UpdateOptions{}, func(t storage.Tx) error {
		return t.Put(ctx, storage.Entry{Key: roomSpace + " tried", Value: make([]byte, roomTried)})
	})
	if err == nil {
		r.full.Store(false)
	}
	return r.full.Load()
}
