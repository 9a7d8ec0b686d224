package vitrine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/lease"
	"github.com/vitrine-go/vitrine/storage"
)

// Feed is a feed of changes for Follow. The method Feed of a Service returns one with every change, for a program of
// the operator.
type Feed[E any] struct {
	// Read returns a page of the feed.
	Read func(ctx context.Context, in ChangesRequest) (ChangesPage[E], error)
	// Changed returns a channel that is closed when there may be new changes. It is called before Read. nil = Read is
	// called every second.
	Changed func() <-chan struct{}
	// Cursor returns the cursor of a change.
	Cursor func(E) string
}

// FollowOptions are options of Follow. The zero value works.
type FollowOptions struct {
	// Begin says from where on a follower handles changes: "" is the oldest change that is kept, Now only later ones,
	// and a cursor those after it. It is called if the store has no position under the name yet (why is nil), and if
	// the feed does not go on from the position: changes were removed, or the store was restored, built from an
	// archive, or is another one (why is the error of Read, mostly ErrGone). A follower that has a copy of the data
	// reads all of it in Begin and returns Now, which then is the moment before the call, so that no change is missed.
	// Begin is called again if it fails.
	//
	// nil = a new follower begins with the oldest change, and Follow returns the error of a feed that does not go on.
	Begin func(ctx context.Context, why error) (after string, err error)
	// Log is told what failed and is tried again. nil = slog.Default.
	Log *slog.Logger
}

// The wait before something that failed is tried again: it doubles each time.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// Follow calls handle with each change of a feed, in their order, until ctx is done, and returns the error of ctx. The
// position after the last change that was handled is in the store db under the name, which has 1 to 200 bytes. Of all
// processes that follow under one name, one at a time calls handle; when it ends or dies, another one goes on within 25
// seconds.
//
// If handle returns an error, the same change is tried again after a second, and then more and more rarely, up to once
// a minute. If the process dies between handle and the write of the position, the change is handled again. The context
// of handle ends with ctx, and if the process can no longer be sure to be the only one.
//
// Follow also returns ErrInvalid for a name that cannot be one, ErrClosed if the store was closed, and see
// FollowOptions.Begin.
func Follow[E any](
	ctx context.Context, db storage.Store, name string, from Feed[E], handle func(ctx context.Context, e E) error,
	options ...FollowOptions,
) error {
	if name == "" || len(name) > 200 || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return &Error{Kind: ErrInvalid, Code: CodeInvalid,
			Reason: fmt.Sprintf("%.200q is no name of a follower: want 1 to 200 bytes of UTF-8", name)}
	}
	f := &follower[E]{Feed: from, db: db, key: "follow position/" + name, handle: handle}
	for _, o := range options {
		f.FollowOptions = o
	}
	if f.Log == nil {
		f.Log = slog.Default()
	}
	f.Log = f.Log.With("follower", name)
	for ctx.Err() == nil {
		l, valid := lease.Acquire(ctx, db, "follow lease/"+name, f.Log)
		if l == nil {
			break
		}
		work, stop := context.WithCancel(valid)
		unwatch := context.AfterFunc(ctx, stop)
		err := f.run(work, valid, l)
		unwatch()
		stop()
		l.Release(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return ctx.Err()
}

// follower is a call of Follow.
type follower[E any] struct {
	Feed[E]
	FollowOptions
	db     storage.Store
	key    string // of the position
	handle func(ctx context.Context, e E) error
}

// position is how far a follower is, as it is stored.
type position struct {
	After string `json:"after"` // a cursor, or "" for the beginning of the feed
}

// run follows until ctx is done, and returns nil then, or an error after which Follow ends. valid is done when the
// lease is lost, which may be later: what was handled by then is stored.
func (f *follower[E]) run(ctx, valid context.Context, l *lease.Lease) error {
	var p position
	var why error
	begun := false
	err := f.again(ctx, "the position cannot be read", func() (err error) {
		begun, err = lease.Read(ctx, f.db, f.key, &p)
		return err
	})
	for err == nil && ctx.Err() == nil {
		if !begun {
			if err = f.begin(ctx, why, &p); err == nil && ctx.Err() == nil {
				err = l.Store(valid, f.key, p)
				begun = err == nil
			}
			continue
		}
		var wake <-chan struct{}
		if f.Changed != nil {
			wake = f.Changed()
		}
		var page ChangesPage[E]
		err = f.again(ctx, "the feed cannot be read", func() error {
			page, why = f.Read(ctx, ChangesRequest{After: p.After})
			if e, ok := errors.AsType[*Error](why); ok && (e.Kind == ErrGone || e.Parameter == "after") {
				begun = false
				return nil
			}
			return why
		})
		if err != nil || !begun {
			continue
		}
		for _, e := range page.Changes {
			handled := false
			err = f.again(ctx, "a change cannot be handled", func() error {
				err := f.handle(ctx, e)
				handled = err == nil
				return err
			})
			if !handled {
				break
			}
			p.After = f.Cursor(e)
			if err = l.Store(valid, f.key, p); err != nil {
				break
			}
		}
		if err != nil || ctx.Err() != nil || page.More {
			continue
		}
		if wake == nil {
			pause(ctx, time.Second)
			continue
		}
		select {
		case <-wake:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil || errors.Is(err, lease.ErrLost) {
		return nil
	}
	return err
}

// begin sets the position to where the follower begins.
func (f *follower[E]) begin(ctx context.Context, why error, p *position) error {
	if f.FollowOptions.Begin == nil {
		p.After = ""
		return why
	}
	return f.again(ctx, "the follower cannot begin", func() error {
		now, err := f.Read(ctx, ChangesRequest{After: Now})
		if err == nil {
			p.After, err = f.FollowOptions.Begin(ctx, why)
		}
		if p.After == Now {
			p.After = now.Next
		}
		return err
	})
}

// again calls do until it returns nil, or ErrClosed, which it returns. It returns nil when ctx is done.
func (f *follower[E]) again(ctx context.Context, what string, do func() error) error {
	for wait := firstRetry; ctx.Err() == nil; wait = min(2*wait, lastRetry) {
		err := do()
		if err == nil || errors.Is(err, ErrClosed) {
			return err
		}
		if ctx.Err() == nil {
			f.Log.Warn("follow: "+what+", trying again", "cause", err.Error(), "in", wait)
			pause(ctx, wait/2+rand.N(wait))
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
