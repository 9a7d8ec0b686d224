//go:build proof

package soak

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

var gigabytes = flag.Float64("gigabytes", 0, "gigabytes of files in the store; 0 = the short form")

// However many files a store has, backup and export stream them in the same memory, and erasing beside them takes no
// longer. The store and one copy of it are on the disk at a time.
func TestALargeStoreOfFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("writes half a gigabyte")
	}
	const size, mostMemory, mostErasing = 64 << 20, 128 << 20, 2 * time.Second
	const smallFiles, smallSize = 20, 50_000 // for each large one
	binary, err := (program.Build{Module: "../../..", Package: "./examples/vitrine"}).Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, binary)
	w.prepare()
	count := max(int(*gigabytes*1e9/size), 4)
	content, begun := make([]byte, size-9), time.Now()
	_, _ = rand.Read(content)
	for i := range count {
		copy(content, fmt.Sprintf("%08d", i)) // no two files are alike
		name := library + "/files?name=" + strconv.Itoa(i)
		w.send("POST", name+".pdf", "%PDF-1.7\n"+string(content), 200)
		for at := range smallFiles {
			part := content[at*smallSize : (at+1)*smallSize]
			w.send("POST", name+"-"+strconv.Itoa(at)+".pdf", "%PDF-1.7\n"+string(part), 200)
		}
		if t.Failed() {
			t.Fatal(tail(w.Log()))
		}
	}
	t.Logf("%d MiB, and %d small files, came in %.0f s; the server had %d MiB at most", count*size>>20,
		count*smallFiles, time.Since(begun).Seconds(), peak(w.Pid())>>20)

	// Apps that are erased at the same time share one pass over the store.
	var all sync.WaitGroup
	took := make([]time.Duration, 8)
	for i := range took {
		id := w.apps[i].id
		w.send("DELETE", "/apps/"+id, "", 204)
		all.Go(func() {
			begun := time.Now()
			w.send("POST", "/apps/"+id+"/erase", "", 204)
			took[i] = time.Since(begun)
		})
	}
	all.Wait()
	t.Logf("erasing beside them took %v", took)
	for _, one := range took {
		if one > mostErasing {
			t.Errorf("erasing an app takes %v", one)
		}
	}

	out := w.path("copy.db")
	for _, args := range [][]string{{"backup", "-db", w.db(), out}, {"export", "-db", w.db()}} {
		begun, written := time.Now(), &counter{}
		cmd := exec.Command(binary, args...)
		cmd.Stdout, cmd.Env = written, []string{}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- cmd.Wait() }()
		used := 0
		for err = errRuns; err == errRuns; {
			used = max(used, peak(cmd.Process.Pid)) // Maxrss would have what this process has
			select {
			case err = <-ended:
			case <-time.After(20 * time.Millisecond):
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", args[0], err)
		}
		bytes := written.bytes
		if stored, err := os.Stat(out); err == nil {
			bytes = stored.Size()
		}
		t.Logf("%s: %d MiB in %.0f s, with %d MiB at most", args[0], bytes>>20, time.Since(begun).Seconds(), used>>20)
		if bytes < int64(count)*size || used > mostMemory {
			t.Errorf("%s writes %d bytes with %d MiB, want at least %d with at most %d", args[0], bytes, used>>20,
				int64(count)*size, mostMemory>>20)
		}
		_ = os.Remove(out)
	}
	w.stop()
}

var errRuns = errors.New("it runs")

// counter counts what is written.
type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return io.Discard.Write(p)
}

// peak returns how much memory a process had at most, 0 where the system does not tell.
func peak(pid int) (bytes int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if found := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindStringSubmatch(string(text)); err == nil && found != nil {
		bytes, _ = strconv.Atoi(found[1])
	}
	return bytes << 10
}
