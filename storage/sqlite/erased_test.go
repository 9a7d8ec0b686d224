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
		report, err := service.Import(context.Background(), reviews.Caller{Operator: true}, reviews.ImportRequest{Network: "n", File: strings.NewReader(file.String())})
		if err != nil || report.Errors > 0 {
			t.Fatal(report, err)
		}
	}
}

// secrets counts how often the secret is in the store's file and in its log.
func secrets(t *testing.T, path string) (n int) {
	t.Helper()
	for _, name := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		n += bytes.Count(data, []byte(secret))
	}
	return n
}

func eraseSecrets(t *testing.T, service *reviews.Service, path string) {
	t.Helper()
	if secrets(t, path) == 0 {
		t.Fatal("the text is nowhere: this test shows nothing")
	}
	done, err := service.Delete(context.Background(), reviews.Caller{Operator: true}, reviews.DeleteRequest{Network: "n", Author: secret})
	if err != nil || done.Reviews == 0 {
		t.Fatal(done, err)
	}
}

// What is erased is in no byte of the file when it is closed: not in free pages, and not in the free part of others.
func TestErasedReviewsAreInNoByteOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := openAt(t, path, nil)
	service := reviews.New(db.Reviews(), nil)
	importTurns(t, service, 1)
	eraseSecrets(t, service, path)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if n := secrets(t, path); n > 0 {
		t.Errorf("the erased text is in the file %d times", n)
	}
}

// Where rows were moved between pages, SQLite may leave parts of them. Vacuum removes these, and empties the log of the open
// store.
func TestVacuumLeavesNothingOfErasedReviews(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := openAt(t, path, nil)
	service := reviews.New(db.Reviews(), nil)
	importTurns(t, service, 6)
	eraseSecrets(t, service, path)
	ctx := context.Background()
	if err := db.Vacuum(ctx); err != nil {
		t.Fatal(err)
	}
	if n := secrets(t, path); n > 0 {
		t.Errorf("the erased text is in the file or its log %d times", n)
	}
	importTurns(t, service, 1)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	err := db.Reviews().View(ctx, "n", func(r reviews.Reader) error {
		if err := db.Vacuum(cancelled); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "log") {
			t.Errorf("beside a reader: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := service.Export(ctx, reviews.Caller{Operator: true}, reviews.ExportRequest{Network: "n", To: &out}); err != nil || strings.Count(out.String(), "\n") != 40 {
		t.Errorf("the export has %d lines, %v", strings.Count(out.String(), "\n"), err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Vacuum(ctx); !errors.Is(err, errClosed) {
		t.Errorf("of a closed store: %v", err)
	}
}
