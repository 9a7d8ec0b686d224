//go:build proof

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// mounted runs this program in a role, in name spaces of its own, where it may mount what it wants
// without any privilege. The machine may forbid that; then the test is skipped.
func mounted(t *testing.T, role string) {
	t.Helper()
	var out, stderr bytes.Buffer
	cmd := process(role, t.TempDir())
	cmd.Stdout, cmd.Stderr = &out, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || strings.Contains(stderr.String(), errMount.Error())) {
		t.Skipf("no file system can be mounted here, so only one that is made up fills up, in "+
			"TestTheNthCallToTheDiskFails: %v %s", err, stderr.String())
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), stderr.String())
	}
	t.Log(strings.TrimSpace(out.String()))
}

var errMount = errors.New("mounting is not allowed")

func mount(dir, options string, flags uintptr) error {
	if err := syscall.Mount("none", dir, "tmpfs", flags, options); err != nil {
		return fmt.Errorf("%w: %s: %w", errMount, options, err)
	}
	return nil
}

// A file system that has no room left: changes are answered 507 and nothing of them is kept, reading
// goes on, and when there is room again changes are made, in the same process.
func TestARealDiskWithoutRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short only one that is made up fills up, in TestTheNthCallToTheDiskFails")
	}
	mounted(t, "small")
}

// smallDisk is a file system and a file that takes its room away.
type smallDisk struct{ dir, filler string }

// leave fills the disk up to so many bytes.
func (d smallDisk) leave(room int64) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &s); err != nil {
		return err
	}
	f, err := os.OpenFile(d.filler, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, max(0, int64(s.Bavail)*s.Bsize-room)))
	return errors.Join(err, f.Close())
}

func (d smallDisk) free() error { return os.Remove(d.filler) }

func onSmallDisk(dir string) error {
	if err := mount(dir, "size=6m", 0); err != nil {
		return err
	}
	content, n := filled()
	d := smallDisk{dir, filepath.Join(dir, "filler")}
	refused, made := 0, 0
	for i, r := range scenarios(n) {
		path := filepath.Join(dir, fmt.Sprintf("store%d.db", i))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
		w, err := openWorld(path, nil, nil)
		if err != nil {
			return err
		}
		before, err := w.state(n)
		if err != nil {
			return err
		}
		for room := int64(0); ; room += 4096 {
			if err := d.leave(room); err != nil {
				return err
			}
			a := w.do(r)
			if a.status == r.status {
				made++
				break
			}
			if a.status != 507 {
				return fmt.Errorf("%s with %d bytes of room: %d %s", r.name, room, a.status, a.body)
			}
			refused++
			if state, err := w.state(n); err != nil || state != before {
				return fmt.Errorf("%s with %d bytes of room: reading: %w, %s", r.name, room, err, differ(state, before))
			}
			if err := d.free(); err != nil {
				return err
			}
			if room > 1<<20 {
				return fmt.Errorf("%s is not made with %d bytes of room", r.name, room)
			}
		}
		if a := w.do(probe(n)); a.status != 201 && a.status != 507 {
			return fmt.Errorf("a change when there may be room: %d", a.status)
		}
		if err := d.free(); err != nil {
			return err
		}
		if a := w.do(probe(n)); a.status != 201 {
			return fmt.Errorf("a change when there is room: %d", a.status)
		}
		if err := errors.Join(w.db.Close(), check(path), os.Remove(path)); err != nil {
			return err
		}
	}
	uploads, err := uploadsOnSmallDisk(d, content)
	if err = errors.Join(err, fillUp(d, content, n), openWithoutRoom(d, content)); err != nil {
		return err
	}
	refused += uploads
	fmt.Printf("%d changes were refused for lack of room, %d made when there was enough\n", refused, made)
	return nil
}

// openWithoutRoom opens a store that was closed, when its disk has no room for a log: only to read.
func openWithoutRoom(d smallDisk, content []byte) error {
	path := filepath.Join(d.dir, "closed.db")
	if err := errors.Join(os.WriteFile(path, content, 0o600), d.leave(0)); err != nil {
		return err
	}
	if _, err := sqlite.Open(path, nil); !errors.Is(err, storage.ErrFull) {
		return fmt.Errorf("opening without room: %w", err)
	}
	db, err := sqlite.Open(path, &sqlite.Options{ReadOnly: true})
	if err == nil {
		err = db.View(context.Background(), func(r storage.Reader) error {
			_, err := storage.ReadIdentity(context.Background(), r)
			return err
		})
		err = errors.Join(err, db.Close())
	}
	return errors.Join(err, d.free(), os.Remove(path))
}

// uploadsOnSmallDisk uploads a file that has no room, neither in the store nor beside it, until there is enough. It
// returns how often it was refused. Nothing is shown of the file then, and another one is served as before.
func uploadsOnSmallDisk(d smallDisk, content []byte) (refused int, err error) {
	path := filepath.Join(d.dir, "uploads.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return 0, err
	}
	w, err := openWorld(path, nil, nil)
	if err != nil {
		return 0, err
	}
	if err := os.Setenv("TMPDIR", d.dir); err != nil {
		return 0, err
	}
	defer os.Unsetenv("TMPDIR")
	file := "%PDF-1.7\n" + strings.Repeat("0123456789abcde\n", 20_000)
	upload, all := post(library+"/files?name=a.pdf", file), request{method: "GET", path: library + "/assets"}
	first := w.send(upload)
	_, address, _ := strings.Cut(first.body, `"href":"`)
	address, _, _ = strings.Cut(address, `"`)
	served, before := request{method: "GET", path: address}, w.send(all).body
	for room := int64(0); ; room += 64 << 10 {
		if err := d.leave(room); err != nil {
			return 0, err
		}
		a := w.send(upload)
		if err := d.free(); err != nil {
			return 0, err
		}
		if a.status == 200 && room > 0 {
			break
		}
		if have := w.send(served); a.status != 507 || w.send(all).body != before || have.body != file {
			return 0, fmt.Errorf("an upload with %d bytes of room: %d %s, and the first file is %d with %d bytes", room,
				a.status, a.body, have.status, len(have.body))
		}
		refused++
	}
	return refused, errors.Join(w.db.Close(), check(path), os.Remove(path))
}

// fillUp writes into a store until there is no room, and goes on when there is some, a few times.
func fillUp(d smallDisk, content []byte, n names) error {
	path := filepath.Join(d.dir, "filled.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	w, err := openWorld(path, nil, nil)
	if err != nil {
		return err
	}
	version := 4
	for round := range 5 {
		if err := d.leave(int64(round+1) * 200 << 10); err != nil {
			return err
		}
		for next := version; ; next++ {
			a := w.send(patch(n.app, next, strings.Repeat(fmt.Sprintf("%x", next*2654435761), 60)))
			if a.status == 507 {
				break
			}
			if a.status != 200 {
				return fmt.Errorf("patch of version %d: %d %s", next, a.status, a.body)
			}
			version = next + 1
		}
		if _, err := w.shown(n); err != nil {
			return err
		}
		if err := d.free(); err != nil {
			return err
		}
		a := w.send(request{method: "GET", path: "/apps/" + n.app})
		if !strings.Contains(a.body, fmt.Sprintf(`"version":"%d"`, version)) {
			return fmt.Errorf("version %d was acknowledged, there is %s", version, a.body)
		}
	}
	return errors.Join(w.db.Close(), check(path))
}

// A store on a file system that cannot be written to is refused, and left as it is.
func TestARealDiskThatIsFixed(t *testing.T) { mounted(t, "fixed") }

func onFixedDisk(dir string) error {
	if err := mount(dir, "size=6m", 0); err != nil {
		return err
	}
	content, _ := filled()
	path := filepath.Join(dir, "store.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	if err := mount(dir, "size=6m", syscall.MS_REMOUNT|syscall.MS_RDONLY); err != nil {
		return err
	}
	for _, name := range []string{path, filepath.Join(dir, "new.db")} {
		w, err := openWorld(name, nil, nil)
		if err == nil {
			return errors.Join(fmt.Errorf("%s was opened", name), w.db.Close())
		}
		if said := err.Error(); !strings.Contains(said, dir) || !strings.Contains(said, "read-only") {
			return fmt.Errorf("the error does not say what is wrong and where: %w", err)
		}
		fmt.Println(err)
	}
	now, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(now, content) {
		return fmt.Errorf("the file has changed: %w", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		return fmt.Errorf("in the directory there is %v: %w", entries, err)
	}
	return nil
}
