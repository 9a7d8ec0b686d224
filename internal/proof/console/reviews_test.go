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
	p.See(`//article[contains(., "1 review")]//*` +
		`[@role="img" and contains(@aria-label, "0, 0, 0, 0, 0, 0, 1, 0, 0, 0")]`)
	p.See(`//article[.//span[.="90"]]//span` +
		`[starts-with(., "Rating") and contains(., "mean of 1 rating from 1 to 100")]`)
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
			for (const type of ["dragover", "drop"]) document.querySelector(".drop")
				.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
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

// A person has JSON of another program, all of one thing, with rows that the shop has hidden.
func TestReviewsInJSON(t *testing.T) {
	w := newWorld(t)
	p := w.signIn(ann, "/reviews")
	path := filepath.Join(t.TempDir(), "shop.json")
	text := `{"reviews":[{"name":"r/1","who":{"displayName":"Jo"},"rating":"FIVE","createTime":"2020-03-04 05:00",` +
		`"state":"ok"},` +
		`{"name":"r/2","who":{"displayName":"Al"},"rating":"ONE","createTime":"2020-03-05","state":"spam"}],"total":2}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Type(`//input[@type="file"]`, path)
	p.See(`//h2[.="shop.json is a table"]`)
	p.See(`//p[.='Rows: "/reviews"']`)
	for column, field := range map[string]string{"/name": "review_id", "/who/displayName": "author_name",
		"/rating": "rating", "/createTime": "created", "/state": "skip:"} {
		p.Run(new(any), `async (name, value) => {
			const select = [...document.querySelectorAll("select")].find((s) => s.getAttribute("aria-label") === name);
			select.value = value;
			select.dispatchEvent(new Event("change"));
		}`, "What "+column+" is", field)
	}
	p.Type(`//input[@aria-label="Words of /state that leave rows out"]`, "spam, pending")
	p.Click(named("Convert and check"))
	p.See(`//*[@role="alert" and .="Choose the column for: What is reviewed: its id. If no column ` +
		`says what is reviewed, name it above."]`)
	p.Type(field("What is reviewed, if no column says it"), "Our shop")
	p.Type(field("Zone of times that name none"), "Asia/Tokyo")
	p.Run(new(any), `async () => { // as many collections would be there
		const below = document.body.appendChild(document.createElement("div"));
		below.style.height = "5000px";
	}`)
	p.Click(named("Convert and check"))
	p.See(`//p[contains(., "1 review of shop.json is converted. 1 row left out.")]`)
	p.See(named("Import 1 review"))
	var top float64
	p.Run(&top, `async () => [...document.querySelectorAll("p")].find((p) => /is converted/.test(p.textContent))
		.getBoundingClientRect().top`)
	if top < 0 || top > 600 {
		t.Errorf("what has become of the table is %v pixels below the top of the window", top)
	}
	p.See(`//p[contains(., 'no row has "pending" in column "/state"')]`)
	p.Click(named("Import 1 review"))
	p.See(`//article[@aria-label="Our shop"]`)
	if export := string(w.request(ann, "GET", "/x/reviews/export", "")); !strings.Contains(export,
		`"created":"2020-03-03T20:00:00Z"`) {
		t.Errorf("the time in Tokyo became another one: %s", export)
	}
}
