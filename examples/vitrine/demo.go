package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/archive"
)

// demoNetwork is the network of all sample data.
const demoNetwork = "urn:vitrine:demo.test"

// demoUser is whom the token that -demo prints stands for: a moderator of the network of the sample data. It may not
// manage components, since that is a right over the whole store.
var demoUser = httpapi.Principal{Caller: vitrine.Caller{URN: demoNetwork + ":user=demo", Moderates: []string{demoNetwork}}}

// demoMark is the id of an app that -demo makes before all others, by which it recognises its own store. Nobody can
// make this app through the service, which gives every app a random id.
const demoMark = "de300000-0000-4000-8000-000000000000"

// errForeign is the error for a store with other data than the sample data: the token that -demo prints would give
// rights over it.
var errForeign = errors.New("the store holds other data than the sample data, and -demo prints a token: want a store that is new or empty, or that -demo has filled")

// demo is what -demo prints for a newcomer.
type demo struct {
	token  string
	tagged string // path of a version that a tag points to, or of something else to read
}

// demoFills reports whether -demo is to fill the store. It is true for an empty store, false for one that -demo has
// filled before, and errForeign is returned for any other.
func demoFills(ctx context.Context, s *store) (bool, error) {
	empty, err := archive.Empty(ctx, s.db)
	if err == nil && !empty {
		err = marked(ctx, s)
	}
	return empty, err
}

// newDemo fills the store if fill is true, and makes a token for what is in it.
func newDemo(ctx context.Context, p *program, s *store, fill bool, tokens *httpapi.Tokens) (*demo, error) {
	token, err := tokens.Sign(demoUser, time.Now().Add(24*time.Hour))
	if err != nil {
		return nil, err
	}
	d := &demo{token: token, tagged: "/components/"}
	if !fill {
		fmt.Fprintln(p.stderr, "vitrine: -demo: the store is not empty: no sample data was added")
		return d, nil
	}
	clock := newDemoClock(time.Now())
	if err := mark(ctx, s, clock); err != nil {
		return nil, err
	}
	made := 0
	apps := appsvc.New(s.db, &appsvc.Options{Now: clock.Now, NewID: func() string { // the same ids in every store
		made++
		return fmt.Sprintf("%s%012d", demoMark[:len(demoMark)-12], made)
	}})
	id, err := fillApps(ctx, apps, clock)
	if err != nil {
		return nil, err
	}
	d.tagged = "/apps/" + id + "/tagged/production"
	if err := fillReviews(ctx, reviews.New(s.db, nil), clock); err != nil {
		return nil, err
	}
	return d, fillLibrary(ctx, assets.New(s.db, &assets.Options{Now: clock.Now}), clock)
}

// demoTime is a time before the store was filled: so many days before, at this hour and minute in UTC. With 0 days it
// is so many hours and minutes before.
type demoTime struct{ days, hour, minute int }

// demoClock is the clock of the services that fill the store, so that the sample data has a past of nine days.
type demoClock struct{ filled, now time.Time }

// newDemoClock returns the clock of a store that is filled at this time.
func newDemoClock(filled time.Time) *demoClock { return &demoClock{filled: filled.UTC()} }

// Now is the time of the change that is being made.
func (c *demoClock) Now() time.Time { return c.now }

// time returns the time that t stands for.
func (c *demoClock) time(t demoTime) time.Time {
	since := time.Duration(t.hour)*time.Hour + time.Duration(t.minute)*time.Minute
	if t.days == 0 {
		return c.filled.Add(-since)
	}
	return c.filled.Truncate(24*time.Hour).AddDate(0, 0, -t.days).Add(since)
}

// date returns the day that is so many days after the store was filled.
func (c *demoClock) date(days int) string {
	return c.filled.AddDate(0, 0, days).Format(time.DateOnly)
}

// mark adds the app by which -demo recognises a store that it has filled.
func mark(ctx context.Context, s *store, clock *demoClock) error {
	clock.now = clock.time(demoTime{9, 7, 55})
	svc := appsvc.New(s.db, &appsvc.Options{Now: clock.Now, NewID: func() string { return demoMark }})
	by := vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates}
	_, err := svc.CreateApp(ctx, by, appsvc.CreateAppRequest{Title: "Sample data of vitrine -demo", Groups: []string{demoNetwork}})
	return err
}

// marked returns errForeign unless -demo has filled the store.
func marked(ctx context.Context, s *store) error {
	by := vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates}
	_, err := appsvc.New(s.db, nil).App(ctx, by, demoMark)
	if errors.Is(err, vitrine.ErrNotFound) {
		return exitError{errForeign, exitUsage}
	}
	return err
}

// print shows a link into the console, the token, and three curl commands that can be copied as they are.
func (d *demo) print(w io.Writer, root, base string) {
	auth := "-H 'Authorization: svctoken " + d.token + "'"
	fmt.Fprintf(w, "\nopen in a browser:\n%s/#token=%s\n", base, d.token)
	fmt.Fprintf(w, "\ntoken of %s, good for a day:\n%s\n\ntry:\n", demoUser.URN, d.token)
	fmt.Fprintf(w, "curl %s '%s/apps/'\n", auth, base)
	fmt.Fprintf(w, "curl %s '%s%s'\n", auth, base, d.tagged)
	fmt.Fprintf(w, "curl %s '%s/services/frontline/api/v4/assetManager//demo.test/assetLibrary/demo.test/assets?query=harbour&limit=2'\n", auth, root)
}
