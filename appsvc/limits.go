package appsvc

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// Limits bound the input that the service accepts and the pages that it returns. Zero means the default, which is the
// number in the comment of the field, and New panics for a negative number. The content of an app is checked when
// CreateApp or Patch writes it: an app that was stored under higher limits can still be read, and Restore checks only
// AppBytes.
//
// Which error a request over a limit gets:
//
//   - PatchOps, PatchBytes, DocumentBytes, AppBytes, ManifestBytes: ErrTooLarge.
//   - Title, Elements, Groups, Name: ErrInvalid in CreateApp, and ErrUnprocessable with CodeLimit in Patch. In a
//     manifest, Name is ErrInvalid.
//   - Tags, TagNames: ErrUnprocessable with CodeLimit, in PutTag.
//   - Page, AppIDs: ErrInvalid.
//   - PageBytes: none; the page ends, and its Next leads to the rest.
type Limits struct {
	Title         int // characters of a title; 1,024
	Elements      int // of an app; 1,000
	Groups        int // of an app; 100
	Name          int // characters of a component's name, id or version; 128
	Page          int // items that a page can be asked for; 500
	AppIDs        int // in TagsNamed; 100
	Tags          int // of an app; 1,000
	TagNames      int // names of tags that an app may ever have had; 10,000
	PatchOps      int // operations of a patch; 1,000
	PatchBytes    int // of a patch; 1 MiB
	DocumentBytes int // of the JSON of a patched app; 4 MiB
	AppBytes      int // of the JSON of a created or restored app, with the manifests of its elements; 16 MiB
	ManifestBytes int // of a component; 1 MiB
	PageBytes     int // a page ends before the item that would bring it above this size, unless it is the first; 4 MiB
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
	or(&l.AppIDs, 100)
	or(&l.Tags, 1000)
	or(&l.TagNames, 10_000)
	or(&l.PatchOps, 1000)
	or(&l.PatchBytes, 1<<20)
	or(&l.DocumentBytes, 4<<20)
	or(&l.AppBytes, 16<<20)
	or(&l.ManifestBytes, 1<<20)
	or(&l.PageBytes, 4<<20)
	return l
}

// checkName is the rule for the name, version and id of a component, and for the id of an app: valid UTF-8 of 1 to
// Limits.Name characters, none of them a control character. It returns what is wrong with s, "" if nothing is.
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

// isText reports whether s is UTF-8 without U+0000, which not every store can keep. Strings in strict JSON always are,
// since package strictjson rejects others. But a Go program may pass any string, and so may the author of a made-up
// cursor.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// checkText returns ErrInvalid for a text that is too long or no text.
func checkText(at, s string, most int) error {
	if n := utf8.RuneCountInString(s); n > most || !isText(s) {
		return fault.Invalid(at, "has %d characters; want UTF-8 of at most %d without U+0000", n, most)
	}
	return nil
}
