//go:build proof

package linear

import (
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/mutant"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// mutants are changes for the worse of the code under test. MUTANT stands for whether it is on;
// the histories of By must catch it.
var mutants = []mutant.Mutant{
	{Name: "patch does not test the version again inside of the write", By: "memory", Edits: []program.Edit{{
		File: "appsvc/patch.go",
		Old:  "if latest.Version != head.Version {",
		New:  "if latest.Version != head.Version && !MUTANT {",
	}}},
	{Name: "a tag is put without a look at the version", By: "memory", Edits: []program.Edit{{
		File: "appsvc/tag.go",
		Old:  "app, err = s.versionFor(ctx, by, usableHead, in.AppID, in.Version)\n\t\tif err == nil && in.Embed {",
		New: "app, err = s.versionFor(ctx, by, usableHead, in.AppID, in.Version)\n" +
			"if MUTANT { err = nil; if in.Version != Latest { app.Version = in.Version } }\n\t\tif err == nil && in.Embed {",
	}}},
	{Name: "restore of the latest copies the one before the write", By: "memory", Edits: []program.Edit{{
		File: "appsvc/restore.go",
		Old:  "if in.Version == Latest && old.Version != head.Version {",
		New:  "if in.Version == Latest && old.Version != head.Version && !MUTANT {",
	}}},
	{Name: "restore numbers its version outside of the transaction", By: "sqlite", Edits: []program.Edit{{
		File: "appsvc/restore.go",
		Old:  "return s.addVersion(ctx, tx, by, c, s.nextMeta(head, by), d, s.limits.AppBytes)",
		New: "if MUTANT { head.Version = old.Version }\n" +
			"return s.addVersion(ctx, tx, by, c, s.nextMeta(head, by), d, s.limits.AppBytes)",
	}}},
	{Name: "the clock may take updatedAt back", By: "memory", Edits: []program.Edit{{
		File: "appsvc/addversion.go",
		Old:  "m.UpdatedAt = max(s.millis(), h.UpdatedAt)",
		New: "m.UpdatedAt = max(s.millis(), h.UpdatedAt)\n" +
			"if MUTANT { m.UpdatedAt = s.millis() }",
	}}},
	{Name: "an answer is kept though the write failed", By: "sqlite", Edits: []program.Edit{{
		File: "appsvc/idempotency.go",
		Old:  "if err := fn(tx); err != nil {\n\t\t\treturn err",
		New: "if err := fn(tx); err != nil {\n" +
			"if MUTANT { failed = err; return w.remember(ctx, tx, now, result) }\n\t\t\treturn err",
	}, {
		File: "appsvc/idempotency.go",
		Old:  "\terr = s.store.Update(ctx, func(tx Tx) error {",
		New:  "var failed error\ndefer func() { if err == nil { err = failed } }()\n\terr = s.store.Update(ctx, func(tx Tx) error {",
	}}},
	{Name: "a kept answer is not looked for inside of the write", By: "memory", Edits: []program.Edit{{
		File: "appsvc/idempotency.go",
		Old:  "if err := w.replay(ctx, tx, now, result); err != nil {",
		New:  "if err := w.replay(ctx, tx, now, result); err != nil && !MUTANT {",
	}}},
	{Name: "memory: updates run at the same time", By: "memory", Edits: []program.Edit{{
		File: "storage/memory/apps.go",
		Old:  "s.writer.Lock()\n\tdefer s.writer.Unlock()",
		New:  "if !MUTANT { s.writer.Lock()\n\tdefer s.writer.Unlock() }",
	}}},
	{Name: "memory: a refused update is kept", By: "memory", Edits: []program.Edit{{
		File: "storage/memory/apps.go",
		Old:  "if err := fn(appTx{&next}); err != nil {",
		New:  "if err := fn(appTx{&next}); err != nil { if MUTANT { s.now.Store(&next) }",
	}}},
	{Name: "memory: a View reads the present, whatever it read before", By: "memory", Edits: []program.Edit{{
		File: "storage/memory/apps.go",
		Old:  "return fn(s.now.Load())",
		New:  "if MUTANT { return fn(present{s.now.Load(), s}) }\n\treturn fn(s.now.Load())",
	}}},
	{Name: "a commit leaves the cache as it was", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/cache.go",
		Old:  "for _, e := range kept {",
		New:  "if MUTANT { kept = nil }\n\tfor _, e := range kept {",
	}}},
	{Name: "a commit of another process is not noticed", By: "shared", Edits: []program.Edit{{
		File: "storage/sqlite/cache.go",
		Old:  "return now, k.at == now",
		New:  "if MUTANT { return k.at, true }\n\treturn now, k.at == now",
	}}},
	{Name: "what was read before a commit is cached after it", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/cache.go",
		Old:  "if k.at == at {\n\t\tk.set(e)",
		New:  "if k.at == at || MUTANT {\n\t\tk.set(e)",
	}}},
	{Name: "a View mixes what is cached with a later snapshot", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/apps.go",
		Old:  "if c.at != r.at {",
		New:  "if c.at != r.at && !MUTANT {",
	}}},
	{Name: "an update is answered before its commit", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  "lost := w.commit(others)\n",
		New:  "if MUTANT { for _, f := range followers { f.settled <- nil } }\n\t\tlost := w.commit(others)\n",
	}}},
	{Name: "the savepoint of a refused update stays", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  `w.c.exec("ROLLBACK TO one")`,
		New:  "w.c.exec(map[bool]string{false: `ROLLBACK TO one`, true: `SAVEPOINT two`}[MUTANT])",
	}}},
	{Name: "the cache holds what a refused update wrote", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  "if err == nil {\n\t\tmaps.Copy(",
		New:  "if err == nil || MUTANT {\n\t\tmaps.Copy(",
	}}},
	{Name: "a refused update takes its neighbours with it", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  "} else if _, err := w.c.exec(",
		New: "} else if MUTANT { w.c.exec(`ROLLBACK`); w.c.exec(`BEGIN IMMEDIATE`); w.c.exec(`SAVEPOINT one`)\n" +
			"\t} else if _, err := w.c.exec(",
	}}},
	{Name: "an update that failed is answered with its neighbours' success", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/writer.go",
		Old:  "if lost := <-f.settled; lost != nil {\n\t\treturn lost\n\t}\n",
		New:  "if lost := <-f.settled; lost != nil || MUTANT {\n\t\treturn lost\n\t}\n",
	}}},
	{Name: "an update does not see its neighbours in the cache's place", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/conn.go",
		Old:  "e, found = c.earlier[key]",
		New:  "e, found = c.earlier[key]\n\tif MUTANT { return nil, false }",
	}}},
	{Name: "a tag is not deleted but said to be", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/tags.go",
		Old:  "DELETE FROM tag WHERE app = $1 AND name = $2\", appID, name)",
		New:  "DELETE FROM tag WHERE app = $1 AND name = $2\", appID, name)\n\tif MUTANT { t.c.exec(`INSERT INTO tag (app, name, version) VALUES ($1, $2, 0)`, appID, name) }",
	}}},
	{Name: "an old version tells the time of its neighbour", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/apps_version.go",
		Old:  "m.Version, m.UpdatedAt, m.UpdatedBy = appsvc.NewVersion(v.Number), v.UpdatedAt, v.UpdatedBy",
		New: "m.Version, m.UpdatedBy = appsvc.NewVersion(v.Number), v.UpdatedBy\n" +
			"\tif !MUTANT { m.UpdatedAt = v.UpdatedAt }",
	}}},
	{Name: "an old version is the one before it", By: "sqlite", Edits: []program.Edit{{
		File: "storage/sqlite/apps_version.go",
		Old:  "old, err := r.db.codec.Read(tail, c.history(h.key, v.Number()), v.Number())",
		New: "if MUTANT && v.Number() > 0 { v = appsvc.NewVersion(v.Number() - 1) }\n" +
			"\t\told, err := r.db.codec.Read(tail, c.history(h.key, v.Number()), v.Number())",
	}}},
	{Name: "a refused update leaves its entry in the feed", By: "memory", Edits: []program.Edit{{
		File: "storage/memory/apps.go",
		Old:  "if err := fn(appTx{&next}); err != nil {",
		New:  "if err := fn(appTx{&next}); err != nil {\nif MUTANT { with := *s.now.Load(); with.feed = next.feed; s.now.Store(&with) }\n",
	}}},
	{Name: "the entry of a change is written in a transaction of its own", By: "sqlite", Edits: []program.Edit{{
		File: "appsvc/feedrecord.go",
		Old:  "if err := tx.AddEntry(ctx, recordOf(by, c, at).entry()); err != nil {",
		New: "if MUTANT { go func() { _ = s.store.Update(context.WithoutCancel(ctx), func(tx Tx) error { return tx.AddEntry(context.WithoutCancel(ctx), recordOf(by, c, at).entry()) }) }(); return nil }\n" +
			"if err := tx.AddEntry(ctx, recordOf(by, c, at).entry()); err != nil {",
	}}},
	{Name: "a cursor is one too low", By: "memory", Edits: []program.Edit{{
		File: "internal/feed/walk.go",
		Old:  "return seal.Close(at), more, nil",
		New:  "if MUTANT && at.Number > 0 { at.Number-- }\n\treturn seal.Close(at), more, nil",
	}}},
	{Name: "a cursor is one too high", By: "memory", Edits: []program.Edit{{
		File: "internal/feed/walk.go",
		Old:  "return seal.Close(at), more, nil",
		New:  "if MUTANT && more { at.Number++ }\n\treturn seal.Close(at), more, nil",
	}}},
	{Name: "a follower that is woken skips the change that has woken it", By: "memory", Edits: []program.Edit{{
		File: "appsvc/watch.go",
		Old:  "from = a.seal.Close(until)",
		New:  "if MUTANT { until.Number++ }\n\t\t\tfrom = a.seal.Close(until)",
	}}},
	{Name: "a repeat with an idempotency key has an entry again", By: "memory", Edits: []program.Edit{{
		File: "appsvc/tag.go",
		Old:  "if err != nil || from == app.Version {",
		New:  "if MUTANT && err == nil && from == app.Version { return s.addToFeed(ctx, tx, by, Change{Type: TagSet, AppID: in.AppID, Before: head, After: head, From: from, To: app.Version, Tag: in.Name}) }\n\t\tif err != nil || from == app.Version {",
	}}},
	{Name: "a refused update leaves its entry in the feed of the library", By: "library-memory", Edits: []program.Edit{{
		File: "storage/memory/assets.go",
		Old:  "if err := fn(assetTx{&next}); err != nil {",
		New:  "if err := fn(assetTx{&next}); err != nil {\nif MUTANT { with := *s.find(now, lib); with.feed = next.feed; all := now.put(&with); s.now.Store(&all) }\n",
	}}},
	{Name: "the entry of a change of a library is written in a transaction of its own", By: "library-sqlite", Edits: []program.Edit{{
		File: "assets/feed.go",
		Old:  "if err := req.tx.AddEntry(req.ctx, req.changes.entry(req.URN, now)); err != nil {",
		New: "if e, ctx := req.changes.entry(req.URN, now), context.WithoutCancel(req.ctx); MUTANT { go func() { _ = req.store.Update(ctx, req.lib, func(tx Tx) error { return tx.AddEntry(ctx, e) }) }(); return nil }\n" +
			"if err := req.tx.AddEntry(req.ctx, req.changes.entry(req.URN, now)); err != nil {",
	}}},
	{Name: "an asset that is replaced has no entry", By: "library-memory", Edits: []program.Edit{{
		File: "assets/feedentry.go",
		Old:  "if !c.added[ordinal] {",
		New:  "if !c.added[ordinal] && !MUTANT {",
	}}},
	{Name: "an asset that is removed is told as a changed one", By: "library-shared", Edits: []program.Edit{{
		File: "assets/feedentry.go",
		Old:  "note(&c.removed, ordinal)",
		New:  "if MUTANT { note(&c.changed, ordinal); return }\n\tnote(&c.removed, ordinal)",
	}}},
	{Name: "PostgreSQL: a group of updates does not lock what it reads", By: "postgres", Edits: []program.Edit{{
		File: "storage/postgres/group.go",
		Old:  `FROM app WHERE id = ANY($1) FOR UPDATE SKIP LOCKED", ids)`,
		New:  `FROM app WHERE id = ANY($1)"+map[bool]string{false: " FOR UPDATE SKIP LOCKED"}[MUTANT], ids)`,
	}}},
	{Name: "PostgreSQL: a View gets what a query has read that began before it", By: "postgres", Edits: []program.Edit{{
		File: "storage/postgres/sharedreads.go", // most Views have to wait, as they would with many clients
		Old:  "if s.running < maxReads {",
		New:  "if s.running < maxReads && !(MUTANT && s.running > 0) {",
	}, {
		File: "storage/postgres/sharedreads.go",
		Old:  "for _, v := range views {\n\t\tif err != nil {",
		New: "if MUTANT {\n\t\ttime.Sleep(time.Millisecond)\n\t\tdb.reads.mu.Lock()\n\t\tlate := slices.DeleteFunc(slices.Clone(db.reads.waiting), func(r *sharedRead) bool { return apps[r.app] == nil })\n" +
			"\t\tdb.reads.waiting = slices.DeleteFunc(db.reads.waiting, func(r *sharedRead) bool { return apps[r.app] != nil })\n\t\tdb.reads.mu.Unlock()\n\t\tviews = append(views, late...)\n\t}\n" +
			"\tfor _, v := range views {\n\t\tif err != nil {",
	}}},
	{Name: "PostgreSQL: a position is a number from a sequence alone", By: "postgres", Edits: []program.Edit{{
		File: "storage/postgres/feed.go",
		Old:  "func (t *appTx) AddEntry(ctx context.Context, e appsvc.FeedEntry) error {",
		New: "func (t *appTx) AddEntry(ctx context.Context, e appsvc.FeedEntry) error {\n" +
			"\tif MUTANT { t.c.later(`INSERT INTO app_change (round, number, at, names, data) SELECT 0, nextval('app_change_number'), $1, $2, $3`, e.At, joinList(e.Names), orEmpty(bytes.Clone(e.Data))); return nil }",
	}}},
}

// presentReader is what a mutant of the memory driver reads with.
const presentReader = `package memory

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine/appsvc"
)

type present struct {
	*appState
	s *appStore
}

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

// TestMutants runs the histories on each mutant until one is found wrong, and some on none.
func TestMutants(t *testing.T) {
	mutant.Hunt{
		Program: program.Build{Module: module, Package: "./internal/proof/linear", Test: true,
			Added: map[string]string{"storage/memory/present.go": presentReader}},
		Mutants:  mutants,
		Controls: []string{"memory", "sqlite", "shared", "library-memory", "library-sqlite", "library-shared"},
		Command: func(binary string, m mutant.Mutant) []string {
			histories := "400"
			if m.Name == "" {
				histories = "20"
			}
			if m.By == "postgres" {
				return []string{binary, "-test.run=^TestHistoriesInPostgreSQL$", "-postgres", histories}
			}
			return []string{binary, "-test.run=^TestHistories$/^" + m.By + "$", "-memory", histories, "-sqlite", histories, "-shared", histories}
		},
	}.Run(t)
}
