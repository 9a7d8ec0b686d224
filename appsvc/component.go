package appsvc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/semver"

	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Component is a version of something that can power an element (contract, section 2.3).
type Component struct {
	ID       string // unique among all components
	Name     string
	Version  string
	Main     string // URL of the script
	Manifest []byte // the whole component as one compact JSON object, as elements copy it
}

// manifest holds the members of a component that the service knows; the others are kept as sent.
type manifest struct {
	ID           *string         `json:"id"`
	Name         string          `json:"name"`
	Version      string          `json:"version"`
	Description  *string         `json:"description"`
	Main         string          `json:"main"`
	ConfigSchema json.RawMessage `json:"configSchema"`
}

var manifestMembers = []string{"id", "name", "version", "description", "main", "configSchema"}

// Description returns the plain text that describes the component to app creators, nil for none.
func (c Component) Description() *string {
	var m manifest
	if json.Unmarshal(c.Manifest, &m) != nil {
		return nil
	}
	return m.Description
}

// ConfigSchema returns the JSON Schema that configs of the component conform to.
func (c Component) ConfigSchema() ([]byte, error) {
	at, _, err := rawjson.Lookup(c.Manifest, "configSchema", 0)
	if err != nil || at < 0 {
		return nil, errors.New("stored manifest: no configSchema")
	}
	schema, _ := rawjson.Cut(c.Manifest[at:])
	return schema, nil
}

// parseManifest reads a component as it is sent: name, version, main and configSchema are
// required, id and description are optional, and members of other names are kept.
func (s *Service) parseManifest(data []byte) (Component, error) {
	m, extra, err := decodeManifest(data)
	if err != nil {
		return Component{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if m.ID == nil {
		id := s.newID()
		m.ID = &id
	}
	for _, f := range []struct{ field, value string }{{"/name", m.Name}, {"/version", m.Version}, {"/id", *m.ID}} {
		if err := s.limits.checkName(f.field, f.value); err != nil {
			return Component{}, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
	}
	if err := checkMain(m.Main); err != nil {
		return Component{}, fmt.Errorf("%w: /main: %w", ErrInvalid, err)
	}
	if m.ConfigSchema == nil || bytes.TrimLeft(m.ConfigSchema, " \t\r\n")[0] != '{' {
		return Component{}, fmt.Errorf("%w: /configSchema: want a JSON Schema that is an object; {} accepts anything", ErrInvalid)
	}
	if err := s.schemas.check(m.ConfigSchema); err != nil {
		if bad, ok := errors.AsType[*schemaguard.Error](err); ok {
			return Component{}, fmt.Errorf("%w: %w", ErrInvalid, &schemaguard.Error{Pointer: "/configSchema" + bad.Pointer, Reason: bad.Reason})
		}
		return Component{}, fmt.Errorf("%w: /configSchema: %w", ErrInvalid, err)
	}
	return Component{ID: *m.ID, Name: m.Name, Version: m.Version, Main: m.Main, Manifest: m.text(extra)}, nil
}

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

// text writes the manifest as it is stored: the known members, then the others in their order.
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
// control character.
func (l Limits) checkName(field, s string) error {
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		return fmt.Errorf("%s: must not be empty", field)
	case n > l.Name:
		return fmt.Errorf("%s: has %d characters, at most %d", field, n, l.Name)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Errorf("%s: %q has a control character", field, s)
	}
	return nil
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

// CreateComponent stores a version of a component, given as a JSON object. ErrForbidden unless the
// caller may manage components; ErrInvalid for a malformed manifest, a configSchema that the guard
// refuses, and an id or a name and version that exist already (contract, endpoint 15).
func (s *Service) CreateComponent(ctx context.Context, by Caller, manifest []byte, idempotencyKey string) (Component, error) {
	if err := by.mayManageComponents("createComponent"); err != nil {
		return Component{}, err
	}
	once, err := newOnce(by, idempotencyKey, "create component", string(manifest))
	if err != nil {
		return Component{}, err
	}
	var c Component
	prepare := func() (err error) {
		c, err = s.parseManifest(manifest)
		return err
	}
	_, err = s.write(ctx, once, &c, prepare, func(tx Tx) error {
		err := tx.AddComponent(ctx, c)
		if errors.Is(err, ErrExists) {
			return fmt.Errorf("%w: the id %q, or the name %q with version %q, exists already", ErrInvalid, c.ID, c.Name, c.Version)
		}
		return err
	})
	return c, err
}

// Component returns the latest version of a component, ErrNotFound when there is none: the highest
// where all versions are semantic versions, else the newest (contract, endpoint 16).
func (s *Service) Component(ctx context.Context, _ Caller, name string) (Component, error) {
	var best Component
	if name == "" { // a store would take it for all
		return best, noComponent(name)
	}
	err := s.store.View(ctx, func(r Reader) error {
		var versions latest
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
		best, err = findComponent(ctx, r, "", ComponentRef{name, versions.best().Version}, false)
		return err
	})
	return best, err
}

func noComponent(name string) error { return fmt.Errorf("%w: component %q", ErrNotFound, name) }

// Components returns the latest version of each component with a name after the given one, by
// name, and whether more remain beyond a full page. Manifests are left out (contract, endpoint 14).
func (s *Service) Components(ctx context.Context, _ Caller, after string) (components []Component, more bool, err error) {
	err = s.store.View(ctx, func(r Reader) error {
		page := newPage[Component](0, s.limits.PageBytes)
		var versions latest
		for c, err := range r.Components(ctx, ComponentQuery{After: after, Brief: true}) {
			if err != nil {
				return err
			}
			if versions.any && c.Name != versions.newest.Name {
				if !page.add(versions.best(), versions.best().size()) {
					break
				}
				versions = latest{}
			}
			versions.add(c)
		}
		if versions.any && !page.more {
			page.add(versions.best(), versions.best().size())
		}
		components, more = page.items, page.more
		return nil
	})
	return components, more, err
}

// size is about what a component takes in a list.
func (c Component) size() int { return len(c.ID) + len(c.Name) + len(c.Version) + len(c.Main) + 64 }

// latest finds the latest of the versions of one component, added in the order of their making.
type latest struct {
	any             bool
	odd             bool // some version is no semantic version
	highest, newest Component
}

func (l *latest) add(c Component) {
	if !isSemver(c.Version) {
		l.odd = true
	}
	if !l.any || semver.Compare("v"+c.Version, "v"+l.highest.Version) >= 0 {
		l.highest = c
	}
	l.newest, l.any = c, true
}

func (l *latest) best() Component {
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

// DeleteComponent removes every version of a component; elements keep their copies. ErrForbidden
// unless the caller may manage components, ErrNotFound when there is none (contract, endpoint 17).
func (s *Service) DeleteComponent(ctx context.Context, by Caller, name, idempotencyKey string) error {
	if err := by.mayManageComponents("deleteComponent"); err != nil {
		return err
	}
	once, err := newOnce(by, idempotencyKey, "delete component", name)
	if err != nil {
		return err
	}
	_, err = s.write(ctx, once, &struct{}{}, nil, func(tx Tx) error {
		err := tx.DeleteComponent(ctx, name)
		if errors.Is(err, ErrNotFound) {
			return noComponent(name)
		}
		return err
	})
	return err
}
