package client_test

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// What the behaviours need of a service, embedded or remote. A service is bound to its caller.
type (
	appService interface {
		Readers(ctx context.Context, appID, query string) ([]appsvc.Person, error)
		Approvers(ctx context.Context, releaseID, query string) ([]appsvc.Person, error)
		Inbox(ctx context.Context, in appsvc.InboxRequest) (appsvc.Inbox, error)
		SeeInbox(ctx context.Context, until int64) error
		CreatePreview(ctx context.Context, in appsvc.CreatePreviewRequest) (appsvc.Preview, error)
		ListPreviews(ctx context.Context, appID string) ([]appsvc.Preview, error)
		DeletePreview(ctx context.Context, appID, id string) error
		ListComments(ctx context.Context, in appsvc.ListCommentsRequest) (vitrine.Page[appsvc.Comment], error)
		AllComments(ctx context.Context, in appsvc.ListCommentsRequest) iter.Seq2[appsvc.Comment, error]
		CreateComment(ctx context.Context, in appsvc.CreateCommentRequest) (appsvc.Comment, error)
		UpdateComment(ctx context.Context, in appsvc.UpdateCommentRequest) (appsvc.Comment, error)
		DeleteComment(ctx context.Context, appID, id string) error
		ReplyToComment(ctx context.Context, in appsvc.ReplyRequest) (appsvc.Reply, error)
		AllBrokenElements(ctx context.Context, in appsvc.CheckComponentRequest) iter.Seq2[appsvc.BrokenElement, error]
		AllTagMoves(ctx context.Context, in appsvc.ListTagMovesRequest) iter.Seq2[appsvc.TagMove, error]
		CheckComponent(ctx context.Context, in appsvc.CheckComponentRequest) (appsvc.ComponentCheck, error)
		ListTagMoves(ctx context.Context, in appsvc.ListTagMovesRequest) (vitrine.Page[appsvc.TagMove], error)
		ListApps(context.Context, appsvc.ListAppsRequest) (vitrine.Page[appsvc.App], error)
		CreateApp(context.Context, appsvc.CreateAppRequest) (appsvc.App, error)
		App(context.Context, string) (appsvc.App, error)
		Version(context.Context, string, vitrine.Version) (appsvc.App, error)
		ListVersions(context.Context, appsvc.ListVersionsRequest) (vitrine.Page[appsvc.App], error)
		Patch(context.Context, string, io.Reader) (appsvc.App, error)
		Edit(context.Context, string, func(appsvc.App, *appsvc.PatchBuilder) error) (appsvc.App, error)
		DeleteApp(ctx context.Context, id string) error
		UndeleteApp(ctx context.Context, id string) (appsvc.App, error)
		EraseApp(ctx context.Context, id string) error
		Restore(context.Context, appsvc.RestoreRequest) (appsvc.App, error)
		Diff(ctx context.Context, id string, from, to vitrine.Version) (appsvc.Diff, error)
		ListHistory(context.Context, appsvc.ListHistoryRequest) (vitrine.Page[appsvc.HistoryEntry], error)
		ListTags(context.Context, appsvc.ListTagsRequest) (vitrine.Page[appsvc.Tag], error)
		Tag(context.Context, appsvc.TagRequest) (appsvc.Tag, error)
		TaggedApp(ctx context.Context, appID, name string) (appsvc.App, error)
		PutTag(context.Context, appsvc.PutTagRequest) (appsvc.Tag, error)
		CreateRelease(context.Context, appsvc.CreateReleaseRequest) (appsvc.Release, error)
		UpdateRelease(context.Context, appsvc.UpdateReleaseRequest) (appsvc.Release, error)
		Release(context.Context, string) (appsvc.Release, error)
		ListReleases(context.Context, appsvc.ListReleasesRequest) (vitrine.Page[appsvc.Release], error)
		ApproveRelease(ctx context.Context, id string, seen vitrine.Version) (appsvc.Release, error)
		RunRelease(ctx context.Context, id string, seen vitrine.Version) (appsvc.Release, error)
		CancelRelease(ctx context.Context, id string, seen vitrine.Version) (appsvc.Release, error)
		UndoRelease(ctx context.Context, id string, seen vitrine.Version) (appsvc.Release, error)
		TaggedAppIn(ctx context.Context, appID, name, releaseID string) (appsvc.App, error)
		DeleteTag(context.Context, appsvc.DeleteTagRequest) error
		TagsNamed(ctx context.Context, name string, appIDs []string) ([]appsvc.Tag, error)
		ListComponents(context.Context, appsvc.ListComponentsRequest) (vitrine.Page[appsvc.Component], error)
		CreateComponent(context.Context, appsvc.CreateComponentRequest) (appsvc.Component, error)
		Component(ctx context.Context, name string) (appsvc.Component, error)
		ListComponentVersions(ctx context.Context,
			in appsvc.ListComponentVersionsRequest) (vitrine.Page[appsvc.Component], error)
		ComponentVersion(ctx context.Context, name, version string) (appsvc.Component, error)
		DeleteComponent(context.Context, appsvc.DeleteComponentRequest) error
	}
	// assetService is the method set of *assets.Session, which a test compares with that of *client.Assets.
	assetService interface {
		Search(context.Context, assets.Library, assets.SearchRequest) (assets.SearchPage, error)
		AllAssets(context.Context, assets.Library, assets.SearchRequest) iter.Seq2[assets.Asset, error]
		ChangeAssets(context.Context, assets.Library, assets.ChangeAssetsRequest) (assets.ChangedAssets, error)
		Asset(ctx context.Context, lib assets.Library, id string) (assets.Asset, error)
		ListFolders(context.Context, assets.Library, assets.ListFoldersRequest) (assets.FolderPage, error)
		AllFolders(context.Context, assets.Library, assets.ListFoldersRequest) iter.Seq2[assets.Folder, error]
		ChangeFolders(context.Context, assets.Library, assets.ChangeFoldersRequest) (assets.ChangedFolders, error)
		Folder(ctx context.Context, lib assets.Library, id string) (assets.Folder, error)
		Permissions(ctx context.Context, lib assets.Library, folder string) ([]assets.Permission, error)
		ChangePermissions(context.Context, assets.Library, assets.ChangePermissionsRequest) ([]assets.Permission, error)
		Explain(ctx context.Context, lib assets.Library, in assets.ExplainRequest) (assets.Explanation, error)
		AssignAssets(context.Context, assets.Library, assets.AssignAssetsRequest) (assets.AssignedAssets, error)
		ShowFolder(context.Context, assets.Library, assets.ShowFolderRequest) (assets.ShownFolder, error)
		Upload(context.Context, assets.Library, assets.UploadRequest, io.Reader) (assets.Asset, error)
		EditFile(context.Context, assets.Library, assets.EditFileRequest) (assets.Asset, error)
		ReplaceFile(context.Context, assets.Library, assets.ReplaceFileRequest, io.Reader) (assets.Asset, error)
		Attributes(ctx context.Context, lib assets.Library, key string) ([]assets.Attribute, error)
		ChangeAttributes(context.Context, assets.Library, assets.ChangeAttributesRequest) (assets.ChangedAttributes,
			error)
		Changes(context.Context, assets.Library, vitrine.ChangesRequest) (vitrine.ChangesPage[assets.Event], error)
		Follow(context.Context, assets.Library, vitrine.ChangesRequest) iter.Seq2[assets.Event, error]
	}
	reviewService interface {
		Import(context.Context, reviews.ImportRequest) (reviews.Report, error)
		Export(ctx context.Context, network string, w io.Writer) error
		Delete(context.Context, reviews.DeleteRequest) (reviews.Deleted, error)
		ListCollections(ctx context.Context, in reviews.ListCollectionsRequest) (vitrine.Page[reviews.CollectionRecord],
			error)
		AllCollections(ctx context.Context, in reviews.ListCollectionsRequest) iter.Seq2[reviews.CollectionRecord,
			error]
		ListReviews(ctx context.Context, in reviews.ListReviewsRequest) (vitrine.Page[reviews.ReviewRecord], error)
		AllReviews(ctx context.Context, in reviews.ListReviewsRequest) iter.Seq2[reviews.ReviewRecord, error]
		Changes(context.Context, reviews.ChangesRequest) (vitrine.ChangesPage[reviews.Event], error)
		Follow(context.Context, reviews.ChangesRequest) iter.Seq2[reviews.Event, error]
	}
	services struct {
		apps    appService
		assets  assetService
		reviews reviewService
	}
)

const network = "urn:vitrine:example.test"

// The callers of the behaviours.
var (
	editor = httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=editor", Moderates: []string{network},
		Components: true}}
	siteOne = httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=one",
		Moderates: []string{network + ":site=1"}}}
	reader   = httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=reader", Roles: []string{"press"}}}
	stranger = httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:other.test:user=stranger"}}
)

// behaviour is one thing that a service does, in words.
type behaviour struct {
	says  string
	holds func(t *testing.T, as func(httpapi.Principal) services)
}

// A program that embeds the services and one that asks for them over HTTP find the same.
func TestEmbeddedAndRemoteServicesBehaveAlike(t *testing.T) {
	for _, side := range []struct {
		name string
		make func(*testing.T) func(httpapi.Principal) services
	}{{"embedded", embedded}, {"remote", remote}} {
		t.Run(side.name, func(t *testing.T) {
			for _, list := range [][]behaviour{appBehaviours, releaseBehaviours, assetBehaviours, reviewBehaviours} {
				for _, b := range list {
					t.Run(b.says, func(t *testing.T) { b.holds(t, side.make(t)) })
				}
			}
		})
	}
}

// domains are new services on empty stores.
func domains() (*appsvc.Service, *assets.Service, *reviews.Service) {
	return appsvc.New(memory.New(), nil), assets.New(memory.New(), nil), reviews.New(memory.New(), nil)
}

// embedded binds services to callers.
func embedded(*testing.T) func(httpapi.Principal) services {
	a, m, v := domains()
	return func(p httpapi.Principal) services {
		return services{
			a.As(vitrine.Caller{URN: p.URN, Moderates: p.Moderates, Components: p.Components}),
			m.As(vitrine.Caller{URN: p.URN, Moderates: p.Moderates, Roles: p.Roles, Groups: p.Groups}),
			v.As(vitrine.Caller{URN: p.URN, Moderates: p.Moderates}),
		}
	}
}

// remote returns clients of a server.
func remote(t *testing.T) func(httpapi.Principal) services {
	s := newServer(t)
	return func(p httpapi.Principal) services {
		c := s.client(p, nil)
		return services{c.Apps, c.Assets, c.Reviews}
	}
}

// server is a server of everything.
type server struct {
	t      *testing.T
	url    string
	tokens *httpapi.Tokens
}

const basePath = "/app-service/v4"

func newServer(t *testing.T) *server {
	t.Helper()
	tokens, err := httpapi.NewTokens([]byte("a key for tests, 32 bytes long.."), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, m, v := domains()
	h, err := httpapi.New(httpapi.Config{Apps: a, Assets: m, Reviews: v, Authenticate: tokens.Authenticate,
		BasePath: basePath})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &server{t, s.URL, tokens}
}

func (s *server) token(p httpapi.Principal) string {
	s.t.Helper()
	token, err := s.tokens.Sign(p, time.Now().Add(time.Hour))
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// client returns a client of p; change, if not nil, changes its configuration.
func (s *server) client(p httpapi.Principal, change func(*client.Config)) *client.Client {
	s.t.Helper()
	c := client.Config{URL: s.url + basePath, Token: client.Static(s.token(p)), Transport: http.DefaultTransport}
	if change != nil {
		change(&c)
	}
	out, err := client.New(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}
