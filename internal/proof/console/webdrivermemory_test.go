package console

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// browserMemory returns how many bytes of memory the processes of browsers that this process has started hold for
// themselves, without what they share with files. It is 0 where /proc does not tell.
func browserMemory() (total int64) {
	parents := map[int]int{}
	held := map[int]int64{}
	all, _ := filepath.Glob("/proc/[0-9]*/status") // the pattern is well-formed
	for _, name := range all {
		status, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parents[pid] = int(statusField(status, "PPid:"))
		if name, _, _ := bytes.Cut(status, []byte("\n")); bytes.Contains(name, []byte("chrom")) {
			held[pid] = statusField(status, "RssAnon:") << 10
		}
	}
	self := os.Getpid()
	for pid := range parents {
		above := pid
		for above > 1 && above != self {
			above = parents[above]
		}
		if above == self && pid != self {
			total += held[pid]
		}
	}
	return total
}

// statusField returns the number behind a name in a status file of /proc.
func statusField(status []byte, name string) int64 {
	_, rest, _ := bytes.Cut(status, []byte("\n"+name))
	words := strings.Fields(string(rest[:min(len(rest), 40)]))
	if len(words) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(words[0], 10, 64)
	return n
}
