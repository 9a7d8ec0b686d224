//go:build proof

package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
)

// feedOf returns the data of the entries after a position, and the last position.
func feedOf(t *testing.T, s appsvc.Store, after appsvc.FeedPosition) (data []string, last appsvc.FeedPosition) {
	t.Helper()
	last = after
	err := s.View(ctx, func(r appsvc.Reader) error {
		data, last = nil, after
		for e, err := range r.Entries(ctx, after, 1000) {
			if err != nil {
				return err
			}
			data, last = append(data, string(e.Data)), e.Position
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return data, last
}

// say adds an entry to the feed in an update that then runs meanwhile, when the entry is written and not committed.
func say(s appsvc.Store, text string, meanwhile func()) error {
	return s.Update(ctx, func(tx appsvc.Tx) error {
		if err := tx.AddEntry(ctx, appsvc.FeedEntry{Names: []string{"n"}, Data: []byte(text)}); err != nil || meanwhile == nil {
			return err
		}
		for _, err := range tx.Entries(ctx, appsvc.FeedPosition{}, 1) { // sends what waits
			if err != nil {
				return err
			}
		}
		meanwhile()
		return nil
	})
}

// An update that stays open in the middle holds back the entries after it, of updates that are done, and is not
// stepped over.
func TestTheFeedStopsBeforeAnOpenTransaction(t *testing.T) {
	db := openTest(t, nil)
	s := db.Apps()
	if err := say(s, "first", nil); err != nil {
		t.Fatal(err)
	}
	await(t, s, appsvc.FeedPosition{}, "first")
	_, at := feedOf(t, s, appsvc.FeedPosition{})
	opened, done := make(chan struct{}), make(chan error)
	proceed := make(chan struct{})
	go func() {
		done <- say(s, "open", func() { close(opened); <-proceed })
	}()
	<-opened
	for i := range 5 {
		if err := say(s, fmt.Sprint("after", i), nil); err != nil {
			t.Fatal(err)
		}
		if found, last := feedOf(t, s, at); len(found) > 0 || last != at {
			t.Fatalf("while an earlier update is open the feed goes on with %q", found)
		}
		if state := stateOfFeed(t, s); state.Last != at {
			t.Fatalf("while an earlier update is open the feed ends at %v, want %v", state.Last, at)
		}
	}
	// A reader that has nothing yet is given the first entry and no more.
	if found, _ := feedOf(t, s, appsvc.FeedPosition{}); !slices.Equal(found, []string{"first"}) {
		t.Errorf("from the beginning: %q", found)
	}
	changed := s.Changed()
	close(proceed)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	<-changed
	await(t, s, at, "open", "after0", "after1", "after2", "after3", "after4")
}

func stateOfFeed(t *testing.T, s appsvc.Store) (state appsvc.FeedState) {
	t.Helper()
	if err := s.View(ctx, func(r appsvc.Reader) (err error) {
		state, err = r.Feed(ctx)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return state
}

// await waits until the feed has these entries after a position. Other tests use the server too, and their transactions
// hold entries back.
func await(t *testing.T, s appsvc.Store, after appsvc.FeedPosition, want ...string) {
	t.Helper()
	var found []string
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if found, _ = feedOf(t, s, after); len(found) >= len(want) {
			break
		}
	}
	if !slices.Equal(found, want) {
		t.Fatalf("the feed has %q, want %q", found, want)
	}
}

// The transaction id of an update that claims something first is lower than that of the update whose lock it waits for
// afterwards. Its entry still comes later.
func TestTheFeedIsInTheOrderOfCommitsAndNotOfTransactionIDs(t *testing.T) {
	db := openTest(t, nil)
	s := db.Apps()
	app := appsvc.Head{Meta: appsvc.Meta{ID: "a", Version: vitrine.NewVersion(0), Owner: "o", UpdatedBy: "o"}, Groups: []string{"g"}}
	if err := s.Update(ctx, func(tx appsvc.Tx) error { return tx.AddVersion(ctx, app, appsvc.Body("{}")) }); err != nil {
		t.Fatal(err)
	}
	claimed, locked, done := make(chan struct{}), make(chan struct{}), make(chan error)
	waiting := make(chan struct{})
	go func() {
		done <- s.Update(ctx, func(tx appsvc.Tx) error {
			_, _ = tx.Answer(ctx, "somebody", "key") // claims the key, and so has a transaction id
			close(claimed)
			<-locked
			close(waiting)
			if _, err := tx.Head(ctx, "a"); err != nil { // waits for the other update
				return err
			}
			return tx.AddEntry(ctx, appsvc.FeedEntry{Names: []string{"n"}, Data: []byte("second")})
		})
	}()
	<-claimed
	err := s.Update(ctx, func(tx appsvc.Tx) error {
		if _, err := tx.Head(ctx, "a"); err != nil {
			return err
		}
		close(locked)
		<-waiting
		return tx.AddEntry(ctx, appsvc.FeedEntry{Names: []string{"n"}, Data: []byte("first")})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	await(t, s, appsvc.FeedPosition{}, "first", "second")
	var rounds []int64
	if err := db.view(ctx, func(c *conn) error {
		found := c.query(ctx, "SELECT round, number FROM app_change ORDER BY number")
		for found.next() {
			rounds = append(rounds, found.int(0))
		}
		return found.err
	}); err != nil {
		t.Fatal(err)
	}
	if len(rounds) != 2 || rounds[0] != rounds[1] {
		t.Errorf("the rounds are %v: want equal ones, as the second update has the lower transaction id", rounds)
	}
}

// A store whose transaction ids went back, because a dump was restored on another server, is readable when it is opened.
func TestTheFeedOfARestoredDumpIsReadable(t *testing.T) {
	address := cluster.Schema(t)
	db := openAt(t, address, nil)
	s := db.Apps()
	for _, text := range []string{"one", "two"} {
		if err := say(s, text, nil); err != nil {
			t.Fatal(err)
		}
	}
	db.script(t, "UPDATE app_change SET round = round + 1000000000")
	before := stateOfFeed(t, s)
	again := openAt(t, address, nil)
	if err := say(again.Apps(), "three", nil); err != nil {
		t.Fatal(err)
	}
	await(t, again.Apps(), appsvc.FeedPosition{}, "one", "two", "three")
	if after := stateOfFeed(t, again.Apps()); slices.Equal(after.Identity, before.Identity) || !slices.Equal(after.Key, before.Key) {
		t.Errorf("the state was %+v and is %+v: want another identity and the same key", before, after)
	}
	third := stateOfFeed(t, openAt(t, address, nil).Apps())
	if now := stateOfFeed(t, s); !slices.Equal(third.Identity, now.Identity) {
		t.Error("a feed that is as it should be got another identity")
	}
}

// A follower of another opening, as in another process, sees an update without a word from the one that wrote it.
func TestFollowersOfOtherProcessesAreWoken(t *testing.T) {
	address := cluster.Schema(t)
	writer, reader := openAt(t, address, nil).Apps(), openAt(t, address, nil).Apps()
	var at appsvc.FeedPosition
	for i := range 3 {
		text := fmt.Sprint(i)
		followed := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
			defer cancel()
			for {
				changed := reader.Changed()
				found, last := feedOf(t, reader, at)
				if len(found) > 0 {
					at = last
					if found[0] != text {
						followed <- fmt.Errorf("%q came, want %s", found, text)
					}
					close(followed)
					return
				}
				select {
				case <-changed:
				case <-ctx.Done():
					followed <- ctx.Err()
					return
				}
			}
		}()
		if err := say(writer, text, nil); err != nil {
			t.Fatal(err)
		}
		if err := <-followed; err != nil {
			t.Fatal(err)
		}
	}
}
