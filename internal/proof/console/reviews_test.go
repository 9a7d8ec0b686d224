//go:build proof

package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reviewLine is a collection with one review. Its rating is given as JSON.
func reviewLine(id, rating string) string {
	return `{"source":"old.example.test","title":"Boots","created":"2026-01-05T09:30:00Z","id":"` + id +
		`","dimensions":["default"],"reviews":[` +
		`{"id":"r1","title":"Good <b>boots</b>","body_html":"<p>Warm &amp; dry</p>",` +
		`"created":"2026-01-05T09:30:00Z","ratings":[` + rating + `],"author_id":"a1"}]}`
}

// A person brings reviews over: the file is checked, each fault is shown in its record, the good reviews are imported,
// and the means are shown.
func TestReviews(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "legacy.ndjson")
	lines := []string{reviewLine("Ym9vdHM=", "90"), reviewLine("c2hvZXM=", `"ninety"`), reviewLine("aGF0cw==", "400"),
		"no JSON", reviewLine("Z2xvdmVz", "70")}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.signIn(ann, "/reviews")
	p.See(`//*[contains(., "No reviews are stored in the network example.test")]`)
	p.Type(`//input[@type="file"]`, file)
	p.See(`//h2[.="legacy.ndjson is checked"]`)
	for what, n := range map[string]string{"lines": "5", "would be new": "2", "rejected": "2"} {
		p.See(`//dl[contains(@class, "counts")]/div[dt="` + what + `" and dd="` + n + `"]`)
	}
	t.Run("each fault in its record", func(t *testing.T) {
		p.Click(`(//details[contains(@class, "rule")])[1]/summary`)
		p.See(`//details[@open]//li[contains(., "Line 2, column") and contains(., "ninety")]//mark`)
	})
	p.Click(named("Import 2 reviews"))
	p.See(`//h2[.="legacy.ndjson is imported"]`)
	p.See(`//dl[contains(@class, "counts")]/div[dt="new" and dd="2"]`)
	p.See(`//article[contains(., "1 review")]//*[@role="img" and contains(@aria-label, "0, 0, 0, 0, 0, 0, 1, 0, 0, 0")]`)
	p.See(`//article[.//span[.="90"]]//span[starts-with(., "Rating") and contains(., "mean of 1 rating from 1 to 100")]`)
	p.Click(`(//article)[1]` + named("Reviews"))
	p.See(`//dialog//li[contains(., "Good <b>boots</b>") and contains(., "Warm & dry") and not(contains(., "<p>"))]`)
	p.Click(`//dialog` + named("Close"))
	t.Run("again, nothing changes", func(t *testing.T) {
		p.Type(`//input[@type="file"]`, file)
		p.See(`//dl[contains(@class, "counts")]/div[dt="unchanged" and dd="2"]`)
	})
	t.Run("a file that is dropped", func(t *testing.T) {
		q := person{p.For(t), w}
		q.Run(new(any), `async (text) => {
			const dataTransfer = new DataTransfer();
			dataTransfer.items.add(new File([text], "dropped.ndjson"));
			for (const type of ["dragover", "drop"]) document.querySelector(".drop").dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
		}`, strings.Join(lines, "\n"))
		q.See(`//h2[.="dropped.ndjson is checked"]`)
		q.See(`//dl[contains(@class, "counts")]/div[dt="unchanged" and dd="2"]`)
	})
	t.Run("a file of another kind has no lines to mend", func(t *testing.T) {
		q := person{p.For(t), w}
		array := filepath.Join(t.TempDir(), "array.json")
		if err := os.WriteFile(array, []byte("["+lines[0]+"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		q.Type(`//input[@type="file"]`, array)
		q.See(`//h2[.="array.json is checked"]`)
		q.See(`//details[contains(@class, "rule")][.//code[.="file-kind"]]`)
		if text := q.Text(); strings.Contains(text, "Download") {
			t.Error(text)
		}
	})
	t.Run("without the right", func(t *testing.T) {
		q := w.signIn(cleo, "/reviews")
		q.See(`//*[contains(., "Reviews are for those who moderate a network")]`)
	})
}
