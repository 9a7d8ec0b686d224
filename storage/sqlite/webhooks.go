package sqlite

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
		value, err = c.webhook(name)
		return err
	})
	return value, webhookErrors.wrap(err)
}

// Swap replaces the value of a name by next if it is prev, and reports whether it was. An empty prev stands for no value, and an
// empty next removes the value. An update is alone in writing, so nobody changes the value between the read and the write.
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

// webhook returns the value of a name, nil if it has none.
func (c *conn) webhook(name string) ([]byte, error) {
	rows := c.query("SELECT value FROM webhook WHERE name = $1", []byte(name))
	defer rows.close()
	if !rows.next() {
		return nil, rows.err
	}
	return rows.blob(0), nil
}
