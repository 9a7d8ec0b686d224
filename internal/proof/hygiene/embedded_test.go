//go:build proof && linux

package hygiene

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// TestAnEmbeddedServiceLeavesNoGoroutine opens a store and a handler in this process. Clients use them and leave, and
// the test closes both. It runs before the parallel tests.
func TestAnEmbeddedServiceLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	dir := t.TempDir()
	for range 2 {
		embedded(t, filepath.Join(dir, "embedded.db"))
	}
	for begin := time.Now(); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, there were %d:\n%s", runtime.NumGoroutine(), before,
				stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func embedded(t *testing.T, path string) {
	t.Helper()
	store, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := httpapi.New(httpapi.Config{
		Apps: appsvc.New(store, nil), Assets: assets.New(store, nil), Reviews: reviews.New(store, nil),
		Authenticate: func(*http.Request) (httpapi.Principal, error) {
			return httpapi.Principal{Caller: vitrine.Caller{URN: urn + ":user=editor", Moderates: []string{urn}}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	up := &http.Server{Handler: handler}
	ended := make(chan error)
	go func() { ended <- up.Serve(l) }()
	upload := "POST /x/reviews/import HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken x\r\nContent-Type: " +
		"text/plain\r\nContent-Length: 3000000\r\n\r\n"
	for _, text := range []string{
		"GET /apps/ HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken x\r\n\r\n",
		"POST /apps/ HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken x\r\nContent-Type: " +
			"application/json\r\nContent-Length: 1000\r\n\r\n{",
		upload + strings.Repeat(" ", 2<<20), upload + strings.Repeat("1\n", 1<<20),
		upload + `{"reviews":[` + strings.Repeat(" ", 1<<20),
	} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, _ = bufio.NewReader(conn).ReadString('\n')
		conn.Close()
	}
	last, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := up.Shutdown(last); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != http.ErrServerClosed {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
