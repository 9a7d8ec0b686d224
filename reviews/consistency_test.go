package reviews

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// auditedStore has a collection of three reviews and one of three hundred.
func auditedStore(t *testing.T) storage.Store {
	t.Helper()
	db := memory.New()
	t.Cleanup(func() { db.Close() })
	var file strings.Builder
	for c, n := range []int{3, 300} {
		fmt.Fprintf(&file,
			`{"source":"shop","title":"T","created":"2019-01-01T00:00:00Z","id":"YQ%d=","dimensions":["default"],`+
				`"reviews":[`, c)
		for i := range n {
			parent, body := "", "<p>Good</p>"
			if i == 1 {
				parent = `"parent_id":"0",`
			}
			if i == 2 {
				body = "<p>" + strings.Repeat("long ", 5000) + "</p>"
			}
			fmt.Fprintf(&file,
				`{"id":"%d","author_id":"u",%s"title":"Good","body_html":"%s","created":"2019-04-03T10:11:%02dZ",`+
					`"ratings":[%d]},`, i, parent, body, i%60, 50+i%2)
		}
		file.WriteString("]}\n")
	}
	report, err := New(db, nil).As(vitrine.Caller{Operator: true}).Import(context.Background(),
		ImportRequest{Network: "a", File: strings.NewReader(strings.ReplaceAll(file.String(), ",]}", "]}"))})
	if err != nil || report.Errors > 0 {
		t.Fatal(report, err)
	}
	return db
}

func auditOf(t *testing.T, db storage.Store) (faults []string) {
	t.Helper()
	for f, err := range Maintenance().Audit(context.Background(), db) {
		if err != nil {
			t.Fatal(err)
		}
		faults = append(faults, f.String())
	}
	return faults
}

func TestTheAuditFindsWhatNoImportStores(t *testing.T) {
	if faults := auditOf(t, auditedStore(t)); faults != nil {
		t.Fatal(faults)
	}
	type entry = storage.Entry
	swap := func(old, new string) func(entry) entry {
		return func(e entry) entry {
			return entry{Key: e.Key, Value: bytes.Replace(e.Value, []byte(old), []byte(new), 1)}
		}
	}
	gone := func(entry) entry { return entry{} }
	put := func(key, value string) func(entry) entry {
		return func(entry) entry { return entry{Key: "reviews/a " + key, Value: []byte(value)} }
	}
	rename := func(key string) func(entry) entry {
		return func(e entry) entry { return entry{Key: "reviews/a " + key, Value: e.Value} }
	}
	for name, c := range map[string]struct {
		at   string // what the key of the record begins with
		to   func(entry) entry
		says string
	}{
		"no collection": {"collection/shop YQ0=", gone,
			"there are 303 records, and the collections have 300"},
		"a collection that is not listed": {"order/", gone, "is missing, or has another value"},
		"a collection under another number": {"order/", rename("order/a7"),
			"there are 3 records, and the collections have 2"},
		"a number of nothing": {"order/", put("order/a9", ""),
			"there are 3 records, and the collections have 2"},
		"a collection under another key": {"collection/shop YQ0=", rename("collection/shop YQ9="), "or the record of"},
		"no way from the id":             {"with/", gone, "is missing, or has another value"},
		"a way to another source":        {"with/", swap("", "x"), "has another value"},
		"a way to no collection": {"with/", rename("with/YQ9= shop"),
			"there are 3 records, and the collections have 2"},
		"few reviews that are many": {"collection/shop YQ1=", swap(`"indexed":true`, `"indexed":null`),
			"has no index"},
		"other counts": {"collection/shop YQ0=", swap(`"50":2,"51":1`, `"50":1,"51":2`),
			"the counts are not those"},
		"a title that is none": {"collection/shop YQ0=", swap(`"title":"T"`, `"title":  1`), "title"},
		"fields in another form": {"collection/shop YQ0=", swap(`"title":"T"`, ` "title":"T"`),
			"not in the form"},
		"fields of another": {"collection/shop YQ0=", swap(`"id":"YQ0=","source"`, `"id":"YQ9=","source"`),
			"the fields are those of"},
		"no review":                      {"review/a1 0", gone, "parent is missing"},
		"one of many reviews is missing": {"review/a2 5", gone, "there are 300 records, and the collections have 299"},
		"a review more":                  {"review/a1 0", rename("review/a1 9"), "the record of review"},
		"a review of no collection": {"review/a1 0", rename("review/a9 0"),
			"there are 304 records, and the collections have 303"},
		"a review without a time": {"time/a2", gone, "is missing"},
		"a time without a review": {"time/a2", rename("time/a2 a1 9"),
			"there are 301 records, and the collections have 300"},
		"times of few reviews": {"time/a2", put("time/a1 a1 0", ""),
			"there are 301 records, and the collections have 300"},
		"another number": {"review/a1 1", swap("\x00\x02", "\x00\x04"),
			"has the number 4, want one before 4"},
		"another parent":           {"review/a1 1", swap("\x010", "\x012"), "the parent is not that of the data"},
		"another parent by time":   {"time/a2", swap("\x00", "\x01"), "has another value"},
		"a review in another form": {"review/a1 0", swap(`"title"`, ` "title"`), "not in the form"},
		"data of another review":   {"review/a1 0", swap(`"id":"0"`, `"id":"7"`), "the data is that of"},
		"a rating that is none":    {"review/a1 0", swap(`[50]`, `[500]`), "ratings"},
		"a parent that is not there": {"review/a1 1", func(e entry) entry {
			return swap(`"parent_id":"0"`, `"parent_id":"8"`)(swap("\x010", "\x018")(e))
		}, "its parent is missing"},
		"a parent that is itself": {"review/a1 1", func(e entry) entry {
			return swap(`"parent_id":"0"`, `"parent_id":"1"`)(swap("\x010", "\x011")(e))
		}, "go round in a circle"},
		"another time": {"review/a1 0", swap(`10:11:00`, `10:11:09`),
			"the time is not that of the data"},
		"no text that is large": {"large/review/a1", gone, "review/a1 2"},
		"a large text of nothing": {"large/review/a1", put("large/review/a1 0", "text"),
			"there are 3 records, and the collections have 2"},
		"a review that ends early": {"review/a1 0", func(e entry) entry {
			return entry{Key: e.Key, Value: e.Value[:3]}
		}, "ends too early"},
		"a collection that ends early": {"collection/shop YQ0=", func(e entry) entry {
			return entry{Key: e.Key, Value: e.Value[:5]}
		}, "damaged"},
		"a record of no kind": {"order/", put("orders/a9", ""), "no kind of records"},
	} {
		ctx, db := context.Background(), auditedStore(t)
		err := db.Update(ctx, "reviews/a", storage.UpdateOptions{}, func(tx storage.Tx) error {
			for e, err := range tx.Scan(ctx, storage.Prefix("reviews/a "+c.at)) {
				if err != nil {
					return err
				}
				to := c.to(e)
				if to.Key == "" {
					return tx.Delete(ctx, e.Key)
				}
				if to.Key == e.Key && bytes.Equal(to.Value, e.Value) {
					return fmt.Errorf("%q is not changed: %q", e.Key, e.Value)
				}
				return tx.Put(ctx, to)
			}
			return errors.New("there is no such record")
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if faults := strings.Join(auditOf(t, db), "\n"); faults == "" || !strings.Contains(faults, c.says) {
			t.Errorf("%s: the audit finds %.600q, want %q", name, faults, c.says)
		}
	}
}
