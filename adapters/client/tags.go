package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"

	"github.com/vitrine-go/vitrine/appsvc"
)

// tags is the body of an answer with tags.
type tags struct {
	Tags []struct {
		AppID      string  `json:"appId"`
		Name       string  `json:"name"`
		AppVersion version `json:"appVersion"`
	} `json:"tags"`
	apps
}

func (t tags) page() appsvc.TagPage {
	out := appsvc.TagPage{Apps: t.apps.list()}
	for _, x := range t.Tags {
		out.Tags = append(out.Tags, appsvc.Tag{AppID: x.AppID, Name: x.Name, AppVersion: appsvc.Version(x.AppVersion)})
	}
	return out
}

// Tags returns a page of the tags of an app, by name.
func (a *Apps) Tags(ctx context.Context, in appsvc.ListTags) (appsvc.TagPage, error) {
	q := values{}.text("after", in.After).number("limit", in.Limit).flag("embedApps", in.Embed)
	var out tags
	header, err := a.get(ctx, &out, url.Values(q), "/apps/%s/tags/", in.AppID)
	page := out.page()
	_, page.More = next(header, "after")
	return page, err
}

// AllTags walks through the pages from in.After on.
func (a *Apps) AllTags(ctx context.Context, in appsvc.ListTags) iter.Seq2[appsvc.Tag, error] {
	return walk(in, func(in *appsvc.ListTags) ([]appsvc.Tag, bool, error) {
		page, err := a.Tags(ctx, *in)
		if page.More && len(page.Tags) > 0 {
			in.After = page.Tags[len(page.Tags)-1].Name
		}
		return page.Tags, page.More, err
	})
}

// Tag returns one tag of an app, alone on its page.
func (a *Apps) Tag(ctx context.Context, appID, name string, embed bool) (appsvc.TagPage, error) {
	var out tags
	_, err := a.get(ctx, &out, url.Values(values{}.flag("embedApps", embed)), "/apps/%s/tags/%s", appID, name)
	return out.page(), err
}

// PutTag creates a tag or moves it.
func (a *Apps) PutTag(ctx context.Context, in appsvc.PutTag) (appsvc.TagPage, error) {
	if in.Name == "" {
		return appsvc.TagPage{}, fmt.Errorf("%w: the name of the tag is empty", appsvc.ErrInvalid)
	}
	number, err := a.number(ctx, in.AppID, in.Version)
	if err != nil {
		return appsvc.TagPage{}, err
	}
	to, err := a.address("/apps/%s/tags/%s", in.AppID, in.Name)
	if err != nil {
		return appsvc.TagPage{}, err
	}
	r := request{method: http.MethodPut, url: to, query: url.Values(values{}.flag("embedApps", in.Embed))}
	var out tags
	_, err = a.keyed(ctx, in.IdempotencyKey, r, map[string]string{"appVersion": number}, &out)
	return out.page(), err
}

// DeleteTag removes a tag.
func (a *Apps) DeleteTag(ctx context.Context, appID, name, idempotencyKey string) error {
	to, err := a.address("/apps/%s/tags/%s", appID, name)
	if err != nil {
		return err
	}
	_, err = a.keyed(ctx, idempotencyKey, request{method: http.MethodDelete, url: to}, nil, nil)
	return err
}

// TagsNamed returns the tag of one name of each of the apps, in their order.
func (a *Apps) TagsNamed(ctx context.Context, name string, appIDs []string) ([]appsvc.Tag, error) {
	var out tags
	_, err := a.get(ctx, &out, url.Values{"appId": appIDs}, "/tags/%s", name)
	return out.page().Tags, err
}
