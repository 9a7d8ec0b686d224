package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// purging is an app service that purges a cache when a tag has moved.
type purging struct {
	*appsvc.Service
	purge func(appID, tag string)
}

func (p purging) PutTag(ctx context.Context, by vitrine.Caller, in appsvc.PutTagRequest) (appsvc.Tag, error) {
	tag, err := p.Service.PutTag(ctx, by, in)
	if err == nil {
		p.purge(tag.AppID, tag.Name)
	}
	return tag, err
}

func ExampleApps() {
	ctx := context.Background()
	me := httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}}
	tokens, err := httpapi.NewTokens([]byte("32 secret bytes, kept by the host"), nil)
	if err != nil {
		panic(err)
	}
	svc := appsvc.New(memory.New(), nil)
	handler, err := httpapi.New(httpapi.Config{
		Apps:         purging{svc, func(_, tag string) { fmt.Println("purge what", tag, "shows") }},
		Authenticate: tokens.Authenticate,
	})
	if err != nil {
		panic(err)
	}
	app, err := svc.CreateApp(ctx, vitrine.Caller{URN: me.URN, Moderates: me.Moderates},
		appsvc.CreateAppRequest{Title: "Front page", Groups: me.Moderates})
	if err != nil {
		panic(err)
	}
	token, err := tokens.Sign(me, time.Now().Add(time.Hour))
	if err != nil {
		panic(err)
	}
	request := httptest.NewRequest(http.MethodPut, "/apps/"+app.ID+"/tags/production", strings.NewReader(`{"appVersion":"0"}`))
	request.Header.Set("Authorization", "svctoken "+token)
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	fmt.Println(answer.Code)
	// Output:
	// purge what production shows
	// 201
}
