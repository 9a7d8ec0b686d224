//go:build proof

package bench

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
)

// BenchmarkCheckComponent checks a component that every fourth element of 1,000 apps has, each app of about 5 KB with
// twelve elements and with a tag on an older version. As many apps use another component, and are not looked at.
func BenchmarkCheckComponent(b *testing.B) {
	for _, e := range engines(b) {
		b.Run(e.name, func(b *testing.B) {
			svc := appsvc.NewWith(e.store, nil)
			schema := `{"type":"object","properties":{"size":{"type":"integer"},"text":{"type":"string","maxLength":%d}}}`
			manifest := func(name, version string, length int) []byte {
				return fmt.Appendf(nil, `{"name":%q,"version":%q,"main":"https://example.test/text.js","configSchema":`+schema+`}`, name, version, length)
			}
			for _, name := range []string{"checked", "other"} {
				if _, err := svc.CreateComponent(ctx, me, appsvc.CreateComponentRequest{Manifest: manifest(name, "1.0.0", 1000)}); err != nil {
					b.Fatal(err)
				}
			}
			for n := range 2000 {
				in := appsvc.CreateAppRequest{Title: "x", Groups: []string{"urn:vitrine:example.test"}}
				for i := range 12 {
					name := "other"
					if n%2 == 0 && i%4 == 0 {
						name = "checked"
					}
					in.Elements = append(in.Elements, appsvc.NewElement{Component: appsvc.ComponentRef{Name: name, Version: "1.0.0"},
						Config: json.RawMessage(`{"size":0,"text":"` + strings.Repeat("lorem ipsum ", 10) + `"}`)})
				}
				app, err := svc.CreateApp(ctx, me, in)
				if err == nil {
					_, err = svc.PutTag(ctx, me, appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version})
				}
				if err == nil {
					_, err = svc.As(me).Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error { p.SetTitle("y"); return nil })
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			in := appsvc.CheckComponentRequest{Name: "checked", Manifest: manifest("checked", "2.0.0", 999)}
			elements := 0
			var took time.Duration
			for b.Loop() {
				begin := time.Now()
				for in.After = ""; ; {
					found, err := svc.CheckComponent(ctx, me, in)
					if err != nil || len(found.Broken) > 0 {
						b.Fatal(len(found.Broken), err)
					}
					elements += found.Elements
					in.After = found.Next
					if in.After == "" {
						break
					}
				}
				took += time.Since(begin)
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(elements), "ns/element")
			b.ReportMetric(float64(elements)/float64(b.N), "elements")
		})
	}
}
