package appsvc

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// A check of a component tells its author what a new version would break before it is created: it validates, against
// the new configSchema, the configs of all elements with any version of the component. It checks what is or may be
// delivered, the latest and the tagged versions of apps, and stores nothing.

// The cursor of a page is a position in a fixed order: apps by id, the versions of an app from the lowest on, and the
// elements of a version. The next page begins at this position, in the apps as they are then.

// CheckComponentRequest is a component to check.
type CheckComponentRequest struct {
	Name     string // the name that the manifest must have
	Manifest []byte // a JSON object, as in CreateComponentRequest
	After    string // Next of the previous page; "" = the first page
	// Fill sets Manifest, if it is not nil, once the caller is known to have the right; see PutTagRequest.
	Fill func(*CheckComponentRequest) error
}

// ComponentCheck is a page of the result of CheckComponent. Apps, Versions and Elements count what was checked for this
// page: elements with a component of the name, the versions with such elements, and their apps. An app or a version
// that two pages share is counted in both.
type ComponentCheck struct {
	Apps     int             `json:"apps"`
	Versions int             `json:"versions"`
	Elements int             `json:"elements"`
	Warnings []SchemaWarning `json:"warnings"` // in the order of their pointers, at most 100
	Broken   []BrokenElement `json:"broken"`   // by app, version and element, at most 1,000
	// goes into After of the request for the rest; "" if there is no more, null in JSON
	Next string `json:"next"`
}

// MarshalJSON writes {"apps":…,"versions":…,"elements":…,"warnings":[…],"broken":[…],"next":…}; the lists are never
// null, and next is null at the end.
func (c ComponentCheck) MarshalJSON() ([]byte, error) {
	type members ComponentCheck
	w := struct {
		members
		Next *string `json:"next"`
	}{members: members(c)}
	if c.Next != "" {
		w.Next = &c.Next
	}
	return json.Marshal(w)
}

// BrokenElement is an element whose config does not conform to a component.
type BrokenElement struct {
	App     string          `json:"app"` // its id
	Version vitrine.Version `json:"version"`
	// Tags are the names of the tags that point to the version, sorted. They are empty if the version is checked only
	// because it is the latest.
	Tags    []string `json:"tags"`
	Element string   `json:"element"` // its id
	// Violations are what the schema rejects, at most 100. A config that is too costly to validate has one violation,
	// with the keyword "cost".
	Violations []vitrine.Violation `json:"violations"`
}

// The limits of one page of CheckComponent; Limits.PageBytes is the third. A check of a store with many apps may take
// long, so its result comes in pages: no request takes long, and the caller sees the progress.
const (
	maxBroken = 1000            // elements in Broken
	checkTime = 5 * time.Second // the time after which a page ends, by the clock of Options.Now
)

// CheckComponent returns the elements that would not conform to a component if they had it. It checks the latest and
// every tagged version, each once, of each app that the caller may read. Each element is checked as by a patch that
// only changes the version of its component. Nothing is stored.
//
// A page ends after 1,000 broken elements, before the one that would bring it above Limits.PageBytes (by default 4
// MiB), or after 5 seconds. So a page may have no broken elements although Next is set. Each page reads the apps as
// they are at its time.
//
// It returns ErrForbidden unless the caller may manage components, ErrInvalid with the pointer /name if the manifest
// has another name, ErrInvalid if After is not a cursor of a check of this component, and otherwise the errors of
// CreateComponent.
func (s *Session) CheckComponent(ctx context.Context, in CheckComponentRequest) (ComponentCheck, error) {
	if err := mayManageComponents(s.by, "createComponent"); err != nil {
		return ComponentCheck{}, err
	}
	if in.Fill != nil {
		if err := in.Fill(&in); err != nil {
			return ComponentCheck{}, err
		}
	}
	c, err := s.service.parseManifest(ctx, in.Manifest)
	if err != nil {
		return ComponentCheck{}, err
	}
	if c.Name != in.Name {
		return ComponentCheck{}, fault.Invalid("/name", "want %q, the name of the component that is checked", in.Name)
	}
	from, err := parseCheckPosition(in.After, in.Name)
	if err != nil {
		return ComponentCheck{}, err
	}
	schema, err := c.ConfigSchema()
	if err != nil {
		return ComponentCheck{}, err
	}
	compiled, err := s.service.schemas.compile(schema) // not cached: it may be checked once and never used
	if err != nil {
		return ComponentCheck{}, err
	}
	var out ComponentCheck
	err = s.service.store.view(ctx, func(r *reader) error {
		out = ComponentCheck{Warnings: c.Warnings}
		if _, err := r.vacant(ctx, c); err != nil {
			return err
		}
		rule, err := r.languages(ctx)
		if err != nil {
			return err
		}
		k := &checker{ctx: ctx, r: r, name: c.Name, schema: compiled, rule: rule, from: from,
			until: s.service.now().Add(checkTime),
			now:   s.service.now,
			room:  paging.NewRoom(maxBroken, s.service.limits.PageBytes), out: &out}
		for user, err := range r.users(ctx, c.Name, from.app, s.by) {
			if err != nil {
				return err
			}
			if full, err := k.app(user); err != nil {
				return err
			} else if full {
				out.Next = k.at.cursor(k.name)
				return nil
			}
		}
		return nil
	})
	return out, err
}

// AllBrokenElements yields the elements that CheckComponent finds broken, page by page. Each page is as of its own
// time. The first error is the last pair.
func (s *Session) AllBrokenElements(ctx context.Context, in CheckComponentRequest) iter.Seq2[BrokenElement, error] {
	return paging.All(&in.After, func() (vitrine.Page[BrokenElement], error) {
		found, err := s.CheckComponent(ctx, in)
		return vitrine.Page[BrokenElement]{Items: found.Broken, Next: found.Next}, err
	})
}

// checker validates elements and collects the broken ones, for one page of a check. It walks in the order of cursors:
// apps by id, versions from the lowest on, elements by index.
type checker struct {
	ctx    context.Context
	r      *reader
	name   string // of the component
	schema *compiledSchema
	rule   languages
	from   checkPosition    // the end of the previous page
	until  time.Time        // when this page ends
	now    func() time.Time // the clock

	at   checkPosition // the position after the last element that was checked
	room paging.Room
	out  *ComponentCheck
}

// app checks the latest and the tagged versions of an app, from the lowest on. A version that is both, or has several
// tags, is checked once. In the app where the previous page ended, it continues there. full is true if the page has
// ended.
//
// Some version of the app has used the component. Its head says whether the latest version does; for tagged versions,
// their bodies must be read.
func (k *checker) app(user componentUser) (full bool, err error) {
	tags := map[vitrine.Version][]string{user.Version: {}}
	for _, tag := range user.tags {
		tags[tag.AppVersion] = append(tags[tag.AppVersion], tag.Name)
	}
	versions := k.out.Versions
	for _, v := range slices.SortedFunc(maps.Keys(tags), vitrine.Version.Compare) {
		first := 0
		if user.ID == k.from.app { // versions before k.from were checked for an earlier page
			if v.Number() < k.from.version {
				continue
			}
			if v.Number() == k.from.version {
				first = k.from.element
			}
		}
		body := user.body
		if v != user.Version {
			old, err := k.r.version(k.ctx, user.appHead, v)
			if err != nil {
				return false, err
			}
			body = old.Body
		} else if !slices.Contains(user.Components, k.name) {
			continue
		}
		if k.overtime() {
			return true, nil
		}
		before := k.out.Elements // only a version with elements of the component is counted
		full, err := k.version(BrokenElement{App: user.ID, Version: v, Tags: tags[v]}, body, first)
		if k.out.Elements > before {
			if k.out.Versions++; k.out.Versions == versions+1 {
				k.out.Apps++
			}
		}
		if full || err != nil {
			return full, err
		}
		// After all elements of the version: the next page begins with the next version.
		k.at = checkPosition{user.ID, v.Number(), math.MaxInt32}
	}
	return false, nil
}

// overtime reports whether the time of the page is over. Each page checks at least one element or version, so that a
// check always ends, however slow the machine is.
func (k *checker) overtime() bool { return k.at.app != "" && !k.now().Before(k.until) }

// version checks the elements of a version from the index first on. in has the app, the version and its tags; a broken
// element is added as a copy of in with its id and its violations. An element counts only when it is in the page: if
// there is no room for it, k.at stays before it, and the next page begins with it.
func (k *checker) version(in BrokenElement, body Body, first int) (full bool, err error) {
	d, err := body.draft()
	if err != nil {
		return false, err
	}
	for i := first; i < len(d.elements); i++ {
		if member(d.elements[i].kept, "name") != k.name {
			continue
		}
		_, config, err := d.elements[i].split()
		if err != nil {
			return false, err
		}
		if k.overtime() {
			return true, nil
		}
		if in.Violations = k.schema.violations(k.rule, config); len(in.Violations) > 0 {
			in.Element = strconv.Itoa(i)
			if !k.room.Takes(in.size()) {
				return true, nil
			}
			k.out.Broken = append(k.out.Broken, in)
		}
		k.out.Elements++
		k.at = checkPosition{in.App, in.Version.Number(), i + 1}
	}
	return false, nil
}

// size is the approximate size of a broken element in the JSON of a page, which ends at Limits.PageBytes.
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

// violations returns the violations for which a write would reject a stored config. A config that cannot be validated
// has one violation for the whole config, with the error as its Message. Its Keyword is "cost" if validating would take
// too long, and otherwise "", as when the engine returns an error.
func (c *compiledSchema) violations(rule languages, config []byte) []vitrine.Violation {
	err := c.validateWithin(new(schemaguard.Usage), rule, config)
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

// checkPosition is a position in the order of a check. The elements of the version before this index were checked, and
// so were all lower versions of the app, and all apps before it.
type checkPosition struct {
	app     string
	version int64
	element int
}

// cursor returns the cursor of a position, for a check of the component of this name.
func (p checkPosition) cursor(name string) string {
	return cursor("check "+name, p.version, strconv.Itoa(p.element)+" "+p.app)
}

// parseCheckPosition decodes a cursor of a check of the component of this name; "" means the start. It returns
// ErrInvalid for anything else.
func parseCheckPosition(s, name string) (p checkPosition, err error) {
	if s == "" {
		return p, nil
	}
	version, text, ok := parseCursor("check "+name, s)
	element, app, _ := strings.Cut(text, " ")
	p = checkPosition{app: app, version: version}
	if p.element, err = strconv.Atoi(element); !ok || err != nil {
		return checkPosition{}, fault.Invalid("after", "not a cursor of a check of this component")
	}
	return p, nil
}
