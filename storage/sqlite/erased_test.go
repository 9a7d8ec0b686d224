package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
)

// secret is in each text that the tests erase.
const secret = "ann.secret"

// importTurns imports reviews in several turns into many collections; some of them have the secret, and some of
// these are replaced in a later turn.
func importTurns(t *testing.T, service *reviews.Service, turns int) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	for turn := range turns {
		var file strings.Builder
		for c := range 40 {
			list := []string{}
			for n := range 12 {
				author := "kept"
				if n%3 == 1 {
					author = secret
				}
				body := "<p>" + author + strings.Repeat(" word", r.IntN(300)) + "</p>"
				if r.IntN(30) == 0 {
					body += strings.Repeat(author+" ", 2000) // on pages of its own
				}
				list = append(list, fmt.Sprintf(`{"id":"%d","author_id":"%s","title":"","body_html":%q,"created":"2020-01-%02dT00:00:00Z","ratings":[5]}`,
					turn/2*12+n, author, body, 1+r.IntN(28)))
			}
			fmt.Fprintf(&file, `{"source":"s","title":"t","created":"2020-01-01T00:00:00Z","id":"%04d","dimensions":["default"],"reviews":[%s]}`+"\n", c, strings.Join(list, ","))
		}
		report, err := service.Import(context.Background(), vitrine.Caller{Operator: true}, reviews.ImportRequest{Network: "n", File: strings.NewReader(file.String())})
		if err != nil || report.Errors > 0 {
			t.Fatal(report, err)
		}
	}
}

// secrets counts how often the secret is in the files of the store.
func secrets(t *testing.T, path string) (n int) {
	t.Helper()
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		data, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		n += bytes.Count(data, []byte(secret))
	}
	return n
}

// eraseSecrets erases the reviews with the secret.
func eraseSecrets(t *testing.T, service *reviews.Service, path string) error {
	t.Helper()
	if secrets(t, path) == 0 {
		t.Fatal("the text is nowhere: this test shows nothing")
	}
	done, err := service.Delete(context.Background(), vitrine.Caller{Operator: true}, reviews.DeleteRequest{Network: "n", Author: secret})
	if done.Reviews == 0 {
		t.Fatal(done, err)
	}
	return err
}

// What was erased is in no file as soon as Delete returns, while another process has the store open: not in the log, not in free
// pages, and not in the free part of pages from which SQLite has moved rows.
func TestErasedReviewsAreInNoFileOfTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	other := openAt(t, path, nil)
	db := openAt(t, path, nil)
	service := reviews.New(db.Reviews(), nil)
	importTurns(t, reviews.New(other.Reviews(), nil), 6)
	if err := eraseSecrets(t, service, path); err != nil {
		t.Fatal(err)
	}
	if n := secrets(t, path); n > 0 {
		t.Errorf("the erased text is in the files %d times", n)
	}
	checkIntact(t, db)
	importTurns(t, reviews.New(other.Reviews(), nil), 2) // the other process goes on writing
	checkIntact(t, db)
	var out bytes.Buffer
	if err := service.Export(context.Background(), vitrine.Caller{Operator: true}, reviews.ExportRequest{Network: "n", To: &out}); err != nil || strings.Count(out.String(), "\n") != 40 {
		t.Errorf("the export has %d lines, %v", strings.Count(out.String(), "\n"), err)
	}
}

// While somebody reads from the log it has to be kept. Delete waits for that, and otherwise says what is left.
func TestErasedReviewsAreInTheLogWhileSomebodyReadsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	other := openAt(t, path, nil)
	db := openAt(t, path, nil)
	db.scrubWait = 50 * time.Millisecond
	service, ctx := reviews.New(db.Reviews(), nil), context.Background()
	importTurns(t, service, 2)
	err := other.Reviews().View(ctx, "n", func(reviews.Reader) error {
		err := eraseSecrets(t, service, path)
		if !errors.Is(err, reviews.ErrCopies) || !errors.Is(err, vitrine.ErrBusy) || !strings.Contains(err.Error(), "log") {
			t.Errorf("beside a reader: %v", err)
		}
		if secrets(t, path) == 0 {
			t.Error("nothing is in the log: this test shows nothing")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = service.Delete(ctx, vitrine.Caller{Operator: true}, reviews.DeleteRequest{Network: "n", Author: secret})
	if !errors.Is(err, vitrine.ErrNotFound) || errors.Is(err, reviews.ErrCopies) {
		t.Errorf("again, without the reader: %v", err)
	}
	if n := secrets(t, path); n > 0 {
		t.Errorf("the erased text is in the files %d times", n)
	}
	cancelled, cancel := context.WithCancel(ctx)
	db.scrubWait = time.Hour
	importTurns(t, service, 2)
	err = other.Reviews().View(ctx, "n", func(reviews.Reader) error {
		importTurns(t, service, 1)
		time.AfterFunc(10*time.Millisecond, cancel)
		if err := db.Reviews().Scrub(cancelled); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that ends: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A page that was found may be another one by the time that it is to be overwritten.
func TestScrubLeavesPagesThatHaveMoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := openAt(t, path, nil)
	service, ctx := reviews.New(db.Reviews(), nil), context.Background()
	importTurns(t, service, 6)
	var found []pagePath
	err := db.view(ctx, func(c *conn) error {
		return c.pagesOfReviews(ctx, func(p pagePath) error {
			found = append(found, p)
			return nil
		})
	})
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	if _, err := service.Delete(ctx, vitrine.Caller{Operator: true}, reviews.DeleteRequest{Network: "n", Everything: true}); err != nil {
		t.Fatal(err)
	}
	err = db.update(ctx, func(c *conn) error { // the pages are given to other data
		_, err := c.exec("INSERT INTO webhook (name, value) VALUES ($1, $2)", []byte("x"), bytes.Repeat([]byte{5}, 4<<20))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := db.overwriteFree(ctx, found)
	if all || err != nil {
		t.Errorf("pages that have moved: %v, %v", all, err)
	}
	checkIntact(t, db)
}

// checkIntact fails if SQLite finds fault with the file.
func checkIntact(t *testing.T, db *DB) {
	t.Helper()
	err := db.view(context.Background(), func(c *conn) error {
		r := c.query("PRAGMA integrity_check")
		defer r.close()
		for r.next() {
			if r.text(0) != "ok" {
				t.Error(r.text(0))
			}
		}
		return r.err
	})
	if err != nil {
		t.Fatal(err)
	}
}
