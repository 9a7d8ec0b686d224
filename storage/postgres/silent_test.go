//go:build proof

package postgres

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
)

// line forwards connections to a cluster until it falls silent. Then it keeps them open and forwards nothing.
type line struct {
	dir    string // of its socket
	server string
	silent chan bool // closed when nothing is forwarded any more
	ended  chan bool // closed with the test
}

func newLine(t *testing.T, c *cluster.Cluster) *line {
	t.Helper()
	dir, err := os.MkdirTemp("", "line-")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, cluster.Socket))
	if err != nil {
		t.Fatal(err)
	}
	l := &line{dir: dir, server: filepath.Join(c.Dir, cluster.Socket), silent: make(chan bool), ended: make(chan bool)}
	t.Cleanup(func() {
		listener.Close()
		os.RemoveAll(dir)
	})
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go l.serve(client)
		}
	}()
	return l
}

// address is that of a new schema of the cluster, reached over the line.
func (l *line) address(t *testing.T) string {
	return strings.Replace(cluster.Schema(t), "host="+url.QueryEscape(cluster.Shared(t).Dir), "host="+url.QueryEscape(l.dir), 1)
}

// serve forwards what is sent on one connection, in both directions.
func (l *line) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", l.server)
	if err != nil {
		return
	}
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() { l.forward(server, client) })
	both.Go(func() { l.forward(client, server) })
	both.Wait()
}

func (l *line) forward(to io.WriteCloser, from io.Reader) {
	part := make([]byte, 64<<10)
	for {
		n, err := from.Read(part)
		select {
		case <-l.silent:
			<-l.ended
			err = io.EOF
		default:
			to.Write(part[:n])
		}
		if err != nil {
			to.Close()
			return
		}
	}
}

// A server that falls silent leaves the pool with connections that look idle. The pool pings them one after the other, and
// a read waits no longer for all of them together than for one.
func TestAReadFromASilentServerIsErrBusy(t *testing.T) {
	l := newLine(t, cluster.Shared(t))
	const connections = 20 // whose pings take 100 seconds together
	db := openAt(t, l.address(t), &Options{Connections: connections, Busy: 5 * time.Second})
	t.Cleanup(func() { close(l.ended) })
	var connected, views sync.WaitGroup
	connected.Add(connections)
	for range connections {
		views.Go(func() {
			err := db.view(ctx, func(c *conn) error {
				err := c.query(ctx, "SELECT 1").err
				connected.Done()
				connected.Wait()
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	views.Wait()
	for db.pool.Stat().IdleConns() < connections { // they are given back behind the views
		time.Sleep(time.Millisecond)
	}
	close(l.silent)
	const pinged = 1100 * time.Millisecond // the pool pings a connection that was idle for a second
	for time.Since(opened)-time.Duration(db.released.Load()) < pinged {
		time.Sleep(pinged / 10)
	}
	read := make(chan error, 1)
	go func() {
		read <- db.Apps().View(ctx, func(r appsvc.Reader) error {
			_, err := r.Head(ctx, "a")
			return err
		})
	}()
	select {
	case err := <-read:
		if !errors.Is(err, vitrine.ErrBusy) {
			t.Errorf("error %v, want ErrBusy", err)
		}
	case <-time.After(time.Minute):
		t.Error("the read has not ended within a minute")
	}
}
