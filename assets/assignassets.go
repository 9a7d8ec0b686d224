package assets

import (
	"context"
	"slices"
)

// AssignAssetsRequest says which assets to take out of a folder and which to put into it, done in this
// order.
type AssignAssetsRequest struct {
	Folder string   `json:"-"`      // id; over HTTP in the path
	Assign []string `json:"assign"` // ids of assets
	Remove []string `json:"remove"`
}

// AssignedAssets is what became of it: one item for each id of the request, in its order.
type AssignedAssets struct {
	Assign []ItemStatus `json:"assign"`
	Remove []ItemStatus `json:"remove"`
}

// What became of one asset of a request that judges each asset by itself. The numbers are those of HTTP.
const (
	StatusOK        = 200 // it is as the request says
	StatusInvalid   = 400 // it would break a limit
	StatusForbidden = 403 // the caller sees it and may not change it
	StatusNotFound  = 404 // the caller sees no such asset
)

// ItemStatus is what became of one asset: StatusOK, StatusInvalid, StatusForbidden or StatusNotFound.
type ItemStatus struct {
	ID     string `json:"id"`
	Status int    `json:"status"`
}

// AssignAssets puts assets into a folder and takes them out of it. ErrNotFound for a folder that
// the caller does not see, ErrForbidden where it may not edit it. An asset that the caller does not see
// is 404 by itself, putting in one that the caller may not change 403, taking one out of its last folder
// 403 for all but moderators, and putting one into more than Limits.AssetFolders 400. ErrInvalid when the
// assets have more terms than Limits.Terms.
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

// eachAsset calls fn with the assets that the caller sees, with each once, and returns the status
// of each id.
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

func (ss *request) takeOut(r Record, folder string) (int, error) {
	switch in := slices.Contains(r.Folders, folder); {
	case !in:
		return StatusOK, nil
	case len(r.Folders) == 1 && !ss.moderator: // it would be in no folder then, and so seen by all
		return StatusForbidden, nil
	}
	r.Folders = slices.DeleteFunc(slices.Clone(r.Folders), func(id string) bool { return id == folder })
	return StatusOK, ss.reindex(r)
}

func (ss *request) putInto(r Record, folder string) (int, error) {
	switch in := slices.Contains(r.Folders, folder); {
	case in:
		return StatusOK, nil
	case !ss.editsAsset(ss.tree, r.Folders): // the editors of the folder, the caller among them, could change it then
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
