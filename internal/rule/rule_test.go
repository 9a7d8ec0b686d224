package rule_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A rule of any domain that calls a Service of any domain gets an error that says what to do, and does not wait for
// itself. A rule may read.
func TestARuleThatCallsAService(t *testing.T) {
	const network = "urn:vitrine:example.test"
	me := vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}
	library := assets.Library{Network: "example.test", ID: "example.test"}
	imports := 0
	var calls func(context.Context) error // what the rule does; nil in the calls that it makes itself
	judge := func(ctx context.Context) error {
		if do := calls; do != nil {
			calls = nil
			return do(ctx)
		}
		return nil
	}
	db := memory.New()
	apps := appsvc.New(db, &appsvc.Options{
		Check: func(ctx context.Context, _ vitrine.Caller, _ appsvc.Change) error { return judge(ctx) }}).As(me)
	folders := assets.New(db, &assets.Options{
		Check: func(ctx context.Context, _ vitrine.Caller, _ assets.Change) error { return judge(ctx) }}).As(me)
	shop := reviews.New(db, &reviews.Options{
		Check: func(ctx context.Context, _ vitrine.Caller, _ reviews.Change) error { return judge(ctx) }}).As(me)
	domains := map[string]func(context.Context) error{
		"apps": func(ctx context.Context) error {
			_, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: "Tea", Groups: []string{network}})
			return err
		},
		"assets": func(ctx context.Context) error {
			_, err := folders.ChangeFolders(ctx, library,
				assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "Tea"}}})
			return err
		},
		"reviews": func(ctx context.Context) error {
			imports++
			line := fmt.Sprintf(`{"source": "shop", "id": "dGVh", "title": "Tea %d", "created": `+
				`"2024-01-02T03:04:05Z", `+
				`"dimensions": ["default"], "reviews": []}`, imports)
			_, err := shop.Import(ctx, reviews.ImportRequest{File: strings.NewReader(line)})
			return err
		},
	}
	for asked, change := range domains {
		for called, do := range domains {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			calls = do
			if err := change(ctx); err == nil || !strings.Contains(err.Error(), "write rows by Change.Rows") {
				t.Errorf("a rule of %s that calls %s: %v", asked, called, err)
			}
			calls = func(ctx context.Context) error {
				_, err := apps.ListApps(ctx, appsvc.ListAppsRequest{})
				return err
			}
			if err := change(ctx); err != nil || calls != nil {
				t.Errorf("a rule of %s that reads: %v", asked, err)
			}
			cancel()
		}
	}
}

// A rule that calls a Service with another context than its own waits for itself, and the log says so.
func TestARuleThatWaitsForItself(t *testing.T) {
	var log strings.Builder
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	synctest.Test(t, func(t *testing.T) {
		me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}
		other, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		var apps *appsvc.Session
		check := func(context.Context, vitrine.Caller, appsvc.Change) error {
			_, err := apps.CreateApp(other, appsvc.CreateAppRequest{Title: "Tea", Groups: me.Moderates})
			return err
		}
		apps = appsvc.New(memory.New(), &appsvc.Options{Check: check}).As(me)
		_, err := apps.CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "Tea", Groups: me.Moderates})
		if !errors.Is(err, context.DeadlineExceeded) || strings.Count(log.String(), "\n") != 1 ||
			!strings.Contains(log.String(), "Options.Check has not returned") ||
			!strings.Contains(log.String(), "change=appsvc.Change after=3s") {
			t.Errorf("%v, and the log has %s", err, &log)
		}
	})
}

// An error that decides nothing about the change is internal, and its text says that it is of a rule.
func TestARuleThatFails(t *testing.T) {
	me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}
	apps := appsvc.New(memory.New(), &appsvc.Options{
		Check: func(context.Context, vitrine.Caller, appsvc.Change) error { return sql.ErrNoRows }}).As(me)
	_, err := apps.CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "Tea", Groups: me.Moderates})
	if !errors.Is(err, sql.ErrNoRows) || err.Error() != "Options.Check has failed: sql: no rows in result set" {
		t.Errorf("%v", err)
	}
}
