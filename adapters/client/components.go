package client

import (
	"bytes"
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/appsvc"
)

// component is a component as it is answered or sent, as far as its members are known.
type component struct {
	ID          string  `json:"id,omitzero"`
	Name        string  `json:"name"`
	Version     string  `json:"version"`
	Description *string `json:"description"`
	Main        string  `json:"main"`
}

func (c component) component(manifest []byte) appsvc.Component {
	return appsvc.Component{ID: c.ID, Name: c.Name, Version: c.Version, Main: c.Main, Manifest: manifest}
}

// Components returns the latest version of each component with a name after the given one, by name, and
// whether more remain. Manifests are left out.
func (a *Apps) Components(ctx context.Context, after string) (list []appsvc.Component, more bool, err error) {
	var out struct {
		Components []component `json:"components"`
	}
	header, err := a.get(ctx, &out, url.Values(values{}.text("after", after)), "/components/")
	for _, c := range out.Components {
		list = append(list, c.component(nil))
	}
	_, more = next(header, "after")
	return list, more, err
}

// AllComponents walks through the pages.
func (a *Apps) AllComponents(ctx context.Context) iter.Seq2[appsvc.Component, error] {
	return walk("", func(after *string) ([]appsvc.Component, bool, error) {
		list, more, err := a.Components(ctx, *after)
		if more && len(list) > 0 {
			*after = list[len(list)-1].Name
		}
		return list, more, err
	})
}

// CreateComponent stores a version of a component, given as a JSON object. What it returns has the manifest as
// it was sent, and no ID unless that has one.
func (a *Apps) CreateComponent(ctx context.Context, manifest []byte, idempotencyKey string) (appsvc.Component, error) {
	to, err := a.address("/components/")
	if err != nil {
		return appsvc.Component{}, err
	}
	if _, err := a.keyed(ctx, idempotencyKey, request{method: http.MethodPost, url: to}, manifest, nil); err != nil {
		return appsvc.Component{}, err
	}
	var sent component
	if err := json.Unmarshal(manifest, &sent); err != nil { // the service has taken it
		return appsvc.Component{}, err
	}
	kept := jsontext.Value(bytes.Clone(manifest))
	err = kept.Compact()
	return sent.component(kept), err
}

// Component returns the latest version of a component, without its ID and its configSchema.
func (a *Apps) Component(ctx context.Context, name string) (appsvc.Component, error) {
	var out component
	if _, err := a.get(ctx, &out, nil, "/components/%s", name); err != nil {
		return appsvc.Component{}, err
	}
	manifest, err := json.Marshal(out)
	return out.component(manifest), err
}

// DeleteComponent removes every version of a component.
func (a *Apps) DeleteComponent(ctx context.Context, name, idempotencyKey string) error {
	to, err := a.address("/components/%s", name)
	if err != nil {
		return err
	}
	_, err = a.keyed(ctx, idempotencyKey, request{method: http.MethodDelete, url: to}, nil, nil)
	return err
}
