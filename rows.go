package vitrine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine/storage"
)

// Unique is for a rule in Options.Check by which no two objects have the same value, such as a slug. rows are those of
// a name that nothing else uses (Change.Rows), id is the object, and before and after are its values before and after
// the change: after is empty for an object that is deleted. Values that the object no longer has are free.
//
// If another object has a value, Unique returns ErrUnprocessable with the code CodeRule; set its Pointer.
func Unique(ctx context.Context, rows storage.Tx, id string, before, after []string) error {
	all := slices.Concat(after, before)
	owners, err := rows.Get(ctx, hashed(all)...)
	if err != nil {
		return err
	}
	var gone []string
	for i, value := range all {
		switch mine := string(owners[i]) == id; {
		case i < len(after) && owners[i] != nil && !mine:
			return &Error{Kind: ErrUnprocessable, Code: CodeRule, Reason: fmt.Sprintf("%q is taken", value)}
		case i >= len(after) && mine:
			gone = append(gone, hash(value))
		}
	}
	if err := rows.Delete(ctx, gone...); err != nil {
		return err
	}
	for _, value := range after {
		if err := rows.Put(ctx, storage.Entry{Key: hash(value), Value: []byte(id)}); err != nil {
			return err
		}
	}
	return nil
}

// Reference is for a rule in Options.Check by which nothing is deleted that another object refers to. rows, id, before
// and after are as those of Unique, but before and after are the ids of the objects that the object refers to.
// References that the object no longer has are free. Referenced is the other half of the rule.
func Reference(ctx context.Context, rows storage.Tx, id string, before, after []string) error {
	for _, to := range before {
		if err := rows.Delete(ctx, hash(to)+hash(id)); err != nil {
			return err
		}
	}
	for _, to := range after {
		if err := rows.Put(ctx, storage.Entry{Key: hash(to) + hash(id), Value: []byte(id)}); err != nil {
			return err
		}
	}
	return nil
}

// Referenced returns ErrUnprocessable with the code CodeRule if objects refer to the one with an id, which is about to
// be deleted: rows are those of Reference. References of the object to itself do not count.
func Referenced(ctx context.Context, rows storage.Tx, id string) error {
	for e, err := range rows.Scan(ctx, storage.Prefix(hash(id))) {
		if err != nil {
			return err
		}
		if string(e.Value) != id {
			return &Error{Kind: ErrUnprocessable, Code: CodeRule, Reason: fmt.Sprintf("%s refers to it", e.Value)}
		}
	}
	return nil
}

// hash returns the key of a value, which may be longer than a key.
func hash(value string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(value))) }

func hashed(values []string) []string {
	keys := make([]string, len(values))
	for i, value := range values {
		keys[i] = hash(value)
	}
	return keys
}
