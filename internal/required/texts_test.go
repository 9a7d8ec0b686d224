package required_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const (
	network = "urn:vitrine:example.test"
	site    = network + ":site=1"
)

var (
	lib = assets.Library{Network: "example.test", ID: "example.test"}
	me  = vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}, Components: true,
		Roles: []string{"editor"}, Groups: []string{site}}
)

// badTexts are texts that no store keeps, and one that is too long for all that has a limit.
var badTexts = []string{"bad\xfftext", "bad\x00text", strings.Repeat("bad text", 4000)}

// call is a call of a method of a Session with a valid request, whose texts the test replaces.
type call struct {
	session any
	method  string
	args    []any
}

// No text of a Go program panics, is stored though a store cannot keep it, or is refused without a sentence and a
// place. Over HTTP most such texts do not come so far: they are no JSON.
func TestTextsOfPrograms(t *testing.T) {
	seen := map[string]bool{}
	db, calls := world(t)
	for i := range calls {
		for _, text := range badTexts {
			for n := 0; ; n++ {
				c := calls[i]
				args, at := c.with(n, text)
				if at == "" {
					break
				}
				name := fmt.Sprintf("%T.%s with %.9q at %s", c.session, c.method, text, at)
				seen[fmt.Sprintf("%T.%s", c.session, c.method)] = true
				err := answer(t, name, reflect.ValueOf(c.session).MethodByName(c.method), args)
				refused(t, name, at, err)
				if stored(t, db, text) {
					t.Errorf("%s is stored", name)
				}
				if err == nil { // the call may have changed something
					db, calls = world(t)
				}
			}
		}
	}
	allMethods(t, calls, seen)
}

// The texts of a caller and of a patch are refused, too.
func TestTextsOfCallersAndPatches(t *testing.T) {
	ctx := context.Background()
	for _, text := range badTexts[:2] {
		db, _ := world(t)
		apps := appsvc.New(db, nil)
		page, err := apps.As(me).ListApps(ctx, appsvc.ListAppsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for name, edit := range map[string]func(*appsvc.PatchBuilder){
			"title":  func(p *appsvc.PatchBuilder) { p.SetTitle(text) },
			"groups": func(p *appsvc.PatchBuilder) { p.SetGroups(site, text) },
			"note":   func(p *appsvc.PatchBuilder) { p.SetTitle("x").Note(text) },
			"value":  func(p *appsvc.PatchBuilder) { p.SetConfig(0, "/a", text) },
			"key":    func(p *appsvc.PatchBuilder) { p.SetConfig(0, "/"+text, 1) },
			"config": func(p *appsvc.PatchBuilder) {
				p.AppendElement(appsvc.NewElement{Component: appsvc.ComponentRef{Name: "c", Version: "1"},
					Config: json.RawMessage(`{"a":"` + text + `"}`)})
			},
			"component": func(p *appsvc.PatchBuilder) { p.SetComponent(0, appsvc.ComponentRef{Name: text}) },
		} {
			_, err := apps.As(me).Edit(ctx, page.Items[0].ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
				edit(p)
				return nil
			})
			if err == nil || stored(t, db, text) {
				t.Errorf("a patch with %q as its %s: %v", text, name, err)
			}
		}
		for i := 0; ; i++ {
			n, at := i, ""
			by := changed(reflect.ValueOf(me), "Caller", &n, text, &at).Interface().(vitrine.Caller)
			if at == "" {
				break
			}
			_, err := apps.As(by).ListApps(ctx, appsvc.ListAppsRequest{})
			_, err2 := assets.New(db, nil).As(by).Search(ctx, lib, assets.SearchRequest{})
			_, err3 := reviews.New(db, nil).As(by).ListCollections(ctx, reviews.ListCollectionsRequest{})
			for _, err := range []error{err, err2, err3} {
				if !errors.Is(err, vitrine.ErrInvalid) {
					t.Errorf("a caller with %q at %s: %v", text, at, err)
				}
			}
		}
	}
}

// refused checks the error of a call with a bad text at this place of its arguments. The text may be one that is only
// looked for.
func refused(t *testing.T, name, at string, err error) {
	if err == nil {
		return
	}
	e, ok := errors.AsType[*vitrine.Error](err)
	switch {
	case !ok || e.Reason == "":
		t.Errorf("%s: %v", name, err)
	case strings.HasPrefix(at, "Library") || strings.HasSuffix(at, "Request.Name"): // in the path of the request
	case errors.Is(err, vitrine.ErrInvalid) && e.Pointer == "" && e.Parameter == "":
		t.Errorf("%s: %v, without a place", name, err)
	}
}

// allMethods checks that the methods of all sessions were called, except for those without a text and those whose texts
// are in a body, which is JSON.
func allMethods(t *testing.T, calls []call, seen map[string]bool) {
	for _, c := range calls {
		for m := range reflect.TypeOf(c.session).Methods() {
			name := fmt.Sprintf("%T.%s", c.session, m.Name)
			single, several := "", "" // a list and the iterator of it have one request
			if after, ok := strings.CutPrefix(m.Name, "All"); ok {
				single, several = fmt.Sprintf("%T.List%s", c.session, after), fmt.Sprintf("%T.Search", c.session)
			}
			switch {
			case seen[name] || seen[single] || m.Name == "AllAssets" && seen[several]:
			case m.Name == "Follow", m.Name == "Patch", m.Name == "Edit", m.Name == "CreateComponent",
				m.Name == "Languages", m.Name == "SeeInbox", m.Name == "In", m.Name == "Trying", m.Name == "Within":
			default:
				t.Errorf("%s is not called", name)
				seen[name] = true
			}
		}
	}
}

// with returns the arguments of the call with this text in place of their n-th text, and where that is; "" if they have
// no n-th text.
func (c call) with(n int, text string) (args []reflect.Value, at string) {
	args = []reflect.Value{}
	in := reflect.ValueOf(c.session).MethodByName(c.method).Type()
	rest := c.args
	for i := range in.NumIn() {
		switch in.In(i) {
		case reflect.TypeFor[context.Context]():
			args = append(args, reflect.ValueOf(context.Background()))
		case reflect.TypeFor[io.Reader]():
			args = append(args, reflect.ValueOf(strings.NewReader("")))
		case reflect.TypeFor[io.Writer]():
			args = append(args, reflect.ValueOf(io.Discard))
		default:
			args = append(args, changed(reflect.ValueOf(rest[0]), in.In(i).Name(), &n, text, &at))
			rest = rest[1:]
		}
	}
	return args, at
}

// changed returns a copy of v in which the n-th text is this one, and sets where it is. JSON has it in a string.
func changed(v reflect.Value, path string, n *int, text string, at *string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		if *n == 0 {
			out.SetString(text)
			*at = path
		}
		*n--
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type.PkgPath() != "time" {
				out.Field(i).Set(changed(v.Field(i), path+"."+f.Name, n, text, at))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(changed(v.Elem(), path, n, text, at))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if *n == 0 && v.Len() > 0 && len(text) < 100 {
				out.SetBytes([]byte(`{"a":"` + text + `"}`))
				*at = path
			}
			*n--
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(changed(v.Index(i), fmt.Sprintf("%s/%d", path, i), n, text, at))
		}
	}
	return out
}

// answer returns the error of a call, or the first one of the iterator that it returns, and checks that its result has
// a JSON.
func answer(t *testing.T, name string, m reflect.Value, args []reflect.Value) (err error) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s panics: %v", name, r)
		}
	}()
	out := m.Call(args)
	err, _ = out[len(out)-1].Interface().(error)
	if err == nil && len(out) == 2 {
		if _, err := json.Marshal(out[0].Interface()); err != nil {
			t.Errorf("%s: the result has no JSON: %v", name, err)
		}
	}
	return err
}

// stored reports whether the store has the text.
func stored(t *testing.T, db storage.Store, text string) (found bool) {
	err := db.View(context.Background(), func(r storage.Reader) error {
		for e, err := range r.Scan(context.Background(), storage.Range{}) {
			if err != nil {
				return err
			}
			found = found || strings.Contains(e.Key, text) || strings.Contains(string(e.Value), text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// world returns a store with an app, a folder, an asset and a collection of reviews, and calls of the methods of its
// sessions.
func world(t *testing.T) (storage.Store, []call) {
	ctx, db := context.Background(), memory.New()
	apps, media, old := appsvc.New(db, nil).As(me), assets.New(db, nil).As(me), reviews.New(db, nil).As(me)
	manifest := `{"name":"c","version":"1","main":"/c.js","configSchema":{}}`
	_, err := apps.CreateComponent(ctx, appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest)})
	create := appsvc.CreateAppRequest{Title: "App", Groups: []string{site}, Elements: []appsvc.NewElement{
		{Component: appsvc.ComponentRef{Name: "c", Version: "1"}, Config: json.RawMessage(`{"a":"b"}`)}}}
	app, err2 := apps.CreateApp(ctx, create)
	next, err3 := apps.Restore(ctx, appsvc.RestoreRequest{AppID: app.ID, Version: app.Version})
	tag := appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version}
	_, err4 := apps.PutTag(ctx, tag)
	comment := appsvc.CreateCommentRequest{AppID: app.ID, Element: "0.0", Pointer: "/a", Text: "why?"}
	said, err5 := apps.CreateComment(ctx, comment)
	release := appsvc.CreateReleaseRequest{Name: "R", Moves: []appsvc.ReleaseMove{
		{AppID: app.ID, Tag: "production", To: appsvc.PointsTo(next.Version)}}}
	r, err6 := apps.CreateRelease(ctx, release)
	shown := appsvc.CreatePreviewRequest{AppID: app.ID, Release: r.ID, Days: 1, Note: "for a customer"}
	preview, err11 := apps.CreatePreview(ctx, shown)
	update := appsvc.UpdateReleaseRequest{ID: r.ID, Version: r.Version, Name: "R", Moves: release.Moves}
	asked := update
	asked.Ask = []string{me.URN}

	folders, err7 := media.ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "F"}, {Label: "G"}}})
	post := assets.NewAsset{ID: "1", Generator: assets.Generator{ID: "g"}, SafeTags: []string{"t"},
		Content: json.RawMessage(`{"content":"Hello"}`), Attributes: []assets.Attribute{{Key: "k", Value: "v"}}}
	added, err8 := media.ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{post}})
	file, err9 := media.Upload(ctx, lib, assets.UploadRequest{Name: "a.pdf"}, strings.NewReader("%PDF-1.4\n"))
	_, err10 := old.Import(ctx, reviews.ImportRequest{Network: "example.test", File: strings.NewReader(
		`{"type":"collection","source":"s","id":"QQ==","title":"A"}`)})
	if err := errors.Join(err, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11); err != nil {
		t.Fatal(err)
	}
	folder, asset := folders.Folders[0].ID, added.Added[0].ID
	post.Folders = []string{folder}
	grants := []assets.Permission{{Operation: assets.View, Role: &assets.Subject{ID: "r", Name: "R"}},
		{Operation: assets.View, Group: new(site)}, {Operation: assets.View, User: &assets.Subject{ID: "u", Name: "U"}}}
	list := reviews.ListReviewsRequest{Network: "example.test", Source: "s", Collection: "QQ=="}
	search := assets.SearchRequest{In: []string{"text"}, Tags: []string{"t"}, TagsAny: []string{"t"},
		NotTags: []string{"u"}, NotGenerators: []string{"u"}, Generator: "g", Types: []string{"any"},
		Attributes: []string{"k:v"}, Facets: []string{"tags"}}

	return db, []call{
		{apps, "AllBrokenElements", []any{appsvc.CheckComponentRequest{Name: "c", Manifest: []byte(manifest)}}},
		{apps, "CheckComponent", []any{appsvc.CheckComponentRequest{Name: "c", Manifest: []byte(manifest)}}},
		{apps, "ListApps", []any{appsvc.ListAppsRequest{In: []string{"title"}}}},
		{apps, "ListApps", []any{appsvc.ListAppsRequest{UsingComponent: "c", UsingVersion: "1"}}},
		{apps, "ListComments", []any{appsvc.ListCommentsRequest{AppID: app.ID}}},
		{apps, "ListComponentVersions", []any{appsvc.ListComponentVersionsRequest{Name: "c"}}},
		{apps, "ListComponents", []any{appsvc.ListComponentsRequest{}}},
		{apps, "ListHistory", []any{appsvc.ListHistoryRequest{AppID: app.ID}}},
		{apps, "ListPublished", []any{appsvc.ListPublishedRequest{Tag: "production"}}},
		{apps, "ListReleases", []any{appsvc.ListReleasesRequest{}}},
		{apps, "ListTagMoves", []any{appsvc.ListTagMovesRequest{AppID: app.ID, Name: "production"}}},
		{apps, "ListTags", []any{appsvc.ListTagsRequest{AppID: app.ID}}},
		{apps, "ListVersions", []any{appsvc.ListVersionsRequest{AppID: app.ID}}},
		{apps, "Changes", []any{appsvc.ChangesRequest{Types: []appsvc.ChangeType{appsvc.AppCreated}}}},
		{apps, "Inbox", []any{appsvc.InboxRequest{}}},
		{apps, "App", []any{app.ID}}, {apps, "DeleteApp", []any{app.ID}}, {apps, "EraseApp", []any{app.ID}},
		{apps, "UndeleteApp", []any{app.ID}}, {apps, "Version", []any{app.ID, app.Version}},
		{apps, "Diff", []any{app.ID, app.Version, next.Version}}, {apps, "Readers", []any{app.ID, "x"}},
		{apps, "Deliver", []any{"production", []string{app.ID}}},
		{apps, "TagsNamed", []any{"production", []string{app.ID}}},
		{apps, "Tag", []any{appsvc.TagRequest{AppID: app.ID, Name: "production"}}},
		{apps, "TaggedApp", []any{app.ID, "production"}}, {apps, "TaggedAppIn", []any{app.ID, "production", r.ID}},
		{apps, "Release", []any{r.ID}}, {apps, "Approvers", []any{r.ID, "x"}},
		{apps, "ApproveRelease", []any{r.ID, r.Version}}, {apps, "CancelRelease", []any{r.ID, r.Version}},
		{apps, "RunRelease", []any{r.ID, r.Version}}, {apps, "UndoRelease", []any{r.ID, r.Version}},
		{apps, "Component", []any{"c"}}, {apps, "ComponentVersion", []any{"c", "1"}},
		{apps, "CreateApp", []any{create}}, {apps, "CreateComment", []any{comment}},
		{apps, "CreatePreview", []any{shown}}, {apps, "ListPreviews", []any{app.ID}},
		{apps, "CreatePreview", []any{appsvc.CreatePreviewRequest{AppID: app.ID, Version: "latest", Days: 1}}},
		{apps, "DeletePreview", []any{app.ID, preview.ID}},
		{apps, "CreateRelease", []any{release}}, {apps, "UpdateRelease", []any{update}},
		{apps, "UpdateRelease", []any{asked}}, {apps, "PutTag", []any{tag}},
		{apps, "DeleteComment", []any{app.ID, said.ID}},
		{apps, "DeleteComponent", []any{appsvc.DeleteComponentRequest{Name: "c"}}},
		{apps, "DeleteTag", []any{appsvc.DeleteTagRequest{AppID: app.ID, Name: "production"}}},
		{apps, "Replace", []any{appsvc.ReplaceRequest{Find: "bb", Replace: "cc"}}},
		{apps, "ReplyToComment", []any{appsvc.ReplyRequest{
			AppID: app.ID, Comment: said.ID, Text: "x", Mentions: []string{me.URN}}}},
		{apps, "Restore", []any{appsvc.RestoreRequest{AppID: app.ID, Version: app.Version}}},
		{apps, "UpdateComment", []any{appsvc.UpdateCommentRequest{
			AppID: app.ID, ID: said.ID, Text: new("x"), Mentions: []string{me.URN}}}},
		{apps, "Upgrade", []any{appsvc.UpgradeRequest{Name: "c", From: []string{"1"}, To: "1"}}},

		{media, "Search", []any{lib, search}},
		{media, "ListFolders", []any{lib, assets.ListFoldersRequest{IDs: []string{folder}, Paths: []string{"/"}}}},
		{media, "ShowFolder", []any{lib, assets.ShowFolderRequest{Folder: folder, Types: []string{"any"}}}},
		{media, "Asset", []any{lib, asset}}, {media, "Attributes", []any{lib, "k"}}, {media, "CheckMember", []any{lib}},
		{media, "Folder", []any{lib, folder}}, {media, "Permissions", []any{lib, folder}},
		{media, "Changes", []any{lib, vitrine.ChangesRequest{}}},
		{media, "AssignAssets", []any{lib, assets.AssignAssetsRequest{
			Folder: folder, Assign: []string{asset}, Remove: []string{asset}}}},
		{media, "ChangeAssets", []any{lib, assets.ChangeAssetsRequest{
			Add: []assets.NewAsset{post}, Remove: []string{asset}}}},
		{media, "ChangeAttributes", []any{lib, assets.ChangeAttributesRequest{
			Assets: []string{asset}, Add: post.Attributes, Set: post.Attributes, Remove: post.Attributes}}},
		{media, "ChangeFolders", []any{lib, assets.ChangeFoldersRequest{
			Create: []assets.NewFolder{{Label: "H", Permissions: grants}},
			Update: []assets.FolderChange{{ID: folder, Label: new("L"), Path: new("/")}}}}},
		{media, "ChangeFolders", []any{lib, assets.ChangeFoldersRequest{
			Delete: []string{folder}, Remove: []string{folders.Folders[1].ID}, Purge: []string{folder}}}},
		{media, "ChangePermissions", []any{lib, assets.ChangePermissionsRequest{
			Folder: folder, Create: grants, Remove: grants}}},
		{media, "Explain", []any{lib, assets.ExplainRequest{
			Asset: asset, About: &vitrine.Caller{URN: "u", Roles: []string{"r"}, Groups: []string{site}}}}},
		{media, "Upload", []any{lib, assets.UploadRequest{Name: "f", Folders: []string{folder}}}},
		{media, "EditFile", []any{lib, assets.EditFileRequest{
			Asset: file.ID, IfMatch: file.ETag(), Title: new("t"), Alt: new("a")}}},
		{media, "ReplaceFile", []any{lib, assets.ReplaceFileRequest{Asset: file.ID, IfMatch: file.ETag()}}},

		{old, "ListCollections", []any{reviews.ListCollectionsRequest{Network: "example.test"}}},
		{old, "ListReviews", []any{list}}, {old, "Show", []any{list}}, {old, "Network", []any{"example.test"}},
		{old, "Changes", []any{reviews.ChangesRequest{Network: "example.test"}}},
		{old, "Delete", []any{reviews.DeleteRequest{Network: "example.test", Source: "s", DryRun: true}}},
		{old, "Import", []any{reviews.ImportRequest{Network: "example.test", File: strings.NewReader("")}}},
		{old, "Export", []any{"example.test"}},
	}
}
