package signin_test

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/assets"
)

// A public key shows the folders that its maker could manage when it was made. Who may manage a folder sees the keys
// that show it, and takes it out of them.
func TestKeysOfFolders(t *testing.T) {
	var library *assets.Service
	w := newWorld(t, localBase, func(o *signin.Options) {
		o.Manages = func(ctx context.Context, by vitrine.Caller, network, lib, folder string) error {
			_, err := library.As(by).Permissions(ctx, assets.Library{Network: network, ID: lib}, folder)
			return err
		}
	})
	library = assets.New(w.db, nil)
	var err error
	w.handler, err = httpapi.New(httpapi.Config{Assets: library, Authenticate: w.people.Authenticate,
		Extras: w.people.Endpoints(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	name := network[strings.LastIndexByte(network, ':')+1:]
	lib := assets.Library{Network: name, ID: name}
	ann := w.invited("Ann", signin.Rights{Moderates: []string{network}})
	site := w.invited("Site", signin.Rights{Moderates: []string{network + ":site=x"}})
	keeper := w.invited("Keeper", signin.Rights{Roles: []string{"keepers"}})
	all := library.As(vitrine.Caller{URN: network + ":user=all", Moderates: []string{network}})
	made, err := all.ChangeFolders(t.Context(), lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{
		{Label: "Shown",
			Permissions: []assets.Permission{{Operation: assets.Manage, Role: &assets.Subject{ID: "keepers"}}}},
		{Label: "Other"}}})
	if err != nil {
		t.Fatal(err)
	}
	folder, other := name+"/"+name+"/"+made.Folders[0].ID, name+"/"+name+"/"+made.Folders[1].ID
	ask := func(reads string, folders ...string) object {
		return object{"name": "page", "kind": "public", "reads": []string{reads}, "folders": folders}
	}
	for _, test := range []struct {
		by     *browser
		what   object
		status int
	}{{ann, ask(network, name+"/"+name+"/none"), 404}, {ann, ask(network, name+"/x"), 400},
		{ann, ask(network, "other.test/"+name+"/x"), 403}, {ann, ask(network, folder, folder), 400},
		{site, ask(network+":site=x", folder), 404}, {site, ask(network+":site=x", other), 403},
		{keeper, ask(network, folder), 403}, {ann, ask(network, slices.Repeat([]string{other[:9]}, 101)...), 422},
		{ann, object{"name": "x", "kind": "secret", "reads": []string{network}, "folders": []string{folder}}, 400},
		{ann, object{"name": "x", "kind": "public", "reads": []string{network}}, 400}} {
		test.by.want(test.status, "POST", "/x/keys/", test.what)
	}
	key := ann.want(201, "POST", "/x/keys/", ask(network, folder))
	path := "/x/public/assets/" + name + "/" + name + "/"
	page, query := w.browser(), "?key="+key.text("key")
	page.want(200, "GET", path+made.Folders[0].ID+query, nil)
	page.want(403, "GET", path+made.Folders[1].ID+query, nil)

	listed := "/x/keys/?folder=" + url.QueryEscape(folder)
	if got := keeper.want(200, "GET", listed, nil); !strings.Contains(string(got.body), key.text("id")) {
		t.Errorf("the keeper of the folder sees %s", got.body)
	}
	if got := ann.want(200, "GET", "/x/keys/?folder="+url.QueryEscape(other), nil); string(got.body) != `{"keys":[]}` {
		t.Errorf("keys of another folder: %s", got.body)
	}
	site.want(404, "GET", listed, nil)
	one := "/x/keys/" + key.text("id")
	keeper.want(404, "DELETE", one, nil)
	keeper.want(403, "DELETE", one+"?folder="+url.QueryEscape(other), nil)
	site.want(404, "DELETE", one+"?folder="+url.QueryEscape(folder), nil)
	keeper.want(204, "DELETE", one+"?folder="+url.QueryEscape(folder), nil)
	keeper.want(404, "DELETE", one+"?folder="+url.QueryEscape(folder), nil)
	page.want(403, "GET", path+made.Folders[0].ID+query, nil)
	ann.want(200, "GET", one, nil)
	for fault, err := range signin.Maintenance(true).Audit(t.Context(), w.db) {
		t.Errorf("%v, %v", fault, err)
	}
	ann.want(400, "GET", "/x/keys/?folder=", nil)
	ann.want(400, "DELETE", one+"?folder=", nil) // and not the whole key
	ann.want(204, "DELETE", one, nil)
	for fault, err := range signin.Maintenance(true).Audit(t.Context(), w.db) {
		t.Errorf("%v, %v", fault, err)
	}
}
