//go:build proof && linux

package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// These tests read the files of examples/deploy/postgres, and start nothing of the cluster.

func TestHAProxyTakesTheFileOfTheCluster(t *testing.T) {
	file := filepath.Join(root, "examples", "deploy", "postgres", "haproxy.cfg")
	out, err := exec.Command(tool(t, "haproxy"), "-c", "-f", file).CombinedOutput()
	if err != nil || strings.Contains(string(out), "WARNING") {
		t.Errorf("%v\n%s", err, out)
	}
}

// No acknowledged write is lost as long as commits wait for a standby, and the primary keeps its lease while it renews
// it.
func TestPatroniWaitsForAStandbyAndKeepsItsLease(t *testing.T) {
	text := deployed(t, "postgres/patroni.yml")
	number := func(name string) int {
		found := regexp.MustCompile(`(?m)^    ` + name + `: (\d+)$`).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("patroni.yml has no %s", name)
		}
		n, _ := strconv.Atoi(found[1])
		return n
	}
	if ttl, least := number("ttl"), number("loop_wait")+2*number("retry_timeout"); ttl < least {
		t.Errorf("ttl is %d, want at least loop_wait + 2 * retry_timeout, which is %d", ttl, least)
	}
	for _, line := range []string{"\netcd:\n", "\n    synchronous_mode: true\n",
		"\n    synchronous_mode_strict: true\n", "\n    failsafe_mode: true\n", "\n      use_pg_rewind: true\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("patroni.yml has no line %q", strings.TrimSpace(line))
		}
	}
	if !strings.Contains(deployed(t, "postgres/etcd.env"), "\nETCD_ENABLE_V2=true\n") {
		t.Error("Patroni uses the API of etcd's version 2, and etcd.env does not enable it")
	}
}

func TestArchivingWAL(t *testing.T) {
	dir := t.TempDir()
	script, segment := filepath.Join(dir, "script"), filepath.Join(dir, "segment")
	write(t, script, changed(t, deployed(t, "postgres/vitrine-wal-archive"), "/var/backups/postgresql", dir))
	write(t, segment, "a segment")
	if err := os.Mkdir(filepath.Join(dir, "wal"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "wal", "other"), "another segment")
	archive := func(name string) error { return exec.Command("sh", script, segment, name).Run() }
	for range 2 { // PostgreSQL may repeat it
		if err := archive("one"); err != nil {
			t.Fatal(err)
		}
	}
	if archive("other") == nil {
		t.Error("a segment of another cluster was overwritten, or taken for the same one")
	}
	for name, want := range map[string]string{"one": "a segment", "other": "another segment"} {
		if text, err := os.ReadFile(filepath.Join(dir, "wal", name)); err != nil || string(text) != want {
			t.Errorf("the segment %q is %q, %v, want %q", name, text, err, want)
		}
	}
	if err := os.Remove(segment); err != nil {
		t.Fatal(err)
	}
	if archive("none") == nil {
		t.Error("a segment that cannot be read counts as archived")
	}
}

// The commands of both pages are for a shell, and they use each file of the directory.
func TestCommandsOfTheCluster(t *testing.T) {
	var commands strings.Builder
	blocks := regexp.MustCompile("(?s)\n```sh\n(.*?)```\n")
	text := deployed(t, "postgres/README.md") + deployed(t, "postgresql.md")
	for _, block := range blocks.FindAllStringSubmatch(text, -1) {
		commands.WriteString(block[1])
	}
	check := exec.Command("sh", "-n")
	check.Stdin = strings.NewReader(commands.String())
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	files, err := os.ReadDir(filepath.Join(root, "examples", "deploy", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := regexp.QuoteMeta(file.Name())
		if name != `README\.md` && !regexp.MustCompile(`[ /]`+name+`\b`).MatchString(commands.String()) {
			t.Errorf("no command uses %s", file.Name())
		}
	}
}
