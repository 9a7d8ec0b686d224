package httpapi_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// asker asks endpoints by their description.
type asker struct {
	*world
	doc   openAPI
	ids   map[string]string // what {name} stands for, in paths, queries and bodies
	asked int
}

// ask holds an answer against its description and returns its members.
func (a *asker) ask(method, path, query, body string) (members map[string]any) {
	a.t.Helper()
	var names []string
	for name, id := range a.ids {
		names = append(names, "{"+name+"}", id)
	}
	fill := strings.NewReplacer(names...)
	op := a.doc.Paths[path][strings.ToLower(method)]
	server := append(op.Servers, a.doc.Servers...)[0].URL
	r := a.as(editor, method, strings.TrimSuffix(server, "/")+fill.Replace(path+query), fill.Replace(body))
	described, ok := op.Responses[strconv.Itoa(r.status)]
	if !ok {
		a.t.Fatalf("%s: %d is not described: %s", r.what, r.status, r.body)
	}
	a.asked++
	if r.body == "" {
		return nil
	}
	r.read(&members)
	described.check(r, members)
	return members
}

// check reports where the members of an answer are not as they are described.
func (o openAPIResponse) check(r reply, members map[string]any) {
	r.t.Helper()
	schema := o.Content["application/json"].Schema
	if schema.Type != "object" || len(schema.Required) == 0 || len(schema.Required) != len(schema.Properties) {
		r.t.Errorf("%s: described as %v", r.what, o)
	}
	for _, name := range schema.Required {
		types, several := schema.Properties[name].Type.([]any)
		if !several {
			types = []any{schema.Properties[name].Type}
		}
		if value, given := members[name]; !given || !slices.Contains(types, any(typeOf(value))) {
			r.t.Errorf("%s: member %s is described as %v and is %v", r.what, name, types, value)
		}
	}
}

// typeOf is what JSON Schema calls a value.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "integer"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "string"
}

// firstID returns the id of the first of the things that a member lists.
func firstID(list any) string { return fmt.Sprint(list.([]any)[0].(map[string]any)["id"]) }

func TestAnswersHaveTheMembersThatOpenAPISays(t *testing.T) {
	w, doc := describedWorld(t)
	a := &asker{world: w, doc: doc, ids: map[string]string{
		"network": "example.test", "library": "example.test", "name": "c", "tag": "live", "version": "0"}}
	a.ask("GET", "/openapi.json", "", "")
	a.ask("GET", "/healthz", "", "")
	a.ask("POST", "/components/", "", `{"name":"c","version":"1","main":"/x.js","configSchema":{}}`)
	a.ask("GET", "/components/", "", "")
	a.ask("GET", "/components/{name}", "", "")
	a.ids["id"] = fmt.Sprint(a.ask("POST", "/apps/", "", `{"title":"x","groups":["urn:vitrine:example.test"]}`)["id"])
	a.ask("GET", "/apps/", "", "")
	a.ask("GET", "/apps/{id}", "", "")
	a.ask("PATCH", "/apps/{id}", "", `[{"op":"test","path":"/apps/0/version","value":"0"}]`)
	a.ask("GET", "/apps/versions/", "?appId={id}", "")
	a.ask("GET", "/apps/{id}/versions/", "", "")
	a.ask("GET", "/apps/{id}/versions/{version}", "", "")
	a.ask("POST", "/apps/versions/restore", "", `{"appId":"{id}","appVersion":"0"}`)
	a.ask("PUT", "/apps/{id}/tags/{tag}", "", `{"appVersion":"0"}`)
	a.ask("GET", "/apps/{id}/tags/", "", "")
	a.ask("GET", "/apps/{id}/tags/{tag}", "", "")
	a.ask("GET", "/apps/{id}/tagged/{tag}", "", "")
	a.ask("GET", "/tags/{name}", "?appId={id}", "")
	a.ask("DELETE", "/apps/{id}/tags/{tag}", "", "")
	a.ask("DELETE", "/components/{name}", "", "")
	a.ask("POST", "/x/reviews/import", "?dryRun=true", "\n")

	a.ids["asset"] = firstID(a.ask("POST", libraryPath+"/assets", "", `{"add":[{"id":"1","generator":{"id":"g"},"content":{"content":"x"}}]}`)["added"])
	a.ask("GET", libraryPath+"/assets", "", "")
	a.ask("GET", libraryPath+"/asset/{asset}", "", "")
	a.ids["folder"] = firstID(a.ask("POST", libraryPath+"/folders", "", `{"create":[{"label":"x"}]}`)["folders"])
	a.ask("GET", libraryPath+"/folders", "", "")
	a.ask("GET", libraryPath+"/folder/{folder}", "", "")
	a.ask("GET", libraryPath+"/folder/{folder}/permissions", "", "")
	a.ask("POST", libraryPath+"/folder/{folder}/permissions", "", `{"create":[]}`)
	a.ask("POST", libraryPath+"/folder/{folder}/assets", "", `{"assign":["{asset}"]}`)
	a.ask("GET", libraryPath+"/attributes", "?key=k", "")
	a.ask("POST", libraryPath+"/attributes", "", `{"assets":["{asset}"],"add":[{"key":"k","value":"v"}]}`)

	described := -1 // cors.html, which is no JSON
	for _, methods := range doc.Paths {
		described += len(methods)
	}
	if a.asked != described {
		t.Errorf("%d endpoints are described, %d were asked", described, a.asked)
	}
}
