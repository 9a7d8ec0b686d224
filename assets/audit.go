package assets

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/internal/urn"
)

// Auditor checks that the rows of one library are what a Service could have written. A program that
// writes rows past the Service, such as storage/archive, audits them first, so that no later read
// meets a row that it cannot serve.
//
// Give it every row in the order in which a Reader yields them: the folders by id, then the assets
// from the lowest ordinal upwards.
//
//	a, err := assets.NewAuditor(lib, state, limits)
//	err = a.Folder(f)     // for each folder
//	err = a.Tree()        // may be left out
//	err = a.Asset(r)      // for each asset
//	err = a.End()
//
// Each method returns an error that says which rule is broken. After an error, the Auditor must not
// be used again. An Auditor is not safe for concurrent use. It keeps in memory the folders without
// their permissions, and the Origin of each asset.
type Auditor struct {
	lib    Library
	state  State
	limits Limits

	folders []FolderRecord  // those given so far; nil after Tree
	tree    *tree           // of all folders; nil until Tree
	origins map[Origin]bool // of the assets given so far
	last    Record          // the asset given last, without its body
	count   int64           // assets given so far
}

// NewAuditor returns an Auditor of a library with this State, whose Service has these limits. A
// zero limit is the default. It returns an error for a name or a State that no library can have.
func NewAuditor(lib Library, s State, limits Limits) (*Auditor, error) {
	a := &Auditor{lib: lib, state: s, limits: limits.withDefaults(), origins: map[Origin]bool{}}
	network := "urn:vitrine:" + lib.Network // any vendor will do
	if err := checkLibrary(lib, network, a.limits.Name); err != nil {
		return nil, fmt.Errorf("library %q of %q: %w", lib.ID, lib.Network, err)
	}
	switch {
	case !wasWritten(s):
		return nil, errors.New("the library has no key")
	case s.Last < 0 || s.Last > MaxOrdinal:
		return nil, fmt.Errorf("last is %d, want 0 to %d", s.Last, int64(MaxOrdinal))
	case s.Count < 0 || s.Count > s.Last:
		return nil, fmt.Errorf("count is %d, want 0 to last, which is %d", s.Count, s.Last)
	case !isTime(s.At):
		return nil, errors.New("at is in no year from 1 to 9999")
	}
	return a, nil
}

// isTime reports whether a time, in milliseconds since the epoch, can be written as a date.
func isTime(millis int64) bool {
	t := time.UnixMilli(millis).UTC()
	return t.UnixMilli() == millis && 1 <= t.Year() && t.Year() <= 9999
}

// Folder checks the next folder by itself. Tree checks where it is.
func (a *Auditor) Folder(f FolderRecord) error {
	if a.tree != nil {
		return fmt.Errorf("folder %q: comes after an asset", f.ID)
	}
	if n := len(a.folders); n > 0 && f.ID <= a.folders[n-1].ID {
		return fmt.Errorf("folder %q: comes after %q, want each once and in the order of ids", f.ID, a.folders[n-1].ID)
	}
	if err := a.checkFolder(f); err != nil {
		return fmt.Errorf("folder %q: %w", f.ID, err)
	}
	f = f.Clone()
	f.Permissions = nil // checked already, and of no matter for the tree
	a.folders = append(a.folders, f)
	return nil
}

// checkFolder returns an error unless the folder by itself is one that a Service could have
// written.
func (a *Auditor) checkFolder(f FolderRecord) error {
	if err := checkName("id", f.ID, a.limits.Name); err != nil {
		return err
	}
	if err := checkName("label", f.Label, a.limits.Name); err != nil {
		return err
	}
	if n := len(f.Permissions); n > a.limits.Permissions {
		return fmt.Errorf("has %d permissions, at most %d are allowed", n, a.limits.Permissions)
	}
	// Each permission is of this folder and valid, and no two have the same id or grant the same.
	ids, keys := map[string]bool{}, map[grantKey]bool{}
	for i, p := range f.Permissions {
		at := fmt.Sprintf("/permissions/%d", i)
		network, ok := a.networkOf(p.RID, f.ID)
		if !ok {
			return fmt.Errorf("%s/rId: %q is not the resource of this folder", at, p.RID)
		}
		if err := checkSubject(p, at, a.limits); err != nil {
			return err
		}
		if err := checkName(at+"/id", p.ID, a.limits.Name); err != nil {
			return err
		}
		key := grantKeyOf(p, network)
		switch {
		case levelOf(p.Operation) == levelNone:
			return fmt.Errorf("%s/operation: want view, edit or manage, have %q", at, string(p.Operation))
		case p.RType != resourceType:
			return fmt.Errorf("%s/rType: want %q", at, resourceType)
		case ids[p.ID]:
			return fmt.Errorf("%s: another permission has the id %q", at, p.ID)
		case keys[key]:
			return fmt.Errorf("%s: another permission grants the same", at)
		}
		ids[p.ID], keys[key] = true, true
	}
	return nil
}

// networkOf returns the URN of the network that the resource ID of a permission of the folder
// begins with, or false if rid is not the resource ID of this folder of the library. The vendor in
// the URN may be any, since the rows do not say which vendor the Service has.
func (a *Auditor) networkOf(rid, folder string) (string, bool) {
	rest := resourceID("", a.lib, folder)
	network, ok := strings.CutSuffix(rid, rest)
	return network, ok && strings.HasSuffix(network, ":"+a.lib.Network) && urn.CheckGroup(network) == nil
}

// Tree checks the folders against each other: every parent exists, no folder is below itself, and
// none is too deep. Call it once, between the last folder and the first asset, to learn of such an
// error early. Asset and End call it otherwise.
func (a *Auditor) Tree() error {
	t, err := newTree(func(yield func(FolderRecord, error) bool) {
		for _, f := range a.folders {
			if !yield(f, nil) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	for _, n := range t.top {
		if height := n.height(); height > a.limits.Depth {
			return fmt.Errorf("folder %q: has %d levels, at most %d are allowed", n.ID, height, a.limits.Depth)
		}
	}
	a.tree, a.folders = t, nil
	return nil
}

// CheckTree checks the folders of one library against each other, without any limit, and returns an
// error that names one if its parent does not exist or it is below itself. Only a damaged store has
// such a folder. It returns the error of folders, too.
func CheckTree(folders iter.Seq2[FolderRecord, error]) error {
	_, err := newTree(folders)
	return err
}

// Asset checks the next asset: by itself, against the asset before, against the folders and against
// the State of the library.
func (a *Auditor) Asset(r Record) error {
	if a.tree == nil {
		if err := a.Tree(); err != nil {
			return err
		}
	}
	if err := a.checkAsset(r); err != nil {
		return fmt.Errorf("asset %d: %w", r.Ordinal, err)
	}
	a.last, a.origins[r.Origin] = r, true
	a.last.Body = nil
	a.count++
	return nil
}

// checkAsset returns an error unless a Service could have written the asset after those given so
// far.
func (a *Auditor) checkAsset(r Record) error {
	// The ordinals, times and folders, which searches rely on without a further check.
	switch {
	case r.Ordinal <= a.last.Ordinal:
		return fmt.Errorf("comes after ordinal %d, want each once and from the lowest upwards", a.last.Ordinal)
	case r.Ordinal > a.state.Last:
		return fmt.Errorf("the highest ordinal of the library is %d", a.state.Last)
	case a.origins[r.Origin]:
		return errors.New("an asset before has the same origin")
	case !isTime(r.CreatedAt) || !isTime(r.UpdatedAt):
		return errors.New("createdAt or updatedAt is in no year from 1 to 9999")
	case a.count > 0 && r.CreatedAt < a.last.CreatedAt:
		return errors.New("createdAt is earlier than that of the asset before")
	case r.CreatedAt > a.state.At:
		return errors.New("createdAt is later than the last asset of the library was added")
	case r.UpdatedAt < r.CreatedAt:
		return errors.New("updatedAt is earlier than createdAt")
	case len(r.Folders) > a.limits.AssetFolders:
		return fmt.Errorf("is in %d folders, at most %d are allowed", len(r.Folders), a.limits.AssetFolders)
	case len(unique(r.Folders)) != len(r.Folders):
		return errors.New("is in one folder twice")
	}
	for _, id := range r.Folders {
		if a.tree.nodes[id] == nil {
			return fmt.Errorf("is in folder %q, which does not exist", id)
		}
	}
	return checkBody(r, a.limits)
}

// checkBody returns an error unless the body of r is, byte by byte, what a Service writes. It takes
// the body apart, applies the rules for new assets to its parts, and puts it together again.
func checkBody(r Record, lim Limits) error {
	p, err := partsOf(r.Body)
	if err != nil {
		return err
	}
	if err := checkTags("/safe_tags", p.tags, lim); err != nil {
		return err
	}
	if err := checkAttributes("/attributes", p.attributes, lim); err != nil {
		return err
	}
	// The content says which asset it is. The row must have the origin of that asset.
	var origin struct {
		ID        string    `json:"id"`
		Generator Generator `json:"generator"`
	}
	if err := json.Unmarshal(p.content, &origin); err != nil {
		return err
	}
	if err := checkName("/content/id", origin.ID, lim.Text); err != nil {
		return err
	}
	if err := checkName("/content/generator/id", origin.Generator.ID, lim.Name); err != nil {
		return err
	}
	if r.Origin != originOf(origin.Generator.ID, origin.ID) {
		return errors.New("the origin is not that of its generator and foreign id")
	}
	// What a Service would store for this content must be the content itself.
	content, err := contentHead(p.content, origin.ID, origin.Generator.ID, "/content")
	switch {
	case err != nil:
		return err
	case !bytes.Equal(finishContent(content, r.CreatedAt), p.content):
		return errors.New("/content: is not in the form in which it is stored, or published is not createdAt")
	case len(unique(p.tags)) != len(p.tags):
		return errors.New("/safe_tags: one occurs twice")
	case len(unique(p.attributes)) != len(p.attributes):
		return errors.New("/attributes: one occurs twice")
	case !bytes.Equal(p.body(), r.Body):
		return errors.New("the body is not in the form in which it is stored")
	}
	_, err = IndexOf(r, lim)
	return err
}

// End checks that the number of assets is that of the State. Call it when all rows were given.
func (a *Auditor) End() error {
	if a.tree == nil {
		if err := a.Tree(); err != nil {
			return err
		}
	}
	if a.count != a.state.Count {
		return fmt.Errorf("count is %d, and %d assets follow", a.state.Count, a.count)
	}
	return nil
}
