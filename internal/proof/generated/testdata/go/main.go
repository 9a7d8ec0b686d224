// Command generated makes a round trip with the client that oapi-codegen has generated from openapi.json
// beside it: generated URL TOKEN. It prints what the other clients print.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	ctx := context.Background()
	client, err := NewClientWithResponses(os.Args[1],
		WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+os.Args[2])
			return nil
		}))
	check(err)

	component, err := client.CreateComponentWithResponse(ctx, nil, CreateComponentJSONRequestBody{
		Name: "@scope/poll", Version: "1.0.0", Main: "https://cdn.example.test/poll.js",
		ConfigSchema: map[string]any{"required": []string{"question"},
			"properties": map[string]any{"size": map[string]any{"default": 3}}},
	})
	check(err)
	succeeded(component.JSON201, component.Status(), component.Body)

	key := IdempotencyKey("one")
	app, err := client.CreateAppWithResponse(ctx, &CreateAppParams{IdempotencyKey: &key}, NewApp{
		Title: "Front page", Groups: Groups{"urn:vitrine:example.test:site=1"},
		Elements: &[]NewElement{{Component: ComponentRef{Name: "@scope/poll", Version: "1.0.0"},
			Config: Config{"question": "Tea?"}}},
	})
	check(err)
	id := succeeded(app.JSON201, app.Status(), app.Body).Id

	read, err := client.GetAppWithResponse(ctx, id, nil)
	check(err)
	version := succeeded(read.JSON200, read.Status(), read.Body).Apps[0].Version
	patched, err := client.PatchAppWithResponse(ctx, id, Patch{
		set(Test, "/apps/0/version", version),
		set(Replace, "/apps/0/title", "Winter"),
		set(Replace, "/apps/0/elements/0/config/question", "Cocoa?"),
	})
	check(err)
	latest := succeeded(patched.JSON200, patched.Status(), patched.Body).Apps[0].Version

	put, err := client.PutTagWithResponse(ctx, id, "production", nil, PutTagJSONRequestBody{AppVersion: &latest})
	check(err)
	succeeded(put.JSON201, put.Status(), put.Body)
	yes := WithDefaults(true)
	production, err := client.GetTaggedAppWithResponse(ctx, id, "production", &GetTaggedAppParams{WithDefaults: &yes})
	check(err)
	tagged := succeeded(production.JSON200, production.Status(), production.Body).Apps[0]
	stale, err := client.PatchAppWithResponse(ctx, id, Patch{set(Test, "/apps/0/version", version)})
	check(err)
	refused := succeeded(stale.JSON409, stale.Status(), stale.Body)
	manifest, err := client.GetComponentVersionWithResponse(ctx, "@scope/poll", "1.0.0")
	check(err)

	check(json.NewEncoder(os.Stdout).Encode(struct {
		Title   string         `json:"title"`
		Version string         `json:"version"`
		Config  map[string]any `json:"config"`
		Stale   []any          `json:"stale"`
		Main    string         `json:"main"`
	}{tagged.Title, tagged.Version, tagged.Elements[0].Config,
		[]any{stale.StatusCode(), refused.Code, *refused.Version},
		succeeded(manifest.JSON200, manifest.Status(), manifest.Body).Main}))
}

// set makes an operation of a patch that has a value.
func set(op PatchValueOp, path string, value any) (out PatchOperation) {
	check(out.FromPatchValue(PatchValue{Op: op, Path: path, Value: value}))
	return out
}

// succeeded returns what was answered, or ends the program with what the service says is wrong.
func succeeded[T any](answer *T, status string, body []byte) *T {
	if answer == nil {
		check(fmt.Errorf("%s: %s", status, body))
	}
	return answer
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
