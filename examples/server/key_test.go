package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestSigningKeys(t *testing.T) {
	t.Run("the file is made once, for its owner only", func(t *testing.T) {
		dir := t.TempDir()
		var made sync.WaitGroup
		for range 8 {
			made.Go(func() { newToken(t, dir, nil, "-db", "v.db") })
		}
		made.Wait()
		first, err := os.ReadFile(filepath.Join(dir, "v.db.key"))
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "v.db.key"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 1 {
			t.Errorf("left beside the key: %v, %v", files, err)
		}
		token := newToken(t, dir, nil, "-db", "v.db")
		if second, _ := os.ReadFile(filepath.Join(dir, "v.db.key")); !bytes.Equal(first, second) {
			t.Error("the key changed")
		}
		s := start(t, dir, nil, "-db", "v.db")
		s.do(token, "GET", "/apps/", "", 200)
	})
	t.Run("a variable or a file may hold it", func(t *testing.T) {
		dir := t.TempDir()
		variable := []string{"VITRINE_KEY=0123456789abcdef0123456789abcdef"}
		if err := os.WriteFile(filepath.Join(dir, "k"), []byte("0123456789abcdef0123456789abcdef\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := start(t, dir, variable, "-db", "memory:")
		s.do(newToken(t, dir, variable), "GET", "/apps/", "", 200)
		s.do(newToken(t, dir, nil, "-key-file", "k", "-db", "memory:"), "GET", "/apps/", "", 200)
		s.do(newToken(t, dir, nil, "-db", "v.db"), "GET", "/apps/", "", 401)
		other := []string{"VITRINE_KEY=another key, that the file goes before"}
		s.do(newToken(t, dir, other, "-key-file", "k"), "GET", "/apps/", "", 200)
	})
	t.Run("it must be there and long enough", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "short"), []byte("short"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			env  []string
			args []string
			word string
		}{
			{nil, []string{"-db", "memory:"}, "-key-file"}, {nil, []string{"-key-file", "empty"}, "empty"},
			{[]string{"VITRINE_KEY=short"}, nil, "too short"}, {nil, []string{"-key-file", "no/such/dir"}, "no/such/dir"},
			{nil, []string{"-key-file", "mistyped"}, "mistyped"},
			{[]string{"VITRINE_KEY=short"}, nil, "VITRINE_KEY"}, {nil, []string{"-key-file", "short"}, "the key file short"},
		} {
			out := run(t, dir, c.env, append(append([]string{"token"}, editor...), c.args...)...)
			if out.status != 1 || out.stdout != "" || !strings.Contains(out.stderr, c.word) {
				t.Errorf("%v %v: %+v", c.env, c.args, out)
			}
			if slices.Contains(c.args, "-db") {
				continue
			}
			out = run(t, dir, c.env, append([]string{"serve", "-addr", "127.0.0.1:0", "-db", "memory:"}, c.args...)...)
			if out.status != 1 || out.stdout != "" || !strings.Contains(out.stderr, c.word) {
				t.Errorf("serve %v %v: %+v", c.env, c.args, out)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "mistyped")); err == nil {
			t.Error("a key file was made by a name that was given")
		}
	})
	t.Run("making it is told once", func(t *testing.T) {
		dir := t.TempDir()
		made := func(args ...string) bool {
			out := run(t, dir, nil, append(append([]string{"token"}, editor...), args...)...)
			if strings.Count(out.stdout, "\n") != 1 {
				t.Errorf("%+v", out)
			}
			return strings.Count(out.stderr, "\n") == 1 && strings.Contains(out.stderr, "made the key file v.db.key; there is no store beside it yet")
		}
		if !made("-db", "v.db") {
			t.Error("a new key is not told")
		}
		if made("-db", "v.db") {
			t.Error("a key that was there is told")
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
