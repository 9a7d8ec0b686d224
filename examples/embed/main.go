// Command embed shows the library inside a program of your own: a store, the app service on it,
// calls from Go, and the same service over HTTP for callers that the program knows.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func main() {
	apps := appsvc.New(memory.NewApps(), nil) // or sqlite.Open("apps.db", nil), and its Apps()
	network := "urn:vitrine:example.test"
	me := appsvc.Caller{URN: network + ":user=me", Moderates: []string{network}}
	app, err := apps.CreateApp(context.Background(), me, appsvc.NewApp{Title: "Hello", Groups: []string{network}})
	if err != nil {
		log.Fatal(err)
	}
	handler, err := httpapi.New(httpapi.Config{Apps: apps, Authenticate: func(_ context.Context, token string) (httpapi.Principal, error) {
		if token != "secret" { // look into your own sessions here
			return httpapi.Principal{}, errors.New("unknown token")
		}
		return httpapi.Principal{URN: me.URN, Moderates: me.Moderates}, nil
	}, Observer: httpapi.AccessLog(slog.Default())})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("curl -H 'Authorization: svctoken secret' http://127.0.0.1:8081/apps/%s\n", app.ID)
	log.Fatal(http.ListenAndServe("127.0.0.1:8081", handler)) // not below an http.ServeMux: see httpapi
}
