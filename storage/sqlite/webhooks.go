package sqlite

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
		value, err = c.webhook(name)
		return err
	})
	return value, webhookErrors.wrap(err)
}

// Swap replaces the value of a name if it is prev.
func (s webhookStore) Swap(ctx context.Context, name string, prev, next []byte) (swapped bool, err error) {
	err = s.db.update(ctx, func(c *conn) error {
		now, err := c.webhook(name)
		if swapped = err == nil && bytes.Equal(now, prev); !swapped {
			return err
		}
		if len(next) == 0 {
			_, err = c.exec("DELETE FROM webhook WHERE name = $1", []byte(name))
		} else {
			_, err = c.exec("INSERT OR REPLACE INTO webhook (name, value) VALUES ($1, $2)", []byte(name), next)
		}
		return err
	})
	return swapped && err == nil, webhookErrors.wrap(err)
}

func (c *conn) webhook(name string) ([]byte, error) {
	rows := c.query("SELECT value FROM webhook WHERE name = $1", []byte(name))
	defer rows.close()
	if !rows.next() {
		return nil, rows.err
	}
	return rows.blob(0), nil
}
