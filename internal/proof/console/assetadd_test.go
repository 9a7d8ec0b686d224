//go:build proof

package console

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// found is an asset as a search answers it.
type found struct {
	ID       string
	Content  map[string]any
	Folders  []struct{ Label string }
	SafeTags []string `json:"safe_tags"`
	Via      int
}

// stock searches the library.
func (w *world) stock(query string) []found {
	w.t.Helper()
	var answer struct{ Assets []found }
	if err := json.Unmarshal(w.request(ann, "GET", library+"/assets?limit=500&query="+url.QueryEscape(query), ""),
		&answer); err != nil {
		w.t.Fatal(err)
	}
	return answer.Assets
}

// text is an asset as a person writes it.
func text(id, words, more string) string {
	return fmt.Sprintf(`{"id": %q, "generator": {"id": "blog"}, "content": {"content": %q%s}}`, id, words, more)
}

// An editor who knows no JSON adds assets by a form. Others paste them, or drop a file of them.
func TestAddingAssets(t *testing.T) {
	w := newWorld(t)
	winter := w.newFolder("Winter", "/")
	w.newFolder("December", "/"+winter)
	w.request(ann, "POST", library+"/assets", `{"add":[`+newAsset(1, "Fog", "", "often")+`]}`)
	p := w.signIn(ann, "/assets")
	tab := func(name string) string { return fmt.Sprintf(`//button[@role="tab" and .=%q]`, name) }
	wrong := func(label string) string {
		return fmt.Sprintf(`//div[contains(@class, "field")][.//label[starts-with(normalize-space(), `+
			`%q)]]//*[contains(@class, "wrong") and not(@hidden)]`, label)
	}
	into := func(name string) {
		t.Helper()
		p.Click(named("Choose a folder"))
		p.Type(`//dialog//input[@type="search"]`, name)
		p.Click(`//dialog` + folder(name))
		p.See(`//span[contains(., "` + name + `")]`)
	}
	t.Run("by a form", func(t *testing.T) {
		p.Run(new(any), `async () => {
			for (;;) {
				const link = [...document.querySelectorAll("main a")].find((a) => a.textContent === "Add assets");
				if (link) return void link.focus();
				await new Promise((r) => setTimeout(r, 20));
			}
		}`)
		p.Press(keyEnter)
		p.See(`//h1[.="Add assets"]`)
		p.Click(named("Add this asset"))
		p.See(wrong("Text") + `[contains(., "Write a text, or add an attachment.")]`)
		into("December")
		p.Type(field("Text"), "Snow at the harbour")
		p.Type(field("Name"), "Ada")
		p.Type(field("Address of the profile"), "nonsense")
		p.Click(named("Add to Attachments"))
		p.Type(`//label[normalize-space()="Address"]/ancestor::div[contains(@class, "field")][1]//input`,
			"https://images.example.test/a.png")
		p.Type(field("Title"), "A picture")
		p.Type(field("Language"), "en")
		p.Click(`//fieldset[.//legend[.="Tags"]]//label[contains(., "often")]`)
		p.Type(`//input[@aria-label="Another of Tags"]`, "snow"+keyEnter)
		p.Click(named("Add this asset"))
		p.See(wrong("Address of the profile"))
		p.Retype(field("Address of the profile"), "https://people.example.test/ada"+keyEnter)
		p.See(`//*[@role="status" and contains(., "Added to December")]`)
		p.Until(`() => document.querySelector("main textarea").value === "" && document.activeElement === ` +
			`document.querySelector("main textarea")`)
		all := w.stock("harbour")
		got, _ := json.Marshal(all)
		if len(all) != 1 {
			t.Fatalf("the library has %s", got)
		}
		a := all[0]
		attachment, _ := json.Marshal(a.Content["attachment"])
		author, _ := json.Marshal(a.Content["attributedTo"])
		if a.Content["lang"] != "en" || fmt.Sprint(a.SafeTags) != "[often snow]" || len(a.Folders) != 1 ||
			a.Folders[0].Label != "December" ||
			string(attachment) != `[{"title":"A picture","type":"photo",`+
				`"url":{"href":"https://images.example.test/a.png"},"version":"1.0"}]` ||
			string(author) != `{"displayName":"Ada","url":{"href":"https://people.example.test/ada"}}` {
			t.Errorf("the library has %s", got)
		}
	})
	t.Run("what is filled in is not lost unasked", func(t *testing.T) {
		p.Type(field("Text"), "Half")
		p.view("/assets")
		p.See(`//dialog[.//h2[.="Leave without adding it?"]]`)
		p.Click(`//dialog` + named("Close"))
		p.See(`//h1[.="Add assets"]`)
		// the address is back, too
		p.Until(`() => document.querySelector("main textarea").value === "Half" && location.hash !== "#/assets"`)
		p.view("/assets")
		p.Click(`//dialog` + named("Leave"))
		p.See(`//h1[.="Assets"]`)
		p.See(`//ul[@aria-label="Assets"]/li[1]//p[.="Snow at the harbour"]`)
	})
	t.Run("as JSON", func(t *testing.T) {
		p.Click(`//a[.="Add assets"]`)
		p.Click(tab("As JSON"))
		area := `//textarea[contains(@class, "whole")]`
		set := func(text string) {
			t.Helper()
			p.See(area)
			p.Run(new(any), `async (text) => {
				const area = document.querySelector("textarea.whole");
				area.value = text;
				area.dispatchEvent(new Event("input"));
			}`, text)
		}
		set("[\n" + text("1", "Ice", "") + ",\n" + strings.Replace(text("2", "Ice", ""), `"2",`, `"2"`, 1) + "\n]")
		p.See(`//p[.="1 asset, and 1 that has a mistake."]`)
		p.Click(named("Line 3, column 12"))
		p.Until(`() => {
			const { value, selectionStart } = document.activeElement;
			return value?.slice(selectionStart).startsWith('"generator"');
		}`)
		set("[\n" + text("1", "Ice", "") + ",\n" +
			text("2", "Ice",
				`, "attachment": [{"version": "1.0", "type": "photo"}, {"version": "1.0", "type": 5}]`) +
			",\n" + text("3", "Ice", "") + "\n]")
		p.Click(named("Add 3 assets"))
		p.See(`//h2[.="Done, but for some"]`)
		p.See(`//li[contains(., "Line 3, column") and contains(., "photo") and contains(., "id 2")]`)
		if all := w.stock("ice"); len(all) != 2 {
			t.Errorf("%d assets are in, want 2", len(all))
		}
		set(text("4", "Ice", "")) // one that stands alone
		p.Click(named("Add 1 asset"))
		p.See(`//h2[.="Done"]`)
	})
	t.Run("from a file", func(t *testing.T) {
		var lines []string
		for i := range 330 {
			line := text(fmt.Sprint("file ", i), "Hail", "")
			switch i {
			case 7:
				line = strings.TrimSuffix(line, "}")
			case 250:
				line = text("file 250", "Hail", `, "lang": 5`)
			}
			lines = append(lines, line)
		}
		file := filepath.Join(t.TempDir(), "posts.ndjson.gz")
		out, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		zip := gzip.NewWriter(out)
		fmt.Fprintln(zip, strings.Join(lines, "\n"))
		if err := zip.Close(); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		p.Run(new(any), `async () => {
			const area = document.querySelector("textarea.whole");
			area.value = "";
			area.dispatchEvent(new Event("input"));
		}`)
		p.Click(tab("From a file"))
		p.Type(`//input[@type="file"]`, file)
		p.See(`//p[.="329 assets, and 1 that has a mistake."]`)
		p.See(`//li[contains(., "Line 8, column")]`)
		into("Winter")
		p.Offline(true)
		p.Click(named("Add 329 assets"))
		p.See(`//p[contains(., "It is tried again.")]`)
		p.Offline(false)
		p.See(`//h2[.="Done, but for some"]`)
		p.See(`//dl//div[dt="added" and dd="328"]`)
		p.See(`//dl//div[dt="refused" and dd="2"]`)
		p.See(`//li[contains(., "Line 251, column") and contains(., "content/lang: want a string") and contains(., ` +
			`"id file 250")]`)
		all := w.stock("hail")
		if len(all) != 328 || len(all[0].Folders) != 1 || all[0].Folders[0].Label != "Winter" {
			t.Errorf("%d assets are in, the last %+v", len(all), all[0])
		}
		p.Click(`//a[.="See the assets"]`)
		p.See(`//*[@role="status" and contains(., "assets")]`)
	})
	t.Run("who may not add is told why", func(t *testing.T) {
		q := w.signIn(cleo, "/assets/example.test/example.test/add")
		q.See(`//p[contains(., "Only moderators of the network add assets to no folder")]`)
		q.Until(`() => !document.querySelector("main textarea").checkVisibility()`)
	})
}
