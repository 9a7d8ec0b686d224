package postgres

import (
	"bytes"
	"context"

	"github.com/vitrine-go/vitrine/adapters/webhook/webhookstore"
)

// Webhooks returns the store of the positions of webhooks.
func (db *DB) Webhooks() webhookstore.Store { return webhookStore{db} }

type webhookStore struct{ db *DB }

var webhookErrors = sentinels{webhookstore.ErrBusy, webhookstore.ErrFull, webhookstore.ErrUnknown}

// Get returns the value of a name.
func (s webhookStore) Get(ctx context.Context, name string) (value []byte, err error) {
	err = s.db.view(ctx, func(c *conn) error {
		found := c.query(ctx, "SELECT value FROM webhook WHERE name = $1", name)
		value = nil // of an earlier run of this function
		if found.next() {
			value = bytes.Clone(found.blob(0))
		}
		return found.err
	})
	return value, webhookErrors.wrap(err)
}

// Swap replaces the value of a name if it is prev. Each way is one statement, which waits for an update that changes
// the same row, and looks at the value that it left.
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
