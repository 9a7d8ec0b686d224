package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// tags are the tags of a response, each with its app if the response has the apps too.
type tags []appsvc.Tag

// UnmarshalJSON reads the whole body.
func (t *tags) UnmarshalJSON(text []byte) error {
	var in struct {
		Tags []appsvc.Tag `json:"tags"`
		Apps []appsvc.App `json:"apps"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if len(in.Apps) > 0 && len(in.Apps) != len(in.Tags) {
		return fmt.Errorf("it has %d tags and %d apps", len(in.Tags), len(in.Apps))
	}
	for i := range in.Apps {
		in.Tags[i].App = &in.Apps[i]
	}
	*t = in.Tags
	return nil
}

// ListTags returns a page of the tags of an app, by name.
func (a *Apps) ListTags(ctx context.Context, in appsvc.ListTagsRequest) (vitrine.Page[appsvc.Tag], error) {
	q := values{}.page(in.After, in.Limit).flag("embedApps", in.Embed)
	var out tags
	header, err := a.call(ctx, reading(path("/apps/%s/tags/", in.AppID), q), object("tags"), &out)
	return vitrine.Page[appsvc.Tag]{Items: out, Next: next(header, "after")}, err
}

// AllTags walks through the pages from in.After on.
func (a *Apps) AllTags(ctx context.Context, in appsvc.ListTagsRequest) iter.Seq2[appsvc.Tag, error] {
	return paging.All(&in.After, func() (vitrine.Page[appsvc.Tag], error) { return a.ListTags(ctx, in) })
}

// Tag returns one tag of an app.
func (a *Apps) Tag(ctx context.Context, in appsvc.TagRequest) (appsvc.Tag, error) {
	return a.tag(ctx, reading("", values{}.flag("embedApps", in.Embed)), in.AppID, in.Name, false)
}

// tag sends a request to the address of a tag, and returns the tag in the response. mayRemove says that there may be
// none any more.
func (a *Apps) tag(ctx context.Context, r request, appID, name string, mayRemove bool) (appsvc.Tag, error) {
	r.path = path("/apps/%s/tags/%s", appID, name)
	list, err := send[tags](ctx, a.remote, r, target{member: "tags", whole: true, one: !mayRemove})
	if err != nil {
		return appsvc.Tag{}, err
	}
	return append(list, appsvc.Tag{AppID: appID, Name: name})[0], nil
}

// Deliver returns the versions of apps to which a tag points, as pages get them. It needs a token with tags, and takes
// at most 50 apps. Scripts have their whole address.
func (a *Apps) Deliver(ctx context.Context, tag string, appIDs []string) ([]appsvc.Delivery, error) {
	r := reading(path("/x/public/%s", tag), values{"app": appIDs}.text("lang", a.lang))
	r.keyed = true
	list, err := send[[]delivery](ctx, a.remote, r, value("apps"))
	out := make([]appsvc.Delivery, len(list))
	for i, d := range list {
		if out[i] = d.Delivery; d.Code != "" {
			out[i] = appsvc.Delivery{ID: d.ID,
				Err: &vitrine.Error{Kind: deliveryKinds[d.Code], Code: d.Code, Reason: d.Error}}
		}
	}
	return out, err
}

// ListPublished returns a page of the apps that a tag publishes. It needs a public key with list.
func (a *Apps) ListPublished(
	ctx context.Context, in appsvc.ListPublishedRequest,
) (vitrine.Page[appsvc.Published], error) {
	r := reading(path("/x/public/%s", in.Tag), values{}.page(in.After, in.Limit))
	r.keyed = true
	return pageOfApps[appsvc.Published](ctx, a.remote, r)
}

// AllPublished walks through the pages from in.After on.
func (a *Apps) AllPublished(
	ctx context.Context, in appsvc.ListPublishedRequest,
) iter.Seq2[appsvc.Published, error] {
	return paging.All(&in.After, func() (vitrine.Page[appsvc.Published], error) { return a.ListPublished(ctx, in) })
}

// delivery is the JSON of an appsvc.Delivery.
type delivery struct {
	appsvc.Delivery
	Error string `json:"error"`
	Code  string `json:"code"`
}

// deliveryKinds are the kinds of the errors of single apps, by their codes.
var deliveryKinds = map[string]error{
	vitrine.CodeNotFound: vitrine.ErrNotFound, vitrine.CodeTooLarge: vitrine.ErrTooLarge,
	vitrine.CodeCost: vitrine.ErrUnprocessable,
}

// PutTag creates a tag or moves it.
func (a *Apps) PutTag(ctx context.Context, in appsvc.PutTagRequest) (appsvc.Tag, error) {
	if in.Name == "" {
		return appsvc.Tag{}, fault.Invalid("",
			`"" cannot name a tag: want a letter, digit or underscore, then up to 127 of these, dots and `+
				`hyphens`)
	}
	if in.Fill != nil {
		if err := in.Fill(&in); err != nil {
			return appsvc.Tag{}, err
		}
	}
	if in.Version.IsZero() != in.Rollback {
		return appsvc.Tag{}, errNoVersion
	}
	body := struct {
		namedVersion
		From     appsvc.TagGuard `json:"from,omitzero"`
		Rollback bool            `json:"rollback,omitzero"`
		Note     string          `json:"note,omitzero"`
	}{From: in.From, Rollback: in.Rollback, Note: in.Note}
	if !in.Rollback {
		body.namedVersion = named(in.Version)
	}
	r := request{method: http.MethodPut, query: values{}.flag("embedApps", in.Embed), body: body,
		key: keyOr(in.IdempotencyKey)}
	return a.tag(ctx, r, in.AppID, in.Name, in.Rollback)
}

// DeleteTag removes a tag.
func (a *Apps) DeleteTag(ctx context.Context, in appsvc.DeleteTagRequest) error {
	return a.do(ctx,
		request{method: http.MethodDelete, path: path("/apps/%s/tags/%s", in.AppID, in.Name),
			key: keyOr(in.IdempotencyKey)})
}

// ListTagMoves returns a page of the history of a tag, newest first.
func (a *Apps) ListTagMoves(ctx context.Context, in appsvc.ListTagMovesRequest) (vitrine.Page[appsvc.TagMove], error) {
	q := values{}.number("limit", in.Limit).text("before", in.After)
	return list[appsvc.TagMove](ctx, a.remote, path("/apps/%s/tags/%s/history/", in.AppID, in.Name), q, "moves",
		"before")
}

// AllTagMoves walks through the pages from in.After on.
func (a *Apps) AllTagMoves(ctx context.Context, in appsvc.ListTagMovesRequest) iter.Seq2[appsvc.TagMove, error] {
	return paging.All(&in.After, func() (vitrine.Page[appsvc.TagMove], error) { return a.ListTagMoves(ctx, in) })
}

// TagsNamed returns the tag of one name of each of the apps, in their order.
func (a *Apps) TagsNamed(ctx context.Context, name string, appIDs []string) ([]appsvc.Tag, error) {
	return get[tags](ctx, a.remote, path("/tags/%s", name), values{"appId": appIDs}, object("tags"))
}
