package appsvc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// BenchmarkPatch saves one field of an app of about 5 KB, ten elements, over and over. The store is
// in memory, so this is what the rules cost.
func BenchmarkPatch(b *testing.B) {
	ctx := context.Background()
	apps := appsvc.New(memory.New().Apps(), nil)
	manifest := `{"name":"text","version":"1.0.0","main":"https://example.test/text.js",
		"configSchema":{"type":"object","properties":{"size":{"type":"integer"},"text":{"type":"string"}}}}`
	if _, err := apps.CreateComponent(ctx, editor, appsvc.CreateComponentRequest{Manifest: []byte(manifest)}); err != nil {
		b.Fatal(err)
	}
	in := appsvc.CreateAppRequest{Title: "First", Groups: []string{site1}}
	for range 10 {
		config := json.RawMessage(`{"size":0,"text":"` + strings.Repeat("lorem ipsum ", 15) + `"}`)
		in.Elements = append(in.Elements, appsvc.NewElement{Component: appsvc.ComponentRef{Name: "text", Version: "1.0.0"}, Config: config})
	}
	app, err := apps.CreateApp(ctx, editor, in)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(app.AppendJSON(nil))), "B/app")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		patch := fmt.Appendf(nil, `[{"op":"test","path":"/apps/0/version","value":"%s"},{"op":"replace","path":"/apps/0/elements/%d/config/size","value":%d}]`,
			app.Version, i%10, i)
		if app, err = apps.Patch(ctx, editor, app.ID, patch); err != nil {
			b.Fatal(err)
		}
	}
}
