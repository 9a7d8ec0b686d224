package appsvc_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// auditedStore has two apps, one with three versions and a tag that has moved, and a component.
func auditedStore(t *testing.T) storage.Store {
	ctx, db, made, now := context.Background(), memory.New(), 0, time.UnixMilli(1_700_000_000_000)
	t.Cleanup(func() { db.Close() })
	svc := appsvc.New(db, &appsvc.Options{
		NewID: func() string { made++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", made) },
		Now:   func() time.Time { now = now.Add(time.Second); return now },
	})
	manifest := `{"name":"poll","version":"1.0.0","main":"https://example.test/poll.js","configSchema":{}}`
	_, err := svc.As(admin).CreateComponent(ctx, appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest)})
	for i := 0; i < 2 && err == nil; i++ {
		_, err = svc.As(admin).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: "App", Groups: []string{site1}, IdempotencyKey: fmt.Sprint("key", i)})
	}
	const id = "00000000-0000-4000-8000-000000000002"
	for i := 0; i < 2 && err == nil; i++ {
		patch := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"add",`+
			`"path":"/apps/0/elements/-","value":{"component":{"name":"poll","version":"1.0.0"},"config":{"n":%d}}}]`,
			i, i)
		_, err = svc.As(admin).Patch(ctx, id, strings.NewReader(patch))
	}
	if err == nil {
		_, err = svc.As(admin).Restore(ctx, appsvc.RestoreRequest{AppID: id, Version: vitrine.NewVersion(1)})
	}
	for i := int64(0); i < 2 && err == nil; i++ {
		_, err = svc.As(admin).PutTag(ctx,
			appsvc.PutTagRequest{AppID: id, Name: "live", Version: vitrine.NewVersion(i)})
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func auditOf(t *testing.T, db storage.Store) (faults []string) {
	for f, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(context.Background(), db) {
		if err != nil {
			t.Fatal(err)
		}
		faults = append(faults, f.String())
	}
	return faults
}

func TestTheAuditFindsWhatNoServiceWrites(t *testing.T) {
	if faults := auditOf(t, auditedStore(t)); faults != nil {
		t.Fatal(faults)
	}
	const first, second = "00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000003"
	whole := func(body string) string { return body + "\x00\x00\x00\x00" } // a value of body/ without a history
	const body = `{"title":"App","owner":{"urn":"` + network + `:user=admin"},"groups":["` + site1 + `"],"elements":[]}`
	// an old text is replaced, "" is the whole value; new "-" deletes
	for name, c := range map[string]struct{ key, old, new, says string }{
		"no counter":               {"counter", "", "-", "want 1 to 0"},
		"one number for two lists": {"list/owner x", "", "2", "has the number 2"},
		"a number that is none":    {"list/owner x", "", "x", "damaged"},

		"no manifest":                {"manifest/poll 1.0.0", "", "-", "its manifest"},
		"a manifest of another":      {"manifest/poll 1.0.0", "1.0.0", "1.0.1", "not the same in the manifest"},
		"a manifest in another form": {"manifest/poll 1.0.0", `{"name"`, `{ "name"`, "not in the form"},
		"a manifest too many":        {"manifest/poll 2.0.0", "", "{}", "2 entries, and 1"},
		"no id of a component":       {"id/00000000-0000-4000-8000-000000000001", "", "-", "is missing"},
		"an id of no component":      {"id/none", "", "", "2 entries, and 1"},
		"a component of another name": {"component/poll 1.0.0", `"name":"poll"`, `"name":"poly"`,
			`is version "1.0.0" of "poly"`},
		"a component that cannot be": {"component/poll 1.0.0", `"name"`, `"name`, "damaged"},
		"the number of a list":       {"component/poll 1.0.0", `"number":1`, `"number":2`, "has the number 2"},
		"a component under two names": {"component/poll 2.0.0", "",
			`{"id":"00000000-0000-4000-8000-000000000001","name":"poll","version":"2.0.0","number":1}`, "its manifest"},
		"a number above the counter": {"component/poll 1.0.0", `"number":1`, `"number":99`, "want 1 to "},
		"no head":                    {"head/" + first, "", "-", "and 0 follow"},
		"a head that is none":        {"head/" + first, "{", "", "damaged"},
		"an app without a body":      {"body/" + second, "", "-", "the body is missing"},
		"a body in two places":       {"large/" + second, "", body, "in two places"},
		"a body that is cut":         {"body/" + second, "\x00", "\xff", "damaged"},
		"another owner": {"head/" + second, `"owner":"` + network + `:user=admin"`,
			`"owner":"urn:vitrine:a:user=b"`, "owner is another"},
		"older than the version before": {"head/" + first, `"updatedAt":17`, `"updatedAt":16`,
			"updatedAt is later than in the version after it"},
		"older than the app": {"head/" + second, `"updatedAt":17`, `"updatedAt":16`,
			"version 0 is older than the app"},
		"a version that is not there":   {"head/" + second, `"version":0`, `"version":1`, "version"},
		"groups that are not the app's": {"head/" + second, site1, network, "not those of the body"},
		"components that are none": {"head/" + second, `"components":`,
			`"components":[{"name":"poll","versions":["1.0.0"]}],"x":`, "not those of the body"},
		"another title":                 {"head/" + second, `"title":"App"`, `"title":"Ape"`, "not those of the body"},
		"a word of no title":            {"word/ape " + second, "", "", `"apps word/"`},
		"an app that is there, deleted": {"deleted/" + second, "", `{"version":0,"deletedAt":1}`, "there and deleted"},
		"a note of no version":          {"note/" + first + " a9", "", "x", "is no note"},
		"lists of others":               {"head/" + second, `"lists":[`, `"lists":[1,`, "the lists are"},
		"no such id":                    {"head/a b\x00", "", `{"version":0}`, "the key has 2 parts, want 1"},

		"a body in another form": {"body/" + second, "", whole(strings.Replace(body, ":", ": ", 1)), "not in the form"},
		"a body without a title": {"body/" + second, "", whole(strings.Replace(body, "title", "name", 1)), "version 0"},
		"a title that is blank":  {"body/" + second, "", whole(strings.Replace(body, "App", "", 1)), "title"},
		"a group that is none":   {"body/" + second, "", whole(strings.Replace(body, site1, "x", 1)), "groups"},
		"an element that is none": {"body/" + second, "", whole(strings.Replace(body, `"elements":[]`,
			`"elements":[{"id":"0","key":"0.0","component":{"name":"poll"},"config":{}}]`, 1)), "element 0: component"},

		"languages that are none":       {"languages", "", `{"languages":["EN"]}`, "none that a service stores"},
		"languages that cannot be read": {"languages", "", `{`, "damaged"},
		"a language of no version":      {"spoken/de " + second, "", "", "1 entries, and 0"},

		"a history above the latest":      {"history/" + first + " a9", "", "x", "the latest version is 3"},
		"a history of no app":             {"history/none a0", "", "x", "2 entries, and 1"},
		"a history without its beginning": {"history/" + first + " a0", "", "-", "version"},
		"restored from itself":            {"restored/" + first + " a3", "", "3", "want an older one"},
		"restored, and not there": {"restored/" + first + " a4", "", "1",
			"want an older one, and the latest is 3"},
		"a tag of no version": {"tag/" + first + " live", "", "4", "the latest is 3"},
		"a tag that is elsewhere": {"tag/" + first + " live", "", "2",
			"the last move leads to version 1, and the tag points to 2"},
		"a tag that is gone":             {"tag/" + first + " live", "", "-", "and the tag points to -1"},
		"a tag of another name":          {"tag/" + first + " a/b", "", "0", "no tag can have this name"},
		"a tag of no app":                {"tag/none live", "", "0", "and 1 follow"},
		"a tag that has moved in secret": {"moved/" + first + " live", "", "-", "is missing, and the tag has moves"},
		"a tag that has not moved":       {"moved/" + first + " other", "", "", "no moves of the tag"},
		"a move from elsewhere": {"move/" + first + " live a2", `"from":0`, `"from":2`,
			"comes from version 2, and the move before leads to 0"},
		"a move to where it is": {"move/" + first + " live a2", `"to":1`, `"to":0`, "the same"},
		"a move to no version":  {"move/" + first + " live a2", `"to":1`, `"to":9`, "the latest is 3"},
		"a move before the one before": {"move/" + first + " live a2", `"at":17`, `"at":16`,
			"earlier than that of the move before"},
		"a move that is missing":           {"move/" + first + " live a1", "", "-", "want the number 1"},
		"a move that is none":              {"move/" + first + " live a2", "{", "", "damaged"},
		"not in a list by update":          {"updated/", "", "-", "is missing"},
		"not in a list by creation":        {"created/", "", "-", "is missing"},
		"not among the users":              {"used/", "", "-", "is missing"},
		"twice in a list by update":        {"updated/a2 m1700000009999 " + first, "", "", "entries, and "},
		"in a list of others":              {"created/a1 m1700000009999 " + first, "", "", "entries, and "},
		"among the users and uses nothing": {"used/a2 " + second, "", "", "2 entries, and 1"},
		"a key without an app's tag":       {"tag/" + first, "", "1", "2 entries, and 1"},
		"a tag that has moved to a value":  {"moved/" + first + " live", "", "1", "has a value"},
		"a record of no kind":              {"tags/x", "", "", "no kind of records"},
	} {
		ctx, db := context.Background(), auditedStore(t)
		err := db.Update(ctx, "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
			at := storage.Entry{Key: "apps " + c.key}
			for e, err := range tx.Scan(ctx, storage.Prefix(at.Key)) {
				if err != nil {
					return err
				}
				if c.new == "-" || c.old != "" || e.Key == at.Key {
					at = e
				}
				break
			}
			if c.new == "-" {
				return tx.Delete(ctx, at.Key)
			}
			value := strings.Replace(string(at.Value), c.old, c.new, 1)
			if c.old == "" {
				value = c.new
			} else if value == string(at.Value) {
				return fmt.Errorf("%q has no %q: %q", at.Key, c.old, at.Value)
			}
			return tx.Put(ctx, storage.Entry{Key: at.Key, Value: []byte(value)})
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if faults := auditOf(t, db); !strings.Contains(strings.Join(faults, "\n"), c.says) {
			t.Errorf("%s: the audit finds %q, want %q", name, faults, c.says)
		}
	}
}
