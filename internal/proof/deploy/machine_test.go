//go:build proof && linux

package deploy_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"
)

// insideVariable says what a process of this test does on a machine of its own, and placeVariable in which directory.
const (
	insideVariable = "VITRINE_DEPLOY_INSIDE"
	placeVariable  = "VITRINE_DEPLOY_PLACE"
)

// insides are what runs on a machine of its own, by name. Each gets an empty directory for its root, in which nothing
// that it mounts is seen from outside.
var insides = map[string]func(place, top string) error{"walk": walkInside, "container": containerInside}

// onOwnMachine runs one of insides in this program again, with processes, mounts and a network of its own: only a
// loopback device, on which every port is free.
func onOwnMachine(t *testing.T, name, place string) {
	t.Helper()
	if os.Getuid() != 0 {
		missing(t, "a machine of its own takes root")
	}
	command := exec.Command("/proc/self/exe")
	command.Env = append(os.Environ(), insideVariable+"="+name, placeVariable+"="+place)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS}
	out, err := command.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		missing(t, "this system gives no namespaces to root")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
}

// inside is the main function of a process on a machine of its own. When it ends, the system ends all that it has
// started.
func inside() int {
	err := func() error {
		top, err := os.MkdirTemp(os.Getenv(placeVariable), "root-")
		if err != nil {
			return err
		}
		// What is mounted from here on is seen here alone.
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("private mounts: %w", err)
		}
		if err := syscall.Mount("tmpfs", top, "tmpfs", 0, "mode=0755"); err != nil {
			return fmt.Errorf("mounting the root: %w", err)
		}
		if err := loopbackUp(); err != nil {
			return fmt.Errorf("the loopback device: %w", err)
		}
		return insides[os.Getenv(insideVariable)](os.Getenv(placeVariable), top)
	}()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// loopbackUp does what `ip link set lo up` does.
func loopbackUp() error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	var request struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], "lo")
	request.flags = syscall.IFF_UP | syscall.IFF_RUNNING
	if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS,
		uintptr(unsafe.Pointer(&request))); no != 0 {
		return no
	}
	return nil
}

// clean makes top the root of a machine that has the programs of this one, and a directory for everything else: nothing
// below /usr/local, so no Go, no data, and a copy of /etc.
func clean(top string) error {
	for _, dir := range []string{"usr", "proc", "dev", "etc", "home", "root", "tmp", "run", "srv", "var/log/nginx",
		"var/lib/nginx", "var/backups", "var/tmp", "var/cache", "var/spool"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Chmod(filepath.Join(top, "tmp"), 0o1777),
		os.Chmod(filepath.Join(top, "var/tmp"), 0o1777)); err != nil {
		return err
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		to, err := os.Readlink("/" + name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("want a system whose /%s is a link into /usr: %w", name, err)
		}
		if err := os.Symlink(to, filepath.Join(top, name)); err != nil {
			return err
		}
	}
	if out, err := exec.Command("cp", "-a", "/etc/.", filepath.Join(top, "etc")).CombinedOutput(); err != nil {
		return fmt.Errorf("copying /etc: %w: %s", err, out)
	}
	usr := filepath.Join(top, "usr")
	for _, m := range []struct {
		from, to, kind string
		flags          uintptr
	}{
		{"/usr", usr, "", syscall.MS_BIND},
		{"", usr, "", syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY},
		{"tmpfs", filepath.Join(usr, "local"), "tmpfs", 0},
		{"/dev", filepath.Join(top, "dev"), "", syscall.MS_BIND | syscall.MS_REC},
		{"proc", filepath.Join(top, "proc"), "proc", 0},
	} {
		if err := syscall.Mount(m.from, m.to, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", m.to, err)
		}
	}
	for _, dir := range []string{"bin", "sbin", "lib"} {
		if err := os.Mkdir(filepath.Join(usr, "local", dir), 0o755); err != nil {
			return err
		}
	}
	hosts := filepath.Join(top, "etc", "hosts")
	_ = os.Remove(hosts)
	return os.WriteFile(hosts, []byte("127.0.0.1 localhost\n::1 localhost\n"), 0o644)
}
