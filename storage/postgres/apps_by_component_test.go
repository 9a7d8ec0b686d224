package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
)

// A check of a component reads an old version of each app. It must not send a statement for each of them.
func TestTaggedVersionsOfUsersAreReadTogether(t *testing.T) {
	c := cluster.New(t, &cluster.Options{Settings: []string{"log_statement = all"}})
	s := openAt(t, c.URL("postgres"), nil).Apps()
	const apps = 100
	err := s.Update(ctx, func(w appsvc.Tx) error {
		for n := range apps {
			h := appsvc.Head{Meta: appsvc.Meta{ID: fmt.Sprint(n), Owner: "owner"}, Components: []string{"clock"}}
			for v := range 2 {
				h.Version = appsvc.NewVersion(v)
				if err := w.AddVersion(ctx, h, appsvc.Body(fmt.Sprint(n, v))); err != nil {
					return err
				}
			}
			if err := w.SetTag(ctx, appsvc.Tag{AppID: h.ID, Name: "live", AppVersion: appsvc.NewVersion(0)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := serverLog(t, c)
	seen := 0
	err = s.View(ctx, func(r appsvc.Reader) error {
		for user, err := range r.Users(ctx, appsvc.UserQuery{Component: "clock", Owner: "owner"}) {
			if err != nil {
				return err
			}
			if app, err := r.App(ctx, user.ID, user.Tags[0].AppVersion); err != nil || string(app.Body) != user.ID+" 0" {
				return fmt.Errorf("app %s: %s, %w", user.ID, app.Body, err)
			}
			seen++
		}
		return nil
	})
	if err != nil || seen != apps {
		t.Fatalf("%d of %d apps: %v", seen, apps, err)
	}
	if n := strings.Count(strings.TrimPrefix(serverLog(t, c), before), "LOG:  execute "); n == 0 || n > 10 {
		t.Errorf("%d statements for %d apps, want at most 10", n, apps)
	}
}
