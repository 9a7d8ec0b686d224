package appsvc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// Limits bound the input that the service accepts and the pages that it returns. Zero means the default, which is the
// number in the comment of the field. The content of an app is checked when it is written: an app that was stored under
// higher limits can still be read.
//
// Too many bytes or operations are ErrTooLarge, and a page that is too large to ask for is ErrInvalid. Other
// limits on the content of an app are ErrUnprocessable with CodeLimit in Patch, and ErrInvalid in CreateApp.
type Limits struct {
	Title         int // characters of a title; 1,024
	Elements      int // of an app; 1,000
	Groups        int // of an app; 100
	Name          int // characters of a component's name, id or version; 128
	Page          int // items that a page can be asked for; 500
	HistoryPage   int // versions that a page of the history can be asked for; 100
	AppIDs        int // in TagsNamed; 100
	Tags          int // of an app; 1,000
	TagNames      int // names of tags that an app may ever have had; 10,000
	PatchOps      int // operations of a patch; 1,000
	PatchBytes    int // of a patch; 1 MiB
	DocumentBytes int // of the JSON of a patched app; 4 MiB
	AppBytes      int // of the JSON of a created or restored app, with the manifests of its elements; 16 MiB
	ManifestBytes int // of a component; 1 MiB
	PageBytes     int // a page ends when it has reached this size; 16 MiB
}

// withDefaults returns the limits with the default in place of each zero.
func (l Limits) withDefaults() Limits {
	or := func(limit *int, value int) {
		if *limit == 0 {
			*limit = value
		}
	}
	or(&l.Title, 1024)
	or(&l.Elements, 1000)
	or(&l.Groups, 100)
	or(&l.Name, 128)
	or(&l.Page, 500)
	or(&l.HistoryPage, 100)
	or(&l.AppIDs, 100)
	or(&l.Tags, 1000)
	or(&l.TagNames, 10_000)
	or(&l.PatchOps, 1000)
	or(&l.PatchBytes, 1<<20)
	or(&l.DocumentBytes, 4<<20)
	or(&l.AppBytes, 16<<20)
	or(&l.ManifestBytes, 1<<20)
	or(&l.PageBytes, 16<<20)
	return l
}

// configDepth is how deep a config may nest. In the body of a request to create an app, a config is three levels down.
const configDepth = strictjson.MaxDepth - 3

// checkShape returns ErrUnprocessable if the draft exceeds a limit or is malformed, with the first mistake. It checks
// the sizes of title, groups and elements first, and then what is in them. It checks written elements only, since kept ones were checked when they were written. It does
// not check whether components exist: complete does. at is the JSON pointer of the draft in the request.
func (l Limits) checkShape(at string, d draft) error {
	limit := func(pointer, format string, args ...any) error {
		return unprocessable(CodeLimit, at+pointer, format, args...)
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
		return unprocessable(CodeNotApplicable, at+"/title", "want UTF-8 without U+0000")
	}
	for i, g := range d.groups {
		pointer := fmt.Sprintf("%s/groups/%d", at, i)
		if err := urn.CheckGroup(g); err != nil {
			return unprocessable(CodeNotApplicable, pointer, "%s", err)
		}
		if slices.Contains(d.groups[:i], g) {
			return unprocessable(CodeNotApplicable, pointer, "%q is there twice", g)
		}
	}
	for i, e := range d.elements {
		if !e.written() {
			continue
		}
		if err := e.checkShape(l); err != nil {
			return below(fmt.Sprintf("%s/elements/%d", at, i), err)
		}
	}
	return nil
}

// checkShape checks a written element by itself. The pointers of its errors begin at the element.
func (e draftElement) checkShape(l Limits) error {
	for _, f := range []struct{ pointer, value string }{{"/component/name", e.ref.Name}, {"/component/version", e.ref.Version}} {
		if wrong := l.checkName(f.value); wrong != "" {
			return unprocessable(CodeLimit, f.pointer, "%s", wrong)
		}
	}
	if len(e.config) == 0 {
		return unprocessable(CodeNotApplicable, "/config", "missing")
	}
	if err := strictjson.Check(e.config, configDepth); err != nil {
		return misshapen("/config", err)
	}
	if first := bytes.TrimLeft(e.config, " \t\r\n")[0]; first != '{' {
		return unprocessable(CodeNotApplicable, "/config", "must be an object")
	}
	return nil
}

// isText reports whether s is UTF-8 without U+0000, which not every store can keep. Strings from JSON always are; a Go
// program may pass any string.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// misshapen returns an error of package strictjson as ErrUnprocessable. pointer is where the text stands in the patched
// document.
func misshapen(pointer string, err error) error {
	e, _ := errors.AsType[*Error](malformed(strictjson.Within(pointer, err)))
	e.Kind, e.Code = ErrUnprocessable, CodeNotApplicable
	return e
}

// asInvalid returns an error of checkShape as ErrInvalid. CreateApp needs it: the whole draft is in the request there, so
// the request is wrong. In Patch the request may be right by itself, and its result breaks a rule.
func asInvalid(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != ErrUnprocessable {
		return err
	}
	malformed := *e
	malformed.Kind, malformed.Code = ErrInvalid, CodeInvalid
	return &malformed
}
