package assets_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// at returns the pointer of an error and the name of its kind: "/add invalid".
func at(err error) string {
	if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Pointer != "" {
		return e.Pointer + " " + kind(err)
	}
	return kind(err)
}

// changes are requests with n items each, by their names. A request that ends with its items is
// refused with the error that it has.
func (d *desk) changes(folder string) map[string]func(ctx context.Context, n, m int) error {
	role := func(i int) assets.Permission {
		return assets.Permission{Operation: assets.View, Role: &assets.Subject{ID: fmt.Sprint(i)}}
	}
	many := func(n int) (ids []string) { return slices.Repeat([]string{"none"}, n) }
	assign := func(ctx context.Context, in assets.AssignAssetsRequest) error {
		in.Folder = folder
		_, err := d.As(moderator).AssignAssets(ctx, lib, in)
		return err
	}
	grant := func(ctx context.Context, in assets.ChangePermissionsRequest) error {
		in.Folder = folder
		_, err := d.As(moderator).ChangePermissions(ctx, lib, in)
		return err
	}
	change := func(ctx context.Context, in assets.ChangeFoldersRequest) error {
		_, err := d.As(moderator).ChangeFolders(ctx, lib, in)
		return err
	}
	list := func(n int, of func(i int) assets.Permission) (out []assets.Permission) {
		for i := range n {
			out = append(out, of(i))
		}
		return out
	}
	return map[string]func(ctx context.Context, n, m int) error{
		"/add /remove of assets": func(ctx context.Context, n, m int) error {
			in := assets.ChangeAssetsRequest{Remove: many(m)}
			for i := range n {
				in.Add = append(in.Add, newAsset(fmt.Sprint(i), "x"))
			}
			_, err := d.As(moderator).ChangeAssets(ctx, lib, in)
			return err
		},
		"/create /update of folders": func(ctx context.Context, n, m int) error {
			return change(ctx, assets.ChangeFoldersRequest{Create: slices.Repeat([]assets.NewFolder{{Label: "x"}}, n),
				Update: slices.Repeat([]assets.FolderChange{{ID: folder, Label: text("y")}}, m)})
		},
		"/update /delete of folders": func(ctx context.Context, n, m int) error {
			return change(ctx,
				assets.ChangeFoldersRequest{
					Update: slices.Repeat([]assets.FolderChange{{ID: folder, Deleted: flag(false)}}, n),
					Delete: slices.Repeat([]string{folder}, m)})
		},
		"/delete /remove of folders": func(ctx context.Context, n, m int) error {
			return change(ctx,
				assets.ChangeFoldersRequest{Delete: slices.Repeat([]string{folder}, n),
					Remove: slices.Repeat([]string{folder}, m)})
		},
		"/create /remove of permissions": func(ctx context.Context, n, m int) error {
			return grant(ctx, assets.ChangePermissionsRequest{Create: list(n, role), Remove: list(m, role)})
		},
		"/assign /remove": func(ctx context.Context, n, m int) error {
			return assign(ctx, assets.AssignAssetsRequest{Assign: many(n), Remove: many(m)})
		},
		"/assets of attributes": func(ctx context.Context, n, m int) error {
			_, err := d.As(moderator).ChangeAttributes(ctx, lib, assets.ChangeAttributesRequest{Assets: many(n + m)})
			return err
		},
	}
}

func TestTheItemsOfARequestAreBounded(t *testing.T) {
	d := newDesk(t, assets.Limits{Items: 5, AssetIDs: 7})
	folder, _ := d.folder("f", "", true)
	for name, change := range d.changes(folder) {
		limit, lists := 5, strings.Fields(name)
		if lists[0] == "/assign" || lists[0] == "/assets" {
			limit = 7
		}
		second := lists[1]
		if lists[0] == "/assets" {
			second = lists[0]
		}
		for _, c := range []struct {
			n, m int
			want string
		}{
			{limit, 0, "ok"}, {limit + 1, 0, lists[0] + " invalid"},
			{2, limit - 2, "ok"}, {2, limit - 1, second + " invalid"}, {0, limit, "ok"},
			{0, limit + 1, second + " invalid"},
		} {
			_, err := d.As(moderator).ChangeFolders(ctx, lib,
				assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: folder, Deleted: flag(false)}}})
			d.want("restoring the folder", err, "ok")
			err = change(ctx, c.n, c.m)
			if got := at(err); got != c.want {
				t.Errorf("%s: %d and %d items: %s (%v), want %s", name, c.n, c.m, got, err, c.want)
			}
			if err != nil &&
				!strings.Contains(err.Error(),
					fmt.Sprintf("the request has %d items, at most %d are allowed", c.n+c.m, limit)) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// countdown is a context that is done after a number of looks at it.
type countdown struct {
	context.Context
	looks *int
}

func (c countdown) Err() error {
	if *c.looks--; *c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// A request whose client has gone does not keep others waiting: each loop over assets ends.
func TestARequestEndsWithItsContext(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	folder, _ := d.folder("f", "", true)
	for name, change := range d.changes(folder) {
		for _, c := range [][2]int{{100, 0}, {0, 100}} {
			if strings.HasSuffix(name, "folders") || strings.HasSuffix(name, "permissions") {
				continue
			}
			// The store looks at the context too, but fewer times than there are items.
			looks := 99
			if err := change(countdown{ctx, &looks}, c[0], c[1]); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %d and %d items: %v after %d looks at the context, want it to be canceled", name, c[0],
					c[1], err, 99-looks)
			}
		}
	}
}

func TestTheFoldersOfALibraryAreBounded(t *testing.T) {
	store := memory.New()
	d := &desk{t: t, Service: assets.New(store, &assets.Options{Limits: assets.Limits{Folders: 3}})}
	create := func(n int) error {
		_, err := d.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Create: slices.Repeat([]assets.NewFolder{{Label: "x"}}, n)})
		return err
	}
	change := func(what, want string, in assets.ChangeFoldersRequest) {
		t.Helper()
		_, err := d.As(moderator).ChangeFolders(ctx, lib, in)
		d.want(what, err, want)
	}
	if got := at(create(4)); got != "/create/3 invalid" {
		t.Errorf("four at once: %s", got)
	}
	id, path := d.folder("a", "", true)
	d.want("two more", create(2), "ok")
	err := create(1)
	if got := at(err); got != "/create/0 invalid" ||
		!strings.Contains(err.Error(), "the library would have more than 3 folders, counting deleted ones") {
		t.Errorf("a fourth: %s, %v", got, err)
	}
	change("deleting one", "ok", assets.ChangeFoldersRequest{Delete: []string{id}})
	d.want("a fourth, with one of them deleted", create(1), "invalid")
	change("restoring it", "ok",
		assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: id, Deleted: flag(false)}}})
	_, err = d.As(writer).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x", Path: path}}})
	d.want("by somebody who may not", err, "forbidden")
	other := assets.Library{Network: lib.Network, ID: "other"}
	if _, err := d.As(moderator).ChangeFolders(ctx, other,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x"}}}); err != nil {
		t.Errorf("in another library: %v", err)
	}
	// A library that has more than a lowered limit can be used, and does not grow.
	d.Service = assets.New(store, &assets.Options{Limits: assets.Limits{Folders: 2}})
	change("renaming in a library above the limit", "ok",
		assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: id, Label: text("b")}}})
	d.want("one more above the limit", create(1), "invalid")
	if page, err := d.As(member).ListFolders(ctx, lib, assets.ListFoldersRequest{}); err != nil ||
		len(page.Items) != 3 {
		t.Errorf("a library above the limit lists %d folders, want 3; error %v", len(page.Items), err)
	}
}

func TestATextIsFoundByItsFirstWords(t *testing.T) {
	d := newDesk(t, assets.Limits{SearchedWords: 4})
	in := newAsset("1", "one one two three four")
	in.Content = []byte(`{"content":"one <b>one</b> two three four","attributedTo":{"displayName":"a b c d e",` +
		`"username":"v w x y z"}}`)
	id := d.add(in).ID
	found := func(words string) (out string) {
		for _, w := range strings.Fields(words) {
			if d.total(member, assets.SearchRequest{Query: w}) > 0 {
				out += " " + w
			}
		}
		return strings.TrimSpace(out)
	}
	const want = "one two three a d v y"
	if got := found("one two three four a d e v y z"); got != want {
		t.Errorf("found by %q, want %q", got, want)
	}
	d.label(id, assets.Attribute{Key: "k"}) // computes the index entries from what is stored
	if got := found("one two three four a d e v y z"); got != want {
		t.Errorf("after a change of attributes: found by %q, want %q", got, want)
	}
	asset, err := d.As(moderator).Asset(ctx, lib, id)
	if err != nil || !strings.Contains(string(asset.Body), "three four") {
		t.Errorf("a text is not stored as a whole: %s, error %v", asset.Body, err)
	}

	d = newDesk(t, assets.Limits{})
	d.asset("1", strings.Repeat("x ", 19_999)+"last beyond")
	if got := found("last beyond"); got != "last" {
		t.Errorf("20,001 words: found by %q, want the word 20,000 and not the one after it", got)
	}
}

// Random moves, several in a request, are refused where they would nest folders too deep or below themselves,
// and only there.
func TestMovesAreJudgedByWhereTheFoldersAreThen(t *testing.T) {
	const depth, folders = 4, 14
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(27, seed))
		d := newDesk(t, assets.Limits{Depth: depth})
		ids, parent := make([]string, folders), make([]int, folders) // parent -1 is the top level
		for i := range ids {
			ids[i], _ = d.folder(fmt.Sprint(i), "", true)
			parent[i] = -1
		}
		path := func(i int) (s string) {
			for ; i >= 0; i = parent[i] {
				s = "/" + ids[i] + s
			}
			return s + map[bool]string{true: "/"}[s == ""]
		}
		for range 30 {
			before := slices.Clone(parent)
			var in assets.ChangeFoldersRequest
			want := "ok"
			for range 1 + rng.IntN(6) {
				n, to := rng.IntN(folders), rng.IntN(folders+1)-1
				in.Update = append(in.Update, assets.FolderChange{ID: ids[n], Path: text(path(to))})
				if to == parent[n] {
					continue
				}
				from := parent[n]
				parent[n] = to
				if deepest(parent) > depth {
					parent[n], want = from, fmt.Sprintf("/update/%d/path invalid", len(in.Update)-1)
					break
				}
			}
			_, err := d.As(moderator).ChangeFolders(ctx, lib, in)
			if got := at(err); got != want {
				t.Fatalf("seed %d: %d moves: %s (%v), want %s", seed, len(in.Update), got, err, want)
			}
			if err != nil {
				parent = before
			}
		}
	}
}

// deepest returns how many levels folders with these parents have, or a large number if one is below itself.
func deepest(parent []int) (levels int) {
	for i := range parent {
		n := 0
		for at := i; at >= 0 && n <= len(parent); at = parent[at] {
			n++
		}
		levels = max(levels, n)
	}
	return levels
}

func TestThePermissionsOfALibraryAreBounded(t *testing.T) {
	store := memory.New()
	d := &desk{t: t, Service: assets.New(store, &assets.Options{Limits: assets.Limits{AllPermissions: 5}})}
	roles := func(from, to int) (out []assets.Permission) {
		for i := from; i < to; i++ {
			out = append(out, assets.Permission{Operation: assets.View, Role: &assets.Subject{ID: fmt.Sprint(i)}})
		}
		return out
	}
	create := func(where assets.Library, n int) (folder string, err error) {
		out, err := d.As(moderator).ChangeFolders(ctx, where,
			assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x", Permissions: roles(0, n)}}})
		if err != nil {
			return "", err
		}
		return out.Folders[0].ID, nil
	}
	change := func(folder string, create, remove []assets.Permission) error {
		_, err := d.As(moderator).ChangePermissions(ctx, lib,
			assets.ChangePermissionsRequest{Folder: folder, Create: create, Remove: remove})
		return err
	}
	_, err := d.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "x", Permissions: roles(0, 3)},
			{Label: "x", Permissions: roles(0, 3)}}})
	if got := at(err); got != "/create/1/permissions too large" {
		t.Errorf("two folders with 3: %s", got)
	}
	first, err := create(lib, 3)
	d.want("a folder with 3", err, "ok")
	second, err := create(lib, 1)
	d.want("a folder with 1", err, "ok")
	_, err = create(lib, 2)
	if got := at(err); got != "/create/0/permissions too large" ||
		!strings.Contains(err.Error(), "the folders of the library would have 6 permissions, at most 5 are allowed") {
		t.Errorf("a folder with 2 beside 4: %s, %v", got, err)
	}
	if got := at(change(second, roles(1, 3), nil)); got != "/create too large" {
		t.Errorf("2 more on a folder: %s", got)
	}
	d.want("1 more", change(second, roles(1, 2), nil), "ok")
	d.want("2 others in the place of 2", change(first, roles(3, 5), roles(0, 2)), "ok")
	_, err = d.As(moderator).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Delete: []string{second}})
	d.want("deleting a folder", err, "ok")
	_, err = create(lib, 1)
	d.want("1 more, with a folder deleted", err, "too large")
	_, err = create(assets.Library{Network: lib.Network, ID: "other"}, 5)
	d.want("in another library", err, "ok")
	// A library that has more than a lowered limit can have as many, and not more.
	d.Service = assets.New(store, &assets.Options{Limits: assets.Limits{AllPermissions: 2}})
	d.want("another in the place of 1", change(first, roles(5, 6), roles(2, 3)), "ok")
	d.want("2 in the place of 1", change(first, roles(6, 8), roles(5, 6)), "too large")
	d.want("1 less", change(first, nil, roles(5, 6)), "ok")
}
