package appsvc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func firstApp(ctx context.Context) error {
	db := memory.New() // or sqlite.Open, or postgres.Open
	defer db.Close()
	site := "urn:vitrine:example.test:site=1"
	apps := appsvc.New(db, nil).As(vitrine.Caller{
		URN:        "urn:vitrine:example.test:user=me",
		Moderates:  []string{site},
		Components: true,
	})

	manifest := strings.NewReader(`{"name": "poll", "version": "1.0.0", "main": "https://example.test/poll.js",
		"configSchema": {"required": ["question"]}}`)
	_, err := apps.CreateComponent(ctx, appsvc.CreateComponentRequest{Manifest: manifest})
	if err != nil {
		return err
	}
	app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{
		Title:  "Front page",
		Groups: []string{site},
		Elements: []appsvc.NewElement{{
			Component: appsvc.ComponentRef{Name: "poll", Version: "1.0.0"},
			Config:    json.RawMessage(`{"question": "Tea?"}`),
		}},
	}) // version 0
	if err != nil {
		return err
	}
	app, err = apps.Edit(ctx, app.ID, func(_ appsvc.App, patch *appsvc.PatchBuilder) error {
		patch.SetConfig(0, "/question", "Coffee?")
		return nil
	}) // version 1
	if err != nil {
		return err
	}
	_, err = apps.PutTag(ctx, appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version})
	if err != nil {
		return err
	}
	live, err := apps.TaggedApp(ctx, app.ID, "production") // version 1, until the tag moves
	if err != nil {
		return err
	}
	content, err := live.Body.Content()
	if err != nil {
		return err
	}
	fmt.Println(live.Version, content.Title, string(content.Elements[0].Config))
	return nil
}

func Example() {
	if err := firstApp(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: 1 Front page {"question":"Coffee?"}
}

// The package comment has the program that Example runs.
func TestTheProgramOfThePackageComment(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	program := read("firstapp_example_test.go")
	_, program, _ = strings.Cut(program, "\nfunc firstApp")
	program, _, _ = strings.Cut("func firstApp"+program, "\n}\n")
	comment := regexp.MustCompile(`(?m)^//\t?`).ReplaceAllString(read("doc.go"), "")
	if !strings.Contains(comment, program+"\n}\n") {
		t.Errorf("doc.go does not have this program:\n%s\n}", program)
	}
}

// A comment that says where the package comment explains something names a heading of it.
func TestCommentsNameHeadingsOfThePackageComment(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?:package comment says under|; see) "([^"]+)"`)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		joined := regexp.MustCompile(`\n\s*//\s*`).ReplaceAllString(string(text), " ")
		for _, m := range named.FindAllStringSubmatch(joined, -1) {
			found++
			if !strings.Contains(string(doc), "\n// # "+m[1]+"\n") {
				t.Errorf("%s names the heading %q, which doc.go does not have", file, m[1])
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d comments name a heading: this shows nothing", found)
	}
}
