package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// answered are the methods that read the body of a success, by name. AllX and Follow are made of these.
var answered = map[string]func(context.Context, *client.Client) error{
	"Me": func(ctx context.Context, c *client.Client) error { return second(c.Me(ctx)) },

	"Apps.App":     func(ctx context.Context, c *client.Client) error { return second(c.Apps.App(ctx, "a")) },
	"Apps.Version": func(ctx context.Context, c *client.Client) error { return second(c.Apps.Version(ctx, "a", v0)) },
	"Apps.TaggedApp": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.TaggedApp(ctx, "a", "t"))
	},
	"Apps.Deliver": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.Deliver(ctx, "t", []string{"a"}))
	},
	"Apps.ListPublished": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.ListPublished(ctx, appsvc.ListPublishedRequest{Tag: "t"}))
	},
	"Apps.ListApps":  ofApps((*client.Apps).ListApps, appsvc.ListAppsRequest{}),
	"Apps.CreateApp": ofApps((*client.Apps).CreateApp, appsvc.CreateAppRequest{}),
	"Apps.Patch": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.Patch(ctx, "a", strings.NewReader(`[]`)))
	},
	"Apps.DeleteApp": func(ctx context.Context, c *client.Client) error { return c.Apps.DeleteApp(ctx, "a") },
	"Apps.UndeleteApp": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.UndeleteApp(ctx, "a"))
	},
	"Apps.EraseApp":     func(ctx context.Context, c *client.Client) error { return c.Apps.EraseApp(ctx, "a") },
	"Apps.Restore":      ofApps((*client.Apps).Restore, appsvc.RestoreRequest{AppID: "a", Version: v0}),
	"Apps.ListVersions": ofApps((*client.Apps).ListVersions, appsvc.ListVersionsRequest{AppID: "a"}),
	"Apps.ListHistory":  ofApps((*client.Apps).ListHistory, appsvc.ListHistoryRequest{AppID: "a"}),
	"Apps.Diff": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.Diff(ctx, "a", v0, v0))
	},
	"Apps.ListTags":     ofApps((*client.Apps).ListTags, appsvc.ListTagsRequest{AppID: "a"}),
	"Apps.Tag":          ofApps((*client.Apps).Tag, appsvc.TagRequest{AppID: "a", Name: "t"}),
	"Apps.PutTag":       ofApps((*client.Apps).PutTag, appsvc.PutTagRequest{AppID: "a", Name: "t", Version: v0}),
	"Apps.ListTagMoves": ofApps((*client.Apps).ListTagMoves, appsvc.ListTagMovesRequest{AppID: "a", Name: "t"}),
	"Apps.TaggedAppIn": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.TaggedAppIn(ctx, "a", "t", "r"))
	},
	"Apps.Release":       func(ctx context.Context, c *client.Client) error { return second(c.Apps.Release(ctx, "r")) },
	"Apps.ListReleases":  ofApps((*client.Apps).ListReleases, appsvc.ListReleasesRequest{}),
	"Apps.CreateRelease": ofApps((*client.Apps).CreateRelease, appsvc.CreateReleaseRequest{}),
	"Apps.UpdateRelease": ofApps((*client.Apps).UpdateRelease, appsvc.UpdateReleaseRequest{ID: "r", Version: v0}),
	"Apps.ApproveRelease": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.ApproveRelease(ctx, "r", v0))
	},
	"Apps.RunRelease": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.RunRelease(ctx, "r", v0))
	},
	"Apps.CancelRelease": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.CancelRelease(ctx, "r", v0))
	},
	"Apps.UndoRelease": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.UndoRelease(ctx, "r", v0))
	},
	"Apps.Readers": func(ctx context.Context, c *client.Client) error { return second(c.Apps.Readers(ctx, "a", "")) },
	"Apps.Approvers": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.Approvers(ctx, "r", ""))
	},
	"Apps.Inbox":          ofApps((*client.Apps).Inbox, appsvc.InboxRequest{}),
	"Apps.SeeInbox":       func(ctx context.Context, c *client.Client) error { return c.Apps.SeeInbox(ctx, 1) },
	"Apps.ListComments":   ofApps((*client.Apps).ListComments, appsvc.ListCommentsRequest{AppID: "a"}),
	"Apps.CreateComment":  ofApps((*client.Apps).CreateComment, appsvc.CreateCommentRequest{AppID: "a"}),
	"Apps.UpdateComment":  ofApps((*client.Apps).UpdateComment, appsvc.UpdateCommentRequest{AppID: "a", ID: "1"}),
	"Apps.ReplyToComment": ofApps((*client.Apps).ReplyToComment, appsvc.ReplyRequest{AppID: "a", Comment: "1"}),
	"Apps.DeleteComment": func(ctx context.Context, c *client.Client) error {
		return c.Apps.DeleteComment(ctx, "a", "1")
	},
	"Apps.CreatePreview": ofApps((*client.Apps).CreatePreview, appsvc.CreatePreviewRequest{AppID: "a"}),
	"Apps.ListPreviews": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.ListPreviews(ctx, "a"))
	},
	"Apps.DeletePreview": func(ctx context.Context, c *client.Client) error {
		return c.Apps.DeletePreview(ctx, "a", "1")
	},
	"Apps.TagsNamed": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.TagsNamed(ctx, "t", []string{"a"}))
	},
	"Apps.Languages":      func(ctx context.Context, c *client.Client) error { return second(c.Apps.Languages(ctx)) },
	"Apps.ListComponents": ofApps((*client.Apps).ListComponents, appsvc.ListComponentsRequest{}),
	"Apps.ListComponentVersions": ofApps((*client.Apps).ListComponentVersions,
		appsvc.ListComponentVersionsRequest{Name: "c"}),
	"Apps.Component": func(ctx context.Context, c *client.Client) error { return second(c.Apps.Component(ctx, "c")) },
	"Apps.ComponentVersion": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.ComponentVersion(ctx, "c", "1.0.0"))
	},
	"Apps.CreateComponent": ofApps((*client.Apps).CreateComponent,
		appsvc.CreateComponentRequest{Manifest: strings.NewReader(`{}`)}),
	"Apps.CheckComponent": ofApps((*client.Apps).CheckComponent,
		appsvc.CheckComponentRequest{Name: "c", Manifest: []byte(`{}`)}),
	"Apps.Upgrade": ofApps((*client.Apps).Upgrade, appsvc.UpgradeRequest{Name: "c", To: "2"}),
	"Apps.Replace": ofApps((*client.Apps).Replace, appsvc.ReplaceRequest{Find: "xx"}),
	"Apps.DeleteTag": func(ctx context.Context, c *client.Client) error {
		return c.Apps.DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: "a", Name: "t"})
	},
	"Apps.DeleteComponent": func(ctx context.Context, c *client.Client) error {
		return c.Apps.DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "c"})
	},
	"Apps.Changes": ofApps((*client.Apps).Changes, appsvc.ChangesRequest{}),
	"Apps.Edit": func(ctx context.Context, c *client.Client) error {
		return second(c.Apps.Edit(ctx, "a", func(appsvc.App, *appsvc.PatchBuilder) error { return nil }))
	},

	"Assets.Search":       ofAssets((*client.Assets).Search, assets.SearchRequest{}),
	"Assets.ChangeAssets": ofAssets((*client.Assets).ChangeAssets, assets.ChangeAssetsRequest{}),
	"Assets.Asset": func(ctx context.Context, c *client.Client) error {
		return second(c.Assets.Asset(ctx, ofN, "a"))
	},
	"Assets.ShowFolder": ofAssets((*client.Assets).ShowFolder, assets.ShowFolderRequest{Folder: "f"}),
	"Assets.EditFile":   ofAssets((*client.Assets).EditFile, assets.EditFileRequest{Asset: "a", IfMatch: `"e"`}),
	"Assets.Upload": func(ctx context.Context, c *client.Client) error {
		return second(c.Assets.Upload(ctx, ofN, assets.UploadRequest{Size: 1}, strings.NewReader("x")))
	},
	"Assets.ReplaceFile": func(ctx context.Context, c *client.Client) error {
		return second(c.Assets.ReplaceFile(ctx, ofN, assets.ReplaceFileRequest{Asset: "a"}, strings.NewReader("x")))
	},
	"Assets.Explain":      ofAssets((*client.Assets).Explain, assets.ExplainRequest{Asset: "a"}),
	"Assets.AssignAssets": ofAssets((*client.Assets).AssignAssets, assets.AssignAssetsRequest{Folder: "f"}),
	"Assets.Attributes": func(ctx context.Context, c *client.Client) error {
		return second(c.Assets.Attributes(ctx, ofN, "k"))
	},
	"Assets.ChangeAttributes": ofAssets((*client.Assets).ChangeAttributes, assets.ChangeAttributesRequest{}),
	"Assets.ListFolders":      ofAssets((*client.Assets).ListFolders, assets.ListFoldersRequest{}),
	"Assets.Folder": func(ctx context.Context, c *client.Client) error {
		return second(c.Assets.Folder(ctx, ofN, "f"))
	},
	"Assets.ChangeFolders": ofAssets((*client.Assets).ChangeFolders, assets.ChangeFoldersRequest{}),
	"Assets.Permissions": func(ctx context.Context, c *client.Client) error {
		return second(c.Assets.Permissions(ctx, ofN, "f"))
	},
	"Assets.ChangePermissions": ofAssets((*client.Assets).ChangePermissions,
		assets.ChangePermissionsRequest{Folder: "f"}),
	"Assets.Changes": ofAssets((*client.Assets).Changes, vitrine.ChangesRequest{}),

	"Reviews.Import": func(ctx context.Context, c *client.Client) error {
		return second(c.Reviews.Import(ctx, reviews.ImportRequest{File: strings.NewReader("x")}))
	},
	"Reviews.Export": func(ctx context.Context, c *client.Client) error {
		var out strings.Builder
		err := c.Reviews.Export(ctx, "", &out)
		if out.Len() > 0 {
			return nil // what is not an export must not be in the file
		}
		return err
	},
	"Reviews.Delete": func(ctx context.Context, c *client.Client) error {
		return second(c.Reviews.Delete(ctx, reviews.DeleteRequest{Network: "n", Everything: true}))
	},
	"Reviews.ListCollections": func(ctx context.Context, c *client.Client) error {
		return second(c.Reviews.ListCollections(ctx, reviews.ListCollectionsRequest{}))
	},
	"Reviews.ListReviews": func(ctx context.Context, c *client.Client) error {
		return second(c.Reviews.ListReviews(ctx, reviews.ListReviewsRequest{Collection: "c"}))
	},
	"Reviews.Changes": func(ctx context.Context, c *client.Client) error {
		return second(c.Reviews.Changes(ctx, reviews.ChangesRequest{}))
	},
	"Reviews.Show": func(ctx context.Context, c *client.Client) error {
		return second(c.Reviews.Show(ctx, reviews.ListReviewsRequest{Network: "n", Collection: "c"}))
	},
}

var (
	v0  = vitrine.NewVersion(0)
	ofN = assets.Library{Network: "n", ID: "l"}
)

// ofApps is a call of a method with a request, and ofAssets one about the library ofN.
func ofApps[In, Out any](
	method func(*client.Apps, context.Context, In) (Out, error), in In,
) func(context.Context, *client.Client) error {
	return func(ctx context.Context, c *client.Client) error { return second(method(c.Apps, ctx, in)) }
}

func ofAssets[In, Out any](
	method func(*client.Assets, context.Context, assets.Library, In) (Out, error), in In,
) func(context.Context, *client.Client) error {
	return func(ctx context.Context, c *client.Client) error { return second(method(c.Assets, ctx, ofN, in)) }
}

// second returns the error of a call that returns another value too.
func second[T any](_ T, err error) error { return err }

// A proxy or a login page may answer 200 with a JSON object of its own. No method takes that for a success, and the
// error says what was answered. A change may have been made before its answer was replaced, so its error is ErrUnknown.
func TestAnUnrelatedObjectIsNoSuccess(t *testing.T) {
	for _, body := range []string{`{}`, `{"status":"ok","login":"https://proxy.example.test/"}`} {
		for name, call := range answered {
			c, s := scripted(t, nil, line{200, body, "Content-Type: application/json", nil})
			err := call(t.Context(), c)
			var e *client.Error
			if err == nil || errors.As(err, &e) || !strings.Contains(err.Error(), "is not one of this service: ") ||
				!strings.HasSuffix(err.Error(), "; it begins with `"+body+"`") {
				t.Errorf("%s is answered %s: error %v", name, body, err)
			}
			lost := errors.Is(err, vitrine.ErrUnknown)
			if changes := s.asked[0].Method != http.MethodGet && name != "Apps.CheckComponent"; lost != changes {
				t.Errorf("%s is answered %s: it may have changed something: %v, error %v", name, body, changes, err)
			}
		}
	}
	for prefix, of := range map[string]reflect.Type{"Apps.": reflect.TypeFor[*client.Apps](),
		"Assets.": reflect.TypeFor[*client.Assets](), "Reviews.": reflect.TypeFor[*client.Reviews]()} {
		for name := range methods(of) {
			if answered[prefix+name] == nil && !strings.HasPrefix(name, "All") && name != "Follow" {
				t.Errorf("%s%s is not tested", prefix, name)
			}
		}
	}
}

// The error of a long answer has its beginning only.
func TestTheErrorOfALongAnswerIsShort(t *testing.T) {
	c, _ := scripted(t, nil, line{200, "<html>" + strings.Repeat("é\n", 1<<20), "", nil})
	err := calls["read"](t.Context(), c)
	if err == nil || len(err.Error()) > 400 || !strings.Contains(err.Error(), "it begins with \"<html>é\\n") {
		t.Errorf("%v", err)
	}
	c, _ = scripted(t, nil, line{200, "", "", nil})
	if err := c.Reviews.Export(t.Context(), "", io.Discard); err == nil ||
		!strings.Contains(err.Error(), "it is empty") {
		t.Errorf("%v", err)
	}
}

// A success of the service without a single item has its members all the same.
func TestEmptyAnswersAreSuccesses(t *testing.T) {
	server := exampleServer()
	defer server.Close()
	c := ok(client.New(client.Config{URL: server.URL, Token: client.Static("x")}))(t)
	lib := assets.Library{Network: "example.test", ID: "example.test"}
	app := ok(c.Apps.CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "x", Groups: []string{network}}))(t)
	folder := ok(c.Assets.ChangeFolders(t.Context(), lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x"}}}))(t).Folders[0].ID
	manifest := []byte(`{"name":"poll","version":"1.0.0","description":null,"main":"/x.js","configSchema":{}}`)
	ok(c.Apps.CreateComponent(t.Context(), appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest)}))(t)
	for name, err := range map[string]error{
		"Apps.ListApps": second(c.Apps.ListApps(t.Context(),
			appsvc.ListAppsRequest{UsingComponent: "poll"})),
		"Apps.Diff":     second(c.Apps.Diff(t.Context(), app.ID, v0, v0)),
		"Apps.ListTags": second(c.Apps.ListTags(t.Context(), appsvc.ListTagsRequest{AppID: app.ID})),
		"Apps.ListComponents": second(c.Apps.ListComponents(t.Context(),
			appsvc.ListComponentsRequest{After: "poll"})),
		"Apps.CheckComponent": second(c.Apps.CheckComponent(t.Context(),
			appsvc.CheckComponentRequest{Name: "poll",
				Manifest: bytes.Replace(manifest, []byte("1.0.0"), []byte("1.0.1"), 1)})),
		"Apps.Changes":        second(c.Apps.Changes(t.Context(), appsvc.ChangesRequest{After: vitrine.Now})),
		"Assets.Search":       second(c.Assets.Search(t.Context(), lib, assets.SearchRequest{})),
		"Assets.ChangeAssets": second(c.Assets.ChangeAssets(t.Context(), lib, assets.ChangeAssetsRequest{})),
		"Assets.AssignAssets": second(c.Assets.AssignAssets(t.Context(), lib,
			assets.AssignAssetsRequest{Folder: folder})),
		"Assets.Attributes": second(c.Assets.Attributes(t.Context(), lib, "k")),
		"Assets.ChangeAttributes": second(c.Assets.ChangeAttributes(t.Context(), lib,
			assets.ChangeAttributesRequest{})),
		"Assets.ListFolders": second(c.Assets.ListFolders(t.Context(), lib,
			assets.ListFoldersRequest{Label: "none"})),
		"Assets.ChangeFolders": second(c.Assets.ChangeFolders(t.Context(), lib, assets.ChangeFoldersRequest{})),
		"Assets.Permissions":   second(c.Assets.Permissions(t.Context(), lib, folder)),
		"Assets.ChangePermissions": second(c.Assets.ChangePermissions(t.Context(), lib,
			assets.ChangePermissionsRequest{Folder: folder})),
		"Assets.Explain": second(c.Assets.Explain(t.Context(), lib, assets.ExplainRequest{Folder: folder})),
		"Assets.Changes": second(c.Assets.Changes(t.Context(), lib,
			vitrine.ChangesRequest{After: vitrine.Now})),
		"Reviews.Import": second(c.Reviews.Import(t.Context(),
			reviews.ImportRequest{File: strings.NewReader("")})),
		"Reviews.Export":          c.Reviews.Export(t.Context(), "", io.Discard),
		"Reviews.Changes":         second(c.Reviews.Changes(t.Context(), reviews.ChangesRequest{After: vitrine.Now})),
		"Reviews.ListCollections": second(c.Reviews.ListCollections(t.Context(), reviews.ListCollectionsRequest{})),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
