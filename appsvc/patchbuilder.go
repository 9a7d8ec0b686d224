package appsvc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	strict "github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
)

// PatchBuilder builds a JSON Patch for one version of an app, beginning with the version test that Session.Patch
// requires. Each method that changes the app adds one operation, and SetComponent two. Later operations see the effect
// of earlier ones, so indices are those of the elements at that moment.
//
//	p := appsvc.NewPatchBuilder(app).SetTitle("Spring").SetConfig(0, "/color", "green").RemoveElement(2)
//	patch, err := p.Bytes()
//
// It applies each operation to a copy of the app, so a mistake is found where it is made. After the first mistake, such
// as an index that is out of range, the methods do nothing; Err and Bytes return the mistake. The service may still
// reject the patch: a PatchBuilder knows no limits, schemas or rights.
//
// NewPatchBuilder makes one for one patch: EditApp makes a new one for each attempt. It is not safe for concurrent use.
//
// # Patching
//
// The easy way to change an app in Go is [Session.Edit], or [EditApp] with any [Patcher]. It reads the app, lets a
// function build a patch with a [PatchBuilder], and sends the patch. If Patch returns ErrConflict, for instance because
// somebody else has changed the app, it starts over. It makes up to ten attempts in all.
//
// [Session.Patch] itself takes a JSON Patch (RFC 6902) for the latest version. Its paths address {"apps":[app]}, the
// document that GET /apps/{id} returns over HTTP. One operation must be a test of /apps/0/version with the version as a
// string, so that nobody overwrites a version that they have not seen. The service checks the result of the patch, not
// its operations:
//
//   - Only title, groups and elements may differ from the version before.
//   - A new element is exactly {component:{name,version},config}.
//   - Every other element must have the id of an element of the version before. Only config, component.name and
//     component.version may differ from that element, and its component may have these two alone.
//
// The id of an element is its index in the list, as a string. So it names the element within one version only. Its key
// stays with it while it is edited, moved and restored: it is the version and the index where the element first stood,
// such as "12.3". A patch may leave the key out of an element that it keeps, and must not change it. Of several
// elements with one key the first keeps it; the others are copies, and get one of their own, as new elements do.
//
// The order of members in a config does not count as a change; the text of a number does.
//
// [Session.Restore] stores the content of any version as a new version.
type PatchBuilder struct {
	version vitrine.Version // that the patch tests
	doc     jsontree.Node   // {"apps":[App]} with the operations so far applied
	ops     []jsontree.Op   // without the test of the version
	note    string
	call    string // the call that is at work, for its mistake
	err     error  // the first mistake
}

// NewPatchBuilder returns a PatchBuilder for app, which should be the latest version. It does not change app.
func NewPatchBuilder(app App) *PatchBuilder {
	doc := append(app.AppendJSON([]byte(docBegin)), docEnd...)
	return &PatchBuilder{version: app.Version, doc: jsontree.New(doc)}
}

// SetTitle sets the title of the app.
func (p *PatchBuilder) SetTitle(title string) *PatchBuilder {
	p.call = "SetTitle"
	return p.set(appPath+"/title", title)
}

// SetGroups replaces the groups of the app.
func (p *PatchBuilder) SetGroups(groups ...string) *PatchBuilder {
	p.call = "SetGroups"
	return p.set(appPath+"/groups", groups)
}

// SetConfig sets a value in the config of an element. It replaces an existing member or item and adds a missing member;
// "-" as the last token, or the number of items, appends to a list. The object or list around the value must exist. The
// pointer is a JSON pointer that starts at the config; "" replaces the whole config. The value is encoded by
// encoding/json; a json.RawMessage is copied.
func (p *PatchBuilder) SetConfig(element int, pointer string, value any) *PatchBuilder {
	p.call = fmt.Sprintf("SetConfig(%d, %q)", element, pointer)
	return p.pinned(pointer).set(elementPath(element)+"/config"+pointer, value)
}

// RemoveConfig removes a member or an item from the config of an element. The pointer starts at
// the config. It is a mistake if the member or item does not exist, or if the pointer is "".
func (p *PatchBuilder) RemoveConfig(element int, pointer string) *PatchBuilder {
	p.call = fmt.Sprintf("RemoveConfig(%d, %q)", element, pointer)
	if pointer == "" {
		return p.fail(errors.New("RemoveConfig needs a pointer to a member or an item: an element always has a config"))
	}
	return p.pinned(pointer).do(jsontree.Op{Op: "remove", Path: elementPath(element) + "/config" + pointer})
}

// SetComponent makes c the component of an element, which keeps its config.
func (p *PatchBuilder) SetComponent(element int, c ComponentRef) *PatchBuilder {
	p.call = fmt.Sprintf("SetComponent(%d)", element)
	at := elementPath(element) + "/component"
	return p.set(at+"/name", c.Name).set(at+"/version", c.Version)
}

// InsertElement adds an element before the one at this index. If at is the number of elements, it appends
// the element.
func (p *PatchBuilder) InsertElement(at int, e NewElement) *PatchBuilder {
	p.call = fmt.Sprintf("InsertElement(%d)", at)
	return p.write("add", elementPath(at), e)
}

// AppendElement adds an element after the last one.
func (p *PatchBuilder) AppendElement(e NewElement) *PatchBuilder {
	p.call = "AppendElement"
	return p.write("add", elementsPath+"/-", e)
}

// RemoveElement removes an element.
func (p *PatchBuilder) RemoveElement(at int) *PatchBuilder {
	p.call = fmt.Sprintf("RemoveElement(%d)", at)
	return p.do(jsontree.Op{Op: "remove", Path: elementPath(at)})
}

// MoveElement moves the element at index from, so that its index becomes to. The elements between them move by one.
func (p *PatchBuilder) MoveElement(from, to int) *PatchBuilder {
	p.call = fmt.Sprintf("MoveElement(%d, %d)", from, to)
	return p.do(jsontree.Op{Op: "move", From: elementPath(from), Path: elementPath(to)})
}

// Note sets the note of the new version, up to 1,024 characters, which its history and the feed of changes have.
func (p *PatchBuilder) Note(note string) *PatchBuilder {
	if !utf8.ValidString(note) {
		p.call = "Note"
		return p.fail(errNoUTF8)
	}
	p.note = note
	return p
}

// Empty reports whether the patch has no operation beside its version test and its note.
func (p *PatchBuilder) Empty() bool { return len(p.ops) == 0 }

// Err returns the first mistake, nil if there is none.
func (p *PatchBuilder) Err() error { return p.err }

// Bytes returns the patch as JSON for Session.Patch. It returns the first mistake, if there was one.
func (p *PatchBuilder) Bytes() ([]byte, error) {
	if p.err != nil {
		return nil, p.err
	}
	test := jsontree.Op{Op: "test", Path: versionPath, Value: appendString(nil, p.version.String())}
	ops := []jsontree.Op{test}
	if p.note != "" {
		ops = append(ops, jsontree.Op{Op: "add", Path: notePath, Value: appendString(nil, p.note)})
	}
	return appendPatch(nil, append(ops, p.ops...)), nil
}

// appendPatch appends the JSON of a patch.
func appendPatch(dst []byte, ops []jsontree.Op) []byte {
	dst = append(dst, '[')
	for i, op := range ops {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = op.Append(dst)
	}
	return append(dst, ']')
}

// elementPath returns the JSON pointer of the element with this index in the document of a patch.
func elementPath(index int) string { return elementsPath + "/" + strconv.Itoa(index) }

var errNoUTF8 = errors.New("must be UTF-8")

// pinned keeps the mistake of a pointer that would not lead into a config.
func (p *PatchBuilder) pinned(pointer string) *PatchBuilder {
	if pointer != "" && pointer[0] != '/' {
		return p.fail(fmt.Errorf("want a JSON pointer that begins with a slash, such as %q", "/"+pointer))
	}
	return p
}

// set replaces the value at path, or adds it if there is none yet: JSON Patch has an operation for each of the two.
func (p *PatchBuilder) set(path string, value any) *PatchBuilder {
	if p.doc.Has(path) {
		return p.write("replace", path, value)
	}
	return p.write("add", path, value)
}

// write adds an operation with a value.
func (p *PatchBuilder) write(op, path string, value any) *PatchBuilder {
	text, err := json.Marshal(value)
	if err == nil && bytes.Contains(text, []byte(`\ufffd`)) { // encoding/json has this for what is not UTF-8
		_, err = strict.Marshal(value)
	}
	if err != nil {
		return p.fail(err)
	}
	return p.do(jsontree.Op{Op: op, Path: path, Value: text})
}

// do adds an operation, after applying it to the document. If it does not apply, do keeps the mistake. After a first
// mistake it does nothing. There are no limits: the patch is the program's own, and the service limits it.
func (p *PatchBuilder) do(op jsontree.Op) *PatchBuilder {
	if p.err != nil {
		return p
	}
	if !utf8.ValidString(op.Path) {
		return p.fail(errNoUTF8)
	}
	ops, err := jsontree.Decode(appendPatch(nil, []jsontree.Op{op}), 1)
	if err == nil {
		err = p.doc.Patch(ops, jsontree.Limits{Copies: math.MaxInt, Work: math.MaxInt})
	}
	if err != nil {
		return p.fail(err)
	}
	p.ops = append(p.ops, op)
	return p
}

// fail keeps the first mistake, with the call and the number of its operation, counted from 0 without the test of the
// version. Err and Bytes return it.
func (p *PatchBuilder) fail(err error) *PatchBuilder {
	if p.err == nil {
		p.err = fmt.Errorf("operation %d of the patch, %s: %w", len(p.ops), p.call, err)
	}
	return p
}

// makes reports whether an app has the content that the patch gives its app.
func (p *PatchBuilder) makes(app App) bool {
	var doc struct{ Apps []Content }
	want, err := app.Body.Content()
	if err != nil || json.Unmarshal(p.doc.Bytes(), &doc) != nil || len(doc.Apps) != 1 {
		return false
	}
	is := doc.Apps[0]
	return is.Title == want.Title && slices.Equal(is.Groups, want.Groups) &&
		slices.EqualFunc(is.Elements, want.Elements, func(a, b Element) bool {
			return a.Component == b.Component && bytes.Equal(compact(a.Config), compact(b.Config))
		})
}

// Patcher reads and patches apps for one caller. Session implements it, and so does the client of a remote service.
type Patcher interface {
	App(ctx context.Context, id string) (App, error)
	Version(ctx context.Context, id string, v vitrine.Version) (App, error)
	Patch(ctx context.Context, id string, patch io.Reader) (App, error)
}

// Edit reads an app, lets fn build a patch, and stores the result. It retries if somebody else has changed the app
// meanwhile; see EditApp.
func (s *Session) Edit(ctx context.Context, id string, fn func(App, *PatchBuilder) error) (App, error) {
	return EditApp(ctx, s.In(""), id, fn)
}

const (
	editAttempts = 10 // how often EditApp reads and sends before it gives up on a busy app
	// before it sends a patch again whose outcome is unknown, and longer each time
	editPause = 100 * time.Millisecond
)

// EditApp reads the latest version of an app, lets fn build a patch for it, and sends the patch. It returns the new
// version. If fn adds no operation, it sends nothing and returns the version that it read.
//
// If Patch returns ErrConflict, for instance because somebody else has changed the app, EditApp starts over with the
// latest version. If the app has not changed meanwhile and Patch returns ErrConflict again, EditApp returns that: a
// rule of a program rejects the change.
//
// If Patch returns ErrUnknown, the change may have been made. EditApp sends the same patch again, which tests the
// version and so cannot be applied twice, and checks whether the next version has its content. So fn may be called up
// to ten times, but its change is made once. After ten attempts EditApp returns the last error. It returns any other
// error, also one of fn, at once.
func EditApp(ctx context.Context, apps Patcher, id string, fn func(App, *PatchBuilder) error) (App, error) {
	var before vitrine.Version // of the app in the attempt before
	for attempt := 1; ; attempt++ {
		app, err := apps.App(ctx, id)
		if err != nil {
			return App{}, err
		}
		unchanged := app.Version == before
		before = app.Version
		p := NewPatchBuilder(app)
		if err := fn(app, p); err != nil {
			return App{}, err
		}
		patch, err := p.Bytes()
		if err != nil {
			return App{}, err
		}
		if p.Empty() {
			return app, nil
		}
		made, err := apps.Patch(ctx, id, bytes.NewReader(patch))
		unknown := errors.Is(err, vitrine.ErrUnknown)
		for ; errors.Is(err, vitrine.ErrUnknown) && attempt < editAttempts; attempt++ {
			select {
			case <-time.After(time.Duration(attempt) * editPause):
			case <-ctx.Done():
				return made, err
			}
			made, err = apps.Patch(ctx, id, bytes.NewReader(patch))
		}
		if unknown && errors.Is(err, vitrine.ErrConflict) {
			next, failed := apps.Version(ctx, id, app.Version.Next())
			if failed == nil && p.makes(next) {
				return next, nil
			}
		}
		if !errors.Is(err, vitrine.ErrConflict) || attempt >= editAttempts || unchanged {
			return made, err
		}
	}
}
