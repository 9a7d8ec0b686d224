//go:build proof && linux

package linear

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// newPlace is a machine on which nothing runs, for its files.
func newPlace(t *testing.T) *machine {
	return &machine{keeper: &keeper{Dir: t.TempDir()}, t: t, net: "127.0.0.", offset: 10000}
}

func (m *machine) writeFile(name, text string) (path string) {
	m.t.Helper()
	path = filepath.Join(m.Dir, name)
	m.must(os.MkdirAll(filepath.Dir(path), 0o700))
	m.must(os.WriteFile(path, []byte(text), 0o700))
	return path
}

func TestHAProxyTakesItsFile(t *testing.T) {
	need(t, "haproxy")
	m := newPlace(t)
	path := m.writeFile("haproxy.cfg", m.file("haproxy.cfg", 0))
	if out, err := exec.Command(find("haproxy"), "-c", "-f", path).CombinedOutput(); err != nil || strings.Contains(string(out), "WARNING") {
		t.Errorf("%v\n%s", err, out)
	}
}

// What the promises of the cluster rest on.
func TestPatroniWaitsForAStandbyAndKeepsItsLease(t *testing.T) {
	text := newPlace(t).file("patroni.yml", 1)
	number := func(name string) int {
		found := regexp.MustCompile(`(?m)^    ` + name + `: (\d+)$`).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("patroni.yml has no %s", name)
		}
		n, _ := strconv.Atoi(found[1])
		return n
	}
	if ttl, least := number("ttl"), number("loop_wait")+2*number("retry_timeout"); ttl < least {
		t.Errorf("ttl is %d, and loop_wait + 2 * retry_timeout is %d: a primary would lose its lease while it tries to renew it", ttl, least)
	}
	for _, line := range []string{"\netcd:\n", "\n    synchronous_mode: true\n", "\n    synchronous_mode_strict: true\n", "\n    failsafe_mode: true\n", "\n      use_pg_rewind: true\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("patroni.yml has no line %q", strings.TrimSpace(line))
		}
	}
	if !strings.Contains(newPlace(t).file("etcd.env", 1), "\nETCD_ENABLE_V2=true\n") {
		t.Error("Patroni uses the API of etcd's version 2, and it is not enabled")
	}
}

// Of the files of a node, its name and its addresses are its own.
func TestFilesOfANode(t *testing.T) {
	m := newPlace(t)
	for _, test := range []struct{ file, own, common string }{
		{"node.env", "PATRONI_NAME=node2\nPATRONI_POSTGRESQL_LISTEN=127.0.0.12:15432\n", "PATRONI_REWIND_PASSWORD=change-me-4"},
		{"etcd.env", "ETCD_NAME=node2\nETCD_LISTEN_PEER_URLS=http://127.0.0.12:12380\n", "=node1=http://127.0.0.11:12380,node2=http://127.0.0.12:12380,"},
	} {
		text := m.file(test.file, 2)
		if !strings.Contains(text, test.own) || !strings.Contains(text, test.common) {
			t.Errorf("%s of node 2 is\n%s", test.file, text)
		}
	}
}

func TestArchivingWAL(t *testing.T) {
	m := newPlace(t)
	script := m.writeFile("bin/vitrine-wal-archive", m.file("vitrine-wal-archive", 0))
	m.writeFile("backup/wal/other", "another segment")
	segment := m.writeFile("segment", "a segment")
	archive := func(name string) error { return exec.Command(script, segment, name).Run() }
	for range 2 { // it may be told twice
		if err := archive("one"); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(m.Dir + "/backup/wal/one"); err != nil || string(text) != "a segment" {
		t.Errorf("%q, %v", text, err)
	}
	if archive("other") == nil {
		t.Error("a segment of another cluster was taken for the same one")
	}
	if text, err := os.ReadFile(m.Dir + "/backup/wal/other"); err != nil || string(text) != "another segment" {
		t.Errorf("the segment of another cluster is %q now, %v", text, err)
	}
	m.must(os.Remove(segment))
	if archive("none") == nil {
		t.Error("a segment that cannot be read counts as archived")
	}
}

// The README's commands are for a shell, and they use each file of the directory.
func TestCommandsOfTheREADME(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(deployed, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var commands strings.Builder
	for _, block := range regexp.MustCompile("(?s)\n```sh\n(.*?)```\n").FindAllStringSubmatch(string(raw), -1) {
		commands.WriteString(block[1])
	}
	check := exec.Command("sh", "-n")
	check.Stdin = strings.NewReader(commands.String())
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	files, err := os.ReadDir(deployed)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := file.Name(); name != "README.md" && !regexp.MustCompile(`[ /]`+regexp.QuoteMeta(name)+`\b`).MatchString(commands.String()) {
			t.Errorf("no command uses %s", name)
		}
	}
}
