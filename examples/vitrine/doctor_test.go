package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// doctor knows what a helper asks for, says no secret, and finds what is wrong, with or without a server.
func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	to, _ := receiver(t)
	writeHooks(t, dir, 0o600, hook("cdn", to.URL+"/hook", ""))
	s := start(t, dir, nil, "-db", "v.db", "-webhooks", "hooks.json", "-webhooks-allow", "127.0.0.0/8")
	token := newToken(t, dir, nil, "-db", "v.db")
	s.create(token)
	look := func(status int, more ...string) (facts map[string]any, problems string) {
		t.Helper()
		out := run(t, dir, nil, append([]string{"doctor", "-json"}, more...)...)
		if err := json.Unmarshal([]byte(out.stdout), &facts); err != nil || out.status != status {
			t.Fatalf("%v: %v: %+v", more, err, out)
		}
		list, _ := facts["problems"].([]any)
		for _, one := range list {
			problems += one.(string) + "\n"
		}
		return facts, problems
	}
	facts, _ := look(0, "-db", "v.db")
	for _, name := range []string{"version", "system", "time", "store", "kind", "format", "bytes", "logBytes", "mode",
		"lastCopy", "feed", "webhooks", "keys", "baseURL", "server", "clock", "problems"} {
		if facts[name] == nil {
			t.Errorf("no %s in %v", name, facts)
		}
	}
	if facts["kind"] != "SQLite" || facts["format"] != "101" ||
		!strings.HasPrefix(facts["feed"].(string), "change 1,") ||
		!strings.HasPrefix(facts["server"].(string), "answers 200 OK") ||
		facts["webhooks"].(map[string]any)["cdn"] == nil || facts["lastCopy"] != "none is known" {
		t.Errorf("%v", facts)
	}
	out := run(t, dir, nil, "doctor", "-db", "v.db")
	key := strings.TrimSpace(readFile(t, dir, "v.db.key"))
	secret := regexp.MustCompile(`whsec_[^"]+`).FindString(readFile(t, dir, "hooks.json"))
	if out.status != 0 || !strings.Contains(out.stdout, "\nkeys           "+facts["keys"].(string)+"\n") ||
		strings.Contains(out.stdout, key) || secret == "" || strings.Contains(out.stdout, secret) {
		t.Errorf("%+v", out)
	}
	s.stop()
	if facts, _ := look(0, "-db", "v.db"); !strings.HasPrefix(facts["server"].(string), "does not answer: ") {
		t.Errorf("without a server: %v", facts)
	}
	if _, problems := look(1, "-db", "v.db", "-base-url", "http://host.invalid"); !strings.Contains(problems,
		"host.invalid") {
		t.Error(problems)
	}
	if _, problems := look(1, "-db", "v.db", "-tls-cert", "v.db"); !strings.Contains(problems, "no certificate") {
		t.Error(problems)
	}
	// A local server that listens has no right certificate.
	local := httptest.NewUnstartedServer(http.NotFoundHandler())
	local.Config.ErrorLog = log.New(io.Discard, "", 0)
	local.StartTLS()
	defer local.Close()
	if _, problems := look(1, "-db", "v.db", "-base-url", local.URL); !strings.Contains(problems, "certificate") {
		t.Error(problems)
	}
	db, err := sqlite.Open(filepath.Join(dir, "v.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), "webhooks", storage.UpdateOptions{}, func(tx storage.Tx) error {
		for name, until := range map[string]time.Time{"away": time.Now().Add(time.Hour), "removed": time.Now()} {
			value := fmt.Appendf(nil, `{"failed":8,"until":%d}`, until.UnixMilli())
			if err := tx.Put(t.Context(),
				storage.Entry{Key: keyval.Key("webhooks", "position/", name), Value: value}); err != nil {
				return err
			}
		}
		return nil
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, problems := look(1, "-db", "v.db"); !strings.HasPrefix(problems,
		"the receiver of the webhook away takes nothing: 8 attempts failed, the next is at ") ||
		strings.Count(problems, "\n") != 1 {
		t.Error(problems)
	}
	for _, secret := range []string{"http://a:hidden@host.invalid", "http://host.invalid/?a=hidden"} {
		out := run(t, dir, nil, "doctor", "-db", "v.db", "-base-url", secret)
		if out.status != 2 || strings.Contains(out.stdout+out.stderr, "hidden") {
			t.Errorf("%s: %+v", secret, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "v.db"))
	if err != nil {
		t.Fatal(err)
	}
	newer := slices.Clone(text)
	newer[63]++
	for name, c := range map[string]struct {
		content []byte
		problem string
		knows   string // a fact that is there all the same
	}{
		"none.db":  {nil, "a server that still answers has it", "time"},
		"cut.db":   {text[:len(text)-4096], "and: vitrine restore -db cut.db COPY", "bytes"},
		"holes.db": {append(slices.Clone(text[:len(text)/2]), make([]byte, len(text)/2)...), "damaged", "format"},
		"other.db": {[]byte(strings.Repeat("no store. ", 1000)), "not a Vitrine store", "mode"},
		"newer.db": {newer, "of a newer version: its format is 102", "format"},
		"empty.db": {[]byte{}, "it is empty; if there never was a store", "bytes"},
	} {
		if c.content != nil {
			if err := os.WriteFile(filepath.Join(dir, name), c.content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		facts, problems := look(1, "-db", name, "-key-file", "v.db.key")
		if !strings.Contains(problems, c.problem) || facts[c.knows] == nil || strings.Count(problems, "\n") != 1 {
			t.Errorf("%s: %q, %v", name, problems, facts)
		}
	}
	if err := os.Remove(filepath.Join(dir, "v.db.key")); err != nil {
		t.Fatal(err)
	}
	if _, problems := look(1, "-db", "v.db"); !strings.Contains(problems, "there is no key file") {
		t.Error(problems)
	}
}

// doctor says of a PostgreSQL server what it says of a file, as far as the role may see it, and finds what is wrong
// with it.
func TestDoctorOfPostgres(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	c := cluster.New(t, &cluster.Options{Settings: []string{"archive_mode = on", "archive_command = true"}})
	do := func(sql string) {
		t.Helper()
		if err := c.Exec(ctx, "postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	set := func(setting string) {
		t.Helper()
		if err := c.Set(ctx, setting); err != nil {
			t.Fatal(err)
		}
	}
	db := c.URL("postgres")
	env := []string{"VITRINE_KEY=a key of a test of doctor, long enough"}
	s := start(t, dir, env, "-db", db)
	s.create(newToken(t, dir, env, "-db", db))
	s.stop()
	// look waits until doctor finds this to be wrong, nothing else, and the facts match these patterns.
	look := func(db, wrong string, facts map[string]string) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
			out := run(t, dir, env, "doctor", "-json", "-db", db)
			var found map[string]any
			if err := json.Unmarshal([]byte(out.stdout), &found); err != nil || strings.Contains(out.stdout, "hidden") {
				t.Fatalf("%v: %+v", err, out)
			}
			list := found["problems"].([]any)
			ok := len(list) == 0 && wrong == "" ||
				len(list) == 1 && wrong != "" && strings.Contains(list[0].(string), wrong)
			missing := ""
			for name, pattern := range facts {
				if text, _ := json.Marshal(found[name]); !regexp.MustCompile(pattern).Match(text) {
					missing += name + ": " + pattern + "\n"
				}
			}
			if ok && missing == "" {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("want that this is wrong: %q, and\n%sfound %v", wrong, missing, found)
			}
		}
	}
	all := map[string]string{"version": "", "kind": "PostgreSQL", "format": `"3"`, "postgres": `"1[3-9]`,
		"bytes": `^\d{5,}$`, "logBytes": `^\d{8,}$`, "connections": `^"[1-9]\d* of 197 in use"$`,
		"tables": `"vitrine_record":"\d+ kB, rows: about [1-9]\d*, dead rows: \d+, last vacuumed: never"`,
		"feed":   "^.change 1,", "keys": ".{8}", "lastCopy": "WAL, last archived: never",
		"replication": "^.primary, no standby is connected.$"}
	look(db, "", all)
	do("CREATE ROLE plain LOGIN PASSWORD 'hidden'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO plain")
	plain := strings.Replace(db, "user="+cluster.User, "user=plain&password=hidden", 1)
	all["logBytes"] = "null"
	look(plain, "", all)

	set("synchronous_standby_names = 'standby'")
	look(db, "commits wait for a standby", nil)
	standby := c.Standby(t, nil)
	do("CREATE ROLE other")
	look(db, "", map[string]string{"replication": "primary, followed by standby streaming sync .* behind",
		"lastCopy": "WAL, last archived: 20.*Z"})
	look(plain, "", map[string]string{"replication": `primary, followed by standby"`})
	look(standby.URL("postgres"), "", map[string]string{"replication": "standby, last commit replayed: 20.*Z"})
	set("synchronous_standby_names = ''")
	set("archive_command = false")
	do("SELECT pg_switch_wal()")
	look(db, "archiving of WAL failed at 20", nil)
	set("archive_command = true")
	look(db, "", nil)
	set("archive_command = '/none'")
	do("SELECT pg_sleep(1)") // until the archiver knows
	for range 6 {
		do("SELECT pg_switch_wal() FROM pg_create_restore_point('any')")
	}
	look(db, "segments of WAL wait to be archived", nil)
	set("archive_command = true")
	look(db, "", nil)
	set("autovacuum = off")
	look(db, "autovacuum is off", nil)
	do(`ALTER TABLE vitrine_record SET (autovacuum_enabled = off);
		INSERT INTO vitrine_record SELECT convert_to('none ' || n, 'UTF8'), '' FROM generate_series(1, 11000) n;
		DELETE FROM vitrine_record WHERE key >= 'none ' AND key < 'none!'`)
	set("autovacuum = on")
	look(db, "vitrine_record has more dead rows (11", nil)
	do("VACUUM vitrine_record")
	look(db, "", map[string]string{"tables": "vitrine_record.* dead rows: 0, last vacuumed: 20.*Z"})
	do("UPDATE vitrine_format SET number = 4")
	look(db, "changed by a newer release", map[string]string{"format": `"4"`, "tables": "vitrine_record"})
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	look(db, "cannot connect: ", map[string]string{"kind": "PostgreSQL", "keys": ".{8}"})
}
