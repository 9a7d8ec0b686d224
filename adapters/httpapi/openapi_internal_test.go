package httpapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// describedOperation is what openapi.json says of an endpoint, as far as the route table knows it too.
type describedOperation struct {
	Parameters  []describedParameter
	RequestBody struct{ Content map[string]any }
	Responses   map[string]any
	Security    *[]any
}

type describedParameter struct {
	Ref      string `json:"$ref"`
	Name, In string

	Description string
	Example     any
	Examples    map[string]any
}

// describedRoutes are the operations of openapi.json, by method and path.
func describedRoutes(t *testing.T) map[string]describedOperation {
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Parameters map[string]describedParameter }
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]describedOperation{}
	for path, item := range doc.Paths {
		var shared []describedParameter
		if err := json.Unmarshal(item["parameters"], &shared); err != nil && item["parameters"] != nil {
			t.Fatal(err)
		}
		for method, text := range item {
			if method == "parameters" || method == "servers" {
				continue
			}
			var op describedOperation
			if err := json.Unmarshal(text, &op); err != nil {
				t.Fatal(err)
			}
			op.Parameters = append(op.Parameters, shared...)
			for i, p := range op.Parameters {
				if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
					op.Parameters[i] = doc.Components.Parameters[name]
				}
			}
			out[strings.ToUpper(method)+" "+path] = op
		}
	}
	return out
}

// names returns the parameters that stand in one place, sorted.
func (o describedOperation) names(in string) (out []string) {
	for _, p := range o.Parameters {
		if p.In == in {
			out = append(out, p.Name)
		}
	}
	return slices.Sorted(slices.Values(out))
}

// openapi.json has the endpoints and the parameters of the route table, and no others.
func TestOpenAPIHasEveryRouteAndNoOther(t *testing.T) {
	h := &handler{Config: Config{Apps: appsvc.New(memory.New(), nil), Assets: assets.New(memory.New(), nil),
		Reviews: reviews.New(memory.New(), nil)}}
	described := describedRoutes(t)
	for _, rt := range h.routes() {
		name := rt.method + " " + rt.described()
		op, ok := described[name]
		if !ok {
			t.Errorf("%s is not in openapi.json", name)
			continue
		}
		delete(described, name)
		op.hold(t, name, rt)
	}
	for name := range described {
		t.Errorf("%s is in openapi.json and in no table", name)
	}
}

// hold fails the test where the operation differs from the route.
func (o describedOperation) hold(t *testing.T, name string, rt route) {
	if have, want := o.names("query"), slices.Sorted(slices.Values(rt.query)); !slices.Equal(have, want) {
		t.Errorf("%s: query parameters %q are described, the route knows %q", name, have, want)
	}
	if takes := slices.Contains(o.names("header"), "Idempotency-Key"); takes != rt.is(keyed) {
		t.Errorf("%s: Idempotency-Key is described: %t, known: %t", name, takes, rt.is(keyed))
	}
	if have, want := slices.Sorted(maps.Keys(o.RequestBody.Content)),
		slices.Sorted(slices.Values(rt.body.types)); !slices.Equal(have, want) {
		t.Errorf("%s: bodies %q are described, the route takes %q", name, have, want)
	}
	if open := o.Security != nil && len(*o.Security) == 0; open != rt.is(public) {
		t.Errorf("%s: described as open: %t, is open: %t", name, open, rt.is(public))
	}
	narrow := strings.Contains(rt.path, "{library}") // not every id can be one
	want := map[int]bool{
		rt.status: true,
		400:       len(rt.query) > 0 || rt.writes() || narrow,
		401:       !rt.is(public) || rt.authorize != nil,
		413:       rt.body.types != nil && (!rt.body.stream || rt.body.types[0] == anyType) || rt.path == previewPath,
		415:       rt.body.types != nil,
	}
	for status, known := range want {
		if _, ok := o.Responses[strconv.Itoa(status)]; ok != known {
			t.Errorf("%s: status %d is described: %t, is answered: %t", name, status, ok, known)
		}
	}
}
