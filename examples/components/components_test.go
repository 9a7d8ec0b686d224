package components_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/examples/components"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// The service takes each manifest; its schema accepts the configs that fit and refuses those that do not.
func TestManifests(t *testing.T) {
	var configs map[string]struct{ Fits, Breaks []json.RawMessage }
	text, err := os.ReadFile("testdata/configs.json")
	if err == nil {
		err = json.Unmarshal(text, &configs)
	}
	if err != nil {
		t.Fatal(err)
	}
	manifests, _ := fs.Glob(components.Files, "*.json")
	if len(manifests) == 0 || len(manifests) != len(configs) {
		t.Errorf("there are %d manifests, and configs for %d", len(manifests), len(configs))
	}
	svc := appsvc.New(memory.New(),
		nil).As(vitrine.Caller{URN: "urn:vitrine:example.test:user=ann",
		Moderates: []string{"urn:vitrine:example.test"}, Components: true})
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			manifest, err := fs.ReadFile(components.Files, name+".json")
			if err != nil {
				t.Fatal(err)
			}
			made, err := svc.CreateComponent(t.Context(),
				appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fs.Stat(components.Files, name+".js"); err != nil || made.Main != "/x/demo/"+name+".js" ||
				made.Title() == nil || made.Description() == nil || made.Preview() == nil {
				t.Fatalf("%+v, %v", made, err)
			}
			picture, _ := strings.CutPrefix(*made.Preview(), "/x/demo/")
			if text, err := fs.ReadFile(components.Files, picture); err != nil ||
				xml.Unmarshal(text, new(struct{})) != nil {
				t.Errorf("the picture %s: %v", picture, err)
			}
			create := func(config json.RawMessage) error {
				_, err := svc.CreateApp(t.Context(),
					appsvc.CreateAppRequest{Title: "x", Groups: []string{"urn:vitrine:example.test"},
						Elements: []appsvc.NewElement{
							{Component: appsvc.ComponentRef{Name: made.Name, Version: made.Version}, Config: config}}})
				return err
			}
			for _, config := range c.Fits {
				if err := create(config); err != nil {
					t.Errorf("%s: %v", config, err)
				}
			}
			for _, config := range c.Breaks {
				if e, ok := errors.AsType[*vitrine.Error](create(config)); !ok || e.Code != vitrine.CodeSchema {
					t.Errorf("%s: %v", config, e)
				}
			}
		})
	}
}
