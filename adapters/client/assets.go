package client

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// Assets is the asset manager of a server. Its methods are those of *assets.Session, with the same errors; their
// comments say only what is different. Changes are sent once.
type Assets struct {
	remote
	service remote // at Config.URL
}

// libraryPath is path for the addresses of a library.
func libraryPath(lib assets.Library, format string, ids ...string) string {
	return path("//%s/assetLibrary/%s"+format, append([]string{lib.Network, lib.ID}, ids...)...)
}

// change sends a change, which fill completes if it is not nil.
func change[T, In any](
	ctx context.Context, a *Assets, path string, body In, fill func(*In) error, t target,
) (out T, err error) {
	if fill != nil {
		if err := fill(&body); err != nil {
			return out, err
		}
	}
	return send[T](ctx, a.remote, request{method: http.MethodPost, path: path, body: body}, t)
}

// Search finds assets that the caller sees.
func (a *Assets) Search(ctx context.Context, lib assets.Library, in assets.SearchRequest) (assets.SearchPage, error) {
	q := values{}.text("query", in.Query).text("folder", in.Folder).text("folderTree", in.FolderTree).text("generator",
		in.Generator).
		number("limit", in.Limit).text("since", in.Since).text("until", in.Until).text("sort", in.Sort).text("order",
		in.Order).text("foreignId", in.ForeignID)
	q.text("filed", in.Filed).text("author", in.Author).text("lang", in.Lang).text("link", in.Link)
	q["tags"], q["tagsAny"], q["notTags"] = quoted(in.Tags), quoted(in.TagsAny), quoted(in.NotTags)
	q["attribute"], q["notGenerator"] = in.Attributes, in.NotGenerators
	q.number("facetLimit", in.FacetLimit)
	for name, at := range map[string]time.Time{"from": in.CreatedFrom, "to": in.CreatedBefore} {
		if !at.IsZero() {
			q.text(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	q.list("in", in.In).list("type", in.Types).list("facets", quoted(in.Facets))
	if in.NoAlt {
		q.text("alt", "missing")
	}
	if in.Typos {
		q.text("typos", "1")
	}
	if in.Via != nil {
		q.text("via", strconv.FormatInt(*in.Via, 10))
	}
	if in.Rights != nil {
		q.text("rights", strconv.FormatInt(*in.Rights, 10))
	}
	return get[assets.SearchPage](ctx, a.remote, libraryPath(lib, "/assets"), q, object("assets"))
}

// quoted returns items in the form that they have in a list of the query: an item that has a comma, or begins with a
// quote, becomes a JSON string.
func quoted(list []string) (out []string) {
	for _, item := range list {
		if strings.Contains(item, ",") || strings.HasPrefix(item, `"`) {
			item = string(strictjson.AppendString(nil, item))
		}
		out = append(out, item)
	}
	return out
}

// AllAssets yields what a search finds, from the page that the request asks for on. It yields every asset once, also
// while others are added.
func (a *Assets) AllAssets(
	ctx context.Context, lib assets.Library, in assets.SearchRequest,
) iter.Seq2[assets.Asset, error] {
	in.Facets = nil // they would be counted for each page
	cursor := ""
	return paging.All(&cursor, func() (vitrine.Page[assets.Asset], error) {
		page, err := a.Search(ctx, lib, in.From(cursor))
		return vitrine.Page[assets.Asset]{Items: page.Assets, Next: in.Following(page)}, err
	})
}

// ChangeAssets removes and then adds assets, all or nothing. It can be called again if no response arrived, as adding
// is idempotent.
func (a *Assets) ChangeAssets(
	ctx context.Context, lib assets.Library, in assets.ChangeAssetsRequest,
) (assets.ChangedAssets, error) {
	return change[assets.ChangedAssets](ctx, a, libraryPath(lib, "/assets"), in, in.Fill, object("added"))
}

// Asset returns one asset.
func (a *Assets) Asset(ctx context.Context, lib assets.Library, id string) (assets.Asset, error) {
	return get[assets.Asset](ctx, a.remote, libraryPath(lib, "/asset/%s", id), nil, object("id"))
}

// Explain tells what the caller may do with an asset or a folder, and by which rule.
func (a *Assets) Explain(
	ctx context.Context, lib assets.Library, in assets.ExplainRequest,
) (assets.Explanation, error) {
	q := values{}.text("asset", in.Asset).text("folder", in.Folder)
	if in.About != nil {
		q["user"], q["role"], q["group"] = []string{in.About.URN}, in.About.Roles, in.About.Groups
	}
	return get[assets.Explanation](ctx, a.remote, libraryPath(lib, "/explain"), q, object("view"))
}

// AssignAssets takes assets out of a folder and puts assets into it.
func (a *Assets) AssignAssets(
	ctx context.Context, lib assets.Library, in assets.AssignAssetsRequest,
) (assets.AssignedAssets, error) {
	return change[assets.AssignedAssets](ctx, a, libraryPath(lib, "/folder/%s/assets", in.Folder), in, in.Fill,
		object("assign"))
}

// Attributes returns the distinct values that assets have for a key.
func (a *Assets) Attributes(ctx context.Context, lib assets.Library, key string) ([]assets.Attribute, error) {
	return get[[]assets.Attribute](ctx, a.remote, libraryPath(lib, "/attributes"), values{"key": {key}},
		value("attributes"))
}

// ChangeAttributes changes the attributes of assets, each checked by itself.
func (a *Assets) ChangeAttributes(
	ctx context.Context, lib assets.Library, in assets.ChangeAttributesRequest,
) (assets.ChangedAttributes, error) {
	return change[assets.ChangedAttributes](ctx, a, libraryPath(lib, "/attributes"), in, in.Fill, object("result"))
}

// ListFolders returns a page of the folders that the caller sees, by label.
func (a *Assets) ListFolders(
	ctx context.Context, lib assets.Library, in assets.ListFoldersRequest,
) (page assets.FolderPage, err error) {
	q := values{"id": in.IDs, "path": in.Paths}.text("label", in.Label).flag("deleted", in.Deleted).number("limit",
		in.Limit).text("since", in.After).text("until", in.Before)
	var body struct {
		Folders   []assets.Folder   `json:"folders"`
		Ancestors []assets.Ancestor `json:"ancestors"`
	}
	header, err := a.call(ctx, reading(libraryPath(lib, "/folders"), q), object("folders"), &body)
	page.Items, page.Next, page.Ancestors = body.Folders, next(header, "since"), body.Ancestors
	return page, err
}

// AllFolders yields the folders from the page that the request asks for on.
func (a *Assets) AllFolders(
	ctx context.Context, lib assets.Library, in assets.ListFoldersRequest,
) iter.Seq2[assets.Folder, error] {
	cursor := ""
	return paging.All(&cursor, func() (vitrine.Page[assets.Folder], error) {
		page, err := a.ListFolders(ctx, lib, in.From(cursor))
		return page.Page, err
	})
}

// Folder returns one folder.
func (a *Assets) Folder(ctx context.Context, lib assets.Library, id string) (assets.Folder, error) {
	return get[assets.Folder](ctx, a.remote, libraryPath(lib, "/folder/%s", id), nil, value("folder"))
}

// ChangeFolders creates, updates and deletes folders, all or nothing, and then purges deleted ones.
func (a *Assets) ChangeFolders(
	ctx context.Context, lib assets.Library, in assets.ChangeFoldersRequest,
) (assets.ChangedFolders, error) {
	return change[assets.ChangedFolders](ctx, a, libraryPath(lib, "/folders"), in, in.Fill, object("folders"))
}

// Permissions returns the permissions that a folder itself has.
func (a *Assets) Permissions(ctx context.Context, lib assets.Library, folder string) ([]assets.Permission, error) {
	return get[[]assets.Permission](ctx, a.remote, libraryPath(lib, "/folder/%s/permissions", folder), nil,
		value("permissions"))
}

// ChangePermissions changes the permissions of a folder and returns those it has then.
func (a *Assets) ChangePermissions(
	ctx context.Context, lib assets.Library, in assets.ChangePermissionsRequest,
) ([]assets.Permission, error) {
	return change[[]assets.Permission](ctx, a, libraryPath(lib, "/folder/%s/permissions", in.Folder), in, in.Fill,
		value("permissions"))
}
