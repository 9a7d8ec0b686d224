package appsvc

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"iter"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// A check of a component tells its author what a new version would break before it is created: it validates, against
// the new configSchema, the configs of all elements that have a component of this name, whatever version of it. It looks
// at what is or may be delivered, the latest and the tagged versions of apps, and stores nothing.

// The cursor of an answer is a place in a fixed order: apps by id, the versions of an app from the lowest on, and the
// elements of a version. A check that goes on begins at this place, in the apps as they are by then.

// CheckComponentRequest is a component to check.
type CheckComponentRequest struct {
	Name     string // the name that the manifest must have
	Manifest []byte // as in CreateComponentRequest
	After    string // Next of the answer before; "" = the first one
}

// ComponentCheck is an answer of CheckComponent. Apps, Versions and Elements count what it looked at: elements with a
// component of the name, the versions that have such elements, and their apps. An app or a version that two answers
// share is counted in both.
type ComponentCheck struct {
	Apps     int
	Versions int
	Elements int
	Warnings []SchemaWarning // those of SchemaWarnings
	Broken   []BrokenElement // by app, version and element, at most 1,000
	Next     string          // goes into After of the request for the rest; "" if there is no more
}

// BrokenElement is an element whose config does not conform to a component.
type BrokenElement struct {
	App     string          `json:"app"` // its id
	Version vitrine.Version `json:"version"`
	// Tags are the names of the tags that point to the version, in order. There are none if the version is checked only because
	// it is the latest.
	Tags    []string `json:"tags"`
	Element string   `json:"element"` // its id
	// Violations are what the schema refuses, at most 100. A config that is too costly to validate has one violation, with the
	// keyword "cost".
	Violations []vitrine.Violation `json:"violations"`
}

// wireCheck is the JSON of a ComponentCheck. Its lists are never null, and next is null at the end.
type wireCheck struct {
	Apps     int             `json:"apps"`
	Versions int             `json:"versions"`
	Elements int             `json:"elements"`
	Warnings []SchemaWarning `json:"warnings"`
	Broken   []BrokenElement `json:"broken"`
	Next     *string         `json:"next"`
}

// MarshalJSON writes {"apps":…,"versions":…,"elements":…,"warnings":[…],"broken":[…],"next":…}; next is null at the end.
func (c ComponentCheck) MarshalJSON() ([]byte, error) {
	w := wireCheck{c.Apps, c.Versions, c.Elements, append([]SchemaWarning{}, c.Warnings...), append([]BrokenElement{}, c.Broken...), nil}
	if c.Next != "" {
		w.Next = &c.Next
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *ComponentCheck) UnmarshalJSON(text []byte) error {
	var w wireCheck
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*c = ComponentCheck{w.Apps, w.Versions, w.Elements, w.Warnings, w.Broken, ""}
	if w.Next != nil {
		c.Next = *w.Next
	}
	return nil
}

// Bounds of one answer of CheckComponent; Limits.PageBytes is the third. A check of a store with many apps may take long, so it
// is answered in parts: no request takes long, and the caller sees how far the check is.
const (
	maxBroken = 1000            // elements in Broken
	checkTime = 5 * time.Second // after which an answer ends, by the clock of Options.Now
)

// CheckComponent says which elements would not conform to a component if they had it. It looks at the latest and at
// every tagged version, each once, of each app that the caller may read. An element is judged by itself, as a patch
// judges it that changes only the version of its component. Nothing is stored.
//
// An answer ends after 1,000 broken elements, after Limits.PageBytes of them (by default 4 MiB), or after 5 seconds. So an
// answer may have no broken elements although Next is set. Each answer sees the apps as they are at its time.
//
// It returns ErrForbidden unless the caller may manage components, ErrInvalid with the pointer /name if the manifest has
// another name, ErrInvalid if After is not a cursor of a check of this component, and otherwise the errors of
// CreateComponent.
func (s *Service) CheckComponent(ctx context.Context, by vitrine.Caller, in CheckComponentRequest) (ComponentCheck, error) {
	if err := s.AdmitCreateComponent(ctx, by); err != nil {
		return ComponentCheck{}, err
	}
	c, err := s.parseManifest(in.Manifest)
	if err != nil {
		return ComponentCheck{}, err
	}
	if c.Name != in.Name {
		return ComponentCheck{}, invalid("/name", "want %q, the name of the component that is checked", in.Name)
	}
	from, err := parseCheckPosition(in.After, in.Name)
	if err != nil {
		return ComponentCheck{}, err
	}
	schema, err := c.ConfigSchema()
	if err != nil {
		return ComponentCheck{}, err
	}
	compiled, err := s.schemas.compile(schema) // not cached: it may be checked once and never used
	if err != nil {
		return ComponentCheck{}, err
	}
	warnings, err := SchemaWarnings(schema, s.schemas.formats()...)
	if err != nil {
		return ComponentCheck{}, err
	}
	var out ComponentCheck
	err = s.store.view(ctx, func(r *reader) error {
		if err := absentComponent(ctx, r, c); err != nil {
			return err
		}
		k := &checker{r: r, name: c.Name, schema: compiled, from: from, until: s.now().Add(checkTime), now: s.now,
			page: newPageBuilder[BrokenElement](ctx, maxBroken, s.limits.PageBytes)}
		err := r.users(ctx, c.Name, from.app, by, func(u componentUser) (bool, error) { return true, k.app(ctx, u) })
		if err == errPageEnds {
			k.out.Next, err = k.at.cursor(k.name), nil
		}
		k.out.Broken = k.page.items
		out = k.out
		return err
	})
	out.Warnings = warnings
	return out, err
}

// AllBrokenElements yields the elements that CheckComponent finds broken, answer by answer. Each answer is as of its own time. It
// ends with the first error, which comes in the last pair.
func (s *Service) AllBrokenElements(ctx context.Context, by vitrine.Caller, in CheckComponentRequest) iter.Seq2[BrokenElement, error] {
	return paging.Sparse(in.After, func(after string) ([]BrokenElement, string, error) {
		in.After = after
		found, err := s.CheckComponent(ctx, by, in)
		return found.Broken, found.Next, err
	})
}

// absentComponent returns the error of CreateComponent if there is a component with the id, or with the name and version.
func absentComponent(ctx context.Context, r *reader, c Component) error {
	values, err := r.r.Get(ctx, keyOf(idKind, c.ID), keyOf(componentKind, c.Name, c.Version))
	if err == nil && (values[0] != nil || values[1] != nil) {
		err = takenComponent(c)
	}
	return err
}

// checker validates elements and collects those that are broken, for one answer of a check. CheckComponent makes it in its
// View, and one goroutine uses it. It walks in the order of cursors: app goes through the versions of
// one app, and version through the elements of one. When the answer must end, they return errPageEnds, and at says where.
type checker struct {
	r      *reader
	name   string // of the component
	schema *compiledSchema
	from   checkPosition    // where the answer before ended
	until  time.Time        // when this answer ends
	now    func() time.Time // the clock

	at   checkPosition // the place after the element that was looked at last
	page *pageBuilder[BrokenElement]
	out  ComponentCheck
}

// errPageEnds ends the walk through apps, versions and elements: the answer is full, or its time is up.
var errPageEnds = errors.New("the answer is full")

// app checks the latest and the tagged versions of an app, from the lowest on. A version that is both, or has several
// tags, is checked once. In the app where the answer before ended, it goes on at k.from.
//
// The store has found the app because some version of it has used the component. Whether the latest version does is in its Head;
// the bodies of tagged versions are read to find out. app returns errPageEnds if the answer is full or its time is up.
func (k *checker) app(ctx context.Context, user componentUser) error {
	tags := map[vitrine.Version][]string{user.Version: {}}
	for _, tag := range user.tags {
		tags[tag.AppVersion] = append(tags[tag.AppVersion], tag.Name)
	}
	// The latest version is among the keys, with or without tags.
	versions := make([]vitrine.Version, 0, len(tags))
	for v := range tags {
		versions = append(versions, v)
	}
	slices.SortFunc(versions, vitrine.Version.Compare)
	seen := false
	for _, v := range versions {
		// What comes before k.from was checked in an earlier answer.
		first := 0
		if user.ID == k.from.app {
			if v.Number() < k.from.version {
				continue
			}
			if v.Number() == k.from.version {
				first = k.from.element
			}
		}
		if v == user.Version && !slices.Contains(user.Components, k.name) { // the head says so without the body
			continue
		}
		if k.overtime() {
			return errPageEnds
		}
		body := user.body
		if v != user.Version {
			old, err := k.r.version(ctx, user.ID, v)
			if err != nil {
				return err
			}
			body = old.Body
		}
		before := k.out.Elements // only a version with elements of the component is counted
		err := k.version(BrokenElement{App: user.ID, Version: v, Tags: tags[v]}, body, first)
		if k.out.Elements > before {
			k.out.Versions++
			if !seen {
				k.out.Apps++
			}
			seen = true
		}
		if err != nil {
			return err
		}
		// After all elements of the version: a check that goes on from here begins with the next version.
		k.at = checkPosition{user.ID, v.Number(), math.MaxInt32}
	}
	return nil
}

// overtime reports whether the time of the answer is up. An answer looks at one element or version at least, so that
// a check with many answers comes to an end, however slow the machine is.
func (k *checker) overtime() bool { return k.at.app != "" && !k.now().Before(k.until) }

// version checks the elements of a version from the index first on. in has the app, the version and its tags; a broken
// element is added as in with its id and its violations. An element counts only when it is in the answer: if the page has no room
// for it, k.at stays before it, and the next answer begins with it.
func (k *checker) version(in BrokenElement, body Body, first int) error {
	_, elements, err := body.membersAndElements()
	if err != nil {
		return err
	}
	for i := first; i < len(elements); i++ {
		config, err := k.config(elements[i], i)
		if err != nil {
			return err
		}
		if config == nil {
			continue
		}
		if k.overtime() {
			return errPageEnds
		}
		found := k.schema.violations(config)
		if len(found) > 0 {
			in.Element, in.Violations = strconv.Itoa(i), found
			if ok, err := k.page.add(in, in.size()); err != nil {
				return err
			} else if !ok {
				return errPageEnds
			}
		}
		k.out.Elements++
		k.at = checkPosition{in.App, in.Version.Number(), i + 1}
	}
	return nil
}

// config returns the config of a stored element, nil if it has a component of another name. index is that of the element, which
// its stored text begins with.
func (k *checker) config(element []byte, index int) ([]byte, error) {
	_, kept, ok := cutHead(element, index)
	if !ok {
		return nil, errors.New("stored element: does not begin with its id")
	}
	if member(kept, "name") != k.name {
		return nil, nil
	}
	_, config, err := draftElement{kept: kept}.split()
	return config, err
}

// size estimates the bytes of a broken element in the JSON of an answer. By them the answer ends at Limits.PageBytes.
func (b BrokenElement) size() int {
	n := 200 + len(b.App)
	for _, tag := range b.Tags {
		n += len(tag) + 3
	}
	for _, v := range b.Violations {
		n += 60 + len(v.Pointer) + len(v.Keyword) + len(v.Message)
	}
	return n
}

// violations returns what is wrong with a config as it is stored: what a write would refuse it with. A config that cannot
// be judged has one violation for the whole config, with the error as its Message. Its Keyword is "cost" if validating would
// take too long, and "" otherwise, as when the engine returns an error.
func (c *compiledSchema) violations(config []byte) []vitrine.Violation {
	err := c.validateWithin(new(schemaguard.Budget), config)
	if err == nil {
		return nil
	}
	if found, ok := errors.AsType[violations](err); ok {
		return found
	}
	keyword := ""
	if errors.Is(err, schemaguard.ErrCostly) {
		keyword = vitrine.CodeCost
	}
	return []vitrine.Violation{{Keyword: keyword, Message: err.Error()}}
}

// checkPosition is a place in the order of a check. The elements of the version before this index were looked at, and so
// were all lower versions of the app, and all apps before it.
type checkPosition struct {
	app     string
	version int64
	element int
}

// cursor writes the position as an opaque text: base64url of a checksum, the version, the element and the app. The
// checksum covers the name of the component too, so that the cursor of another check is refused.
func (p checkPosition) cursor(name string) string {
	b := binary.BigEndian.AppendUint64(make([]byte, 4, 4+8+4+len(p.app)), uint64(p.version))
	b = append(binary.BigEndian.AppendUint32(b, uint32(p.element)), p.app...)
	binary.BigEndian.PutUint32(b, crc32.Update(crc32.ChecksumIEEE([]byte(strconv.Quote(name))), crc32.IEEETable, b[4:]))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCheckPosition reads what cursor wrote for a component of the same name; "" is the start. It returns ErrInvalid for
// anything else.
func parseCheckPosition(s, name string) (p checkPosition, err error) {
	if s == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err == nil && len(b) > 16 {
		p = checkPosition{string(b[16:]), int64(binary.BigEndian.Uint64(b[4:])), int(binary.BigEndian.Uint32(b[12:]))}
	}
	// Encoding the position again finds a damaged cursor, one of another component, and one with line ends, which the decoder
	// skips. A store need not take every string as an ID.
	if p.app == "" || p.version < 0 || p.cursor(name) != s || !isText(p.app) {
		return checkPosition{}, invalidParameter("after", "not a cursor of a check of this component")
	}
	return p, nil
}
