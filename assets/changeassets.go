package assets

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ChangeAssets says what to add to a library and what to remove from it (A2).
type ChangeAssets struct {
	Add    []NewAsset `json:"add"`
	Remove []string   `json:"remove"` // ids of assets
}

// ChangedAssets is what became of it.
type ChangedAssets struct {
	Added   []Asset  // each once, in the order of their first mention in Add
	Removed []string // ids; without those that the caller sees no asset of
}

// AppendJSON appends the outcome as it is answered.
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

func appendAssets(b []byte, list []Asset) []byte {
	for i, a := range list {
		b = a.AppendJSON(appendComma(b, i))
	}
	return b
}

// ChangeAssets removes and then adds assets, all or nothing (A2). Adding is idempotent by generator
// and foreign id: a repeat replaces the content of the asset that is there, and what of tags, via and
// rights is given, and puts it into the folders named, out of none. ErrNotFound for a folder the caller
// does not see; ErrForbidden where it may not edit a folder named, an asset to remove or one to replace;
// ErrInvalid where an item is not well-formed, the answer would be longer than Limits.PageBytes, or the
// assets have more terms than Limits.Terms.
func (s *Service) ChangeAssets(ctx context.Context, by Caller, lib Library, in ChangeAssets) (ChangedAssets, error) {
	drafts := make([]draft, len(in.Add))
	if _, err := s.enter(by, lib); err != nil {
		return ChangedAssets{}, err
	}
	for i, a := range in.Add {
		var err error
		if drafts[i], err = a.draft(fmt.Sprintf("/add/%d", i), s.limits); err != nil {
			return ChangedAssets{}, err
		}
	}
	var out ChangedAssets
	err := s.update(ctx, by, lib, func(ss *session) (err error) {
		out = ChangedAssets{}
		if out.Removed, err = ss.removeAssets(in.Remove); err != nil {
			return err
		}
		out.Added, err = ss.addAssets(drafts)
		return err
	})
	if err != nil {
		return ChangedAssets{}, err
	}
	return out, nil
}

func (ss *session) removeAssets(ids []string) ([]string, error) {
	removed := []string{}
	for i, id := range ids {
		r, err := ss.find(id)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		if !ss.editsAsset(ss.tree, r.Folders) {
			return nil, errForbidden(fmt.Sprintf("/remove/%d", i), "to remove an asset needs edit on one of its folders")
		}
		if err := ss.remove(*r); err != nil {
			return nil, err
		}
		removed = append(removed, id)
	}
	return removed, nil
}

func (ss *session) addAssets(drafts []draft) ([]Asset, error) {
	for _, d := range drafts {
		if err := ss.checkFolders(d); err != nil {
			return nil, err
		}
	}
	now := max(ss.now().UnixMilli(), ss.state.At)
	added, size := []Asset{}, 0
	for _, d := range collapse(drafts) {
		r, err := ss.add(d, now)
		if err != nil {
			return nil, err
		}
		a := ss.asset(r)
		added, size = append(added, a), size+a.size()
		if err := ss.checkAnswer(len(added), size); err != nil {
			return nil, err
		}
	}
	return added, nil
}

// checkFolders reports what keeps the draft from being put into the folders that it names.
func (ss *session) checkFolders(d draft) error {
	for i, id := range d.Folders {
		at := fmt.Sprintf("%s/folders/%d", d.at, i)
		n, err := ss.folderSeen(at, id)
		if err != nil {
			return err
		}
		if ss.right(n).level < levelEdit {
			return errForbidden(at, "to add an asset to a folder needs edit on it")
		}
	}
	return nil
}

// add stores the draft as a new asset, or as what its asset is from now on.
func (ss *session) add(d draft, now int64) (Record, error) {
	old, err := ss.tx.AssetFrom(ss.ctx, d.origin)
	switch {
	case isNotFound(err):
		return ss.addNew(d, now)
	case err != nil:
		return Record{}, err
	case !ss.editsAsset(ss.tree, old.Folders):
		return Record{}, errForbidden(d.at, "the asset is there already, and to change it needs edit on one of its folders")
	}
	return ss.replace(old, d, now)
}

func (ss *session) addNew(d draft, now int64) (Record, error) {
	if d.unfiled && !ss.moderator {
		return Record{}, errForbidden(d.at, "to add an asset to no folder is for moderators")
	}
	if err := d.checkFolderCount(len(d.Folders), 0, ss.limits); err != nil {
		return Record{}, err
	}
	ss.state.Last++
	ss.state.Count++
	ss.state.At = now
	r := Record{Ordinal: ss.state.Last, Origin: d.origin, CreatedAt: now, UpdatedAt: now, Folders: d.Folders}
	var p parts
	d.applyTo(&p, now)
	r.Body = p.body()
	return r, ss.put(r, indexOf(p, r.Folders, d.text))
}

func (ss *session) replace(old Record, d draft, now int64) (Record, error) {
	p, err := old.Body.parts()
	if err != nil {
		return Record{}, err
	}
	d.applyTo(&p, old.CreatedAt)
	r := old
	r.Folders = unique(slices.Concat(old.Folders, d.Folders))
	if err := d.checkFolderCount(len(r.Folders), len(old.Folders), ss.limits); err != nil {
		return Record{}, err
	}
	r.Body = p.body()
	if r.sameAs(old) {
		return old, nil
	}
	r.UpdatedAt = max(now, old.UpdatedAt)
	return r, ss.put(r, indexOf(p, r.Folders, d.text))
}

func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }
