package main

import (
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
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
	if rest, err := io.ReadAll(in); err != nil || time.Since(begun) > 30*time.Second { // all streams are checked each minute
		t.Errorf("a stream whose token is not valid any more ends after %s: %q, %v", time.Since(begun), rest, err)
	}
	s.do(byFirst, "GET", "/apps/", "", 401)
	s.do(bySecond, "GET", "/apps/", "", 200)
	s.stop()
}

// The old keys are in force until the new ones are. Streams are authenticated again by the new keys, and not a moment before.
func TestStreamsAreCheckedByTheNewKeys(t *testing.T) {
	tokensOf := func(key string) *httpapi.Tokens {
		t.Helper()
		tokens, err := httpapi.NewTokens([]byte(key), nil)
		if err != nil {
			t.Fatal(err)
		}
		return tokens
	}
	first, second := tokensOf("the first key, 32 bytes long...."), tokensOf("the second key, 32 bytes long...")
	token, err := first.Sign(httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=x"}}, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/x/changes", nil)
	r.Header.Set("Authorization", "svctoken "+token)
	tokens := newLiveTokens(first)
	checked := 0
	for _, c := range []struct {
		keys    *httpapi.Tokens
		err     error
		refused bool
	}{{nil, fs.ErrNotExist, false}, {second, nil, true}} {
		err := tokens.read(func() (*httpapi.Tokens, error) {
			if _, err := tokens.Authenticate(r); err != nil {
				t.Errorf("while keys are read, the old token is answered with %v", err)
			}
			return c.keys, c.err
		}, func() {
			checked++
			if _, err := tokens.Authenticate(r); (err != nil) != c.refused {
				t.Errorf("the old token is answered with %v", err)
			}
		})
		if err != c.err {
			t.Error(err)
		}
	}
	if checked != 2 {
		t.Errorf("streams were checked %d times", checked)
	}
}

func TestNoKeyIsMadeAtHangup(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	token := newToken(t, dir, nil, "-db", "v.db")
	if err := os.Remove(filepath.Join(dir, "v.db.key")); err != nil {
		t.Fatal(err)
	}
	s.hangup("stay as they were")
	if _, err := os.Stat(filepath.Join(dir, "v.db.key")); err == nil {
		t.Error("a key was made")
	}
	s.do(token, "GET", "/apps/", "", 200)
}
