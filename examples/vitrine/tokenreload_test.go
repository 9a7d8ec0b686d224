package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// Keys are changed without a moment in which good tokens fail.
func TestKeysAreReadAgainAtHangup(t *testing.T) {
	const first, second = "the first key, 32 bytes long....", "the second key, 32 bytes long..."
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "keys"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(first)
	s := start(t, dir, nil, "-db", "memory:", "-key-file", "keys")
	sign := func() string { return newToken(t, dir, nil, "-db", "memory:", "-key-file", "keys") }
	byFirst := sign()
	s.do(byFirst, "GET", "/apps/", "", 200)

	write(second + "\n" + first + "\n")
	s.hangup("read again")
	bySecond := sign()
	s.do(byFirst, "GET", "/apps/", "", 200)
	s.do(bySecond, "GET", "/apps/", "", 200)

	write("a key that is too short")
	s.hangup("stay as they were")
	if err := os.Remove(filepath.Join(dir, "keys")); err != nil {
		t.Fatal(err)
	}
	s.hangup("stay as they were")
	s.do(byFirst, "GET", "/apps/", "", 200)
	s.do(bySecond, "GET", "/apps/", "", 200)

	in := s.stream(byFirst, "")
	write(second)
	s.hangup("read again")
	begun := time.Now()
	// all streams are checked each minute
	if rest, err := io.ReadAll(in); err != nil || time.Since(begun) > 30*time.Second {
		t.Errorf("a stream whose token is not valid any more ends after %s: %q, %v", time.Since(begun), rest, err)
	}
	s.do(byFirst, "GET", "/apps/", "", 401)
	s.do(bySecond, "GET", "/apps/", "", 200)
	if log := s.stderr.String(); strings.Contains(log, "no key from before") {
		t.Errorf("a key from before was left: %s", log)
	}
	write("the third key, 32 bytes long....")
	s.hangup("read again")
	s.logs("no key from before is left")
	s.stop()
}

// A key that is appended to the file beside a store stands on a line of its own.
func TestAKeyIsAppended(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	old := newToken(t, dir, nil, "-db", "v.db")
	f, err := os.OpenFile(filepath.Join(dir, "v.db.key"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	const key = "the second key, 32 bytes long..."
	_, err = f.WriteString(key + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	s.hangup("read again")
	tokens, err := httpapi.NewTokens([]byte(key), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.logs(" " + tokens.KeyIDs()[0])
	s.do(old, "GET", "/apps/", "", 200)
	s.do(newToken(t, dir, []string{"VITRINE_KEY=" + key}, "-db", "v.db"), "GET", "/apps/", "", 200)
	s.stop()
}
