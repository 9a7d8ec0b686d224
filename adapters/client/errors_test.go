package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
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

// sameErrors returns the services of the editor, near and far, on two stores that are alike to the last id.
func sameErrors(t *testing.T) (near, far services) {
	t.Helper()
	make := func() (*appsvc.Service, *assets.Service, *reviews.Service) {
		n := 0
		o := &appsvc.Options{
			Now:    func() time.Time { return time.UnixMilli(1_000_000) },
			NewID:  func() string { n++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) },
			Limits: appsvc.Limits{Tags: 1, Elements: 2, PatchOps: 5},
		}
		db := memory.New()
		return appsvc.New(db, o), assets.New(db, nil), reviews.New(db, nil)
	}
	a, m, v := make()
	near = services{
		a.As(vitrine.Caller{URN: editor.URN, Moderates: editor.Moderates, Components: true}),
		m.As(vitrine.Caller{URN: editor.URN, Moderates: editor.Moderates}),
		v.As(vitrine.Caller{URN: editor.URN, Moderates: editor.Moderates}),
	}
	a, m, v = make()
	h, err := httpapi.New(httpapi.Config{Apps: a, Assets: m, Reviews: v,
		Authenticate: func(*http.Request) (httpapi.Principal, error) { return editor, nil }})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := client.New(client.Config{URL: s.URL, Token: client.Static("x")})
	if err != nil {
		t.Fatal(err)
	}
	return near, services{c.Apps, c.Assets, c.Reviews}
}

// fails returns calls of a method of apps that differ in their requests.
func fails[In, Out any](
	method func(appService, context.Context, In) (Out, error),
) func(In) func(context.Context, services) error {
	return func(in In) func(context.Context, services) error {
		return func(ctx context.Context, s services) error { return second(method(s.apps, ctx, in)) }
	}
}

// TestErrorsAreTheSameNearAndFar compares errors as values: kind, code, pointer, parameter, reason, violations and
// version.
func TestErrorsAreTheSameNearAndFar(t *testing.T) {
	const id, absent = "00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-0000000000ff"
	poll := appsvc.ComponentRef{Name: "poll", Version: "1.0.0"}
	lib := assets.Library{Network: "example.test", ID: "example.test"}
	patch := func(ops string) func(context.Context, services) error {
		return func(ctx context.Context, s services) error {
			_, err := s.apps.Patch(ctx, id, strings.NewReader(ops))
			return err
		}
	}
	create := fails(appService.CreateApp)
	put := fails(appService.PutTag)
	restore := fails(appService.Restore)
	diff := func(id string, from, to vitrine.Version) func(context.Context, services) error {
		return func(ctx context.Context, s services) error { return second(s.apps.Diff(ctx, id, from, to)) }
	}
	history := fails(appService.ListHistory)
	component := func(manifest string) func(context.Context, services) error {
		return func(ctx context.Context, s services) error {
			_, err := s.apps.CreateComponent(ctx, appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest)})
			return err
		}
	}
	add := func(in ...assets.NewAsset) func(context.Context, services) error {
		return func(ctx context.Context, s services) error {
			_, err := s.assets.ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: in})
			return err
		}
	}
	load := func(network string) func(context.Context, services) error {
		return func(ctx context.Context, s services) error {
			_, err := s.reviews.Import(ctx, reviews.ImportRequest{Network: network, File: strings.NewReader("")})
			return err
		}
	}
	const test = `{"op":"test","path":"/apps/0/version","value":"1"}`
	calls := []struct {
		name string
		call func(context.Context, services) error
	}{
		{"several assets with faults",
			add(assets.NewAsset{Content: []byte(`{"lang":1}`)}, post("1", "x"), post("", "x"),
				post("2", "x", "none"))},
		{"a violation",
			create(appsvc.CreateAppRequest{Title: "x", Groups: []string{network},
				Elements: []appsvc.NewElement{{Component: poll, Config: []byte(`{"question":1,"more":2}`)}}})},
		{"an unknown component",
			create(appsvc.CreateAppRequest{Title: "x", Groups: []string{network},
				Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "x", Version: "1"},
					Config: []byte(`{}`)}}})},
		{"no title", create(appsvc.CreateAppRequest{Groups: []string{network}})},
		{"no groups", create(appsvc.CreateAppRequest{Title: "x"})},
		{"a group that is no URN", create(appsvc.CreateAppRequest{Title: "x", Groups: []string{network, "x"}})},
		{"a foreign group",
			create(appsvc.CreateAppRequest{Title: "x", Groups: []string{network, "urn:vitrine:other.test"}})},
		{"too many elements",
			create(appsvc.CreateAppRequest{Title: "x", Groups: []string{network},
				Elements: []appsvc.NewElement{{Component: poll, Config: []byte(`{}`)},
					{Component: poll, Config: []byte(`{}`)}, {Component: poll, Config: []byte(`{}`)}}})},
		{"an idempotency key with a space",
			create(appsvc.CreateAppRequest{Title: "x", Groups: []string{network}, IdempotencyKey: "a b"})},
		{"an idempotency key that is too long",
			create(appsvc.CreateAppRequest{Title: "x", Groups: []string{network},
				IdempotencyKey: strings.Repeat("k", 256)})},
		{"a stale version",
			patch(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title",` +
				`"value":"y"}]`)},
		{"no version test", patch(`[{"op":"replace","path":"/apps/0/title","value":"y"}]`)},
		{"a test that fails", patch(`[` + test + `,{"op":"test","path":"/apps/0/title","value":"z"}]`)},
		{"an operation that does not apply", patch(`[` + test + `,{"op":"remove","path":"/apps/0/elements/7"}]`)},
		{"a read-only member", patch(`[` + test + `,{"op":"replace","path":"/apps/0/owner","value":{}}]`)},
		{"a violation in the result",
			patch(`[` + test + `,{"op":"replace","path":"/apps/0/elements/0/config/question","value":""}]`)},
		{"no JSON", patch(`[`)},
		{"too many operations", patch(`[` + strings.Repeat(test+`,`, 5) + test + `]`)},
		{"a tag without a version", put(appsvc.PutTagRequest{AppID: id, Name: "production"})},
		{"a tag without a name", put(appsvc.PutTagRequest{AppID: id, Version: vitrine.Latest})},
		{"a tag with a bad name", put(appsvc.PutTagRequest{AppID: id, Name: "a b", Version: vitrine.Latest})},
		{"a tag of an app that is not there",
			put(appsvc.PutTagRequest{AppID: absent, Name: "production", Version: vitrine.Latest})},
		{"a tag of a version that is not there",
			put(appsvc.PutTagRequest{AppID: id, Name: "draft", Version: vitrine.NewVersion(7)})},
		{"one tag too many", put(appsvc.PutTagRequest{AppID: id, Name: "production", Version: vitrine.Latest})},
		{"a restore without a version", restore(appsvc.RestoreRequest{AppID: id})},
		{"a restore without an app", restore(appsvc.RestoreRequest{Version: vitrine.Latest})},
		{"a restore of a version that is not there",
			restore(appsvc.RestoreRequest{AppID: id, Version: vitrine.NewVersion(7)})},
		{"a restore of an app that is not there",
			restore(appsvc.RestoreRequest{AppID: absent, Version: vitrine.Latest})},
		{"a component that exists",
			component(`{"name":"poll","version":"1.0.0","main":"https://x.test/","configSchema":{}}`)},
		{"a component without a name", component(`{"version":"1.0.0","main":"https://x.test/","configSchema":{}}`)},
		{"a schema that is none",
			component(`{"name":"x","version":"1.0.0","main":"https://x.test/","configSchema":{"type":7}}`)},
		{"an app that is not there", func(ctx context.Context, s services) error {
			_, err := s.apps.App(ctx, absent)
			return err
		}},
		{"a diff without a version", diff(id, vitrine.NewVersion(0), vitrine.Version{})},
		{"a diff from a version that is not there", diff(id, vitrine.NewVersion(7), vitrine.NewVersion(0))},
		{"a diff to a version that is not there", diff(id, vitrine.Latest, vitrine.NewVersion(7))},
		{"a diff of an app that is not there", diff(absent, vitrine.Latest, vitrine.Latest)},
		{"a page of 501 entries", history(appsvc.ListHistoryRequest{AppID: id, Limit: 501})},
		{"a history after no cursor", history(appsvc.ListHistoryRequest{AppID: id, After: "x"})},
		{"the history of an app that is not there", history(appsvc.ListHistoryRequest{AppID: absent})},
		{"a version that is not there", func(ctx context.Context, s services) error {
			_, err := s.apps.Version(ctx, id, vitrine.NewVersion(7))
			return err
		}},
		{"a limit that is too large", fails(appService.ListApps)(appsvc.ListAppsRequest{Limit: 501})},
		{"a list that continues nowhere", fails(appService.ListApps)(appsvc.ListAppsRequest{After: "x"})},
		{"a tag that is not there", func(ctx context.Context, s services) error {
			_, err := s.apps.TaggedApp(ctx, id, "none")
			return err
		}},
		{"a component that is not there", func(ctx context.Context, s services) error {
			_, err := s.apps.Component(ctx, "none")
			return err
		}},
		{"an asset without an id", add(assets.NewAsset{Generator: assets.Generator{ID: "g"}, Content: []byte(`{}`)})},
		{"an asset in no JSON",
			add(assets.NewAsset{ID: "1", Generator: assets.Generator{ID: "g"}, Content: []byte(`[]`)})},
		{"an asset that is not there", func(ctx context.Context, s services) error {
			_, err := s.assets.Asset(ctx, lib, "none")
			return err
		}},
		{"a folder without a label", func(ctx context.Context, s services) error {
			_, err := s.assets.ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{{}}})
			return err
		}},
		{"a search", func(ctx context.Context, s services) error {
			return second(s.assets.Search(ctx, lib, assets.SearchRequest{Tags: []string{strings.Repeat("t", 129)}}))
		}},
		{"a facet that there is not", func(ctx context.Context, s services) error {
			return second(s.assets.Search(ctx, lib, assets.SearchRequest{Facets: []string{"tag"}}))
		}},
		{"an attribute without a key", func(ctx context.Context, s services) error {
			return second(s.assets.Attributes(ctx, lib, ""))
		}},
		{"a folder that is not there", func(ctx context.Context, s services) error {
			return second(s.assets.ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Delete: []string{"none"}}))
		}},
		{"permissions of a folder that is not there", func(ctx context.Context, s services) error {
			return second(s.assets.ChangePermissions(ctx, lib,
				assets.ChangePermissionsRequest{Folder: "none", Create: []assets.Permission{{Operation: "own"}}}))
		}},
		{"an explanation of nothing", func(ctx context.Context, s services) error {
			return second(s.assets.Explain(ctx, lib, assets.ExplainRequest{}))
		}},
		{"a library that is not there", func(ctx context.Context, s services) error {
			return second(s.assets.Search(ctx, assets.Library{Network: lib.Network, ID: "none"},
				assets.SearchRequest{}))
		}},
		{"a library of another network", func(ctx context.Context, s services) error {
			return second(s.assets.Search(ctx, assets.Library{Network: "other.test", ID: "x"}, assets.SearchRequest{}))
		}},
		{"a check of another name", func(ctx context.Context, s services) error {
			return second(s.apps.CheckComponent(ctx,
				appsvc.CheckComponentRequest{Name: "other",
					Manifest: []byte(`{"name":"poll","version":"2","main":"/x","configSchema":{}}`)}))
		}},
		{"a collection that is not there", func(ctx context.Context, s services) error {
			return second(s.reviews.ListReviews(ctx,
				reviews.ListReviewsRequest{Network: "example.test", Collection: "absent"}))
		}},
		{"collections after no cursor", func(ctx context.Context, s services) error {
			return second(s.reviews.ListCollections(ctx, reviews.ListCollectionsRequest{After: "x"}))
		}},
		{"reviews of a foreign network", load("other.test")},
		{"reviews of what is no network", load("a b")},
	}
	near, far := sameErrors(t)
	for _, s := range []services{near, far} {
		must(t, component(`{"name":"poll","version":"1.0.0","main":"https://x.test/",`+
			`"configSchema":{"type":"object","required":["answer"],"additionalProperties":false,`+
			`"properties":{"answer":{},"question":{"type":"string","minLength":1}}}}`)(t.Context(), s))
		must(t, create(appsvc.CreateAppRequest{Title: "x", Groups: []string{network},
			Elements: []appsvc.NewElement{{Component: poll, Config: []byte(`{"answer":1,"question":"Tea?"}`)}}})(
			t.Context(), s))
		must(t, patch(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title",`+
			`"value":"y"}]`)(t.Context(), s))
		must(t, put(appsvc.PutTagRequest{AppID: id, Name: "draft", Version: vitrine.NewVersion(1)})(t.Context(), s))
	}
	for _, c := range calls {
		want, have := valueOf(c.call(t.Context(), near)), valueOf(c.call(t.Context(), far))
		if want == nil || !reflect.DeepEqual(have, want) {
			t.Errorf("%s:\nfar  %+v\nnear %+v", c.name, have, want)
		}
	}
}

// valueOf returns the error of a domain that err wraps, or err itself.
func valueOf(err error) any {
	if e, ok := errors.AsType[*vitrine.Error](err); ok {
		return *e
	}
	if e, ok := errors.AsType[*vitrine.Error](err); ok {
		return *e
	}
	if e, ok := errors.AsType[*vitrine.Error](err); ok {
		return *e
	}
	if err == nil {
		return nil
	}
	return err.Error()
}
