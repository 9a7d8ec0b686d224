//go:build proof

package console

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A long run, with a file as large as sites have: go test -tags proof ./internal/proof/console -run LargeFile -v -args
// -reviews-mib 300
var reviewsMiB = flag.Int("reviews-mib", 8, "size of the file of reviews that TestLargeFileOfReviews gives to the page")

// largeFile is a generated file of reviews. Every so many lines have an error, most of them a rating that is none.
type largeFile struct {
	path           string
	errors         int
	size           int64
	lines, reviews int
	rejects        []byte // the lines of the first 1,000 errors, as they are in the file

}

// newLargeFile writes a file. Its lines differ, so that nothing makes it smaller than it is; it begins with a byte
// order mark, has both ends of lines, and has none at its end, which is an error.
func newLargeFile(t *testing.T, size int64) largeFile {
	t.Helper()
	f := largeFile{path: filepath.Join(t.TempDir(), "large.ndjson")}
	out, err := os.Create(f.path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(out, 1<<20)
	noise := uint64(1)
	word := func() string {
		noise = noise*6364136223846793005 + 1442695040888963407
		return strconv.FormatUint(noise>>20, 36)
	}
	write := func(line string, wrong bool) {
		if wrong {
			if f.errors++; f.errors <= 1000 {
				f.rejects = append(f.rejects, line...)
			}
		}
		f.lines++
		f.size += int64(len(line))
		_, _ = w.WriteString(line) // Flush has the error
	}
	_, _ = w.WriteString("\xef\xbb\xbf")
	f.size += 3
	write("no JSON: \xff\n", true)
	for f.size < size {
		id := base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(f.lines)))
		var all strings.Builder
		wrong := f.lines%61 == 5
		for i := range 8 {
			rating := strconv.Itoa(1 + (f.lines+i)%100)
			if wrong && i == 3 {
				rating = `"forty"`
			}
			if i > 0 {
				all.WriteByte(',')
			}
			fmt.Fprintf(&all,
				`{"id":"r%d","title":"Review %s é","body_html":"<p>%s</p>","created":"2026-01-05T09:30:00Z",`+
					`"ratings":[%s],"author_id":"a%d"}`,
				i, word(), strings.Repeat(word()+" ", 3)+word(), rating, f.lines%977)
		}
		end := "\n"
		if f.lines%3 == 0 {
			end = "\r\n"
		}
		write(fmt.Sprintf(`{"source":"old.example.test","title":"Thing %d","created":"2026-01-05T09:30:00Z",`+
			`"id":"%s","dimensions":["default"],"reviews":[%s]}%s`, f.lines, id, all.String(), end), wrong)
		if f.reviews += 8; wrong {
			f.reviews--
		}
	}
	write(`{"source":"cut`, true)
	if f.errors <= 1000 {
		f.rejects = append(f.rejects, '\n')
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return f
}

// compressed writes the file again with gzip.
func (f largeFile) compressed(t *testing.T) string {
	t.Helper()
	in, err := os.Open(f.path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	name := f.path + ".gz"
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := gzip.NewWriterLevel(out, gzip.BestSpeed) // a level that there is
	_, err = io.Copy(w, in)
	for _, err := range []error{err, w.Close(), out.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// A file of any size goes through the page: it is read from the disk as it is sent, the progress moves, the page takes
// no more memory for it, it can be stopped, and the lines with errors come back as they were, plain or compressed.
func TestLargeFileOfReviews(t *testing.T) {
	w := newWorld(t)
	f := newLargeFile(t, int64(*reviewsMiB)<<20)
	p := w.signIn(ann, "/reviews")
	p.See(`//*[contains(., "No reviews are stored in the network example.test")]`)
	p.watchUploads()
	before := p.memory()
	most := p.mostMemory()
	p.Type(`//input[@type="file"]`, f.path)
	p.seeLong(`//h2[.="large.ndjson is checked"]`)
	p.checkUpload(t, f.size)
	if *reviewsMiB >= 100 {
		grown := most() - before
		t.Logf("the browser grew by %d MiB for a file of %d MiB", grown>>20, f.size>>20)
		if grown > f.size/3 {
			t.Error("the browser holds the file")
		}
	}
	want := map[string]int{"lines": f.lines, "would be new": f.reviews}
	for what, n := range want {
		p.See(`//dl[contains(@class, "counts")]/div[dt="` + what + `" and translate(dd, ",", "")="` + strconv.Itoa(n) +
			`"]`)
	}
	t.Run("each fault in its record", func(t *testing.T) {
		q := person{p.For(t), w}
		q.faults()
	})
	t.Run("the lines with errors, to be mended", func(t *testing.T) { (&person{p.For(t), w}).rejects(f) })
	t.Run("compressed", func(t *testing.T) {
		q := person{p.For(t), w}
		q.Type(`//input[@type="file"]`, f.compressed(t))
		q.seeLong(`//h2[.="large.ndjson.gz is checked"]`)
		q.faults()
		q.rejects(f)
	})
	t.Run("stopped", func(t *testing.T) {
		q := person{p.For(t), w}
		q.Throttle(512 << 10)
		defer q.Throttle(-1)
		q.Type(`//input[@type="file"]`, f.path)
		q.Click(named("Stop"))
		q.See(`//*[@role="alert" and contains(., "It was stopped. Nothing was stored")]`)
	})
	p.Type(`//input[@type="file"]`, f.path)
	p.seeLong(`//h2[.="large.ndjson is checked"]`)
	p.Click(`//button[starts-with(normalize-space(), "Import ")]`)
	p.seeLong(`//h2[.="large.ndjson is imported"]`)
	p.See(`//dl[contains(@class, "counts")]/div[dt="new" and translate(dd, ",", "")="` + strconv.Itoa(f.reviews) + `"]`)
	p.See(`//article[contains(., "reviews")]`)
}

// faults looks at a fault of each rule in its record.
func (p *person) faults() {
	p.T.Helper()
	p.Click(`//details[contains(@class, "rule")][.//code[.="rating-integer" or .="value-type"]]/summary`)
	p.See(`//details[@open]//li[contains(., "forty")]//pre[contains(., "ratings")]//mark[.='"']`)
}

// rejects downloads the lines with errors.
func (p *person) rejects(f largeFile) {
	p.T.Helper()
	p.Run(new(any), `async () => {
		window.saved = undefined;
		if (window.make) return;
		window.make = URL.createObjectURL;
		URL.createObjectURL = (blob) => {
			window.saved = blob;
			return window.make(blob);
		};
	}`)
	p.Click(`//button[starts-with(normalize-space(), "Download the ") and contains(., "lines with errors")]`)
	p.Until(`async () => window.saved !== undefined`)
	var saved []byte // base64 in JSON
	p.Run(&saved, `async () => {
		const bytes = new Uint8Array(await window.saved.arrayBuffer());
		let text = "";
		for (let i = 0; i < bytes.length; i += 1024) text += String.fromCharCode(...bytes.subarray(i, i + 1024));
		return btoa(text);
	}`)
	if !bytes.Equal(saved, f.rejects) {
		p.T.Errorf("%d bytes of rejects, want %d", len(saved), len(f.rejects))
	}
}

// seeLong waits longer than See for what takes as long as a file is large.
func (p *person) seeLong(xpath string) {
	p.T.Helper()
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var there bool
		p.Run(&there,
			`async (xpath) => document.evaluate(xpath, document, null, XPathResult.BOOLEAN_TYPE, null).booleanValue`,
			xpath)
		if there {
			return
		}
	}
	p.T.Fatalf("nothing like %s is shown\n%s", xpath, p.Text())
}

// watchUploads notes what the bar of an upload shows.
func (p *person) watchUploads() {
	p.Run(new(any), `async () => {
		window.shown = [];
		const set = Object.getOwnPropertyDescriptor(HTMLProgressElement.prototype, "value").set;
		Object.defineProperty(HTMLProgressElement.prototype, "value", { set(v) {
			set.call(this, v);
			window.shown.push(v);
		} });
	}`)
}

// checkUpload checks that the bar went up to the size of the file, by small steps if it is large.
func (p *person) checkUpload(t *testing.T, size int64) {
	t.Helper()
	var shown []int64
	p.Run(&shown, `async () => window.shown`)
	steps := 0
	for i, v := range shown {
		if i > 0 && v < shown[i-1] {
			t.Errorf("the bar goes back from %d to %d", shown[i-1], v)
		}
		if i > 0 && v > shown[i-1] {
			steps++
		}
	}
	if len(shown) == 0 || shown[len(shown)-1] != size {
		t.Errorf("the bar ends at %v, want %d", shown, size)
	}
	t.Logf("the bar moved %d times", steps)
	if size >= 100<<20 && steps < 10 {
		t.Errorf("the bar moved %d times", steps)
	}
}

// memory returns the bytes of memory that the processes of the browser have of their own.
func (p *person) memory() int64 { return browserMemory() }

// mostMemory watches the memory of the browser until the function that it returns is called, which returns the most.
func (p *person) mostMemory() func() int64 {
	stop, most := make(chan struct{}), make(chan int64)
	go func() {
		top := int64(0)
		for {
			top = max(top, p.memory())
			select {
			case <-stop:
				most <- top
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-most
	}
}
