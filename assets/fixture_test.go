package assets_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

var ctx = context.Background()

const network = "urn:vitrine:example.test"

var lib = assets.Library{Network: "example.test", ID: "example.test"}

// The callers of the tests.
var (
	moderator = vitrine.Caller{URN: network + ":user=mod", Moderates: []string{network}}
	member    = vitrine.Caller{URN: network + ":user=member"}
	viewer    = vitrine.Caller{URN: network + ":user=viewer", Roles: []string{"viewers"}}
	writer    = vitrine.Caller{URN: network + ":user=writer", Groups: []string{network + ":site=1"}}
	manager   = vitrine.Caller{URN: network + ":user=manager"}
	outsider  = vitrine.Caller{URN: "urn:vitrine:other.test:user=x", Moderates: []string{network + ":site=1"}}
)

// grants give viewer, writer and manager what their names say.
var grants = []assets.Permission{
	{Operation: assets.View, Role: &assets.Subject{ID: "viewers"}},
	{Operation: assets.Edit, Group: text(network + ":site=1")},
	{Operation: assets.Manage, User: &assets.Subject{ID: "manager"}},
}

func text(s string) *string { return &s }
func flag(b bool) *bool     { return &b }

// desk is a service on an empty store, with a clock that tests move.
type desk struct {
	*assets.Service
	t   testing.TB
	now time.Time
}

func newDesk(t testing.TB, limits assets.Limits) *desk {
	d := &desk{t: t, now: time.UnixMilli(1_700_000_000_000)}
	d.Service = assets.New(memory.New(), &assets.Options{Limits: limits, Now: func() time.Time { return d.now }})
	return d
}

// folder creates a folder in a place and returns its id and the path of what is in it.
func (d *desk) folder(label, place string, inherit bool, permissions ...assets.Permission) (id, path string) {
	d.t.Helper()
	out, err := d.As(moderator).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{
		{Label: label, Path: place, Inherit: &inherit, Permissions: permissions}}})
	if err != nil {
		d.t.Fatal(err)
	}
	if place == "" {
		place = "/"
	}
	if place != "/" {
		place += "/"
	}
	return out.Folders[0].ID, place + out.Folders[0].ID
}

func newAsset(foreign, content string, folders ...string) assets.NewAsset {
	c, _ := json.Marshal(map[string]string{"content": content})
	return assets.NewAsset{ID: foreign, Generator: assets.Generator{ID: "g"}, Content: c, Folders: folders}
}

// asset adds an asset and returns its id.
func (d *desk) asset(foreign, content string, folders ...string) string {
	d.t.Helper()
	out, err := d.As(moderator).ChangeAssets(ctx, lib,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{newAsset(foreign, content, folders...)}})
	if err != nil {
		d.t.Fatal(err)
	}
	return out.Added[0].ID
}

func (d *desk) search(by vitrine.Caller, in assets.SearchRequest) assets.SearchPage {
	d.t.Helper()
	page, err := d.As(by).Search(ctx, lib, in)
	if err != nil {
		d.t.Fatal(err)
	}
	return page
}

// total returns how many assets a caller finds.
func (d *desk) total(by vitrine.Caller, in assets.SearchRequest) int64 {
	d.t.Helper()
	return d.search(by, in).Total
}

// kind names the sentinel of an error.
func kind(err error) string {
	for name, sentinel := range map[string]error{"invalid": vitrine.ErrInvalid, "forbidden": vitrine.ErrForbidden,
		"not found": vitrine.ErrNotFound,
		"too large": vitrine.ErrTooLarge, "conflict": vitrine.ErrConflict} {
		if errors.Is(err, sentinel) {
			return name
		}
	}
	if err == nil {
		return "ok"
	}
	return fmt.Sprint(err)
}

func (d *desk) want(what string, err error, want string) {
	d.t.Helper()
	if got := kind(err); got != want {
		d.t.Errorf("%s: %s (%v), want %s", what, got, err, want)
	}
}
