package assets

import (
	"context"
	"net/http"
	"slices"
)

// AssignAssets says which assets to take out of a folder and which to put into it (A9), done in this
// order.
type AssignAssets struct {
	Assign []string `json:"assign"` // ids of assets
	Remove []string `json:"remove"`
}

// AssignedAssets is what became of it: one item for each id of the request, in its order.
type AssignedAssets struct {
	Assign []ItemStatus `json:"assign"`
	Remove []ItemStatus `json:"remove"`
}

// ItemStatus is what became of one asset: an HTTP status, of which 200 is success.
type ItemStatus struct {
	ID     string `json:"id"`
	Status int    `json:"status"`
}

// AssignAssets puts assets into a folder and takes them out of it (A9). ErrNotFound for a folder that
// the caller does not see, ErrForbidden where it may not edit it. An asset that the caller does not see
// is 404 by itself, taking one out of its last folder 403 for all but moderators, and putting one into
// more than Limits.AssetFolders 400. ErrInvalid when the assets have more terms than Limits.Terms.
func (s *Service) AssignAssets(ctx context.Context, by Caller, lib Library, folder string, in AssignAssets) (AssignedAssets, error) {
	var out AssignedAssets
	err := s.update(ctx, by, lib, func(ss *session) error {
		n, err := ss.folderSeen("folder", folder)
		if err != nil {
			return err
		}
		if ss.right(n).level < levelEdit {
			return errForbidden("folder", "to change what is in it needs edit on it")
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

// eachAsset calls fn with the assets that the caller sees, with each once, and returns the status
// of each id.
func (ss *session) eachAsset(ids []string, fn func(Record) (int, error)) ([]ItemStatus, error) {
	out := make([]ItemStatus, len(ids))
	done := make(map[string]int, len(ids))
	for i, id := range ids {
		status, known := done[id]
		if !known {
			r, err := ss.find(id)
			status = http.StatusNotFound
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

func (ss *session) takeOut(r Record, folder string) (int, error) {
	switch in := slices.Contains(r.Folders, folder); {
	case !in:
		return http.StatusOK, nil
	case len(r.Folders) == 1 && !ss.moderator: // it would be in no folder then, and so seen by all
		return http.StatusForbidden, nil
	}
	r.Folders = slices.DeleteFunc(slices.Clone(r.Folders), func(id string) bool { return id == folder })
	return http.StatusOK, ss.reindex(r)
}

func (ss *session) putInto(r Record, folder string) (int, error) {
	if slices.Contains(r.Folders, folder) {
		return http.StatusOK, nil
	}
	if len(r.Folders) >= ss.limits.AssetFolders {
		return http.StatusBadRequest, nil
	}
	r.Folders = append(slices.Clip(r.Folders), folder)
	return http.StatusOK, ss.reindex(r)
}

// reindex stores a record whose folders or attributes have changed.
func (ss *session) reindex(r Record) error {
	x, err := r.Index()
	if err != nil {
		return err
	}
	return ss.put(r, x)
}
