//go:build proof

package faults

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/mutant"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// Which test must catch a mutant.
const (
	byCalls     = "^TestTheNthCallToTheStoreFails$/^changes$/^"
	byDisk      = "^TestTheNthCallToTheDiskFails$/^changes$/^"
	bySync      = "^TestACommitWhoseSyncFailsIsOfUnknownOutcome$"
	byDiskLooks = "^TestLookingOnADiskThatFails$"
	byManyLooks = "^TestManyLooksFail$"
	byBuilding  = "^TestBuildingAStoreOnADiskThatFails$"
	byOpening   = "^TestOpeningAStoreOnADiskThatFails$"
	byBackups   = "^TestBackupOnADiskThatFails$"
	byLoad      = "^TestBackupUnderLoad$"
	byKills     = "^TestKilledWhileBuilding$"
	byUpgrades  = "^TestKilledWhileMigrating$"
	byAnother   = "^TestAnotherProcessKeepsTheLock$"
	byCuts      = "^TestAStoreCutOffAnywhere$"
)

// guards are what treats faults rightly, each with the same source without it: MUTANT stands for
// whether it is away.
var guards = []mutant.Mutant{
	{Name: "a commit that failed is answered as one", By: byDisk + "patch$", Edits: []program.Edit{{
		File: "storage/sqlite/writer.go", Old: "if lost != nil {\n\t\t\terr = lost", New: "if lost != nil && !MUTANT {\n\t\t\terr = lost",
	}}},
	{Name: "a commit that failed is of unknown outcome", By: bySync, Edits: []program.Edit{{
		File: "storage/sqlite/writer.go", Old: "err != nil && !undone(err)", New: "err != nil && !MUTANT && !undone(err)",
	}}},
	{Name: "the cache forgets what was not kept", By: byDisk + "patch$", Edits: []program.Edit{{
		File: "storage/sqlite/cache.go", Old: "if !sole {", New: "if !sole && !MUTANT {",
	}}},
	{Name: "a full disk is told from others", By: byDisk + "patch$", Edits: []program.Edit{{
		File: "storage/sqlite/errors.go", Old: "c&0xff == lib.SQLITE_FULL ||", New: "!MUTANT && c&0xff == lib.SQLITE_FULL ||",
	}}},
	{Name: "a lock is told from other failures", By: byDisk + "put_a_tag$", Edits: []program.Edit{{
		File: "storage/sqlite/errors.go", Old: "return c == lib.SQLITE_BUSY ||", New: "return !MUTANT && c == lib.SQLITE_BUSY ||",
	}}},
	{Name: "a crowd of readers is told from other failures", By: byDisk + "patch$", Edits: []program.Edit{{
		File: "storage/sqlite/errors.go", Old: "|| c == lib.SQLITE_PROTOCOL", New: "|| !MUTANT && c == lib.SQLITE_PROTOCOL",
	}}},
	{Name: "waiting for a lock ends", By: byAnother, Edits: []program.Edit{{
		File: "storage/sqlite/writer.go", Old: "time.Now().Add(w.busy)", New: "time.Now().Add(w.busy * map[bool]time.Duration{false: 1, true: 60}[MUTANT])",
	}}},
	{Name: "those that wait for a lock are refused together", By: byAnother, Edits: []program.Edit{{
		File: "storage/sqlite/writer.go", Old: "w.refuse(err)", New: "if !MUTANT { w.refuse(err) }",
	}}},
	{Name: "a connection that failed is not used again", By: byDiskLooks, Edits: []program.Edit{{
		File: "storage/sqlite/pool.go", Old: "db.readers.put(c, err == nil)", New: "db.readers.put(c, err == nil || MUTANT)",
	}}},
	{Name: "nor one on which no snapshot could be taken", By: byDiskLooks, Edits: []program.Edit{{
		File: "storage/sqlite/pool.go", Old: "db.readers.put(c, false)", New: "db.readers.put(c, MUTANT)",
	}}},
	{Name: "a connection that cannot be opened gives its place back", By: byManyLooks, Edits: []program.Edit{{
		File: "storage/sqlite/pool.go", Old: "if err != nil {\n\t\tp.free <- struct{}{}", New: "if err != nil && !MUTANT {\n\t\tp.free <- struct{}{}",
	}}},
	{Name: "an app that could not be read is not one that is not there", By: byDiskLooks, Edits: []program.Edit{{
		File: "storage/sqlite/head.go", Old: "if rows.err != nil {", New: "if rows.err != nil && !MUTANT {",
	}}},
	{Name: "a store is built under another name", By: byKills, Edits: []program.Edit{{
		File: "storage/sqlite/create.go", Old: "if err := build(tmp); err != nil {", New: "if MUTANT { return build(path) }\n\tif err := build(tmp); err != nil {",
	}}},
	{Name: "what was not built to the end is removed", By: byBuilding, Edits: []program.Edit{{
		File: "storage/sqlite/claim.go", Old: "os.Remove(tmp + suffix)", New: "if !MUTANT { os.Remove(tmp + suffix) }",
	}}},
	{Name: "a store that is not switched to its log is not built", By: byBuilding, Edits: []program.Edit{{
		File: "storage/sqlite/create.go", Old: "if r.err != nil {\n\t\treturn r.err", New: "if r.err != nil && !MUTANT {\n\t\treturn r.err",
	}}},
	{Name: "a store that does not open is named", By: byOpening, Edits: []program.Edit{{
		File: "storage/sqlite/db.go", Old: `fmt.Errorf("open %s: %w", path, err)`, New: `map[bool]error{false: fmt.Errorf("open %s: %w", path, err), true: err}[MUTANT]`,
	}}},
	{Name: "a backup that failed has no name", By: byBackups, Edits: []program.Edit{{
		File: "storage/sqlite/backup.go", Old: "if err == nil {\n\t\terr = finished", New: "if MUTANT {\n\t\terr = nil\n\t} else if err == nil {\n\t\terr = finished",
	}, {
		File: "storage/sqlite/backup.go", Old: "return makeOther(tmp)", New: "if MUTANT { _ = makeOther(tmp); return nil }\n\t\t\treturn makeOther(tmp)",
	}}},
	{Name: "a backup holds what is still in the log", By: byLoad, Edits: []program.Edit{{
		File: "storage/sqlite/backup.go", Old: "if err := c.copyTo(ctx, tmp); err != nil {",
		New: "if MUTANT { b, err := os.ReadFile(db.path); return errors.Join(err, os.WriteFile(tmp, b, 0o600)) }\n\t\t\tif err := c.copyTo(ctx, tmp); err != nil {",
	}}},
	{Name: "a migration is one transaction", By: byUpgrades, Edits: []program.Edit{{
		File: "storage/sqlite/migrate.go", Old: `c.script("BEGIN IMMEDIATE")`, New: `c.script(map[bool]string{false: "BEGIN IMMEDIATE", true: "SELECT 1"}[MUTANT])`,
	}, {
		File: "storage/sqlite/migrate.go", Old: `c.script("COMMIT")`, New: `c.script(map[bool]string{false: "COMMIT", true: "SELECT 1"}[MUTANT])`,
	}}},
	{Name: "a migration and its number are one transaction", By: byUpgrades, Edits: []program.Edit{{
		File: "storage/sqlite/migrate.go", Old: `return c.script(fmt.Sprintf("PRAGMA user_version=%d", m.Number))`,
		New: `if MUTANT { c.script("COMMIT; BEGIN IMMEDIATE") }` + "\n\t\t" + `return c.script(fmt.Sprintf("PRAGMA user_version=%d", m.Number))`,
	}}},
	{Name: "a file is looked at before it is used", By: byCuts, Edits: []program.Edit{{
		File: "storage/sqlite/inspect.go", Old: "if alone {", New: "if alone && !MUTANT {",
	}, {
		File: "storage/sqlite/inspect.go", Old: "if !whole {", New: "if !whole || MUTANT {",
	}}},
	{Name: "an app without the answer to its key is not kept", By: byCalls + "create_an_app$", Edits: []program.Edit{{
		File: "appsvc/idempotency.go", Old: "return w.remember(ctx, tx, now, result)", New: "err := w.remember(ctx, tx, now, result)\n\t\tif MUTANT { err = nil }\n\t\treturn err",
	}}},
	{Name: "a component that could not be read is not an unknown one", By: byCalls + "patch$", Edits: []program.Edit{{
		File: "appsvc/configvalidation.go", Old: "return below(fmt.Sprintf(\"%s/elements/%d/component\", at, i), err)\n\t\t\t}\n\t\t\tused[e.ref] = c",
		New: "if MUTANT { return ErrUnprocessable }\n\t\t\t\treturn below(fmt.Sprintf(\"%s/elements/%d/component\", at, i), err)\n\t\t\t}\n\t\t\tused[e.ref] = c",
	}}},
	{Name: "assets without what the library knows of itself are not kept", By: byCalls + "add_assets$", Edits: []program.Edit{{
		File: "assets/request.go", Old: "if err := tx.SetState(ctx, req.state); err != nil {", New: "if err := tx.SetState(ctx, req.state); err != nil && !MUTANT {",
	}}},
	{Name: "folders that could not all be read are no tree", By: byDiskLooks, Edits: []program.Edit{{
		File: "assets/tree.go", Old: "if err != nil {\n\t\t\treturn nil, err\n\t\t}\n\t\tt.nodes[f.ID]", New: "if err != nil && MUTANT { break }\n\t\tif err != nil {\n\t\t\treturn nil, err\n\t\t}\n\t\tt.nodes[f.ID]",
	}}},
	{Name: "a collection that was not kept is not counted as imported", By: byCalls + "import_reviews$", Edits: []program.Edit{{
		File: "reviews/import.go", Old: "if err := tx.PutCollection(ctx, now); err != nil {", New: "if err := tx.PutCollection(ctx, now); err != nil && !MUTANT {",
	}}},
	{Name: "a busy service says when to come again", By: byAnother, Edits: []program.Edit{{
		File: "adapters/httpapi/errors.go", Old: `header["Retry-After"] = []string{"1"}`, New: `if !MUTANT { header["Retry-After"] = []string{"1"} }`,
	}}},
}

// Without any one of the guards a test of this package fails. With all of them it passes.
func TestGuards(t *testing.T) {
	mutant.Hunt{
		Program:  program.Build{Module: module, Package: "./internal/proof/faults", Test: true},
		Mutants:  guards,
		Controls: []string{byDisk + "(patch|put_a_tag)$"},
		Together: true,
		Command: func(binary string, m mutant.Mutant) []string {
			return []string{binary, "-test.run=" + m.By, "-test.failfast", "-rounds=1"}
		},
	}.Run(t)
}

// Which tests must catch a mutant of the log.
const (
	byOverlap   = "^TestTheLogRestartsWhileViewsOverlap$/^"
	byLongViews = "^TestALongViewDelaysNobody$"
	byDelays    = "^TestUpdatesAreDelayedWhileACheckpointIsBehind$"
	byClosing   = "^TestClosingDoesNotWaitForTheLog$"
	byHoldbacks = "^TestViewsThatAreHeldBackBeginAgain$"
)

// guardsOfTheLog keep SQLite's write-ahead log short, and everyone at work meanwhile. The driver's own tests
// look at them.
var guardsOfTheLog = []mutant.Mutant{
	mutant.New("the log begins anew", byOverlap+"32_readers_of_5ms$",
		"storage/sqlite/checkpoint.go", "size < logShort {", "size < logShort || MUTANT {"),
	mutant.New("a long log begins anew although Views overlap", byOverlap+"32_readers_of_100ms$",
		"storage/sqlite/checkpoint.go", "if size >= logLong {", "if size >= logLong && !MUTANT {"),
	mutant.New("a log that was not made short is looked at again", byLongViews,
		"storage/sqlite/checkpoint.go", "if done || err != nil {\n\t\t\treturn", "if done || err != nil || MUTANT {\n\t\t\treturn"),
	mutant.New("a View that lasts long is not waited for", byLongViews,
		"storage/sqlite/checkpoint.go", "longest() > longView {\n\t\treturn", "longest() > longView && !MUTANT {\n\t\treturn"),
	mutant.New("a log that was long does not stay so", byLongViews,
		"storage/sqlite/db.go", `"journal_size_limit=%d", logKept)`, `"journal_size_limit=%d", logKept+map[bool]int{true: 1 << 40}[MUTANT])`),
	mutant.New("updates are delayed while copying is behind", byDelays,
		"storage/sqlite/checkpoint.go", "k.written(now) > most {", "k.written(now) > most && !MUTANT {"),
	mutant.New("closing ends the work on the log", byClosing,
		"storage/sqlite/checkpoint.go", "case <-k.closing:", "case <-map[bool]chan struct{}{false: k.closing}[MUTANT]:"),
	mutant.New("Views that were held back begin again", byHoldbacks,
		"storage/sqlite/pool.go", "close(held)", "if !MUTANT { close(held) }"),
}

// Without any one of the guards of the log a test of the driver fails. With all of them these pass.
func TestGuardsOfTheLog(t *testing.T) {
	mutant.Hunt{
		Program:  program.Build{Module: module, Package: "./storage/sqlite", Test: true},
		Mutants:  guardsOfTheLog,
		Controls: []string{byOverlap + "32_readers_of_5ms$"},
		Together: true,
		Command: func(binary string, m mutant.Mutant) []string {
			if m.Name == "" {
				return []string{binary, "-test.run=" + m.By}
			}
			return []string{binary, "-test.run=" + m.By, "-patience=30s"}
		},
	}.Run(t)
}
