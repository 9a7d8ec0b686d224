package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/mcp"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// An assistant with the key of an agent creates an app.
func Example() {
	site := "urn:vitrine:example.test:site=1"
	agent := vitrine.Caller{URN: "urn:vitrine:example.test:user=lea", Moderates: []string{site}, Key: "vt_1",
		Agent: "Writer"}
	apps := appsvc.New(memory.New(), nil)
	handler, err := httpapi.New(httpapi.Config{Extras: []httpapi.Extra{mcp.Endpoint(apps, nil, nil)},
		Authenticate: func(r *http.Request) (httpapi.Principal, error) {
			_, err := httpapi.RequestToken(r) // signin knows whose key it is
			return httpapi.Principal{Caller: agent}, err
		}})
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()

	ctx := context.Background()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "assistant", Version: "1"}, nil).Connect(ctx,
		&sdk.StreamableClientTransport{Endpoint: server.URL + "/x/mcp",
			HTTPClient: &http.Client{Transport: bearer("key")}}, nil)
	if err != nil {
		panic(err)
	}
	defer session.Close()
	made, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "create_app",
		Arguments: map[string]any{"title": "Winter", "groups": []string{site}}})
	if err != nil {
		panic(err)
	}
	fmt.Println(made.IsError, made.StructuredContent.(map[string]any)["version"])
	// Output: false 0
}
