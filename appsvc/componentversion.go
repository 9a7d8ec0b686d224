package appsvc

import (
	"cmp"
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
// one created last. Versions may be added in any order. The zero value is one without versions.
type latestComponent struct {
	any             bool // a version was added
	odd             bool // some version is no semantic version
	highest, newest storedComponent
}

// add takes a version. Of versions that are equal in the order of semantic versions, such as
// 1.0.0+a and 1.0.0+b, the one created last is the highest.
func (l *latestComponent) add(c storedComponent) {
	if !isSemver(c.Version) {
		l.odd = true
	}
	if !l.any || cmp.Or(semver.Compare("v"+c.Version, "v"+l.highest.Version), cmp.Compare(c.Number, l.highest.Number)) > 0 {
		l.highest = c
	}
	if !l.any || c.Number > l.newest.Number {
		l.newest = c
	}
	l.any = true
}

// best returns the latest of the versions that were added.
func (l *latestComponent) best() storedComponent {
	if l.odd {
		return l.newest
	}
	return l.highest
}

// isSemver reports whether v is a whole semantic version, such as 1.2.0, 1.2.0-beta or 1.2.0+a. The library also takes "1" and
// "1.2", which are not whole.
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
	err = s.store.view(ctx, func(r *reader) error {
		versions, err := r.componentVersions(ctx, in.Name)
		if err != nil {
			return err
		}
		if len(versions) == 0 {
			return noComponent(in.Name)
		}
		slices.Reverse(versions)
		if in.After != "" {
			at := slices.IndexFunc(versions, func(c storedComponent) bool { return c.Version == in.After })
			if at < 0 {
				return invalidParameter("after", "component %q has no version %q to go on after", in.Name, in.After)
			}
			versions = versions[at+1:]
		}
		page := newPageBuilder[Component](ctx, limit, s.limits.PageBytes)
		for _, version := range versions {
			c, err := findComponent(ctx, r, ComponentRef{in.Name, version.Version})
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
		out = page.page(func(last Component) string { return last.Version })
		return nil
	})
	return out, err
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
	err := s.store.view(ctx, func(r *reader) error {
		c, ok, err := r.wholeComponent(ctx, ComponentRef{name, version})
		if err == nil && !ok {
			err = noComponentVersion(name, version)
		}
		found = c
		return err
	})
	return found, err
}

// noComponentVersion is the ErrNotFound of a component that has no such version, or does not exist at all. Components are no
// secret, so the error may name both.
func noComponentVersion(name, version string) error {
	return notFound("component %q has no version %q", name, version)
}
