package client_test

import (
	"context"
	"io"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/proof/openapi"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// What the behaviours need of a service, embedded or remote. Whose calls they are is settled before.
type (
	appService interface {
		Apps(context.Context, appsvc.ListApps) ([]appsvc.App, string, error)
		CreateApp(context.Context, appsvc.NewApp) (appsvc.App, error)
		App(context.Context, string) (appsvc.App, error)
		Version(context.Context, string, appsvc.Version) (appsvc.App, error)
		Versions(context.Context, appsvc.ListVersions) ([]appsvc.App, bool, error)
		Patch(context.Context, string, []byte) (appsvc.App, error)
		Restore(context.Context, appsvc.Restore) (appsvc.App, error)
		Tags(context.Context, appsvc.ListTags) (appsvc.TagPage, error)
		Tag(ctx context.Context, appID, name string, embed bool) (appsvc.TagPage, error)
		TaggedApp(ctx context.Context, appID, name string) (appsvc.App, error)
		PutTag(context.Context, appsvc.PutTag) (appsvc.TagPage, error)
		DeleteTag(ctx context.Context, appID, name, idempotencyKey string) error
		TagsNamed(ctx context.Context, name string, appIDs []string) ([]appsvc.Tag, error)
		Components(ctx context.Context, after string) ([]appsvc.Component, bool, error)
		CreateComponent(ctx context.Context, manifest []byte, idempotencyKey string) (appsvc.Component, error)
		Component(ctx context.Context, name string) (appsvc.Component, error)
		DeleteComponent(ctx context.Context, name, idempotencyKey string) error
	}
	assetService interface {
		Search(context.Context, assets.Library, assets.Search) (assets.Page, error)
		ChangeAssets(context.Context, assets.Library, assets.ChangeAssets) (assets.ChangedAssets, error)
		Asset(ctx context.Context, lib assets.Library, id string) (assets.Asset, error)
		Folders(context.Context, assets.Library, assets.ListFolders) ([]assets.Folder, error)
		ChangeFolders(context.Context, assets.Library, assets.ChangeFolders) ([]assets.Folder, error)
		Folder(ctx context.Context, lib assets.Library, id string) (assets.Folder, error)
		Permissions(ctx context.Context, lib assets.Library, folder string) ([]assets.Permission, error)
		ChangePermissions(ctx context.Context, lib assets.Library, folder string, in assets.ChangePermissions) ([]assets.Permission, error)
		AssignAssets(ctx context.Context, lib assets.Library, folder string, in assets.AssignAssets) (assets.AssignedAssets, error)
		Attributes(ctx context.Context, lib assets.Library, key string) ([]assets.Attribute, error)
		ChangeAttributes(context.Context, assets.Library, assets.ChangeAttributes) (assets.ChangedAttributes, error)
	}
	reviewService interface {
		Import(ctx context.Context, file io.Reader, dryRun bool) (reviews.Report, error)
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
	editor   = httpapi.Principal{URN: network + ":user=editor", Moderates: []string{network}, Components: true}
	siteOne  = httpapi.Principal{URN: network + ":user=one", Moderates: []string{network + ":site=1"}}
	reader   = httpapi.Principal{URN: network + ":user=reader", Roles: []string{"press"}}
	stranger = httpapi.Principal{URN: "urn:vitrine:other.test:user=stranger"}
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
			for _, list := range [][]behaviour{appBehaviours, assetBehaviours, reviewBehaviours} {
				for _, b := range list {
					t.Run(b.says, func(t *testing.T) { b.holds(t, side.make(t)) })
				}
			}
		})
	}
}

// domains are new services on empty stores.
func domains() (*appsvc.Service, *assets.Service, *reviews.Service) {
	return appsvc.New(memory.NewApps(), nil), assets.New(memory.NewAssets(), nil), reviews.New(memory.NewReviews())
}

// embedded binds services to callers.
func embedded(*testing.T) func(httpapi.Principal) services {
	a, m, v := domains()
	return func(p httpapi.Principal) services {
		return services{
			embeddedApps{a, appsvc.Caller{URN: p.URN, Moderates: p.Moderates, ManageComponents: p.Components}},
			embeddedAssets{m, assets.Caller{URN: p.URN, Moderates: p.Moderates, Roles: p.Roles, Groups: p.Groups}},
			embeddedReviews{v, reviews.Caller{URN: p.URN, Moderates: p.Moderates}},
		}
	}
}

// remote asks a server, and holds what is said to its description.
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

// description is openapi.json.
var description = sync.OnceValues(func() (*openapi.Document, error) {
	text, err := os.ReadFile("../httpapi/openapi.json")
	if err != nil {
		return nil, err
	}
	return openapi.Parse(text)
})

func newServer(t *testing.T) *server {
	t.Helper()
	tokens, err := httpapi.NewTokens([]byte("a key for tests, 32 bytes long.."), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, m, v := domains()
	h, err := httpapi.New(httpapi.Config{Apps: a, Assets: m, Reviews: v, Authenticate: tokens.Authenticate, BasePath: basePath})
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
	doc, err := description()
	if err != nil {
		s.t.Fatal(err)
	}
	c := client.Config{URL: s.url + basePath, Token: client.Static(s.token(p)),
		Transport: &openapi.Transport{Document: doc, Base: basePath, Tell: func(err error) { s.t.Errorf("openapi.json: %v", err) }}}
	if change != nil {
		change(&c)
	}
	out, err := client.New(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}
