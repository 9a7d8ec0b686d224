//go:build unix

package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTheServiceManagerIsTold(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: socket})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	told := func() string {
		t.Helper()
		if err := manager.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		n, err := manager.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	s := start(t, dir, []string{"NOTIFY_SOCKET=" + socket}, "-db", "memory:")
	if have := told(); have != "READY=1" {
		t.Errorf("told %q, want READY=1", have)
	}
	s.stop()
	if have := told(); have != "STOPPING=1" {
		t.Errorf("told %q, want STOPPING=1", have)
	}
	s = start(t, dir, []string{"NOTIFY_SOCKET=" + filepath.Join(dir, "nobody")}, "-db", "memory:")
	s.stop()
	if !strings.Contains(s.stderr.String(), "the service manager could not be notified") {
		t.Errorf("a manager that is not there: %s", s.stderr.String())
	}
}
