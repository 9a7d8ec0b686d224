//go:build proof && linux

package linear

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// keeper runs programs for a test, as another user than root. A process belongs to a program if it works in the
// program's directory, so processes that a program starts in the background belong to it as well. All of them end with
// the test process, whatever ends that.
type keeper struct {
	Dir string // holds a directory for each program, which has its output in the file log

	shell  *exec.Cmd
	orders io.WriteCloser
}

// keeping is the script of the shell. It runs each script whose name it reads, until its standard input ends, which
// happens with the test process at the latest. Then it kills every process that works below the directory, and removes
// the shared memory by which PostgreSQL servers on one data directory notice each other.
const keeping = `
while read -r script; do sh "$script" & done
found=1
while [ -n "$found" ]; do
	found=
	for process in /proc/[0-9]*; do
		case $(readlink "$process/cwd" 2>/dev/null)/ in
		"$1"/*) kill -9 "${process#/proc/}" 2>/dev/null && found=1 ;;
		esac
	done
done
for server in "$1"/*/data/postmaster.pid; do
	[ ! -e "$server" ] || ipcrm -m "$(sed -n '7s/.* //p' "$server")"
done
rm -rf "$1"
`

// newKeeper makes the directory, in memory if there is room, and starts the shell.
func newKeeper(t testing.TB) *keeper {
	t.Helper()
	const name, enough = "vitrine-ha-", 4 << 30
	parent := ""
	var room syscall.Statfs_t
	if syscall.Statfs("/dev/shm", &room) == nil && room.Bavail*uint64(room.Bsize) > enough {
		parent = "/dev/shm"
	}
	dir, err := os.MkdirTemp(parent, name)
	if err != nil {
		t.Fatal(err)
	}
	k := &keeper{Dir: dir, shell: exec.Command("sh", "-c", keeping, "sh", dir)}
	if err := k.own(dir); err != nil {
		t.Fatal(err)
	}
	k.shell.Dir = "/"
	cluster.Unprivileged(k.shell)
	if k.orders, err = k.shell.StdinPipe(); err == nil {
		err = k.shell.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		k.orders.Close()
		_ = k.shell.Wait()
		os.RemoveAll(k.Dir)
	})
	return k
}

// own makes the user whom the programs run as the owner of a file.
func (k *keeper) own(path string) error {
	if uid, gid, other := cluster.Owner(); other {
		return os.Chown(path, uid, gid)
	}
	return nil
}

// Write writes a file below Dir, and makes the directories that it is in. It returns the path of the file.
func (k *keeper) Write(name, text string, mode fs.FileMode) (path string, err error) {
	path = filepath.Join(k.Dir, name)
	if err := k.Mkdir(filepath.Dir(name)); err != nil {
		return "", err
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return "", err
	}
	return path, k.own(path)
}

// Mkdir makes a directory below Dir, and the directories that it is in. Those that exist stay.
func (k *keeper) Mkdir(name string) error {
	at := k.Dir
	for part := range strings.SplitSeq(filepath.Clean(name), "/") {
		at = filepath.Join(at, part)
		if err := os.Mkdir(at, 0o700); err != nil && !os.IsExist(err) {
			return err
		}
		if err := k.own(at); err != nil {
			return err
		}
	}
	return nil
}

// Start runs a program in its directory, in the background. Its environment is env and a PATH.
func (k *keeper) Start(name string, env []string, program string, args ...string) error {
	var script strings.Builder
	fmt.Fprintf(&script, "cd %s\nexec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=$PWD", quoted(filepath.Join(k.Dir, name)))
	for _, word := range append(append(env, program), args...) {
		script.WriteString(" " + quoted(word))
	}
	script.WriteString(" >>log 2>&1 </dev/null\n")
	path, err := k.Write(filepath.Join(name, "start.sh"), script.String(), 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(k.orders, path+"\n")
	return err
}

// quoted returns a word as the shell reads it.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// Log returns what a program has written.
func (k *keeper) Log(name string) string {
	text, _ := os.ReadFile(filepath.Join(k.Dir, name, "log"))
	return string(text)
}

// Processes returns the ids of all processes of a program.
func (k *keeper) Processes(name string) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		at, err := os.Readlink(link)
		pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
		if err == nil && strings.HasPrefix(at+"/", filepath.Join(k.Dir, name)+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Kill kills all processes of a program, and returns when they have ended.
func (k *keeper) Kill(name string) {
	for len(k.Processes(name)) > 0 {
		k.Signal(name, syscall.SIGKILL)
		time.Sleep(time.Millisecond)
	}
}

// Signal sends a signal to all processes of a program, also to those that start meanwhile.
func (k *keeper) Signal(name string, signal syscall.Signal) {
	for told := map[int]bool{}; ; {
		before := len(told)
		for _, pid := range k.Processes(name) {
			if !told[pid] {
				_ = syscall.Kill(pid, signal) // it may have ended
				told[pid] = true
			}
		}
		if len(told) == before {
			return
		}
	}
}

// Command returns a command that runs as the programs do, in the directory of one of them.
func (k *keeper) Command(name string, env []string, program string, args ...string) *exec.Cmd {
	command := exec.Command(program, args...)
	command.Dir = filepath.Join(k.Dir, name)
	command.Env = append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + command.Dir, "LC_ALL=C.UTF-8"}, env...)
	cluster.Unprivileged(command)
	return command
}
