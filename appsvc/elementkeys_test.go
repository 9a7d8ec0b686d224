package appsvc_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
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
		{`{"op":"copy","from":"` + at + `0","path":"` + at + `1"},{"op":"replace","path":"` + at +
			`0/config/a","value":8}`, "0.2 3.1 0.0 0.1"},
		{`{"op":"remove","path":"` + at + `0"}`, "3.1 0.0 0.1"},
		{`{"op":"add","path":"` + at + `0","value":{"component":{"name":"any","version":"1"},"config":{}}}`,
			"5.0 3.1 0.0 0.1"},
		{`{"op":"replace","path":"` + at + `0/component/name","value":"text"},{"op":"replace","path":"` + at +
			`0/component/version","value":"1.0.0"}`, "5.0 3.1 0.0 0.1"},
	} {
		app, err := w.As(designer).Patch(ctx, id,
			strings.NewReader(fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},%s]`, i, step.patch)))
		if err != nil {
			t.Fatal(err)
		}
		read, err := w.As(designer).App(ctx, id)
		if got := strings.Join(keysOf(t, app), " "); err != nil || got != step.want ||
			string(read.Body) != string(app.Body) {
			t.Errorf("after %s the keys are %s, %v, want %s", step.patch, got, err, step.want)
		}
	}
	restored, err := w.As(designer).Restore(ctx, appsvc.RestoreRequest{AppID: id, Version: vitrine.NewVersion(2)})
	if got := strings.Join(keysOf(t, restored), " "); err != nil || got != "0.2 0.0 0.1" {
		t.Errorf("the restored version has the keys %s, %v", got, err)
	}
}
