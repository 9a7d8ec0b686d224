package postgres

import (
	"context"
	"iter"
	"math"
	"math/bits"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/internal/top"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// CountTerms yields the terms that begin with prefix, with how many of the assets that match q have each. A count among
// all assets is a sum that the server computes. Any other is computed here, from the list of each term: it
// counts the ordinals in the list that are within the bounds or, if the query has terms, those of assets that match.
func (r *assetReader) CountTerms(ctx context.Context, q assetstore.AssetQuery, prefix string) iter.Seq2[assetstore.TermCount, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(assetstore.TermCount) bool) error {
		if err := r.ready(ctx); err != nil {
			return err
		}
		if len(q.All)+len(q.Prefixes) == 0 && q.After <= 0 && q.Before == 0 {
			return r.countAll(ctx, prefix, q.Limit, out)
		}
		if q.Limit == 0 {
			return r.countTerms(ctx, q, prefix, out)
		}
		most := top.New(q.Limit, assetstore.TermCount.Compare)
		err := r.countTerms(ctx, q, prefix, func(c assetstore.TermCount) bool {
			most.Add(c)
			return true
		})
		if err != nil {
			return err
		}
		for _, c := range most.Items() {
			if !out(c) {
				return nil
			}
		}
		return nil
	})
}

// prefixLists reads the parts of the posting lists of all terms with a prefix, ordered by term and then by ordinal.
const prefixLists = `SELECT term, ordinals FROM asset_list WHERE library = $1 AND term >= $2 AND term < $3 AND low < $4 ORDER BY term, low`

// countAll counts the terms of all assets. Each part of a posting list has its count in a column, so no list is read. With a
// limit the server sorts the terms, and only the most frequent are sent.
func (r *assetReader) countAll(ctx context.Context, prefix string, limit int, out func(assetstore.TermCount) bool) error {
	sql := "SELECT term, sum(count)::int8 AS n FROM asset_list WHERE library = $1 AND term >= $2 AND term < $3 GROUP BY term"
	var found *rows
	if limit > 0 {
		found = r.c.walk(ctx, min(limit, prefixPortion), sql+" ORDER BY n DESC, term LIMIT $4", r.key, prefix, endOf(prefix), limit)
	} else {
		found = r.c.walk(ctx, prefixPortion, sql, r.key, prefix, endOf(prefix))
	}
	defer found.close()
	for found.next() && out(assetstore.TermCount{Term: found.text(0), Count: found.int(1)}) {
	}
	return found.err
}

// countTerms calls out with each term that begins with prefix and its count, until out returns false. The parts of a
// term come one after the other, so a term is complete when the next one begins.
func (r *assetReader) countTerms(ctx context.Context, q assetstore.AssetQuery, prefix string, out func(assetstore.TermCount) bool) error {
	count := countBetween(q.After, q.Before)
	if len(q.All)+len(q.Prefixes) > 0 {
		matches, err := r.found(ctx, q)
		if err != nil || len(matches) == 0 {
			return err
		}
		count = matches.count
	}
	before := q.Before
	if before == 0 {
		before = math.MaxInt64
	}
	found := r.c.walk(ctx, prefixPortion, prefixLists, r.key, prefix, endOf(prefix), before)
	defer found.close()
	var c assetstore.TermCount
	for found.next() {
		if err := r.check(ctx); err != nil {
			return err
		}
		if term := found.text(0); term != c.Term {
			if c.Count > 0 && !out(c) {
				return nil
			}
			c = assetstore.TermCount{Term: term}
		}
		n, err := count(found.blob(1))
		if err != nil {
			return err
		}
		c.Count += int64(n)
	}
	if found.err == nil && c.Count > 0 {
		out(c)
	}
	return found.err
}

// countBetween returns a function that counts the ordinals of a part that are above after and below before; 0 = no
// bound. countTerms uses it if the query has no terms.
func countBetween(after, before int64) func(data []byte) (int, error) {
	low, high := max(after, 0)+1, before
	if before == 0 {
		high = math.MaxInt64
	}
	return func(data []byte) (n int, err error) {
		err = eachWord(data, func(first int64, word uint64) {
			n += bits.OnesCount64(word & mask(first, low, high))
		})
		return n, err
	}
}
