package appsvc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// A store keeps each version of a component as one row, in the order in which they were created. It has no row for the
// component as a whole: that is all versions of one name. Which of them is the latest is a rule of this package; see
// latestOf.

// Component is one version of a component: a script that powers elements of apps, with the JSON Schema of its configs.
// Elements name a component by name and version and carry a config for it. A version of a component never changes, but
// all versions of a name can be deleted, and created again.
//
// An element copies the Manifest when it is written. So apps read the same after their components were deleted.
//
// A Component is a value. Its Manifest may share memory with a cache and with the store, so its bytes must not be
// changed.
//
// # Components and configs
//
// When an element is added, or its component or its config changes, the component must exist, the config must conform
// to its configSchema, and the component's manifest is copied into the element. All other elements stay as they are
// stored. So an old version reads the same after its components were deleted or created again, and Restore validates no
// config again.
//
// A config has only what was written into it. [App.WithDefaults] adds the defaults of the schema, for display.
//
// A configSchema is JSON Schema of draft 04, 06, 07, 2019-09 or 2020-12, as its $schema says; without a $schema it is
// of 2020-12. It must be
//
//   - valid against the meta-schema of its draft, and of this one draft;
//   - of at most 256 KiB, 64 levels, and 4 KiB for all patterns together;
//   - complete: each $ref names a place in the schema or a standard meta-schema, because the service fetches nothing;
//   - simple enough: at most 5,000 subschemas, of which at most 200 in a row apply to one value, and none to the value
//     that it applies to already.
//
// Patterns are ECMA 262 in the Unicode form, with lookaheads, lookbehinds and back-references. A format rejects no
// value, unless the schema engine (Options.Schemas) is one that asserts formats (see [SchemaOptions]), or unless it
// decides: where a value fits more than one alternative of a oneOf, those count whose formats it has.
//
// A validation counts its steps, and rejects a config that takes too many (CodeCost). A busy machine accepts and
// rejects the same configs as an idle one, except for patterns with lookarounds, back-references or repetitions above
// 1,000 times: such patterns have 250 ms a request, and texts of at most 128 KiB. The error of a config that breaks its
// schema has up to 100 Violations, each with the place, the keyword and a message. The Warnings of CheckComponent name
// the keywords and formats of a schema that have no effect.
//
// CheckComponent says what a new version of a component would break, before it is created. It stores nothing. It
// validates the configs of all elements that have a component of this name, in the latest and in the tagged versions of
// the apps that the caller may read. Each element is checked as Patch would check it if only the version of its
// component changed. Rules of the whole app, such as the size of its JSON, are not checked.
//
// Upgrade gives all apps with a component another version of it, with a JSON Patch for each config. Each app gets one
// new version, as Patch would store it, or is not changed, and the result says why. A dry run returns the same and
// stores nothing.
//
// For both, a store keeps an index of the components that any version of an app has used. It is small and only grows.
type Component struct {
	ID      string // unique among all components
	Name    string
	Version string
	Main    string // URL of the script
	// Manifest is the whole component as one compact JSON object, as elements copy it. In lists it only has id, name,
	// version, main, title, preview and description, since the other members make manifests large.
	Manifest []byte
	// Warnings are those of the configSchema, at most 100, for a component that CreateComponent has just stored. It is
	// nil for any other.
	Warnings []SchemaWarning
}

// MarshalJSON returns the manifest.
func (c Component) MarshalJSON() ([]byte, error) { return c.Manifest, nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Component) UnmarshalJSON(text []byte) error {
	var m struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Version string `json:"version"`
		Main    string `json:"main"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	*c = Component{ID: m.ID, Name: m.Name, Version: m.Version, Main: m.Main, Manifest: compact(text)}
	return nil
}

// Title returns the name that people see. It is nil if the manifest has none.
func (c Component) Title() *string { return c.text("title") }

// Preview returns the address of a picture that shows what the component looks like. It is nil if the manifest has
// none.
func (c Component) Preview() *string { return c.text("preview") }

// Description returns the plain text that describes the component to app creators. It is nil if the manifest has none.
func (c Component) Description() *string { return c.text("description") }

// text returns the string that a member of the manifest has, or nil if the member is absent or no string.
func (c Component) text(name string) *string {
	if text, ok := jsontree.Text(jsontree.Member(c.Manifest, name)); ok {
		return &text
	}
	return nil
}

// ConfigSchema returns the JSON Schema that configs of the component conform to. It returns an error if the
// manifest has none, as in a list of components.
func (c Component) ConfigSchema() ([]byte, error) {
	schema := jsontree.Member(c.Manifest, "configSchema")
	if schema == nil {
		return nil, errors.New("stored manifest: no configSchema")
	}
	return schema, nil
}

// CreateComponentRequest is a version of a component to store.
type CreateComponentRequest struct {
	// a JSON object: name, version, main and configSchema, id and description if wanted, and any other members
	Manifest       io.Reader // it is read once the caller is known to have the right; its error is returned as it is
	IdempotencyKey string    // "" = none
}

// CreateComponent stores a version of a component. The result has the manifest as it is stored, with the id, and the
// warnings of its configSchema. Apps do not change: an element gets the new version when a patch names it.
// CheckComponent says before what that would break.
//
// A version that was deleted gets the id that it had.
//
// It returns:
//   - ErrForbidden unless the caller may manage components;
//   - ErrTooLarge if the manifest has more than Limits.ManifestBytes, by default 1 MiB;
//   - ErrInvalid if the manifest or the idempotency key is malformed, if the configSchema is rejected (see
//     "Components and configs" of Component), or if there was such a version that was deleted and
//     had another manifest or another id;
//   - ErrInvalid with CodeExists, the pointer /version and Same if there is a component with the same name and version,
//     and with the pointer /id if another component has the id;
//   - ErrUnprocessable if the idempotency key was used for another request.
func (s *Session) CreateComponent(ctx context.Context, in CreateComponentRequest) (Component, error) {
	if err := mayManageComponents(s.by, "createComponent"); err != nil {
		return Component{}, err
	}
	text, err := readText("manifest", in.Manifest, s.service.limits.ManifestBytes)
	if err != nil {
		return Component{}, err
	}
	write, err := newIdempotentWrite(s.by, in.IdempotencyKey, "create component", string(text))
	if err != nil {
		return Component{}, err
	}
	var sent sentComponent
	prepare := func() (err error) {
		sent, err = s.service.parseManifest(ctx, text)
		return err
	}
	var c Component
	var made componentID
	repeated, err := s.service.write(ctx, write, &made, prepare, func(tx *writer) error {
		vacant, err := tx.vacant(ctx, sent)
		if err != nil {
			return err
		}
		c = vacant
		made.ID = c.ID
		if err := tx.AddComponent(ctx, records.Component{ID: c.ID, Name: c.Name, Version: c.Version, Main: c.Main,
			Title: c.Title(), Preview: c.Preview(), Description: c.Description()}, c.Manifest); err != nil {
			return err
		}
		return s.commitChange(ctx, tx, Change{Type: ComponentCreated, Component: c})
	})
	if err == nil && repeated { // the key identifies this manifest
		return s.service.remade(ctx, text, made.ID)
	}
	return c, err
}

// componentID is the stored result of CreateComponent for a repeat. The service may have chosen the id;
// everything else is in the manifest, which the repeat sends again.
type componentID struct{ ID string }

// remade returns the component that CreateComponent made from a manifest in an earlier call, with the id that it got
// then. The manifest was checked then, and the idempotency key identifies it, so the result is the same even if the
// component was deleted since.
func (s *Service) remade(ctx context.Context, manifest []byte, id string) (Component, error) {
	c, err := withID(manifest, id)
	if err != nil {
		return Component{}, err
	}
	schema, err := c.ConfigSchema()
	if err == nil {
		c.Warnings, err = s.warnings(ctx, schema)
	}
	return c, err
}

// withID returns the component of a manifest that was checked before, with this id.
func withID(manifest []byte, id string) (Component, error) {
	m, extra, err := decodeManifest(manifest)
	if err != nil {
		return Component{}, err
	}
	m.id = &id
	return m.component(extra), nil
}

// Component returns the latest version of a component: the highest one if all its versions are semantic versions,
// otherwise the one created last. Every caller without TagsOnly may read it. It returns ErrNotFound if there is no
// component of this name.
func (s *Session) Component(ctx context.Context, name string) (Component, error) {
	s = s.calls("Component")
	return view(ctx, s, func(r *reader) (Component, error) {
		// The latest version is known without manifests, so only its manifest is read.
		list, err := r.ComponentVersions(ctx, name)
		if err != nil {
			return Component{}, err
		}
		if len(list) == 0 {
			return Component{}, noComponent(name)
		}
		latest := latestOf(list)
		manifest, err := r.Value(ctx, records.ManifestKey(name, latest.Version))
		return withManifest(latest, manifest), err
	})
}

// noComponent returns ErrNotFound for a name that no component has. Components are not secret, so the error repeats the
// name.
func noComponent(name string) error { return fault.NotFound("there is no component named %q", name) }

// ListComponentsRequest asks for components, by name.
type ListComponentsRequest struct {
	After string // only names after this one
}

// ListComponents returns a page of components, each as its latest version, by name in byte order. Their Manifest is
// nil; Component returns it. A request cannot limit the number of components: a page ends before the component that
// would bring its JSON above Limits.PageBytes. Every caller without TagsOnly may read components.
func (s *Session) ListComponents(ctx context.Context, in ListComponentsRequest) (vitrine.Page[Component], error) {
	s = s.calls("ListComponents")
	return list(ctx, s, 0, 0, func(r *reader, _ int) (vitrine.Page[Component], error) {
		return fill(s.service, 0, r.latestComponents(ctx, in.After), Component.size, func(last Component) string {
			return last.Name
		})
	})
}

// AllComponents yields the latest version of each component, from in.After on, page by page. The first error is the
// last pair.
func (s *Session) AllComponents(ctx context.Context, in ListComponentsRequest) iter.Seq2[Component, error] {
	return paging.All(&in.After, func() (vitrine.Page[Component], error) { return s.ListComponents(ctx, in) })
}

// latestComponents yields the latest version of each component with a name after after, by name.
func (r *reader) latestComponents(ctx context.Context, after string) iter.Seq2[Component, error] {
	return func(yield func(Component, error) bool) {
		// The versions of one name are adjacent. Their latest is known when the next name begins.
		var versions []records.Component
		for c, err := range r.Components(ctx, after) {
			if err != nil {
				yield(Component{}, err)
				return
			}
			if len(versions) > 0 && c.Name != versions[0].Name {
				if !yield(listed(latestOf(versions)), nil) {
					return
				}
				versions = nil
			}
			versions = append(versions, c)
		}
		if len(versions) > 0 {
			yield(listed(latestOf(versions)), nil)
		}
	}
}

// size estimates the bytes of a component in a list.
func (c Component) size() int {
	return len(c.ID) + len(c.Name) + len(c.Version) + len(c.Main) + len(c.Manifest) + 64
}

// DeleteComponentRequest names a component to remove.
type DeleteComponentRequest struct {
	Name           string
	IdempotencyKey string // "" = none
}

// DeleteComponent removes every version of a component; one version cannot be deleted alone. Elements keep their copies
// of the manifest, so apps read as before. But a patch that changes the config of such an element is ErrUnprocessable
// from then on, until the component is created again or the element gets another one.
//
// It returns ErrForbidden unless the caller may manage components, ErrNotFound if there is no component of this name,
// and ErrUnprocessable if the idempotency key was used for another request.
func (s *Session) DeleteComponent(ctx context.Context, in DeleteComponentRequest) error {
	if err := mayManageComponents(s.by, "deleteComponent"); err != nil {
		return err
	}
	write, err := newIdempotentWrite(s.by, in.IdempotencyKey, "delete component", in.Name)
	if err != nil {
		return err
	}
	_, err = s.service.write(ctx, write, &struct{}{}, nil, func(tx *writer) error {
		n, err := tx.DeleteComponent(ctx, in.Name)
		if err == nil && n == 0 {
			err = noComponent(in.Name)
		}
		if err != nil {
			return err
		}
		return s.commitChange(ctx, tx, Change{Type: ComponentDeleted, Component: Component{Name: in.Name}})
	})
	return err
}

// ComponentRef names a version of a component. Both strings have 1 to Limits.Name characters, by default 128.
type ComponentRef struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero"`
}

// vacant returns a component that may be added: with the id that it has, or that it had before it was deleted. It
// returns an error of CreateComponent if the name and version, or the id, are taken, or belonged to another one that
// was deleted.
func (r *reader) vacant(ctx context.Context, c sentComponent) (out Component, err error) {
	values, err := r.Get(ctx, records.ManifestKey(c.Name, c.Version),
		records.Key(records.WasKind, c.Name, c.Version))
	if err != nil {
		return Component{}, err
	}
	if manifest := values[0]; manifest != nil {
		id, _ := jsontree.Text(jsontree.Member(manifest, "id"))
		if (id == c.ID || !c.named) && records.ContentDigest(manifest) == records.ContentDigest(c.Manifest) {
			return Component{}, exists("/version", true,
				"version %q of %q exists already, and is the same: nothing is left to do", c.Version, c.Name)
		}
		return Component{}, exists("/version", false,
			"version %q of %q exists already, and is another one: want another version", c.Version, c.Name)
	}
	out = c.Component
	was, id, _ := strings.Cut(string(values[1]), " ")
	switch {
	case was != "" && was != records.ContentDigest(c.Manifest):
		return Component{}, fault.Invalid("/version",
			"version %q of %q was deleted, and had another manifest: want the same one, or another version", c.Version,
			c.Name)
	case id != "" && !c.named:
		if out, err = withID(c.Manifest, id); err != nil {
			return Component{}, err
		}
		out.Warnings = c.Warnings
	case id != "" && id != c.ID:
		return Component{}, fault.Invalid("/id",
			"version %q of %q was deleted, and had the id %q: want this id or none, or another version", c.Version,
			c.Name, id)
	}
	taken, err := r.Value(ctx, records.Key(records.IDKind, out.ID))
	if err != nil || taken == nil {
		return out, err
	}
	if c.named {
		return Component{}, exists("/id", false,
			"a component with the id %q exists already: want another id, or none", c.ID)
	}
	return Component{}, exists("/id", false,
		"version %q of %q was deleted, and another component has the id %q that it had: want another version",
		c.Version, c.Name, id)
}

// exists is the error of a component that is there already. same says whether it is the one of the request.
func exists(pointer string, same bool, format string, args ...any) error {
	err := fault.Invalid(pointer, format, args...)
	err.Code, err.Same = vitrine.CodeExists, &same
	return err
}

// withManifest returns a stored component in the form for callers.
func withManifest(c records.Component, manifest []byte) Component {
	return Component{ID: c.ID, Name: c.Name, Version: c.Version, Main: c.Main, Manifest: slices.Clip(manifest)}
}
