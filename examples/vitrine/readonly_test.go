//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asOther is a user who owns nothing.
const asOther = 54321

// reader runs the program as a process that may not write where the store is.
type reader struct {
	name    string
	program string // its path
	mounted bool   // the directory is on a read-only disk; otherwise its modes forbid it to the user asOther
}

// run runs a command line in dir.
func (r reader) run(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	command := exec.CommandContext(ctx, r.program, args...)
	if r.mounted {
		command = exec.CommandContext(ctx, "sh", append([]string{"-c",
			`mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"`, dir, r.program},
			args...)...)
		command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	} else {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: asOther, Gid: asOther}}
	}
	var stdout, stderr bytes.Buffer
	command.Dir, command.Env = dir, append(os.Environ(), programVariable+"=1")
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		if os.Getenv("VITRINE_CI") != "" {
			t.Fatalf("%v: VITRINE_CI=1 says that namespaces and other users can be tried", err)
		}
		t.Skip(err)
	}
	return outcome{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// readers returns the kinds of readers that this system allows, with the program as a file in dir that everybody may
// run.
func readers(t *testing.T, dir string) []reader {
	t.Helper()
	program := filepath.Join(dir, "program")
	self, err := os.Executable()
	if err == nil {
		err = exec.Command("cp", self, program).Run()
	}
	if err = errors.Join(err, os.Chmod(program, 0o755)); err != nil {
		t.Fatal(err)
	}
	all := []reader{{"a read-only disk", program, true}}
	if os.Getuid() == 0 {
		all = append(all, reader{"a user without the right to write", program, false})
	}
	return all
}

// reading are the commands that change nothing. % is a name for a new file.
var reading = [][]string{
	{"check"}, {"export"}, {"backup", "%"}, {"reviews", "export"}, {"reviews", "collections"}, {"assets", "export"},
}

// Commands that change nothing read a store that they may not write, whether it was closed, its process was killed, or
// it is served. They read what is committed, or say that they cannot.
func TestStoresThatCannotBeWrittenAreRead(t *testing.T) {
	good := reviewFiles(t)
	elsewhere := t.TempDir()
	for _, dir := range []string{elsewhere, filepath.Dir(elsewhere)} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	// state puts a store with the reviews of a file into a new directory, and calls fn while it is served.
	state := func(fn func(dir string, s *testServer)) (dir string) {
		dir = t.TempDir()
		if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
		s := start(t, dir, nil, "-db", "v.db")
		if out := run(t, dir, nil, "reviews", "import", "-db", "v.db", filepath.Join(good, "good")); out.status != 0 {
			t.Fatalf("%+v", out)
		}
		post := write(t, map[string]string{"post": newPost("1", "}")})
		out := run(t, dir, nil, "assets", "import", "-db", "v.db", filepath.Join(post, "post"))
		if out.status != 0 {
			t.Fatalf("%+v", out)
		}
		// The server writes the secret of the feeds soon after it has begun. Then the store stays as it is.
		for !strings.Contains(run(t, dir, nil, "export", "-db", "v.db").stdout, `"store secret"`) {
			time.Sleep(10 * time.Millisecond)
		}
		fn(dir, s)
		s.stop()
		return dir
	}
	// pick copies files of a store into a directory of their own, with modes that forbid writing.
	pick := func(from string, suffixes ...string) string {
		to := t.TempDir()
		for _, suffix := range suffixes {
			text, err := os.ReadFile(filepath.Join(from, "v.db"+suffix))
			if err == nil {
				err = os.WriteFile(filepath.Join(to, "v.db"+suffix), text, 0o444)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(to, 0o555); err != nil {
			t.Fatal(err)
		}
		return to
	}
	want := map[string]string{}
	check := func(what string, r reader, dir string) {
		t.Helper()
		for _, command := range reading {
			name := command[0]
			if name == "reviews" || name == "assets" {
				name += " " + command[1]
			}
			copied := filepath.Join(elsewhere, strings.ReplaceAll(t.Name()+what+r.name, "/", " "))
			_ = os.Remove(copied) // of the round before
			args := slices.Concat(command, []string{"-db", filepath.Join(dir, "v.db")})
			if args[1] == "%" {
				args[1] = copied
			}
			out := r.run(t, dir, args...)
			if out.status != 0 || (name == "check" || name == "backup") != (out.stdout == "") {
				t.Errorf("%s, %s, %s: %+v", what, r.name, name, out)
			}
			if name == "backup" {
				if out = run(t, elsewhere, nil, "export", "-db", copied); out.status != 0 {
					t.Errorf("%s, %s: the backup: %+v", what, r.name, out)
				}
			}
			if want[name] == "" {
				want[name] = out.stdout
			}
			if out.stdout != want[name] {
				t.Errorf("%s, %s: %s wrote %.300q, want %.300q", what, r.name, name, out.stdout, want[name])
			}
		}
	}
	for _, r := range readers(t, elsewhere) {
		clear(want)
		var killed, half string
		closed := state(func(dir string, s *testServer) {
			killed, half = pick(dir, "", "-wal", "-shm"), pick(dir, "", "-wal")
			// as a server of another user, whose files one may read
			for _, name := range []string{"v.db", "v.db-wal", "v.db-shm"} {
				if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			check("served", r, dir)
		})
		if !strings.Contains(want["reviews collections"], "review") {
			t.Errorf("nothing was read: %q", want)
		}
		alone := pick(closed, "")
		check("closed", r, alone)
		if out := r.run(t, alone, "doctor", "-db", "v.db"); strings.Contains(out.stdout, "is read-only") != r.mounted {
			t.Errorf("%s: %+v", r.name, out)
		}
		check("killed", r, killed)
		for _, command := range reading[:2] {
			out := r.run(t, half, append(command, "-db", filepath.Join(half, "v.db"))...)
			if out.status != 2 || out.stdout != "" ||
				!strings.Contains(out.stderr, "v.db-wal together into a directory that can be written") {
				t.Errorf("a log without its index, %s: %+v", r.name, out)
			}
		}
	}
}

// A service that may not open its store says whose the files are, and a store that root restores belongs to whom the
// store, or the directory, belonged before.
func TestAStoreOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files to other users")
	}
	dir := t.TempDir()
	all := readers(t, dir)
	service := all[len(all)-1]
	if out := run(t, dir, nil, "invite", "-db", "v.db", "-name", "Ann", "-admin", "-moderates",
		"urn:vitrine:example.test"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	if out := run(t, dir, nil, "backup", "-db", "v.db", "copy.db"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755))
	if err = errors.Join(err, os.Chown(dir, asOther, asOther)); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"serve", "-addr", "127.0.0.1:0"}, {"doctor"}, {"invite", "-name", "Bob"},
		{"restore", "copy.db"}} {
		out := service.run(t, dir, append(command, "-db", "v.db")...)
		if out.status == 0 ||
			!strings.Contains(out.stdout+out.stderr, "v.db is -rw------- and belongs to root, "+dir) ||
			!strings.Contains(out.stdout+out.stderr, "this process runs as user 54321") {
			t.Errorf("%v: %+v", command, out)
		}
	}
	for _, command := range []string{
		"token -key-file v.db.key -urn urn:vitrine:example.test:user=ann", "doctor -db v.db -key-file v.db.key",
		"serve -db memory: -addr 127.0.0.1:0 -key-file v.db.key",
	} {
		out := service.run(t, dir, strings.Fields(command)...)
		if out.status == 0 ||
			!strings.Contains(out.stdout+out.stderr, "v.db.key: permission denied: this process runs as user 54321") {
			t.Errorf("%s: %+v", command, out)
		}
	}
	low, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")
	if err == nil && strings.TrimSpace(string(low)) == "1024" {
		if out := service.run(t, dir, "serve", "-db", "memory:", "-addr", "127.0.0.1:1"); out.status != 1 ||
			!strings.Contains(out.stderr, "ports below 1024 want the capability CAP_NET_BIND_SERVICE") {
			t.Errorf("%+v", out)
		}
	}
	out := service.run(t, dir, "restore", "-db", "new.db", "copy.db")
	if !strings.Contains(out.stderr, "copy.db is -rw------- and belongs to root") {
		t.Errorf("a copy of root: %+v", out)
	}
	if err := os.Chown(filepath.Join(dir, "v.db"), asOther, asOther); err != nil {
		t.Fatal(err)
	}
	for _, db := range []string{"v.db", "new.db"} {
		if out := run(t, dir, nil, "restore", "-db", db, "copy.db"); out.status != 0 {
			t.Errorf("%s: %+v", db, out)
		}
		if out := service.run(t, dir, "check", "-db", db); out.status != 0 {
			t.Errorf("%s: %+v", db, out)
		}
		if out := service.run(t, dir, "invite", "-db", db, "-name", "Bob", "-moderates",
			"urn:vitrine:example.test"); out.status != 0 {
			t.Errorf("%s: %+v", db, out)
		}
	}
}
