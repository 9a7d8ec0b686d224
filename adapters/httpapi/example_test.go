package httpapi_test

import (
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

func ExampleNew() {
	tokens, err := httpapi.NewTokens([]byte("32 secret bytes, kept by the host"), nil)
	if err != nil {
		panic(err)
	}
	handler, err := httpapi.New(httpapi.Config{
		Apps:         appsvc.New(memory.New(), nil),
		Authenticate: tokens.Authenticate,
	})
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()

	token, err := tokens.Sign(httpapi.Principal{
		Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=editor",
			Moderates: []string{"urn:vitrine:example.test"}},
	}, time.Now().Add(time.Hour))
	if err != nil {
		panic(err)
	}
	request, err := http.NewRequest("POST", server.URL+"/apps/",
		strings.NewReader(`{"title":"Hello","groups":["urn:vitrine:example.test:site=1"]}`))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "svctoken "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status)
	// Output: 201 Created
}

func ExampleTokens() {
	tokens, err := httpapi.NewTokens([]byte("32 secret bytes, kept by the host"), nil)
	if err != nil {
		panic(err)
	}
	token, err := tokens.Sign(httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=reader"}},
		time.Now().Add(time.Minute))
	if err != nil {
		panic(err)
	}
	who, err := tokens.Verify(token)
	fmt.Println(who.URN, err)
	// Output: urn:vitrine:example.test:user=reader <nil>
}
