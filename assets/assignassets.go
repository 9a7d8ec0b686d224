package assets

import (
	"context"
	"slices"
)

// AssignAssetsRequest says which assets to take out of a folder and which to put into it. Assets
// are taken out first.
type AssignAssetsRequest struct {
	Folder string                           `json:"-"`      // id; over HTTP in the path
	Assign []string                         `json:"assign"` // ids of assets to put into the folder
	Remove []string                         `json:"remove"` // ids of assets to take out of it
	Fill   func(*AssignAssetsRequest) error `json:"-"`      // as in ChangeAssetsRequest
}

// AssignedAssets is the result of an AssignAssetsRequest: the status of each id, in the order of
// the request.
type AssignedAssets struct {
	Assign []ItemStatus `json:"assign"`
	Remove []ItemStatus `json:"remove"`
}

// AssignAssets takes assets out of a folder and puts assets into it. Each asset has a status of its
// own, and one that cannot be changed does not keep the others from being changed:
//
//   - 200: the asset is in the folder, or not in it any more, as the request asks. It may have
//     been so before.
//   - 404: the caller does not see the asset.
//   - 403: the asset is to be put into the folder and the caller may not change it, or
//     it is to be taken out of its only folder and the caller is no moderator. An asset in no
//     folder is visible to every member.
//   - 400: the asset would be in more than Limits.AssetFolders folders.
//
// It returns ErrNotFound if the caller does not see the folder, ErrForbidden if the caller may not
// edit it, and ErrInvalid if the request has more ids than Limits.AssetIDs, or the assets have more
// terms than Limits.Terms.
func (s *Session) AssignAssets(ctx context.Context, lib Library, in AssignAssetsRequest) (AssignedAssets, error) {
	err := fill(ctx, s, lib, &in, in.Fill, func(req *request) error {
		_, err := req.folderToFill("", in.Folder)
		return err
	})
	if err != nil {
		return AssignedAssets{}, err
	}
	sent := size{lists: []listSize{{"/assign", len(in.Assign)}, {"/remove", len(in.Remove)}},
		limit: s.service.limits.AssetIDs}
	return update(ctx, s, lib, sent, func(req *request) (out AssignedAssets, err error) {
		n, err := req.folderToFill("", in.Folder)
		if err != nil {
			return out, err
		}
		out.Remove, err = req.eachAsset(in.Remove, func(r assetRecord) (int, error) { return req.takeOut(r, n.ID) })
		if err != nil {
			return out, err
		}
		out.Assign, err = req.eachAsset(in.Assign, func(r assetRecord) (int, error) { return req.putInto(r, n.ID) })
		return out, err
	})
}

// takeOut takes an asset, which the caller sees, out of a folder, on which the caller has edit. It
// returns the asset's status.
func (req *request) takeOut(r assetRecord, folder string) (int, error) {
	switch in := slices.Contains(r.Folders, folder); {
	case !in:
		return statusOK, nil
	case len(r.Folders) == 1 && !req.moderator: // in no folder, the asset would be visible to every member
		return statusForbidden, nil
	}
	return statusOK,
		req.refile(r, slices.DeleteFunc(slices.Clone(r.Folders), func(id string) bool { return id == folder }))
}

// putInto puts an asset, which the caller sees, into a folder, on which the caller has edit. It
// returns the asset's status.
func (req *request) putInto(r assetRecord, folder string) (int, error) {
	switch in := slices.Contains(r.Folders, folder); {
	case in:
		return statusOK, nil
	// otherwise the caller could change any asset by putting it into this folder first
	case !req.editsAsset(req.tree, r.Folders):
		return statusForbidden, nil
	case len(r.Folders) >= req.limits.AssetFolders:
		return statusInvalid, nil
	}
	return statusOK, req.refile(r, append(slices.Clip(r.Folders), folder))
}

// refile stores an asset in other folders.
func (req *request) refile(r assetRecord, folders []string) error {
	old := r
	r.Folders = folders
	return req.put(old, r, folderTerms(old.Folders), folderTerms(folders))
}

// The statuses of ItemStatus.
const (
	statusOK        = 200
	statusInvalid   = 400
	statusForbidden = 403
	statusNotFound  = 404
)

// ItemStatus is the status of one asset, a number that HTTP has for the same: 200 if the asset is now as the request
// asks, 400 if it would exceed a limit, 403 if the caller sees it and may not change it, 404 if the caller sees no such
// asset.
type ItemStatus struct {
	ID     string `json:"id"`
	Status int    `json:"status"`
}

// eachAsset calls fn for each asset of ids that the caller sees, and returns the status of each id,
// in the order of ids. fn returns the status of its asset. An id that is there several times has
// the same status each time, and fn is called once for it. An error of fn ends the request.
func (req *request) eachAsset(ids []string, fn func(assetRecord) (int, error)) ([]ItemStatus, error) {
	// done has the statuses of the ids before, so that a repeated one is not changed twice.
	out := make([]ItemStatus, len(ids))
	done := make(map[string]int, len(ids))
	for i, id := range ids {
		if err := req.readAhead(ids, i); err != nil {
			return nil, err
		}
		status, known := done[id]
		if !known {
			r, err := req.find(id)
			status = statusNotFound
			if err == nil && r != nil {
				status, err = fn(*r)
			}
			if err != nil {
				return nil, err
			}
			done[id] = status
		}
		out[i] = ItemStatus{id, status}
	}
	return out, nil
}
