//go:build proof

package console

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
)

// An app of as many elements as an app may have is shown, edited by small patches, rearranged, and edited as a whole.
func TestThousandElements(t *testing.T) {
	s := newServed(t)
	s.component("poll", "1.0.0", pollSchema)
	elements := make([]string, 1000)
	for i := range elements {
		elements[i] = poll(fmt.Sprintf(`{"question":"Question %d","limit":5}`, i+1))
	}
	id := s.newApp("Many", elements...)
	p := s.signIn(ann, "/apps/"+id)
	p.saved(0)
	p.Until(`() => document.querySelectorAll(".card").length === 1000`)
	last := `//li[contains(@class, "card")][1000]`
	p.scrollTo(".card:nth-child(1000)")
	p.Retype(last+field("Question"), "The last one")
	p.saved(1)
	p.Click(last + named("Move up"))
	p.saved(2)
	p.Run(new(any), `async () => scrollTo(0, 0)`)
	p.Click(`//li[contains(@class, "card")][1]` + named("Remove"))
	p.saved(3)
	p.Click(`//div[contains(@class, "status")]` + named("Undo"))
	p.saved(4)
	app := s.latest(id)
	if n := len(app.Elements); n != 1000 ||
		string(app.Elements[998].Config) != `{"question":"The last one","limit":5}` ||
		string(app.Elements[999].Config) != `{"question":"Question 999","limit":5}` {
		t.Errorf("%d elements, at the end %s and %s", n, app.Elements[998].Config, app.Elements[999].Config)
	}
	// More changes at once than the service takes operations.
	p.Click(`//button[@role="tab"][.="JSON"]`)
	p.Until(`() => document.querySelector("textarea.whole").value.length > 100000`)
	p.Run(new(any), `async () => {
		const area = document.querySelector("textarea.whole");
		area.value = area.value.replaceAll('"limit": 5', '"limit": 6').replaceAll('"Question', '"Q');
		area.dispatchEvent(new Event("input"));
	}`)
	p.saved(5)
	app = s.latest(id)
	for _, i := range []int{0, 500} {
		if want := fmt.Sprintf(`{"question":"Q %d","limit":6}`, i+1); string(app.Elements[i].Config) != want {
			t.Errorf("element %d has the config %s, want %s", i+1, app.Elements[i].Config, want)
		}
	}
}

// A config of a mebibyte is shown and edited in place, and its history is compared.
func TestLargeConfig(t *testing.T) {
	s := newServed(t)
	s.component("poll", "1.0.0",
		`{"type":"object","properties":{"title":{"type":"string"},"rows":{"type":"array","items":{"type":"object",
			"properties":{"name":{"type":"string"},"n":{"type":"number"}}}},"one":{"$ref":"#/$defs/text"},
			"two":{"$ref":"#/$defs/text"},"three":{"$ref":"#/$defs/text"},"four":{"$ref":"#/$defs/text"}},
		"$defs":{"text":{"type":"string","maxLength":2000000}}}`)
	rows := make([]string, 500)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"name":"Row %d","n":%d.10}`, i, i)
	}
	text := strings.Repeat(`A line of a long text.\n`, 1<<18/24)
	config := fmt.Sprintf(`{"title":"Large","rows":[%s],"one":"1%s","two":"2%s","three":"3%s","four":"4%s"}`,
		strings.Join(rows, ","), text, text, text, text)
	id := s.newApp("Large", poll(config))
	p := s.signIn(ann, "/apps/"+id)
	p.saved(0)
	p.Retype(field("title"), "Larger")
	p.saved(1)
	p.scrollTo(`.items > li[data-part="499"]`)
	p.Retype(`//li[@data-part="499"]`+field("name"), "The last row")
	p.saved(2)
	p.scrollTo(`[data-part="three"]`)
	p.Until(`() => document.querySelector('[data-part="three"] textarea')`)
	p.Run(new(any), `async () => {
		const area = document.querySelector('[data-part="three"] textarea');
		area.setRangeText("first line\n", 0, 0);
		area.dispatchEvent(new Event("input"));
	}`)
	p.saved(3)
	want := strings.NewReplacer(`"Large"`, `"Larger"`, `"Row 499"`, `"The last row"`, `"3A line`,
		`"first line\n3A line`).Replace(config)
	if got := string(s.latest(id).Elements[0].Config); got != want {
		t.Errorf("the config has %d bytes, want %d", len(got), len(want))
	}
	p.view("/apps/" + id + "/history?from=0&to=3")
	p.See(`//section[contains(@class, "changed")]//ins[.="Larger"]`)
	p.See(`//section[contains(@class, "changed")]//ins[contains(., "first line")]`)
}

// 10,000 versions come page by page, and any two of them are compared.
func TestTenThousandVersions(t *testing.T) {
	s := newServed(t)
	s.component("poll", "1.0.0", `{}`)
	id := s.newApp("Old", poll(`{"n":0}`))
	const versions = 10_000
	for i := range versions {
		patch := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
			`"path":"/apps/0/elements/0/config/n","value":%d}]`, i, i+1)
		if _, err := s.apps.As(caller).Patch(context.Background(), id, strings.NewReader(patch)); err != nil {
			t.Fatal(err)
		}
	}
	p := s.signIn(ann, "/apps/"+id+"/history")
	p.See(`//*[@role="status" and contains(., "loaded versions")]`)
	var first, second int
	const lowest = `async () => Math.min(...[...document.querySelectorAll(".line .number")].map((x) => ` +
		`Number(x.textContent.split("–")[0])))`
	p.Run(&first, lowest)
	p.Click(named("Show more"))
	p.Until(`async (n) => (await (`+lowest+`)()) < n`, first)
	p.Run(&second, lowest)
	if first < versions-1000 || second >= first {
		t.Errorf("the first page ends with version %d, the second with %d", first, second)
	}
	p.view("/apps/" + id + "/history?from=17&to=9999")
	p.See(`//section[contains(@class, "changed")]//del[.="17"]`)
	p.See(`//section[contains(@class, "changed")]//ins[.="9999"]`)
	p.view("/apps/" + id)
	p.saved(versions)
}

// 100,000 apps: the list is there with its first page, and finds an app by its title.
func TestHundredThousandApps(t *testing.T) {
	s := newServed(t)
	s.component("poll", "1.0.0", `{}`)
	s.fill(100_000)
	id := s.newApp("The newest", poll(`{}`))
	p := s.signIn(ann, "/apps")
	p.See(`//tbody//a[.="The newest"]`)
	p.See(`//*[@role="status" and contains(., "loaded apps")]`)
	p.Type(`//input[@aria-label="Find"]`, "000003")
	p.See(`//*[@role="status" and .="1 app"]`)
	p.See(`//tbody/tr[1]//a[.="App 000003"]`)
	p.Retype(`//input[@aria-label="Find"]`, "app 0999")
	p.See(`//*[@role="status" and .="100 apps"]`)
	p.See(`//tbody/tr[1]//a[.="App 099999"]`)
	p.view("/apps?sort=createdAt&q=000003")
	p.See(`//tbody/tr[1]//a[.="App 000003"]`)
	p.view("/apps?component=poll")
	p.See(`//*[@role="status" and .="1 app"]`)
	p.See(`//tbody/tr[1]//a[.="The newest"]`)
	p.view("/apps")
	p.See(`//tbody/tr[2]`)
	s.request(bob, "PATCH", "/apps/"+id,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title","value":"The `+
			`newest, renamed"}]`)
	p.See(`//tbody/tr[1]//a[.="The newest, renamed"]`)
}

// fill stores n apps whose titles are "App 000000" and so on, each a millisecond after the one before.
func (s *served) fill(n int) {
	s.t.Helper()
	ctx := context.Background()
	now := time.Now().Add(-time.Hour)
	apps := appsvc.New(s.store, &appsvc.Options{Now: func() time.Time { return now }, KeepChanges: time.Second})
	for i := range n {
		now = now.Add(time.Millisecond)
		in := appsvc.CreateAppRequest{Title: fmt.Sprintf("App %06d", i), Groups: []string{network + ":site=blog"}}
		if _, err := apps.As(caller).CreateApp(ctx, in); err != nil {
			s.t.Fatal(err)
		}
	}
}
