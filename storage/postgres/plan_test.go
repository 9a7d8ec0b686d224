//go:build proof

package postgres

import (
	"fmt"
	"strings"
	"testing"
)

// What a page or an old version costs must not grow with what lies around it: the statements follow
// their indexes, also in tables that the server knows nothing of yet.
func TestStatementsUseTheirIndexes(t *testing.T) {
	db := openTest(t, nil)
	db.script(t, `INSERT INTO app_history SELECT 'a', n, n % 10 = 0, '' FROM generate_series(0, 20000) n;
		INSERT INTO app_scope SELECT 'gs', n, ('a' || n)::bytea FROM generate_series(0, 20000) n;
		INSERT INTO asset_list SELECT 'l', ('w' || n)::bytea, n, 1, '' FROM generate_series(0, 20000) n;
		INSERT INTO app SELECT ('a' || n)::bytea, n, n, 0, '', '', '', '', NULL, '' FROM generate_series(0, 20000) n;
		INSERT INTO review_collection (key, network, number, places, source, id, tally, fields)
			SELECT ('k' || n)::bytea, 'n', n, 0, ('s' || n % 3)::bytea, ('i' || n)::bytea, '', '' FROM generate_series(0, 20000) n;
		INSERT INTO review (collection, key, place, time, id, data) SELECT 'c', ('k' || n)::bytea, n, n / 5, ('i' || n)::bytea, '' FROM generate_series(0, 20000) n`)
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			db.script(t, "ANALYZE asset_list; ANALYZE app_history; ANALYZE app_scope; ANALYZE app")
		}
		for name, c := range map[string]struct {
			sql  string
			args []any
		}{
			"an old version":       {chainSQL, []any{"a", 15005}},
			"several old versions": {chainsSQL, []any{[]string{"a", "a"}, []int64{15005, 9}, pageBytes}},
			"newest first":         {createdDescending, []any{[]string{"gs", "oo"}, 15000, "", pageRows}},
			"oldest first":         {createdAscending, []any{[]string{"gs", "oo"}, 5000, "", pageRows}},
			"changed last":         {updatedDescending, []any{15000, "", pageRows}},
			"changed first":        {updatedAscending, []any{5000, "", pageRows}},
			"lists of a prefix":    {prefixLists, []any{"l", "w1500", "w1501", 1 << 40}},
			"collections by key":   {collectionsByKey, []any{"n", "s1", "i5", 100}},
			"the first by key":     {collectionsFirst, []any{"n", 100}},
			"collections of an id": {collectionsWithID, []any{"n", "i5"}},
			"the latest reviews":   {reviewsLatest, []any{"c", 100}},
			"reviews by time":      {reviewsByTime, []any{"c", 2000, "i7", 100}},
			"one app of a list":    {"SELECT " + sizedColumns + " FROM app WHERE id = ANY($1)", []any{[]string{"a5", "a7"}}},
		} {
			err := db.view(ctx, func(c2 *conn) error {
				r := c2.query(ctx, "EXPLAIN (ANALYZE, TIMING off, BUFFERS) "+c.sql, c.args...)
				var plan []string
				pages, once := 0, false
				for r.next() {
					line := r.text(0)
					plan = append(plan, line)
					if i := strings.Index(line, "Buffers: shared hit="); i >= 0 && !once { // of the whole
						fmt.Sscanf(line[i:], "Buffers: shared hit=%d", &pages)
						once = true
					}
				}
				if text := strings.Join(plan, "\n"); r.err == nil && (pages == 0 || pages > 450 || strings.Contains(text, "Seq Scan")) {
					t.Errorf("%s, analyzed %t: %d pages\n%s", name, analyzed, pages, text)
				}
				return r.err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}
