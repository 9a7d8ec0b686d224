package appsvc

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// draft is the content of an app before it is stored as a version. CreateApp makes it from the request, Patch from the
// patched document, and Restore from a stored body. It belongs to one call, in these states:
//
//   - checked: checkDraft has found no mistake in it. A draft from a stored body was checked when it was first written.
//   - validated: validateDraft has validated the configs of its written elements, and has given these their manifests.
//     A draft from a stored body has no written elements.
//   - stored: addVersion has written it, in the form that draft.body returns.
type draft struct {
	title    string
	groups   []string
	elements []draftElement

	// the rule of languages for which the texts of the written elements were validated; nil if they have none
	languages *languages
}

// draftElement is an element of a draft: either a kept one or a written one.
//
//   - A kept element is stored already, at any index, with the same component and config: for Patch in the version
//     before, and for Restore in the version that is restored. Its text is copied, and nothing in it is checked again.
//   - A written element is new, or has another component or config than before. Its config must conform to the
//     component. It has ref and config at first; validateDraft adds the manifest, a copy of the component's.
type draftElement struct {
	key string // the key of the element of the version before that it comes from; "" for a new one, until giveKeys
	// of a kept element: its stored text after the head, with the manifest, the config and the closing brace; nil for a
	// written one
	kept []byte

	// These are set for a written element only.
	ref      ComponentRef
	config   []byte // as it was sent; compact once the manifest is set
	manifest []byte // nil until validateDraft sets it
	was      []byte // manifest of the element of the version before that it comes from; nil for a new one
}

// written reports whether e is a written element, and not a kept one.
func (e draftElement) written() bool { return e.kept == nil }

// giveKeys gives each element without a key a new one, of the version that the draft becomes. Of several elements with
// one key, the first keeps it, and the others are copies.
func (d draft) giveKeys(v vitrine.Version) {
	taken := map[string]bool{}
	for i := range d.elements {
		e := &d.elements[i]
		if e.key == "" || taken[e.key] {
			e.key = fmt.Sprintf("%s.%d", v, i)
		}
		taken[e.key] = true
	}
}

// uses returns the components in use, by name.
func (d draft) uses() (list []records.Use) {
	refs := make([]ComponentRef, len(d.elements))
	for i, e := range d.elements {
		if refs[i] = e.ref; !e.written() {
			refs[i] = storedRef(e.kept)
		}
	}
	slices.SortFunc(refs, func(a, b ComponentRef) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	for _, ref := range slices.Compact(refs) {
		if n := len(list); n > 0 && list[n-1].Name == ref.Name {
			list[n-1].Versions = append(list[n-1].Versions, ref.Version)
		} else {
			list = append(list, records.Use{Name: ref.Name, Versions: []string{ref.Version}})
		}
	}
	return list
}

// namesOf returns the names of components in use.
func namesOf(uses []records.Use) []string {
	names := make([]string, len(uses))
	for i, u := range uses {
		names[i] = u.Name
	}
	return names
}

// head returns the head of a version with the content d.
func (d draft) head(of App) appHead {
	uses := d.uses()
	of.Title, of.Groups, of.Components, of.Body = d.title, d.groups, namesOf(uses), nil
	return appHead{App: of, uses: uses}
}

// sameContent reports whether d has the content of old, a stored draft. Then a patch has changed nothing. A written
// element is always a change, since resultDraft makes a written element only of one that differs.
func (d draft) sameContent(old draft) bool {
	return d.title == old.title && slices.Equal(d.groups, old.groups) &&
		slices.EqualFunc(d.elements, old.elements, func(e, o draftElement) bool {
			return !e.written() && e.key == o.key && bytes.Equal(e.kept, o.kept)
		})
}

// configDepth is the maximum depth of a config. In the body of a request to create an app, a config is three levels
// down, and the depth of a body is limited to strictjson.MaxDepth. So Patch accepts every config that CreateApp
// accepts.
const configDepth = strictjson.MaxDepth - 3

// checkDraft returns ErrUnprocessable for the first mistake in the content of an app. It checks in this order:
//
//   - The title has 1 to Limits.Title characters, there are 1 to Limits.Groups groups, and at most Limits.Elements
//     elements (CodeLimit).
//   - The title is UTF-8 without U+0000. Each group is the URN of a network or a site, and is there once
//     (CodeNotApplicable).
//   - Each written element is well formed; see checkWritten. Kept elements are not checked again, since they were
//     checked when they were written.
//
// It reads no store. So it checks neither the rights of the caller to the groups nor whether the components exist and
// the configs conform to them: mayCreateIn, mayRegroup and validateDraft do this later.
//
// at is the JSON pointer of the draft: appPath in the document of a patch, and "" in the request of CreateApp.
func (l Limits) checkDraft(at string, d draft) error {
	limit := func(pointer, format string, args ...any) error {
		return fault.Unprocessable(vitrine.CodeLimit, at+pointer, format, args...)
	}
	switch n := utf8.RuneCountInString(d.title); {
	case n == 0:
		return limit("/title", "must not be empty")
	case n > l.Title:
		return limit("/title", "has %d characters, at most %d", n, l.Title)
	case len(d.groups) == 0:
		return limit("/groups", "want at least one")
	case len(d.groups) > l.Groups:
		return limit("/groups", "has %d, at most %d", len(d.groups), l.Groups)
	case len(d.elements) > l.Elements:
		return limit("/elements", "has %d, at most %d", len(d.elements), l.Elements)
	}
	if !isText(d.title) {
		return fault.NotApplicable(at+"/title", "want UTF-8 without U+0000")
	}
	for i, g := range d.groups {
		pointer := fmt.Sprintf("%s/groups/%d", at, i)
		if err := urn.CheckGroup(g); err != nil {
			return fault.NotApplicable(pointer, "%s", err)
		}
		if slices.Contains(d.groups[:i], g) {
			return fault.NotApplicable(pointer, "%q is there twice", g)
		}
	}
	for i, e := range d.elements {
		if !e.written() {
			continue
		}
		if err := l.checkWritten(e); err != nil {
			return fault.At(fmt.Sprintf("%s/elements/%d", at, i), err)
		}
	}
	return nil
}

// checkWritten returns ErrUnprocessable unless the written element e names a component and has a config that is an
// object of strict JSON, at most configDepth deep. The code is CodeLimit if the name or the version of the component
// breaks the rule of checkName, and CodeNotApplicable if the config is wrong. The pointers of its errors begin at the
// element.
func (l Limits) checkWritten(e draftElement) error {
	for _, f := range []struct{ pointer, value string }{{"/component/name", e.ref.Name},
		{"/component/version", e.ref.Version}} {
		if wrong := l.checkName(f.value); wrong != "" {
			return fault.Unprocessable(vitrine.CodeLimit, f.pointer, "%s", wrong)
		}
	}
	if len(e.config) == 0 {
		return fault.NotApplicable("/config", "missing")
	}
	if err := strictjson.Check(e.config, configDepth); err != nil {
		return misshapen("/config", err)
	}
	if first := bytes.TrimLeft(e.config, " \t\r\n")[0]; first != '{' {
		return fault.NotApplicable("/config", "must be an object")
	}
	return nil
}

// body returns the stored form of the draft. owner is the URN of the user who created the app. Each element gets its
// index as id. Kept elements are copied; written ones must have their manifests, which validateDraft adds. Equal drafts
// give equal bytes: Audit relies on it.
func (d draft) body(owner string) Body {
	// The size of the text, or a little more, so that it is allocated once.
	size := 128 + len(d.title) + len(owner)
	for _, g := range d.groups {
		size += len(g) + 3
	}
	for _, e := range d.elements {
		size += 56 + len(e.kept) + len(e.manifest) + len(e.config)
	}
	b := append(make([]byte, 0, size), `{"title":`...)
	b = append(appendString(b, d.title), `,"owner":{"urn":`...)
	b = append(appendString(b, owner), `},"groups":`...)
	b = append(appendStrings(b, d.groups), `,"elements":`...)
	return append(appendElements(b, d.elements), '}')
}

// appendElements appends the JSON of elements, each with its index as id.
func appendElements(b []byte, elements []draftElement) []byte {
	b = append(b, '[')
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"id":"`...), int64(i), 10)
		b = append(append(append(append(b, keyName...), e.key...), manifestName...), e.kept...)
		if e.written() {
			b = append(append(append(append(b, e.manifest...), configName...), e.config...), '}')
		}
	}
	return append(b, ']')
}
