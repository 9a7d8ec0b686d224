package appsvc

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/semver"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// latestComponent finds the latest version of a component: the highest one if all are semantic versions, otherwise the
// one created last. Versions are added in the order of their creation, which is that in which a store yields them. The zero value
// is one without versions.
type latestComponent struct {
	any             bool // a version was added
	odd             bool // some version is no semantic version
	highest, newest Component
}

// add takes the version that was created next. Of versions that are equal in the order of semantic versions, such as
// 1.0.0+a and 1.0.0+b, the one created last is the highest.
func (l *latestComponent) add(c Component) {
	c.Manifest = nil // a store need not leave it out
	if !isSemver(c.Version) {
		l.odd = true
	}
	if !l.any || semver.Compare("v"+c.Version, "v"+l.highest.Version) >= 0 {
		l.highest = c
	}
	l.newest, l.any = c, true
}

// best returns the latest of the versions that were added.
func (l *latestComponent) best() Component {
	if l.odd {
		return l.newest
	}
	return l.highest
}

// isSemver reports whether v is a whole semantic version, such as 1.2.0, 1.2.0-beta or 1.2.0+a. The library also takes "1" and
// "1.2", which are none.
func isSemver(v string) bool {
	core, _, _ := strings.Cut(v, "+")
	core, _, _ = strings.Cut(core, "-")
	return strings.Count(core, ".") == 2 && semver.IsValid("v"+v)
}

// ListComponentVersionsRequest asks for the versions of a component, the one created last first.
type ListComponentVersionsRequest struct {
	Name  string // of the component
	Limit int    // 1 to 500; 0 = 50
	After string // only versions created before this one; "" = from the newest on
}

// ListComponentVersions returns a page of the versions of a component, the one created last first. The Manifest of each
// has only id, name, version, main and description; ComponentVersion returns the whole manifest. Every caller without TagsOnly
// may read them. A page also ends when these short manifests have reached Limits.PageBytes. Next is the last version of the page,
// or "" on the last page.
//
// It returns ErrNotFound if there is no component of this name, and ErrInvalid if Limit is out of range or After is not a
// version of the component: for instance, because the component was deleted, and created again with other versions, between
// two pages.
func (s *Service) ListComponentVersions(ctx context.Context, by vitrine.Caller, in ListComponentVersionsRequest) (vitrine.Page[Component], error) {
	var out vitrine.Page[Component]
	if err := by.CheckUnrestricted(); err != nil {
		return out, err
	}
	limit, err := s.limits.pageLimit(in.Limit, 50)
	if err != nil {
		return out, err
	}
	err = s.store.View(ctx, func(r Reader) error {
		// A store has no query for a part of the versions. So all their names are read, and the components of this page alone.
		versions, err := componentVersions(ctx, r, in.Name)
		if err != nil {
			return err
		}
		if in.After != "" {
			at := slices.Index(versions, in.After)
			if at < 0 {
				return invalidParameter("after", "component %q has no version %q to go on after", in.Name, in.After)
			}
			versions = versions[at+1:]
		}
		page := newPageBuilder[Component](ctx, limit, s.limits.PageBytes)
		for _, version := range versions {
			c, err := findComponent(ctx, r, ComponentRef{in.Name, version})
			if err != nil {
				return err
			}
			if c, err = c.listed(); err != nil {
				return err
			}
			if ok, err := page.add(c, len(c.Manifest)); err != nil {
				return err
			} else if !ok {
				break
			}
		}
		out = (vitrine.Page[Component]{Items: page.items})
		if page.more {
			out.Next = page.items[len(page.items)-1].Version
		}
		return nil
	})
	return out, err
}

// componentVersions returns the names of all versions of a component, the one created last first. Creation is the order of the
// store; nothing else in a component says when it was created. It asks the store to leave out manifests, so that it is quick for
// many versions. It returns ErrNotFound if there is no component of this name.
func componentVersions(ctx context.Context, r Reader, name string) (versions []string, err error) {
	if name == "" { // a store would take it for all components
		return nil, noComponent(name)
	}
	for c, err := range r.Components(ctx, ComponentQuery{Name: name, Brief: true}) {
		if err != nil {
			return nil, err
		}
		versions = append(versions, c.Version)
	}
	if len(versions) == 0 {
		return nil, noComponent(name)
	}
	slices.Reverse(versions)
	return versions, nil
}

// listed returns the component as ListComponentVersions shows it: the manifest without configSchema and without the
// members that the service does not know. Those are what makes manifests large, and a list is for choosing a version.
func (c Component) listed() (Component, error) {
	var err error
	c.Manifest, err = json.Marshal(struct {
		ID          string  `json:"id"`
		Name        string  `json:"name"`
		Version     string  `json:"version"`
		Main        string  `json:"main"`
		Description *string `json:"description"`
	}{c.ID, c.Name, c.Version, c.Main, c.Description()})
	return c, err
}

// AllComponentVersions yields the versions of a component from in.After on, the one created last first, page by page. in.Limit is
// how many are read at a time. It ends with the first error, which comes in the last pair.
func (s *Service) AllComponentVersions(ctx context.Context, by vitrine.Caller, in ListComponentVersionsRequest) iter.Seq2[Component, error] {
	return paging.All(in.After, func(after string) ([]Component, string, error) {
		in.After = after
		page, err := s.ListComponentVersions(ctx, by, in)
		return page.Items, page.Next, err
	})
}

// ComponentVersion returns one version of a component. Its Manifest has all members that CreateComponent
// got, and also id and description if CreateComponent got none: a random id, and null. Every caller without TagsOnly may read it.
// It returns ErrNotFound if there is no such version.
func (s *Service) ComponentVersion(ctx context.Context, by vitrine.Caller, name, version string) (Component, error) {
	if err := by.CheckUnrestricted(); err != nil {
		return Component{}, err
	}
	var found Component
	err := s.store.View(ctx, func(r Reader) error {
		if name == "" || version == "" { // a store would take it for any
			return noComponentVersion(name, version)
		}
		for c, err := range r.Components(ctx, ComponentQuery{Name: name, Version: version}) {
			found = c
			return err
		}
		return noComponentVersion(name, version)
	})
	return found, err
}

// noComponentVersion is the ErrNotFound of a component that has no such version, or does not exist at all. Components are no
// secret, so the error may name both.
func noComponentVersion(name, version string) error {
	return notFound("component %q has no version %q", name, version)
}
