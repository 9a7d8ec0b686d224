//go:build proof

package linear

import (
	"fmt"
	"hash/maphash"

	"github.com/anishathalye/porcupine"
)

// Version is a version of an app in the model, with those before it. It never changes.
type Version struct {
	before *Version
	number int64
	title  string
	by     string
	at     int64  // updatedAt; 0 when no answer told it
	floor  int64  // updatedAt may not be lower from here on
	digest uint64 // of all of the above
}

// state is what the model holds: two states are equal when their digests and numbers are.
type state struct {
	last     [Apps]*Version
	tags     [Apps][Tags]int64 // missing, or the version pointed to
	restored [Keys]int64       // what the restore with this key has made, or missing
	put      [Keys]bool        // whether the tag with this key was put
	deleted  [Keys]bool
}

var seed = maphash.MakeSeed()

// First returns version 0 of an app. at is its updatedAt, 0 if that is not known.
func First(title, by string, at int64) *Version { return (*Version)(nil).after(title, by, at) }

// after returns the version that follows v.
func (v *Version) after(title, by string, at int64) *Version {
	next := &Version{before: v, title: title, by: by, at: at, floor: at}
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
func (v *Version) find(number int64) *Version {
	if number == Latest {
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
func (v *Version) is(s SeenApp) bool {
	return v != nil && v.number == s.Version && v.title == s.Title && v.by == s.By &&
		(v.at == s.At || v.at == 0 && (v.before == nil || s.At >= v.before.floor))
}

// model is the sequential service that begins with the given versions. An app that is nil is in no operation.
func model(begin [Apps]*Version) porcupine.Model {
	first := &state{last: begin}
	for a := range Apps {
		for t := range Tags {
			first.tags[a][t] = missing
		}
	}
	for k := range Keys {
		first.restored[k] = missing
	}
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{first} },
		Step: func(before, in, out any) (after []any) {
			s, o := before.(*state), out.(Outcome)
			if next := s.step(in.(Op), o); next != nil {
				after = append(after, next)
			}
			if o.Status == Unknown { // it may never take effect
				after = append(after, s)
			}
			return after
		},
		Equal: func(a, b any) bool { return a.(*state).key() == b.(*state).key() },
		Hash:  func(s any) uint64 { return maphash.Comparable(seed, s.(*state).key()) },
		DescribeOperation: func(in, out any) string {
			return fmt.Sprintf("%v -> %v", in.(Op), out.(Outcome))
		},
	}
	return m.ToModel()
}

// stateKey is a state without pointers.
type stateKey struct {
	numbers  [Apps]int64
	digests  [Apps]uint64
	tags     [Apps][Tags]int64
	restored [Keys]int64
	put      [Keys]bool
	deleted  [Keys]bool
}

func (s *state) key() stateKey {
	k := stateKey{tags: s.tags, restored: s.restored, put: s.put, deleted: s.deleted}
	for a, v := range s.last {
		if v != nil {
			k.numbers[a], k.digests[a] = v.number, v.digest
		}
	}
	return k
}

// step returns the state after an operation that was answered like this, or nil when no service
// that is in this state answers so.
func (s *state) step(o Op, out Outcome) *state {
	switch o.Kind {
	case Patch:
		return s.patch(o, out)
	case Restore:
		return s.restore(o, out)
	case PutTag:
		return s.putTag(o, out)
	case DeleteTag:
		return s.deleteTag(o, out)
	}
	if !s.shows(o, out) {
		return nil
	}
	return s
}

func (s *state) patch(o Op, out Outcome) *state {
	if s.last[o.App].number != o.Version {
		return s.unless(Done, out)
	}
	if out.Status == Conflict {
		return nil
	}
	return s.added(o, out, o.Title)
}

// unless returns s, the operation having changed nothing, unless it was answered with what cannot be.
func (s *state) unless(not Status, out Outcome) *state {
	if out.Status == not {
		return nil
	}
	return s
}

// added returns the state with one more version of the app, if that is what the answer shows.
func (s *state) added(o Op, out Outcome, title string) *state {
	next := *s
	last := s.last[o.App]
	if out.Status == Unknown {
		next.last[o.App] = last.after(title, o.By, 0)
		return &next
	}
	if out.Status != Done || len(out.Apps) != 1 || out.Apps[0].At < last.floor {
		return nil
	}
	v := last.after(title, o.By, out.Apps[0].At)
	next.last[o.App] = v
	if !v.is(out.Apps[0]) {
		return nil
	}
	return &next
}

func (s *state) restore(o Op, out Outcome) *state {
	if o.Key != NoKey && s.restored[o.Key] != missing {
		v := s.last[o.App].find(s.restored[o.Key])
		if out.Status == Unknown || out.Status == Done && len(out.Apps) == 1 && v.is(out.Apps[0]) {
			return s
		}
		return nil
	}
	old := s.last[o.App].find(o.Version)
	if old == nil {
		return s.unless(Done, out)
	}
	next := s.added(o, out, old.title)
	if next != nil && o.Key != NoKey {
		next.restored[o.Key] = next.last[o.App].number
	}
	return next
}

func (s *state) putTag(o Op, out Outcome) *state {
	if o.Key != NoKey && s.put[o.Key] {
		if out.Status == Unknown || out.Status == Done && sameTags(out.Tags, SeenTag{o.App, o.Tag, o.Version}) {
			return s
		}
		return nil
	}
	v := s.last[o.App].find(o.Version)
	if v == nil {
		return s.unless(Done, out)
	}
	if out.Status != Unknown && (out.Status != Done || !sameTags(out.Tags, SeenTag{o.App, o.Tag, v.number})) {
		return nil
	}
	next := *s
	next.tags[o.App][o.Tag] = v.number
	if o.Key != NoKey {
		next.put[o.Key] = true
	}
	return &next
}

func (s *state) deleteTag(o Op, out Outcome) *state {
	if o.Key != NoKey && s.deleted[o.Key] {
		return s.unless(Absent, out)
	}
	if s.tags[o.App][o.Tag] == missing {
		return s.unless(Done, out)
	}
	if out.Status == Absent {
		return nil
	}
	next := *s
	next.tags[o.App][o.Tag] = missing
	if o.Key != NoKey {
		next.deleted[o.Key] = true
	}
	return &next
}

// shows reports whether a read is answered so in this state.
func (s *state) shows(o Op, out Outcome) bool {
	last, v := s.last[o.App], s.tags[o.App][o.Tag]
	switch o.Kind {
	case ReadLatest:
		return out.Status == Done && len(out.Apps) == 1 && last.is(out.Apps[0])
	case ReadVersion:
		return s.showsVersion(o.App, o.Version, out)
	case ReadTagged:
		return s.showsVersion(o.App, v, out)
	case ReadTag:
		return s.showsVersion(o.App, v, out) && (v == missing || sameTags(out.Tags, SeenTag{o.App, o.Tag, v}))
	case ListTags:
		return out.Status == Done && s.showsTags(o.App, out)
	case TagsNamed:
		return out.Status == Done && s.showsNamed(o.Tag, out)
	case ListApps:
		return out.Status == Done && s.showsApps(out)
	}
	return out.Status == Done && s.showsVersions(o, out)
}

// showsVersion reports whether the answer is a version, or that it is absent.
func (s *state) showsVersion(app int, number int64, out Outcome) bool {
	var v *Version
	if number != missing {
		v = s.last[app].find(number)
	}
	if v == nil {
		return out.Status == Absent
	}
	return out.Status == Done && len(out.Apps) == 1 && v.is(out.Apps[0])
}

func (s *state) showsTags(app int, out Outcome) bool {
	i := 0
	for t, number := range s.tags[app] {
		if number == missing {
			continue
		}
		if i == len(out.Tags) || i == len(out.Apps) || out.Tags[i] != (SeenTag{app, t, number}) ||
			!s.last[app].find(number).is(out.Apps[i]) {
			return false
		}
		i++
	}
	return i == len(out.Tags) && i == len(out.Apps)
}

func (s *state) showsNamed(tag int, out Outcome) bool {
	var want []SeenTag
	for app := range Apps {
		if number := s.tags[app][tag]; number != missing {
			want = append(want, SeenTag{app, tag, number})
		}
	}
	return sameTags(out.Tags, want...)
}

func (s *state) showsApps(out Outcome) bool {
	if len(out.Apps) != Apps {
		return false
	}
	for _, seen := range out.Apps {
		if !s.last[seen.App].is(seen) {
			return false
		}
	}
	return out.Apps[0].App != out.Apps[1].App
}

func (s *state) showsVersions(o Op, out Outcome) bool {
	v := s.last[o.App]
	for o.Version != Latest && v != nil && v.number >= o.Version {
		v = v.before
	}
	for _, seen := range out.Apps {
		if !v.is(seen) {
			return false
		}
		v = v.before
	}
	return out.More == (v != nil) && (v == nil || len(out.Apps) == Page)
}

func sameTags(have []SeenTag, want ...SeenTag) bool {
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
