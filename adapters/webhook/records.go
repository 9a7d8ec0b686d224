package webhook

import (
	"bytes"
	"context"

	"github.com/vitrine-go/vitrine/adapters/webhook/webhookstore"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// The values are in a space of their own, each in a record value/<name> that Swap changes.
const recordSpace = "webhooks"

func recordKey(name string) string { return record.Key(recordSpace, "value/", name) }

// records is the store of webhooks in a store of keys and values.
type records struct{ db storage.Store }

// NewRecords returns the store of webhooks that a storage.Store has.
func NewRecords(db storage.Store) webhookstore.Store { return records{db} }

// Get returns the value of a name.
func (s records) Get(ctx context.Context, name string) (value []byte, err error) {
	err = s.db.View(ctx, func(r storage.Reader) error {
		values, err := r.Get(ctx, recordKey(name))
		if err == nil {
			value = bytes.Clone(values[0])
		}
		return err
	})
	return value, err
}

// Swap replaces the value of a name if it is prev.
func (s records) Swap(ctx context.Context, name string, prev, next []byte) (swapped bool, err error) {
	key := recordKey(name)
	err = s.db.Update(ctx, recordSpace, storage.UpdateOptions{}, func(t storage.Tx) error {
		values, err := t.Get(ctx, key)
		if err != nil {
			return err
		}
		if swapped = bytes.Equal(values[0], prev); !swapped {
			return nil
		}
		if len(next) == 0 {
			return t.Delete(ctx, key)
		}
		return t.Put(ctx, storage.Entry{Key: key, Value: bytes.Clone(next)})
	})
	return swapped && err == nil, err
}
