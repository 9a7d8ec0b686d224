package appsvc_test

import (
	"context"
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

// poll is a config of the component poll.
type poll struct {
	Question string `json:"question"`
}

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
	element, err := appsvc.ElementOf(appsvc.ComponentRef{Name: "poll", Version: "1.0.0"}, poll{Question: "Tea?"})
	if err != nil {
		return err
	}
	app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: "Front page", Groups: []string{site},
		Elements: []appsvc.NewElement{element}}) // version 0
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
	shown, err := appsvc.ConfigAs[poll](content.Elements[0])
	fmt.Println(live.Version, content.Title, shown.Question)
	return err
}

func Example() {
	if err := firstApp(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: 1 Front page Coffee?
}

func TestAConfigThatIsNoJSON(t *testing.T) {
	_, err := appsvc.ElementOf(appsvc.ComponentRef{Name: "poll", Version: "1.0.0"}, make(chan int))
	if err == nil || !strings.Contains(err.Error(), "element of poll") {
		t.Errorf("%v", err)
	}
	_, err = appsvc.ConfigAs[poll](appsvc.Element{ID: "7", Config: []byte(`{"question": 1}`)})
	if err == nil || !strings.Contains(err.Error(), "element 7") {
		t.Errorf("%v", err)
	}
}

// A comment that says where another one explains something names a heading of it.
func TestCommentsNameHeadings(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	headings, comments := "", map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		headings += string(text)
		comments[file] = regexp.MustCompile(`\n\s*//\s*`).ReplaceAllString(string(text), " ")
	}
	found := 0
	for file, text := range comments {
		for _, m := range regexp.MustCompile(`(?:under|[;(] ?see) "([A-Z][a-z ]+)"`).FindAllStringSubmatch(text, -1) {
			found++
			if !strings.Contains(headings, "\n// # "+m[1]+"\n") {
				t.Errorf("%s names the heading %q, which no comment has", file, m[1])
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d comments name a heading: this shows nothing", found)
	}
}
