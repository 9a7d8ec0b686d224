package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// ListComponents returns a page of components, each as its latest version, by name. Manifests are left
// out.
func (a *Apps) ListComponents(
	ctx context.Context, in appsvc.ListComponentsRequest,
) (vitrine.Page[appsvc.Component], error) {
	return list[appsvc.Component](ctx, a.remote, "/components/", values{}.text("after", in.After), "components",
		"after")
}

// AllComponents walks through the pages from in.After on.
func (a *Apps) AllComponents(ctx context.Context, in appsvc.ListComponentsRequest) iter.Seq2[appsvc.Component, error] {
	return paging.All(&in.After, func() (vitrine.Page[appsvc.Component], error) { return a.ListComponents(ctx, in) })
}

// CreateComponent stores a version of a component, given as a JSON object. What it returns has the manifest as
// it was sent, no ID unless that has one, and the warnings of its configSchema.
func (a *Apps) CreateComponent(ctx context.Context, in appsvc.CreateComponentRequest) (appsvc.Component, error) {
	text, err := readText(in.Manifest)
	if err != nil {
		return appsvc.Component{}, err
	}
	r := request{method: http.MethodPost, path: "/components/", body: text, key: keyOr(in.IdempotencyKey)}
	made, err := send[struct {
		Warnings []appsvc.SchemaWarning `json:"warnings"`
	}](ctx, a.remote, r, object("url"))
	if err != nil {
		return appsvc.Component{}, err
	}
	var sent appsvc.Component
	err = json.Unmarshal(text, &sent) // never fails: the service has accepted the manifest
	sent.Warnings = made.Warnings
	return sent, err
}

// CheckComponent says which elements would not conform to a component if they had it.
func (a *Apps) CheckComponent(ctx context.Context, in appsvc.CheckComponentRequest) (appsvc.ComponentCheck, error) {
	if in.Fill != nil {
		if err := in.Fill(&in); err != nil {
			return appsvc.ComponentCheck{}, err
		}
	}
	r := request{method: http.MethodPost, path: path("/components/%s/check", in.Name),
		query: values{}.text("after", in.After), body: in.Manifest, reads: true}
	return send[appsvc.ComponentCheck](ctx, a.remote, r, object("broken"))
}

// AllBrokenElements walks through the responses of CheckComponent from in.After on.
func (a *Apps) AllBrokenElements(
	ctx context.Context, in appsvc.CheckComponentRequest,
) iter.Seq2[appsvc.BrokenElement, error] {
	return paging.All(&in.After, func() (vitrine.Page[appsvc.BrokenElement], error) {
		found, err := a.CheckComponent(ctx, in)
		return vitrine.Page[appsvc.BrokenElement]{Items: found.Broken, Next: found.Next}, err
	})
}

// Upgrade brings a version of a component to the apps that use it.
func (a *Apps) Upgrade(ctx context.Context, in appsvc.UpgradeRequest) (vitrine.Page[appsvc.UpgradedApp], error) {
	r := request{method: http.MethodPost, path: path("/components/%s/upgrade", in.Name),
		query: values{}.flag("dryRun", in.DryRun), body: in, reads: in.DryRun}
	return pageOfApps[appsvc.UpgradedApp](ctx, a.remote, r)
}

// Replace replaces a text in the apps that the caller may change.
func (a *Apps) Replace(ctx context.Context, in appsvc.ReplaceRequest) (vitrine.Page[appsvc.UpgradedApp], error) {
	r := request{method: http.MethodPost, path: "/x/replace", query: values{}.flag("dryRun", in.DryRun), body: in,
		reads: in.DryRun}
	return pageOfApps[appsvc.UpgradedApp](ctx, a.remote, r)
}

// pageOfApps returns the page that has the cursor of the next one in its body.
func pageOfApps[Item any](ctx context.Context, s remote, r request) (vitrine.Page[Item], error) {
	out, err := send[struct {
		Apps []Item `json:"apps"`
		Next string `json:"next"`
	}](ctx, s, r, object("apps"))
	return vitrine.Page[Item]{Items: out.Apps, Next: out.Next}, err
}

// Component returns the latest version of a component, without its ID and its configSchema.
func (a *Apps) Component(ctx context.Context, name string) (appsvc.Component, error) {
	return get[appsvc.Component](ctx, a.remote, path("/components/%s", name), nil, object("name"))
}

// DeleteComponent removes every version of a component.
func (a *Apps) DeleteComponent(ctx context.Context, in appsvc.DeleteComponentRequest) error {
	return a.do(ctx,
		request{method: http.MethodDelete, path: path("/components/%s", in.Name), key: keyOr(in.IdempotencyKey)})
}

// ListComponentVersions returns a page of the versions of a component, the one created last first.
func (a *Apps) ListComponentVersions(
	ctx context.Context, in appsvc.ListComponentVersionsRequest,
) (vitrine.Page[appsvc.Component], error) {
	q := values{}.page(in.After, in.Limit)
	return list[appsvc.Component](ctx, a.remote, path("/components/%s/versions/", in.Name), q, "components", "after")
}

// AllComponentVersions yields the versions of a component from in.After on, page by page.
func (a *Apps) AllComponentVersions(
	ctx context.Context, in appsvc.ListComponentVersionsRequest,
) iter.Seq2[appsvc.Component, error] {
	return paging.All(&in.After, func() (vitrine.Page[appsvc.Component], error) {
		return a.ListComponentVersions(ctx, in)
	})
}

// ComponentVersion returns one version of a component, with its manifest as it was given.
func (a *Apps) ComponentVersion(ctx context.Context, name, version string) (appsvc.Component, error) {
	return get[appsvc.Component](ctx, a.remote, path("/components/%s/versions/%s", name, version), nil, object("name"))
}
