package linear

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// mutantVariable names the mutant that a program with all of them shall be.
const mutantVariable = "VITRINE_MUTANT"

// mutants are changes for the worse of the code under test. They are built into one program, and
// a run of it turns one of them on: MUTANT stands for whether it is.
var mutants = []struct {
	name  string
	where string // the histories that must catch it
	edits []program.Edit
}{
	{"patch does not test the version again inside of the write", "memory", []program.Edit{{
		File: "appsvc/patch.go",
		Old:  "if now.Version != head.Version {",
		New:  "if now.Version != head.Version && !MUTANT {",
	}}},
	{"a tag is put without a look at the version", "memory", []program.Edit{{
		File: "appsvc/tag.go",
		Old:  "app, err = s.Version(ctx, by, in.AppID, in.Version)\n\t\treturn err",
		New: "app, err = s.Version(ctx, by, in.AppID, in.Version)\n" +
			"if MUTANT { app.Version = max(in.Version, 0); err = nil }\n\t\treturn err",
	}}},
	{"restore of the latest copies the one before the write", "memory", []program.Edit{{
		File: "appsvc/restore.go",
		Old:  "if in.Version == Latest && old.Version != head.Version {",
		New:  "if in.Version == Latest && old.Version != head.Version && !MUTANT {",
	}}},
	{"restore numbers its version outside of the transaction", "sqlite", []program.Edit{{
		File: "appsvc/restore.go",
		Old:  "return s.addVersion(ctx, tx, s.next(head, by), d, s.limits.AppBytes)",
		New: "if MUTANT { head.Version = max(old.Version, in.Version) }\n" +
			"return s.addVersion(ctx, tx, s.next(head, by), d, s.limits.AppBytes)",
	}}},
	{"the clock may take updatedAt back", "memory", []program.Edit{{
		File: "appsvc/create.go",
		Old:  "m.UpdatedAt = max(s.millis(), h.UpdatedAt)",
		New: "m.UpdatedAt = max(s.millis(), h.UpdatedAt)\n" +
			"if MUTANT { m.UpdatedAt = s.millis() }",
	}}},
	{"an answer is kept though the write failed", "sqlite", []program.Edit{{
		File: "appsvc/answer.go",
		Old:  "if err := fn(tx); err != nil {\n\t\t\treturn err",
		New: "if err := fn(tx); err != nil {\n" +
			"if MUTANT { failed = err; return o.keep(ctx, tx, now, result) }\n\t\t\treturn err",
	}, {
		File: "appsvc/answer.go",
		Old:  "\terr = s.store.Update(ctx, func(tx Tx) error {",
		New:  "var failed error\ndefer func() { if err == nil { err = failed } }()\n\terr = s.store.Update(ctx, func(tx Tx) error {",
	}}},
	{"a kept answer is not looked for inside of the write", "memory", []program.Edit{{
		File: "appsvc/answer.go",
		Old:  "if err := o.answered(ctx, tx, now, result); err != nil {",
		New:  "if err := o.answered(ctx, tx, now, result); err != nil && !MUTANT {",
	}}},
	{"memory: updates run at the same time", "memory", []program.Edit{{
		File: "storage/memory/apps.go",
		Old:  "s.writer.Lock()\n\tdefer s.writer.Unlock()",
		New:  "if !MUTANT { s.writer.Lock()\n\tdefer s.writer.Unlock() }",
	}}},
	{"memory: a refused update is kept", "memory", []program.Edit{{
		File: "storage/memory/apps.go",
		Old:  "if err := fn(appTx{&next}); err != nil {",
		New:  "if err := fn(appTx{&next}); err != nil { if MUTANT { s.now.Store(&next) }",
	}}},
	{"memory: a View reads the present, whatever it read before", "memory", []program.Edit{{
		File: "storage/memory/apps.go",
		Old:  "return fn(s.now.Load())",
		New:  "if MUTANT { return fn(present{s}) }\n\treturn fn(s.now.Load())",
	}}},
	{"a commit leaves the cache as it was", "sqlite", []program.Edit{{
		File: "storage/sqlite/cache.go",
		Old:  "for _, e := range kept {",
		New:  "if MUTANT { kept = nil }\n\tfor _, e := range kept {",
	}}},
	{"a commit of another process is not noticed", "shared", []program.Edit{{
		File: "storage/sqlite/cache.go",
		Old:  "return now, k.at == now",
		New:  "if MUTANT { return k.at, true }\n\treturn now, k.at == now",
	}}},
	{"what was read before a commit is cached after it", "sqlite", []program.Edit{{
		File: "storage/sqlite/cache.go",
		Old:  "if k.at == at {\n\t\tk.set(e)",
		New:  "if k.at == at || MUTANT {\n\t\tk.set(e)",
	}}},
	{"a View mixes what is cached with a later snapshot", "sqlite", []program.Edit{{
		File: "storage/sqlite/apps.go",
		Old:  "if c.at != r.at {",
		New:  "if c.at != r.at && !MUTANT {",
	}}},
	{"an update is answered before its commit", "sqlite", []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  "lost := w.commit(others)\n",
		New:  "if MUTANT { for _, f := range followers { f.settled <- nil } }\n\t\tlost := w.commit(others)\n",
	}}},
	{"the savepoint of a refused update stays", "sqlite", []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  `w.c.exec("ROLLBACK TO one")`,
		New:  "w.c.exec(map[bool]string{false: `ROLLBACK TO one`, true: `SAVEPOINT two`}[MUTANT])",
	}}},
	{"the cache holds what a refused update wrote", "sqlite", []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  "if err == nil {\n\t\tmaps.Copy(",
		New:  "if err == nil || MUTANT {\n\t\tmaps.Copy(",
	}}},
	{"a refused update takes its neighbours with it", "sqlite", []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  "} else if _, err := w.c.exec(",
		New: "} else if MUTANT { w.c.exec(`ROLLBACK`); w.c.exec(`BEGIN IMMEDIATE`); w.c.exec(`SAVEPOINT one`)\n" +
			"\t} else if _, err := w.c.exec(",
	}}},
	{"an update that failed is answered with its neighbours' success", "sqlite", []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  "if lost := <-f.settled; lost != nil {\n\t\treturn lost\n\t}\n",
		New:  "if lost := <-f.settled; lost != nil || MUTANT {\n\t\treturn lost\n\t}\n",
	}}},
	{"an update does not see its neighbours in the cache's place", "sqlite", []program.Edit{{
		File: "storage/sqlite/conn.go",
		Old:  "e, found = c.earlier[key]",
		New:  "e, found = c.earlier[key]\n\tif MUTANT { return nil, false }",
	}}},
	{"a tag is not deleted but said to be", "sqlite", []program.Edit{{
		File: "storage/sqlite/tags.go",
		Old:  "DELETE FROM tag WHERE app = $1 AND name = $2\", appID, name)",
		New:  "DELETE FROM tag WHERE app = $1 AND name = $2\", appID, name)\n\tif MUTANT { t.c.exec(`INSERT INTO tag (app, name, version) VALUES ($1, $2, 0)`, appID, name) }",
	}}},
	{"an old version tells the time of its neighbour", "sqlite", []program.Edit{{
		File: "storage/sqlite/version.go",
		Old:  "m.Version, m.UpdatedAt, m.UpdatedBy = appsvc.Version(v.Number), v.UpdatedAt, v.UpdatedBy",
		New: "m.Version, m.UpdatedBy = appsvc.Version(v.Number), v.UpdatedBy\n" +
			"\tif !MUTANT { m.UpdatedAt = v.UpdatedAt }",
	}}},
	{"an old version is the one before it", "sqlite", []program.Edit{{
		File: "storage/sqlite/version.go",
		Old:  "old, err := r.db.codec.Read(tail, c.history(h.key, v), int64(v))",
		New: "if MUTANT && v > 0 { v-- }\n" +
			"\t\told, err := r.db.codec.Read(tail, c.history(h.key, v), int64(v))",
	}}},
}

// presentReader is what a mutant of the memory driver reads with.
const presentReader = `
type present struct{ s *Apps }

func (p present) Head(ctx context.Context, id string) (appsvc.Head, error) { return p.s.now.Load().Head(ctx, id) }
func (p present) App(ctx context.Context, id string, v appsvc.Version) (appsvc.App, error) { return p.s.now.Load().App(ctx, id, v) }
func (p present) Versions(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.App, error] { return p.s.now.Load().Versions(ctx, q) }
func (p present) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] { return p.s.now.Load().Apps(ctx, q) }
func (p present) Tags(ctx context.Context, q appsvc.TagQuery) iter.Seq2[appsvc.Tag, error] { return p.s.now.Load().Tags(ctx, q) }
func (p present) Components(ctx context.Context, q appsvc.ComponentQuery) iter.Seq2[appsvc.Component, error] { return p.s.now.Load().Components(ctx, q) }
func (p present) IDs(ctx context.Context) iter.Seq2[string, error] { return p.s.now.Load().IDs(ctx) }
func (p present) Answers(ctx context.Context) iter.Seq2[appsvc.Answer, error] { return p.s.now.Load().Answers(ctx) }
func (p present) Answer(ctx context.Context, by, key string) (appsvc.Answer, error) { return p.s.now.Load().Answer(ctx, by, key) }
`

// buildMutants builds the tests of this package on code that has every mutant in it, all asleep.
func buildMutants(t *testing.T) string {
	t.Helper()
	wake := "\n\nfunc mutant(name string) bool { return os.Getenv(\"" + mutantVariable + "\") == name }\n"
	b := program.Build{Module: module, Package: "./internal/proof/linear", Test: true, Added: map[string]string{
		"appsvc/mutant.go":         "package appsvc\n\nimport \"os\"" + wake,
		"storage/sqlite/mutant.go": "package sqlite\n\nimport \"os\"" + wake,
		"storage/memory/mutant.go": "package memory\n\nimport (\n\"context\"\n\"iter\"\n\"os\"\n\n\"github.com/vitrine-go/vitrine/appsvc\"\n)" + wake + presentReader,
	}}
	for _, m := range mutants {
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

// TestMutants runs the histories on each mutant, and on none.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("the mutants are looked at without -short")
	}
	binary := buildMutants(t)
	caught := 0
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			said, err := runMutant(t, binary, m.name, m.where)
			switch {
			case err == nil:
				t.Errorf("the histories do not catch it:\n%s", said)
			case !strings.Contains(said, "--- FAIL: TestHistories"):
				t.Errorf("it ends the histories in another way: %v\n%s", err, said)
			default:
				caught++
				t.Log(finding(said))
			}
		})
	}
	for _, where := range []string{"memory", "sqlite", "shared"} {
		if said, err := runMutant(t, binary, "none", where); err != nil {
			t.Errorf("without a mutant: %v\n%s", err, said)
		}
	}
	t.Logf("%d mutants, %d caught", len(mutants), caught)
}

// runMutant makes histories until one is found wrong.
func runMutant(t *testing.T, binary, name, where string) (said string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	histories := "400"
	if name == "none" {
		histories = "20"
	}
	command := exec.CommandContext(ctx, binary, "-test.run=^TestHistories$/^"+where+"$", "-memory", histories, "-sqlite", histories, "-shared", histories)
	command.Env = append(os.Environ(), mutantVariable+"="+name)
	command.Dir = t.TempDir()
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
			return strings.TrimSpace(line)
		}
	}
	return ""
}
