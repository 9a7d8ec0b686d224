package history

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var autosaves = flag.Int("autosaves", 10_000, "versions of the one-field traces; the others have a twentieth")

// BenchmarkHistory stores one app's history with each trace and reports
// bytes a version of the whole SQLite file and of what else could hold it, and
// the times to append and to read.
func BenchmarkHistory(b *testing.B) {
	for _, size := range []int{5 << 10, 50 << 10} {
		for _, tr := range traces() {
			b.Run(fmt.Sprintf("%dKB/%s", size>>10, tr.name), func(b *testing.B) {
				n := *autosaves
				if tr.name != "OneField" {
					n /= 20
				}
				for b.Loop() {
					benchTrace(b, tr, size, n)
				}
			})
		}
	}
}

func benchTrace(b *testing.B, tr trace, size, n int) {
	s := openStore(b)
	p := newPage(7, size)
	at, rnd := int64(1_700_000_000_000), rand.New(rand.NewPCG(3, 4))
	prev := Version{UpdatedAt: at, UpdatedBy: "urn:vitrine:example.test:user=editor", Body: p.body()}
	tail := s.put(1, Version{}, prev, nil)
	for range 2 { // replacing the latest version keeps some pages free, whatever the history
		s.commit()
		s.put(1, Version{}, prev, nil)
	}
	empty := s.size()
	git := newGit(b)
	git.add(0, prev.Body)
	inGit := min(n, 100<<20/size) // more takes git minutes
	copies, changes, sizeThen := 0, 0, int64(0)
	var appending time.Duration
	for i := 1; i <= n; i++ {
		changes += len(s.codec.encoder.EncodeAll([]byte(tr.edit(p, i-1)), nil))
		at += 1000 + rnd.Int64N(20_000)
		next := Version{Number: int64(i), UpdatedAt: at, UpdatedBy: prev.UpdatedBy, Body: p.body()}
		start := time.Now()
		tail = s.put(1, prev, next, tail)
		appending += time.Since(start)
		copies += len(next.Body)
		prev = next
		if i <= inGit {
			git.add(i, next.Body)
		}
		if i == inGit {
			sizeThen = s.size() - empty
		}
	}
	perVersion := float64(s.size()-empty) / float64(n)
	b.ReportMetric(perVersion, "B/version")
	b.ReportMetric(float64(changes)/float64(n), "B/change")
	b.ReportMetric(float64(copies)/float64(n)/perVersion, "x-under-copies")
	if packed := git.size(); packed > 0 {
		b.ReportMetric(float64(packed)/float64(sizeThen), "x-under-git")
	}
	b.ReportMetric(float64(appending.Microseconds())/float64(n), "µs/append")
	old := meanOf(2000, func() { s.get(1, rnd.Int64N(int64(n))) })
	latest := meanOf(2000, func() { s.latest(1) })
	raw := meanOf(2000, func() { s.raw(1) })
	b.ReportMetric(old, "µs/old-read")
	b.ReportMetric(meanOf(100, func() { s.list(1, 50+rnd.Int64N(int64(n)-50), 50) }), "µs/list-of-50")
	b.ReportMetric(latest/raw, "x-raw-latest")
	b.ReportMetric(old/raw, "x-raw-old")
	b.ReportMetric(0, "ns/op")
}

// raw is the floor of a read: the stored bytes by their key.
func (s *store) raw(app int64) {
	var body []byte
	s.must(s.getBody.QueryRow(app).Scan(&body))
}

// meanOf returns the time of one call, in microseconds.
func meanOf(n int, fn func()) float64 {
	start := time.Now()
	for range n {
		fn()
	}
	return float64(time.Since(start).Nanoseconds()) / 1e3 / float64(n)
}

// git holds the same bodies as commits to one file.
type git struct {
	b      *testing.B
	dir    string
	stream bytes.Buffer
}

func newGit(b *testing.B) *git {
	if _, err := exec.LookPath("git"); err != nil {
		return nil
	}
	g := &git{b: b, dir: b.TempDir()}
	g.run("init", "-q", "--bare")
	return g
}

func (g *git) run(args ...string) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = g.dir, &g.stream
	if out, err := cmd.CombinedOutput(); err != nil {
		g.b.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

func (g *git) add(i int, body []byte) {
	if g == nil {
		return
	}
	from := ""
	if i > 0 && g.stream.Len() == 0 {
		from = "from refs/heads/main^0\n"
	}
	fmt.Fprintf(&g.stream, "commit refs/heads/main\ncommitter E <e@example.test> %d +0000\ndata 0\n%sM 100644 inline app.json\ndata %d\n%s\n",
		1_700_000_000+i*10, from, len(body), body)
	if g.stream.Len() > 64<<20 {
		g.flush()
	}
}

func (g *git) flush() {
	g.run("fast-import", "--quiet", "--force")
	g.stream.Reset()
}

// size is that of the packs and their indexes.
func (g *git) size() (total int64) {
	if g == nil {
		return 0
	}
	g.flush()
	g.run("-c", "pack.threads=2", "gc", "--quiet", "--aggressive", "--prune=now")
	files, _ := filepath.Glob(filepath.Join(g.dir, "objects/pack/*"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			total += info.Size()
		}
	}
	return total
}
