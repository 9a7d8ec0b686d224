//go:build proof

package postgres

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// Cutter is a proxy between clients and a cluster that cuts their connections. It can do so at the moment of a certain
// statement: it looks for the name of the statement in what the client sends, which pgx derives from the text of the
// statement.
type Cutter struct {
	cluster  *cluster.Cluster
	dir      string
	listener net.Listener

	mu   sync.Mutex
	open map[net.Conn]bool
	plan []plan // the next one first

	silent atomic.Bool
}

// plan is to cut the connection whose client sends a message next. If arrives is true, the message reaches the server
// and the answer is lost; otherwise the message is lost.
type plan struct {
	message []byte
	arrives bool
}

// NewCutter starts a Cutter in front of a cluster. It ends with the test.
func NewCutter(t testing.TB, c *cluster.Cluster) *Cutter {
	t.Helper()
	dir, err := os.MkdirTemp("", "cut-")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, cluster.Socket))
	if err != nil {
		t.Fatal(err)
	}
	cutter := &Cutter{cluster: c, dir: dir, listener: listener, open: map[net.Conn]bool{}}
	t.Cleanup(func() {
		listener.Close()
		cutter.CutAll()
		os.RemoveAll(dir)
	})
	go cutter.serve()
	return cutter
}

// Behind changes the address of a database of the cluster into one through the cutter.
func (p *Cutter) Behind(address string) string {
	return strings.Replace(address, "host="+url.QueryEscape(p.cluster.Dir), "host="+url.QueryEscape(p.dir), 1)
}

// CutAt plans to cut the next connection that runs the statement with this text. If arrives is true, the server runs
// the statement and the client gets no answer; otherwise the server does not get the statement.
func (p *Cutter) CutAt(sql string, arrives bool) {
	digest := sha256.Sum256([]byte(sql))
	message := "\x00stmtcache_" + hex.EncodeToString(digest[:24]) + "\x00" // within a Bind message
	p.cutAt(message, arrives)
}

// cutAt adds a plan.
func (p *Cutter) cutAt(message string, arrives bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = append(p.plan, plan{[]byte(message), arrives})
}

// Planned returns how many of the planned cuts have not happened yet.
func (p *Cutter) Planned() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.plan)
}

// Silence keeps everything from clients and server alike, or ends that: it is a network that loses all packets.
func (p *Cutter) Silence(on bool) { p.silent.Store(on) }

// CutAll cuts every connection, whatever it does.
func (p *Cutter) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		c.Close()
	}
	clear(p.open)
}

// serve connects each client with the server.
func (p *Cutter) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", filepath.Join(p.cluster.Dir, cluster.Socket))
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = true, true
		p.mu.Unlock()
		go p.forward(client, server)
	}
}

// next takes the first plan if it is for this message.
func (p *Cutter) next(message []byte) (cut plan, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.plan) == 0 || !bytes.Contains(message, p.plan[0].message) {
		return cut, false
	}
	cut, p.plan = p.plan[0], p.plan[1:]
	return cut, true
}

// forward carries bytes both ways until either side ends or a plan cuts the connection.
func (p *Cutter) forward(client, server net.Conn) {
	var mu sync.Mutex
	mute := false
	answered := make(chan bool, 1)
	go func() {
		part := make([]byte, 64<<10)
		for {
			n, err := server.Read(part)
			mu.Lock()
			if mute {
				answered <- true
				mu.Unlock()
				return
			}
			if !p.silent.Load() {
				client.Write(part[:n])
			}
			mu.Unlock()
			if err != nil {
				client.Close()
				return
			}
		}
	}()
	part := make([]byte, 64<<10)
	for {
		n, err := client.Read(part)
		if cut, found := p.next(part[:n]); found {
			mu.Lock()
			mute = true
			mu.Unlock()
			if cut.arrives {
				server.Write(part[:n])
				<-answered
			}
			break
		}
		if !p.silent.Load() {
			server.Write(part[:n])
		}
		if err != nil {
			break
		}
	}
	client.Close()
	server.Close()
	p.mu.Lock()
	delete(p.open, client)
	delete(p.open, server)
	p.mu.Unlock()
}
