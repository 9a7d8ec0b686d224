package appsvc

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
)

// What a patch does not reach is left out of the document that it is applied to. That must not
// show: random patches have the same outcome on the whole document.
func TestReachDoesNotShow(t *testing.T) {
	element := func(i int) string {
		return fmt.Sprintf(`{"id":"%d","key":"0.0","component":{"name":"c%d","version":"1","id":"x","description":null,"main":"m","configSchema":{}},"config":{"a":%d,"b":[1,{"c":null}]}}`, i, i, i)
	}
	app := App{Meta: Meta{ID: "id", Version: vitrine.NewVersion(0), Owner: "o", UpdatedBy: "o"},
		Body: Body(`{"title":"t","owner":{"urn":"o"},"groups":["g"],"elements":[` + element(0) + "," + element(1) + "," + element(2) + `]}`)}
	body, elements, err := app.Body.membersAndElements()
	if err != nil {
		t.Fatal(err)
	}
	old, err := storedDraft(body, elements)
	if err != nil {
		t.Fatal(err)
	}
	outcome := func(ops []jsonpatch.Op, reached []bool) (string, draft) {
		before := document(app.Meta, body, elements, reached)
		after, err := jsonpatch.Apply(before, ops, jsonpatch.Limits{Document: 1 << 20, Looks: 1 << 24, Moves: 1 << 20})
		if err != nil {
			return "does not apply", draft{}
		}
		d, err := resultDraft(before, after, old, reached)
		if err != nil {
			return err.Error(), draft{}
		}
		return "", d
	}
	const seed = 1
	r := rand.New(rand.NewPCG(seed, seed))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	pointer := func() string {
		p := pick("", "/apps", "/apps/0", "/apps/0", "/apps/1", "/apps/-") // and mostly:
		if r.IntN(8) > 0 {
			p = "/apps/0" + pick("/title", "/groups/0", "/elements", "/elementsX", "/owner")
			if r.IntN(4) > 0 {
				p = elementsPath + "/" + pick("0", "1", "2", "3", "00", "-", "", "-1", "+1") + pick("", "/config", "/config/a", "/config/b/1", "/config/b/-", "/component/version", "/id", "/")
			}
		}
		return p
	}
	narrowed, changed := 0, 0
	for range 800 {
		var ops []jsonpatch.Op
		for range 1 + r.IntN(4) {
			path, from := pointer(), pointer()
			value := json.RawMessage(pick(`1`, `"x"`, `null`, `[]`, `{"a":0}`, element(1), `"2"`))
			ops = append(ops, jsonpatch.Op{Op: pick("add", "remove", "replace", "move", "copy", "test"), Path: &path, From: &from, Value: value})
		}
		reached := reachedElements(ops, len(old.elements))
		said, d := outcome(ops, reached)
		wantSaid, want := outcome(ops, nil)
		if said != wantSaid || !reflect.DeepEqual(d, want) {
			text, _ := json.Marshal(ops)
			t.Fatalf("seed %d: %s\nreaches %v: %q %v\nwant %q %v", seed, text, reached, said, d, wantSaid, want)
		}
		if reached != nil {
			narrowed++
			if said == "" && !d.sameContent(old) {
				changed++
			}
		}
	}
	if narrowed < 50 || changed < 5 {
		t.Errorf("only %d patches were narrowed, %d of them changed something", narrowed, changed)
	}
}
