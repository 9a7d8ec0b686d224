// Command embed shows the library inside a program of your own: one store, the three services on it, the sessions of
// the program, a rule with rows of its own, a follower of changes, a route of its own, and the API with the console.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const (
	base    = "/vitrine"
	network = "urn:vitrine:example.test"
	pageKey = "key-of-pages" // your program has one for each site, in a table
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	db := memory.New() // or sqlite.Open("apps.db", nil), or postgres.New(ctx, pool, nil) with a pool that you have
	listener, err := net.Listen("tcp", "127.0.0.1:8081")
	if err == nil {
		p := newProgram(db)
		fmt.Printf("open http://%s%s\n", listener.Addr(), p.sessions.link("me"))
		err = p.run(ctx, listener)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		log.Fatal(err)
	}
}

// program is the store, the services, the sessions and the event streams that are open.
type program struct {
	db       storage.Store
	apps     *appsvc.Service
	assets   *assets.Service
	reviews  *reviews.Service
	sessions sessions
	streams  *httpapi.Streams
	purge    func(app string) error // tells a CDN that production shows another version of an app, or of all for ""
}

func newProgram(db storage.Store) *program {
	return &program{
		db:      db,
		apps:    appsvc.New(db, &appsvc.Options{Check: uniqueTitles}),
		assets:  assets.New(db, &assets.Options{BasePath: base}),
		reviews: reviews.New(db, nil),
		streams: httpapi.NewStreams(),
		purge:   func(app string) error { log.Printf("purge %q", app); return nil },
	}
}

// run serves the program until ctx ends, and does beside it what is to be done without a request.
func (p *program) run(ctx context.Context, listener net.Listener) error {
	if err := p.fill(ctx); err != nil {
		return err
	}
	handler, err := p.handler()
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		WriteTimeout: 2 * time.Minute, IdleTimeout: time.Minute}
	server.RegisterOnShutdown(p.streams.Close) // else Shutdown waits for each console that is open

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var tasks sync.WaitGroup
	defer tasks.Wait()                                               // the store is open until then
	tasks.Go(func() { every(ctx, time.Second, p.apps.RunDue) })      // releases whose time has come
	tasks.Go(func() { every(ctx, 10*time.Second, p.assets.Upkeep) }) // bytes of files that were removed
	tasks.Go(func() { log.Print("follower: ", p.follow(ctx)) })
	ended := make(chan error, 1)
	tasks.Go(func() {
		<-ctx.Done()
		last, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		ended <- errors.Join(server.Shutdown(last), server.Close()) // which cuts off what is left
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return err
	}
	return <-ended
}

// every calls a task from time to time until ctx ends.
func every(ctx context.Context, wait time.Duration, task func(context.Context) error) {
	for ctx.Err() == nil {
		if err := task(ctx); err != nil && ctx.Err() == nil {
			log.Print(err) // the next call tries again
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// follow purges what the CDN has of an app when its tag production has moved. An app that is deleted takes its tags
// along, and one that comes back brings them, without changes of tags. After an error of purge the same change comes
// again. A new follower, and one whose store was restored, does not know what it has missed, and purges all.
func (p *program) follow(ctx context.Context) error {
	return vitrine.Follow(ctx, p.db, "cdn", p.apps.Feed(), func(_ context.Context, change appsvc.OutboxEvent) error {
		if change.Tag == "production" || change.Type == appsvc.AppDeleted || change.Type == appsvc.AppUndeleted {
			return p.purge(change.AppID)
		}
		return nil
	}, vitrine.FollowOptions{Begin: func(context.Context, error) (string, error) { return vitrine.Now, p.purge("") }})
}

// uniqueTitles is a rule of the program: titles are unique. vitrine.Unique keeps a row for each title, in the
// transaction of the change. The rule may run again for one change, so it has no other effects.
func uniqueTitles(ctx context.Context, _ vitrine.Caller, c appsvc.Change) error {
	if c.Before.Title == c.After.Title || c.Type == appsvc.AppErased { // the row went when the app was deleted
		return nil
	}
	return vitrine.Unique(ctx, c.Rows("titles"), c.AppID, titles(c.Before), titles(c.After))
}

// titles returns the title of an app; an app that does not exist has none.
func titles(app appsvc.App) []string {
	if app.Title == "" {
		return nil
	}
	return []string{app.Title}
}

// fill creates sample data, unless it is there: an app that is published, a post in a folder, and a review.
func (p *program) fill(ctx context.Context) error {
	if app, err := vitrine.Holder(ctx, p.db, "apps x/titles/", "Hello"); err != nil || app != "" {
		return err
	}
	me := p.caller("me")
	app, err := p.apps.As(me).CreateApp(ctx, appsvc.CreateAppRequest{Title: "Hello", Groups: []string{network}})
	if err == nil {
		_, err = p.apps.As(me).PutTag(ctx,
			appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version})
	}
	if err != nil {
		return err
	}
	library := assets.Library{Network: "example.test", ID: "example.test"}
	made, err := p.assets.As(me).ChangeFolders(ctx, library,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "Posts"}}})
	if err != nil {
		return err
	}
	post := assets.NewAsset{ID: "1", Folders: []string{made.Folders[0].ID},
		Content: []byte(`{"content": "The first post"}`)}
	post.Generator.ID = "embed"
	if _, err := p.assets.As(me).ChangeAssets(ctx, library,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{post}}); err != nil {
		return err
	}
	const line = `{"source": "shop", "id": "dGVh", "title": "Tea", "created": "2024-01-02T03:04:05Z", "reviews": [
		{"id": "1", "imported_display_name": "Ann", "title": "Good", "body_html": "<p>Warm</p>",
		"created": "2024-02-03T04:05:06Z", "ratings": [80]}]}`
	report, err := p.reviews.As(me).Import(ctx,
		reviews.ImportRequest{Network: "example.test", File: strings.NewReader(strings.ReplaceAll(line, "\n", ""))})
	if err == nil && report.ReviewsCreated != 1 {
		err = fmt.Errorf("the review was not imported: %+v", report)
	}
	return err
}

// caller returns the rights of a person. Your program reads them from its own tables.
func (p *program) caller(name string) vitrine.Caller {
	// Components: may create and delete them
	return vitrine.Caller{URN: network + ":user=" + name, Moderates: []string{network}, Components: true}
}
