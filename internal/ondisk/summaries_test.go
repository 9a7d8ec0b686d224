package ondisk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// A hundred apps of twenty elements take less than 64 KiB, and no body is read for them.
func TestSummariesAreSmall(t *testing.T) {
	svc, by := appsOfTwenty(t)
	page, err := svc.As(by).ListApps(t.Context(), appsvc.ListAppsRequest{Summary: true})
	if err != nil || len(page.Items) != 100 {
		t.Fatal(len(page.Items), err)
	}
	text, err := json.Marshal(page.Items)
	if err != nil || len(text) > 64<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	var again []appsvc.App
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again[7], page.Items[7]) {
		t.Errorf("read again: %+v, %v, want %+v", again[7], err, page.Items[7])
	}
}

// appsOfTwenty makes a hundred apps with twenty elements, of which each has two tags.
func appsOfTwenty(t testing.TB) (*appsvc.Service, vitrine.Caller) {
	db, _ := open(t)
	svc, site1 := appsvc.New(db, nil), network+":site=1"
	by := vitrine.Caller{URN: network + ":user=editor", Moderates: []string{site1}, Components: true}
	var elements []appsvc.NewElement
	for i := range 20 {
		name := fmt.Sprint("component-", i%8)
		if i < 8 {
			manifest := fmt.Appendf(nil, `{"name":%q,"version":"1.0.0","main":"/m.js","configSchema":{}}`, name)
			if _, err := svc.As(by).CreateComponent(ctx,
				appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest)}); err != nil {
				t.Fatal(err)
			}
		}
		elements = append(elements,
			appsvc.NewElement{Component: appsvc.ComponentRef{Name: name, Version: "1.0.0"},
				Config: json.RawMessage(`{"text":"` + strings.Repeat("x", 500) + `"}`)})
	}
	for i := range 100 {
		app, err := svc.As(by).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: fmt.Sprint("The front page of shop ", i), Groups: []string{site1},
				Elements: elements})
		for _, tag := range []string{"production", "staging"} {
			if err == nil {
				_, err = svc.As(by).PutTag(ctx, appsvc.PutTagRequest{AppID: app.ID, Name: tag, Version: app.Version})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return svc, by
}

func BenchmarkSummaries(b *testing.B) {
	svc, by := appsOfTwenty(b)
	for b.Loop() {
		if page, err := svc.As(by).ListApps(b.Context(), appsvc.ListAppsRequest{Summary: true}); err != nil ||
			len(page.Items) != 100 {
			b.Fatal(err)
		}
	}
}

func BenchmarkSummariesOfAWord(b *testing.B) {
	svc, by := appsOfTwenty(b)
	for b.Loop() {
		if page, err := svc.As(by).ListApps(b.Context(),
			appsvc.ListAppsRequest{Summary: true, Query: "7 fro"}); err != nil || len(page.Items) != 11 {
			b.Fatal(len(page.Items), err)
		}
	}
}
