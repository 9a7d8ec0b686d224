package signin_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A server with people: the first administrator is invited by the program, and registers a passkey through the link.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	db := memory.New()
	people, err := signin.New(db, signin.Options{BaseURL: "https://host.example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	streams := httpapi.NewStreams()
	apps := appsvc.New(db, &appsvc.Options{Rights: people.Rights})
	handler, err := httpapi.New(httpapi.Config{Apps: apps, Authenticate: people.Authenticate,
		Extras: people.Endpoints(), Streams: streams})
	if err != nil {
		fmt.Println(err)
		return
	}
	go people.Watch(ctx, streams.Recheck) // streams end as soon as the rights of those who read them
	http.Handle("/", handler)

	rights := signin.Rights{Admin: true, Moderates: []string{"urn:vitrine:example"}}
	link, err := people.Invite(ctx, signin.Invitation{Name: "Ann", Rights: rights})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Contains(link, "https://host.example/#invite="))
	// Output: true
}
