package reviews_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// writer imports and erases in the tests of the feed.
var writer = vitrine.Caller{URN: "urn:vitrine:example.test:user=w", Moderates: []string{"urn:vitrine:" + network}}

// news returns the events after a cursor, without their cursors and times, and the cursor of the end.
func news(t *testing.T, s *reviews.Service, after string) (events []reviews.Event, next string) {
	t.Helper()
	page, err := s.As(writer).Changes(ctx, reviews.ChangesRequest{After: after})
	if err != nil || page.More || page.Next == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	for _, e := range page.Changes {
		if e.Cursor == "" || e.At == 0 {
			t.Errorf("no cursor or time: %+v", e)
		}
		e.Cursor, e.At = "", 0
		events = append(events, e)
	}
	return events, page.Next
}

// load imports a file as the writer.
func load(t *testing.T, s *reviews.Service, file string, dry bool) {
	t.Helper()
	report, err := s.As(writer).Import(ctx, reviews.ImportRequest{File: strings.NewReader(file), DryRun: dry})
	if err != nil || report.Errors > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
}

// The store gets its identity with the first change. So a copy that was made before anybody read the feed knows its
// cursors after a restore, and says that they are gone.
func TestAChangeGivesTheStoreItsIdentity(t *testing.T) {
	db := memory.New()
	load(t, reviews.New(db, nil), collection("YQ", single, review("1", 10, "")), false)
	err := db.View(ctx, func(r storage.Reader) error {
		id, err := storage.ReadIdentity(ctx, r)
		if id.Secret == nil {
			t.Error("there is none")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestEveryChangeIsInTheFeed(t *testing.T) {
	for name, store := range map[string]storage.Store{"early reads": memory.New(),
		"late reads": proof.LateReads(memory.New())} {
		t.Run(name, func(t *testing.T) {
			s := reviews.New(store, nil)
			if events, _ := news(t, s, ""); events != nil {
				t.Errorf("of nothing: %+v", events)
			}
			event := func(e reviews.Event) []reviews.Event {
				e.By, e.Network = writer.URN, network
				return []reviews.Event{e}
			}
			file := collection("YQ", single, review("1", 10, mails), by("ann", review("2", 20, ""))) +
				collection("YWI", single)
			_, start := news(t, s, vitrine.Now)
			after := start
			for _, step := range []struct {
				what string
				do   func()
				want []reviews.Event
			}{
				{"a dry run", func() { load(t, s, file, true) }, nil},
				{"an import", func() { load(t, s, file, false) },
					event(reviews.Event{Action: reviews.ActionImported,
						Collections: []reviews.CollectionKey{{"s", "YQ"}, {"s", "YWI"}}, Created: 2})},
				{"the same import", func() { load(t, s, file, false) }, nil},
				{"an import that changes one review and makes another", func() {
					load(t, s, collection("YQ", single, review("1", 11, ""), review("3", 30, ""))+
						collection("YWI", single), false)
				},
					event(reviews.Event{Action: reviews.ActionImported,
						Collections: []reviews.CollectionKey{{"s", "YQ"}}, Created: 1, Updated: 1})},
				{"a title", func() {
					load(t, s, strings.Replace(collection("YWI", single), `"title":"t"`, `"title":"other"`, 1), false)
				},
					event(reviews.Event{Action: reviews.ActionImported,
						Collections: []reviews.CollectionKey{{"s", "YWI"}}})},
				{"a dry run of erasing", func() {
					_, _ = s.As(writer).Delete(ctx,
						reviews.DeleteRequest{Network: network, Author: "ann", DryRun: true})
				}, nil},
				{"erasing nothing", func() {
					_, _ = s.As(writer).Delete(ctx, reviews.DeleteRequest{Network: network, Author: "nobody"})
				}, nil},
				{"an author", func() {
					_, _ = s.As(writer).Delete(ctx, reviews.DeleteRequest{Network: network, Author: "ann"})
				},
					event(reviews.Event{Action: reviews.ActionDeleted,
						Collections: []reviews.CollectionKey{{"s", "YQ"}}, Deleted: 1})},
				{"everything", func() {
					_, _ = s.As(writer).Delete(ctx, reviews.DeleteRequest{Network: network, Everything: true})
				},
					event(reviews.Event{Action: reviews.ActionDeleted,
						Collections: []reviews.CollectionKey{{"s", "YQ"}, {"s", "YWI"}}, Deleted: 2})},
			} {
				step.do()
				var got []reviews.Event
				if got, after = news(t, s, after); !reflect.DeepEqual(got, step.want) {
					t.Errorf("%s: %+v, want %+v", step.what, got, step.want)
				}
			}
			whole, err := s.As(writer).Changes(ctx, reviews.ChangesRequest{After: start})
			if err != nil || len(whole.Changes) != 5 {
				t.Fatalf("%+v, %v", whole, err)
			}
			text, err := json.Marshal(whole)
			if err != nil || strings.Contains(string(text), "ann") ||
				strings.Contains(strings.ToLower(string(text)), "max@") ||
				!strings.Contains(string(text), `"type":"reviews.changed","at":`) {
				t.Errorf("%s, %v", text, err)
			}
			// A cursor is good in another process, and the feed has the network though its reviews are erased.
			s = reviews.New(store, nil)
			for n, e := range whole.Changes {
				rest, err := s.As(writer).Changes(ctx, reviews.ChangesRequest{After: e.Cursor})
				if err != nil || len(rest.Changes) != 4-n || n < 4 &&
					!reflect.DeepEqual(rest.Changes, whole.Changes[n+1:]) {
					t.Errorf("after event %d: %+v, %v", n, rest, err)
				}
			}
			if one, err := s.As(writer).Changes(ctx, reviews.ChangesRequest{After: start, Limit: 1}); err != nil ||
				len(one.Changes) != 1 || !one.More {
				t.Errorf("%+v, %v", one, err)
			}
			names, err := s.Networks(ctx)
			changed, err2 := s.ChangedNetworks(ctx)
			if err := errors.Join(err, err2); len(names) > 0 || !reflect.DeepEqual(changed, []string{network}) ||
				err != nil {
				t.Errorf("%q, %q, %v", names, changed, err)
			}
		})
	}
}

func TestTheFeedIsForModeratorsOfTheNetwork(t *testing.T) {
	s := reviews.New(memory.New(), nil)
	load(t, s, erasable(), false)
	for _, test := range []struct {
		by   vitrine.Caller
		in   reviews.ChangesRequest
		kind error
	}{
		{writer, reviews.ChangesRequest{}, nil},
		{operator, reviews.ChangesRequest{Network: network}, nil},
		{operator, reviews.ChangesRequest{}, vitrine.ErrInvalid},
		{moderator("urn:vitrine:other.test"), reviews.ChangesRequest{Network: network}, vitrine.ErrForbidden},
		{moderator("urn:vitrine:example.test:site=1"), reviews.ChangesRequest{}, vitrine.ErrForbidden},
		{writer, reviews.ChangesRequest{Limit: 501}, vitrine.ErrInvalid},
		{writer, reviews.ChangesRequest{After: "none"}, vitrine.ErrInvalid},
	} {
		page, err := s.As(test.by).Changes(ctx, test.in)
		if !errors.Is(err, test.kind) || err == nil && len(page.Changes) != 1 {
			t.Errorf("%+v, %+v: %+v, %v", test.by, test.in, page, err)
		}
		for _, err := range s.As(test.by).Follow(ctx, test.in) {
			if !errors.Is(err, test.kind) {
				t.Errorf("Follow: %+v, %+v: %v", test.by, test.in, err)
			}
			break
		}
	}
	// A cursor belongs to its network.
	_, next := news(t, s, "")
	if _, err := s.As(operator).Changes(ctx,
		reviews.ChangesRequest{Network: otherNetwork, After: next}); !errors.Is(err,
		vitrine.ErrInvalid) {
		t.Errorf("the cursor of another network: %v", err)
	}
}

func TestEntriesOfReviewsAreRemoved(t *testing.T) {
	clock := time.UnixMilli(1_800_000_000_000)
	db := memory.New(memory.Options{Now: func() time.Time { return clock }})
	s := reviews.New(db, &reviews.Options{KeepChanges: time.Hour})
	for n := range 64 {
		load(t, s, collection("YQ", single, review("1", 1+n, "")), false)
	}
	page, err := s.As(writer).Changes(ctx, reviews.ChangesRequest{})
	if err != nil || len(page.Changes) != 64 {
		t.Fatalf("%d, %v", len(page.Changes), err)
	}
	clock = clock.Add(time.Hour)
	load(t, s, collection("YQ", single, review("1", 99, "")), false)
	if _, err := s.As(writer).Changes(ctx, reviews.ChangesRequest{After: page.Changes[0].Cursor}); !errors.Is(err,
		vitrine.ErrGone) {
		t.Errorf("after an entry that was removed: %v", err)
	}
	for _, after := range []string{"", page.Next} {
		if now, err := s.As(writer).Changes(ctx, reviews.ChangesRequest{After: after}); err != nil ||
			len(now.Changes) != 1 {
			t.Errorf("after %q: %+v, %v", after, now, err)
		}
	}
	if err := storage.RenewIdentity(ctx, db); err != nil {
		t.Fatal(err)
	}
	if _, err := s.As(writer).Changes(ctx, reviews.ChangesRequest{After: page.Next}); !errors.Is(err, vitrine.ErrGone) {
		t.Errorf("after a reset: %v", err)
	}
}

func TestEntriesAreBounded(t *testing.T) {
	s := reviews.New(memory.New(), nil)
	var file strings.Builder
	for n := range 400 {
		file.WriteString(collection(fmt.Sprintf("%012d", n), single))
	}
	load(t, s, file.String(), false)
	events, _ := news(t, s, "")
	if len(events) != 1 || !events[0].CollectionsTruncated || len(events[0].Collections) != 4096/13 {
		t.Errorf("%d events, the first with %d collections", len(events), len(events[0].Collections))
	}
	few := reviews.New(memory.New(), &reviews.Options{Limits: reviews.Limits{PageBytes: 1}})
	load(t, few, erasable(), false)
	load(t, few, collection("YQ", single, review("5", 1, "")), false)
	if page, err := few.As(writer).Changes(ctx, reviews.ChangesRequest{}); err != nil || len(page.Changes) != 1 ||
		!page.More {
		t.Errorf("a page of few bytes: %+v, %v", page, err)
	}
}

func TestFollowWakes(t *testing.T) {
	s := reviews.New(memory.New(), nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n := 0
	load(t, s, collection("YQ", single, review("1", 1, "")), false)
	for e, err := range s.As(writer).Follow(ctx, reviews.ChangesRequest{}) {
		if err != nil || e.Created+e.Updated != 1 {
			t.Fatalf("%+v, %v", e, err)
		}
		if n++; n == 5 {
			break
		}
		file := collection("YQ", single, review("1", 1+n, ""))
		go func() { _, _ = s.As(writer).Import(ctx, reviews.ImportRequest{File: strings.NewReader(file)}) }()
	}
	ended, end := context.WithCancel(ctx)
	end()
	for _, err := range s.As(writer).Follow(ended, reviews.ChangesRequest{After: vitrine.Now}) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
