package appsvc_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func componentService(t *testing.T, limits appsvc.Limits, versions ...string) (*appsvc.Service, appsvc.Caller) {
	t.Helper()
	svc := appsvc.New(memory.New().Apps(), &appsvc.Options{NewID: func() string { return "made" }, Limits: limits})
	by := appsvc.Caller{URN: "urn:vitrine:example.test:user=a", ManageComponents: true}
	for i, v := range versions {
		manifest := fmt.Sprintf(`{"id":"id%d","name":"c","version":%q,"main":"/%s.js","configSchema":{"title":"%s"},"description":"the %s one"}`, i, v, v, v, v)
		if _, err := svc.CreateComponent(context.Background(), by, appsvc.CreateComponentRequest{Manifest: []byte(manifest)}); err != nil {
			t.Fatal(err)
		}
	}
	return svc, appsvc.Caller{URN: "urn:vitrine:example.test:user=b"}
}

func TestVersionsOfAComponentAreListedNewestFirst(t *testing.T) {
	svc, by := componentService(t, appsvc.Limits{}, "2", "1", "10", "3")
	ctx := context.Background()
	page, err := svc.ListComponentVersions(ctx, by, appsvc.ListComponentVersionsRequest{Name: "c", Limit: 3})
	if err != nil || len(page.Items) != 3 || page.Next != "1" {
		t.Fatalf("have %d of 3 and next %q, %v", len(page.Items), page.Next, err)
	}
	const want = `{"id":"id3","name":"c","version":"3","main":"/3.js","description":"the 3 one"}`
	if first := page.Items[0]; string(first.Manifest) != want || first.ID != "id3" || *first.Description() != "the 3 one" {
		t.Errorf("have %+v with %s, want the manifest %s", first, first.Manifest, want)
	}
	var all []string
	for c, err := range svc.AllComponentVersions(ctx, by, appsvc.ListComponentVersionsRequest{Name: "c", Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c.Version)
	}
	if want := []string{"3", "10", "1", "2"}; !slices.Equal(all, want) {
		t.Errorf("have %q, want %q", all, want)
	}
	whole, err := svc.ListComponentVersions(ctx, by, appsvc.ListComponentVersionsRequest{Name: "c"})
	if err != nil || len(whole.Items) != 4 || whole.Next != "" {
		t.Errorf("have %d and next %q, %v", len(whole.Items), whole.Next, err)
	}
}

func TestAPageOfComponentVersionsEndsWhenItIsLarge(t *testing.T) {
	svc, by := componentService(t, appsvc.Limits{PageBytes: 100}, "1", "2", "3")
	page, err := svc.ListComponentVersions(context.Background(), by, appsvc.ListComponentVersionsRequest{Name: "c"})
	if err != nil || len(page.Items) != 2 || page.Next != "2" {
		t.Errorf("have %d and next %q, %v", len(page.Items), page.Next, err)
	}
}

func TestAPageWithoutALimitHasNoMoreItemsThanLimitsPage(t *testing.T) {
	svc, by := componentService(t, appsvc.Limits{Page: 2}, "1", "2", "3")
	page, err := svc.ListComponentVersions(context.Background(), by, appsvc.ListComponentVersionsRequest{Name: "c"})
	if err != nil || len(page.Items) != 2 || page.Next != "2" {
		t.Errorf("a page of %d versions and next %q, %v; want 2", len(page.Items), page.Next, err)
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
		{"a name that no component has", appsvc.ListComponentVersionsRequest{Name: "d"}, appsvc.ErrNotFound, `there is no component named "d"`},
		{"no name", appsvc.ListComponentVersionsRequest{}, appsvc.ErrNotFound, `there is no component named ""`},
		{"a limit of 501", appsvc.ListComponentVersionsRequest{Name: "c", Limit: 501}, appsvc.ErrInvalid, "limit: "},
		{"a version to go on after that is not there", appsvc.ListComponentVersionsRequest{Name: "c", After: "2"}, appsvc.ErrInvalid, "after: "},
	} {
		_, err := svc.ListComponentVersions(context.Background(), by, c.in)
		if !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v: %s…", c.name, err, c.want, c.says)
		}
	}
}

func TestAComponentVersionIsTheManifestAsItWasGiven(t *testing.T) {
	svc, by := componentService(t, appsvc.Limits{}, "1")
	ctx := context.Background()
	builder := appsvc.Caller{URN: "urn:vitrine:example.test:user=a", ManageComponents: true}
	const sent = `{"more": {"a": 1.10}, "name":"c","version":"2","main":"/x.js","configSchema":{"properties": {"a": {"default": 9007199254740993}}}}`
	if _, err := svc.CreateComponent(ctx, builder, appsvc.CreateComponentRequest{Manifest: []byte(sent)}); err != nil {
		t.Fatal(err)
	}
	c, err := svc.ComponentVersion(ctx, by, "c", "2")
	const want = `{"name":"c","version":"2","id":"made","description":null,"main":"/x.js","configSchema":{"properties":{"a":{"default":9007199254740993}}},"more":{"a":1.10}}`
	if err != nil || string(c.Manifest) != want {
		t.Errorf("have %s, %v\nwant %s", c.Manifest, err, want)
	}
	for _, absent := range [][2]string{{"c", "3"}, {"d", "1"}, {"", "1"}, {"c", ""}} {
		if _, err := svc.ComponentVersion(ctx, by, absent[0], absent[1]); !errors.Is(err, appsvc.ErrNotFound) {
			t.Errorf("%q version %q: %v, want ErrNotFound", absent[0], absent[1], err)
		}
	}
	if _, err := svc.ComponentVersion(ctx, appsvc.Caller{URN: "x"}, "c", "2"); !errors.Is(err, appsvc.ErrInvalid) {
		t.Errorf("a malformed caller: %v", err)
	}
}
