//go:build proof

package linear

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// follower reads the feed of an app while clients change it.
type follower struct {
	events []appsvc.Event
	ended  chan error
	stop   context.CancelFunc
}

// tell writes events, one a line.
func tell(events []appsvc.Event) (text string) {
	for i, e := range events {
		text += fmt.Sprintf("%4d  %s by %s version %s tag %s from %s to %s\n", i, e.Type, e.By, e.Version, e.Tag,
			e.From, e.To)
	}
	return text
}

// follow begins to follow the apps of a history.
func (w *world) follow(ctx context.Context, svc *appsvc.Service) (all [Apps]*follower) {
	by := vitrine.Caller{URN: network + ":user=follower", Moderates: []string{network}}
	for i := range all {
		ctx, stop := context.WithCancel(ctx)
		f := &follower{ended: make(chan error, 1), stop: stop}
		all[i] = f
		go func() {
			for e, err := range svc.As(by).Follow(ctx, appsvc.ChangesRequest{AppID: w.ids[i], Limit: 3}) {
				if err != nil {
					f.ended <- err
					return
				}
				f.events = append(f.events, e)
				if e.Type == appsvc.TagDeleted && e.Tag == lastTag {
					f.ended <- nil
					return
				}
			}
		}()
	}
	return all
}

// lastTag is deleted in the end, so that a follower knows that it has met everything.
const lastTag = "last"

// wait ends an app's history with a change that no client makes, and returns what the follower met before.
func (f *follower) wait(ctx context.Context, svc *appsvc.Service, id string) ([]appsvc.Event, error) {
	defer f.stop()
	by := vitrine.Caller{URN: network + ":user=follower", Moderates: []string{network}}
	for _, change := range []func() error{
		func() error {
			_, err := svc.As(by).PutTag(ctx,
				appsvc.PutTagRequest{AppID: id, Name: lastTag, Version: vitrine.NewVersion(0)})
			return err
		},
		func() error { return svc.As(by).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: lastTag}) },
	} {
		err := change()
		for errors.Is(err, errRefused) {
			err = change()
		}
		if err != nil {
			return nil, err
		}
	}
	select {
	case err := <-f.ended:
		if err != nil {
			return nil, err
		}
	case <-time.After(time.Minute):
		return nil, errors.New("the follower does not meet the last change")
	}
	if n := len(f.events); n < 3 || f.events[n-2].Tag != lastTag {
		return nil, fmt.Errorf("the follower met %+v", f.events)
	}
	return f.events[:len(f.events)-2], nil
}

// checkFeed returns an error unless the feed of an app is an order of its changes that explains the history: it has
// each change once and no other, each is possible in the state before it, and a change that was begun after another one
// was answered is after it.
func (h *history) checkFeed(app int, events []appsvc.Event) error {
	var head vitrine.Version
	tagged := map[string]vitrine.Version{}
	var order []*porcupine.Operation // of the events, nil where it is not known which operation made it
	made := map[*porcupine.Operation]bool{}
	for i, e := range events {
		if e.AppID != h.ids[app] {
			return fmt.Errorf("event %d is of app %q", i, e.AppID)
		}
		switch e.Type {
		case appsvc.AppCreated, appsvc.AppUpdated, appsvc.AppRestored:
			if e.Version != head.Next() || (e.Type == appsvc.AppCreated) != head.IsZero() {
				return fmt.Errorf("event %d, %s, makes version %s after %q", i, e.Type, e.Version, head)
			}
			head = e.Version
		case appsvc.TagSet, appsvc.TagDeleted:
			if e.From != tagged[e.Tag] || e.From == e.To || e.To.IsZero() != (e.Type == appsvc.TagDeleted) ||
				e.To.Compare(head) > 0 {
				return fmt.Errorf("event %d, %s, moves tag %s from %q to %q, which was at %q", i, e.Type, e.Tag, e.From,
					e.To, tagged[e.Tag])
			}
			tagged[e.Tag] = e.To
		default:
			return fmt.Errorf("event %d is %s", i, e.Type)
		}
		op := h.made(app, e)
		if op == nil && e.Type != appsvc.AppCreated && e.By != network+":user=keyed" && e.Type != appsvc.TagSet {
			return fmt.Errorf("event %d, %s of version %s by %s, was made by no operation", i, e.Type, e.Version, e.By)
		}
		if op != nil {
			if made[op] && e.Type != appsvc.TagDeleted {
				return fmt.Errorf("event %d, %s of version %s, is there twice", i, e.Type, e.Version)
			}
			made[op] = true
		}
		order = append(order, op)
	}
	for i := range h.ops {
		o, out := h.ops[i].Input.(Op), h.ops[i].Output.(Outcome)
		if o.App == app && out.Status == Done && (o.Kind == Patch || o.Kind == Restore) && o.Key == NoKey &&
			!made[&h.ops[i]] {
			return fmt.Errorf("%v was answered with version %d, which is not in the feed", o, out.Apps[0].Version)
		}
	}
	first := int64(1 << 62) // the first answer to an operation whose event comes later
	for i := len(order) - 1; i >= 0; i-- {
		if order[i] == nil {
			continue
		}
		if order[i].Call > first {
			return fmt.Errorf("event %d was begun when a later one had been answered", i)
		}
		first = min(first, order[i].Return)
	}
	deletions := map[string]int{}
	for _, e := range events {
		if e.Type == appsvc.TagDeleted {
			deletions[e.By]++
		}
	}
	for i := range h.ops {
		if o, out := h.ops[i].Input.(Op), h.ops[i].Output.(Outcome); o.App == app && o.Kind == DeleteTag &&
			out.Status == Done && o.Key == NoKey {
			deletions[o.By]--
		}
	}
	for by, n := range deletions {
		if n != 0 && by != network+":user=keyed" {
			return fmt.Errorf("the feed has %d deletions of tags by %s too many", n, by)
		}
	}
	return nil
}

// made returns the operation that made an event, if its answer tells which it is.
func (h *history) made(app int, e appsvc.Event) *porcupine.Operation {
	var found *porcupine.Operation
	for i := range h.ops {
		o, out := h.ops[i].Input.(Op), h.ops[i].Output.(Outcome)
		if o.App != app || o.By != e.By || o.Key != NoKey || out.Status != Done {
			continue
		}
		same := false
		switch e.Type {
		case appsvc.AppUpdated:
			same = o.Kind == Patch && out.Apps[0].Version == e.Version.Number()
		case appsvc.AppRestored:
			same = o.Kind == Restore && out.Apps[0].Version == e.Version.Number()
		case appsvc.TagDeleted:
			same = o.Kind == DeleteTag && tagName(o.Tag) == e.Tag
		case appsvc.TagSet:
			same = o.Kind == PutTag && tagName(o.Tag) == e.Tag && out.Tags[0].Version == e.To.Number()
		}
		if same && found != nil && (e.Type == appsvc.TagSet || e.Type == appsvc.TagDeleted) {
			return ambiguous(e.Type, found)
		}
		if same {
			found = &h.ops[i]
		}
	}
	return found
}

// ambiguous stands for one of several operations: of deletions it is enough to know that there is one.
func ambiguous(t appsvc.ChangeType, one *porcupine.Operation) *porcupine.Operation {
	if t == appsvc.TagDeleted {
		return &porcupine.Operation{Call: 0, Return: 1 << 62, Input: one.Input, Output: one.Output}
	}
	return nil
}
