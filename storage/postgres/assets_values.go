package postgres

import (
	"context"
	"encoding/base64"
	"iter"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// attributeList begins the name of the posting list of an attribute. No term begins so, since terms are UTF-8.
const attributeList = "\xff"

// listOf returns the name of the posting list of an attribute. It has a digest, since keys and values may be longer than an index
// holds. So the values of a key are not found by the names of lists, but in the table asset_value.
func listOf(a assetstore.Attribute) string {
	return attributeList + base64.RawStdEncoding.EncodeToString([]byte(digest(a.Key, a.Value)))
}

// valueHead is how many bytes of a value are in the index that sorts the values.
const valueHead = 64

// valuePortion is how many values, or parts of their lists, one round trip reads.
const valuePortion = 256

// Values yields the values that attributes with this key have in the assets that match all the sets, in byte order and each
// once.
func (r *assetReader) Values(ctx context.Context, key string, all []assetstore.AnyOf) iter.Seq2[string, error] {
	return stream.Of(func(out func(string) bool) error { return r.values(ctx, key, all, out) })
}

// values walks the values of the key. Without sets, each value that the table has is in some asset. Otherwise it reads the list
// of each value, part by part, until a part shares an ordinal with what matches.
func (r *assetReader) values(ctx context.Context, key string, all []assetstore.AnyOf, out func(string) bool) error {
	if err := r.ready(ctx); err != nil {
		return err
	}
	if len(all) == 0 {
		found := r.c.walk(ctx, valuePortion, "SELECT value FROM asset_value WHERE library = $1 AND key = $2 ORDER BY head, value", r.key, digest(key))
		defer found.close()
		for found.next() {
			if err := r.check(ctx); err != nil {
				return err
			}
			if !out(found.text(0)) {
				return nil
			}
		}
		return found.err
	}
	matches, err := r.found(ctx, assetstore.AssetQuery{All: all})
	if err != nil || len(matches) == 0 {
		return err
	}
	// The OFFSET keeps the planner from a join that reads all lists before the first value.
	found := r.c.walk(ctx, valuePortion, `SELECT v.value, p.ordinals FROM asset_value v
		CROSS JOIN LATERAL (SELECT ordinals FROM asset_list WHERE library = v.library AND term = v.term OFFSET 0) p
		WHERE v.library = $1 AND v.key = $2 ORDER BY v.head, v.value`, r.key, digest(key))
	defer found.close()
	last, some := "", false
	for found.next() {
		value := found.text(0)
		if some && value == last {
			continue
		}
		meets, err := matches.meets(found.blob(1))
		if err != nil {
			return err
		}
		if !meets {
			continue
		}
		if err := r.check(ctx); err != nil {
			return err
		}
		last, some = value, true
		if !out(value) {
			return nil
		}
	}
	return found.err
}
