//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

const library = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"

// newAsset is an asset to add. The HTML of its text is untrusted.
func newAsset(n int, text, folder, tag string) string {
	content, _ := json.Marshal(map[string]any{"content": text,
		"attributedTo": map[string]any{"id": fmt.Sprint("a", n), "displayName": fmt.Sprint("Author ", n)},
		"attachment": []any{map[string]any{"version": "1.0", "type": "photo",
			"url":          map[string]string{"href": "https://images.example.test/a.png"},
			"provider_url": "https://images.example.test", "title": text}}})
	folders := "[]"
	if folder != "" {
		folders = fmt.Sprintf("[%q]", folder)
	}
	tags, _ := json.Marshal([]string{tag})
	return fmt.Sprintf(`{"id":"p%d","generator":{"id":"social.example.test"},"content":%s,"folders":%s,"safe_tags":%s}`,
		n, content, folders, tags)
}

// newFolder makes a folder and returns its id.
func (w *world) newFolder(label, path string) string {
	w.t.Helper()
	quoted, _ := json.Marshal(label)
	var made struct{ Folders []struct{ ID string } }
	if err := json.Unmarshal(w.request(ann, "POST", library+"/folders",
		fmt.Sprintf(`{"create":[{"label":%s,"path":%q}]}`, quoted, path)), &made); err != nil {
		w.t.Fatal(err)
	}
	return made.Folders[0].ID
}

// folder is the XPath of a folder's name in a tree.
func folder(label string) string { return fmt.Sprintf(`//*[@role="tree"]//span[@id and .=%q]`, label) }

// counted is the XPath of the count beside a folder's name.
func counted(label string, n int) string {
	return fmt.Sprintf(`%s/../following-sibling::span[.="%d"]`, folder(label), n)
}

// toast is the XPath of a note that says something.
func toast(text string) string {
	return fmt.Sprintf(`//*[contains(@class, "toast") and contains(., %q)]`, text)
}

// An editor finds assets, by words, filters and folders, and puts them in order.
func TestAssets(t *testing.T) {
	w := newWorld(t)
	winter, summer := w.newFolder("Winter", "/"), w.newFolder("Summer", "/")
	var add []string
	for i := range 60 {
		folder, text, tag := winter, fmt.Sprintf("<p>Snow at the <b>harbour</b> %d &amp; more</p>", i), "snow"
		if i%3 == 0 {
			folder, text, tag = summer, fmt.Sprintf("<p>Sun at the market %d</p>", i), "sun"
		}
		add = append(add, newAsset(i, text, folder, tag))
	}
	w.request(ann, "POST", library+"/assets", `{"add":[`+strings.Join(add, ",")+`]}`)
	p := w.signIn(ann, "/assets")
	found := func(n int) {
		t.Helper()
		noun := "assets"
		if n == 1 {
			noun = "asset"
		}
		p.See(fmt.Sprintf(`//*[@role="status" and .="%d %s"]`, n, noun))
	}
	facet := func(name string) string {
		return `//aside//button[contains(@class, "facet") and .//text()[.="` + name + `"]]`
	}
	card := `//ul[@aria-label="Assets"]/li`
	search := `//main//input[@type="search"]`
	found(60)
	p.See(card + `[1]//p[.="Snow at the harbour 59 & more"]`)
	p.Until(`() => document.querySelectorAll(".asset").length === 50`)
	p.Run(new(any), `async () => scrollTo(0, document.body.scrollHeight)`)
	p.Until(`() => document.querySelectorAll(".asset").length === 60`)
	t.Run("words while typing", func(t *testing.T) {
		p.Type(search, "harb*")
		found(40)
		p.Retype(search, "market")
		found(20)
		p.See(facet("sun") + `//span[.="20"]`)
	})
	t.Run("beginnings, phrases, exclusions and similar words", func(t *testing.T) {
		p.Retype(search, "harb")
		found(40)
		p.See(card + `[1]//mark[.="harbour"]`)
		p.Retype(search, `"the mark`)
		found(20)
		p.Retype(search, "snow -harbour")
		found(0)
		p.Retype(search, "habrour")
		found(0)
		p.Click(`//summary[.="Order and more filters"]`)
		p.Click(`//label[contains(., "Similar words too")]/input`)
		found(40)
		p.See(card + `[1]//mark[.="harbour"]`)
		p.Click(named("similar words too"))
		found(0)
		p.Click(`//label[contains(., "titles of attachments")]/input`)
		p.Retype(search, "market")
		found(20)
		p.See(named("in texts and authors, titles of attachments"))
		p.Click(named("in texts and authors, titles of attachments"))
		found(20)
	})
	t.Run("order and original dates", func(t *testing.T) {
		p.Retype(search, keyDelete)
		w.request(ann, "POST", library+"/assets",
			`{"add":[`+strings.TrimSuffix(newAsset(900, "From long ago", "", "old"), "}")+
				`,"createdAt":"2011-05-06T23:30:00Z","via":2}]}`)
		p.Run(new(any), `async () => {
			const order = [...document.querySelectorAll(".more-filters select")][0];
			order.value = "createdAt.asc";
			order.dispatchEvent(new Event("change"));
		}`)
		found(61)
		p.See(card + `[1]//p[.="From long ago"]`)
		p.Until(`() => location.hash.includes("sort=createdAt&order=asc")`)
		p.Run(new(any), `async () => scrollTo(0, document.body.scrollHeight)`)
		p.Until(`() => document.querySelectorAll(".asset").length === 61`)
		p.Run(new(any), `async () => {
			for (const [i, day] of ["2011-05-06", "2011-05-06"].entries()) {
				const input = document.querySelectorAll(".more-filters input[type=date]")[i];
				input.value = day;
				input.dispatchEvent(new Event("change"));
			}
		}`)
		found(1)
		p.Click(named("first published until 2011-05-06"))
		found(61)
		p.Click(named("Remove all filters"))
		found(61)
		p.See(card + `[1]//p[.="From long ago"]`) // it was added last
		p.Run(new(any), `async () => scrollTo(0, 0)`)
		p.Click(card + `[1]//button[contains(@class, "open")]`)
		p.See(`//dialog//dt[.="First published"]/following-sibling::dd[1]`)
		p.See(`//dialog//dt[.="Via"]/following-sibling::dd[1][.="2"]`)
		p.Click(`//dialog` + named("Close"))
		var old struct{ Assets []struct{ ID string } }
		if err := json.Unmarshal(w.request(ann, "GET", library+"/assets?tags=old", ""), &old); err != nil ||
			len(old.Assets) != 1 {
			t.Fatal(old, err)
		}
		w.request(ann, "POST", library+"/assets", fmt.Sprintf(`{"remove":[%q]}`, old.Assets[0].ID))
		p.view("/none")
		p.view("/assets")
		found(60)
	})
	t.Run("a search that is overtaken", func(t *testing.T) {
		// The page of the list is held back. The numbers beside the folders are counted by requests of their own.
		p.Run(new(any), `async () => {
			const fetch = window.fetch;
			window.held = [];
			window.fetch = (url, options) => (String(url).includes("query=snow*&limit=50") ? new Promise((_, fail) => {
				window.held.push(options.signal);
				options.signal.addEventListener("abort", () => fail(options.signal.reason));
			}) : fetch(url, options));
		}`)
		p.Retype(search, "snow")
		p.Until(`() => window.held.length > 0`)
		p.Retype(search, "sun")
		found(20)
		p.Until(`() => window.held.every((x) => x.aborted)`)
		p.Retype(search, "nothing")
		found(0)
		p.See(`//*[contains(@class, "empty") and contains(., "Nothing fits.")]`)
	})
	t.Run("filters with counts", func(t *testing.T) {
		p.Retype(search, keyDelete)
		found(60)
		p.See(facet("snow") + `//span[.="40"]`)
		p.Click(facet("snow"))
		found(40)
		p.See(counted("Winter", 40))
		p.Click(folder("Winter"))
		found(40)
		p.Click(folder("Summer"))
		found(0)
		p.See(counted("Summer", 0))
		p.Click(named("Remove all filters"))
		found(60)
	})
	t.Run("the address finds the same again", func(t *testing.T) {
		p.Click(facet("sun"))
		found(20)
		var hash string
		p.Run(&hash, `async () => location.hash`)
		p.view("/none")
		p.view(strings.TrimPrefix(hash, "#"))
		found(20)
		p.Click(named("tags: sun"))
		found(60)
	})
	t.Run("several at once", func(t *testing.T) {
		p.Click(folder("Winter"))
		found(40)
		p.Click(card + `[1]//input`)
		p.Click(card + `[2]//input`)
		p.See(`//*[@role="toolbar" and contains(., "2 selected")]`)
		p.Click(named("Attributes"))
		p.Type(field("Key"), "color")
		p.Type(field("Value"), "blue")
		p.Click(`//dialog` + named("Change"))
		p.See(toast("2 have it."))
		p.See(card + `[1]//span[.="color: blue"]`)
		p.Click(card + `[1]//input`)
		p.Click(named("Attributes"))
		p.Type(field("Key"), "color")
		p.Type(field("Value"), "red")
		p.Click(field("What to do") + `/option[@value="set"]`)
		p.Click(`//dialog` + named("Change"))
		p.See(card + `[1]//span[.="color: red"]`)
		p.Click(card + `[1]//input`)
		p.Click(named("Put into a folder"))
		p.Type(`//dialog//input`, "sum")
		// The list is shown anew when the search is answered. A click in this moment would meet no element.
		p.See(`//dialog[not(.//li[contains(., "Winter")])]//li[contains(., "Summer")]`)
		p.Click(`//dialog//li[contains(., "Summer")]`)
		p.See(toast("1 put into Summer."))
		p.See(card + `[1]//span[contains(@class, "detail") and contains(., "Summer")]`)
		p.Click(card + `[1]//input`)
		p.Click(named("Take out of a folder"))
		p.See(`//dialog//li[contains(., "Summer") and contains(., "1 of 1")]`)
		p.Click(`//dialog//li[contains(., "Winter")]`)
		found(39)
		p.Click(card + `[1]//input`)
		p.Click(`//*[@role="toolbar"]` + named("Remove"))
		p.Click(`//dialog` + named("Remove"))
		found(38)
		p.Click(folder("Winter"))
		found(59)
		p.Click(facet("red"))
		found(1)
		p.Click(named("color:red"))
		found(59)
		p.Click(card + `[1]//input`)
		p.Click(named("Select all 50"))
		p.See(`//*[@role="toolbar" and contains(., "50 selected")]`)
		p.Click(named("Select none"))
	})
	t.Run("several, of which some may not be changed", func(t *testing.T) {
		editor := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=eve", Roles: []string{"editors"}}}
		w.request(ann, "POST", library+"/folder/"+winter+"/permissions",
			`{"create":[{"operation":"edit","role":{"id":"editors"}}]}`)
		w.request(ann, "POST", library+"/folder/"+summer+"/permissions",
			`{"create":[{"operation":"view","role":{"id":"editors"}}]}`)
		q := w.signIn(editor, "/assets")
		in := func(name string) string { // the first asset in a folder
			return `(` + card + `[.//span[contains(@class, "detail") and .="` + name + `"]])[1]//input`
		}
		q.Click(in("Winter"))
		q.Click(in("Summer")) // which eve may not change
		q.Click(named("Attributes"))
		q.Type(field("Key"), "seen")
		q.Click(`//dialog` + named("Change"))
		q.See(`//dialog//h2[.="1 have it, 1 not"]`)
		q.See(`//dialog//li[contains(., "you may not change it")]`)
		q.Click(`//dialog` + named("Close"))
		q.See(`//*[@role="toolbar" and contains(., "1 selected")]`)
		q.Click(in("Winter"))
		q.Click(`//*[@role="toolbar"]` + named("Remove"))
		q.Click(`//dialog` + named("Remove"))
		q.See(`//dialog//h2[.="1 removed, 1 not"]`)
		q.Click(`//dialog` + named("Close"))
	})
	t.Run("details and why", func(t *testing.T) {
		p.Click(card + `[1]//button[contains(@class, "open")]`)
		p.See(`//dialog//li[.="You may view and edit it: you moderate the network."]`)
		p.Click(`//dialog` + named("Close"))
	})
	t.Run("images only when asked", func(t *testing.T) {
		var images int
		p.Run(&images, `async () => document.querySelectorAll("main img").length`)
		if images > 0 {
			t.Errorf("%d images before anybody has asked for them", images)
		}
		p.Click(`//label[contains(., "Show images")]//input`)
		p.Until(`() => [...document.querySelectorAll("main img")].length === 50 && ` +
			`[...document.querySelectorAll("main img")].every((x) => x.referrerPolicy === "no-referrer" && ` +
			`x.loading === "lazy" && x.src.startsWith("https://"))`)
		w.request(ann, "POST", library+"/assets",
			`{"add":[`+strings.ReplaceAll(newAsset(999, "Plain", "", "plain"), "https://", "http://")+`]}`)
		p.Open(w.url + "/?again#/assets")
		p.Until(`() => document.querySelector(".asset p")?.textContent === "Plain"`)
		p.Until(`() => [...document.querySelectorAll("main img")].length === 49 && ` +
			`[...document.querySelectorAll("main img")].every((x) => x.src.startsWith("https://")) && ` +
			`!document.querySelector(".asset img[src^='http:']")`)
		// another session
		w.signIn(ann,
			"/assets").Until(`() => document.querySelectorAll(".asset").length === 50 && ` +
			`document.querySelectorAll("main img").length === 0`)
	})
	t.Run("another network, with an empty library", func(t *testing.T) {
		both := ann
		both.Moderates = append([]string{"urn:vitrine:other.test"}, ann.Moderates...)
		q := w.signIn(both, "/assets")
		q.Click(`//select[@aria-label="Library"]/option[.="other.test"]`)
		q.See(`//*[contains(@class, "empty") and contains(., "There are no assets here yet.")]`)
		q.Resize(360, 900)
		q.Until(`() => !document.querySelector("aside").checkVisibility()`)
		q.Click(named("Folders and filters"))
		q.Click(`//aside` + named("New folder"))
		q.Type(`//dialog//input`, "First")
		q.Click(`//dialog` + named("Create"))
		q.focused("First")
		q.Click(named("Folders and filters"))
		q.Until(`() => !document.querySelector("aside").checkVisibility()`)
	})
	t.Run("who only reads the network", func(t *testing.T) {
		q := w.signIn(cleo, "/assets")
		q.See(`//main//*[@role="status" and contains(., " asset")]`)
	})
}
