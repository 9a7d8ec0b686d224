package appsvc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"iter"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/semver"

	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Component is one version of a component: a script that powers elements of apps, with the JSON Schema of its configs.
// Elements name a component by name and version and carry a config for it. A version of a component never changes, but
// all versions of a name can be deleted, and created anew.
//
// An element copies the Manifest when it is written. So apps read the same after their components are gone.
type Component struct {
	ID       string // unique among all components
	Name     string
	Version  string
	Main     string // URL of the script
	Manifest []byte // the whole component as one compact JSON object, as elements copy it
}

// manifest holds the members of a component that the service knows. A manifest may have any others; they are kept as
// they were sent.
type manifest struct {
	ID           *string         `json:"id"`
	Name         string          `json:"name"`
	Version      string          `json:"version"`
	Description  *string         `json:"description"`
	Main         string          `json:"main"`
	ConfigSchema json.RawMessage `json:"configSchema"`
}

var manifestMembers = []string{"id", "name", "version", "description", "main", "configSchema"}

// MarshalJSON returns the manifest. Without a manifest it returns an object of id, name, version and main.
func (c Component) MarshalJSON() ([]byte, error) {
	if c.Manifest != nil {
		return c.Manifest, nil
	}
	return json.Marshal(brief{c.ID, c.Name, c.Version, c.Main})
}

// UnmarshalJSON reads what MarshalJSON writes. Manifest stays nil if the text has no configSchema.
func (c *Component) UnmarshalJSON(text []byte) error {
	var b brief
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	*c = Component{ID: b.ID, Name: b.Name, Version: b.Version, Main: b.Main}
	kept := compact(text)
	if at, _, err := rawjson.Lookup(kept, "configSchema", 0); err == nil && at >= 0 {
		c.Manifest = kept
	}
	return nil
}

// brief is a component without its manifest.
type brief struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Main    string `json:"main"`
}

// Description returns the plain text that describes the component to app creators. It is nil if the
// manifest has none.
func (c Component) Description() *string {
	var m manifest
	if json.Unmarshal(c.Manifest, &m) != nil {
		return nil
	}
	return m.Description
}

// ConfigSchema returns the JSON Schema that configs of the component conform to. It returns an error if the
// manifest has none, as in a list of components.
func (c Component) ConfigSchema() ([]byte, error) {
	at, _, err := rawjson.Lookup(c.Manifest, "configSchema", 0)
	if err != nil || at < 0 {
		return nil, errors.New("stored manifest: no configSchema")
	}
	schema, _ := rawjson.Cut(c.Manifest[at:])
	return schema, nil
}

// parseManifest reads a component as it is sent: name, version, main and configSchema are
// required, id and description are optional, and members of other names are kept. Without an id the component gets a
// random one. It returns ErrTooLarge if there are too many bytes, and ErrInvalid if a rule of manifests is broken or if
// the configSchema is refused. It reads no store.
func (s *Service) parseManifest(data []byte) (Component, error) {
	if len(data) > s.limits.ManifestBytes {
		return Component{}, tooLarge("the manifest has %d bytes; at most %d are allowed", len(data), s.limits.ManifestBytes)
	}
	m, extra, err := s.limits.readManifest(data)
	if err != nil {
		return Component{}, err
	}
	if m.ID == nil {
		id := s.newID()
		m.ID = &id
	}
	if err := s.schemas.check(m.ConfigSchema); err != nil {
		if bad, ok := errors.AsType[*schemaguard.Error](err); ok {
			return Component{}, invalid("/configSchema"+bad.Pointer, "%s", bad.Reason)
		}
		return Component{}, invalid("/configSchema", "%s", err)
	}
	return m.component(extra), nil
}

// readManifest decodes a manifest and checks it. Of configSchema it checks only that it is an object.
func (l Limits) readManifest(data []byte) (manifest, []strictjson.Member, error) {
	m, extra, err := decodeManifest(data)
	if err != nil {
		return m, nil, malformed(err)
	}
	names := []struct{ pointer, value string }{{"/name", m.Name}, {"/version", m.Version}}
	if m.ID != nil {
		names = append(names, struct{ pointer, value string }{"/id", *m.ID})
	}
	for _, f := range names {
		if wrong := l.checkName(f.value); wrong != "" {
			return m, nil, invalid(f.pointer, "%s", wrong)
		}
	}
	if err := checkMain(m.Main); err != nil {
		return m, nil, invalid("/main", "%s", err)
	}
	if m.ConfigSchema == nil || bytes.TrimLeft(m.ConfigSchema, " \t\r\n")[0] != '{' {
		return m, nil, invalid("/configSchema", "want a JSON Schema that is an object; {} accepts anything")
	}
	return m, extra, nil
}

// decodeManifest splits a manifest into the members that the service knows and the others, in their order. It checks
// only that it is strict JSON and that the known members have the right types.
func decodeManifest(data []byte) (manifest, []strictjson.Member, error) {
	var m manifest
	if err := strictjson.Check(data, strictjson.MaxDepth); err != nil {
		return m, nil, err
	}
	members, err := strictjson.Members(data, manifestMembers...)
	if err != nil {
		return m, nil, err
	}
	fields := map[string]any{"id": &m.ID, "name": &m.Name, "version": &m.Version, "description": &m.Description,
		"main": &m.Main, "configSchema": &m.ConfigSchema}
	var extra []strictjson.Member
	for _, member := range members {
		field, known := fields[member.Name]
		if !known {
			extra = append(extra, member)
			continue
		}
		if err := strictjson.Decode(member.Value, field); err != nil {
			return m, nil, strictjson.Within("/"+member.Name, err)
		}
	}
	return m, extra, nil
}

func (m manifest) component(extra []strictjson.Member) Component {
	return Component{ID: *m.ID, Name: m.Name, Version: m.Version, Main: m.Main, Manifest: m.text(extra)}
}

// text returns the manifest in the compact form in which it is stored: name, version, id, description (null if there is none), main and
// configSchema, then the others in their order. The Auditor relies on this form.
func (m manifest) text(extra []strictjson.Member) []byte {
	var b bytes.Buffer
	member := func(sep byte, name string, value []byte) {
		b.WriteByte(sep)
		b.Write(appendString(nil, name))
		b.WriteByte(':')
		b.Write(compact(value))
	}
	description := []byte("null")
	if m.Description != nil {
		description = appendString(nil, *m.Description)
	}
	member('{', "name", appendString(nil, m.Name))
	member(',', "version", appendString(nil, m.Version))
	member(',', "id", appendString(nil, *m.ID))
	member(',', "description", description)
	member(',', "main", appendString(nil, m.Main))
	member(',', "configSchema", m.ConfigSchema)
	for _, x := range extra {
		member(',', x.Name, x.Value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// checkName is the rule of a component's name, version and id: 1 to 128 characters, none of them a
// control character. It returns what is wrong with s, "" if nothing is.
func (l Limits) checkName(s string) (wrong string) {
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		return "must not be empty"
	case n > l.Name:
		return fmt.Sprintf("has %d characters, at most %d", n, l.Name)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Sprintf("%q has a control character", s)
	}
	return ""
}

// checkMain refuses URLs that would run script of their own when they are loaded. A browser drops
// tabs and line ends inside a URL and spaces around it before it looks at the scheme, and a page
// that writes the URL into HTML may have its entities decoded.
func checkMain(main string) error {
	if strings.TrimSpace(main) == "" {
		return errors.New("must not be empty")
	}
	if err := checkScheme(main); err != nil {
		return err
	}
	if err := checkScheme(html.UnescapeString(main)); err != nil {
		return err
	}
	if _, err := url.Parse(strings.TrimSpace(main)); err != nil {
		return fmt.Errorf("%q is no URL", main)
	}
	return nil
}

// checkScheme refuses a URL whose scheme runs script, whatever white space and control characters are in it.
func checkScheme(main string) error {
	seen := strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return unicode.ToLower(r)
	}, main)
	for _, scheme := range []string{"javascript:", "data:", "vbscript:"} {
		if strings.HasPrefix(seen, scheme) {
			return fmt.Errorf("a %s URL is not allowed", strings.TrimSuffix(scheme, ":"))
		}
	}
	return nil
}

// CreateComponentRequest is a version of a component to store.
type CreateComponentRequest struct {
	Manifest       []byte // a JSON object: name, version, main and configSchema, id and description if wanted, and any other members
	IdempotencyKey string // "" = none
}

// CreateComponent stores a version of a component. The result has the manifest as it is stored, with the id. Apps do not
// change: an element gets the new version when a patch names it. CheckComponent says before what that would break.
//
// It returns:
//   - ErrForbidden unless the caller may manage components;
//   - ErrTooLarge if the manifest has more than 1 MiB;
//   - ErrInvalid if the manifest is malformed, if its configSchema is refused (the package comment says under "Schemas"
//     what it may be), or if there is a component with the same id or with the same name and version;
//   - ErrUnprocessable if the idempotency key was used for another request.
func (s *Service) CreateComponent(ctx context.Context, by Caller, in CreateComponentRequest) (Component, error) {
	if err := s.AdmitCreateComponent(ctx, by); err != nil {
		return Component{}, err
	}
	write, err := newIdempotentWrite(by, in.IdempotencyKey, "create component", string(in.Manifest))
	if err != nil {
		return Component{}, err
	}
	var c Component
	prepare := func() (err error) {
		c, err = s.parseManifest(in.Manifest)
		return err
	}
	var made componentID
	repeated, err := s.write(ctx, write, &made, prepare, func(tx Tx) error {
		made.ID = c.ID
		err := tx.AddComponent(ctx, c)
		if errors.Is(err, ErrExists) {
			return takenComponent(c)
		}
		if err != nil {
			return err
		}
		return s.record(ctx, tx, by, Change{Type: ComponentCreated, Component: c})
	})
	if err == nil && repeated { // the key stands for this manifest
		return madeComponent(in.Manifest, made.ID)
	}
	return c, err
}

// componentID is the stored result of CreateComponent for a repeat. The service may have chosen the id;
// everything else is in the manifest, which the repeat sends again.
type componentID struct{ ID string }

// madeComponent returns the component that CreateComponent made from a manifest, with its id.
func madeComponent(manifest []byte, id string) (Component, error) {
	m, extra, err := decodeManifest(manifest)
	if err != nil {
		return Component{}, err
	}
	m.ID = &id
	return m.component(extra), nil
}

// Component returns the latest version of a component: the highest one if all its versions are semantic
// versions, else the one created last. Every caller may read it. It returns ErrNotFound if there is no
// component of this name.
func (s *Service) Component(ctx context.Context, by Caller, name string) (Component, error) {
	var best Component
	if err := by.check(); err != nil {
		return best, err
	}
	if name == "" { // in a ComponentQuery it means all components
		return best, noComponent(name)
	}
	err := s.store.View(ctx, func(r Reader) error {
		var versions latestComponent
		for c, err := range r.Components(ctx, ComponentQuery{Name: name, Brief: true}) {
			if err != nil {
				return err
			}
			versions.add(c)
		}
		if !versions.any {
			return noComponent(name)
		}
		var err error
		best, err = findComponent(ctx, r, ComponentRef{name, versions.best().Version})
		return err
	})
	return best, err
}

func noComponent(name string) error { return notFound("there is no component named %q", name) }

// ListComponentsRequest asks for components, by name.
type ListComponentsRequest struct {
	After string // only names after this one
}

// ListComponents returns a page of components, each as its latest version, by name in byte order. Their Manifest is nil;
// Component returns it. A page ends when it has about 16 MiB. Every caller may read components.
func (s *Service) ListComponents(ctx context.Context, by Caller, in ListComponentsRequest) (Page[Component], error) {
	if err := by.check(); err != nil {
		return Page[Component]{}, err
	}
	var out Page[Component]
	err := s.store.View(ctx, func(r Reader) error {
		page := newGathering[Component](ctx, 0, s.limits.PageBytes)
		// The versions of one name come together. When the next name begins, the latest of them is known.
		var versions latestComponent
		for c, err := range r.Components(ctx, ComponentQuery{After: in.After, Brief: true}) {
			if err != nil {
				return err
			}
			if versions.any && c.Name != versions.newest.Name {
				if ok, err := page.add(versions.best(), versions.best().size()); err != nil {
					return err
				} else if !ok {
					break
				}
				versions = latestComponent{}
			}
			versions.add(c)
		}
		if versions.any && !page.more {
			if _, err := page.add(versions.best(), versions.best().size()); err != nil {
				return err
			}
		}
		out = Page[Component]{Items: page.items}
		if page.more {
			out.Next = page.items[len(page.items)-1].Name
		}
		return nil
	})
	return out, err
}

// AllComponents yields the latest version of each component, from in.After on, page by page.
func (s *Service) AllComponents(ctx context.Context, by Caller, in ListComponentsRequest) iter.Seq2[Component, error] {
	return paging.All(in.After, func(after string) ([]Component, string, error) {
		page, err := s.ListComponents(ctx, by, ListComponentsRequest{After: after})
		return page.Items, page.Next, err
	})
}

// size estimates the bytes of a component in a list.
func (c Component) size() int { return len(c.ID) + len(c.Name) + len(c.Version) + len(c.Main) + 64 }

// latestComponent finds the latest version of a component: the highest one if all are semantic versions, otherwise the
// one created last. Versions are added in the order of their creation.
type latestComponent struct {
	any             bool
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

func (l *latestComponent) best() Component {
	if l.odd {
		return l.newest
	}
	return l.highest
}

// isSemver reports whether v is a whole semantic version; the library also takes "1" and "1.2".
func isSemver(v string) bool {
	core, _, _ := strings.Cut(v, "+")
	core, _, _ = strings.Cut(core, "-")
	return strings.Count(core, ".") == 2 && semver.IsValid("v"+v)
}

// DeleteComponentRequest names a component to remove.
type DeleteComponentRequest struct {
	Name           string
	IdempotencyKey string // "" = none
}

// DeleteComponent removes every version of a component. Elements keep their copies of the manifest, so apps read as
// before; but a patch that changes the config of such an element is ErrUnprocessable from then on. It returns ErrForbidden
// unless the caller may manage components, ErrNotFound if there is no component of this name, and ErrUnprocessable if the
// idempotency key was used for another request.
func (s *Service) DeleteComponent(ctx context.Context, by Caller, in DeleteComponentRequest) error {
	if err := by.mayManageComponents("deleteComponent"); err != nil {
		return err
	}
	write, err := newIdempotentWrite(by, in.IdempotencyKey, "delete component", in.Name)
	if err != nil {
		return err
	}
	_, err = s.write(ctx, write, &struct{}{}, nil, func(tx Tx) error {
		err := tx.DeleteComponent(ctx, in.Name)
		if errors.Is(err, ErrNotFound) {
			return noComponent(in.Name)
		}
		if err != nil {
			return err
		}
		return s.record(ctx, tx, by, Change{Type: ComponentDeleted, Component: Component{Name: in.Name}})
	})
	return err
}

// ComponentRef names a version of a component. Both strings have 1 to 128 characters.
type ComponentRef struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}
