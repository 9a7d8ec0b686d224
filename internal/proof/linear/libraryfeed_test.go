//go:build proof

package linear

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/assets"
)

// libraryState is a library after some of the entries of its feed.
type libraryState struct {
	there  map[string]seenAsset // by id
	origin map[int]string       // the id of the asset that was added by an origin
	order  []string             // ids in the order of adding
}

// check returns an error unless the order of the feed explains the history:
//
//   - the feed has each change that was made once, and no other;
//   - the answer to each change follows from the state that the changes before it left;
//   - the answer to each read follows from one of the states between its call and its answer;
//   - a change that was begun after another one was answered is after it in the feed.
func (h *libraryHistory) check(events []assets.Event) error {
	of := map[string][]*libraryOp{} // the changes of each client, in their order
	for i := range h.ops {
		if o := &h.ops[i]; o.changes() {
			of[o.by] = append(of[o.by], o)
		}
	}
	for _, list := range of {
		slices.SortFunc(list, func(a, b *libraryOp) int { return int(a.call - b.call) })
	}
	state := libraryState{map[string]seenAsset{}, map[int]string{}, nil}
	states := []libraryState{state}
	var order []*libraryOp
	for i, e := range events {
		list := of[e.By]
		if len(list) == 0 {
			return fmt.Errorf("event %d is a change of %s too many", i, e.By)
		}
		o := list[0]
		of[e.By] = list[1:]
		next, err := state.after(o, e)
		if err != nil {
			return fmt.Errorf("event %d, of %v: %w", i, *o, err)
		}
		state = next
		states, order = append(states, state), append(order, o)
	}
	for _, list := range of {
		if len(list) > 0 {
			return fmt.Errorf("%v was answered and is not in the feed", *list[0])
		}
	}
	back := order[len(order)-1].back // the first answer to a change that comes later
	for i := len(order) - 2; i >= 0; i-- {
		if order[i].call > back {
			return fmt.Errorf("event %d was begun when a later one had been answered", i)
		}
		back = min(back, order[i].back)
	}
	return h.checkReads(states, order)
}

// after returns the state after an event, which o has made.
func (s libraryState) after(o *libraryOp, e assets.Event) (libraryState, error) {
	next := libraryState{maps.Clone(s.there), maps.Clone(s.origin), slices.Clone(s.order)}
	var want assets.Event
	old, there := next.there[o.id]
	switch o.kind {
	case addAsset:
		was, known := next.origin[o.origin]
		if known != there || known && was != o.id {
			return s, fmt.Errorf("the asset of the origin is %q, and %s is there: %t", was, o.id, there)
		}
		if want.Changed = []string{o.id}; !known {
			want.Added, want.Changed = want.Changed, nil
			next.order = append(next.order, o.id)
		}
		next.origin[o.origin] = o.id
		next.there[o.id] = seenAsset{o.id, o.text, old.label}
	case removeAsset:
		want.Removed = []string{o.id}
		delete(next.there, o.id)
		maps.DeleteFunc(next.origin, func(_ int, id string) bool { return id == o.id })
		next.order = slices.DeleteFunc(next.order, func(id string) bool { return id == o.id })
	case labelAsset:
		want.Changed = []string{o.id}
		next.there[o.id] = seenAsset{o.id, old.text, o.text}
	case addFolder:
		want.Folders = []string{o.id}
	}
	if o.kind != addAsset && o.kind != addFolder && !there {
		return s, fmt.Errorf("%s is not there", o.id)
	}
	if !slices.Equal(e.Added, want.Added) || !slices.Equal(e.Changed, want.Changed) ||
		!slices.Equal(e.Removed, want.Removed) || !slices.Equal(e.Folders, want.Folders) {
		return s, fmt.Errorf("it says %+v, want %+v", e, want)
	}
	return next, nil
}

// checkReads looks for a state that explains each read. The state must have every change that was answered when the
// read began, and none that began after the read was answered; and it must not be older than the state of any read that
// was answered when this one began. Choosing the oldest state that fits, in the order of the answers, finds states for
// all reads if there are any.
func (h *libraryHistory) checkReads(states []libraryState, order []*libraryOp) error {
	var reads []*libraryOp
	for i := range h.ops {
		if o := &h.ops[i]; !o.changes() {
			reads = append(reads, o)
		}
	}
	slices.SortFunc(reads, func(a, b *libraryOp) int { return int(a.back - b.back) })
	at := make([]int, len(reads))
	for i, r := range reads {
		first, last := 0, len(order)
		for j, o := range order {
			if o.back < r.call {
				first = j + 1
			}
			if o.call > r.back {
				last = min(last, j)
			}
		}
		for j, earlier := range reads[:i] {
			if earlier.back < r.call {
				first = max(first, at[j])
			}
		}
		for at[i] = first; at[i] <= last && !states[at[i]].shows(r); at[i]++ {
		}
		if at[i] > last {
			return fmt.Errorf("%v: none of the states after %d to %d events shows this", *r, first, last)
		}
	}
	return nil
}

// shows reports whether a read is answered so in this state.
func (s libraryState) shows(r *libraryOp) bool {
	a, there := s.there[r.id]
	switch r.kind {
	case searchAll:
		if len(r.seen) != len(s.order) {
			return false
		}
		for i, id := range s.order { // newest first
			if r.seen[len(r.seen)-1-i] != s.there[id] {
				return false
			}
		}
		return true
	case readAsset:
		return there != r.absent && (r.absent || len(r.seen) == 1 && r.seen[0] == a)
	}
	return !there // what has removed or changed nothing
}

// tell writes a history and its feed, an operation and an event a line.
func (h *libraryHistory) tell(events []assets.Event) string {
	var text strings.Builder
	for i, e := range events {
		fmt.Fprintf(&text, "%4d  by %s added %v changed %v removed %v folders %v\n", i, e.By, e.Added, e.Changed,
			e.Removed, e.Folders)
	}
	ops := slices.SortedFunc(slices.Values(h.ops), func(a, b libraryOp) int { return int(a.call - b.call) })
	for _, o := range ops {
		fmt.Fprintf(&text, "%9d %9d  %v\n", o.call.Microseconds(), o.back.Microseconds(), o)
	}
	return text.String()
}
