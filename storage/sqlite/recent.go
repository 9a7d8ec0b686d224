package sqlite

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"sync"
)

// recent has values that Views have read since the last commit of any process. A View that finds all of its keys in it
// takes no snapshot, which would cost as much as the rest of a request.
//
// All processes share the index of the log, the file with the ending -shm. It begins with a header that each commit
// changes. SQLite decides by it whether the pages that it has cached are still those of the file, and recent decides by
// the same bytes whether its values are.
type recent struct {
	index *os.File
	mu    sync.Mutex
	at    header
	size  int               // of the values
	value map[string][]byte // nil for an absent key
}

// header is the header of the index of a log, "" if it is not known. It is there twice, and the copies differ while a
// commit writes them. See https://www.sqlite.org/walformat.html.
type header string

const (
	headerSize  = 48
	headerReady = 12 // the byte that is 1 once the index describes the log
)

// How many bytes are kept: in all, and of one value.
const (
	mostRecent      = 4 << 20
	mostRecentValue = 64 << 10
)

// indexes has the open index of each path. A process that closes a file loses all of its locks on the file, also those
// that SQLite holds. So an index stays open until SQLite has removed it, and the next store at the path uses it too.
var indexes = struct {
	sync.Mutex
	open map[string]*os.File
}{open: map[string]*os.File{}}

// newRecent returns nil if no values can be kept: if the index of the store at path cannot be opened, and on systems
// where reading a file may miss what was written to a mapping of it, or where an open file cannot be removed.
func newRecent(path string) *recent {
	if !slices.Contains([]string{"linux", "darwin", "freebsd"}, runtime.GOOS) {
		return nil
	}
	indexes.Lock()
	defer indexes.Unlock()
	path += "-shm"
	f := indexes.open[path]
	if f == nil || removed(f) {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil
		}
		indexes.open[path] = f
	}
	return &recent{index: f, value: map[string][]byte{}}
}

// removed reports whether an open file was removed, or replaced by another one.
func removed(f *os.File) bool {
	opened, err := f.Stat()
	now, errNow := os.Stat(f.Name())
	return err != nil || errNow != nil || !os.SameFile(opened, now)
}

// close is called after the connections of the store were closed.
func (c *recent) close() {
	if c == nil {
		return
	}
	indexes.Lock()
	defer indexes.Unlock()
	if removed(c.index) {
		c.index.Close()
		delete(indexes.open, c.index.Name())
	}
}

// commit returns the header of this moment.
func (c *recent) commit() header {
	if c == nil {
		return ""
	}
	b := make([]byte, 2*headerSize)
	_, err := c.index.ReadAt(b, 0)
	first, second := b[:headerSize], b[headerSize:]
	if err != nil || first[headerReady] != 1 || !bytes.Equal(first, second) {
		return ""
	}
	return header(first)
}

// get returns the values of keys as they were after a commit, nil if it has not all of them.
func (c *recent) get(at header, keys []string) [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at == "" || c.at != at {
		return nil
	}
	values := make([][]byte, len(keys))
	for i, key := range keys {
		v, found := c.value[key]
		if !found {
			return nil
		}
		values[i] = v
	}
	return values
}

// put keeps values that were read after a commit.
func (c *recent) put(at header, keys []string, values [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at != at && c.commit() != at { // a View that has begun earlier
		return
	}
	if c.at != at || c.size > mostRecent {
		clear(c.value)
		c.at, c.size = at, 0
	}
	for i, key := range keys {
		if v := values[i]; len(v) <= mostRecentValue {
			c.value[key] = v
			c.size += len(key) + len(v)
		}
	}
}
