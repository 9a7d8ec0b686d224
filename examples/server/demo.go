package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/archive"
)

const demoNetwork = "urn:vitrine:demo.test"

// demoUser may do everything in the network of the sample data.
var demoUser = httpapi.Principal{URN: demoNetwork + ":user=demo", Moderates: []string{demoNetwork}, Components: true}

// demo is what -demo shows a newcomer.
type demo struct {
	token  string
	tagged string // path of a version that a tag points to, or of something else to read
}

// newDemo fills the store if it is empty, and makes a token for what is in it.
func newDemo(ctx context.Context, p *program, s *store, tokens *httpapi.Tokens) (*demo, error) {
	token, err := tokens.Sign(demoUser, time.Now().Add(24*time.Hour))
	if err != nil {
		return nil, err
	}
	d := &demo{token: token, tagged: "/components/"}
	switch err := s.Empty(ctx); {
	case errors.Is(err, archive.ErrNotEmpty):
		fmt.Fprintln(p.stderr, "server: -demo: the store is not empty: no sample data was added")
		return d, nil
	case err != nil:
		return nil, err
	}
	by := appsvc.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates, ManageComponents: true}
	id, err := fillApps(ctx, appsvc.New(s.Apps, nil), by)
	if err != nil {
		return nil, err
	}
	d.tagged = "/apps/" + id + "/tagged/production"
	return d, fillLibrary(ctx, assets.New(s.Assets, nil), assets.Caller{URN: demoUser.URN, Moderates: demoUser.Moderates})
}

// demoComponents power the elements of demoApps.
var demoComponents = []string{
	`{"name":"@demo/feed","version":"1.0.0","main":"https://cdn.demo.test/feed-1.0.0.js","description":"A list of posts, newest first",
	  "configSchema":{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":100,"default":20},
	  "theme":{"enum":["light","dark"],"default":"light"}},"additionalProperties":false}}`,
	`{"name":"@demo/feed","version":"1.1.0","main":"https://cdn.demo.test/feed-1.1.0.js","description":"A list of posts, newest first",
	  "configSchema":{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":500,"default":20},
	  "theme":{"enum":["light","dark","auto"],"default":"auto"}},"additionalProperties":false}}`,
	`{"name":"@demo/map","version":"2.3.0","main":"https://cdn.demo.test/map-2.3.0.js","description":"Posts on a map",
	  "configSchema":{"type":"object","required":["center"],"properties":{
	  "center":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2},"zoom":{"type":"integer","default":8}}}}`,
	`{"name":"@demo/analytics","version":"0.4.2","main":"https://cdn.demo.test/analytics.js","description":"Counts views; shows nothing","configSchema":{}}`,
}

// demoApps are created in this order; each later title is a version that a patch makes.
var demoApps = []struct {
	site     string
	titles   []string
	elements []appsvc.NewElement
	tags     map[string]appsvc.Version
}{
	{":site=blog", []string{"Travel map (draft)", "Travel map"}, []appsvc.NewElement{
		{Component: appsvc.ComponentRef{Name: "@demo/map", Version: "2.3.0"}, Config: []byte(`{"center":[46.95,7.44],"zoom":6}`)},
	}, map[string]appsvc.Version{"staging": 1}},
	{":site=shop", []string{"Customer stories"}, []appsvc.NewElement{
		{Component: appsvc.ComponentRef{Name: "@demo/feed", Version: "1.0.0"}, Config: []byte(`{}`)},
	}, nil},
	{":site=news", []string{"Front page", "Front page, autumn", "Front page, winter"}, []appsvc.NewElement{
		{Component: appsvc.ComponentRef{Name: "@demo/feed", Version: "1.1.0"}, Config: []byte(`{"limit":50,"theme":"dark"}`)},
		{Component: appsvc.ComponentRef{Name: "@demo/analytics", Version: "0.4.2"}, Config: []byte(`{"property":"front"}`)},
	}, map[string]appsvc.Version{"production": 1, "staging": 2}},
}

// fillApps adds the sample components and apps and returns the id of the last app.
func fillApps(ctx context.Context, apps *appsvc.Service, by appsvc.Caller) (id string, err error) {
	for _, manifest := range demoComponents {
		if _, err := apps.CreateComponent(ctx, by, []byte(manifest), ""); err != nil {
			return "", err
		}
	}
	for _, x := range demoApps {
		app, err := apps.CreateApp(ctx, by, appsvc.NewApp{Title: x.titles[0], Groups: []string{demoNetwork + x.site}, Elements: x.elements})
		if err != nil {
			return "", err
		}
		id = app.ID
		for version, title := range x.titles[1:] {
			patch := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace","path":"/apps/0/title","value":%q}]`, version, title)
			if _, err := apps.Patch(ctx, by, id, []byte(patch)); err != nil {
				return "", err
			}
		}
		for name, version := range x.tags {
			if _, err := apps.PutTag(ctx, by, appsvc.PutTag{AppID: id, Name: name, Version: version}); err != nil {
				return "", err
			}
		}
	}
	return id, nil
}

// print shows the token and three commands that work as they stand, by the addresses of the server
// and of the base path.
func (d *demo) print(w io.Writer, root, base string) {
	auth := "-H 'Authorization: svctoken " + d.token + "'"
	fmt.Fprintf(w, "\ntoken of %s, good for a day:\n%s\n\ntry:\n", demoUser.URN, d.token)
	fmt.Fprintf(w, "curl %s '%s/apps/'\n", auth, base)
	fmt.Fprintf(w, "curl %s '%s%s'\n", auth, base, d.tagged)
	fmt.Fprintf(w, "curl %s '%s/services/frontline/api/v4/assetManager//demo.test/assetLibrary/demo.test/assets?query=harbour&limit=2'\n", auth, root)
}
