package client

import (
	"bytes"
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// component is a component as it is answered or sent, as far as its members are known.
type component struct {
	ID          string  `json:"id,omitzero"`
	Name        string  `json:"name"`
	Version     string  `json:"version"`
	Description *string `json:"description"`
	Main        string  `json:"main"`
}

// component returns c in the type of package appsvc.
func (c component) component(manifest []byte) appsvc.Component {
	return appsvc.Component{ID: c.ID, Name: c.Name, Version: c.Version, Main: c.Main, Manifest: manifest}
}

// ListComponents returns a page of components, each as its latest version, by name. Manifests are left
// out.
func (a *Apps) ListComponents(ctx context.Context, in appsvc.ListComponentsRequest) (vitrine.Page[appsvc.Component], error) {
	short, err := list[component](ctx, a.remote, "components", "after", values{}.text("after", in.After), "/components/")
	page := vitrine.Page[appsvc.Component]{Next: short.Next}
	for _, c := range short.Items {
		page.Items = append(page.Items, c.component(nil))
	}
	return page, err
}

// AllComponents walks through the pages from in.After on.
func (a *Apps) AllComponents(ctx context.Context, in appsvc.ListComponentsRequest) iter.Seq2[appsvc.Component, error] {
	return all(ctx, in, a.ListComponents, func(in *appsvc.ListComponentsRequest) *string { return &in.After })
}

// CreateComponent stores a version of a component, given as a JSON object. What it returns has the manifest as
// it was sent, and no ID unless that has one.
func (a *Apps) CreateComponent(ctx context.Context, in appsvc.CreateComponentRequest) (appsvc.Component, error) {
	if err := a.keyed(ctx, in.IdempotencyKey, request{method: http.MethodPost}, in.Manifest, nil, "/components/"); err != nil {
		return appsvc.Component{}, err
	}
	var sent component
	if err := json.Unmarshal(in.Manifest, &sent); err != nil { // not expected: the service has accepted the manifest
		return appsvc.Component{}, err
	}
	kept := jsontext.Value(bytes.Clone(in.Manifest))
	err := kept.Compact()
	return sent.component(kept), err
}

// CheckComponent says which elements would not conform to a component if they had it.
func (a *Apps) CheckComponent(ctx context.Context, in appsvc.CheckComponentRequest) (appsvc.ComponentCheck, error) {
	var out appsvc.ComponentCheck
	r := request{method: http.MethodPost, query: url.Values(values{}.text("after", in.After)), again: true, readOnly: true}
	err := a.write(ctx, r, in.Manifest, object("broken", &out), "/components/%s/check", in.Name)
	return out, err
}

// AllBrokenElements walks through the answers of CheckComponent from in.After on.
func (a *Apps) AllBrokenElements(ctx context.Context, in appsvc.CheckComponentRequest) iter.Seq2[appsvc.BrokenElement, error] {
	return paging.Sparse(in.After, func(after string) ([]appsvc.BrokenElement, string, error) {
		in.After = after
		found, err := a.CheckComponent(ctx, in)
		return found.Broken, found.Next, err
	})
}

// Component returns the latest version of a component, without its ID and its configSchema.
func (a *Apps) Component(ctx context.Context, name string) (appsvc.Component, error) {
	var out component
	if _, err := a.get(ctx, object("name", &out), nil, "/components/%s", name); err != nil {
		return appsvc.Component{}, err
	}
	manifest, err := json.Marshal(out)
	return out.component(manifest), err
}

// DeleteComponent removes every version of a component.
func (a *Apps) DeleteComponent(ctx context.Context, in appsvc.DeleteComponentRequest) error {
	return a.keyed(ctx, in.IdempotencyKey, request{method: http.MethodDelete}, nil, nil, "/components/%s", in.Name)
}

// manifest is a component as it is answered with all of its members.
type manifest struct{ appsvc.Component }

// UnmarshalJSON reads the members that are known, and keeps the text.
func (m *manifest) UnmarshalJSON(text []byte) error {
	var known component
	err := json.Unmarshal(text, &known)
	m.Component = known.component(bytes.Clone(text))
	return err
}

// ListComponentVersions returns a page of the versions of a component, the one created last first.
func (a *Apps) ListComponentVersions(ctx context.Context, in appsvc.ListComponentVersionsRequest) (vitrine.Page[appsvc.Component], error) {
	q := values{}.number("limit", in.Limit).text("after", in.After)
	found, err := list[manifest](ctx, a.remote, "components", "after", q, "/components/%s/versions/", in.Name)
	page := vitrine.Page[appsvc.Component]{Next: found.Next}
	for _, m := range found.Items {
		page.Items = append(page.Items, m.Component)
	}
	return page, err
}

// AllComponentVersions yields the versions of a component from in.After on, page by page.
func (a *Apps) AllComponentVersions(ctx context.Context, in appsvc.ListComponentVersionsRequest) iter.Seq2[appsvc.Component, error] {
	return all(ctx, in, a.ListComponentVersions, func(in *appsvc.ListComponentVersionsRequest) *string { return &in.After })
}

// ComponentVersion returns one version of a component, with its manifest as it was given.
func (a *Apps) ComponentVersion(ctx context.Context, name, version string) (appsvc.Component, error) {
	var out manifest
	_, err := a.get(ctx, object("name", &out), nil, "/components/%s/versions/%s", name, version)
	return out.Component, err
}
