// Command embed shows the library inside a program of your own: one store, the three services on it, the sessions of
// the program, a rule with rows of its own, a route of its own, and the API with the console beside it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const (
	address = "127.0.0.1:8081"
	base    = "/vitrine"
	network = "urn:vitrine:example.test"
	pageKey = "key-of-pages" // your program has one for each site, in a table
)

func main() {
	db := memory.New() // or sqlite.Open("apps.db", nil), or postgres.New(ctx, pool, nil) with a pool that you have
	p := newProgram(db)
	if err := p.fill(context.Background()); err != nil {
		log.Fatal(err)
	}
	handler, err := p.handler()
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: address, Handler: handler}
	server.RegisterOnShutdown(p.streams.Close) // else Shutdown waits for each console that is open
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ended := make(chan error)
	go func() {
		<-ctx.Done()
		ended <- server.Shutdown(context.Background())
	}()
	fmt.Println("open http://" + address + p.sessions.link("me"))
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	if err := errors.Join(<-ended, db.Close()); err != nil {
		log.Fatal(err)
	}
}

// program is the services, the sessions and the event streams that are open.
type program struct {
	apps     *appsvc.Service
	assets   *assets.Service
	reviews  *reviews.Service
	sessions sessions
	streams  *httpapi.Streams
}

func newProgram(db storage.Store) *program {
	return &program{
		apps:    appsvc.New(db, &appsvc.Options{Check: uniqueTitles}),
		assets:  assets.New(db, &assets.Options{BasePath: base}),
		reviews: reviews.New(db, nil),
		streams: httpapi.NewStreams(),
	}
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

// fill creates sample data: an app that is published, a post in a folder, and a review.
func (p *program) fill(ctx context.Context) error {
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
