package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// TestAKeyIsChangedUnderLoad replaces the key in three steps, each followed by SIGHUP: the new key is added, then it is
// moved to the front, and when the tokens of the old key have expired that key is removed. Meanwhile clients sign
// tokens with the first key of the file, as the command token does. No request may fail.
func TestAKeyIsChangedUnderLoad(t *testing.T) {
	const first, second = "the first key, 32 bytes long....", "the second key, 32 bytes long..."
	dir := t.TempDir()
	file := filepath.Join(dir, "keys")
	write := func(keys ...string) { // in one step, as editors and mounted secrets do it
		t.Helper()
		if err := os.WriteFile(file+".new", []byte(strings.Join(keys, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write(first)
	s := start(t, dir, nil, "-db", "memory:", "-key-file", "keys")
	var answered, failed atomic.Int64
	stop := make(chan struct{})
	var clients sync.WaitGroup
	ask := func() error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		keys, err := httpapi.ParseKeys(text)
		if err != nil {
			return err
		}
		tokens, err := httpapi.NewTokens(keys[0], nil)
		if err != nil {
			return err
		}
		token, err := tokens.Sign(httpapi.Principal{URN: "urn:vitrine:example.test:user=x"}, time.Now().Add(time.Minute))
		if err != nil {
			return err
		}
		r, err := http.NewRequest("GET", s.url+"/apps/", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != 200 {
			return fmt.Errorf("status %d, %v", answer.StatusCode, err)
		}
		return nil
	}
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := ask(); err != nil {
					failed.Add(1)
					t.Log(err)
				}
				answered.Add(1)
			}
		})
	}
	// more waits until the clients have sent more requests.
	more := func() {
		t.Helper()
		for from, end := answered.Load(), time.Now().Add(time.Minute); answered.Load() < from+20; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the clients do not go on")
			}
		}
	}
	more()
	for i, keys := range [][]string{{first, second}, {second, first}, {second}} {
		write(keys...)
		more() // with the file as it is, and the server as it was
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); strings.Count(s.stderr.String(), "read again") <= i; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the keys were not read again: %s", s.stderr.String())
			}
		}
		more()
	}
	close(stop)
	clients.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d of %d requests failed", failed.Load(), answered.Load())
	}
	old, err := httpapi.NewTokens([]byte(first), nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := old.Sign(httpapi.Principal{URN: "urn:vitrine:example.test:user=x"}, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	s.do(token, "GET", "/apps/", "", 401)
	s.stop(syscall.SIGTERM)
}
