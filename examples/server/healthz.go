package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// healthz asks a running server whether it can answer.
func healthz(ctx context.Context, _ *program, args []string) error {
	f := flags("healthz")
	addr := f.String("addr", defaultAddr, "`address` of the server, host:port")
	if err := parse(f, args); err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(*addr); err != nil || strings.Contains(*addr, "/") {
		return usageError{fmt.Errorf("healthz: -addr %q is no address: want host:port, such as %s", *addr, defaultAddr)}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+dialable(*addr)+"/healthz", nil)
	if err != nil {
		return usageError{fmt.Errorf("healthz: -addr %q is no address: %w", *addr, err)}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("healthz: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("healthz: %s answered %s", *addr, answer.Status)
	}
	return nil
}
