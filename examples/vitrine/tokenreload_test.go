package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
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
	if rest, err := io.ReadAll(in); err != nil || time.Since(begun) > 30*time.Second { // all streams are checked each minute
		t.Errorf("a stream whose token is not valid any more ends after %s: %q, %v", time.Since(begun), rest, err)
	}
	s.do(byFirst, "GET", "/apps/", "", 401)
	s.do(bySecond, "GET", "/apps/", "", 200)
	s.stop()
}
