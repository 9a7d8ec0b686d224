package signin_test

import (
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/storage"
)

// Records that contradict each other are found, and those that this package writes do not.
func TestAudit(t *testing.T) {
	w := newWorld(t, localBase)
	admin := w.invited("Admin", signin.Rights{Admin: true})
	admin.want(201, "POST", "/x/keys/", object{"name": "k", "kind": "secret"})
	admin.want(201, "POST", "/x/keys/",
		object{"name": "k", "kind": "public", "reads": []string{network}, "tags": []string{"live"}})
	id := admin.want(201, "POST", "/x/people/", object{"name": "Bea"}).text("id")
	admin.want(201, "POST", "/x/people/"+id+"/invite", object{})
	faults := func() (n int) {
		for fault, err := range signin.Maintenance(true).Audit(t.Context(), w.db) {
			if err != nil {
				t.Fatal(err)
			}
			if fault.Key != "" {
				n++
			}
		}
		return n
	}
	if n := faults(); n != 0 {
		t.Fatalf("%d faults", n)
	}
	for key, value := range everything(t, w.db) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(key, "people "), "/")
		if !strings.HasPrefix(key, "people ") || kind == "invitation" || kind == "subject" || kind == "feed" {
			continue
		}
		update := func(fn func(storage.Tx) error) {
			if err := w.db.Update(t.Context(), "people", storage.UpdateOptions{}, fn); err != nil {
				t.Fatal(err)
			}
		}
		update(func(tx storage.Tx) error { return tx.Delete(t.Context(), key) })
		if n := faults(); n == 0 && kind != "session" && kind != "key" && kind != "indexed" {
			t.Errorf("nothing is wrong without %s", key)
		}
		update(func(tx storage.Tx) error {
			return tx.Put(t.Context(), storage.Entry{Key: key, Value: []byte(value)},
				storage.Entry{Key: "people other/x"})
		})
		if faults() == 0 {
			t.Error("an unknown kind is taken")
		}
		update(func(tx storage.Tx) error { return tx.Delete(t.Context(), "people other/x") })
	}
}
