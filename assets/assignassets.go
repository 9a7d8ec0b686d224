package assets

import (
	"context"
	"slices"
)

// AssignAssetsRequest says which assets to take out of a folder and which to put into it. Assets are taken out first.
type AssignAssetsRequest struct {
	Folder string   `json:"-"`      // id; over HTTP in the path
	Assign []string `json:"assign"` // ids of assets
	Remove []string `json:"remove"`
}

// AssignedAssets is the result of an AssignAssetsRequest: the status of each id, in the order of the request.
type AssignedAssets struct {
	Assign []ItemStatus `json:"assign"`
	Remove []ItemStatus `json:"remove"`
}

// The statuses of assets in the result of a request that treats each asset by itself. The numbers are those of HTTP.
const (
	StatusOK        = 200 // the asset is now as the request asks
	StatusInvalid   = 400 // the asset would exceed a limit
	StatusForbidden = 403 // the caller sees it and may not change it
	StatusNotFound  = 404 // the caller sees no such asset
)

// ItemStatus is the status of one asset: StatusOK, StatusInvalid, StatusForbidden or StatusNotFound.
type ItemStatus struct {
	ID     string `json:"id"`
	Status int    `json:"status"`
}

// AssignAssets takes assets out of a folder and puts assets into it. Each asset has a status of its own, and the others are
// changed whatever it is:
//
//   - StatusNotFound: the caller does not see the asset.
//   - StatusForbidden: the asset is to be put into the folder and the caller may not edit it, or it is to be taken out of
//     its only folder and the caller is no moderator. An asset in no folder is visible to every member.
//   - StatusInvalid: the asset would be in more than Limits.AssetFolders folders.
//
// It returns ErrNotFound if the caller does not see the folder, ErrForbidden if the caller may not edit it, and ErrInvalid if
// the assets have more terms than Limits.Terms.
func (s *Service) AssignAssets(ctx context.Context, by Caller, lib Library, in AssignAssetsRequest) (AssignedAssets, error) {
	var out AssignedAssets
	err := s.update(ctx, by, lib, func(ss *request) error {
		n, err := ss.folderToFill(in.Folder)
		if err != nil {
			return err
		}
		if out.Remove, err = ss.eachAsset(in.Remove, func(r Record) (int, error) { return ss.takeOut(r, n.ID) }); err != nil {
			return err
		}
		out.Assign, err = ss.eachAsset(in.Assign, func(r Record) (int, error) { return ss.putInto(r, n.ID) })
		return err
	})
	if err != nil {
		return AssignedAssets{}, err
	}
	return out, nil
}

// folderToFill returns a folder whose assets the caller may change.
func (ss *request) folderToFill(id string) (*node, error) {
	n, err := ss.folderSeen("", id)
	if err == nil && ss.right(n).level < levelEdit {
		err = forbidden("", "to change what is in the folder needs edit on it")
	}
	return n, err
}

// eachAsset calls fn once for each asset that the caller sees, and returns the status of each id.
func (ss *request) eachAsset(ids []string, fn func(Record) (int, error)) ([]ItemStatus, error) {
	out := make([]ItemStatus, len(ids))
	done := make(map[string]int, len(ids))
	for i, id := range ids {
		status, known := done[id]
		if !known {
			r, err := ss.find(id)
			status = StatusNotFound
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

// takeOut takes an asset out of a folder and returns its status.
func (ss *request) takeOut(r Record, folder string) (int, error) {
	switch in := slices.Contains(r.Folders, folder); {
	case !in:
		return StatusOK, nil
	case len(r.Folders) == 1 && !ss.moderator: // in no folder, the asset would be visible to every member
		return StatusForbidden, nil
	}
	r.Folders = slices.DeleteFunc(slices.Clone(r.Folders), func(id string) bool { return id == folder })
	return StatusOK, ss.reindex(r)
}

// putInto puts an asset into a folder and returns its status.
func (ss *request) putInto(r Record, folder string) (int, error) {
	switch in := slices.Contains(r.Folders, folder); {
	case in:
		return StatusOK, nil
	case !ss.editsAsset(ss.tree, r.Folders): // in the folder, its editors could change the asset, and the caller is one of them
		return StatusForbidden, nil
	case len(r.Folders) >= ss.limits.AssetFolders:
		return StatusInvalid, nil
	}
	r.Folders = append(slices.Clip(r.Folders), folder)
	return StatusOK, ss.reindex(r)
}

// reindex stores a record whose folders or attributes have changed.
func (ss *request) reindex(r Record) error {
	x, err := IndexOf(r)
	if err != nil {
		return err
	}
	return ss.put(r, x)
}
