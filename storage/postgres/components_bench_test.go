//go:build proof

package postgres

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
)

// BenchmarkComponentCache patches an app with a Service that has cached its component, and with one that has not, in turn.
// The server is behind a network that delays each message.
func BenchmarkComponentCache(b *testing.B) {
	server := cluster.New(b, &cluster.Options{Fsync: true})
	slow := newSlowNetwork(b, filepath.Join(server.Dir, cluster.Socket))
	db := openAt(b, server.URLBy(slow.dir, "postgres"), nil)
	by := appsvc.Caller{URN: "urn:vitrine:example.test:user=1", Moderates: []string{"urn:vitrine:example.test"}, ManageComponents: true}
	caching := appsvc.New(db.Apps(), nil)
	manifest := []byte(`{"name":"text","version":"1","main":"m.js","configSchema":{}}`)
	if _, err := caching.CreateComponent(ctx, by, appsvc.CreateComponentRequest{Manifest: manifest}); err != nil {
		b.Fatal(err)
	}
	app, err := caching.CreateApp(ctx, by, appsvc.CreateAppRequest{Title: "First", Groups: by.Moderates,
		Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "text", Version: "1"}, Config: json.RawMessage(`{"size":-1}`)}}})
	if err != nil {
		b.Fatal(err)
	}
	patch := func(apps *appsvc.Service) (messages int64, took time.Duration) {
		before, begun := slow.messages.Load(), time.Now()
		patch := fmt.Appendf(nil, `[{"op":"test","path":"/apps/0/version","value":"%s"},{"op":"replace","path":"/apps/0/elements/0/config/size","value":%s}]`,
			app.Version, app.Version)
		if app, err = apps.Patch(ctx, by, app.ID, patch); err != nil {
			b.Fatal(err)
		}
		return slow.messages.Load() - before, time.Since(begun)
	}
	patch(caching) // fills the cache
	var messages [2]int64
	var took [2]time.Duration
	for b.Loop() {
		for i, apps := range []*appsvc.Service{caching, appsvc.New(db.Apps(), nil)} {
			m, t := patch(apps)
			messages[i], took[i] = messages[i]+m, took[i]+t
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, unit := range []string{"cached", "uncached"} {
		b.ReportMetric(float64(messages[i])/float64(b.N), "messages/"+unit)
		b.ReportMetric(float64(took[i].Microseconds())/float64(b.N), "µs/"+unit)
	}
}

// slowNetwork forwards connections to a server. It delays each message, and counts those to the server.
type slowNetwork struct {
	dir      string // of the socket
	messages atomic.Int64
}

func newSlowNetwork(b *testing.B, server string) *slowNetwork {
	n := &slowNetwork{dir: b.TempDir()}
	listener, err := net.Listen("unix", filepath.Join(n.dir, cluster.Socket))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { listener.Close() })
	forward := func(from, to net.Conn, count *atomic.Int64) {
		defer to.Close()
		buffer := make([]byte, 1<<16)
		for {
			size, err := from.Read(buffer)
			if err != nil {
				return
			}
			count.Add(1)
			time.Sleep(250 * time.Microsecond)
			if _, err := to.Write(buffer[:size]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			backend, err := net.Dial("unix", server)
			if err != nil {
				client.Close()
				continue
			}
			go forward(client, backend, &n.messages)
			go forward(backend, client, new(atomic.Int64))
		}
	}()
	return n
}
