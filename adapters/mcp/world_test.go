package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/mcp"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const (
	network = "urn:vitrine:example.test"
	site    = network + ":site=1"
	library = "example.test"
)

// The callers, by their tokens: a person, another one who approves, and the agent of the first.
var callers = map[string]vitrine.Caller{
	"lea": {URN: network + ":user=lea", Moderates: []string{network}, Components: true},
	"ben": {URN: network + ":user=ben", Moderates: []string{network}},
	"agent": {URN: network + ":user=lea", Moderates: []string{network}, Components: true, Key: "vt_12345678",
		Agent: "Draft writer"},
	"key": {URN: network + ":user=lea", Moderates: []string{network}, Components: true, Key: "vt_87654321"},
}

// world is a server with all domains, and tools for the agent.
type world struct {
	t       testing.TB
	apps    *appsvc.Service
	assets  *assets.Service
	reviews *reviews.Service
	handler http.Handler
	url     string
	session *sdk.ClientSession
	schemas map[string]*jsonschema.Resolved // of the results of the tools
	calls   int
}

func newWorld(t testing.TB) *world {
	db := memory.New()
	w := &world{t: t, apps: appsvc.New(db, nil), assets: assets.New(db, nil), reviews: reviews.New(db, nil)}
	h, err := httpapi.New(httpapi.Config{Apps: w.apps, Assets: w.assets, Reviews: w.reviews,
		Extras: []httpapi.Extra{mcp.Endpoint(w.apps, w.assets, w.reviews)}, Authenticate: authenticate,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	w.url, w.handler = server.URL, h
	if err := w.apps.SetTagRules(t.Context(), []appsvc.TagRule{{Name: "production", Approvals: 1}}); err != nil {
		t.Fatal(err)
	}
	for _, manifest := range []string{
		`{"name":"countdown","version":"1.0.0","main":"/c.js","title":"Countdown","configSchema":{"type":"object",
		"required":["title","until"],"additionalProperties":false,"properties":{"title":{"type":"string"},
		"until":{"type":"string","minLength":4},"color":{"enum":["red","green"]}}}}`,
		`{"name":"gallery","version":"1.0.0","main":"/g.js","description":"Pictures in a row","configSchema":
		{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","required":["url"],"properties":
		{"url":{"type":"string"},"alt":{"type":"string"}}}},"text":{"type":"string"}}}}`,
		`{"name":"gallery","version":"1.1.0","main":"/g.js","configSchema":{"type":"object"}}`} {
		if _, err := w.apps.As(callers["lea"]).CreateComponent(t.Context(),
			appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest)}); err != nil {
			t.Fatal(err)
		}
	}
	w.session = w.connect("agent")
	tools, err := w.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.schemas = map[string]*jsonschema.Resolved{}
	for _, tool := range tools.Tools {
		var s jsonschema.Schema
		schema, _ := json.Marshal(tool.OutputSchema)
		if err := json.Unmarshal(schema, &s); err != nil {
			t.Fatal(err)
		}
		if w.schemas[tool.Name], err = s.Resolve(nil); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func authenticate(r *http.Request) (httpapi.Principal, error) {
	token, err := httpapi.RequestToken(r)
	by, known := callers[token]
	if err == nil && !known {
		err = httpapi.ErrUnauthenticated
	}
	return httpapi.Principal{Caller: by}, err
}

// bearer adds a token to requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (w *world) connect(token string) *sdk.ClientSession {
	w.t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(w.t.Context(), &sdk.StreamableClientTransport{Endpoint: w.url + "/x/mcp",
		HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = session.Close() })
	return session
}

type object = map[string]any

// call calls a tool, and returns its result. A result is the same as text and as structured content, is as its schema
// says, and has at most 25,000 characters.
func (w *world) call(name string, in object) (out object, failed bool) {
	w.t.Helper()
	w.calls++
	r, err := w.session.CallTool(w.t.Context(), &sdk.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		w.t.Fatalf("%s %v: %v", name, in, err)
	}
	said := r.Content[0].(*sdk.TextContent).Text
	if err := json.Unmarshal([]byte(said), &out); err != nil {
		w.t.Fatalf("%s: %v in %s", name, err, said)
	}
	if len(said) > 25_000 || len(r.Content) != 1 || !reflect.DeepEqual(any(out), r.StructuredContent) {
		w.t.Fatalf("%s: %d characters, structured: %v", name, len(said), r.StructuredContent)
	}
	if err := w.schemas[name].Validate(r.StructuredContent); err != nil {
		w.t.Fatalf("%s: %v in %s", name, err, said)
	}
	return out, r.IsError
}

// want calls a tool that must succeed.
func (w *world) want(name string, in object) object {
	w.t.Helper()
	out, failed := w.call(name, in)
	if failed {
		w.t.Fatalf("%s %v: %v", name, in, out)
	}
	return out
}

// refused calls a tool that must fail with this code and pointer.
func (w *world) refused(code, pointer, name string, in object) object {
	w.t.Helper()
	out, failed := w.call(name, in)
	if at, _ := out["pointer"].(string); !failed || out["code"] != code || at != pointer ||
		len(text(out, "error")) < 10 {
		w.t.Errorf("%s %v: %v, want the code %q and the pointer %q", name, in, out, code, pointer)
	}
	return out
}

// text returns a text in a result, by its path.
func text(v any, path ...any) string {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(object)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step < 0 {
				step += len(list)
			}
			if step < 0 || step >= len(list) {
				return ""
			}
			v = list[step]
		}
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// app creates an app as the person, with elements of a component and its configs.
func (w *world) app(title, component, version string, configs ...string) string {
	w.t.Helper()
	in := appsvc.CreateAppRequest{Title: title, Groups: []string{site}}
	for _, config := range configs {
		in.Elements = append(in.Elements, appsvc.NewElement{
			Component: appsvc.ComponentRef{Name: component, Version: version}, Config: json.RawMessage(config)})
	}
	app, err := w.apps.As(callers["lea"]).CreateApp(context.Background(), in)
	if err != nil {
		w.t.Fatal(err)
	}
	return app.ID
}

// publish releases a version of an app, as two people do.
func (w *world) publish(app string, v int) {
	w.t.Helper()
	ctx := context.Background()
	lea, ben := w.apps.As(callers["lea"]), w.apps.As(callers["ben"])
	rel, err := lea.CreateRelease(ctx, appsvc.CreateReleaseRequest{Name: "r", Moves: []appsvc.ReleaseMove{
		{AppID: app, Tag: "production", To: appsvc.PointsTo(vitrine.NewVersion(v))}}})
	if err == nil {
		rel, err = ben.ApproveRelease(ctx, rel.ID, rel.Version)
	}
	if err == nil {
		_, err = lea.RunRelease(ctx, rel.ID, rel.Version)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(time.Millisecond)
}
