package assets

import (
	"context"
	"fmt"

	"github.com/vitrine-go/vitrine"
)

// ChangeAssetsRequest says what to add to a library and what to remove from it. Assets are removed
// first, so an asset that is in both lists is removed and added as a new one.
type ChangeAssetsRequest struct {
	Add    []NewAsset `json:"add"`
	Remove []string   `json:"remove"` // ids of assets
}

// ChangedAssets is the result of a ChangeAssetsRequest.
type ChangedAssets struct {
	Added   []Asset  `json:"added"`   // each once, in the order of their first mention in Add
	Removed []string `json:"removed"` // ids; an id of no asset that the caller sees is left out
}

// AppendJSON appends the result as it is over HTTP.
func (c ChangedAssets) AppendJSON(b []byte) []byte {
	b = appendAssets(append(b, `{"added":[`...), c.Added)
	b = append(b, `],"removed":[`...)
	for i, id := range c.Removed {
		b = appendString(appendComma(b, i), id)
	}
	return append(b, `]}`...)
}

// MarshalJSON gives the same bytes as AppendJSON.
func (c ChangedAssets) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// appendAssets appends the items of a list of assets, without its brackets.
func appendAssets(b []byte, list []Asset) []byte {
	for i, a := range list {
		b = a.AppendJSON(appendComma(b, i))
	}
	return b
}

// ChangeAssets removes assets and then adds assets, all or nothing.
//
// An asset is identified by its generator and its foreign id. Adding one that the library has
// already replaces its content, and those of its tags, via and rights that are given. The asset
// keeps its id and its attributes, stays in its folders, and is put into those of the request too.
// So the same request may be sent again: the second time it changes nothing, except that what it
// removes by id is not there any more.
//
// It returns
//
//   - ErrNotFound if the caller does not see a folder of the request;
//   - ErrForbidden if the caller may not edit such a folder, an asset to remove or an asset to
//     replace, or adds an asset to no folder without being a moderator;
//   - ErrConflict if an item names a folder that the asset is not in and leaves out one that it is
//     in. The asset may exist: Error.ID is its id. Or an earlier item of the request adds it:
//     Error.ID is "". Otherwise content that was sent for one folder would also appear in another;
//   - ErrTooLarge if a content is longer than Limits.Content;
//   - ErrInvalid if an item is malformed, the request has more than Limits.Items, the response would
//     be longer than Limits.ResponseBytes, or the assets have more terms than Limits.Terms.
func (s *Service) ChangeAssets(ctx context.Context, by vitrine.Caller, lib Library, in ChangeAssetsRequest) (ChangedAssets, error) {
	// A caller without any right gets that error, whatever the request has.
	if _, err := s.enter(by, lib); err != nil {
		return ChangedAssets{}, err
	}
	sent := size{lists: []listSize{{"/add", len(in.Add)}, {"/remove", len(in.Remove)}}, limit: s.limits.Items}
	if err := sent.check(); err != nil {
		return ChangedAssets{}, err
	}
	drafts := make([]draft, len(in.Add))
	for i, a := range in.Add {
		if err := ctx.Err(); err != nil {
			return ChangedAssets{}, err
		}
		var err error
		if drafts[i], err = a.draft(fmt.Sprintf("/add/%d", i), s.limits); err != nil {
			return ChangedAssets{}, err
		}
		sent.bytes += len(a.Content)
	}
	var out ChangedAssets
	err := s.update(ctx, by, lib, sent, func(req *request) (err error) {
		out = ChangedAssets{}
		if out.Removed, err = req.removeAssets(in.Remove); err != nil {
			return err
		}
		out.Added, err = req.addAssets(drafts)
		return err
	})
	if err != nil {
		return ChangedAssets{}, err
	}
	return out, nil
}

// removeAssets deletes the assets with these ids and returns the ids of those that it has deleted.
// An id of an asset that the caller does not see is left out; an asset that the caller sees and may
// not change is ErrForbidden.
func (req *request) removeAssets(ids []string) ([]string, error) {
	removed := []string{}
	for i, id := range ids {
		if err := req.readAhead(ids, i); err != nil {
			return nil, err
		}
		r, err := req.find(id)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		if !req.editsAsset(req.tree, r.Folders) {
			return nil, forbidden(fmt.Sprintf("/remove/%d", i), "to remove an asset needs edit on one of its folders")
		}
		if err := req.remove(*r); err != nil {
			return nil, err
		}
		removed = append(removed, id)
	}
	return removed, nil
}
