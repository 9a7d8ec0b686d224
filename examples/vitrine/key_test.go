package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestSigningKeys(t *testing.T) {
	t.Run("the file is made once, for its owner only", func(t *testing.T) {
		dir := reviewFiles(t)
		var building sync.WaitGroup
		for range 8 {
			building.Go(func() {
				out := run(t, dir, nil, "reviews", "import", "-db", "v.db", "good")
				if out.status != 0 || out.stderr != "" {
					t.Errorf("%+v", out)
				}
			})
		}
		building.Wait()
		first, err := os.ReadFile(filepath.Join(dir, "v.db.key"))
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "v.db.key"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "v.db.key?*")); err != nil || len(left) != 0 {
			t.Errorf("left beside the key: %v, %v", left, err)
		}
		token := newToken(t, dir, nil, "-db", "v.db")
		s := start(t, dir, nil, "-db", "v.db", "-new-keys")
		s.do(token, "GET", "/apps/", "", 200)
		if second, _ := os.ReadFile(filepath.Join(dir, "v.db.key")); !bytes.Equal(first, second) {
			t.Error("the key changed")
		}
	})
	t.Run("it belongs to a store", func(t *testing.T) {
		dir := t.TempDir()
		refused := func(says string, args ...string) {
			t.Helper()
			out := run(t, dir, nil, args...)
			if out.status != 2 || out.stdout != "" || strings.Count(out.stderr, "\n") != 1 ||
				!strings.Contains(out.stderr, says) {
				t.Errorf("%v: %+v", args, out)
			}
		}
		sign, serve := append([]string{"token", "-db", "v.db"}, editor...),
			[]string{"serve", "-db", "v.db", "-addr", "127.0.0.1:0"}
		refused("there is no store at v.db", sign...)
		if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
			t.Errorf("token left %v, %v", files, err)
		}
		start(t, dir, nil, "-db", "v.db").stop()
		old := newToken(t, dir, nil, "-db", "v.db")
		if err := os.Remove(filepath.Join(dir, "v.db.key")); err != nil {
			t.Fatal(err)
		}
		refused("there is no key file v.db.key: if the server has its keys elsewhere", sign...)
		refused("-new-keys", serve...)
		if _, err := os.Stat(filepath.Join(dir, "v.db.key")); err == nil {
			t.Error("a key was made for a store that had one")
		}
		s := start(t, dir, nil, "-db", "v.db", "-new-keys")
		s.do(old, "GET", "/apps/", "", 401)
		s.do(newToken(t, dir, nil, "-db", "v.db"), "GET", "/apps/", "", 200)
		for _, elsewhere := range [][]string{{"-key-file", "v.db.key"}, {"-db", "memory:"}} {
			out := run(t, dir, nil, append(append(serve, "-new-keys"), elsewhere...)...)
			if out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, "-new-keys makes") {
				t.Errorf("%v: %+v", elsewhere, out)
			}
		}
	})
	t.Run("a store that is gone is not made anew beside the note of its copy", func(t *testing.T) {
		dir := t.TempDir()
		s := start(t, dir, nil, "-db", "v.db")
		s.logs("level=WARN msg=\"no store was there, so this is a new, empty one")
		if out := run(t, dir, nil, "backup", "-db", "v.db", "c.db"); out.status != 0 {
			t.Errorf("%+v", out)
		}
		s.stop()
		again := start(t, dir, nil, "-db", "v.db")
		again.stop()
		if strings.Contains(again.stderr.String(), "no store was there") {
			t.Error("it warns of a store that was there")
		}
		if err := os.Remove(filepath.Join(dir, "v.db")); err != nil {
			t.Fatal(err)
		}
		lost := regexp.MustCompile(`there is no store at v\.db, but there was one, since v\.db\.copied is there: .* ` +
			`\(vitrine (restore -db v\.db \S+)\)`)
		var back []string
		for command, status := range map[string]int{"serve": 2, "reviews import": 2, "check": 2, "doctor": 1,
			"invite -name Ann": 1} {
			args := append(strings.Fields(command), "-db", "v.db")
			switch command {
			case "serve":
				args = append(args, "-addr", "127.0.0.1:0")
			case "reviews import":
				args = append(args, os.DevNull)
			}
			out := run(t, dir, nil, args...)
			if back = lost.FindStringSubmatch(out.stdout + out.stderr); out.status != status || back == nil {
				t.Fatalf("%s: %+v", command, out)
			}
		}
		if out := run(t, dir, nil, strings.Fields(back[1])...); out.status != 0 {
			t.Errorf("%+v", out)
		}
		start(t, dir, nil, "-db", "v.db").stop()
		for _, name := range []string{"v.db", "v.db.copied"} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		s = start(t, dir, nil, "-db", "v.db") // with the key that was there
		s.logs("no store was there")
		s.stop()
	})
	t.Run("who has keys elsewhere gets none beside the store", func(t *testing.T) {
		dir := reviewFiles(t)
		for i, env := range []string{"VITRINE_KEY=0123456789abcdef0123456789abcdef", "VITRINE_KEY_FILE=elsewhere"} {
			db := fmt.Sprintf("v%d.db", i)
			if out := run(t, dir, []string{env}, "reviews", "import", "-db", db, "good"); out.status != 0 {
				t.Errorf("%+v", out)
			}
			if _, err := os.Stat(filepath.Join(dir, db+".key")); err == nil {
				t.Errorf("%s: a key was made", env)
			}
		}
	})
	t.Run("a variable or a file may hold it", func(t *testing.T) {
		dir := t.TempDir()
		variable := []string{"VITRINE_KEY=0123456789abcdef0123456789abcdef"}
		if err := os.WriteFile(filepath.Join(dir, "k"), []byte("0123456789abcdef0123456789abcdef\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
		s := start(t, dir, variable, "-db", "memory:")
		s.do(newToken(t, dir, variable), "GET", "/apps/", "", 200)
		s.do(newToken(t, dir, nil, "-key-file", "k", "-db", "memory:"), "GET", "/apps/", "", 200)
		if err := os.WriteFile(filepath.Join(dir, "other"), []byte("another key that is 32 bytes long\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
		s.do(newToken(t, dir, nil, "-key-file", "other", "-db", "memory:"), "GET", "/apps/", "", 401)
		out := run(t, dir, variable, append([]string{"token", "-key-file", "k"}, editor...)...)
		if out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, "VITRINE_KEY") {
			t.Errorf("both: %+v", out)
		}
	})
	t.Run("a file may hold several, of which the first signs", func(t *testing.T) {
		dir := t.TempDir()
		const first, second = "the first key, 32 bytes long....", "the second key, 32 bytes long..."
		for name, text := range map[string]string{
			"old": first, "both": " " + second + "\r\n\n" + first + "\n",
			"new": second + "\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		byOld := newToken(t, dir, nil, "-key-file", "old", "-db", "memory:")
		byBoth := newToken(t, dir, nil, "-key-file", "both", "-db", "memory:")
		between := start(t, dir, nil, "-key-file", "both", "-db", "memory:")
		between.do(byOld, "GET", "/apps/", "", 200)
		between.do(byBoth, "GET", "/apps/", "", 200)
		after := start(t, dir, nil, "-key-file", "new", "-db", "memory:")
		after.do(byOld, "GET", "/apps/", "", 401)
		after.do(byBoth, "GET", "/apps/", "", 200)
	})
	t.Run("others than the owner may not have to do with it", func(t *testing.T) {
		dir := t.TempDir()
		start(t, dir, nil, "-db", "v.db").stop()
		file := filepath.Join(dir, "v.db.key")
		for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o601, 0o644} {
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"serve", "-addr", "127.0.0.1:0"}, append([]string{"token"}, editor...)} {
				out := run(t, dir, nil, append(args, "-db", "v.db")...)
				if out.status != 1 || out.stdout != "" || !strings.Contains(out.stderr, "chmod 600 v.db.key") {
					t.Errorf("%v, mode %o: %+v", args[0], mode, out)
				}
			}
			out := run(t, dir, nil, append([]string{"token", "-key-file", "v.db.key", "-db", "memory:"}, editor...)...)
			if out.status != 0 || !strings.Contains(out.stderr, "warning") || strings.Count(out.stdout, "\n") != 1 {
				t.Errorf("as -key-file, mode %o: %+v", mode, out)
			}
		}
		if err := os.Chmod(file, 0o400); err != nil {
			t.Fatal(err)
		}
		out := run(t, dir, nil, append([]string{"token", "-key-file", "v.db.key", "-db", "memory:"}, editor...)...)
		if out.status != 0 || strings.Contains(out.stderr, "warning") {
			t.Errorf("mode 400: %+v", out)
		}
		newToken(t, dir, nil, "-db", "v.db")
	})
	t.Run("it must be there and long enough", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "short"), []byte("a key that has only 31 bytes..."),
			0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			env  []string
			args []string
			word string
		}{
			{nil, []string{"-db", "memory:"}, "-key-file"}, {nil, []string{"-key-file", "empty"}, "there is no key"},
			{[]string{"VITRINE_KEY=a key that has only 31 bytes..."}, nil, "too short"},
			{nil, []string{"-key-file", "no/such/dir"}, "no/such/dir"},
			{nil, []string{"-key-file", "mistyped"}, "mistyped"},
			{[]string{"VITRINE_KEY=a key that has only 31 bytes..."}, nil, "VITRINE_KEY"},
			{nil, []string{"-key-file", "short"}, "the key file short"},
		} {
			out := run(t, dir, c.env, append(append([]string{"token"}, editor...), c.args...)...)
			if out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, c.word) {
				t.Errorf("%v %v: %+v", c.env, c.args, out)
			}
			if slices.Contains(c.args, "-db") {
				continue
			}
			out = run(t, dir, c.env, append([]string{"serve", "-addr", "127.0.0.1:0", "-db", "memory:"}, c.args...)...)
			if out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, c.word) {
				t.Errorf("serve %v %v: %+v", c.env, c.args, out)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "mistyped")); err == nil {
			t.Error("a key file was made by a name that was given")
		}
	})
}

func TestTokensExpire(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	s.do(newToken(t, dir, nil, "-db", "v.db", "-ttl", "1ms"), "GET", "/apps/", "", 401)
	s.do(newToken(t, dir, nil, "-db", "v.db", "-ttl", "1m"), "GET", "/apps/", "", 200)
	s.do("", "GET", "/healthz", "", 200)
}

// A right over the whole store is signed knowingly.
func TestATokenOfTheWholeStoreIsToldSo(t *testing.T) {
	dir := t.TempDir()
	start(t, dir, nil, "-db", "v.db").stop()
	out := run(t, dir, nil, append([]string{"token", "-db", "v.db"}, editor...)...)
	if !strings.Contains(out.stderr, "whole store") || out.status != 0 || strings.Count(out.stdout, "\n") != 1 {
		t.Errorf("with -components: %+v", out)
	}
	out = run(t, dir, nil, "token", "-db", "v.db", "-urn", "urn:vitrine:example.test:user=x")
	if out.stderr != "" || out.status != 0 {
		t.Errorf("without: %+v", out)
	}
}
