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
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/storage"
)

// latestOf returns the latest of some versions of a component: the highest one if all are semantic versions, otherwise
// the one created last. Of versions that are equal in the order of semantic versions, such as 1.0.0+a and 1.0.0+b, the
// one created last is the highest.
func latestOf(versions []records.Component) records.Component {
	byNumber := func(a, b records.Component) int { return cmp.Compare(a.Number, b.Number) }
	if slices.ContainsFunc(versions, func(c records.Component) bool { return !isSemver(c.Version) }) {
		return slices.MaxFunc(versions, byNumber)
	}
	return slices.MaxFunc(versions, func(a, b records.Component) int {
		return cmp.Or(semver.Compare("v"+a.Version, "v"+b.Version), byNumber(a, b))
	})
}

// isSemver reports whether v is a complete semantic version, such as 1.2.0, 1.2.0-beta or 1.2.0+a. The library also
// accepts "1" and "1.2", which are incomplete.
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
// has only id, name, version, main, title, preview and description; ComponentVersion returns the whole manifest. Every
// caller without TagsOnly may read them. A page also ends before the manifest that would bring it above
// Limits.PageBytes. Next is the last version of the page, or "" on the last page.
//
// It returns ErrNotFound if there is no component of this name, and ErrInvalid if Limit is out of range or After is not
// a version of the component: for instance, because the component was deleted, and created again with other versions,
// between two pages.
func (s *Session) ListComponentVersions(
	ctx context.Context, in ListComponentVersionsRequest,
) (vitrine.Page[Component], error) {
	s = s.calls("ListComponentVersions")
	return list(ctx, s, in.Limit, 50, func(r *reader, limit int) (page vitrine.Page[Component], err error) {
		versions, err := r.ComponentVersions(ctx, in.Name)
		if err == nil && len(versions) == 0 {
			err = noComponent(in.Name)
		}
		if err != nil {
			return page, err
		}
		slices.Reverse(versions)
		if in.After != "" {
			at := slices.IndexFunc(versions, func(c records.Component) bool { return c.Version == in.After })
			if at < 0 {
				return page,
					fault.Invalid("after", "component %q has no version %q to go on after", in.Name, in.After)
			}
			versions = versions[at+1:]
		}
		items := func(yield func(Component, error) bool) {
			for _, c := range versions {
				if !yield(listed(c), nil) {
					return
				}
			}
		}
		return fill(s.service, limit, items, func(c Component) int {
			return len(c.Manifest)
		}, func(last Component) string { return last.Version })
	})
}

// listed returns the component in the form of lists.
func listed(c records.Component) Component {
	manifest, _ := json.Marshal(struct {
		ID          string  `json:"id"`
		Name        string  `json:"name"`
		Version     string  `json:"version"`
		Main        string  `json:"main"`
		Title       *string `json:"title,omitzero"`
		Preview     *string `json:"preview,omitzero"`
		Description *string `json:"description"`
	}{c.ID, c.Name, c.Version, c.Main, c.Title, c.Preview, c.Description}) // of texts
	return withManifest(c, manifest)
}

// AllComponentVersions yields the versions of a component from in.After on, the one created last first, page by page.
// in.Limit is the size of a page. The first error is the last pair.
func (s *Session) AllComponentVersions(
	ctx context.Context, in ListComponentVersionsRequest,
) iter.Seq2[Component, error] {
	return paging.All(&in.After, func() (vitrine.Page[Component], error) { return s.ListComponentVersions(ctx, in) })
}

// ComponentVersion returns one version of a component. Its Manifest has all members of the request of CreateComponent,
// and an id and a description even if the request had none: a random id, and null. Every caller without TagsOnly may
// read it. It returns ErrNotFound if there is no such version.
func (s *Session) ComponentVersion(ctx context.Context, name, version string) (Component, error) {
	s = s.calls("ComponentVersion")
	return view(ctx, s, func(r *reader) (Component, error) {
		key := records.ComponentKey(name, version)
		values, err := r.Get(ctx, key, records.ManifestKey(name, version))
		if err != nil {
			return Component{}, err
		}
		if values[0] == nil {
			return Component{}, noComponentVersion(name, version)
		}
		c, err := records.DecodeComponent(storage.Entry{Key: key, Value: values[0]})
		return withManifest(c, values[1]), err
	})
}

// noComponentVersion returns ErrNotFound for a component without such a version, or that does not exist. Components are
// not secret, so the error may name both.
func noComponentVersion(name, version string) error {
	return fault.NotFound("component %q has no version %q", name, version)
}
