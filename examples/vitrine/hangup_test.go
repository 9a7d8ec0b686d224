package main

import (
	"log/slog"
	"os"
	"syscall"
	"testing"
	"time"
)

// A file that cannot be read at the moment, such as one on a network, does not keep a revoked key in force.
func TestAReloadThatWaitsHoldsUpNoOther(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	hangup := func() {
		t.Helper()
		if err := self.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what string, c chan struct{}) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(time.Minute):
			t.Fatal(what)
		}
	}
	begun, goOn, read := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := &server{log: slog.New(slog.DiscardHandler), figures: newMetrics()}
	defer s.reload("webhooks", func() error { begun <- struct{}{}; <-goOn; return nil })()
	defer s.reload("keys", func() error { read <- struct{}{}; return nil })()
	hangup()
	expect("the webhooks are not read", begun)
	expect("the keys are not read while the webhooks wait", read)
	hangup()
	expect("the keys are not read a second time while the webhooks wait", read)
	goOn <- struct{}{}
	expect("the webhooks are not read again for the signal that came while they waited", begun)
	goOn <- struct{}{}
}
