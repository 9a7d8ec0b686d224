//go:build proof

package faults

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// The test program is also the other process: it does what this variable names, and ends.
const roleVariable = "VITRINE_FAULTS_ROLE"

// roles are what another process can be. It is given a path.
var roles = map[string]func(path string) error{
	"hold":  holdLock,
	"small": onSmallDisk,
	"fixed": onFixedDisk,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		name, path, _ := strings.Cut(role, " ")
		if err := roles[name](path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// What the proof asks of a disk is counted and failed on its way there. The disk itself may be fast.
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		os.Setenv("TMPDIR", "/dev/shm")
	}
	var err error
	if theDisk, err = newDisk(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// process is this program in a role.
func process(role, path string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role+" "+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// holdLock takes the write lock of a store and keeps it until its input ends.
func holdLock(path string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	fmt.Println("held")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return nil
}

// holder starts a process that holds the write lock, and returns what ends it.
func holder(t *testing.T, path string) (release func()) {
	t.Helper()
	cmd := process("hold", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() {
		in.Close()
		cmd.Wait()
	})
	t.Cleanup(release)
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "held\n" {
		t.Fatalf("the other process says %q: %v", said, err)
	}
	return release
}
