package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/vitrine-go/vitrine/assets"
)

// Assets is the asset manager (contract, section 4.2). Its methods are those of assets.Service, with the
// same errors; they add only what they say. Changes are sent once.
type Assets struct{ remote }

// inLibrary begins the addresses of a library.
const inLibrary = "//%s/assetLibrary/%s"

// read reads something of a library.
func (a *Assets) read(ctx context.Context, out any, query url.Values, lib assets.Library, format string, ids ...string) error {
	_, err := a.get(ctx, out, query, inLibrary+format, append([]string{lib.Network, lib.ID}, ids...)...)
	return err
}

// change changes something of a library.
func (a *Assets) change(ctx context.Context, body, out any, lib assets.Library, format string, ids ...string) error {
	to, err := a.address(inLibrary+format, append([]string{lib.Network, lib.ID}, ids...)...)
	if err != nil {
		return err
	}
	_, err = a.write(ctx, request{method: http.MethodPost, url: to}, body, out)
	return err
}

// Search finds assets that the caller sees (A1).
func (a *Assets) Search(ctx context.Context, lib assets.Library, in assets.Search) (assets.Page, error) {
	q := values{}.text("query", in.Query).text("folder", in.Folder).text("folderTree", in.FolderTree).text("generator", in.Generator).
		number("limit", in.Limit).text("since", in.Since).text("until", in.Until).text("order", string(in.Order))
	for _, tag := range in.Tags {
		q.text("tags", tag)
	}
	if in.Via != nil {
		q.text("via", strconv.FormatInt(*in.Via, 10))
	}
	if in.Rights != nil {
		q.text("rights", strconv.FormatInt(*in.Rights, 10))
	}
	var out struct {
		Assets []asset `json:"assets"`
		Paging struct {
			Prev    string `json:"prev"`
			HasPrev bool   `json:"hasPrev"`
			Next    string `json:"next"`
			HasNext bool   `json:"hasNext"`
			Total   int64  `json:"total"`
		} `json:"paging"`
	}
	err := a.read(ctx, &out, url.Values(q), lib, "/assets")
	return assets.Page{Assets: assetsOf(out.Assets), Paging: assets.Paging(out.Paging)}, err
}

// AllAssets walks through the pages of a search: towards newer assets when it is ascending, else towards
// older ones. It meets every asset once, also while others are added.
func (a *Assets) AllAssets(ctx context.Context, lib assets.Library, in assets.Search) iter.Seq2[assets.Asset, error] {
	return walk(in, func(in *assets.Search) ([]assets.Asset, bool, error) {
		page, err := a.Search(ctx, lib, *in)
		if in.Order == assets.Ascending || in.Since != "" {
			in.Since = page.Paging.Next
			return page.Assets, page.Paging.HasNext, err
		}
		in.Until = page.Paging.Prev
		return page.Assets, page.Paging.HasPrev, err
	})
}

// ChangeAssets removes and then adds assets, all or nothing (A2). It can be called again when no
// answer came, as adding is idempotent.
func (a *Assets) ChangeAssets(ctx context.Context, lib assets.Library, in assets.ChangeAssets) (assets.ChangedAssets, error) {
	var out struct {
		Added   []asset  `json:"added"`
		Removed []string `json:"removed"`
	}
	err := a.change(ctx, newAssets(in), &out, lib, "/assets")
	return assets.ChangedAssets{Added: assetsOf(out.Added), Removed: out.Removed}, err
}

// Asset returns one asset (A3).
func (a *Assets) Asset(ctx context.Context, lib assets.Library, id string) (assets.Asset, error) {
	var out asset
	err := a.read(ctx, &out, nil, lib, "/asset/%s", id)
	return out.Asset, err
}

// AssignAssets takes assets out of a folder and puts assets into it (A9).
func (a *Assets) AssignAssets(ctx context.Context, lib assets.Library, folder string, in assets.AssignAssets) (assets.AssignedAssets, error) {
	var out assets.AssignedAssets
	err := a.change(ctx, in, &out, lib, "/folder/%s/assets", folder)
	return out, err
}

// Attributes returns the distinct values that assets have for a key (A10).
func (a *Assets) Attributes(ctx context.Context, lib assets.Library, key string) ([]assets.Attribute, error) {
	var out struct {
		Attributes []assets.Attribute `json:"attributes"`
	}
	err := a.read(ctx, &out, url.Values{"key": {key}}, lib, "/attributes")
	return out.Attributes, err
}

// ChangeAttributes changes the attributes of assets, each judged by itself (A11).
func (a *Assets) ChangeAttributes(ctx context.Context, lib assets.Library, in assets.ChangeAttributes) (assets.ChangedAttributes, error) {
	var out struct {
		Result []int   `json:"result"`
		Assets []asset `json:"assets"`
	}
	err := a.change(ctx, in, &out, lib, "/attributes")
	return assets.ChangedAttributes{Result: out.Result, Assets: assetsOf(out.Assets)}, err
}
