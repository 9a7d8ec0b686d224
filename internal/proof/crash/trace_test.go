//go:build proof

package crash

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// kind is what an event does to the disk.
type kind int

const (
	write    kind = iota // data at an offset of a file
	truncate             // a file to a size
	syncFile             // what was written to a file is on the disk
	bind                 // a name to a file; 0 = to none
	syncDir              // the names
	mark                 // an acknowledgement
)

// event is a step of the recorded run.
type event struct {
	kind   kind
	file   int // a number of its own for each file
	offset int64
	data   []byte
	name   string // in the directory of the store
	worker int
	count  int // updates of the worker acknowledged
}

// record runs a program, which works on a store at path, under strace.
func record(program, path string, env ...string) ([]event, error) {
	trace := path + ".trace"
	command := exec.Command("strace", "-f", "--seccomp-bpf", "-y", "-xx", "-s", "10000000", "-o", trace,
		"-e", "trace=?open,?creat,openat,write,pwrite64,writev,pwritev,fsync,fdatasync,sync_file_range,ftruncate,"+
			"fallocate,copy_file_range,"+
			"?rename,?renameat,renameat2,?link,linkat,?unlink,unlinkat", program)
	command.Env = append(os.Environ(), append(env, storeVariable+"="+path)...)
	if said, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	f, err := os.Open(trace)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer os.Remove(trace)
	t := tracer{dir: filepath.Dir(path), names: map[string]int{}, begun: map[string]string{}}
	err = t.read(f)
	return t.events, err
}

// tracer turns the lines of strace into events.
type tracer struct {
	dir    string
	names  map[string]int    // the file behind each name
	files  int               // so far
	begun  map[string]string // calls that have not returned, by thread
	events []event
}

func (t *tracer) read(in io.Reader) error {
	lines := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = t.line(strings.TrimRight(line, "\n"))
		}
		if err != nil {
			return err
		}
	}
}

// line takes one line. A call counts when it has returned, but a mark when it is made: what is
// acknowledged must be on the disk by then.
func (t *tracer) line(line string) error {
	thread, call, _ := strings.Cut(line, " ")
	call = strings.TrimLeft(call, " ")
	if name, rest, ok := strings.Cut(call, " resumed>"); ok && strings.HasPrefix(name, "<... ") {
		call = t.begun[thread] + rest
		delete(t.begun, thread)
		if strings.HasPrefix(call, "write(1<") {
			return nil // noted when it began
		}
	} else if begun, ok := strings.CutSuffix(call, " <unfinished ...>"); ok {
		t.begun[thread] = begun
		if strings.HasPrefix(begun, "write(1<") {
			return t.mark(begun)
		}
		return nil
	}
	if call == "" || call[0] == '+' || call[0] == '-' { // the end of a thread, a signal
		return nil
	}
	if strings.HasPrefix(call, "write(1<") {
		return t.mark(call)
	}
	return t.call(call)
}

var (
	quoted   = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
	onFile   = regexp.MustCompile(`^\w+\((\d+)<([^>]*)>`)
	returned = regexp.MustCompile(`\) += `)
	numbers  = regexp.MustCompile(`(\d+)`)
)

// call notes a call, if it concerns the directory of the store or is a mark.
func (t *tracer) call(call string) error {
	name, _, _ := strings.Cut(call, "(")
	end := returned.FindStringIndex(call)
	if end == nil {
		return fmt.Errorf("%.100s: the call does not return", call)
	}
	before, result := call[:end[0]], call[end[1]:]
	if strings.HasPrefix(result, "-1") || result == "?" {
		return nil
	}
	texts, err := texts(before)
	if err != nil {
		return err
	}
	tail := quoted.ReplaceAllString(onFile.ReplaceAllString(before, ""), "")
	if at := onFile.FindStringSubmatch(before); at != nil && name != "openat" && name != "open" {
		return t.onFile(name, t.path(at[2]), texts, numbers.FindAllString(tail, -1))
	}
	return t.onNames(name, before, texts)
}

// path returns a path in plain text, which strace may have printed in hexadecimal.
func (t *tracer) path(p string) string {
	if b, err := unhex(p); err == nil {
		return b
	}
	return p
}

// texts returns the strings among the arguments of a call.
func texts(call string) (list []string, err error) {
	for _, q := range quoted.FindAllStringSubmatch(call, -1) {
		text, err := unhex(q[1])
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

func unhex(s string) (string, error) {
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	return string(b), err
}

// mark notes what a line on the standard output acknowledges.
func (t *tracer) mark(call string) error {
	list, err := texts(call)
	if err != nil {
		return err
	}
	e := event{kind: mark}
	if _, err := fmt.Sscanf(strings.Join(list, ""), "%d %d\n", &e.worker, &e.count); err != nil {
		return fmt.Errorf("mark %.100s: %w", call, err)
	}
	t.events = append(t.events, e)
	return nil
}

// onFile notes a call on an open file.
func (t *tracer) onFile(name, path string, texts, args []string) error {
	if path == t.dir {
		if name == "fsync" || name == "fdatasync" {
			t.events = append(t.events, event{kind: syncDir})
		}
		return nil
	}
	if filepath.Dir(path) != t.dir || strings.HasSuffix(path, "-shm") {
		return nil // the WAL index lives in memory and is made again
	}
	file, known := t.names[filepath.Base(path)]
	if !known {
		return fmt.Errorf("%s on %s, whose creation was not recorded", name, path)
	}
	e := event{file: file}
	switch name {
	case "pwrite64":
		e.kind, e.data = write, []byte(texts[0])
		offset, err := strconv.ParseInt(args[len(args)-1], 10, 64)
		if err != nil {
			return err
		}
		e.offset = offset
	case "ftruncate":
		size, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return err
		}
		e.kind, e.offset = truncate, size
	case "fsync", "fdatasync":
		e.kind = syncFile
	default:
		return fmt.Errorf("%s on %s: the record does not know what that does", name, path)
	}
	t.events = append(t.events, e)
	return nil
}

// onNames notes a call that changes what names there are.
func (t *tracer) onNames(name, call string, paths []string) error {
	var own []string
	for _, p := range paths {
		if filepath.Dir(p) == t.dir && !strings.HasSuffix(p, "-shm") {
			own = append(own, filepath.Base(p))
		}
	}
	if len(own) == 0 {
		return nil
	}
	switch name {
	case "open", "openat":
		if _, there := t.names[own[0]]; !there && strings.Contains(call, "O_CREAT") {
			t.files++
			t.bind(own[0], t.files)
		}
		if strings.Contains(call, "O_TRUNC") {
			t.events = append(t.events, event{kind: truncate, file: t.names[own[0]]})
		}
	case "link", "linkat":
		t.bind(own[1], t.names[own[0]])
	case "unlink", "unlinkat":
		t.bind(own[0], 0)
	default:
		return fmt.Errorf("%s: the record does not know what that does", call)
	}
	return nil
}

func (t *tracer) bind(name string, file int) {
	if t.names[name] = file; file == 0 {
		delete(t.names, name)
	}
	t.events = append(t.events, event{kind: bind, name: name, file: file})
}
