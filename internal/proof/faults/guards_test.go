package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// mutantVariable names the guard that a program with all mutants shall be without.
const mutantVariable = "VITRINE_MUTANT"

// Which test must catch a mutant.
const (
	byCalls     = "^TestTheNthCallToTheStoreFails$/^changes$/^"
	byDisk      = "^TestTheNthCallToTheDiskFails$/^changes$/^"
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
	byClock     = "^TestAClockThatGoesBack$"
)

// guards are what treats faults rightly, each with the same source without it. They are built into
// one program, and a run of it takes one of them away: MUTANT stands for whether it is.
var guards = []struct {
	name  string
	by    string
	edits []program.Edit
}{
	{"a commit that failed is answered as one", byDisk + "patch$", []program.Edit{{
		File: "storage/sqlite/writer.go", Old: "if lost != nil {\n\t\t\terr = lost", New: "if lost != nil && !MUTANT {\n\t\t\terr = lost",
	}}},
	{"the cache forgets what was not kept", byDisk + "patch$", []program.Edit{{
		File: "storage/sqlite/cache.go", Old: "if !sole {", New: "if !sole && !MUTANT {",
	}}},
	{"a full disk is told from others", byDisk + "patch$", []program.Edit{{
		File: "storage/sqlite/errors.go", Old: "c&0xff == lib.SQLITE_FULL ||", New: "!MUTANT && c&0xff == lib.SQLITE_FULL ||",
	}}},
	{"a lock is told from other failures", byDisk + "put_a_tag$", []program.Edit{{
		File: "storage/sqlite/errors.go", Old: "c == lib.SQLITE_BUSY ||", New: "!MUTANT && c == lib.SQLITE_BUSY ||",
	}}},
	{"a crowd of readers is told from other failures", byDisk + "patch$", []program.Edit{{
		File: "storage/sqlite/errors.go", Old: "|| c == lib.SQLITE_PROTOCOL", New: "|| !MUTANT && c == lib.SQLITE_PROTOCOL",
	}}},
	{"waiting for a lock ends", byAnother, []program.Edit{{
		File: "storage/sqlite/writer.go", Old: "time.Now().Add(w.busy)", New: "time.Now().Add(w.busy * map[bool]time.Duration{false: 1, true: 60}[MUTANT])",
	}}},
	{"those that wait for a lock are refused together", byAnother, []program.Edit{{
		File: "storage/sqlite/writer.go", Old: "w.refuse(err)", New: "if !MUTANT { w.refuse(err) }",
	}}},
	{"a connection that failed is not used again", byDiskLooks, []program.Edit{{
		File: "storage/sqlite/pool.go", Old: "db.readers.put(c, err == nil)", New: "db.readers.put(c, err == nil || MUTANT)",
	}}},
	{"nor one on which no snapshot could be taken", byDiskLooks, []program.Edit{{
		File: "storage/sqlite/pool.go", Old: "db.readers.put(c, false)", New: "db.readers.put(c, MUTANT)",
	}}},
	{"a connection that cannot be opened gives its place back", byManyLooks, []program.Edit{{
		File: "storage/sqlite/pool.go", Old: "if err != nil {\n\t\tp.free <- struct{}{}", New: "if err != nil && !MUTANT {\n\t\tp.free <- struct{}{}",
	}}},
	{"an app that could not be read is not one that is not there", byDiskLooks, []program.Edit{{
		File: "storage/sqlite/head.go", Old: "if rows.err != nil {", New: "if rows.err != nil && !MUTANT {",
	}}},
	{"a store is built under another name", byKills, []program.Edit{{
		File: "storage/sqlite/create.go", Old: "if err := build(tmp); err != nil {", New: "if MUTANT { return build(path) }\n\tif err := build(tmp); err != nil {",
	}}},
	{"what was not built to the end is removed", byBuilding, []program.Edit{{
		File: "storage/sqlite/create.go", Old: "os.Remove(tmp + suffix)", New: "if !MUTANT { os.Remove(tmp + suffix) }",
	}}},
	{"a store that is not switched to its log is not built", byBuilding, []program.Edit{{
		File: "storage/sqlite/create.go", Old: "if r.err != nil {\n\t\treturn r.err", New: "if r.err != nil && !MUTANT {\n\t\treturn r.err",
	}}},
	{"a store that does not open is named", byOpening, []program.Edit{{
		File: "storage/sqlite/db.go", Old: `fmt.Errorf("open %s: %w", path, err)`, New: `map[bool]error{false: fmt.Errorf("open %s: %w", path, err), true: err}[MUTANT]`,
	}}},
	{"a backup that failed has no name", byBackups, []program.Edit{{
		File: "storage/sqlite/backup.go", Old: "return errors.Join(err, b.Finish())", New: "if MUTANT { b.Finish(); return nil }\n\treturn errors.Join(err, b.Finish())",
	}}},
	{"a backup holds what is still in the log", byLoad, []program.Edit{{
		File: "storage/sqlite/backup.go", Old: "return c.copyTo(ctx, tmp)",
		New: "if MUTANT { b, err := os.ReadFile(db.path); return errors.Join(err, os.WriteFile(tmp, b, 0o600)) }\n\t\t\treturn c.copyTo(ctx, tmp)",
	}}},
	{"a migration is one transaction", byUpgrades, []program.Edit{{
		File: "storage/sqlite/migrate.go", Old: `c.script("BEGIN IMMEDIATE")`, New: `c.script(map[bool]string{false: "BEGIN IMMEDIATE", true: "SELECT 1"}[MUTANT])`,
	}, {
		File: "storage/sqlite/migrate.go", Old: `c.script("COMMIT")`, New: `c.script(map[bool]string{false: "COMMIT", true: "SELECT 1"}[MUTANT])`,
	}}},
	{"a migration and its number are one transaction", byUpgrades, []program.Edit{{
		File: "storage/sqlite/migrate.go", Old: `return c.script(fmt.Sprintf("PRAGMA user_version=%d", m.number))`,
		New: `if MUTANT { c.script("COMMIT; BEGIN IMMEDIATE") }` + "\n\t\t" + `return c.script(fmt.Sprintf("PRAGMA user_version=%d", m.number))`,
	}}},
	{"a file is looked at before it is used", byCuts, []program.Edit{{
		File: "storage/sqlite/inspect.go", Old: "if alone {", New: "if alone && !MUTANT {",
	}, {
		File: "storage/sqlite/inspect.go", Old: "if !whole {", New: "if !whole || MUTANT {",
	}}},
	{"the times of an app do not go back", byClock, []program.Edit{{
		File: "appsvc/create.go", Old: "m.UpdatedAt = max(s.millis(), h.UpdatedAt)", New: "m.UpdatedAt = max(s.millis(), h.UpdatedAt)\n\tif MUTANT { m.UpdatedAt = s.millis() }",
	}}},
	{"the times of assets do not go back", byClock, []program.Edit{{
		File: "assets/changeassets.go", Old: "now := max(ss.now().UnixMilli(), ss.state.At)", New: "now := max(ss.now().UnixMilli(), ss.state.At)\n\tif MUTANT { now = ss.now().UnixMilli() }",
	}}},
	{"an app without the answer to its key is not kept", byCalls + "create_an_app$", []program.Edit{{
		File: "appsvc/answer.go", Old: "return o.keep(ctx, tx, now, result)", New: "err := o.keep(ctx, tx, now, result)\n\t\tif MUTANT { err = nil }\n\t\treturn err",
	}}},
	{"a component that could not be read is not an unknown one", byCalls + "patch$", []program.Edit{{
		File: "appsvc/content.go", Old: `return fmt.Errorf("element %d: %w", i, err)` + "\n\t\t\t}\n\t\t\tused[e.ref] = c",
		New: `if MUTANT { return fmt.Errorf("%w: element %d", ErrUnprocessable, i) }` + "\n\t\t\t\treturn " + `fmt.Errorf("element %d: %w", i, err)` + "\n\t\t\t}\n\t\t\tused[e.ref] = c",
	}}},
	{"assets without what the library knows of itself are not kept", byCalls + "add_assets$", []program.Edit{{
		File: "assets/service.go", Old: "return tx.SetState(ctx, ss.state)", New: "err := tx.SetState(ctx, ss.state)\n\t\tif MUTANT { err = nil }\n\t\treturn err",
	}}},
	{"folders that could not all be read are no tree", byDiskLooks, []program.Edit{{
		File: "assets/tree.go", Old: "if err != nil {\n\t\t\treturn nil, err\n\t\t}\n\t\tt.nodes[f.ID]", New: "if err != nil && MUTANT { break }\n\t\tif err != nil {\n\t\t\treturn nil, err\n\t\t}\n\t\tt.nodes[f.ID]",
	}}},
	{"a collection that was not kept is not counted as imported", byCalls + "import_reviews$", []program.Edit{{
		File: "reviews/import.go", Old: "if err := tx.PutCollection(ctx, now); err != nil {", New: "if err := tx.PutCollection(ctx, now); err != nil && !MUTANT {",
	}}},
	{"a busy service says when to come again", byAnother, []program.Edit{{
		File: "adapters/httpapi/errors.go", Old: `header["Retry-After"] = []string{"1"}`, New: `if !MUTANT { header["Retry-After"] = []string{"1"} }`,
	}}},
}

// buildMutants builds the tests of this package on code that has every mutant in it, all asleep.
func buildMutants(t *testing.T) string {
	t.Helper()
	b := program.Build{Module: module, Package: "./internal/proof/faults", Test: true, Added: map[string]string{}}
	for dir, name := range map[string]string{"storage/sqlite": "sqlite", "appsvc": "appsvc", "assets": "assets", "reviews": "reviews", "adapters/httpapi": "httpapi"} {
		b.Added[dir+"/mutant.go"] = "package " + name + "\n\nimport \"os\"\n\nfunc mutant(name string) bool { return os.Getenv(\"" + mutantVariable + "\") == name }\n"
	}
	for _, m := range guards {
		for _, e := range m.edits {
			e.New = strings.ReplaceAll(e.New, "MUTANT", fmt.Sprintf("mutant(%q)", m.name))
			b.Edits = append(b.Edits, e)
		}
	}
	path, err := b.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Without any one of the guards a test of this package fails. With all of them it passes.
func TestGuards(t *testing.T) {
	if testing.Short() {
		t.Skip("the guards are taken away without -short")
	}
	binary := buildMutants(t)
	var caught atomic.Int64
	t.Run("without", func(t *testing.T) {
		for _, m := range guards {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				said, err := runMutant(t, binary, m.name, m.by)
				switch {
				case err == nil:
					t.Errorf("nothing fails without it:\n%s", said)
				case !strings.Contains(said, "--- FAIL: Test"):
					t.Errorf("the tests end in another way: %v\n%s", err, said)
				default:
					caught.Add(1)
					t.Log(finding(said))
				}
			})
		}
	})
	if said, err := runMutant(t, binary, "none", byDisk+"(patch|put_a_tag)$"); err != nil {
		t.Errorf("with all guards: %v\n%s", err, said)
	}
	t.Logf("%d guards, %d missed when they are away", len(guards), caught.Load())
}

func runMutant(t *testing.T, binary, name, test string) (said string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, binary, "-test.run="+test, "-test.failfast", "-rounds=1")
	command.Env = append(os.Environ(), mutantVariable+"="+name)
	out, err := command.CombinedOutput()
	if ctx.Err() != nil {
		err = errors.Join(err, errors.New("it does not end"))
	}
	return string(out), err
}

// finding is the line that tells what was found.
func finding(said string) string {
	for line := range strings.Lines(said) {
		if strings.Contains(line, "_test.go:") {
			return fmt.Sprintf("%.200s", strings.TrimSpace(line))
		}
	}
	return ""
}
