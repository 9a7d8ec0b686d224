package assets_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
)

// roundTrip marshals a value and reads it back.
func roundTrip[T any](t *testing.T, v T) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back T
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(v, back) {
		t.Errorf("%s\nis read as %+v, want %+v; error %v", text, back, v, err)
	}
}

func TestValuesSurviveARoundTripThroughJSON(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	f, _ := d.folder("news", "", false, grants...)
	in := newAsset("1", "words", f)
	in.SafeTags, in.Via = []string{"hot"}, new(int64)
	added, err := d.As(moderator).ChangeAssets(ctx, lib,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{in, newAsset("2", "")}})
	d.want("adding", err, "ok")
	roundTrip(t, added)
	id := added.Added[0].ID
	labelled, err := d.As(moderator).ChangeAttributes(ctx, lib,
		assets.ChangeAttributesRequest{Assets: []string{id, "none"}, Add: []assets.Attribute{{Key: "k", Value: "v"}}})
	d.want("labelling", err, "ok")
	roundTrip(t, labelled)
	roundTrip(t, d.search(moderator, assets.SearchRequest{Limit: 1}))
	a, err := d.As(moderator).Asset(ctx, lib, id)
	d.want("reading", err, "ok")
	roundTrip(t, a)
	for _, by := range []vitrine.Caller{moderator, viewer} { // with permissions, and without
		folder, err := d.As(by).Folder(ctx, lib, f)
		d.want("the folder", err, "ok")
		roundTrip(t, folder)
		why, err := d.As(by).Explain(ctx, lib, assets.ExplainRequest{Asset: id})
		d.want("the explanation", err, "ok")
		roundTrip(t, why)
	}
	permissions, err := d.As(moderator).Permissions(ctx, lib, f)
	d.want("the permissions", err, "ok")
	roundTrip(t, permissions)
	assigned, err := d.As(moderator).AssignAssets(ctx, lib,
		assets.AssignAssetsRequest{Folder: f, Assign: []string{id, "none"}, Remove: []string{}})
	d.want("assigning", err, "ok")
	roundTrip(t, assigned)
	roundTrip(t, []assets.Attribute{{Key: "k", Value: ""}})
}

func TestUnmarshalRefusesJSONThatIsNoAsset(t *testing.T) {
	for _, text := range []string{`{}`, `{"id":"a"}`, `{"content":{}}`, `[]`,
		`{"id":"a","content":{},"createdAt":"yesterday"}`} {
		if err := json.Unmarshal([]byte(text), new(assets.Asset)); err == nil {
			t.Errorf("%s is read as an asset", text)
		}
	}
}

func TestIteratorsYieldEverythingOnce(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		d.asset(name, "word")
		d.folder(name, "", true)
	}
	s := d.As(member)
	for what, in := range map[string]assets.SearchRequest{"newest first": {Limit: 2},
		"oldest first": {Limit: 2, Order: "asc"}, "in one page": {}} {
		seen := map[string]bool{}
		for a, err := range s.AllAssets(ctx, lib, in) {
			d.want(what, err, "ok")
			if seen[a.ID] {
				t.Errorf("%s: %s comes twice", what, a.ID)
			}
			seen[a.ID] = true
		}
		if len(seen) != 5 {
			t.Errorf("%s: %d assets, want 5", what, len(seen))
		}
	}
	labels := ""
	for f, err := range s.AllFolders(ctx, lib, assets.ListFoldersRequest{Limit: 2}) {
		d.want("folders", err, "ok")
		labels += f.Label
	}
	if labels != "abcde" {
		t.Errorf("folders %s, want abcde", labels)
	}
	for _, err := range s.AllFolders(ctx, lib, assets.ListFoldersRequest{Limit: -1}) {
		d.want("a bad limit", err, "invalid")
	}
	for _, err := range s.AllAssets(ctx, lib, assets.SearchRequest{Since: "x"}) {
		d.want("a bad cursor", err, "invalid")
	}
	for range s.AllFolders(ctx, lib, assets.ListFoldersRequest{Limit: 1}) {
		break
	}
}
