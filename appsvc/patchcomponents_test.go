package appsvc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A Service that has patched with a component answers as a new Service does when another one has deleted the component,
// or replaced it by one that takes other configs.
func TestPatchesFollowComponentsThatAnotherServiceChanges(t *testing.T) {
	ctx := context.Background()
	store := memory.New()
	other := appsvc.New(store, nil)
	create := func(kind string) {
		t.Helper()
		manifest := fmt.Appendf(nil,
			`{"name":"text","version":"1","main":"/m.js","configSchema":{"type":"object",`+
				`"properties":{"size":{"type":%q}}}}`, kind)
		if _, err := other.As(editor).CreateComponent(ctx,
			appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest)}); err != nil {
			t.Fatal(err)
		}
	}
	remove := func() {
		t.Helper()
		defer forget(t, store)
		if err := other.As(editor).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "text"}); err != nil {
			t.Fatal(err)
		}
	}
	create("integer")
	made, err := other.As(editor).CreateApp(ctx, appsvc.CreateAppRequest{Title: "t", Groups: []string{site1},
		Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "text", Version: "1"},
			Config: json.RawMessage(`{"size":0}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	patch := func(s *appsvc.Service, size string) (appsvc.App, error) {
		now, err := other.As(editor).App(ctx, made.ID)
		if err != nil {
			t.Fatal(err)
		}
		return s.As(editor).Patch(ctx, made.ID,
			strings.NewReader(fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":%q},{"op":"replace",`+
				`"path":"/apps/0/elements/0/config/size","value":%s}]`,
				now.Version.String(), size)))
	}
	for name, c := range map[string]struct {
		meanwhile func()
		size      string
		stored    bool
	}{
		"nothing changes, and the config conforms":            {func() {}, "7", true},
		"nothing changes, and the config does not conform":    {func() {}, `"x"`, false},
		"another takes the config":                            {func() { remove(); create("string") }, `"x"`, true},
		"another does not take the config":                    {func() { remove(); create("string") }, "8", false},
		"it is deleted, and the config conformed":             {remove, "9", false},
		"it is deleted, and the config did not conform":       {remove, `"x"`, false},
		"another takes the config that the first took too":    {func() { remove(); create("number") }, "10", true},
		"another takes neither this config nor did the first": {func() { remove(); create("number") }, "true", false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := other.As(editor).Component(ctx, "text"); err == nil {
				remove()
			}
			create("integer")
			s := appsvc.New(store, nil)
			for n := range 2 {
				if _, err := patch(s, fmt.Sprint(100+n)); err != nil {
					t.Fatal(err)
				}
			}
			c.meanwhile()
			for range 2 {
				_, got := patch(s, c.size)
				if !c.stored {
					_, want := patch(appsvc.New(store, nil), c.size)
					if got == nil || want == nil || got.Error() != want.Error() {
						t.Errorf("error %v, want %v", got, want)
					}
					continue
				}
				if got != nil {
					t.Error(got)
				}
				c.size += "1"
				if c.size[0] == '"' {
					c.size = `"y"`
				}
			}
			if c.stored {
				app, err := other.As(editor).App(ctx, made.ID)
				now, err2 := other.As(editor).Component(ctx, "text")
				content, err3 := app.Body.Content()
				if err != nil || err2 != nil || err3 != nil || len(content.Elements) != 1 {
					t.Fatal(err, err2, err3)
				}
				var stored, want map[string]any
				if json.Unmarshal(content.Elements[0].Manifest, &stored) != nil ||
					json.Unmarshal(now.Manifest, &want) != nil || fmt.Sprint(stored) != fmt.Sprint(want) {
					t.Errorf("the element has the manifest %s, want %s", content.Elements[0].Manifest, now.Manifest)
				}
			}
		})
	}
}
