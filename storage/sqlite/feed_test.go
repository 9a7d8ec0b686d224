package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var ctx = context.Background()

var feedEditor = vitrine.Caller{URN: "urn:vitrine:example.test:user=editor", Moderates: []string{"urn:vitrine:example.test"}}

// A change takes 60 bytes of the feed at most. The pages of the feed are counted, not the whole file, so that the versions
// of the app do not count.
func TestAChangeTakesFewBytesOfTheFeed(t *testing.T) {
	const changes, most = 5000, 60
	db := openTest(t, nil)
	s := appsvc.New(db.Apps(), nil)
	app, err := s.CreateApp(ctx, feedEditor, appsvc.CreateAppRequest{Title: "x", Groups: feedEditor.Moderates})
	if err != nil {
		t.Fatal(err)
	}
	size := func() (bytes int64) {
		if err := db.view(ctx, func(c *conn) (err error) {
			bytes, err = c.value("SELECT sum(pgsize) FROM dbstat WHERE name IN ('app_change', 'change_name', 'sqlite_autoindex_change_name_1')")
			return err
		}); err != nil {
			t.Skipf("this build of SQLite has no dbstat: %v", err)
		}
		return bytes
	}
	before := size()
	// As PATCH at 100,000 versions of an app writes them: higher numbers take more bytes.
	err = db.Apps().Update(ctx, func(tx appsvc.Tx) error {
		for e, err := range tx.Entries(ctx, appsvc.FeedPosition{}, 1) {
			if err != nil {
				return err
			}
			e.At = time.Now().UnixMilli()
			e.Data = append(bytes.Clone(e.Data[:17]), 0x80, 0x80, 0x06) // version 98,304
			for range changes {
				if err := tx.AddEntry(ctx, e); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	each := float64(size()-before) / changes
	t.Logf("%.1f bytes a change", each)
	if each > most {
		t.Errorf("a change takes %.1f bytes, want %d at most", each, most)
	}
	page, err := s.Changes(ctx, feedEditor, appsvc.ChangesRequest{Limit: 500})
	if err != nil || len(page.Changes) != 500 || page.Changes[499].Version != vitrine.NewVersion(98304) || page.Changes[499].AppID != app.ID {
		t.Errorf("%d changes, %v", len(page.Changes), err)
	}
}

// Followers of another opening of the file, as in another process, see what this one writes.
func TestFollowersOfOtherDBsAreWoken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.db")
	writer, reader := appsvc.New(openAt(t, path, nil).Apps(), nil), appsvc.New(openAt(t, path, nil).Apps(), nil)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := writer.CreateApp(ctx, feedEditor, appsvc.CreateAppRequest{Title: "0", Groups: feedEditor.Moderates}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for e, err := range reader.Follow(ctx, feedEditor, appsvc.ChangesRequest{}) {
		if err != nil || e.Type != appsvc.AppCreated {
			t.Fatalf("%+v, %v", e, err)
		}
		n++
		if n == 5 {
			break
		}
		if _, err := writer.CreateApp(ctx, feedEditor, appsvc.CreateAppRequest{Title: fmt.Sprint(n), Groups: feedEditor.Moderates}); err != nil {
			t.Fatal(err)
		}
	}
}
