//go:build proof && linux

package deploy_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// The exposure of a service, as systemd-analyze judges it, is at most 2.0 of 10.
func TestUnitsGiveFewRights(t *testing.T) {
	analyze := tool(t, "systemd-analyze")
	dir := t.TempDir()
	for _, name := range []string{"vitrine.service", "vitrine-backup.service"} {
		write(t, filepath.Join(dir, name), deployed(t, name))
	}
	tls := filepath.Join(dir, "tls", "vitrine.service")
	if err := os.MkdirAll(tls+".d", 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, tls, deployed(t, "vitrine.service"))
	write(t, filepath.Join(tls+".d", "vitrine-tls.conf"), deployed(t, "vitrine-tls.conf"))
	for _, file := range []string{filepath.Join(dir, "vitrine.service"), filepath.Join(dir, "vitrine-backup.service"),
		tls} {
		out, err := exec.Command(analyze, "security", "--offline=true", "--no-pager", "--threshold=20",
			file).CombinedOutput()
		level := regexp.MustCompile(`exposure level for \S+: ([\d.]+)`).FindSubmatch(out)
		if err != nil || level == nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		} else {
			t.Logf("%s: %s", filepath.Base(file), level[1])
		}
	}
}

// A service whose database or disk comes later than the machine, or is away for an hour, starts then: systemd does not
// give it up after five attempts.
func TestUnitsAreNotGivenUp(t *testing.T) {
	for _, name := range []string{"vitrine.service", "vitrine-litestream.service"} {
		unit := map[string][]string{}
		if readUnit(deployed(t, name), unit); strings.Join(unit["StartLimitIntervalSec"], " ") != "0" {
			t.Errorf("%s: StartLimitIntervalSec=%s, want 0", name, unit["StartLimitIntervalSec"])
		}
	}
}

// Litestream stops and starts with the service, since it would go on reading the file of a store that was replaced.
func TestLitestreamFollowsTheService(t *testing.T) {
	unit := map[string][]string{}
	readUnit(deployed(t, "vitrine-litestream.service"), unit)
	for _, name := range []string{"PartOf", "WantedBy"} {
		if got := strings.Join(unit[name], " "); got != "vitrine.service" {
			t.Errorf("%s=%s, want vitrine.service", name, got)
		}
	}
}

// The program runs with the system calls, the kinds of sockets and the memory that its unit allows.
func TestTheUnitForbidsNothingThatIsUsed(t *testing.T) {
	t.Parallel()
	strace := tool(t, "strace")
	allowed := allowedCalls(t)
	dir := t.TempDir()
	writeCertificate(t, dir)
	write(t, filepath.Join(dir, "keys"), key+"\n")
	trace := filepath.Join(dir, "trace")
	store := filepath.Join(dir, "vitrine.db")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: filepath.Join(dir, "notify")})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	port := freePort(t)
	s, err := program.StartServer([]string{"NOTIFY_SOCKET=" + filepath.Join(dir, "notify")}, strace, "-f", "-qq", "-o",
		trace, binary(t), "serve", "-db", store, "-key-file", filepath.Join(dir, "keys"),
		"-addr", "127.0.0.1:"+port, "-metrics-addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Kill()
	vitrine := &server{s, "127.0.0.1:" + port, signed(t, "editor", "urn:vitrine:example.test")}
	_, large := vitrine.fill(t)
	vitrine.do(t, "GET", "/apps/"+large, "", 200)
	vitrine.do(t, "GET", "/healthz", "", 200)
	long := `{"source":"s","title":"Kettle","created":"2019-01-05T09:30:00Z","id":"a2V0dGxl",` +
		`"dimensions":["default"],"reviews":[{"id":"1","imported_display_name":"Ada","title":"Quick","body_html":"` +
		strings.Repeat("Boils. ", 500_000) + `","created":"2019-04-02T10:00:00Z","ratings":[100]}]}`
	vitrine.do(t, "POST", "/x/reviews/import?network=example.test", long, 200)
	if out, err := exec.Command(strace, "-f", "-qq", "-o", trace+"-backup", binary(t), "backup", "-db", store,
		filepath.Join(dir, "copy.db")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	child, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", s.Pid(), s.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(child), &pid); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() { // strace leaves the program behind where it is killed itself
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		if err := syscall.Kill(pid, signal); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); signal == syscall.SIGHUP &&
			!strings.Contains(s.Log(), "read again"); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(s.Log())
			}
		}
	}
	if status, err := s.Wait(time.Minute); err != nil || status != 0 {
		t.Fatalf("status %d, %v: %s", status, err, s.Log())
	}
	unit := map[string][]string{}
	readUnit(deployed(t, "vitrine.service"), unit)
	call, family := regexp.MustCompile(`^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)`),
		regexp.MustCompile(`\bsocket\((AF_\w+)`)
	for _, file := range []string{trace, trace + "-backup"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			m := call.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			if used[m[1]] = true; strings.Contains(line, "PROT_WRITE|PROT_EXEC") {
				t.Errorf("MemoryDenyWriteExecute forbids %s", line)
			}
			families := strings.Join(unit["RestrictAddressFamilies"], " ")
			if file != trace {
				families = "none"
			}
			if f := family.FindStringSubmatch(line); f != nil && !strings.Contains(families, f[1]) {
				t.Errorf("RestrictAddressFamilies=%s forbids %s", families, line)
			}
		}
		if len(used) < 20 {
			t.Errorf("only %d calls were seen: this shows nothing", len(used))
		}
		for name := range used {
			// The manager starts it with execve, and only as root does SQLite give the files beside a store to its
			// owner.
			if !allowed[name] && name != "execve" && (name != "fchown" || os.Getuid() != 0) {
				t.Errorf("%s: SystemCallFilter forbids %s", filepath.Base(file), name)
			}
		}
	}
}

// readUnit adds the settings of a unit. An empty value takes back what was set before.
func readUnit(text string, settings map[string][]string) {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			settings[name] = append(settings[name], value)
			if value == "" {
				settings[name] = nil
			}
		}
	}
}

// allowedCalls are the system calls that the units allow.
func allowedCalls(t *testing.T) map[string]bool {
	t.Helper()
	out, err := exec.Command(tool(t, "systemd-analyze"), "syscall-filter", "--no-pager").Output()
	if err != nil {
		t.Fatal(err)
	}
	sets, name := map[string][]string{}, ""
	for line := range strings.Lines(string(out)) {
		switch word := strings.TrimSpace(line); {
		case word == "" || word[0] == '#':
		case line[0] == '@':
			name = word
		default:
			sets[name] = append(sets[name], word)
		}
	}
	var calls func(name string) []string
	calls = func(name string) (all []string) {
		for _, word := range sets[name] {
			if word[0] == '@' {
				all = append(all, calls(word)...)
			} else {
				all = append(all, word)
			}
		}
		return all
	}
	unit, backup := map[string][]string{}, map[string][]string{}
	readUnit(deployed(t, "vitrine.service"), unit)
	readUnit(deployed(t, "vitrine-backup.service"), backup)
	if have := strings.Join(unit["SystemCallFilter"], " "); have != strings.Join(backup["SystemCallFilter"], " ") {
		t.Errorf("the units allow different calls")
	}
	allowed := map[string]bool{}
	for _, filter := range unit["SystemCallFilter"] {
		without := strings.HasPrefix(filter, "~")
		for set := range strings.FieldsSeq(strings.TrimPrefix(filter, "~")) {
			if len(sets[set]) == 0 {
				t.Fatalf("systemd-analyze knows no set %s", set)
			}
			for _, call := range calls(set) {
				allowed[call] = !without
			}
		}
	}
	return allowed
}
