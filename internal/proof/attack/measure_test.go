//go:build proof

package attack

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// attack is something that a client sends to do harm.
type attack struct {
	name string
	send func(s *server) reply
	want string        // statuses that are right: "400 413"; 0 is a closed connection
	cpu  time.Duration // of the server's processor time, at most; 0 = the usual
	mib  int           // of the server's memory beyond what it held before, at most; 0 = the usual
}

// The usual bounds: several times what was measured, and far below what the attacks would cost
// without a guard. Processor time is the server's own, so that a busy machine does not matter.
const (
	usualCPU = 1500 * time.Millisecond
	usualMiB = 160
)

// usage is what a process has used.
type usage struct {
	cpu       time.Duration
	peak, now int // memory in KB: the most since it was set back, and at present
}

// measured reports whether the system tells what a process uses.
func measured(t testing.TB) bool {
	if runtime.GOOS == "linux" {
		return true
	}
	if os.Getenv("VITRINE_CI") != "" {
		t.Fatal("the cost of attacks is measured on Linux, and VITRINE_CI=1 says that it shall be")
	}
	return false
}

// usage reads what the server has used, and sets its peak back.
func (s *server) usage() (u usage) {
	s.t.Helper()
	dir := fmt.Sprintf("/proc/%d/", s.Pid())
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		s.t.Fatalf("the server has ended: %v\n%s", err, tail(s.Log()))
	}
	_, after, _ := bytes.Cut(stat, []byte(") ")) // behind the name, which may hold anything
	fields := strings.Fields(string(after))
	const tick = 10 * time.Millisecond // the unit of these times on Linux
	for _, f := range fields[11:13] {  // of the program and of the system for it
		n, err := strconv.Atoi(f)
		if err != nil {
			s.t.Fatal(err)
		}
		u.cpu += time.Duration(n) * tick
	}
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		for name, to := range map[string]*int{"VmHWM:": &u.peak, "VmRSS:": &u.now} {
			if rest, ok := strings.CutPrefix(line, name); ok {
				*to, _ = strconv.Atoi(strings.Fields(rest)[0])
			}
		}
	}
	if err := os.WriteFile(dir+"clear_refs", []byte("5"), 0); err != nil {
		s.t.Fatalf("the peak of the server's memory cannot be set back: %v", err)
	}
	return u
}

func tail(s string) string { return s[max(0, len(s)-3000):] }

// tally is what a series of attacks has cost at most.
type tally struct {
	attacks  int
	cpu, mib struct {
		most int
		name string
	}
}

// run carries out attacks, one after another, on one server: each is answered as it should be, costs
// no more than it may, and leaves a server that works.
func run(t *testing.T, s *server, attacks []attack) {
	t.Helper()
	var n tally
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) { n.one(t, s, a) })
	}
	t.Logf("%d attacks; most processor time %d ms (%s), most memory %d MiB (%s)", n.attacks, n.cpu.most, n.cpu.name,
		n.mib.most, n.mib.name)
}

func (n *tally) one(t *testing.T, s *server, a attack) {
	n.attacks++
	here := *s
	here.t = t
	costs := measured(t)
	if a.cpu == 0 {
		a.cpu = usualCPU
	}
	r, ms, mib := a.spend(&here, costs)
	// The collector and what else runs on the machine cost time as well, so the least of three counts.
	for range 2 {
		if ms > int(a.cpu.Milliseconds()) {
			if again, less, _ := a.spend(&here, costs); again.status == r.status {
				ms = min(ms, less)
			}
		}
	}
	if costs {
		n.judge(t, a, ms, mib)
	}
	if !strings.Contains(" "+a.want+" ", fmt.Sprintf(" %d ", r.status)) {
		t.Errorf("%s: status %d, want %s: %.300s", r.what, r.status, a.want, r.body)
	}
	if len(r.body) > 2000 && r.status >= 400 {
		t.Errorf("%s: an error of %d bytes", r.what, len(r.body))
	}
	if r := here.get("/healthz"); r.status != 200 {
		t.Fatalf("after it, the server is not well: %d %s\n%s", r.status, r.body, tail(here.Log()))
	}
}

// spend sends the attack once, and returns what it costs the server: milliseconds of processor time and MiB of memory.
func (a attack) spend(s *server, costs bool) (r reply, ms, mib int) {
	if !costs {
		return a.send(s), 0, 0
	}
	before := s.usage()
	r = a.send(s)
	after := s.usage()
	return r, int((after.cpu - before.cpu).Milliseconds()), (after.peak - before.now) >> 10
}

func (n *tally) judge(t *testing.T, a attack, ms, mib int) {
	most := a.mib
	if most == 0 {
		most = usualMiB
	}
	if ms > int(a.cpu.Milliseconds()) {
		t.Errorf("the server worked for %d ms, at most %s", ms, a.cpu)
	}
	if mib > most {
		t.Errorf("the server took %d MiB more memory, at most %d", mib, most)
	}
	if ms >= n.cpu.most {
		n.cpu.most, n.cpu.name = ms, a.name
	}
	if mib >= n.mib.most {
		n.mib.most, n.mib.name = mib, a.name
	}
	t.Logf("%d ms, %d MiB", ms, mib)
}
