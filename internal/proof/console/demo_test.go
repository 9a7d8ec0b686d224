//go:build proof

package console

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// TestDemo opens the console on the sample data of `vitrine -demo`. With VITRINE_PICTURES=../../../adapters/console/pictures
// it writes the pictures of the README.
func TestDemo(t *testing.T) {
	const frontPage = "/apps/de300000-0000-4000-8000-000000000006"
	w := newWorld(t, "-demo")
	p := w.signIn(httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:demo.test:user=demo", Moderates: []string{"urn:vitrine:demo.test"}}}, "")
	p.See(`//table//a[contains(., "Front page, winter")]`)
	p.Resize(1280, 800)
	for _, v := range []struct{ name, address, shows, scheme string }{
		{"designer", frontPage, named("Add an element"), "light"},
		{"history", frontPage + "/history?from=14&to=16", `//div[contains(@class, "difference")]//ins`, "dark"},
	} {
		p.Scheme(v.scheme)
		p.view(v.address)
		p.See(v.shows)
		if dir := os.Getenv("VITRINE_PICTURES"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, v.name+".png"), p.Picture(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
