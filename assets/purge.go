package assets

import (
	"context"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/storage"
)

// ChangedFolders is the result of PurgeFolders.
type ChangedFolders struct {
	Folders []Folder // as ChangeFolders returns them
	Purged  Purged
}

// Purged says how much a purge has removed for good. Folders counts those below the named ones too. Assets does not count those that are
// also in other folders, which they stay in.
type Purged struct {
	Folders int64 `json:"folders"`
	Assets  int64 `json:"assets"`
}

// PurgeFolders is ChangeFolders, and also says how much was purged.
func (s *Service) PurgeFolders(ctx context.Context, by vitrine.Caller, lib Library, in ChangeFoldersRequest) (ChangedFolders, error) {
	var out ChangedFolders
	err := s.update(ctx, by, lib, in.size(s.limits), func(req *request) error {
		req.cloneTree()
		changed, err := req.changeFolders(in)
		if err != nil {
			return err
		}
		if _, err := req.foldersToPurge(in.Purge); err != nil {
			return err
		}
		changed = unique(changed)
		if out.Folders, err = req.changedFolders(changed); err != nil {
			return err
		}
		return req.storeFolders(changed)
	})
	if err == nil && len(in.Purge) > 0 {
		out.Purged, err = s.purge(ctx, by, lib, in.Purge)
	}
	if err != nil {
		return ChangedFolders{}, err
	}
	return out, nil
}

// purge removes deleted folders in many updates, so that others have their turn: first the assets, then what the index and the files of
// the store have left of them, and then the folders. So a purge that was interrupted can be repeated.
func (s *Service) purge(ctx context.Context, by vitrine.Caller, lib Library, ids []string) (out Purged, err error) {
	end, err := s.turns.take(ctx, by.URN)
	if err != nil {
		return Purged{}, err
	}
	defer end()
	for more := true; more && err == nil; {
		removed := int64(0)
		err = s.updateAs(ctx, by, lib, storage.UpdateOptions{}, func(req *request) (err error) {
			removed, more, err = req.purgeAssets(ids)
			return err
		})
		if err == nil {
			out.Assets += removed
		}
	}
	if err == nil {
		err = s.eraseRemoved(ctx, by, lib)
	}
	if err == nil {
		err = s.updateAs(ctx, by, lib, storage.UpdateOptions{Large: true, Erase: true}, func(req *request) (err error) {
			out.Folders, err = req.removeFolders(ids)
			return err
		})
	}
	return out, err
}

// foldersToPurge returns the folders with these ids and all folders below them, each once, parents first. It returns ErrForbidden if the
// caller is no moderator, ErrNotFound if there is no such folder, and ErrInvalid if one is not deleted.
func (req *request) foldersToPurge(ids []string) (found []*node, err error) {
	for i, id := range ids {
		at := fmt.Sprintf("/purge/%d", i)
		n := req.tree.nodes[id]
		switch {
		case !req.moderator:
			return nil, forbidden(at, "to purge folders is for moderators")
		case n == nil:
			return nil, noFolder(at)
		case n.live():
			return nil, invalid(at, "the folder is not deleted: delete it first")
		}
		n.walk(func(n *node) bool {
			found = append(found, n)
			return true
		})
	}
	return unique(found), nil
}

// purgeAssets takes up to a portion of assets out of the folders, and removes those that are in no other. It returns how many it has
// removed, and whether there are more.
func (req *request) purgeAssets(ids []string) (removed int64, more bool, err error) {
	folders, err := req.foldersToPurge(ids)
	if err != nil {
		return 0, false, err
	}
	var terms []string
	purged := map[string]bool{}
	for _, n := range folders {
		terms = append(terms, term(kindFolder, n.ID))
		purged[n.ID] = true
	}
	slices.Sort(terms)
	found, err := req.index.Find(req.ctx, index.Query{All: [][]string{terms}})
	if err != nil {
		return 0, false, err
	}
	n := 0
	for r, err := range req.assetsIn(found, pageRange{limit: atOnce}) {
		if err != nil {
			return 0, false, err
		}
		n++
		rest := slices.DeleteFunc(slices.Clone(r.Folders), func(id string) bool { return purged[id] })
		if len(rest) > 0 {
			err = req.refile(r, rest)
		} else {
			removed++
			err = req.remove(r)
		}
		if err != nil {
			return 0, false, err
		}
	}
	return removed, n == atOnce, nil
}

// removeFolders removes the folders with these ids, and those below them, and returns how many they are.
func (req *request) removeFolders(ids []string) (int64, error) {
	folders, err := req.foldersToPurge(ids)
	for _, n := range folders {
		if err == nil {
			err = req.delete(req.folderKey(n.ID))
		}
		req.changes.folders = append(req.changes.folders, n.ID)
	}
	req.state.Tree, req.wrote = newTreeNumber(), true
	return int64(len(folders)), err
}

// eraseRemoved leaves no word of the assets that were removed in the index, and nothing of them in the files of the store. It folds
// what was changed until now in many updates.
func (s *Service) eraseRemoved(ctx context.Context, by vitrine.Caller, lib Library) error {
	for _, begin := range []bool{false, true} { // one that has begun before, and then one of everything
		for more := true; more; begin = false {
			err := s.updateAs(ctx, by, lib, storage.UpdateOptions{Large: true}, func(req *request) (err error) {
				more, err = req.writer.FoldSome(ctx, begin)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return s.updateAs(ctx, by, lib, storage.UpdateOptions{Large: true, Erase: true}, func(req *request) error {
		_, err := req.writer.FoldSome(ctx, false)
		return err
	})
}
