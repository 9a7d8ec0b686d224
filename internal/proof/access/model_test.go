//go:build proof

package access

import (
	"slices"
	"strings"
)

// The access rules, written a second time for the things of the random worlds. The tests compare them with
// the domains, whose code they do not use.

type modelApp struct {
	id, owner string // URN
	groups    []string
	component string
	created   int64
	updated   int64
	version   int
}

type modelFolder struct {
	id      string
	parent  *modelFolder
	inherit bool
	deleted bool
	grants  []modelGrant
}

type modelGrant struct {
	kind, id string // user, role, group
	level    int    // 1 view, 2 edit, 3 manage
}

type modelAsset struct {
	id, name string
	folders  []*modelFolder
}

// contains: one URN contains another when each of its segments equals that at the same place.
func contains(outer, inner string) bool {
	a, b := strings.Split(outer, ":"), strings.Split(inner, ":")
	return len(a) <= len(b) && slices.Equal(a, b[:len(a)])
}

func (c caller) moderatesURN(urn string) bool {
	for _, m := range c.Moderates {
		if contains(m, urn) {
			return true
		}
	}
	return false
}

func (c caller) uses(a *modelApp) bool {
	if a.owner == c.URN {
		return true
	}
	for _, g := range a.groups {
		if c.moderatesURN(g) {
			return true
		}
	}
	return false
}

// readsApp: who reads one of the groups of an app reads it, and does not change it.
func (c caller) readsApp(a *modelApp) bool {
	return c.uses(a) || slices.ContainsFunc(a.groups, func(g string) bool {
		return slices.ContainsFunc(c.Reads, func(r string) bool { return contains(r, g) })
	})
}

func (c caller) inNetwork() bool { return contains(network, c.URN) || c.moderatesURN(network) }

// effective are a folder's own grants and those it inherits.
func (f *modelFolder) effective() []modelGrant {
	if f.inherit && f.parent != nil {
		return append(slices.Clone(f.grants), f.parent.effective()...)
	}
	return f.grants
}

func (f *modelFolder) inheritsToTheTop() bool {
	return f.inherit && (f.parent == nil || f.parent.inheritsToTheTop())
}

func (f *modelFolder) isGone() bool {
	return f.deleted || f.parent != nil && f.parent.isGone()
}

// level is 0 for nothing, 1 view, 2 edit, 3 manage.
func (c caller) level(f *modelFolder) int {
	if c.moderatesURN(network) {
		return 3
	}
	all := f.effective()
	level := 0
	if len(all) == 0 && f.inheritsToTheTop() {
		level = 1
	}
	for _, g := range all {
		holds := g.kind == "user" && (g.id == c.URN || network+":user="+g.id == c.URN) ||
			g.kind == "role" && slices.Contains(c.Roles, g.id) || g.kind == "group" && slices.Contains(c.Groups, g.id)
		if holds {
			level = max(level, g.level)
		}
	}
	return level
}

func (c caller) sees(f *modelFolder) bool { return !f.isGone() && c.level(f) > 0 }

// finds reports whether a search finds the asset, reads whether its id does.
func (c caller) finds(a *modelAsset) bool {
	return len(a.folders) == 0 || slices.ContainsFunc(a.folders, c.sees)
}

func (c caller) reads(a *modelAsset) bool { return c.finds(a) || c.moderatesURN(network) }

// status is that of reading one thing.
func status(ok bool) int {
	if ok {
		return 200
	}
	return 404
}
