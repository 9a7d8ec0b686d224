package assets_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
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
		`{"attachment":[{"version":"1.0"}]}`:    "/attachment/0/type",
		`{"socialnet":{"retweets":"1"}}`:        "/socialnet/retweets",
		`{"attributedTo":{"url":{"href":"f"}}}`: "/attributedTo/url/href",
		`{"attributedTo":{"icon":{"url":{"href":"x"}}}}`:    "/attributedTo/icon/url/href",
		`{"attachment":[{"type":"photo","version":"1.1"}]}`: "/attachment/0/version",
		`{"attachment":[{"type":"photo","version":1.1}]}`:   "/attachment/0/version",
		`{"attachment":[{"type":"photo","version":10}]}`:    "/attachment/0/version",
		`{"attachment":[{"type":"photo","version":""}]}`:    "/attachment/0/version",
		`{"attachment":[{"type":"photo","version":null}]}`:  "/attachment/0/version",
		`{"attachment":[{"type":null,"version":"1.0"}]}`:    "/attachment/0/type",
		`{"attachment":[{"type":7,"version":"1.0"}]}`:       "/attachment/0/type",
		`{"attachment":""}`:                                       "/attachment",
		`{"attributedTo":[]}`:                                     "/attributedTo",
		`{"socialnet":{"favorites":""}}`:                          "/socialnet/favorites",
		attachment(`"height":""`):                                 "/attachment/0/height",
		attachment(`"height":"-1"`):                               "/attachment/0/height",
		attachment(`"width":"640px"`):                             "/attachment/0/width",
		attachment(`"width":"6.4e2"`):                             "/attachment/0/width",
		attachment(`"url":{"href":" "}`):                          "/attachment/0/url/href",
		attachment(`"url":"https://x.example"`):                   "/attachment/0/url",
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

// TestWhatOthersWriteForNothingIsTaken compares what is sent with what is read.
func TestWhatOthersWriteForNothingIsTaken(t *testing.T) {
	db := memory.New()
	d := &desk{t: t, Service: assets.New(db, nil)}
	const v1 = `"version":"1.0"`
	one := func(attachment string) string { return `"attachment":[{` + attachment + `}]` }
	for sent, want := range map[string]string{
		`"lang":"en","x":null,"y":""`: `"lang":"en","x":null,"y":""`,
		`"lang":null,"content":null`:  `"lang":null,"content":null`,
		`"attributedTo":""`:           ``,
		`"attributedTo":null`:         ``,
		`"socialnet":"","more":1`:     `"more":1`,
		`"attributedTo":{"displayName":"","url":"","icon":{"url":{"href":""}}}`: `"attributedTo":{"displayName":""}`,
		`"attributedTo":{"url":{"href":""},"icon":null}`:                        ``,
		`"attributedTo":{"url":{"href":"","title":"x"}}`:                        `"attributedTo":{"url":{"title":"x"}}`,
		`"attributedTo":{"\u0069d":"7"}`:                                        `"attributedTo":{"\u0069d":"7"}`,
		one(`"type":"photo"`):                                                   one(`"type":"photo","version":"1.0"`),
		one(`"version":1.0,"type":"PHOTO"`):                                     one(`"version":"1.0","type":"photo"`),
		`"attachment":["",null]`:                                                `"attachment":[]`,
		one(`"version":1,"type":"file"`):                                        one(v1 + `,"type":"link"`),
		one(v1 + `,"type":"","height":"0640","width":640`): one(v1 +
			`,"type":"link","height":640,"width":640`),
		one(v1 + `,"type":"link","thumbnail_width":"000"`):     one(v1 + `,"type":"link","thumbnail_width":0`),
		one(v1 + `,"type":"link","url":"","provider_url":""`):  one(v1 + `,"type":"link"`),
		one(v1 + `,"type":"link","link":{},"author_url":null`): one(v1 + `,"type":"link","link":{}`),
	} {
		content := "{" + sent + "}"
		in := assets.NewAsset{ID: content, Generator: assets.Generator{ID: "g"}, Content: []byte(content)}
		for range 2 { // the second time nothing is changed
			out, err := d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}})
			if err != nil {
				t.Errorf("%s: %v", sent, err)
				break
			}
			var body struct{ Content json.RawMessage }
			_, rest, _ := strings.Cut(string(out.Added[0].Body), `"generator":{"id":"g"}`)
			have, _, _ := strings.Cut(rest, `,"published":`)
			if err := json.Unmarshal(out.Added[0].Body, &body); err != nil || strings.TrimPrefix(have, ",") != want {
				t.Errorf("%s: stored %s, want %s (%v)", sent, have, want, err)
			}
			in.Content = body.Content // as it is read
		}
	}
	d.sound(db)
}

func TestAllFaultsOfARequestAreToldAtOnce(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	closed, _ := d.folder("closed", "", false, grants[0])
	hidden, _ := d.folder("hidden", "", false)
	seen, elsewhere := d.asset("seen", "", closed), d.asset("elsewhere", "", hidden)
	body := `{"remove":["` + seen + `","` + elsewhere + `","none",5],"add":[
		{"id":"1","generator":{"id":"g"},"content":{}},
		{"id":"","generator":{},"content":{"attachment":[{"type":1,"url":{"href":"x"}},{}]},"via":null,"more":1},
		{"id":"3","generator":{"id":"g"},"content":{"x":"\ud800"},"folders":["a",null]},
		null,
		{"id":"5","generator":{"id":"g"},"content":{"Lang":"","attributedTo":{"url":5}},
			"attributes":[{"key":"","value":""},{"key":"k"}],"safe_tags":["a\tb",""],"createdAt":"soon"},
		{"id":"6","generator":{"id":"g"},"content":{},"folders":["` + hidden + `","none","` + closed + `"]},
		{"id":"7","generator":{"id":"files"},"content":{},"createdAt":"9999-01-01T00:00:00+0000"}]}`
	var in assets.ChangeAssetsRequest
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/remove/3", "/add/1/generator/id", "/add/1/via", "/add/1/more", "/add/1/id",
		"/add/1/content/attachment/0/type", "/add/1/content/attachment/0/url/href", "/add/1/content/attachment/1/type",
		"/add/2/content/x", "/add/2/folders/0", "/add/2/folders/1", "/add/3", "/add/4/attributes/1/value",
		"/add/4/createdAt", "/add/4/attributes/0/key",
		"/add/4/safe_tags/0", "/add/4/safe_tags/1", "/add/4/content/Lang", "/add/4/content/attributedTo/url",
		"/add/6/generator/id", "/add/6/createdAt",
		"/remove/0", "/add/5/folders/0", "/add/5/folders/1", "/add/5/folders/2", "/add/0",
	}
	_, err := d.As(viewer).ChangeAssets(ctx, lib, in)
	e, _ := errors.AsType[*vitrine.Error](err)
	var have []string
	messages := map[string]string{}
	for _, p := range e.Problems {
		have, messages[p.Pointer] = append(have, p.Pointer), p.Message
		if item := strings.Split(p.Pointer, "/")[2]; item != fmt.Sprint(p.Item) {
			t.Errorf("%+v is not of item %s", p, item)
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Errorf("have %q\nwant %q", have, want)
	}
	if e.Pointer != "/remove/3" || e.Kind != vitrine.ErrInvalid {
		t.Errorf("the first is %+v", e)
	}
	if hidden := messages["/add/5/folders/0"]; hidden == "" || hidden != messages["/add/5/folders/1"] {
		t.Errorf("a hidden folder is %q, an absent one %q", hidden, messages["/add/5/folders/1"])
	}
	// Without faults of form, those of the library are told at once, too.
	at := func(id string, folders ...string) assets.NewAsset { return newAsset(id, "x", folders...) }
	_, err = d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{
		at("seen", hidden), at("9"), at("elsewhere", closed), at("8", "none")}})
	if e, _ = errors.AsType[*vitrine.Error](err); len(e.Problems) != 3 || !errors.Is(err, vitrine.ErrNotFound) {
		t.Errorf("%+v", e)
	}
	many := make([]assets.NewAsset, 200)
	_, err = d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: many})
	if e, _ = errors.AsType[*vitrine.Error](err); len(e.Problems) != 100 {
		t.Errorf("%d problems", len(e.Problems))
	}
	if page, err := d.As(moderator).Search(ctx, lib, assets.SearchRequest{}); err != nil || page.Total != 2 {
		t.Errorf("%d assets, %v", page.Total, err)
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
		"/add/0/safe_tags/1":  func(a *assets.NewAsset) { a.SafeTags = []string{"a", "b\tc"} },
	} {
		in := good
		change(&in)
		_, err := d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}})
		if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Kind != vitrine.ErrInvalid || e.Pointer != place {
			t.Errorf("%+v, want an error at %s", e, place)
		}
	}
}
