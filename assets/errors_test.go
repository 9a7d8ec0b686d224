package assets_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
)

func TestErrorsSayWhatIsWrongAndWhere(t *testing.T) {
	d := newDesk(t, assets.Limits{Content: 40, Name: 16})
	hidden, _ := d.folder("hidden", "", false)
	closed, _ := d.folder("closed", "", false, grants[0])
	id := d.asset("1", "", hidden)
	add := func(by vitrine.Caller, in assets.NewAsset) error {
		_, err := d.As(by).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}})
		return err
	}
	for _, c := range []struct {
		what string
		err  error
		want vitrine.Error
	}{
		{"a missing member", add(moderator, assets.NewAsset{ID: "2", Generator: assets.Generator{ID: "g"}}),
			vitrine.Error{Kind: vitrine.ErrInvalid, Code: "invalid", Pointer: "/add/0/content",
				Reason: `member "content" is missing`}},
		{"a fault within a content",
			add(moderator,
				assets.NewAsset{ID: "2", Generator: assets.Generator{ID: "g"}, Content: []byte(`{"content":1}`)}),
			vitrine.Error{Kind: vitrine.ErrInvalid, Code: "invalid", Pointer: "/add/0/content/content",
				Reason: "want a string"}},
		{"a long content", add(moderator, newAsset("2", strings.Repeat("x", 40))),
			vitrine.Error{Kind: vitrine.ErrTooLarge, Code: "too_large", Pointer: "/add/0/content",
				Reason: "has 54 bytes, at most 40 are allowed"}},
		{"a folder that is hidden", add(viewer, newAsset("2", "", hidden)),
			vitrine.Error{Kind: vitrine.ErrNotFound, Code: "not_found", Pointer: "/add/0/folders/0",
				Reason: "there is no such folder"}},
		{"a folder after a repeated one", add(moderator, newAsset("2", "", closed, closed, "none")),
			vitrine.Error{Kind: vitrine.ErrNotFound, Code: "not_found", Pointer: "/add/0/folders/2",
				Reason: "there is no such folder"}},
		{"a folder to view only", add(viewer, newAsset("2", "", closed)),
			vitrine.Error{Kind: vitrine.ErrForbidden, Code: "forbidden", Pointer: "/add/0/folders/0",
				Reason: "to change what is in the folder needs edit on it"}},
		{"an asset that is elsewhere", add(moderator, newAsset("1", "", closed)),
			vitrine.Error{Kind: vitrine.ErrConflict, Code: "moved", Pointer: "/add/0", ID: id,
				Reason: "the asset " + id + " is in other folders already: name them too, or none that it is not in"}},
		{"a limit", func() error {
			_, err := d.As(member).Search(ctx, lib, assets.SearchRequest{Limit: 501})
			return err
		}(),
			vitrine.Error{Kind: vitrine.ErrInvalid, Code: "invalid", Parameter: "limit", Reason: "want 1 to 500"}},
		{"a folder of the path", func() error { _, err := d.As(member).Folder(ctx, lib, hidden); return err }(),
			vitrine.Error{Kind: vitrine.ErrNotFound, Code: "not_found", Reason: "there is no such folder"}},
		{"a library", d.As(moderator).CheckMember(assets.Library{Network: "example.test", ID: "too long to be one"}),
			vitrine.Error{Kind: vitrine.ErrInvalid, Code: "invalid",
				Reason: "the id of a library has 1 to 16 characters of UTF-8, none of them a control character"}},
		{"a URN in place of the name of a network", d.As(moderator).CheckMember(assets.Library{
			Network: "urn:vitrine:example.test", ID: "example.test"}),
			vitrine.Error{Kind: vitrine.ErrForbidden, Code: "forbidden",
				Reason: `"urn:vitrine:example.test" is not the name of a network: want the name alone, without ` +
					"colons, and not its URN"}},
		{"no file", func() error {
			_, err := d.As(moderator).Upload(ctx, lib, assets.UploadRequest{Name: "a.pdf"}, nil)
			return err
		}(), vitrine.Error{Kind: vitrine.ErrInvalid, Code: "invalid", Reason: "the request has no file"}},
		{"a caller", d.As(vitrine.Caller{URN: "nobody"}).CheckMember(lib),
			vitrine.Error{Kind: vitrine.ErrInvalid, Code: "invalid",
				Reason: `the caller: "nobody" is not a user URN: want urn:<vendor>:<network>:user=<id>`}},
	} {
		e, ok := errors.AsType[*vitrine.Error](c.err)
		if strings.HasPrefix(c.want.Pointer, "/add/0") {
			c.want.Problems = []vitrine.Problem{{Pointer: c.want.Pointer, Message: c.want.Reason}}
		}
		if !ok || !reflect.DeepEqual(*e, c.want) {
			t.Errorf("%s: %+v, want %+v", c.what, e, c.want)
			continue
		}
		place := c.want.Pointer + c.want.Parameter
		if place != "" {
			place += ": "
		}
		if !errors.Is(c.err, c.want.Kind) || c.err.Error() != place+c.want.Reason {
			t.Errorf("%s: the sentence is %q", c.what, c.err)
		}
	}
}
