package appsvc_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func componentService(t *testing.T, limits appsvc.Limits, versions ...string) (*appsvc.Service, vitrine.Caller) {
	t.Helper()
	svc := appsvc.New(memory.New(), &appsvc.Options{NewID: func() string { return "made" }, Limits: limits})
	by := vitrine.Caller{URN: "urn:vitrine:example.test:user=a", Components: true}
	for i, v := range versions {
		manifest := fmt.Sprintf(`{"id":"id%d","name":"c","version":%q,"main":"/%s.js","configSchema":{"title":"%s"},`+
			`"description":"the %s one"}`, i, v, v, v, v)
		if _, err := svc.As(by).CreateComponent(context.Background(),
			appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest)}); err != nil {
			t.Fatal(err)
		}
	}
	return svc, vitrine.Caller{URN: "urn:vitrine:example.test:user=b"}
}

func TestVersionsOfAComponentAreListedNewestFirst(t *testing.T) {
	svc, by := componentService(t, appsvc.Limits{}, "2", "1", "10", "3")
	ctx := context.Background()
	page, err := svc.As(by).ListComponentVersions(ctx, appsvc.ListComponentVersionsRequest{Name: "c", Limit: 3})
	if err != nil || len(page.Items) != 3 || page.Next != "1" {
		t.Fatalf("have %d of 3 and next %q, %v", len(page.Items), page.Next, err)
	}
	const want = `{"id":"id3","name":"c","version":"3","main":"/3.js","description":"the 3 one"}`
	if first := page.Items[0]; string(first.Manifest) != want || first.ID != "id3" ||
		*first.Description() != "the 3 one" {
		t.Errorf("have %+v with %s, want the manifest %s", first, first.Manifest, want)
	}
	var all []string
	for c, err := range svc.As(by).AllComponentVersions(ctx, appsvc.ListComponentVersionsRequest{Name: "c", Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c.Version)
	}
	if want := []string{"3", "10", "1", "2"}; !slices.Equal(all, want) {
		t.Errorf("have %q, want %q", all, want)
	}
	whole, err := svc.As(by).ListComponentVersions(ctx, appsvc.ListComponentVersionsRequest{Name: "c"})
	if err != nil || len(whole.Items) != 4 || whole.Next != "" {
		t.Errorf("have %d and next %q, %v", len(whole.Items), whole.Next, err)
	}
}

func TestAPageOfComponentVersionsEndsAtTheLimits(t *testing.T) {
	for _, limits := range []appsvc.Limits{{PageBytes: 200}, {Page: 2}} {
		svc, by := componentService(t, limits, "1", "2", "3")
		page, err := svc.As(by).ListComponentVersions(context.Background(),
			appsvc.ListComponentVersionsRequest{Name: "c"})
		if err != nil || len(page.Items) != 2 || page.Next != "2" {
			t.Errorf("%+v: %d of 3 and next %q, %v", limits, len(page.Items), page.Next, err)
		}
	}
}

func TestListComponentVersionsRefuses(t *testing.T) {
	svc, by := componentService(t, appsvc.Limits{}, "1")
	for _, c := range []struct {
		name string
		in   appsvc.ListComponentVersionsRequest
		want error
		says string
	}{
		{"a name that no component has", appsvc.ListComponentVersionsRequest{Name: "d"}, vitrine.ErrNotFound,
			`there is no component named "d"`},
		{"no name", appsvc.ListComponentVersionsRequest{}, vitrine.ErrNotFound, `there is no component named ""`},
		{"a limit of 501", appsvc.ListComponentVersionsRequest{Name: "c", Limit: 501}, vitrine.ErrInvalid, "limit: "},
		{"a version to go on after that is not there", appsvc.ListComponentVersionsRequest{Name: "c", After: "2"},
			vitrine.ErrInvalid, "after: "},
	} {
		_, err := svc.As(by).ListComponentVersions(context.Background(), c.in)
		if !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v: %s…", c.name, err, c.want, c.says)
		}
	}
}

func TestAComponentVersionThatIsNotThere(t *testing.T) {
	svc, by := componentService(t, appsvc.Limits{}, "1")
	for _, absent := range [][2]string{{"c", "3"}, {"d", "1"}, {"", "1"}, {"c", ""}} {
		_, err := svc.As(by).ComponentVersion(context.Background(), absent[0], absent[1])
		checkKind(t, err, vitrine.ErrNotFound)
	}
}
