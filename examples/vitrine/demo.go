package main

import (
	"bytes"
	"context"
	_ "embed" // demo.ndjson
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/examples/components"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/archive"
)

// demoNetwork is the network of all sample data.
const demoNetwork = "urn:vitrine:demo.test"

// demoUser is the user of the token that -demo prints: a moderator of the network of the sample data. It may not manage
// components, since that is a right over the whole store.
var demoUser = httpapi.Principal{Caller: vitrine.Caller{URN: demoNetwork + ":user=demo",
	Moderates: []string{demoNetwork}}}

// demoLibrary is the library of the sample posts: the one that every network has.
var demoLibrary = assets.Library{Network: "demo.test", ID: "demo.test"}

// demoMark is the id of an app that -demo creates before all others, by which it recognises its own store. Nobody can
// create this app through the service, which gives every app a random id.
const demoMark = "de300000-0000-4000-8000-000000000000"

// demo is what -demo prints for a newcomer.
type demo struct {
	token  string // of demoUser, see site
	link   string // signs in; "" if nobody can sign in
	tagged string // path of a version that a tag points to, or of something else to read
}

// newDemo fills an empty store. A store that -demo has filled before stays as it is, and any other is refused, since
// the token that -demo prints would give rights over its data. root is the URL of the base path as clients know it, and
// base its path.
func newDemo(
	ctx context.Context, p *program, s storage.Store, people *signin.Service, root, base string,
) (*demo, error) {
	empty, err := archive.Empty(ctx, s, signin.Maintenance(true).NotArchived)
	if err != nil {
		return nil, err
	}
	d := &demo{tagged: "/apps/" + demoID(6) + "/tagged/production"}
	if empty {
		err = fillDemo(ctx, s, people, root, base, time.Now().UTC())
	} else if err = marked(ctx, s); err == nil {
		fmt.Fprintln(p.stderr, "vitrine: -demo: the store is not empty: no sample data was added")
		d.tagged = "/components/"
	}
	if err == nil && people.Origin() != "" {
		visitor := signin.Rights{Moderates: demoUser.Moderates, Roles: []string{"designer", "editor", "newsdesk"}}
		d.link, err = people.Link(ctx, demoUser.URN, "Visitor", visitor, 24*time.Hour)
	}
	return d, err
}

// demoRequests are the requests that create the sample data, one a line and in the order of their times, see
// demoRequest.
//
//go:embed demo.ndjson
var demoRequests []byte

// demoRequest is a request that creates sample data.
type demoRequest struct {
	// when it was sent: "-9d 08:40" is a time in UTC nine days before the store is filled, "-40m" is forty minutes
	// before
	At      string
	By      string // the last part of the caller's URN, see demoCaller
	Request string // method and path
	// Body is the body, or the name of a file of examples/components that has it. In it <site> stands for the URL of
	// the sample site, <+18d> for the date eighteen days later, <post-1> and <Press> for the ids of an asset and a
	// folder that were added before, or for a key of this name, and <snow.svg> for the address of a file. The path may
	// have ids, too.
	Body json.RawMessage
}

// placeholder matches the placeholders for dates and ids in bodies.
var placeholder = regexp.MustCompile(`<([+-]\d+d|post-\d+|[a-z]+\.svg|[A-Z][a-z]+( [a-z]+)?)>`)

// fillDemo sends the requests to services whose clock shows the time of each, so that the sample data have a history of
// nine days, and creates people.
func fillDemo(ctx context.Context, s storage.Store, people *signin.Service, root, base string, filled time.Time) error {
	var now time.Time
	clock := func() time.Time { return now }
	made := -1
	newID := func() string { made++; return demoID(made) } // the same ids in every store
	apps := appsvc.New(s, &appsvc.Options{Now: clock, NewID: newID})
	if err := apps.SetLanguages(ctx, []string{"en", "de"}); err != nil { // so that an editor can try to translate
		return err
	}
	handler, err := httpapi.New(httpapi.Config{
		Extras:       people.Endpoints(),
		Apps:         apps,
		Assets:       assets.New(s, &assets.Options{Now: clock}),
		Reviews:      reviews.New(s, nil),
		Authenticate: demoCaller,
	})
	if err != nil {
		return err
	}
	// of folders and assets, by labels and foreign ids; keys and addresses of files, by names
	ids := map[string]string{}
	complete := func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(p string) string {
			var days int
			if n, _ := fmt.Sscanf(p, "<%dd>", &days); n == 1 {
				return filled.AddDate(0, 0, days).Format(time.DateOnly)
			}
			return ids[strings.Trim(p, "<>")]
		})
	}
	for line := range bytes.Lines(demoRequests) {
		var in demoRequest
		if err := json.Unmarshal(line, &in); err != nil {
			return err
		}
		now = demoTime(filled, in.At)
		var file string
		if json.Unmarshal(in.Body, &file) == nil {
			if in.Body, err = components.Files.ReadFile(file); err != nil {
				return err
			}
		}
		in.Body = bytes.ReplaceAll(in.Body, []byte(`"/`+demoSite), []byte(`"`+demoPath(base)))
		in.Body = bytes.ReplaceAll(in.Body, []byte("<site>"), []byte(strings.TrimRight(root, "/")+"/"+demoSite))
		body := complete(string(in.Body))
		method, path, _ := strings.Cut(complete(in.Request), " ")
		request, err := http.NewRequestWithContext(ctx, method, "http://"+demoLibrary.Network+path,
			strings.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "svctoken "+in.By)
		request.Header.Set("Content-Type", "application/json")
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, request)
		if response.Code >= 300 {
			return fmt.Errorf("the sample data: %s at %s: %d %s", in.Request, in.At, response.Code, response.Body)
		}
		addIDs(ids, base, []byte(body), response.Body.Bytes())
	}
	for _, name := range []string{"Designer", "Editor", "Newsdesk"} { // they have no way to sign in
		role := strings.ToLower(name)
		if _, err := people.Link(ctx, demoNetwork+":user="+role, name, signin.Rights{Roles: []string{role}},
			-time.Second); err != nil {
			return err
		}
	}
	return nil
}

// demoID is the id of the component or app that is the nth to be made, from 0 on.
func demoID(n int) string { return fmt.Sprintf("%s%012d", demoMark[:len(demoMark)-12], n) }

// demoTime is the time that demoRequest.At stands for.
func demoTime(filled time.Time, at string) time.Time {
	var days, hour, minute int
	if n, _ := fmt.Sscanf(at, "%dd %d:%d", &days, &hour, &minute); n == 3 {
		return filled.Truncate(24*time.Hour).AddDate(0, 0,
			days).Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
	}
	before, _ := time.ParseDuration(at)
	return filled.Add(before)
}

// demoCaller returns the user who has sent a request. Users are named for what they do. Everybody may change the apps
// of each site. In the library the newsdesk moderates, and the editor has the rights that folders give to the role, and
// does not see the embargoed folder.
func demoCaller(r *http.Request) (httpapi.Principal, error) {
	name, err := httpapi.RequestToken(r)
	by := vitrine.Caller{URN: demoNetwork + ":user=" + name, Roles: []string{name}, Components: name == "designer"}
	for _, site := range []string{"news", "blog", "shop", "events"} {
		by.Moderates = append(by.Moderates, demoNetwork+":site="+site)
	}
	if name == "newsdesk" || name == "demo" {
		by.Moderates = []string{demoNetwork}
	}
	return httpapi.Principal{Caller: by}, err
}

// addIDs adds the ids of the folders and assets, the keys, and the addresses of the files that a request has created.
// base is the base path as clients know it.
func addIDs(ids map[string]string, base string, request, response []byte) {
	var in struct{ Add []struct{ ID string } }
	var out struct {
		Folders   []struct{ ID, Label string }
		Added     []struct{ ID string }
		Name, Key string // of a key
		Asset     struct {
			Content struct {
				Attachment []struct {
					Title string
					URL   struct{ Href string }
				}
			}
		}
	}
	_, _ = json.Unmarshal(request, &in), json.Unmarshal(response, &out) // others have neither
	ids[out.Name] = out.Key
	for _, f := range out.Folders {
		ids[f.Label] = f.ID
	}
	for _, file := range out.Asset.Content.Attachment {
		ids[file.Title] = strings.TrimSuffix(demoPath(base), "/"+demoSite) + file.URL.Href
	}
	for i, added := range out.Added {
		ids[in.Add[i].ID] = added.ID
	}
}

// marked returns an error unless -demo has filled the store.
func marked(ctx context.Context, s storage.Store) error {
	by := vitrine.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates}
	_, err := appsvc.New(s, nil).As(by).App(ctx, demoMark)
	if errors.Is(err, vitrine.ErrNotFound) {
		return exitError{errors.New("the store holds other data than the sample data, and -demo prints a token: want " +
			"a store that is new or empty, or that -demo has filled"), exitUsage}
	}
	return err
}

// print shows a link into the console, the token, and three curl commands that can be copied as they are.
func (d *demo) print(w io.Writer, root, base string) {
	auth := "-H 'Authorization: svctoken " + d.token + "'"
	console := "the console:\n" + base + "/#token=" + d.token
	if d.link != "" {
		console = "the console (the link signs in once; start again for another):\n" + d.link
	}
	fmt.Fprintf(w, "\na page with the sample apps:\n%s/%s\n\n%s\n", base, demoSite, console)
	fmt.Fprintf(w, "\ntoken of %s, good for a day:\n%s\n\ntry:\n", demoUser.URN, d.token)
	fmt.Fprintf(w, "curl %s '%s/apps/'\n", auth, base)
	fmt.Fprintf(w, "curl %s '%s%s'\n", auth, base, d.tagged)
	fmt.Fprintf(w, "curl %s '%s/services/frontline/api/v4/assetManager//demo.test/assetLibrary/demo.test/"+
		"assets?query=harbour&limit=2'\n", auth, root)
}
