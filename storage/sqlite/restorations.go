package sqlite

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Restorations yields restorations of an app, from the highest version below q.Before down, or from the latest if q.Before is
// zero.
func (r *appReader) Restorations(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.Restoration, error] {
	return stream.Limited(ctx, r.check, q.Limit, func(out func(appsvc.Restoration) bool) error { return r.restorations(ctx, q, out) })
}

// restorations reads one range of keys: those of the versions of an app are neighbours, see historyKey.
func (r *appReader) restorations(ctx context.Context, q appsvc.VersionQuery, out func(appsvc.Restoration) bool) error {
	h, err := r.head(ctx, q.AppID)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	below := h.Version.Number() + 1
	if before := q.Before.Number(); before >= 0 {
		below = min(below, before)
	}
	rows := c.query("SELECT key, source FROM app_restoration WHERE key >= $1 AND key < $2 ORDER BY key DESC",
		historyKey(h.key, 0), historyKey(h.key, 0)+below)
	defer rows.close()
	for rows.next() && out(appsvc.Restoration{
		AppID: q.AppID, Version: vitrine.NewVersion(rows.int(0) & maxVersion), From: vitrine.NewVersion(rows.int(1)),
	}) {
	}
	return rows.err
}

// AddRestoration stores where the content of a version comes from, under the same key as the version has in
// app_history.
func (t *appTx) AddRestoration(ctx context.Context, r appsvc.Restoration) error {
	h, err := t.head(ctx, r.AppID)
	if err != nil {
		return err
	}
	_, err = t.c.insert("INSERT INTO app_restoration (key, source) VALUES ($1, $2)",
		historyKey(h.key, r.Version.Number()), r.From.Number())
	return err
}
