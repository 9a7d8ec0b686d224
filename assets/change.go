package assets

import (
	"maps"
	"slices"

	"github.com/vitrine-go/vitrine/internal/rule"
	"github.com/vitrine-go/vitrine/storage"
)

// Change describes what a request does to one asset or to one folder, to Options.Check before it is committed. What it
// points to belongs to the service and must not be changed.
type Change struct {
	Library Library
	At      int64 // milliseconds since the epoch

	// Before and After are an asset before and after the request, with all of its folders that are not deleted. Before
	// is nil for an asset that the request adds, and After for one that it removes. Both are nil for a folder.
	Before, After *Asset
	// FolderBefore and FolderAfter are a folder with its permissions, without Children. FolderBefore is nil for a
	// folder that the request creates, and FolderAfter for one that it purges. Deleting a folder sets its Deleted, and
	// is no change of those below it. Both are nil for an asset.
	FolderBefore, FolderAfter *Folder

	tx storage.Tx // of the request, until Options.Check returns
}

// Rows returns a transaction in which a rule of the embedding program keeps rows of its own, as those of
// appsvc.Change.Rows. They are records of the library: below "x/<name>/" in its space.
func (c Change) Rows(name string) storage.Tx { return rule.Rows(c.tx, spaceOf(c.Library), name) }

// Tx returns the transaction of the request, for tables of the program's own: the functions SQL of storage/sqlite and
// storage/postgres give the SQL of it. Use it until Options.Check returns. The records of the domain in it are not part
// of the API.
func (c Change) Tx() storage.Tx { return c.tx }

// keep notes for Options.Check what an asset was before the request, and what it is now; the zero assetRecord stands
// for none.
func (c *changeSet) keep(before, after assetRecord) {
	if c.before == nil {
		c.before, c.after = map[int64]assetRecord{}, map[int64]assetRecord{}
	}
	ordinal := max(before.Ordinal, after.Ordinal)
	if _, again := c.after[ordinal]; !again {
		c.before[ordinal] = before
	}
	c.after[ordinal] = after
}

// checkRule asks Options.Check about each folder and each asset that the request has changed.
func (req *request) checkRule() error {
	if req.rule == nil {
		return nil
	}
	whole := *req // sees everything
	whole.member = member{moderator: true}
	ask := func(c Change) error {
		c.Library, c.At, c.tx = req.lib, req.Service.now().UnixMilli(), req.tx.Unwrap()
		return rule.Ask(req.ctx, req.rule, req.Caller, c)
	}
	folder := func(t *tree, id string) *Folder {
		if t == nil || t.nodes[id] == nil {
			return nil
		}
		f := whole.ownFolder(t.nodes[id])
		return &f
	}
	before, after := req.treeBefore, req.tree
	if before == nil { // a purge
		before, after = req.tree, nil
	}
	for _, id := range unique(req.changes.folders) {
		if err := ask(Change{FolderBefore: folder(before, id), FolderAfter: folder(after, id)}); err != nil {
			return err
		}
	}
	asset := func(r assetRecord) *Asset {
		if r.Ordinal == 0 {
			return nil
		}
		a := whole.asset(r)
		return &a
	}
	for _, ordinal := range slices.Sorted(maps.Keys(req.changes.after)) {
		if err := ask(Change{Before: asset(req.changes.before[ordinal]),
			After: asset(req.changes.after[ordinal])}); err != nil {
			return err
		}
	}
	return nil
}
