package appsvc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Manifests are read in two places. CreateComponent and CheckComponent read manifests of requests: parseManifest
// applies all rules. Audit reads stored manifests: readManifest applies all rules except the size and the configSchema,
// and their bytes must be those that manifest.text writes.

// manifest has the members of a component that the service knows. A manifest may have members of any other names. The
// service keeps their values as they were sent and gives them no meaning.
type manifest struct {
	name         string
	version      string
	id           *string // nil = none was sent
	description  *string // plain text for app creators; nil = none
	main         string  // address of the script
	configSchema json.RawMessage
}

// sentComponent is a component of a request. Without an id in its manifest it is not named, and has a random id.
type sentComponent struct {
	Component
	named bool
}

// parseManifest decodes a component of a request. These are all rules of manifests:
//
//   - It is one object of strict JSON, of at most Limits.ManifestBytes and strictjson.MaxDepth levels.
//   - name, version and main are required strings, and configSchema is a required object. id and description are
//     strings, null or missing. Members of any other names are kept.
//   - A name that differs from one of these only in case, such as configschema, is rejected: it would be stored and
//     have no effect.
//   - title and preview are strings or missing, and headless is a boolean or missing.
//   - checkName checks name, version and id, validAddress checks main and preview, and package schemaguard checks
//     configSchema.
//
// Without an id the component gets a random one. parseManifest returns ErrTooLarge if there are too many bytes, and
// ErrInvalid, with the pointer of the member, if another rule is broken. Of the store it reads the languages alone:
// whether the id, or the name and version, are taken is checked when the component is added.
func (s *Service) parseManifest(ctx context.Context, data []byte) (sentComponent, error) {
	var none sentComponent
	if len(data) > s.limits.ManifestBytes {
		return none, tooMuch("manifest", s.limits.ManifestBytes)
	}
	m, extra, err := s.limits.readManifest(data)
	if err != nil {
		return none, err
	}
	if !validAddress(m.main) {
		return none,
			fault.Invalid("/main",
				"%.100q is no address of a script: want an http or https URL, or a path that begins with one slash",
				m.main)
	}
	for _, x := range extra {
		kind, wanted := byte('"'), "a string"
		switch strings.ToLower(x.Name) {
		case "title", "preview":
		case "headless":
			kind, wanted = 't', "true or false"
		default:
			continue
		}
		if x.Name != strings.ToLower(x.Name) {
			return none, fault.Invalid("/"+x.Name,
				"is kept and has no effect: did you mean %s?", strings.ToLower(x.Name))
		}
		if first := x.Value[0]; first != kind && !(kind == 't' && first == 'f') {
			return none, fault.Invalid("/"+x.Name, "want %s", wanted)
		}
		if picture, _ := jsontree.Text(x.Value); x.Name == "preview" && !validAddress(picture) {
			return none, fault.Invalid("/preview", "%.100q is no address of a picture: want an http or https URL, or "+
				"a path that begins with one slash", picture)
		}
	}
	named := m.id != nil
	if !named {
		id, err := s.made().newID()
		if err != nil {
			return none, err
		}
		m.id = &id
	}
	if _, err := s.made().schemas.compile(m.configSchema); err != nil {
		if bad, ok := errors.AsType[*schemaguard.Error](err); ok {
			return none, fault.Invalid("/configSchema"+bad.Pointer, "%s", bad.Reason)
		}
		return none, fault.Invalid("/configSchema", "%s", err)
	}
	c := m.component(extra)
	c.Warnings, err = s.warnings(ctx, m.configSchema)
	return sentComponent{c, named}, err
}

// readManifest decodes a manifest and applies the rules of parseManifest, except the number of bytes and the rules of
// main, title, preview, headless and configSchema: a configSchema must only be an object. Audit calls it for stored
// manifests. It also returns the unknown members, in their order. It returns ErrInvalid, with the pointer of the
// member, if a rule is broken.
func (l Limits) readManifest(data []byte) (manifest, []strictjson.Member, error) {
	m, extra, err := decodeManifest(data)
	if err != nil {
		return m, nil, fault.Malformed(err)
	}
	names := []struct{ pointer, value string }{{"/name", m.name}, {"/version", m.version}}
	if m.id != nil {
		names = append(names, struct{ pointer, value string }{"/id", *m.id})
	}
	for _, f := range names {
		if wrong := l.checkName(f.value); wrong != "" {
			return m, nil, fault.Invalid(f.pointer, "%s", wrong)
		}
	}
	if m.configSchema == nil || bytes.TrimLeft(m.configSchema, " \t\r\n")[0] != '{' {
		return m, nil, fault.Invalid("/configSchema", "want a JSON Schema that is an object; {} accepts anything")
	}
	return m, extra, nil
}

// decodeManifest splits a manifest into the known members and the others, in their order. It only checks that the
// manifest is an object of strict JSON, that the known members have the right types, and that no other name differs
// from a known one only in case. A missing known member has its zero value. An error has the JSON pointer of the
// member.
func decodeManifest(data []byte) (m manifest, extra []strictjson.Member, err error) {
	if err := strictjson.Check(data, strictjson.MaxDepth); err != nil {
		return m, nil, err
	}
	fields := map[string]any{"name": &m.name, "version": &m.version, "id": &m.id, "description": &m.description,
		"main": &m.main, "configSchema": &m.configSchema}
	members, err := strictjson.Members(data, slices.Collect(maps.Keys(fields))...)
	if err != nil {
		return m, nil, err
	}
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

// component returns the component of a manifest. extra are the unknown members. The id must be set.
func (m manifest) component(extra []strictjson.Member) Component {
	return Component{ID: *m.id, Name: m.name, Version: m.version, Main: m.main, Manifest: m.text(extra)}
}

// text returns the manifest in the compact form in which it is stored: the known members, with null for a missing
// description, followed by the others in the order in which they were sent. The id must be set.
//
// Elements copy these bytes, and Audit accepts no others, so the form must not change.
func (m manifest) text(extra []strictjson.Member) []byte {
	description := []byte("null")
	if m.description != nil {
		description = appendString(nil, *m.description)
	}
	known := []strictjson.Member{{Name: "name", Value: appendString(nil, m.name)},
		{Name: "version", Value: appendString(nil, m.version)},
		{Name: "id", Value: appendString(nil, *m.id)}, {Name: "description", Value: description},
		{Name: "main", Value: appendString(nil, m.main)}, {Name: "configSchema", Value: m.configSchema}}
	var text []byte
	for i, x := range append(known, extra...) {
		text = append(text, "{,"[min(i, 1)])
		text = append(append(appendString(text, x.Name), ':'), compact(x.Value)...)
	}
	return append(text, '}')
}

// validAddress is the rule for main and preview, the addresses of a component's script and of its picture: an http or
// https URL, or a path on the host that delivers it. Browsers treat a backslash as a slash, and ignore tabs and line
// ends.
func validAddress(address string) bool {
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return false
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	if u.Scheme == "" {
		return strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//")
	}
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
