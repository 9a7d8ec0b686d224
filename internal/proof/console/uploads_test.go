//go:build proof

package console

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// dropped drops files and folders of the disk onto the heading of the page, as a person does.
func (p *person) dropped(paths ...string) {
	p.T.Helper()
	var at struct{ X, Y, Width, Height float64 }
	p.Run(&at, `async () => document.querySelector(".page h1").getBoundingClientRect().toJSON()`)
	for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
		p.command("Input.dispatchDragEvent", map[string]any{"type": kind, "x": at.X + 5, "y": at.Y + 5,
			"data": map[string]any{"items": []any{}, "files": paths, "dragOperationsMask": 1}})
	}
}

// A folder that is dropped becomes a folder of the library. Each file says how far it is and what is wrong with it, and
// is stopped and tried again by itself. A click sets the focus of a picture. Who may not change a file is told so.
func TestUploadsOfTheLibrary(t *testing.T) {
	inLooks(t, uploadsOfTheLibrary, look{1280, "light"}, look{360, "dark"})
}

func uploadsOfTheLibrary(t *testing.T, l look) {
	w := newWorld(t)
	disk, axe := filepath.Join(t.TempDir(), "Harbour"), axeCore(t)
	for _, dir := range []string{disk, filepath.Join(disk, "At night")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	drawn(t, disk, "quay.png", 640, 9)
	drawn(t, filepath.Join(disk, "At night"), "lights.png", 660, 50)
	for name, text := range map[string]string{"Harbour/notes.txt": "no picture",
		"plan.pdf": "%PDF-1.7\n" + strings.Repeat("0123456789abcde\n", 40_000)} {
		if err := os.WriteFile(filepath.Join(disk, "..", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := w.signIn(ann, "/assets")
	p.Resize(l.width, 900)
	p.Scheme(l.scheme)
	looks := func(name string) {
		t.Helper()
		p.look(axe)
		p.picture(fmt.Sprintf("%s-%d-%s", name, l.width, l.scheme))
	}
	p.See(`//*[contains(., "There are no assets here yet")]`)
	p.dropped(disk)
	p.See(`//li[contains(., "notes.txt")]//*[contains(@class, "wrong")][contains(., "JPEG")]`)
	p.See(`//*[contains(., "2 sent, 1 to go")]`)
	looks("uploads-refused")
	p.Click(named("Leave it out: notes.txt"))
	p.See(`//li[contains(@class, "asset")][contains(., "quay.png")]//*[.="Harbour"]`)
	p.See(`//li[contains(@class, "asset")][contains(., "lights.png")]//*[.="At night"]`)
	p.Click(`//li[contains(@class, "asset")][.//button[starts-with(., "quay.png")]]//img`)
	p.See(`//dialog//h2[.="quay.png"]`)
	p.Run(new(any), `() => document.querySelector("dialog").close()`)

	p.Throttle(20_000)
	p.dropped(filepath.Join(disk, "..", "plan.pdf"))
	p.See(`//*[contains(@class, "uploads")]//progress`)
	looks("uploads-under-way")
	p.Click(named("Stop plan.pdf"))
	p.See(`//li[contains(., "plan.pdf")]//*[.="It was stopped."]`)
	looks("uploads-stopped")
	p.Throttle(-1)
	p.Click(named("Try again: plan.pdf"))
	p.See(`//li[contains(@class, "asset")][contains(., "plan.pdf")]`)

	sign := filepath.Join(t.TempDir(), "sign.svg") // without a size of its own
	if err := os.WriteFile(sign, []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"/>`),
		0o600); err != nil {
		t.Fatal(err)
	}
	p.dropped(sign)
	p.Click(`//li[contains(@class, "asset")][contains(., "sign.svg")]//button[contains(@class, "open")]`)
	p.Until(`() => document.querySelector(".focal img")?.width > 100`)
	p.Press(keyEscape)

	open := `//li[contains(@class, "asset")][contains(., "quay.png")]//button[contains(@class, "open")]`
	p.Click(open)
	p.See(`//dialog//*[contains(., "Focus: 50 %")]`)
	var at struct{ X, Y, Width, Height float64 }
	p.Until(`() => document.querySelector(".focal img")?.naturalWidth > 0`)
	p.Run(&at, `async () => document.querySelector(".focal img").getBoundingClientRect().toJSON()`)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.command("Input.dispatchMouseEvent", map[string]any{"type": kind, "button": "left", "clickCount": 1,
			"x": at.X + at.Width/4, "y": at.Y + at.Height*3/4})
	}
	p.See(`//dialog//*[contains(., "Focus: 25 % from the left, 75 % from the top")]`)
	looks("focus")
	p.Click(named("Save"))
	p.Until(`() => document.querySelector("dialog .main")?.disabled`)
	quarter := regexp.MustCompile(`"focus":{"x":0\.2[45]\d*,"y":0\.7[45]\d*}`)
	w.until(quarter.String(), func() (string, bool) {
		have := w.request(ann, "GET", library+"/assets?query=quay", "")
		return string(have), quarter.Match(have)
	})

	q := w.signIn(httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=dan"}}, "/assets")
	q.Resize(l.width, 900)
	q.Scheme(l.scheme)
	q.Click(open)
	q.See(`//dialog//*[contains(., "You may not change this file")]`)
	q.Until(`() => [...document.querySelectorAll("dialog button")].filter((x) => x.checkVisibility())
		.every((x) => !/Save|Replace/.test(x.textContent)) && document.querySelector(".focal").disabled`)
	q.look(axe)
	q.picture(fmt.Sprintf("file-read-only-%d-%s", l.width, l.scheme))
	q.Press(keyEscape)
	if l.width < 500 {
		q.Click(named("Folders and filters"))
	}
	q.Click(`//*[@role="treeitem"]//*[.="Harbour"]`)
	q.See(`//*[contains(@class, "detail")][contains(., "Choose a folder that you may edit")]`)
	q.Until(`() => !document.querySelector('[aria-label="Upload files"]').parentElement.checkVisibility()`)
	q.look(axe)
	q.picture(fmt.Sprintf("folder-read-only-%d-%s", l.width, l.scheme))
}

// Fields for video, sound and other files take what they are for, and play it.
func TestFieldsOfVideoAndSound(t *testing.T) {
	w := newWorld(t)
	dir, axe := t.TempDir(), axeCore(t)
	field := func(format, title string) string {
		return fmt.Sprintf(`{"type":"string","format":"vitrine-%s","title":%q}`, format, title)
	}
	w.component("media", "1.0.0", `{"type":"object","properties":{"clip":`+field("video", "Clip")+
		`,"song":`+field("sound", "Song")+`,"paper":`+field("file", "Paper")+`}}`)
	id := w.newApp("Media", element("media", `{}`))
	p := w.signIn(ann, "/apps/"+id)
	p.saved(0)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	silence := make([]byte, 16_000) // two seconds of 8 kHz
	head := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(36+len(silence)))
	head = append(head,
		"WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data"...)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(silence)))
	for i := range silence {
		silence[i] = 128
	}
	p.Type(`//input[@type="file" and contains(@aria-label, "Song")]`, write("song.wav", string(head)+string(silence)))
	p.Until(`() => Math.round(document.querySelector("audio")?.duration) === 2`)
	w.configLike(id, `{"song":`+address("song.wav")+`}`)

	p.Type(`//input[@type="file" and contains(@aria-label, "Clip")]`,
		write("clip.webm", "\x1a\x45\xdf\xa3\x87\x42\x82\x84webm"+strings.Repeat("\xec\x80", 100)))
	p.See(inField("Clip", `//video[contains(@src, "/clip.webm")]`))
	w.configLike(id, `{"song":`+address("song.wav")+`,"clip":`+address("clip.webm")+`}`)

	p.Type(`//input[@type="file" and contains(@aria-label, "Paper")]`, write("paper.pdf", "%PDF-1.7\n"))
	p.See(inField("Paper", `//a[contains(@href, "/paper.pdf")]`))
	p.give("drop", inField("Song", `//*[contains(@class, "filed")]`), drawn(t, dir, "quay.png", 640, 9))
	p.See(inField("Song", `//*[@role="alert"][.="quay.png is not a sound and was left out."]`))
	p.look(axe)
	p.picture("media-fields-1280-light")
	p.Resize(360, 780)
	p.look(axe)
	p.picture("media-fields-360-light")
}
