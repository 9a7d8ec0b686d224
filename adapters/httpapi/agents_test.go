package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const (
	agentNetwork = "urn:vitrine:example.test"
	agentLibrary = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"
)

// theAgent has every right that an agent can have.
var theAgent = vitrine.Caller{URN: agentNetwork + ":user=lea", Moderates: []string{agentNetwork}, Components: true,
	Key: "vt_12345678", Agent: "Draft writer"}

// callsAllowed are the methods that an agent may call, by domain. Whatever else a Session has is refused.
var callsAllowed = map[string][]string{
	"appsvc": strings.Fields(`App Version ListVersions AllVersions ListApps AllApps ListHistory AllHistory Diff Edit
		Tag ListTags AllTags TagsNamed ListTagMoves AllTagMoves TaggedApp TaggedAppIn Deliver ListPublished
		AllPublished Languages
		Component ListComponents AllComponents ComponentVersion ListComponentVersions AllComponentVersions
		Release ListReleases AllReleases Changes Follow
		ListComments AllComments Readers Approvers Inbox ListPreviews
		CreateApp Patch Restore CreateRelease UpdateRelease CreateComment ReplyToComment`),
	"assets": strings.Fields(`Asset AllAssets Search Attributes Folder ListFolders AllFolders Permissions Explain
		ShowFolder CheckMember Changes Follow
		ChangeAssets Upload`),
	"reviews": strings.Fields(
		`ListCollections AllCollections ListReviews AllReviews Export Show Network Changes Follow`),
}

// saysAgent reports whether an error is that of what no agent may do.
func saysAgent(err any) bool {
	return err != nil && strings.Contains(fmt.Sprint(err), "this is the key of an agent")
}

// Every method of every Session is either in the list, or refuses agents before it looks at what it is asked.
func TestAgentsCallTheMethodsOfTheList(t *testing.T) {
	db := memory.New()
	sessions := func(by vitrine.Caller) map[string]any {
		return map[string]any{"appsvc": appsvc.New(db, nil).As(by), "assets": assets.New(db, nil).As(by),
			"reviews": reviews.New(db, nil).As(by)}
	}
	person := theAgent
	person.Key, person.Agent = "", ""
	for domain, agent := range sessions(theAgent) {
		methods := map[string]bool{}
		for method, call := range reflect.ValueOf(agent).Methods() {
			err, fails := called(call)
			if !fails { // it only makes another Session
				continue
			}
			methods[method.Name] = true
			if want := !slices.Contains(callsAllowed[domain], method.Name); saysAgent(err) != want {
				t.Errorf("%s.%s: %v, want that it is refused: %t", domain, method.Name, err, want)
			}
			if err, _ := called(reflect.ValueOf(sessions(person)[domain]).MethodByName(method.Name)); saysAgent(err) {
				t.Errorf("%s.%s refuses a person: %v", domain, method.Name, err)
			}
		}
		for _, name := range callsAllowed[domain] {
			if !methods[name] {
				t.Errorf("%s has no method %s", domain, name)
			}
		}
	}
}

// called calls a method with values that mean nothing, and returns its error, or that of the first pair that it yields.
// fails is false if it has no error.
func called(method reflect.Value) (err any, fails bool) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // who is refused is refused before anything is read
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		switch of := method.Type().In(i); of {
		case reflect.TypeFor[context.Context]():
			in = append(in, reflect.ValueOf(ctx))
		case reflect.TypeFor[io.Reader]():
			in = append(in, reflect.ValueOf(strings.NewReader("")))
		case reflect.TypeFor[assets.Library]():
			in = append(in, reflect.ValueOf(assets.Library{Network: "example.test", ID: "example.test"}))
		default:
			v := reflect.New(of).Elem()
			if of.Kind() == reflect.Struct && v.FieldByName("Network").IsValid() {
				v.FieldByName("Network").SetString("example.test")
			}
			in = append(in, v)
		}
	}
	out := method.Call(in)
	last := out[len(out)-1]
	if last.Type() == reflect.TypeFor[error]() {
		return last.Interface(), true
	}
	if last.Kind() != reflect.Func {
		return nil, false
	}
	for _, err := range last.Seq2() {
		return err.Interface(), true
	}
	return nil, true
}

// agentServer is a server with all endpoints, whose caller is the agent.
func agentServer(t *testing.T) (h http.Handler, extras []httpapi.Extra) {
	t.Helper()
	db := memory.New()
	people, err := signin.New(db, signin.Options{BaseURL: "http://localhost:80",
		Otherwise: func(*http.Request) (httpapi.Principal, error) { return httpapi.Principal{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	extras = people.Endpoints()
	h, err = httpapi.New(httpapi.Config{Apps: appsvc.New(db, nil), Assets: assets.New(db, nil),
		Reviews: reviews.New(db, nil), Extras: extras,
		Authenticate: func(r *http.Request) (httpapi.Principal, error) {
			_, err := httpapi.RequestToken(r)
			return httpapi.Principal{Caller: theAgent}, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	return h, extras
}

// writesAllowed are the endpoints by which an agent may write.
var writesAllowed = []string{"POST /apps", "PATCH /apps/{id}", "POST /apps/versions/restore", "POST /x/releases",
	"PUT /x/releases/{id}", "POST " + agentLibrary + "/assets", "POST " + agentLibrary + "/files",
	"POST /apps/{id}/comments", "POST /apps/{id}/comments/{comment}/replies"}

var pathParameter = regexp.MustCompile(`\{[a-z]+\}`)

// Every endpoint of the description that writes is either in the list, or refuses agents before it looks at the path,
// the query or the body. None that reads does.
func TestAgentsWriteByTheEndpointsOfTheList(t *testing.T) {
	h, extras := agentServer(t)
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+strings.Repeat("x", 40))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	var description struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(ask("GET", "/openapi.json", "").Body.Bytes(), &description); err != nil {
		t.Fatal(err)
	}
	for _, e := range extras {
		if path := strings.TrimSuffix(e.Path, "/"); !e.Public {
			if description.Paths[path] == nil {
				description.Paths[path] = map[string]any{}
			}
			description.Paths[path][e.Method] = e
		}
	}
	writes := 0
	for path, methods := range description.Paths {
		for method := range maps.Keys(methods) {
			method = strings.ToUpper(method)
			if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, method) ||
				strings.HasSuffix(path, "/changes") { // a stream
				continue
			}
			path := strings.NewReplacer("{network}", "example.test", "{library}", "example.test").Replace(path)
			at := pathParameter.ReplaceAllString(path, "%00")
			for _, query := range []string{"", "?dryRun=true", "?nonsense=1"} {
				w := ask(method, at+query, `{"no":`)
				want := method != "GET" && !slices.Contains(writesAllowed, method+" "+path)
				if saysAgent(w.Body) != want || want && w.Code != 403 {
					t.Errorf("%s %s: %d %s, want that it is refused: %t", method, path+query, w.Code, w.Body, want)
				}
				if want {
					writes++
				}
			}
		}
	}
	if writes < 3*25 {
		t.Errorf("%d writes were refused: the description is not whole", writes)
	}
}
