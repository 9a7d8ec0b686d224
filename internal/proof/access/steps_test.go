//go:build proof

package access

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// steppedApp is what the model knows of an app that many callers change.
type steppedApp struct {
	modelApp
	groupsOf [][]string     // by version
	tags     map[string]int // versions, by name
}

// keyedReply is what a caller got for a request with a key.
type keyedReply struct {
	sent request
	reply
}

// stepper takes random steps as random callers and predicts each answer. A step that succeeds without
// the right for it, or fails with it, is a fault.
type stepper struct {
	*random
	apps  []*steppedApp
	known map[string]keyedReply // by URN and key
	count map[int]int           // answers, by status
	again int                   // repeats that were answered
}

// TestRandomStepsHaveTheRightsOfTheMoment creates apps, changes their groups, restores versions and sets tags, with and
// without idempotency keys, as callers whose rights change.
func TestRandomStepsHaveTheRightsOfTheMoment(t *testing.T) {
	steps := 4000
	if testing.Short() {
		steps = 800
	}
	w := newWorld(t)
	m := &stepper{random: &random{world: w, Rand: rand.New(rand.NewPCG(11, 7))}, known: map[string]keyedReply{}, count: map[int]int{}}
	for range steps {
		c := m.caller()
		c.Reads = nil // these steps write; the tables say what readers may not
		c.Roles, c.Groups = nil, nil
		switch kind := m.IntN(10); {
		case len(m.apps) < 3 || kind == 0 && len(m.apps) < 40:
			m.create(c)
		case kind < 5:
			m.regroup(c, one(m.random, m.apps))
		case kind < 7:
			m.restore(c, one(m.random, m.apps))
		case kind < 9:
			m.putTag(c, one(m.random, m.apps))
		default:
			m.deleteTag(c, one(m.random, m.apps))
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d steps over %d apps: answers by status %v, %d repeats answered", steps, len(m.apps), m.count, m.again)
	for _, status := range []int{200, 201, 204, 403, 404, 422} {
		if m.count[status] == 0 {
			t.Errorf("no step was answered %d: this shows little", status)
		}
	}
	if m.again == 0 {
		t.Error("no repeat was answered: this shows little")
	}
}

// step sends a request, whose answer must be want unless it was done before with this key. allowed is 200 if the caller's
// present rights are enough for it, and otherwise the status that must be the answer.
func (m *stepper) step(c caller, in request, allowed, want int) (done bool, r reply) {
	m.t.Helper()
	first, used := m.known[c.URN+" "+in.key]
	r = m.send(c, in)
	m.count[r.status]++
	switch {
	case allowed != 200:
		want = allowed
	case used && first.sent == in:
		m.again++
		if r.status != first.status || r.body != first.body || r.header.Get("Location") != first.header.Get("Location") {
			m.t.Errorf("%s with a repeated key: %d %s\nthe first was %d %s", r.what, r.status, r.body, first.status, first.body)
		}
		return false, r
	case used:
		want = 422
	}
	if r.status != want {
		m.t.Errorf("%s %s of %+v with the key %q: status %d, want %d: %s", r.what, in.body, c.Principal, in.key, r.status, want, r.body)
	}
	if done = r.status == want && want < 300; done && in.key != "" {
		m.known[c.URN+" "+in.key] = keyedReply{in, r}
	}
	return done, r
}

// key is one of few, mostly none.
func (m *stepper) key() string {
	if m.IntN(2) == 0 {
		return ""
	}
	return fmt.Sprint("key", m.IntN(12))
}

// request is a new one or, often, one that the caller sent before: with its key.
func (m *stepper) request(c caller, in request) request {
	in.key = m.key()
	if first, used := m.known[c.URN+" "+in.key]; used && first.sent.method == in.method && first.sent.path == in.path {
		return first.sent
	}
	return in
}

func (m *stepper) groups() []string {
	list := some(m.random, someSites, 3)
	if len(list) == 0 {
		return []string{one(m.random, someSites)}
	}
	return list
}

// moderatesAll reports whether the caller moderates each of the groups.
func (c caller) moderatesAll(groups []string) bool {
	return !slices.ContainsFunc(groups, func(g string) bool { return !c.moderatesURN(g) })
}

func (m *stepper) create(c caller) {
	m.sendCreate(c, m.request(c, post("/apps/", fmt.Sprintf(`{"title":"x","groups":%s}`, text(m.groups())))))
}

func (m *stepper) sendCreate(c caller, in request) {
	var sent struct{ Groups []string }
	_ = json.Unmarshal([]byte(in.body), &sent)
	allowed := 200
	if !c.moderatesAll(sent.Groups) {
		allowed = 403
	}
	done, r := m.step(c, in, allowed, 201)
	if !done {
		return
	}
	var out struct{ ID string }
	r.read(&out)
	m.apps = append(m.apps, &steppedApp{modelApp{id: out.ID, owner: c.URN, groups: sent.Groups}, [][]string{sent.Groups}, map[string]int{}})
}

// mayRegroup is the rule of the change of groups: those that come take a moderator, those that go a
// moderator or the owner.
func (c caller) mayRegroup(a *steppedApp, groups []string) bool {
	var join, leave []string
	for _, g := range groups {
		if !slices.Contains(a.groups, g) {
			join = append(join, g)
		}
	}
	for _, g := range a.groups {
		if !slices.Contains(groups, g) {
			leave = append(leave, g)
		}
	}
	if _, kept := a.tags["production"]; kept && len(join)+len(leave) > 0 && !c.moderatesAll(a.groups) {
		return false
	}
	return c.moderatesAll(join) && (c.URN == a.owner || c.moderatesAll(leave))
}

// mayTag is 200 for a caller who may set and delete the tag, else what is answered. A protected tag takes a
// moderator of every group.
func (c caller) mayTag(a *steppedApp, name string) int {
	if c.uses(&a.modelApp) && protected(name) && !c.moderatesAll(a.groups) {
		return 403
	}
	return c.seesApp(a)
}

func (m *stepper) add(a *steppedApp, groups []string) {
	a.groups, a.groupsOf = groups, append(a.groupsOf, groups)
	a.version++
}

func (m *stepper) regroup(c caller, a *steppedApp) {
	groups := m.groups()
	want := 200
	switch {
	case !c.uses(&a.modelApp):
		want = 404
	case !c.mayRegroup(a, groups):
		want = 403
	}
	in := request{method: "PATCH", path: "/apps/" + a.id, body: patch(fmt.Sprint(a.version), fmt.Sprint("x", a.version), groups)}
	if done, _ := m.step(c, in, 200, want); done {
		m.add(a, groups)
	}
}

// sees is 200 for an app that the caller may use, else 404.
func (c caller) seesApp(a *steppedApp) int { return status(c.uses(&a.modelApp)) }

func (m *stepper) restore(c caller, a *steppedApp) {
	version := m.IntN(len(a.groupsOf))
	in := m.request(c, post("/apps/versions/restore", fmt.Sprintf(`{"appId":%q,"appVersion":"%d"}`, a.id, version)))
	var sent struct{ AppID, AppVersion string }
	_ = json.Unmarshal([]byte(in.body), &sent)
	a = m.apps[slices.IndexFunc(m.apps, func(a *steppedApp) bool { return a.id == sent.AppID })]
	fmt.Sscan(sent.AppVersion, &version)
	want := 201
	if !c.mayRegroup(a, a.groupsOf[version]) {
		want = 403
	}
	if done, _ := m.step(c, in, c.seesApp(a), want); done {
		m.add(a, a.groupsOf[version])
	}
}

func (m *stepper) tag() string { return one(m.random, []string{"old", "new", "production"}) }

func (m *stepper) putTag(c caller, a *steppedApp) {
	name, version := m.tag(), m.IntN(len(a.groupsOf))
	in := m.request(c, request{method: "PUT", path: "/apps/" + a.id + "/tags/" + name, body: fmt.Sprintf(`{"appVersion":"%d"}`, version)})
	var sent struct{ AppVersion string }
	_ = json.Unmarshal([]byte(in.body), &sent)
	fmt.Sscan(sent.AppVersion, &version)
	if done, _ := m.step(c, in, c.mayTag(a, name), 201); done {
		a.tags[name] = version
	}
}

func (m *stepper) deleteTag(c caller, a *steppedApp) {
	name, want := m.tag(), 404
	if names := slices.Sorted(maps.Keys(a.tags)); len(names) > 0 && m.IntN(4) > 0 {
		name = one(m.random, names)
	}
	if _, ok := a.tags[name]; ok {
		want = 204
	}
	in := m.request(c, request{method: "DELETE", path: "/apps/" + a.id + "/tags/" + name})
	if done, _ := m.step(c, in, c.mayTag(a, name), want); done {
		delete(a.tags, name)
	}
}
