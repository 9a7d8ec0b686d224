package assets_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
)

func TestContentThatBreaksARuleIsRefusedAtItsPlace(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	attachment := func(members string) string {
		return `{"attachment":[{"version":"1.0","type":"link",` + members + `}]}`
	}
	for content, place := range map[string]string{
		`[]`:                                    "",
		`"x"`:                                   "",
		`null`:                                  "",
		`{"Content":"x"}`:                       "/Content",
		`{"attributedTo":{"userName":"x"}}`:     "/attributedTo/userName",
		`{"x":1,"x":2}`:                         "/x",
		`{"x":"\u0000"}`:                        "/x",
		`{"x":"\ud800"}`:                        "/x",
		`{"content":1}`:                         "/content",
		`{"attachment":{}}`:                     "/attachment",
		`{"attachment":[{"type":"photo"}]}`:     "/attachment/0/version",
		`{"attachment":[{"version":"1.0"}]}`:    "/attachment/0/type",
		`{"socialnet":{"retweets":"1"}}`:        "/socialnet/retweets",
		`{"attributedTo":{"url":{"href":"f"}}}`: "/attributedTo/url/href",
		`{"attributedTo":{"icon":{"url":{"href":"x"}}}}`:          "/attributedTo/icon/url/href",
		`{"attachment":[{"type":"photo","version":"1.1"}]}`:       "/attachment/0/version",
		`{"attachment":[{"type":"photo","version":1.0}]}`:         "/attachment/0/version",
		`{"attachment":[{"type":"file","version":"1.0"}]}`:        "/attachment/0/type",
		attachment(`"height":1.5`):                                "/attachment/0/height",
		attachment(`"author_url":"https://x.example"`):            "/attachment/0/author_url",
		attachment(`"provider_url":1`):                            "/attachment/0/provider_url",
		attachment(`"provider_url":[]`):                           "/attachment/0/provider_url",
		attachment(`"provider_url":"javascript:x"`):               "/attachment/0/provider_url",
		attachment(`"provider_url":{"href":"javascript:x"}`):      "/attachment/0/provider_url/href",
		attachment(`"link":{"href":"data:text/html,x"}`):          "/attachment/0/link/href",
		attachment(`"author_url":{"href":"vbscript:x"}`):          "/attachment/0/author_url/href",
		attachment(`"thumbnail_url":{"href":"//x.example"}`):      "/attachment/0/thumbnail_url/href",
		attachment(`"url":{"href":"java\tscript:alert(1)"}`):      "/attachment/0/url/href",
		attachment(`"url":{"href":"\u0001javascript:alert(1)"}`):  "/attachment/0/url/href",
		attachment(`"url":{"href":"java&#115;cript:alert(1)"}`):   "/attachment/0/url/href",
		attachment(`"url":{"href":" https://x.example"}`):         "/attachment/0/url/href",
		attachment(`"url":{"href":"https://x.example/a b"}`):      "/attachment/0/url/href",
		attachment(`"url":{"href":"https://x.example/a\u00a0b"}`): "/attachment/0/url/href",
		attachment(`"url":{"href":"https:///x"}`):                 "/attachment/0/url/href",
		attachment(`"url":{"href":"https:\\\\x.example"}`):        "/attachment/0/url/href",
	} {
		_, err := d.As(moderator).ChangeAssets(ctx, lib,
			assets.ChangeAssetsRequest{
				Add: []assets.NewAsset{{ID: "1", Generator: assets.Generator{ID: "g"}, Content: []byte(content)}}})
		if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Kind != vitrine.ErrInvalid ||
			e.Pointer != "/add/0/content"+place {
			t.Errorf("%s: %+v, want an error at /add/0/content%s", content, e, place)
		}
	}
}

func TestMembersOfAnAssetHaveLimits(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	tags := make([]string, 101)
	for i := range tags {
		tags[i] = fmt.Sprint(i)
	}
	good := assets.NewAsset{ID: "1", Generator: assets.Generator{ID: "g"}, Content: []byte(`{}`)}
	for place, change := range map[string]func(*assets.NewAsset){
		"/add/0/id":           func(a *assets.NewAsset) { a.ID = strings.Repeat("é", 1025) },
		"/add/0/generator/id": func(a *assets.NewAsset) { a.Generator.ID = strings.Repeat("é", 129) },
		"/add/0/safe_tags":    func(a *assets.NewAsset) { a.SafeTags = tags },
		"/add/0/safe_tags/1":  func(a *assets.NewAsset) { a.SafeTags = []string{"a", "b,c"} },
	} {
		in := good
		change(&in)
		_, err := d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}})
		if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Kind != vitrine.ErrInvalid || e.Pointer != place {
			t.Errorf("%+v, want an error at %s", e, place)
		}
	}
}
