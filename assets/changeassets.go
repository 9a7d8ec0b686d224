package assets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/index"
)

// ChangeAssetsRequest says what to add to a library and what to remove from it. Assets are removed
// first, so an asset that is in both lists is removed and added as a new one.
//
// # Details of changes
//
//   - ChangeAssets, AssignAssets, ChangeAttributes and ChangePermissions remove first and add
//     afterwards. ChangeFolders creates, then updates, then deletes.
//   - Several items of one ChangeAssets may name the same asset. They are stored as one change. The
//     response has the asset once, where its first item stands, as it is after the last one. If
//     the first item of a new asset names no folder, only a moderator may add it.
//   - ChangeAssets, ChangeAttributes and ChangeFolders are rejected as a whole if the response has
//     more than one asset or folder and is longer than Limits.ResponseBytes.
//   - Taking an asset out of a folder that it is not in is a success, and so is putting it into one
//     that it is in.
//   - ChangeAssets sets updatedAt when it changes the content, the tags, via or the rights of an
//     asset, or puts it into another folder. A repeat that changes nothing leaves it as it is.
//     AssignAssets and ChangeAttributes never change updatedAt.
//   - An asset that a change of attributes leaves as it was has the status 200 and is not among the
//     changed assets. An attribute that is removed and added again, or set to the value it has,
//     keeps its place.
//   - ChangeAttributes and AssignAssets give the status 400 to an asset that would have too many
//     attributes or folders; ChangeAssets rejects the whole request. An asset that is over a
//     lowered limit keeps what it has.
//   - The library with the id of its network always exists. Any other one is created by the first
//     successful write of a moderator, even if that changes nothing else.
type ChangeAssetsRequest struct {
	Add    []NewAsset `json:"add"`
	Remove []string   `json:"remove"` // ids of assets
	// Fill, if it is not nil, sets the other fields once the caller is known to have the rights that do not depend on
	// them: a server reads the body of a request in it. Its error is returned as it is.
	Fill func(*ChangeAssetsRequest) error `json:"-"`

	faults jsonFaults // of Remove, in the text that it was read from
}

// ChangedAssets is the result of a ChangeAssetsRequest.
type ChangedAssets struct {
	Added   []Asset  `json:"added"`   // each once, in the order of their first mention in Add
	Removed []string `json:"removed"` // ids; an id of no asset that the caller sees is left out
}

// ChangeAssets removes assets and then adds assets, all or nothing.
//
// An asset is identified by its generator and its foreign id. Adding one that the library has
// already replaces its content, and those of its tags, via, rights and createdAt that are given. The asset
// keeps its id, its attributes and its folders, and gets those of the request too.
// So the same request may be sent again: the second time it changes nothing, except that what it
// removes by id is not there any more.
//
// It returns
//
//   - ErrNotFound if the caller does not see a folder of the request;
//   - ErrForbidden if the caller may not edit such a folder, an asset to remove or an asset to
//     replace, or adds an asset to no folder without being a moderator; also if the generator of an asset to add is
//     files, see Upload;
//   - ErrConflict if an item names a folder that the asset is not in and leaves out one that it is
//     in. The asset may exist: Error.ID is its id. Or an earlier item of the request adds it:
//     Error.ID is "". Otherwise content that was sent for one folder would also appear in another;
//   - ErrTooLarge if a content is longer than Limits.Content;
//   - ErrInvalid if an item is malformed, the request has more than Limits.Items, the response would
//     be longer than Limits.ResponseBytes, or the assets have more terms than Limits.Terms.
//
// The error is that of the first item with a fault. Its Problems are those of all items, 100 at most.
func (s *Session) ChangeAssets(
	ctx context.Context, lib Library, in ChangeAssetsRequest,
) (ChangedAssets, error) {
	s = s.calls("ChangeAssets")
	// A caller without any right gets that error, whatever the request has.
	if _, err := s.authorize(lib); err != nil {
		return ChangedAssets{}, err
	}
	if err := fill(ctx, s, lib, &in, in.Fill, nil); err != nil {
		return ChangedAssets{}, err
	}
	if len(in.Remove) > 0 {
		if err := s.by.CheckMethod(""); err != nil {
			return ChangedAssets{}, err
		}
	}
	sent := size{lists: []listSize{{"/add", len(in.Add)}, {"/remove", len(in.Remove)}}, limit: s.service.limits.Items}
	if err := sent.check(); err != nil {
		return ChangedAssets{}, err
	}
	var all fault.List
	for _, e := range in.faults {
		_ = all.Add(e)
	}
	drafts := make([]draft, len(in.Add))
	for i, a := range in.Add {
		err := ctx.Err()
		if err == nil {
			drafts[i], err = a.draft(fmt.Sprintf("/add/%d", i), s.service.limits, s.service.now(), &all)
		}
		if err != nil {
			return ChangedAssets{}, err
		}
		if all.Full() {
			return ChangedAssets{}, all.Err()
		}
		sent.bytes += len(a.Content)
		sent.more += len(a.Attributes)
	}
	if len(all) > 0 { // what the caller may not do is told, too
		err := s.allowed(ctx, lib, func(req *request) error {
			for i, id := range in.Remove {
				if _, err := req.toRemove(i, id, &all); err != nil {
					return err
				}
			}
			return req.eachDraft(drafts, &all, func(draft, assetRecord) error { return nil })
		})
		return ChangedAssets{}, cmp.Or(err, all.Err())
	}
	return update(ctx, s, lib, sent, func(req *request) (out ChangedAssets, err error) {
		var all fault.List
		if out.Removed, err = req.removeAssets(in.Remove, &all); err == nil {
			out.Added, err = req.addAssets(drafts, &all)
		}
		if _, limit := errors.AsType[*vitrine.Error](err); (limit || err == nil) && len(all) > 0 {
			err = all.Err()
		}
		return out, err
	})
}

// toRemove returns the i-th asset to remove, or nil if the caller does not see it, or may not change it. The latter is
// a fault.
func (req *request) toRemove(i int, id string, all *fault.List) (*assetRecord, error) {
	r, err := req.find(id)
	if err != nil || r == nil || req.editsAsset(req.tree, r.Folders) {
		return r, err
	}
	return nil, all.Add(fault.At(fmt.Sprintf("/remove/%d", i),
		fault.Forbidden("to remove an asset needs edit on one of its folders")))
}

// removeAssets deletes the assets with these ids and returns the ids of those that it has deleted.
// An id of an asset that the caller does not see is left out; an asset that the caller sees and may
// not change is ErrForbidden, a fault.
func (req *request) removeAssets(ids []string, all *fault.List) ([]string, error) {
	removed := []string{}
	for i, id := range ids {
		if err := req.readAhead(ids, i); err != nil {
			return nil, err
		}
		r, err := req.toRemove(i, id, all)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		if err := req.remove(*r); err != nil {
			return nil, err
		}
		removed = append(removed, id)
	}
	return removed, nil
}

// addAssets stores the drafts and returns their assets, each once, in the order of their first
// mention. A draft with a fault is not stored.
func (req *request) addAssets(drafts []draft, all *fault.List) ([]Asset, error) {
	// The times of adding never decrease along the ordinals, even if the clock was set back.
	now := max(req.now().UnixMilli(), req.state.At)
	added, size := []Asset{}, 0
	return added, req.eachDraft(drafts, all, func(d draft, old assetRecord) error {
		r, err := req.add(d, old, now)
		if err != nil {
			return err
		}
		a := req.asset(r)
		added, size = append(added, a), size+a.size()
		return req.checkResponse(len(added), size)
	})
}

// eachDraft calls fn with each asset of the drafts that has no fault and that the caller may add, and with what is
// stored of it. It adds other faults to all, also those that fn returns.
func (req *request) eachDraft(drafts []draft, all *fault.List, fn func(d draft, old assetRecord) error) error {
	if err := req.checkFolders(drafts, all); err != nil {
		return err
	}
	// The folders of the drafts were checked before this, since collapse loses which item of the
	// request has which folder.
	drafts = collapse(drafts)
	// All are looked up before the first one is added, since a search sorts the changes of the index that the request
	// has made so far.
	parts := slices.Collect(slices.Chunk(drafts, atOnce))
	found := make([]*index.Set, len(parts))
	for i, part := range parts {
		var origins []origin
		for _, d := range part {
			origins = append(origins, d.origin)
		}
		var err error
		if found[i], err = req.assetsFrom(origins); err != nil {
			return err
		}
	}
	for i, part := range parts {
		old, err := req.byOrigin(found[i])
		if err != nil {
			return err
		}
		for _, d := range part {
			if err := req.ctx.Err(); err != nil || all.Full() {
				return err
			}
			if d.faulty {
				continue
			}
			err := req.mayAdd(d, old[d.origin])
			if err == nil {
				err = fn(d, old[d.origin])
			}
			if err = all.Add(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFolders adds a fault for each folder that a draft names and that the caller does not see, or may not change. It
// does so for every mention of an asset, before any of them is stored.
func (req *request) checkFolders(drafts []draft, all *fault.List) error {
	for n := range drafts {
		d, before := &drafts[n], len(*all)
		known := make(map[string]bool, len(d.Folders))
		for i, id := range d.sent {
			if known[id] {
				continue
			}
			known[id] = true
			_, err := req.folderToFill(fmt.Sprintf("%s/folders/%d", d.at, i), id)
			if err := all.Add(err); err != nil {
				return err
			}
		}
		d.faulty = d.faulty || len(*all) > before
	}
	return req.ctx.Err()
}

// mayAdd returns an error unless the caller may add the draft. old is the asset with the same origin, which the draft
// changes, or the zero assetRecord if there is none.
//
// A caller who may not add the asset at all gets the same error whether it is there or not. Only one
// who may add it, to a folder that it names, learns that the library has an asset that it may not
// change.
func (req *request) mayAdd(d draft, old assetRecord) error {
	isNew := old.Ordinal == 0
	edits := !isNew && req.editsAsset(req.tree, old.Folders)
	if !isNew && req.Agent != "" {
		return fault.At(d.at, req.CheckMethod(""))
	}
	switch {
	case edits:
	case d.unfiled && !req.moderator:
		return fault.At(d.at, fault.Forbidden(
			"to add an asset to no folder is for moderators, and to change one that is there needs edit on one of its "+
				"folders"))
	case !isNew:
		return fault.At(d.at, fault.Forbidden(
			"the asset is there already, and to change it needs edit on one of its folders"))
	}
	at := req.conflict(d, old.Folders)
	switch {
	case at == "":
		return nil
	case isNew:
		return fault.At(at, fault.Conflict(vitrine.CodeMoved, vitrine.Version{},
			"an earlier item puts the same asset into other folders: name all of its folders in one item"))
	}
	id := req.ids.encrypt(idKind, old.Ordinal)
	conflict := fault.Conflict(vitrine.CodeMoved, vitrine.Version{},
		"the asset %s is in other folders already: name them too, or none that it is not in", id)
	conflict.ID = id
	return fault.At(at, conflict)
}

// add stores the draft, which the caller may add; old is as in mayAdd. now is the time of the request, in milliseconds
// since the epoch.
func (req *request) add(d draft, old assetRecord, now int64) (assetRecord, error) {
	if old.Ordinal > 0 {
		return req.replace(old, d, now)
	}
	return req.addNew(d, now)
}

// addNew stores the draft as a new asset, with the next ordinal of the library.
func (req *request) addNew(d draft, now int64) (assetRecord, error) {
	if err := d.checkFolderCount(len(d.Folders), 0, req.limits); err != nil {
		return assetRecord{}, err
	}
	req.state.Last++
	req.changes.note(req.state.Last, wasAdded)
	req.state.Count++
	req.state.At = now
	r := assetRecord{Ordinal: req.state.Last, Origin: d.origin, CreatedAt: d.createdAt(now), UpdatedAt: now,
		Folders: d.Folders, words: req.limits.SearchedWords}
	var p parts
	d.applyTo(&p, r.CreatedAt)
	if err := d.checkAttributeCount(len(p.Attributes), 0, req.limits); err != nil {
		return assetRecord{}, err
	}
	if err := req.moveFile(r, d.file); err != nil {
		return assetRecord{}, err
	}
	r.Body, r.File = p.body(), d.file.encode()
	return r, req.put(assetRecord{}, r, nil, allTerms(r, p, d.text, newRules))
}

// replace stores the draft in place of old. If that changes nothing, it returns old, and neither
// the time of the last change nor the feed of changes says that anything was written.
func (req *request) replace(old assetRecord, d draft, now int64) (assetRecord, error) {
	// What the draft has replaces what is stored, and its folders and attributes are added.
	p, err := partsOf(old.Body)
	if err != nil {
		return assetRecord{}, err
	}
	r, attributes := old, len(p.Attributes)
	r.CreatedAt = d.createdAt(old.CreatedAt)
	d.applyTo(&p, r.CreatedAt)
	if err := d.checkAttributeCount(len(p.Attributes), attributes, req.limits); err != nil {
		return assetRecord{}, err
	}
	r.Folders = unique(slices.Concat(old.Folders, d.Folders))
	if err := d.checkFolderCount(len(r.Folders), len(old.Folders), req.limits); err != nil {
		return assetRecord{}, err
	}
	r.Body, r.File = p.body(), d.file.encode()
	if sameRecord(r, old) {
		return old, nil
	}
	if err := req.moveFile(old, d.file); err != nil {
		return assetRecord{}, err
	}
	r.UpdatedAt = max(now, old.UpdatedAt) // not earlier, even if the clock was set back
	before, err := termsOf(old, newRules)
	if err != nil {
		return assetRecord{}, err
	}
	r.words = req.limits.SearchedWords
	return r, req.put(old, r, before, allTerms(r, p, d.text, newRules))
}

// conflict returns the pointer to the first mention of the asset in the request that names a folder
// which the asset is not in and leaves out one which it is in, or "" if there is none. folders are
// the ids of the folders that the asset is in before the request; each mention adds its own for the
// mentions after it. Some examples:
//
//	the asset is in   a mention names   conflict
//	none              1                 no: it names nothing that is left out
//	1, 2              1, 2, 3           no: it names all and adds one
//	1, 2              1                 no: it adds none
//	1, 2              2, 3              yes: it adds 3 and leaves out 1
//
// Folders that the caller may not read do not count as left out. Otherwise the error would reveal
// that the asset is in one.
func (req *request) conflict(d draft, folders []string) string {
	// in has the folders of the asset so far, and known is how many of them the caller may read.
	in, known := make(map[string]bool, len(folders)), 0
	for _, id := range folders {
		in[id] = true
		if _, err := req.folderToRead("", id); err == nil {
			known++
		}
	}
	for _, m := range d.mentions {
		before := known // folders that the mention must name if it names a new one
		named := 0      // how many of them it names
		for _, id := range m.folders {
			if in[id] {
				named++
				continue
			}
			in[id] = true // the mentions after this one find it there
			known++       // the caller sees every folder that the request names
		}
		if known > before && named < before {
			return m.at
		}
	}
	return ""
}
