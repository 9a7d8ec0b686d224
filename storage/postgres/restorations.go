package postgres

import (
	"context"
	"iter"
	"math"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Restorations yields restorations of an app, from the highest version below q.Before down.
func (r *appReader) Restorations(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.Restoration, error] {
	return stream.Limited(ctx, r.check, q.Limit, func(out func(appsvc.Restoration) bool) error { return r.restorations(ctx, q, out) })
}

// restorations reads the restorations in portions, from the newest on, so that a list that is left early costs one round trip. An
// Update locks the app first, even if there is none with this id.
func (r *appReader) restorations(ctx context.Context, q appsvc.VersionQuery, out func(appsvc.Restoration) bool) error {
	if err := r.lockApp(ctx, q.AppID); err != nil {
		return err
	}
	c, err := r.conn(ctx)
	if err != nil {
		return err
	}
	const portion = 256
	below := int64(math.MaxInt64)
	if before := q.Before.Number(); before >= 0 {
		below = before
	}
	for {
		found := c.query(ctx, "SELECT version, source FROM app_restoration WHERE app = $1 AND version < $2 ORDER BY version DESC LIMIT $3",
			q.AppID, below, portion)
		count := len(found.values)
		for found.next() {
			below = found.int(0)
			if !out(appsvc.Restoration{AppID: q.AppID, Version: vitrine.NewVersion(below), From: vitrine.NewVersion(found.int(1))}) {
				return nil
			}
		}
		if found.err != nil || count < portion {
			return found.err
		}
	}
}

// AddRestoration stores where the content of a version comes from. The row is sent with the commit.
func (t *appTx) AddRestoration(ctx context.Context, r appsvc.Restoration) error {
	if err := t.lockApp(ctx, r.AppID); err != nil {
		return err
	}
	t.c.later("INSERT INTO app_restoration (app, version, source) VALUES ($1, $2, $3)", r.AppID, r.Version.Number(), r.From.Number())
	return nil
}
