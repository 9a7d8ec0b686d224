package linear

import (
	"fmt"
	"hash/maphash"

	"github.com/anishathalye/porcupine"
)

// version is a version of an app in the model, with those before it. It never changes.
type version struct {
	before *version
	number int64
	title  string
	by     string
	at     int64  // updatedAt; 0 when no answer told it
	floor  int64  // updatedAt may not be lower from here on
	digest uint64 // of all of the above
}

// state is what the model holds: two states are equal when their digests and numbers are.
type state struct {
	last     [apps]*version
	tags     [apps][tags]int64 // missing, or the version pointed to
	restored [keys]int64       // what the restore with this key has made, or missing
	put      [keys]bool        // whether the tag with this key was put
	deleted  [keys]bool
}

var seed = maphash.MakeSeed()

// after returns the version that follows v.
func (v *version) after(title, by string, at int64) *version {
	next := &version{before: v, title: title, by: by, at: at, floor: at}
	if v != nil {
		next.number, next.floor = v.number+1, max(v.floor, at)
	}
	var below uint64
	if v != nil {
		below = v.digest
	}
	next.digest = maphash.Comparable(seed, struct {
		below     uint64
		title, by string
		at        int64
	}{below, title, by, at})
	return next
}

// find returns the version with a number, nil when there is none.
func (v *version) find(number int64) *version {
	if number == latest {
		return v
	}
	for v != nil && v.number > number {
		v = v.before
	}
	if v == nil || v.number != number {
		return nil
	}
	return v
}

// is reports whether an answer shows this version.
func (v *version) is(s seenApp) bool {
	return v != nil && v.number == s.version && v.title == s.title && v.by == s.by &&
		(v.at == s.at || v.at == 0 && (v.before == nil || s.at >= v.before.floor))
}

// model is the sequential service that begins with the given versions.
func model(begin [apps]*version) porcupine.Model {
	first := &state{last: begin}
	for a := range apps {
		for t := range tags {
			first.tags[a][t] = missing
		}
	}
	for k := range keys {
		first.restored[k] = missing
	}
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{first} },
		Step: func(before, in, out any) (after []any) {
			s, o := before.(*state), out.(outcome)
			if next := s.step(in.(op), o); next != nil {
				after = append(after, next)
			}
			if o.status == unknown { // it may never take effect
				after = append(after, s)
			}
			return after
		},
		Equal: func(a, b any) bool { return a.(*state).key() == b.(*state).key() },
		Hash:  func(s any) uint64 { return maphash.Comparable(seed, s.(*state).key()) },
		DescribeOperation: func(in, out any) string {
			return fmt.Sprintf("%v -> %v", in.(op), out.(outcome))
		},
	}
	return m.ToModel()
}

// stateKey is a state without pointers.
type stateKey struct {
	numbers  [apps]int64
	digests  [apps]uint64
	tags     [apps][tags]int64
	restored [keys]int64
	put      [keys]bool
	deleted  [keys]bool
}

func (s *state) key() stateKey {
	k := stateKey{tags: s.tags, restored: s.restored, put: s.put, deleted: s.deleted}
	for a, v := range s.last {
		k.numbers[a], k.digests[a] = v.number, v.digest
	}
	return k
}

// step returns the state after an operation that was answered like this, or nil when no service
// that is in this state answers so.
func (s *state) step(o op, out outcome) *state {
	switch o.kind {
	case patch:
		return s.patch(o, out)
	case restore:
		return s.restore(o, out)
	case putTag:
		return s.putTag(o, out)
	case deleteTag:
		return s.deleteTag(o, out)
	}
	if !s.shows(o, out) {
		return nil
	}
	return s
}

func (s *state) patch(o op, out outcome) *state {
	if s.last[o.app].number != o.version {
		return s.unless(done, out)
	}
	if out.status == conflict {
		return nil
	}
	return s.added(o, out, o.title)
}

// unless returns s, the operation having changed nothing, unless it was answered with what cannot be.
func (s *state) unless(not status, out outcome) *state {
	if out.status == not {
		return nil
	}
	return s
}

// added returns the state with one more version of the app, if that is what the answer shows.
func (s *state) added(o op, out outcome, title string) *state {
	next := *s
	last := s.last[o.app]
	if out.status == unknown {
		next.last[o.app] = last.after(title, o.by, 0)
		return &next
	}
	if out.status != done || len(out.apps) != 1 || out.apps[0].at < last.floor {
		return nil
	}
	v := last.after(title, o.by, out.apps[0].at)
	next.last[o.app] = v
	if !v.is(out.apps[0]) {
		return nil
	}
	return &next
}

func (s *state) restore(o op, out outcome) *state {
	if o.key != noKey && s.restored[o.key] != missing {
		v := s.last[o.app].find(s.restored[o.key])
		if out.status == unknown || out.status == done && len(out.apps) == 1 && v.is(out.apps[0]) {
			return s
		}
		return nil
	}
	old := s.last[o.app].find(o.version)
	if old == nil {
		return s.unless(done, out)
	}
	next := s.added(o, out, old.title)
	if next != nil && o.key != noKey {
		next.restored[o.key] = next.last[o.app].number
	}
	return next
}

func (s *state) putTag(o op, out outcome) *state {
	if o.key != noKey && s.put[o.key] {
		if out.status == unknown || out.status == done && sameTags(out.tags, seenTag{o.app, o.tag, o.version}) {
			return s
		}
		return nil
	}
	v := s.last[o.app].find(o.version)
	if v == nil {
		return s.unless(done, out)
	}
	if out.status != unknown && (out.status != done || !sameTags(out.tags, seenTag{o.app, o.tag, v.number})) {
		return nil
	}
	next := *s
	next.tags[o.app][o.tag] = v.number
	if o.key != noKey {
		next.put[o.key] = true
	}
	return &next
}

func (s *state) deleteTag(o op, out outcome) *state {
	if o.key != noKey && s.deleted[o.key] {
		return s.unless(absent, out)
	}
	if s.tags[o.app][o.tag] == missing {
		return s.unless(done, out)
	}
	if out.status == absent {
		return nil
	}
	next := *s
	next.tags[o.app][o.tag] = missing
	if o.key != noKey {
		next.deleted[o.key] = true
	}
	return &next
}

// shows reports whether a read is answered so in this state.
func (s *state) shows(o op, out outcome) bool {
	last, v := s.last[o.app], s.tags[o.app][o.tag]
	switch o.kind {
	case readLatest:
		return out.status == done && len(out.apps) == 1 && last.is(out.apps[0])
	case readVersion:
		return s.showsVersion(o.app, o.version, out)
	case readTagged:
		return s.showsVersion(o.app, v, out)
	case readTag:
		return s.showsVersion(o.app, v, out) && (v == missing || sameTags(out.tags, seenTag{o.app, o.tag, v}))
	case listTags:
		return out.status == done && s.showsTags(o.app, out)
	case tagsNamed:
		return out.status == done && s.showsNamed(o.tag, out)
	case listApps:
		return out.status == done && s.showsApps(out)
	case oneView:
		return out.status == done && len(out.apps) == 3 &&
			s.last[0].is(out.apps[0]) && s.last[1].is(out.apps[1]) && s.last[0].is(out.apps[2])
	}
	return out.status == done && s.showsVersions(o, out)
}

// showsVersion reports whether the answer is a version, or that it is absent.
func (s *state) showsVersion(app int, number int64, out outcome) bool {
	var v *version
	if number != missing {
		v = s.last[app].find(number)
	}
	if v == nil {
		return out.status == absent
	}
	return out.status == done && len(out.apps) == 1 && v.is(out.apps[0])
}

func (s *state) showsTags(app int, out outcome) bool {
	i := 0
	for t, number := range s.tags[app] {
		if number == missing {
			continue
		}
		if i == len(out.tags) || i == len(out.apps) || out.tags[i] != (seenTag{app, t, number}) ||
			!s.last[app].find(number).is(out.apps[i]) {
			return false
		}
		i++
	}
	return i == len(out.tags) && i == len(out.apps)
}

func (s *state) showsNamed(tag int, out outcome) bool {
	var want []seenTag
	for app := range apps {
		if number := s.tags[app][tag]; number != missing {
			want = append(want, seenTag{app, tag, number})
		}
	}
	return sameTags(out.tags, want...)
}

func (s *state) showsApps(out outcome) bool {
	if len(out.apps) != apps {
		return false
	}
	for _, seen := range out.apps {
		if !s.last[seen.app].is(seen) {
			return false
		}
	}
	return out.apps[0].app != out.apps[1].app
}

func (s *state) showsVersions(o op, out outcome) bool {
	v := s.last[o.app]
	for o.version != latest && v != nil && v.number >= o.version {
		v = v.before
	}
	for _, seen := range out.apps {
		if !v.is(seen) {
			return false
		}
		v = v.before
	}
	return out.more == (v != nil) && (v == nil || len(out.apps) == page)
}

func sameTags(have []seenTag, want ...seenTag) bool {
	if len(have) != len(want) {
		return false
	}
	for i := range have {
		if have[i] != want[i] {
			return false
		}
	}
	return true
}
