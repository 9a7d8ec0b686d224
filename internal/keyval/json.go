package keyval

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/vitrine-go/vitrine/storage"
)

// JSON returns a record with the JSON of a value. It panics for a value that has none, such as a function.
func JSON(key string, value any) storage.Entry {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return storage.Entry{Key: key, Value: text}
}

// Decode decodes the JSON of a record.
func Decode(e storage.Entry, to any) error {
	if err := json.Unmarshal(e.Value, to); err != nil {
		return Damaged(e.Key, err)
	}
	return nil
}

// Read decodes the JSON of the record with a key, and reports whether there is one.
func Read(ctx context.Context, r storage.Reader, key string, to any) (found bool, err error) {
	values, err := r.Get(ctx, key)
	if err != nil || values[0] == nil {
		return false, err
	}
	return true, Decode(storage.Entry{Key: key, Value: values[0]}, to)
}

// Damaged returns the error of a record that its domain cannot have written.
func Damaged(key string, err error) error {
	return fmt.Errorf("the record %q is damaged: %w", key, err)
}

// Keys returns the keys of records.
func Keys(entries []storage.Entry) []string {
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	return keys
}
