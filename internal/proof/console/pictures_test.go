//go:build proof

package console

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

const pictureSchema = `{"type":"object","properties":{
	"logo":{"type":"string","format":"vitrine-picture","title":"Logo"},
	"hero":{"type":"object","title":"Hero","properties":{
		"src":{"type":"string","format":"vitrine-picture","title":"Picture"},
		"alt":{"type":"string"},"width":{"type":"integer"},"height":{"type":"integer"},
		"focus":{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}}}}},
	"photos":{"type":"array","title":"Photos","items":{"type":"object","properties":{
		"url":{"type":"string","format":"vitrine-picture","title":"Photo"},"alt":{"type":"string"}},
		"required":["url"]}},
	"about":{"type":"string","title":"About","contentMediaType":"text/html"}}}`

// drawn writes a PNG of this width to a folder, and returns its path.
func drawn(t *testing.T, dir, name string, width int, shade uint8) string {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, width, width*3/4))
	for y := range img.Rect.Max.Y {
		for x := range width {
			img.SetNRGBA(x, y, color.NRGBA{uint8(x * 255 / width), uint8(y), shade, 255})
		}
	}
	path := filepath.Join(dir, name)
	f, err := os.Create(path)
	if err == nil {
		err = png.Encode(f, img)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// axeCore is the script that looks for what keeps people out.
func axeCore(t *testing.T) string {
	t.Helper()
	axe, err := os.ReadFile(filepath.Join(tools(t), "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(axe)
}

// inField is the XPath of something in the field with this name.
func inField(name, inside string) string {
	return fmt.Sprintf(`//*[contains(@class, "group")][*[@class="label"]/*[starts-with(., %q)]]%s`, name, inside)
}

// give drops or pastes files onto what has the focus, or onto what an XPath finds.
func (p *person) give(how, xpath string, paths ...string) {
	p.T.Helper()
	var files [][2]string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			p.T.Fatal(err)
		}
		files = append(files, [2]string{filepath.Base(path), base64.StdEncoding.EncodeToString(text)})
	}
	p.See(xpath)
	p.Run(new(any), `async (how, xpath, files) => {
		const data = new DataTransfer();
		for (const [name, text] of files)
			data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name,
				{ type: name.endsWith(".txt") ? "text/plain" : "image/png" }));
		const node = document.evaluate(xpath, document, null, 9, null).singleNodeValue;
		const bubbles = { bubbles: true, cancelable: true };
		node.dispatchEvent(how === "paste" ? new ClipboardEvent("paste", { clipboardData: data, ...bubbles })
			: new DragEvent("drop", { dataTransfer: data, ...bubbles }));
	}`, how, xpath, files)
}

// configLike waits until the config of an app's only element is like this regular expression, as compact JSON.
func (w *world) configLike(id, want string) {
	w.t.Helper()
	like := regexp.MustCompile("^" + strings.NewReplacer("{\"", "\\{\"", "{}", "\\{\\}").Replace(want) + "$")
	w.until(want, func() (string, bool) {
		var have bytes.Buffer
		if err := json.Compact(&have, w.latest(id).Elements[0].Config); err != nil {
			w.t.Fatal(err)
		}
		return have.String(), like.MatchString(have.String())
	})
}

// address is a regular expression of the address of a file.
func address(name string) string { return `"/x/file/[0-9a-f]{32}/` + name + `\?v=[0-9a-f]{16}"` }

// shownPicture waits until a field shows its picture.
func (p *person) shownPicture(name string) {
	p.T.Helper()
	p.Until(`(xpath) => document.evaluate(xpath, document, null, 9, null).singleNodeValue?.naturalWidth === 320`,
		inField(name, "//img"))
}

// stocked is a library with pictures that have texts.
func (w *world) stocked(dir string, names ...string) {
	w.t.Helper()
	for i, name := range names {
		text, err := os.ReadFile(drawn(w.t, dir, name+".png", 400+i, uint8(80*i)))
		if err != nil {
			w.t.Fatal(err)
		}
		w.request(ann, "POST", library+"/files?name="+name+".png&alt=The+"+name, string(text))
	}
}

// A person chooses pictures of the library, sends others from the disk, and takes one away, with the mouse.
func TestPicturesByMouse(t *testing.T) {
	w := newWorld(t)
	dir, axe := t.TempDir(), axeCore(t)
	w.component("pictures", "1.0.0", pictureSchema)
	w.stocked(dir, "harbour", "lighthouse", "market")
	id := w.newApp("Pictures", element("pictures", `{"hero":{}}`))
	p := w.signIn(ann, "/apps/"+id)
	p.saved(0)

	p.Type(`//input[@type="file" and contains(@aria-label, "Logo")]`, drawn(t, dir, "from disk.png", 640, 9))
	w.configLike(id, `{"hero":{},"logo":`+address("from%20disk.png")+`}`)
	p.shownPicture("Logo")

	// What the library knows of a picture is filled in beside it, in one change.
	p.Click(inField("Picture", named("Choose")))
	p.See(`//dialog//*[.="4 pictures"]`)
	p.look(axe)
	p.picture("pictures-chooser-1280-light")
	p.Type(`//dialog//input[@type="search"]`, "lighth")
	p.See(`//dialog//*[.="1 picture"]`)
	p.Click(`//dialog//label[contains(., "lighthouse.png")]`)
	p.Click(`//dialog` + named("Choose"))
	hero := `{"src":` + address("lighthouse.png") + `,"alt":"The lighthouse","width":401,"height":300,` +
		`"focus":{"x":0.5,"y":0.5}}`
	w.configLike(id, `{"hero":`+hero+`,"logo":`+address("from%20disk.png")+`}`)
	p.shownPicture("Picture")
	p.look(axe)
	p.picture("pictures-1280-light")
	p.Click(named("Undo"))
	w.configLike(id, `{"hero":{},"logo":`+address("from%20disk.png")+`}`)
	p.Click(named("Redo"))
	w.configLike(id, `{"hero":`+hero+`,"logo":`+address("from%20disk.png")+`}`)

	p.view("/apps/" + id + "/history?from=0&to=2")
	p.Until(`() => [...document.querySelectorAll(".difference img")]
		.filter((x) => x.naturalWidth === 320).length === 2`)
	p.view("/apps/" + id)
	p.Click(inField("Logo", named("Take away")))
	w.configLike(id, `{"hero":`+hero+`}`)

	// A list takes several at once, and an item takes those behind the first as further items.
	photo := func(name string) string { return `{"url":` + address(name) + `}` }
	one, two, three := drawn(t, dir, "one.png", 330, 1), drawn(t, dir, "two.png", 331, 2),
		drawn(t, dir, "three.png", 332, 3)
	p.give("drop", inField("Photos", `//*[contains(@class, "adds")]`), one, two)
	w.configLike(id, `{"hero":`+hero+`,"photos":\[`+photo("one.png")+","+photo("two.png")+`\]}`)
	p.give("drop", inField("Photos", `//li[1]//*[contains(@class, "filed")]`), three, one)
	w.configLike(id, `{"hero":`+hero+`,"photos":\[`+photo("three.png")+","+photo("one.png")+","+photo("two.png")+`\]}`)
	p.look(axe)

	// A file that is not a picture is left out, and the pictures beside it are added. A broken picture can be left out.
	notes := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(notes, []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.give("drop", inField("Photos", `//*[contains(@class, "adds")]`), notes, two)
	p.See(inField("Photos", `//*[.="notes.txt is not a picture and was left out."]`))
	w.configLike(id, `{"hero":`+hero+`,"photos":\[`+photo("three.png")+","+photo("one.png")+","+photo("two.png")+","+
		photo("two.png")+`\]}`)
	bad := filepath.Join(dir, "bad.png")
	if err := os.WriteFile(bad, []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.give("drop", inField("Photos", `//*[contains(@class, "adds")]`), bad, one)
	w.configLike(id, `{"hero":`+hero+`,"photos":\[`+photo("three.png")+","+photo("one.png")+","+photo("two.png")+","+
		photo("two.png")+","+photo("one.png")+`\]}`)
	p.Click(named("Leave it out: bad.png"))
	p.give("drop", inField("Logo", `//*[contains(@class, "filed")]`), bad)
	p.See(inField("Logo", `//li[contains(., "bad.png")]//*[contains(@class, "wrong")][contains(., "JPEG")]`))
	p.look(axe)
	p.picture("pictures-refused-1280-light")
	p.Click(named("Leave it out: bad.png"))
	p.See(inField("Logo", `//*[.="bad.png was left out."]`))
}

// The same by the keyboard and the clipboard, on a phone, by somebody who may edit one folder alone.
func TestPicturesByKeyboardAndPaste(t *testing.T) {
	w := newWorld(t)
	dir, axe := t.TempDir(), axeCore(t)
	w.component("pictures", "1.0.0", pictureSchema)
	w.stocked(dir, "harbour", "lighthouse", "market")
	id := w.newApp("Pictures", element("pictures", `{}`))
	p := w.signIn(ann, "/apps/"+id)
	p.Resize(360, 780)
	p.Scheme("dark")
	p.saved(0)
	p.give("paste", inField("Logo", named("Choose")), drawn(t, dir, "pasted.png", 640, 9))
	w.configLike(id, `{"logo":`+address("pasted.png")+`}`)
	p.shownPicture("Logo")
	p.look(axe)
	p.picture("pictures-360-dark")

	p.Until(`(xpath) => { const x = document.evaluate(xpath, document, null, 9, null).singleNodeValue; x?.focus(); `+
		`return x; }`,
		inField("Logo", named("Choose")))
	p.Press(keyEnter)
	p.See(`//dialog//*[.="4 pictures"]`)
	p.look(axe)
	p.picture("pictures-chooser-360-dark")
	p.Press("png")
	p.See(`//dialog//*[.="4 pictures"]`)
	p.Press(keyTab + keyTab + keyRight + keyRight + keyEnter)
	p.See(inField("Logo",
		`//img[contains(@src, "lighthouse.png") or contains(@src, "harbour.png") or contains(@src, "market.png")]`))
	p.Until(`() => document.activeElement.textContent === "Choose"`)

	// HTML is made of what is selected.
	p.Type(field("About"), "Boats")
	p.Press(keyControl + "a" + keyNull)
	p.Click(`//button[@aria-label="Bold: About"]`)
	p.Click(`//button[@aria-label="Link: About"]`)
	p.Retype(`//dialog//input`, "https://harbour.example.test/?a=1&b=2")
	// Sent by a script, as on a busy machine, the dialog gives the text its focus back without its selection.
	p.Run(new(any), `async () => document.querySelector("dialog form").requestSubmit()`)
	p.Until(`() => [...document.querySelectorAll("textarea")].some((x) => x.value.includes("</a>"))`)
	p.Press(keyControl + keyEnd + keyNull + keyEnter)
	p.Click(`//button[@aria-label="List: About"]`)
	p.look(axe)
	text := "<strong><a href=\"https://harbour.example.test/?a=1&amp;b=2\">Boats</a></strong>"
	p.Until(`(want) => [...document.querySelectorAll("textarea")].some((x) => x.value.startsWith(want))`, text)
}

// Files and folders are dropped into the library, found by what they are, and changed; before one is removed, the apps
// that use it are named.
func TestFilesOfTheLibrary(t *testing.T) {
	inLooks(t, filesOfTheLibrary, look{1280, "light"}, look{360, "dark"})
}

func filesOfTheLibrary(t *testing.T, l look) {
	w := newWorld(t)
	dir, axe := t.TempDir(), axeCore(t)
	w.component("pictures", "1.0.0", pictureSchema)
	p := w.signIn(ann, "/assets")
	p.Resize(l.width, 900)
	p.Scheme(l.scheme)
	looks := func(name string) {
		t.Helper()
		p.look(axe)
		p.picture(fmt.Sprintf("%s-%d-%s", name, l.width, l.scheme))
	}
	page := `//div[contains(@class, "page")]`
	p.See(`//*[contains(., "There are no assets here yet")]`)
	bad := filepath.Join(dir, "bad.png")
	if err := os.WriteFile(bad, []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.give("drop", page, drawn(t, dir, "harbour.png", 640, 9), drawn(t, dir, "market.png", 650, 99), bad)
	p.See(`//li[contains(., "bad.png")]//*[contains(@class, "wrong")][contains(., "JPEG")]`)
	p.See(`//*[contains(., "2 sent, 1 to go")]`)
	looks("files-refused")

	p.Click(named("Leave it out: bad.png"))
	p.See(`//*[contains(., "2 files sent")]`)
	p.Until(`() => [...document.querySelectorAll(".asset img")].filter((x) => x.naturalWidth === 320).length === 2`)
	looks("files")

	// A folder of the disk makes a folder of the library, once.
	inside := filepath.Join(dir, "Summer", "June")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	drawn(t, filepath.Dir(inside), "beach.png", 660, 50)
	drawn(t, inside, "tent.png", 670, 150)
	p.Type(`//input[@type="file" and @aria-label="Upload a folder"]`, filepath.Join(dir, "Summer"))
	p.See(`//*[contains(., "4 files sent")]`)
	p.See(`//li[contains(@class, "asset")][contains(., "beach.png")][contains(., "Summer")]`)
	p.See(`//li[contains(@class, "asset")][contains(., "tent.png")][contains(., "June")]`)

	p.Click(`//li[contains(@class, "asset")][contains(., "harbour.png")]//button[contains(@class, "open")]`)
	p.Retype(`//dialog`+field("Title"), "The harbour")
	p.Type(`//dialog`+field("Text for those"), "Boats at the quay")
	p.Until(`() => { const x = document.querySelector(".focal"); x?.focus(); return x; }`)
	p.Press(keyLeft + keyLeft + keyShift + keyUp + keyNull)
	p.See(`//*[contains(., "48 % from the left, 40 % from the top")]`)
	looks("file-details")
	p.Click(named("Save"))
	p.Until(`() => document.querySelector("dialog .main")?.disabled`)
	var stock struct {
		Assets []struct {
			Content struct {
				ID, Content string
				Attachment  []struct {
					Description string
					Width       int
					URL         struct{ Href string }
					File        struct{ Focus struct{ X, Y float64 } }
				}
			}
		}
	}
	read := func(query string) {
		t.Helper()
		stock.Assets = nil
		if err := json.Unmarshal(w.request(ann, "GET", library+"/assets?"+query, ""), &stock); err != nil {
			t.Fatal(err)
		}
	}
	read("query=quay&in=attachments")
	if len(stock.Assets) != 1 {
		t.Fatalf("%d assets have the text that was typed", len(stock.Assets))
	}
	have := stock.Assets[0].Content
	if at := have.Attachment[0]; have.Content != "The harbour" || at.File.Focus.X != 0.48 || at.File.Focus.Y != 0.4 {
		t.Errorf("the file is kept as %+v", have)
	}
	p.Type(`//dialog//input[@type="file"]`, drawn(t, dir, "other.png", 333, 3))
	p.See(`//dialog//*[contains(., "333 × 249")]`)
	p.Press(keyEscape)

	// The pictures without a text are found.
	if l.width < 500 {
		p.Click(named("Folders and filters"))
	}
	p.Click(`//button[contains(., "without a text")]`)
	p.See(`//*[@role="status"][.="3 assets"]`)
	looks("files-without-text")
	p.Click(`//button[contains(@class, "facet")][contains(., "without a text")]`)
	p.See(`//*[@role="status"][.="4 assets"]`)

	read("query=quay&in=attachments")
	href, _ := json.Marshal(stock.Assets[0].Content.Attachment[0].URL.Href)
	w.newApp("The page of the harbour", element("pictures", `{"logo":`+string(href)+`}`))
	w.newApp("Another page", element("pictures", `{}`))
	p.Click(`//li[contains(@class, "asset")][contains(., "The harbour")]//input`)
	p.Click(named("Remove"))
	p.See(`//dialog//li[.="The page of the harbour"]`)
	p.See(`//dialog[not(.//li[.="Another page"])]`)
	looks("file-remove")
	p.Click(`//dialog` + named("Remove"))
	p.See(`//*[@role="status"][.="3 assets"]`)
}

// An editor of a site replaces a picture of the sample site's front page from her disk, sees it in the preview, and
// publishes: with the mouse, and on a phone with keys and the clipboard.
func TestAnEditorReplacesAPicture(t *testing.T) {
	inLooks(t, editorReplacesAPicture, look{1280, "light"}, look{360, "dark"})
}

func editorReplacesAPicture(t *testing.T, l look) {
	const app, file = "/apps/de300000-0000-4000-8000-000000000006", "quay.png"
	w := newWorld(t, "-demo")
	disk, axe := drawn(t, t.TempDir(), file, 900, 77), axeCore(t)
	p := w.signIn(httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:demo.test:user=editor",
		Roles: []string{"editor"}, Moderates: []string{"urn:vitrine:demo.test:site=news"}}}, app)
	p.Resize(l.width, 900)
	p.Scheme(l.scheme)
	first := inField("Picture", `[1]`)
	p.See(first + `//img[contains(@src, "/x/file/")]`)
	enter := func(xpath string) {
		t.Helper()
		p.See(xpath)
		p.Run(new(any), `async (xpath) => document.evaluate(xpath, document, null, 9, null).singleNodeValue.focus()`,
			xpath)
		p.Press(keyEnter)
	}
	click := p.Click
	if l.width < 500 {
		click = enter
		p.give("paste", first+named("Choose"), disk)
	} else {
		p.Type(first+`//input[@type="file"]`, disk)
	}
	p.See(`//dialog//h2[.="Where do the files go?"]`)
	p.look(axe)
	p.picture(fmt.Sprintf("upload-where-%d-%s", l.width, l.scheme))
	click(`//dialog` + named("Choose a folder"))
	p.Click(`//dialog//*[@role="treeitem"]//*[.="Pictures"]`)
	p.See(`//dialog//*[contains(., "Pictures")]` + named("No folder"))
	click(`//dialog` + named("Continue"))
	p.See(first + `//img[contains(@src, "quay.png") and contains(@src, "w=320")]`)
	p.See(`//*[contains(@class, "saving") and contains(., "Saved as version")]`)
	p.Click(named("Show the preview"))
	p.Until(`() => { const x = document.querySelector(".preview iframe"); x?.scrollIntoView(); return x; }`)
	var shown bool
	for end := time.Now().Add(time.Minute); !shown && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		p.frame(&shown, `() => [...document.querySelectorAll("[data-key]")].flatMap((e) =>
			[...e.shadowRoot?.querySelectorAll("img") ?? []])
			.some((i) => i.src.includes("quay.png") && i.naturalWidth === 640)`)
	}
	if !shown {
		t.Error("the preview does not show the picture")
	}
	p.picture(fmt.Sprintf("front-page-%d-%s", l.width, l.scheme))
	click(named("Publish"))
	click(`//dialog` + named("Publish"))
	reader := httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:demo.test:user=page",
		Reads: []string{"urn:vitrine:demo.test"}, TagsOnly: true, Tags: []string{"production"}}}
	published := regexp.MustCompile(`"src":"http://[^"/]*/x/file/[0-9a-f]{32}/quay.png\?v=[0-9a-f]{16}"`)
	w.until(published.String(), func() (string, bool) {
		answer, err := http.Get(w.url + "/x/public/production?app=" + path.Base(app) + "&key=" + w.token(reader))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		have, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(have), published.Match(have)
	})
}

// A folder is chosen for a page by its name, and who may manage it sees the keys that show it, and takes it out of one.
func TestFoldersOnPages(t *testing.T) {
	w := newWorld(t)
	summer := w.newFolder("Summer", "/")
	name := "example.test/example.test/" + summer
	w.component("wall", "1.0.0",
		`{"type":"object","properties":{"folder":{"type":"string","title":"Folder","format":"vitrine-folder"}}}`)
	id := w.newApp("Wall", element("wall", `{}`))
	w.request(ann, "POST", "/x/keys/",
		`{"name":"The wall","kind":"public","reads":["`+network+`"],"tags":["live"],"folders":["`+name+`"]}`)
	p, axe := w.signIn(ann, "/apps/"+id), axeCore(t)
	p.Click(named("Choose a folder: Folder"))
	p.Click(`//dialog//*[@role="treeitem"]//*[.="Summer"]`)
	w.stored(id, `{"folder":"`+name+`"}`)
	p.See(`//*[@role="status"][contains(., "Summer")]`)
	p.look(axe)
	p.picture("folder-field-1280-light")

	// The key that "Use it" makes shows what the tag points to and the folder, and no other one.
	beach, err := os.ReadFile(drawn(t, t.TempDir(), "beach.png", 330, 1))
	if err != nil {
		t.Fatal(err)
	}
	w.request(ann, "POST", library+"/files?name=beach.png&folder="+summer, string(beach))
	w.request(ann, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"1"}`)
	p.view("/apps/" + id + "/deployments")
	p.Click(named("Use it"))
	p.See(`//dialog//*[contains(., "shows a folder of the library: Summer.")]`)
	p.look(axe)
	p.picture("folder-use-1280-light")
	p.Click(`//dialog` + named("Make a key for the page"))
	p.See(`//dialog//pre[@aria-label="In a page" and contains(., 'key="pk_')]`)
	var page string
	p.Run(&page, `async () => document.querySelector('dialog pre[aria-label="In a page"]').textContent`)
	_, key, _ := strings.Cut(page, `page-key="`)
	key, _, _ = strings.Cut(key, `"`)
	winter := "example.test/example.test/" + w.newFolder("Winter", "/")
	for at, want := range map[string]int{"production?app=" + id + "&key=": 200, "assets/" + name + "?key=": 200,
		"assets/" + winter + "?key=": 403} {
		answer, err := http.Get(w.url + "/x/public/" + at + key)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != want || strings.HasPrefix(at, "assets/"+name) &&
			!bytes.Contains(text, []byte("beach")) {
			t.Errorf("the key of the page gets %d %s of %s", answer.StatusCode, text, at)
		}
	}
	p.Click(`//dialog//a[.="Keys"]`)
	p.See(row("Wall, production") + `//*[.="1 folder of the library"]`)
	p.view("/assets")
	p.Click(named("Change the folder Summer"))
	p.See(`//dialog//li[contains(., "The wall")]`)
	p.look(axe)
	p.picture("folder-keys-1280-light")
	p.Click(named("Take the folder out of the key The wall"))
	p.Click(`//dialog` + named("Take it out"))
	p.Until(`() => document.querySelector("dialog") && !document.querySelector("dialog").textContent.includes("The ` +
		`wall")`)
	// The key that "Use it" has made is the other one.
	if have := string(w.request(ann, "GET", "/x/keys/", "")); strings.Count(have, name) != 1 {
		t.Errorf("the key still shows the folder: %s", have)
	}
}
