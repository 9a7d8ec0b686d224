package postgres

import (
	"bytes"
	"context"

	"github.com/vitrine-go/vitrine/adapters/webhook/webhookstore"
)

// Webhooks returns the store in which package webhook keeps the positions of endpoints and the lease of the process that
// delivers.
func (db *DB) Webhooks() webhookstore.Store { return webhookStore{db} }

type webhookStore struct{ db *DB }

var webhookErrors = sentinels{webhookstore.ErrBusy, webhookstore.ErrFull, webhookstore.ErrUnknown}

// Get returns the value of a name, nil if it has none.
func (s webhookStore) Get(ctx context.Context, name string) (value []byte, err error) {
	err = s.db.view(ctx, func(c *conn) error {
		found := c.query(ctx, "SELECT value FROM webhook WHERE name = $1", name)
		value = nil // an earlier run of this function may have set it
		if found.next() {
			value = bytes.Clone(found.blob(0))
		}
		return found.err
	})
	return value, webhookErrors.wrap(err)
}

// Swap replaces the value of a name by next if it is prev, and reports whether it was. An empty prev stands for no value, and an
// empty next removes the value. In each case one statement does both, and needs no lock before: if another update is
// changing the row, the statement waits for its commit and compares with the new value.
func (s webhookStore) Swap(ctx context.Context, name string, prev, next []byte) (swapped bool, err error) {
	err = s.db.update(ctx, func(c *conn) error {
		var changed int64
		var err error
		switch {
		case len(prev) == 0 && len(next) == 0:
			found := c.query(ctx, "SELECT 1 FROM webhook WHERE name = $1", name)
			swapped = !found.next()
			return found.err
		case len(prev) == 0:
			changed, err = c.exec(ctx, "INSERT INTO webhook (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name, next)
		case len(next) == 0:
			changed, err = c.exec(ctx, "DELETE FROM webhook WHERE name = $1 AND value = $2", name, prev)
		default:
			changed, err = c.exec(ctx, "UPDATE webhook SET value = $3 WHERE name = $1 AND value = $2", name, prev, next)
		}
		swapped = changed == 1
		return err
	})
	return swapped && err == nil, webhookErrors.wrap(err)
}
