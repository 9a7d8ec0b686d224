package appsvc_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func keysOf(t *testing.T, app appsvc.App) (keys []string) {
	t.Helper()
	content, err := app.Body.Content()
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range content.Elements {
		if e.ID != fmt.Sprint(i) {
			t.Errorf("element %d has the id %q", i, e.ID)
		}
		keys = append(keys, e.Key)
	}
	return keys
}

// A key stays with its element while it is edited, moved and restored; a copy and a new element get one of their own.
func TestKeysOfElements(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id := w.history(newPage(anyElement(`{"a":1}`), anyElement(`{"a":2}`), anyElement(`{"a":3}`)))
	at := "/apps/0/elements/"
	for i, step := range []struct{ patch, want string }{
		{`{"op":"replace","path":"` + at + `1/config/a","value":7}`, "0.0 0.1 0.2"},
		{`{"op":"move","from":"` + at + `2","path":"` + at + `0"}`, "0.2 0.0 0.1"},
		{`{"op":"copy","from":"` + at + `0","path":"` + at + `1"},{"op":"replace","path":"` + at + `0/config/a","value":8}`, "0.2 3.1 0.0 0.1"},
		{`{"op":"remove","path":"` + at + `0"}`, "3.1 0.0 0.1"},
		{`{"op":"add","path":"` + at + `0","value":{"component":{"name":"any","version":"1"},"config":{}}}`, "5.0 3.1 0.0 0.1"},
		{`{"op":"replace","path":"` + at + `0/component/name","value":"text"},{"op":"replace","path":"` + at + `0/component/version","value":"1.0.0"}`, "5.0 3.1 0.0 0.1"},
	} {
		app, err := w.Patch(ctx, designer, id, fmt.Appendf(nil, `[{"op":"test","path":"/apps/0/version","value":"%d"},%s]`, i, step.patch))
		if err != nil {
			t.Fatal(err)
		}
		read, err := w.App(ctx, designer, id)
		if got := strings.Join(keysOf(t, app), " "); err != nil || got != step.want || string(read.Body) != string(app.Body) {
			t.Errorf("after %s the keys are %s, %v, want %s", step.patch, got, err, step.want)
		}
	}
	restored, err := w.Restore(ctx, designer, appsvc.RestoreRequest{AppID: id, Version: vitrine.NewVersion(2)})
	if got := strings.Join(keysOf(t, restored), " "); err != nil || got != "0.2 0.0 0.1" {
		t.Errorf("the restored version has the keys %s, %v", got, err)
	}
}

// Versions of releases without keys answer the index. The first version that follows gives keys to all elements, and the diff between the
// two pairs elements by their content, and then by their places.
func TestKeysOfOlderVersions(t *testing.T) {
	ctx, w, db := context.Background(), newWorkshop(t), memory.New()
	w.Service = appsvc.New(db, nil)
	element := func(i, a int) string {
		return fmt.Sprintf(`{"id":"%d","component":{"name":"any","version":"1","id":"x","description":null,"main":"/any.js","configSchema":{}},"config":{"a":%d}}`, i, a)
	}
	manifest := `{"name":"any","version":"1","id":"x","description":null,"main":"/any.js","configSchema":{}}`
	lines := [][]byte{fmt.Appendf(nil, `{"component":{"id":"x","name":"any","version":"1","main":"/any.js","manifest":%s}}`, manifest)}
	for v, elements := range [][]string{{element(0, 1), element(1, 2)}, {element(0, 0), element(1, 1), element(2, 5)}} {
		lines = append(lines, fmt.Appendf(nil, `{"version":{"app":"7","version":%d,"owner":%q,"createdAt":1,"updatedAt":%d,"updatedBy":%[2]q,"body":{"title":"t","owner":{"urn":%[2]q},"groups":[%[4]q],"elements":[%[5]s]}}}`,
			v, designer.URN, v+1, site1, strings.Join(elements, ",")))
	}
	if err := appsvc.Maintenance(appsvc.Limits{}).ImportOld(ctx, db, lines); err != nil {
		t.Fatal(err)
	}
	for f, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(ctx, db) {
		t.Errorf("the audit finds %v, %v", f, err)
	}
	same, err := w.Patch(ctx, designer, "7", []byte(`[{"op":"test","path":"/apps/0/version","value":"1"},{"op":"test","path":"/apps/0/elements/2/key","value":"2"}]`))
	if got := keysOf(t, same); err != nil || same.Version != vitrine.NewVersion(1) || !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("a patch without effect: version %s with the keys %q, %v", same.Version, got, err)
	}
	next, err := w.Patch(ctx, designer, "7", []byte(`[{"op":"test","path":"/apps/0/version","value":"1"},{"op":"move","from":"/apps/0/elements/1","path":"/apps/0/elements/0"},{"op":"replace","path":"/apps/0/elements/2/config/a","value":6}]`))
	if got := keysOf(t, next); err != nil || !slices.Equal(got, []string{"2.0", "2.1", "2.2"}) {
		t.Errorf("the next version has the keys %q, %v", got, err)
	}
	for v, want := range []string{"0 1", "0 1 2", "2.0 2.1 2.2"} {
		app, err := w.Version(ctx, designer, "7", vitrine.NewVersion(v))
		if got := strings.Join(keysOf(t, app), " "); err != nil || got != want {
			t.Errorf("version %d has the keys %s, %v, want %s", v, got, err, want)
		}
	}
	for _, test := range []struct {
		from, to int
		want     []string
	}{
		{0, 1, []string{`{"op":"remove","path":"/apps/0/elements/1"}`, `{"op":"add","path":"/apps/0/elements/0","value":{"component":{"name":"any","version":"1"},"config":{"a":0}}}`, `{"op":"add","path":"/apps/0/elements/2","value":{"component":{"name":"any","version":"1"},"config":{"a":5}}}`}},
		{1, 2, []string{`{"op":"move","from":"/apps/0/elements/1","path":"/apps/0/elements/0"}`, `{"op":"replace","path":"/apps/0/elements/2/config/a","value":6}`}},
	} {
		d, err := w.Diff(ctx, designer, "7", vitrine.NewVersion(test.from), vitrine.NewVersion(test.to))
		if err != nil {
			t.Fatal(err)
		}
		if got := operations(t, d); !slices.Equal(got, test.want) {
			t.Errorf("from %d to %d: got\n%s\nwant\n%s", test.from, test.to, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}
