//go:build proof

package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
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
				h.Version = vitrine.NewVersion(v)
				if err := w.AddVersion(ctx, h, appsvc.Body(fmt.Sprint(n, v))); err != nil {
					return err
				}
			}
			if err := w.SetTag(ctx, appsvc.Tag{AppID: h.ID, Name: "live", AppVersion: vitrine.NewVersion(0)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := serverLog(t, c)
	seen, err := readTaggedVersions(s)
	if err != nil || seen != apps {
		t.Fatalf("%d of %d apps: %v", seen, apps, err)
	}
	if n := strings.Count(strings.TrimPrefix(serverLog(t, c), before), "LOG:  execute "); n == 0 || n > 10 {
		t.Errorf("%d statements for %d apps, want at most 10", n, apps)
	}
}

// readTaggedVersions reads all tagged versions of the apps that use the component "clock", each of which has the body "ID VERSION",
// and returns how many there are.
func readTaggedVersions(s appsvc.Store) (seen int, err error) {
	err = s.View(ctx, func(r appsvc.Reader) error {
		for user, err := range r.Users(ctx, appsvc.UserQuery{Component: "clock", Owner: "owner"}) {
			if err != nil {
				return err
			}
			for _, tag := range user.Tags {
				if app, err := r.App(ctx, user.ID, tag.AppVersion); err != nil || string(app.Body) != user.ID+" "+tag.AppVersion.String() {
					return fmt.Errorf("version %s of app %s: %s, %w", tag.AppVersion, user.ID, app.Body, err)
				}
				seen++
			}
		}
		return nil
	})
	return seen, err
}

// What is read ahead is bounded: of an app with more tagged versions than maxAhead, the others are read when they are asked for.
func TestTaggedVersionsReadAheadAreBounded(t *testing.T) {
	c := cluster.New(t, &cluster.Options{Settings: []string{"log_statement = all"}})
	s := openAt(t, c.URL("postgres"), nil).Apps()
	const beyond = 50
	err := s.Update(ctx, func(w appsvc.Tx) error {
		h := appsvc.Head{Meta: appsvc.Meta{ID: "app", Owner: "owner"}, Components: []string{"clock"}}
		for v := range maxAhead + beyond + 1 { // the latest version has no tag
			h.Version = vitrine.NewVersion(v)
			if err := w.AddVersion(ctx, h, appsvc.Body(fmt.Sprint("app ", v))); err != nil {
				return err
			}
			if v == maxAhead+beyond {
				break
			}
			if err := w.SetTag(ctx, appsvc.Tag{AppID: "app", Name: fmt.Sprintf("tag%04d", v), AppVersion: h.Version}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := serverLog(t, c)
	seen, err := readTaggedVersions(s)
	if err != nil || seen != maxAhead+beyond {
		t.Fatalf("%d of %d versions: %v", seen, maxAhead+beyond, err)
	}
	if n := strings.Count(strings.TrimPrefix(serverLog(t, c), before), "LOG:  execute "); n < beyond || n > 2*beyond+20 {
		t.Errorf("%d statements for %d versions beyond the bound", n, beyond)
	}
}
