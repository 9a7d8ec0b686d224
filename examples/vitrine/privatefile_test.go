//go:build unix

package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// writers are the commands that write people's data to a file that they are given the name of, which is %.
func writers(t *testing.T) (dir string, commands map[string][]string) {
	dir = reviewFiles(t)
	if out := run(t, dir, nil, "reviews", "import", "-db", "v.db", "good"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	const table = "product_id,rating,date,name\nlamp,x,2019-04-03,Ann\nlamp,5,2019-04-03,Ben\nlamp,4,2019-04-04,Cid\n"
	if err := os.WriteFile(filepath.Join(dir, "table"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, map[string][]string{
		"backup":                  {"backup", "-db", "v.db", "%"},
		"export":                  {"export", "-with-access", "-db", "v.db", "-out", "%"},
		"reviews export":          {"reviews", "export", "-db", "v.db", "-out", "%"},
		"reviews convert":         {"reviews", "convert", "-out", "%", "table"},
		"reviews convert rejects": {"reviews", "convert", "-rejects", "%", "table"},
		"reviews check rejects":   {"reviews", "check", "-rejects", "%", "bad"},
		"reviews import rejects":  {"reviews", "import", "-db", "v.db", "-rejects", "%", "bad"},
	}
}

// named runs a command of writers with a name.
func named(t *testing.T, dir string, command []string, name string) outcome {
	args := strings.Split(strings.ReplaceAll(strings.Join(command, "\n"), "%", name), "\n")
	return run(t, dir, nil, args...)
}

// The store and its key are such files as well.
func TestFilesWithPeoplesDataArePrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir, commands := writers(t)
	private := func(what, name string) {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || info.Mode() != 0o600 || info.Size() == 0 {
			t.Errorf("%s: %s: %+v, %v", what, name, info, err)
		}
	}
	private("the store", "v.db")
	private("its key", "v.db.key")
	for what, command := range commands {
		if out := named(t, dir, command, "new"); out.status > 1 {
			t.Errorf("%s: %+v", what, out)
		}
		private(what, "new")
		if err := os.Remove(filepath.Join(dir, "new")); err != nil {
			t.Fatal(err)
		}
		// Whoever has the old file open, or another name of it, does not see what is written now.
		if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		open, err := os.Open(filepath.Join(dir, "old"))
		if err != nil {
			t.Fatal(err)
		}
		if out := named(t, dir, command, "old"); what != "backup" && out.status > 1 {
			t.Errorf("%s: %+v", what, out)
		}
		if what != "backup" { // it leaves files that exist as they are
			private(what, "old")
		}
		if seen, err := io.ReadAll(open); len(seen) > 0 || err != nil || open.Close() != nil {
			t.Errorf("%s: %q was seen through the old file, %v", what, seen, err)
		}
		if err := os.Remove(filepath.Join(dir, "old")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesWithPeoplesDataFollowNoLink(t *testing.T) {
	dir, commands := writers(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for what, command := range commands {
		for _, target := range []string{"", "there was something", "absent"} {
			if err := os.WriteFile(at("target"), []byte(target), 0o644); err != nil {
				t.Fatal(err)
			}
			if target == "absent" {
				if err := os.Remove(at("target")); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("target", at("link")); err != nil {
				t.Skip(err)
			}
			out := named(t, dir, command, "link")
			if out.status == 0 || strings.Contains(out.stderr, "converted:") || !strings.Contains(out.stderr, "link") {
				t.Errorf("%s: %q: %+v", what, target, out)
			}
			has, err := os.ReadFile(at("target"))
			if absent := errors.Is(err, fs.ErrNotExist); absent != (target == "absent") || !absent &&
				string(has) != target {
				t.Errorf("%s: the target of the link has %q, %v", what, has, err)
			}
			_ = os.Remove(at("target"))
			if err := os.Remove(at("link")); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
}

// What is no regular file is written to as it is: devices, pipes, and the names that the system has for them.
func TestFilesThatAreNotRegularAreUsed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it needs /dev/fd and pipes with names")
	}
	dir, commands := writers(t)
	delete(commands, "backup")
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, command := range commands {
		if out := named(t, dir, command, "/dev/null"); out.status > 1 {
			t.Errorf("%s: /dev/null: %+v", what, out)
		}
		if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
			t.Fatalf("/dev/null is %v, %v", info.Mode(), err)
		}
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{pipe, "/dev/fd/" + strconv.Itoa(int(write.Fd()))} {
			got := make(chan string, 1)
			go func() {
				from := read
				if name == pipe {
					from, _ = os.Open(pipe)
				}
				b := make([]byte, 1<<16)
				n, _ := from.Read(b)
				if name == pipe { // the next command waits for a reader of its own
					_ = from.Close()
				}
				got <- string(b[:n])
			}()
			if out := named(t, dir, command, name); out.status > 1 {
				t.Errorf("%s: %s: %+v", what, name, out)
			}
			select {
			case text := <-got:
				if text == "" {
					t.Errorf("%s: nothing came through %s", what, name)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: nothing was written to %s", what, name)
			}
		}
		_, _ = read.Close(), write.Close()
	}
}

// The file of -out is written anew, so it must be neither the store nor what is read.
func TestOutDoesNotOverwriteWhatIsRead(t *testing.T) {
	dir, commands := writers(t)
	for _, c := range []struct{ command, name string }{
		{"export", "v.db"}, {"export", "v.db.key"}, {"reviews export", "./v.db"}, {"reviews convert", "table"},
	} {
		before := readFile(t, dir, c.name)
		out := named(t, dir, commands[c.command], c.name)
		if out.status != exitUsage || out.stdout != "" || readFile(t, dir, c.name) != before {
			t.Errorf("%s -out %s: %+v", c.command, c.name, out)
		}
	}
	if out := named(t, dir, append(commands["reviews convert"], "-rejects", "./%"), "same"); out.status != exitUsage {
		t.Errorf("-out and -rejects of one name: %+v", out)
	}
}

// The shell has created what standard output goes to, so all that the program can do is to say so.
func TestStandardOutputThatOthersMayRead(t *testing.T) {
	dir, _ := writers(t)
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o640: true, 0o644: true} {
		file, err := os.OpenFile(filepath.Join(dir, "out"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil || file.Chmod(mode) != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		p := newProgram(nil, "", nil, &stderr)
		p.stdout = file
		if p.run(t.Context(), []string{"export", "-db", "v.db"}) != 0 || file.Close() != nil ||
			readFile(t, dir, "out") == "" {
			t.Errorf("%v: %s", mode, stderr.String())
		}
		if strings.Contains(stderr.String(), "others may read") != want {
			t.Errorf("%v: %s", mode, stderr.String())
		}
	}
}
