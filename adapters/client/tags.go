package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// tags is the body of an answer with tags, and with the apps that they point to beside them.
type tags struct {
	Tags []appsvc.Tag `json:"tags"`
	apps
}

// list returns the tags, each with its app where the answer has the apps.
func (t tags) list() ([]appsvc.Tag, error) {
	if len(t.Apps) == 0 {
		return t.Tags, nil
	}
	if len(t.Apps) != len(t.Tags) {
		return nil, fmt.Errorf("the answer has %d tags and %d apps", len(t.Tags), len(t.Apps))
	}
	for i := range t.Tags {
		t.Tags[i].App = &t.Apps[i]
	}
	return t.Tags, nil
}

// oneTag is the body of an answer with one tag.
type oneTag struct{ tags }

// check returns an error unless there is one tag, with its app or without.
func (t oneTag) check() error {
	if len(t.Tags) != 1 || len(t.Apps) > 1 {
		return fmt.Errorf("it has %d tags and %d apps, not one tag", len(t.Tags), len(t.Apps))
	}
	return nil
}

// one returns the tag.
func (t oneTag) one() (appsvc.Tag, error) {
	list, err := t.list()
	if err != nil {
		return appsvc.Tag{}, err
	}
	return list[0], nil
}

// ListTags returns a page of the tags of an app, by name.
func (a *Apps) ListTags(ctx context.Context, in appsvc.ListTagsRequest) (vitrine.Page[appsvc.Tag], error) {
	q := values{}.text("after", in.After).number("limit", in.Limit).flag("embedApps", in.Embed)
	var out tags
	header, err := a.get(ctx, &out, url.Values(q), "/apps/%s/tags/", in.AppID)
	if err != nil {
		return vitrine.Page[appsvc.Tag]{}, err
	}
	list, err := out.list()
	return vitrine.Page[appsvc.Tag]{Items: list, Next: next(header, "after")}, err
}

// AllTags walks through the pages from in.After on.
func (a *Apps) AllTags(ctx context.Context, in appsvc.ListTagsRequest) iter.Seq2[appsvc.Tag, error] {
	return paging.All(in.After, func(after string) ([]appsvc.Tag, string, error) {
		in.After = after
		page, err := a.ListTags(ctx, in)
		return page.Items, page.Next, err
	})
}

// Tag returns one tag of an app.
func (a *Apps) Tag(ctx context.Context, in appsvc.TagRequest) (appsvc.Tag, error) {
	var out oneTag
	if _, err := a.get(ctx, &out, url.Values(values{}.flag("embedApps", in.Embed)), "/apps/%s/tags/%s", in.AppID, in.Name); err != nil {
		return appsvc.Tag{}, err
	}
	return out.one()
}

// PutTag creates a tag or moves it.
func (a *Apps) PutTag(ctx context.Context, in appsvc.PutTagRequest) (appsvc.Tag, error) {
	if in.Name == "" {
		return appsvc.Tag{}, here(http.StatusBadRequest, told{Code: vitrine.CodeInvalid,
			Error: `"" cannot name a tag: want a letter, digit or underscore, then up to 127 of these, dots and hyphens`})
	}
	if in.Version.IsZero() {
		return appsvc.Tag{}, a.noVersion()
	}
	to, err := a.address("/apps/%s/tags/%s", in.AppID, in.Name)
	if err != nil {
		return appsvc.Tag{}, err
	}
	body := struct {
		namedVersion
		From appsvc.TagGuard `json:"from,omitzero"`
	}{named(in.Version), in.From}
	if _, err := in.From.MarshalJSON(); err != nil {
		return appsvc.Tag{}, err
	}
	r := request{method: http.MethodPut, url: to, query: url.Values(values{}.flag("embedApps", in.Embed))}
	var out oneTag
	if _, err := a.keyed(ctx, in.IdempotencyKey, r, body, &out); err != nil {
		return appsvc.Tag{}, err
	}
	return out.one()
}

// DeleteTag removes a tag.
func (a *Apps) DeleteTag(ctx context.Context, in appsvc.DeleteTagRequest) error {
	to, err := a.address("/apps/%s/tags/%s", in.AppID, in.Name)
	if err != nil {
		return err
	}
	_, err = a.keyed(ctx, in.IdempotencyKey, request{method: http.MethodDelete, url: to}, nil, nil)
	return err
}

// moves is the body of an answer with moves of a tag.
type moves struct {
	Moves []appsvc.TagMove `json:"moves"`
}

// ListTagMoves returns a page of the history of a tag, newest first.
func (a *Apps) ListTagMoves(ctx context.Context, in appsvc.ListTagMovesRequest) (vitrine.Page[appsvc.TagMove], error) {
	var out moves
	q := values{}.number("limit", in.Limit).text("before", in.After)
	header, err := a.get(ctx, &out, url.Values(q), "/apps/%s/tags/%s/history/", in.AppID, in.Name)
	return vitrine.Page[appsvc.TagMove]{Items: out.Moves, Next: next(header, "before")}, err
}

// AllTagMoves walks through the pages from in.After on.
func (a *Apps) AllTagMoves(ctx context.Context, in appsvc.ListTagMovesRequest) iter.Seq2[appsvc.TagMove, error] {
	return paging.All(in.After, func(after string) ([]appsvc.TagMove, string, error) {
		in.After = after
		page, err := a.ListTagMoves(ctx, in)
		return page.Items, page.Next, err
	})
}

// TagsNamed returns the tag of one name of each of the apps, in their order.
func (a *Apps) TagsNamed(ctx context.Context, name string, appIDs []string) ([]appsvc.Tag, error) {
	var out tags
	_, err := a.get(ctx, &out, url.Values{"appId": appIDs}, "/tags/%s", name)
	return out.Tags, err
}
