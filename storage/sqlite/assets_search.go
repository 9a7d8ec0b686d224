package sqlite

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// maxAnyOf is the largest number of terms of a set in one MATCH: SQLite opens an iterator for each. A larger set is
// split into several MATCH expressions, and their results are united.
const maxAnyOf = 512

// Assets yields the assets that match q, in its order.
func (r *assetReader) Assets(ctx context.Context, q assetstore.AssetQuery) iter.Seq2[assetstore.Record, error] {
	return stream.Of(func(out func(assetstore.Record) bool) error { return r.assets(ctx, q, out) })
}

// assets takes the result from a set, cached or not, if the index can be read directly, and otherwise from MATCH. For a query
// without conditions it reads the table of assets.
func (r *assetReader) assets(ctx context.Context, q assetstore.AssetQuery, out func(assetstore.Record) bool) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	first, last := r.places(q.After, q.Before)
	if first > last {
		return nil
	}
	found, ok, err := r.result(ctx, conditionsOf(q))
	switch {
	case err != nil:
		return err
	case ok:
		return r.fetch(ctx, found.between(ordinalOf(first), ordinalOf(last), q.Ascending), q.Limit, out)
	}
	pieces, ok := split(conditionsOf(q))
	switch {
	case !ok:
		return nil
	case len(pieces) == 1:
		return r.rows(ctx, q, pieces[0], out)
	}
	// An asset matches if one of the pieces matches it. The first ones of the union are among the first ones of each piece, so
	// each piece is read up to the limit of the query.
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

// atOnce is the number of rows that one query fetches.
const atOnce = 64

// fetch yields the assets with these ordinals, in their order, at most limit of them; 0 = all. It reads them in
// batches of atOnce: a query for each would take longer, and one query for all would read assets that out does not want.
func (r *assetReader) fetch(ctx context.Context, ordinals iter.Seq[int64], limit int, out func(assetstore.Record) bool) error {
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
		limit--
		if limit == 0 {
			break
		}
		if n == atOnce {
			ask()
			if !more || err != nil {
				return err
			}
		}
	}
	ask()
	return err
}

// listed yields the assets with the rowids in a JSON array, in its order. more is false if out wants no more.
func (r *assetReader) listed(ctx context.Context, places string, out func(assetstore.Record) bool) (more bool, err error) {
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

// rows yields the assets between the bounds of q that a MATCH expression matches, in the order of q and up to its limit; the
// empty expression matches all.
func (r *assetReader) rows(ctx context.Context, q assetstore.AssetQuery, match string, out func(assetstore.Record) bool) error {
	sql := "SELECT " + assetColumns + " FROM asset WHERE $1 = '' AND place BETWEEN $2 AND $3 ORDER BY place"
	if match != "" {
		// With a CROSS JOIN SQLite reads the index first, and in its order.
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

// union returns the rowids from first to last that the pieces match, up to limit for each piece. A rowid may repeat.
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

// direction returns what stands after ORDER BY in a query for q.
func direction(q assetstore.AssetQuery) string {
	if q.Ascending {
		return ""
	}
	return " DESC"
}

// limitOf returns the LIMIT of a query for q; SQLite takes a negative one for none.
func limitOf(q assetstore.AssetQuery) int {
	if q.Limit > 0 {
		return q.Limit
	}
	return -1
}

// Count counts the assets that match q: from the cached set, or by MATCH if the index cannot be read directly.
func (r *assetReader) Count(ctx context.Context, q assetstore.AssetQuery) (int64, error) {
	if err := r.check(ctx); err != nil {
		return 0, err
	}
	first, last := r.places(q.After, q.Before)
	if first > last {
		return 0, nil
	}
	found, ok, err := r.result(ctx, conditionsOf(q))
	switch {
	case err != nil:
		return 0, err
	case !ok:
		pieces, ok := split(conditionsOf(q))
		if !ok {
			return 0, nil
		}
		return r.count(ctx, pieces, first, last)
	}
	return int64(found.count(ordinalOf(first), ordinalOf(last))), nil
}

// count returns the number of rowids from first to last that at least one piece matches. pieces is what split returns.
func (r *assetReader) count(ctx context.Context, pieces []string, first, last int64) (int64, error) {
	if len(pieces) > 1 {
		places, err := r.union(ctx, pieces, first, last, "", -1)
		slices.Sort(places)
		return int64(len(slices.Compact(places))), err
	}
	if pieces[0] == "" {
		// The rows of this table of the index are much shorter than those of the assets.
		return r.c.value("SELECT count(*) FROM asset_term_docsize WHERE id BETWEEN $1 AND $2", first, last)
	}
	return r.c.value("SELECT count(*) FROM asset_term WHERE asset_term MATCH $1 AND rowid BETWEEN $2 AND $3", pieces[0], first, last)
}

// split returns MATCH expressions for the conditions: an asset meets all conditions if it matches at least one of the
// expressions. There is more than one only if a condition has more than maxAnyOf terms. Without conditions there is the empty
// expression, which stands for all assets. ok is false if nothing can match, since a condition has no terms.
func split(all []condition) (pieces []string, ok bool) {
	pieces = []string{""}
	for _, c := range all {
		if len(c.terms) == 0 {
			return nil, false
		}
		var next []string
		for terms := range slices.Chunk(c.terms, maxAnyOf) {
			expression := anyOf(condition{terms, c.prefixes})
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

// anyOf writes a condition as an FTS5 expression such as ("word" OR "other"), and with a * after each term for
// prefixes. Encoded terms have no quotes, so nothing in them can be read as syntax.
func anyOf(c condition) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, term := range encodedTerms(c.terms) {
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteByte('"')
		b.Write(term)
		b.WriteByte('"')
		if c.prefixes {
			b.WriteByte('*')
		}
	}
	b.WriteByte(')')
	return b.String()
}

// encodeTerm writes a term with only the characters that the tokenizer leaves unchanged: lower-case letters, digits
// and everything outside ASCII. Any other byte becomes an underscore and two hexadecimal digits. So a term begins with
// another one if and only if that is so when they are encoded.
func encodeTerm(b []byte, term string) []byte {
	const digits = "0123456789abcdef"
	for i := range len(term) {
		switch c := term[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c >= 0x80:
			b = append(b, c)
		default:
			b = append(b, '_', digits[c>>4], digits[c&15])
		}
	}
	return b
}

// encodedTerms returns the terms as encodeTerm writes them.
func encodedTerms(terms []string) [][]byte {
	out := make([][]byte, len(terms))
	for i, term := range terms {
		out[i] = encodeTerm(nil, term)
	}
	return out
}

// decodeTerm undoes encodeTerm.
func decodeTerm(text []byte) string {
	if !bytes.ContainsRune(text, '_') {
		return string(text)
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '_' || i+2 >= len(text) {
			out = append(out, text[i])
			continue
		}
		c, _ := strconv.ParseUint(string(text[i+1:i+3]), 16, 8) // the index has what encodeTerm wrote
		out = append(out, byte(c))
		i += 2
	}
	return string(out)
}
