package sqlite

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestReviews(t *testing.T) {
	storagetest.Reviews(t, func(t *testing.T) reviews.Store { return openTest(t, nil).Reviews() })
}

func TestAReaderOfReviewsEndsWithItsView(t *testing.T) {
	store := openTest(t, nil).Reviews()
	var kept reviews.Reader
	if err := store.View(context.Background(), "n", func(r reviews.Reader) error { kept = r; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Collection(context.Background(), reviews.Key{}); !errors.Is(err, errEnded) {
		t.Errorf("Collection: %v", err)
	}
	for _, err := range kept.Collections(context.Background()) {
		if !errors.Is(err, errEnded) {
			t.Errorf("Collections: %v", err)
		}
	}
}

// What a network costs to read must not tell how many collections other networks have.
func TestReviewStatementsUseTheirIndexes(t *testing.T) {
	db := openTest(t, nil)
	for sql, want := range map[string]string{
		collectionsInOrder: "SEARCH review_collection USING INDEX review_collection_in_order (network=?)",
		collectionsByKey + " AND (source, id) > ('s', 'i') ORDER BY source, id LIMIT 3":            "SEARCH review_collection USING INDEX sqlite_autoindex_review_collection_1 (network=? AND (source,id)>(?,?))",
		strings.Replace(collectionsByKey+withID, "$2", "'i'", 1):                                   "SEARCH review_collection USING INDEX review_collection_by_id (network=? AND id=?)",
		reviewsByTime + " ORDER BY time DESC, id LIMIT 3":                                          "SEARCH review USING INDEX review_by_time (collection=?)",
		reviewsByTime + " AND time <= 5 AND (time < 5 OR id > 'i') ORDER BY time DESC, id LIMIT 3": "SEARCH review USING INDEX review_by_time (collection=? AND time<?)",
	} {
		err := db.view(context.Background(), func(c *conn) error {
			r := c.query("EXPLAIN QUERY PLAN "+sql, "n")
			defer r.close()
			for n := 0; r.next(); n++ {
				sorted := strings.Contains(sql, " AND id = ") && n > 0 // the few collections of one id
				if plan := r.text(3); plan != want && !sorted {
					t.Errorf("%s\n%s, want %s", sql, plan, want)
				}
			}
			return r.err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// importVariable makes the test binary import a file into a store: "store file".
const importVariable = "VITRINE_TEST_IMPORT"

// TestImportProcess is the other process of TestAKilledImportCanBeRepeated.
func TestImportProcess(t *testing.T) {
	names := filepath.SplitList(os.Getenv(importVariable))
	if len(names) != 2 {
		t.Skip("is run in another process by TestAKilledImportCanBeRepeated")
	}
	db, err := Open(names[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(names[1])
	if err != nil {
		t.Fatal(err)
	}
	in := reviews.ImportRequest{Network: reviews.DefaultNetwork, File: file}
	in.Progress = func(p reviews.Progress) { fmt.Println(p.Lines) }
	if _, err := reviews.New(db.Reviews(), nil).Import(context.Background(), reviews.Caller{Operator: true}, in); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A killed import that is run again gives the store of an undisturbed one: many short lines, and one
// line that takes many transactions.
func TestAKilledImportCanBeRepeated(t *testing.T) {
	if proof.Short() {
		t.Skip("imports are killed without -short")
	}
	const all = 12_000
	for _, size := range []int{all, 20} {
		t.Run(fmt.Sprintf("%d a collection", size), func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "reviews.ndjson")
			data := benchReviews(all, size)
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			undisturbed := openTest(t, nil)
			want := importAndExport(t, undisturbed.Reviews(), data, all)
			path := filepath.Join(t.TempDir(), "killed.db")
			halfway := 0
			for kills := 0; !importOrKill(t, path, name, kills); kills++ {
				if n := countReviews(t, path); n > 0 && n < all {
					halfway++
				}
			}
			if halfway < 2 {
				t.Errorf("the import was killed %d times between its first and its last transaction: this test shows nothing", halfway)
			}
			db := openAt(t, path, nil)
			if got := importAndExport(t, db.Reviews(), data, 0); !bytes.Equal(got, want) {
				t.Errorf("the killed import left %d bytes of export, the undisturbed one %d", len(got), len(want))
			}
		})
	}
}

// benchReviews is a file of n reviews of some 700 bytes, in collections of the given size.
func benchReviews(n, size int) []byte {
	var out bytes.Buffer
	body := strings.Repeat(`It does what it should, and it does it &quot;well&quot;. `, 6)
	for i := 0; i < n; i++ {
		if i%size == 0 {
			fmt.Fprintf(&out, `{"source":"https://shop.example.test","title":"Product %d","created":"2012-03-04T05:06:07Z","id":%q,"dimensions":["quality","price"],"reviews":[`,
				i, base64.StdEncoding.EncodeToString(fmt.Append(nil, "article-", i)))
		}
		fmt.Fprintf(&out, `{"id":"review-%d","imported_display_name":"Visitor Nr %d","title":"Quite good","body_html":"<p>%s<a href=\"https://shop.example.test/?a=%d&amp;b\">here</a></p>","created":"2013-04-05T06:07:08.123Z","ratings":[%d,%d],"imported_email":"visitor%d@example.test"}`,
			i, i, body, i, 1+i%100, 100-i%100, i)
		if i%size == size-1 || i == n-1 {
			out.WriteString("]}\n")
		} else {
			out.WriteByte(',')
		}
	}
	return out.Bytes()
}

// countReviews gives the number of reviews in a store; one that is not there has none.
func countReviews(t *testing.T, path string) (n int) {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return 0
	}
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Reviews().View(context.Background(), reviews.DefaultNetwork, func(r reviews.Reader) error {
		for c, err := range r.Collections(context.Background()) {
			if err != nil {
				return err
			}
			for _, err := range r.Reviews(context.Background(), c.Key) {
				if err != nil {
					return err
				}
				n++
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}

// importOrKill runs the import in another process and kills it some time after it has begun; each
// time it gets further.
func importOrKill(t *testing.T, path, name string, kills int) (finished bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestImportProcess$")
	cmd.Env = append(os.Environ(), importVariable+"="+path+string(filepath.ListSeparator)+name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reader := make([]byte, 1)
	for range 3 + rand.IntN(4) + kills*6 {
		if _, err := out.Read(reader); err != nil {
			break
		}
	}
	cmd.Process.Kill()
	return cmd.Wait() == nil
}

// importAndExport imports data, of which the given number of reviews must be new, and gives the export.
func importAndExport(t *testing.T, store reviews.Store, data []byte, created int64) []byte {
	t.Helper()
	ctx, operator := context.Background(), reviews.Caller{Operator: true}
	r, err := reviews.New(store, nil).Import(ctx, operator, reviews.ImportRequest{Network: reviews.DefaultNetwork, File: bytes.NewReader(data)})
	if err != nil || r.Created != created || r.Created+r.Unchanged != r.Reviews || r.Errors != 0 {
		t.Fatalf("%+v, error %v", r, err)
	}
	var out bytes.Buffer
	if err := reviews.New(store, nil).Export(ctx, operator, reviews.ExportRequest{Network: reviews.DefaultNetwork, To: &out}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
