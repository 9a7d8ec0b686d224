package sqlite

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// maxAnyOf is the most terms that a set may have in one MATCH: each costs SQLite an open iterator. A
// larger set is asked for in pieces.
const maxAnyOf = 512

// Assets yields the assets that match q.
func (r *assetReader) Assets(ctx context.Context, q assets.AssetQuery) iter.Seq2[assets.Record, error] {
	return stream.Of(func(out func(assets.Record) bool) error { return r.assets(ctx, q, out) })
}

func (r *assetReader) assets(ctx context.Context, q assets.AssetQuery, out func(assets.Record) bool) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	first, last := r.places(q.After, q.Before)
	if first > last {
		return nil
	}
	found, ok, err := r.matching(q.All)
	switch {
	case err != nil:
		return err
	case ok:
		return r.fetch(ctx, found.between(ordinalOf(first), ordinalOf(last), q.Ascending), q.Limit, out)
	}
	pieces, ok := split(q.All)
	switch {
	case !ok:
		return nil
	case len(pieces) == 1:
		return r.rows(ctx, q, pieces[0], out)
	}
	// What matches is the union of what the pieces match. Each is asked for as much as is wanted of all.
	places, err := r.union(ctx, pieces, first, last, direction(q), limitOf(q))
	if err != nil {
		return err
	}
	slices.SortFunc(places, q.Compare)
	places = slices.Compact(places)
	for i := range places {
		places[i] = ordinalOf(places[i])
	}
	return r.fetch(ctx, slices.Values(places), q.Limit, out)
}

// atOnce is how many rows are asked for at once.
const atOnce = 64

// fetch yields the assets with these ordinals, at most limit; 0 = all.
func (r *assetReader) fetch(ctx context.Context, ordinals iter.Seq[int64], limit int, out func(assets.Record) bool) error {
	var err error
	wanted, n, more := append(make([]byte, 0, 16*atOnce), '['), 0, true
	ask := func() {
		if n > 0 {
			wanted[len(wanted)-1] = ']'
			more, err = r.listed(ctx, string(wanted), out)
			wanted, n = wanted[:1], 0
		}
	}
	for ordinal := range ordinals {
		wanted = append(strconv.AppendInt(wanted, r.place(ordinal), 10), ',')
		n++
		if limit--; limit == 0 {
			break
		}
		if n == atOnce {
			if ask(); !more || err != nil {
				return err
			}
		}
	}
	ask()
	return err
}

// listed yields the assets at the places of a JSON array, in its order.
func (r *assetReader) listed(ctx context.Context, places string, out func(assets.Record) bool) (more bool, err error) {
	if err := r.check(ctx); err != nil {
		return false, err
	}
	rows := r.c.query("SELECT "+assetColumns+" FROM json_each($1) AS wanted CROSS JOIN asset ON asset.place = wanted.value", places)
	defer rows.close()
	for rows.next() {
		if !out(assetOf(rows)) {
			return false, nil
		}
	}
	return true, rows.err
}

// rows yields the assets that one expression matches; "" is all of them.
func (r *assetReader) rows(ctx context.Context, q assets.AssetQuery, match string, out func(assets.Record) bool) error {
	sql := "SELECT " + assetColumns + " FROM asset WHERE $1 = '' AND place BETWEEN $2 AND $3 ORDER BY place"
	if match != "" {
		// The join is a CROSS JOIN so that the index leads it, and gives the order.
		sql = "SELECT " + assetColumns + ` FROM asset_term CROSS JOIN asset ON asset.place = asset_term.rowid
			WHERE asset_term MATCH $1 AND asset_term.rowid BETWEEN $2 AND $3 ORDER BY asset_term.rowid`
	}
	first, last := r.places(q.After, q.Before)
	rows := r.c.query(sql+direction(q)+" LIMIT $4", match, first, last, limitOf(q))
	defer rows.close()
	for rows.next() && out(assetOf(rows)) {
		if err := r.check(ctx); err != nil {
			return err
		}
	}
	return rows.err
}

// union returns the places, between two, of what each piece matches, up to limit for each.
func (r *assetReader) union(ctx context.Context, pieces []string, first, last int64, order string, limit int) ([]int64, error) {
	var places []int64
	for _, match := range pieces {
		if err := r.check(ctx); err != nil {
			return nil, err
		}
		rows := r.c.query("SELECT rowid FROM asset_term WHERE asset_term MATCH $1 AND rowid BETWEEN $2 AND $3 ORDER BY rowid"+
			order+" LIMIT $4", match, first, last, limit)
		for rows.next() {
			places = append(places, rows.int(0))
		}
		if rows.err != nil {
			return nil, rows.err
		}
	}
	return places, nil
}

func direction(q assets.AssetQuery) string {
	if q.Ascending {
		return ""
	}
	return " DESC"
}

func limitOf(q assets.AssetQuery) int {
	if q.Limit > 0 {
		return q.Limit
	}
	return -1
}

// Count counts the assets that match q.
func (r *assetReader) Count(ctx context.Context, q assets.AssetQuery) (int64, error) {
	if err := r.check(ctx); err != nil {
		return 0, err
	}
	first, last := r.places(q.After, q.Before)
	if first > last {
		return 0, nil
	}
	found, ok, err := r.matching(q.All)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		pieces, ok := split(q.All)
		if !ok {
			return 0, nil
		}
		return r.count(ctx, pieces, first, last)
	case q.After == 0 && q.Before == 0:
		return int64(found.n), nil
	}
	var n int64
	for range found.between(ordinalOf(first), ordinalOf(last), true) {
		n++
	}
	return n, nil
}

// count counts what the pieces match between two places.
func (r *assetReader) count(ctx context.Context, pieces []string, first, last int64) (int64, error) {
	if len(pieces) > 1 {
		places, err := r.union(ctx, pieces, first, last, "", -1)
		slices.Sort(places)
		return int64(len(slices.Compact(places))), err
	}
	if pieces[0] == "" {
		return r.c.value("SELECT count(*) FROM asset WHERE place BETWEEN $1 AND $2", first, last)
	}
	return r.c.value("SELECT count(*) FROM asset_term WHERE asset_term MATCH $1 AND rowid BETWEEN $2 AND $3", pieces[0], first, last)
}

// split writes the sets as MATCH expressions, of which together those match that all the sets match:
// one, or more when a set is too large. Not ok means that nothing can match.
func split(all []assets.AnyOf) (pieces []string, ok bool) {
	pieces = []string{""}
	for _, set := range all {
		if len(set) == 0 {
			return nil, false
		}
		var next []string
		for part := range slices.Chunk(set, maxAnyOf) {
			expression := anyOf(part)
			for _, piece := range pieces {
				if piece != "" {
					piece += " AND "
				}
				next = append(next, piece+expression)
			}
		}
		pieces = next
	}
	return pieces, true
}

// anyOf writes a set as an expression.
func anyOf(set assets.AnyOf) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, term := range set {
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteByte('"')
		encodeTerm(&b, term)
		b.WriteByte('"')
	}
	b.WriteByte(')')
	return b.String()
}

// encodeTerm writes a term in the characters that the tokenizer passes as they are: lower-case
// letters, digits and all that is not ASCII. Others become an underscore and two digits.
func encodeTerm(b *strings.Builder, term string) {
	const digits = "0123456789abcdef"
	for i := range len(term) {
		switch c := term[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c >= 0x80:
			b.WriteByte(c)
		default:
			b.Write([]byte{'_', digits[c>>4], digits[c&15]})
		}
	}
}
