package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/storage/memory"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/gunzip"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/archive"
)

// oldFixture is an archive of format 2; testdata/README.md says what is in it.
func oldFixture(t *testing.T) string {
	file, err := os.Open("testdata/a5a6f64.ndjson.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in, err := gunzip.Unpacked(bufio.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := in.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// elementKey is the key of an element, which an older one has when it is read.
var elementKey = regexp.MustCompile(`("id":"\d+"),"key":"\d+"`)

// Services answer what each line of the archive says.
func TestAnArchiveOfBeforeBecomesAStoreThatAnswersTheSame(t *testing.T) {
	ctx, text, s := t.Context(), oldFixture(t), memory.New()
	t.Cleanup(func() { _ = s.Close() })
	if n, err := fillStore(ctx, s, bufio.NewReader(strings.NewReader(text))); err != nil || n != int64(strings.Count(text, "\n")) {
		t.Fatalf("%d lines, %v", n, err)
	}
	by := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test", "urn:vitrine:other.test"}, Components: true}
	apps, library, stored := appsvc.New(s, nil).As(by), assets.New(s, nil).As(by), reviews.New(s, nil)
	var now bytes.Buffer
	if _, err := archive.Export(ctx, s, &now, notArchived(false)); err != nil {
		t.Fatal(err)
	}
	exported := map[string]string{}   // by network
	moves := map[string]int{}         // by app and tag
	listed := map[string][]string{}   // bodies of assets, oldest first, by library
	var in assets.Library             // the library of the lines
	collection := map[string]any(nil) // the collection of the lines
	raw := func(v any) string { text, _ := json.Marshal(v); return string(text) }
	for line := range strings.Lines(text) {
		var all map[string]map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &all); err != nil && !strings.HasPrefix(line, `{"vitrine"`) {
			t.Fatal(err)
		}
		for kind, l := range all {
			str := func(name string) (text string) { _ = json.Unmarshal(l[name], &text); return text }
			num := func(name string) (n int64) { n = -1; _ = json.Unmarshal(l[name], &n); return n }
			got, want := any(nil), any(string(l["body"]))
			var err error
			switch kind {
			case "component":
				var c appsvc.Component
				c, err = apps.ComponentVersion(ctx, str("name"), str("version"))
				got, want = c.ID+c.Main+string(c.Manifest), str("id")+str("main")+string(l["manifest"])
			case "version":
				var a appsvc.App
				a, err = apps.Version(ctx, str("app"), vitrine.NewVersion(num("version")))
				got = fmt.Sprint(a.Owner, a.CreatedAt, a.UpdatedAt, a.UpdatedBy, elementKey.ReplaceAllString(string(a.Body), "$1"))
				want = fmt.Sprint(str("owner"), num("createdAt"), num("updatedAt"), str("updatedBy"), string(l["body"]))
				if err == nil && l["restoredFrom"] != nil {
					before := vitrine.NewVersion(num("version") + 1)
					if num("version") == 0 {
						before = vitrine.Version{}
					}
					for h, e := range apps.AllHistory(ctx, appsvc.ListHistoryRequest{AppID: str("app"), Before: before}) {
						if e != nil || h.RestoredFrom.Number() != num("restoredFrom") {
							t.Errorf("%s: restored from %v, %v", line, h.RestoredFrom, e)
						}
						break
					}
				}
			case "tag":
				var tag appsvc.Tag
				tag, err = apps.Tag(ctx, appsvc.TagRequest{AppID: str("app"), Name: str("name")})
				got, want = tag.AppVersion.Number(), num("version")
			case "move":
				list := []appsvc.TagMove{}
				for m, e := range apps.AllTagMoves(ctx, appsvc.ListTagMovesRequest{AppID: str("app"), Name: str("tag")}) {
					list, err = append(list, m), e
				}
				key := str("app") + " " + str("tag")
				moves[key]++
				m := list[len(list)-moves[key]]
				got, want = fmt.Sprint(m.At, m.By, m.From.Number(), m.To.Number()), fmt.Sprint(num("at"), str("by"), num("from"), num("to"))
			case "library":
				in = assets.Library{Network: str("network"), ID: str("id")}
				for a, e := range library.AllAssets(ctx, in, assets.SearchRequest{}) {
					listed[in.ID], err = append([]string{fmt.Sprint(a.CreatedAt, a.UpdatedAt, string(a.Body))}, listed[in.ID]...), e
				}
				got, want = strings.Contains(now.String(), `"value":{"key":`+string(l["key"])), true // it seals the ids of assets
			case "folder":
				if deleted := string(l["deleted"]) == "true"; !deleted {
					var f assets.Folder
					f, err = library.Folder(ctx, in, str("id"))
					got, want = raw([]any{f.Label, f.Inherit, f.Permissions}), raw([]any{str("label"), l["inherit"], l["permissions"]})
				} else {
					got = want
				}
			case "asset":
				list := append(listed[in.ID], "")
				got, want = list[0], fmt.Sprint(num("createdAt"), num("updatedAt"), string(l["body"]))
				if got != want && string(l["folders"]) != "[]" {
					got = want // nobody sees it while its folders are deleted
				} else {
					listed[in.ID] = list[1:max(1, len(list)-1)]
				}
			case "collection", "review":
				if kind == "collection" {
					collection = map[string]any{"network": str("network")}
				}
				network := collection["network"].(string)
				if exported[network] == "" {
					var out bytes.Buffer
					err = stored.Export(ctx, operator, network, &out)
					exported[network] = out.String()
				}
				what := string(l["data"])
				if kind == "collection" {
					what = strings.TrimSuffix(string(l["fields"]), "}")
				}
				_, rest, found := strings.Cut(exported[network], what)
				exported[network] = rest + " "
				got, want = found, true
			default:
				continue
			}
			if err != nil || got != want {
				t.Errorf("%.300s: got %.300v, want %.300v, %v", line, got, want, err)
			}
		}
	}
	for lib, left := range listed {
		if len(left) > 0 {
			t.Errorf("the library %q has %d assets that no line has", lib, len(left))
		}
	}
}

// What is cut off, changed or a lie is refused.
func TestADamagedArchiveOfBeforeIsRefused(t *testing.T) {
	text := oldFixture(t)
	body, _, _ := strings.Cut(text, `{"end"`)
	summed := func(lines string) string {
		return lines + fmt.Sprintf("{\"end\":{\"lines\":%d,\"sha256\":\"%x\"}}\n", strings.Count(lines, "\n"), sha256.Sum256([]byte(lines)))
	}
	if summed(body) != text {
		t.Fatal("the archive has another last line")
	}
	for says, damaged := range map[string]string{
		"ends before its last line":        text[:len(text)/2],
		"the lines before are not 823":     strings.Replace(text, `user=me"`, `user=mE"`, 1),
		"something follows the last line":  text + "{}\n",
		"want the one after the latest":    summed(strings.Replace(body, `"version":2,`, `"version":3,`, 1)),
		"the last move":                    summed(strings.Replace(body, `"name":"Production","version":0`, `"name":"Production","version":1`, 1)),
		"belongs to no library":            summed("{\"vitrine\":2}\n{\"folder\":{}}\n"),
		"belongs to no library or":         summed("{\"vitrine\":2}\n{\"review\":{}}\n"),
		"unknown object member name":       summed(strings.Replace(body, `"label"`, `"lable"`, 1)),
		"line 3: is none of an archive":    summed(strings.Replace(body, "{\"component\":{\"id\":\"3c6", "{\"thing\":{\"id\":\"3c6", 1)),
		"assets/example.test/example.test": summed(strings.Replace(body, `"count":27`, `"count":26`, 1)),
		"/ratings":                         summed(strings.Replace(body, `"ratings":[1]`, `"ratings":[0]`, 1)),
	} {
		s := memory.New()
		if damaged == text {
			t.Errorf("%s: nothing was changed", says)
		}
		if _, err := fillStore(t.Context(), s, bufio.NewReader(strings.NewReader(damaged))); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
		_ = s.Close()
	}
}
