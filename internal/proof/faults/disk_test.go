//go:build proof

package faults

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// call is something that SQLite asks of the operating system for a file of a store.
type call struct {
	// op is read, write, truncate, sync, size, lock, map (memory that processes share), grow (that
	// memory), writelock (of the log), readlock (all others of the log), open, delete or access.
	op   string
	file string // its path
}

// verdict is how a call ends: 0 lets it through, else it fails with this code of SQLite, a write
// after half of it is done.
type verdict int32

// disk is a file system of SQLite (VFS) in front of the one of the operating system. All connections of this process
// use it, since it is SQLite's default. Each directory may have a rule that says which calls fail.
type disk struct {
	mu    sync.Mutex
	files map[uintptr]string            // open ones: their path by the address of SQLite's structure
	rules map[string]func(call) verdict // by directory

	unix    uintptr             // the file system of the operating system
	methods map[uintptr]uintptr // ours for each table of its methods
	kept    []any               // functions that only SQLite holds
	openFn  func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	oneFn   func(*libc.TLS, uintptr, uintptr, int32) int32          // delete
	twoFn   func(*libc.TLS, uintptr, uintptr, int32, uintptr) int32 // access
}

// at is the value at an address outside of Go's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// function is the Go function behind an address that SQLite holds, and address the way back.
func function[F any](address uintptr) F {
	return *(*F)(unsafe.Pointer(&struct{ address uintptr }{address}))
}

func address[F any](d *disk, fn F) uintptr {
	d.kept = append(d.kept, fn)
	return *(*uintptr)(unsafe.Pointer(&fn))
}

// newDisk makes a disk and registers it as SQLite's default file system, for as long as the process lives.
func newDisk() (*disk, error) {
	d := &disk{files: map[uintptr]string{}, rules: map[string]func(call) verdict{}, methods: map[uintptr]uintptr{}}
	tls := libc.NewTLS()
	defer tls.Close()
	if rc := lib.Xsqlite3_initialize(tls); rc != lib.SQLITE_OK {
		return nil, fmt.Errorf("sqlite does not start: %d", rc)
	}
	d.unix = lib.Xsqlite3_vfs_find(tls, 0)
	if d.unix == 0 {
		return nil, errors.New("sqlite has no file system")
	}
	below := *at[lib.Tsqlite3_vfs](d.unix)
	d.openFn = function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](below.FxOpen)
	d.oneFn = function[func(*libc.TLS, uintptr, uintptr, int32) int32](below.FxDelete)
	d.twoFn = function[func(*libc.TLS, uintptr, uintptr, int32, uintptr) int32](below.FxAccess)
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(below)))
	name, err := libc.CString("faults")
	if err != nil || own == 0 {
		return nil, errors.Join(err, errors.New("no memory"))
	}
	below.FpNext, below.FzName = 0, name
	below.FxOpen = address(d, d.open)
	below.FxDelete = address(d, d.delete)
	below.FxAccess = address(d, d.access)
	*at[lib.Tsqlite3_vfs](own) = below
	if rc := lib.Xsqlite3_vfs_register(tls, own, 1); rc != lib.SQLITE_OK {
		return nil, fmt.Errorf("sqlite does not take the file system: %d", rc)
	}
	return d, nil
}

// fail sets the rule of a directory; nil heals it. The rule is asked about one call at a time.
func (d *disk) fail(dir string, rule func(call) verdict) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rules[dir] = rule; rule == nil {
		delete(d.rules, dir)
	}
}

// judge asks the rule about a call on an open file.
func (d *disk) judge(op string, file uintptr) verdict {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.judgePath(op, d.files[file])
}

func (d *disk) judgePath(op, path string) verdict {
	if rule := d.rules[filepath.Dir(path)]; rule != nil {
		return rule(call{op, path})
	}
	return 0
}

func (d *disk) judgeName(op string, name uintptr) verdict {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.judgePath(op, libc.GoString(name))
}

func (d *disk) open(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	if v := d.judgeName("open", name); v != 0 {
		*at[uintptr](file) = 0 // no methods: SQLite does not close it
		return int32(v)
	}
	rc := d.openFn(tls, d.unix, name, file, flags, out)
	if rc != lib.SQLITE_OK {
		return rc
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[file] = libc.GoString(name)
	at[lib.Tsqlite3_file](file).FpMethods = d.table(tls, at[lib.Tsqlite3_file](file).FpMethods)
	return rc
}

func (d *disk) delete(tls *libc.TLS, _, name uintptr, sync int32) int32 {
	if v := d.judgeName("delete", name); v != 0 {
		return int32(v)
	}
	return d.oneFn(tls, d.unix, name, sync)
}

func (d *disk) access(tls *libc.TLS, _, name uintptr, flags int32, out uintptr) int32 {
	if v := d.judgeName("access", name); v != 0 {
		return int32(v)
	}
	return d.twoFn(tls, d.unix, name, flags, out)
}

// table returns our methods for theirs.
func (d *disk) table(tls *libc.TLS, theirs uintptr) uintptr {
	if ours := d.methods[theirs]; ours != 0 {
		return ours
	}
	below := *at[lib.Tsqlite3_io_methods](theirs)
	own := below
	closeFn := function[func(*libc.TLS, uintptr) int32](below.FxClose)
	own.FxClose = address(d, func(tls *libc.TLS, file uintptr) int32 {
		d.mu.Lock()
		delete(d.files, file)
		d.mu.Unlock()
		return closeFn(tls, file)
	})
	d.data(&own, below)
	own.FxTruncate = with(d, "truncate", function[func(*libc.TLS, uintptr, int64) int32](below.FxTruncate))
	own.FxSync = with(d, "sync", function[func(*libc.TLS, uintptr, int32) int32](below.FxSync))
	own.FxFileSize = with(d, "size", function[func(*libc.TLS, uintptr, uintptr) int32](below.FxFileSize))
	own.FxLock = with(d, "lock", function[func(*libc.TLS, uintptr, int32) int32](below.FxLock))
	d.shared(&own, below)
	ours := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(own)))
	*at[lib.Tsqlite3_io_methods](ours) = own
	d.methods[theirs] = ours
	return ours
}

// with is a method of one argument that the rule is asked about first.
func with[A any](d *disk, op string, below func(*libc.TLS, uintptr, A) int32) uintptr {
	return address(d, func(tls *libc.TLS, file uintptr, a A) int32 {
		if v := d.judge(op, file); v != 0 {
			return int32(v)
		}
		return below(tls, file, a)
	})
}

// data sets the methods that read and write.
func (d *disk) data(own *lib.Tsqlite3_io_methods, below lib.Tsqlite3_io_methods) {
	type transfer = func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32
	read, write := function[transfer](below.FxRead), function[transfer](below.FxWrite)
	own.FxRead = address(d, func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
		if v := d.judge("read", file); v != 0 {
			return int32(v)
		}
		return read(tls, file, data, n, offset)
	})
	own.FxWrite = address(d, func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
		if v := d.judge("write", file); v != 0 {
			write(tls, file, data, n/2, offset)
			return int32(v)
		}
		return write(tls, file, data, n, offset)
	})
}

// shared sets the methods of the memory that processes share.
func (d *disk) shared(own *lib.Tsqlite3_io_methods, below lib.Tsqlite3_io_methods) {
	type mapFn = func(tls *libc.TLS, file uintptr, region, size, extend int32, out uintptr) int32
	type lockFn = func(tls *libc.TLS, file uintptr, offset, n, flags int32) int32
	mapped, locked := function[mapFn](below.FxShmMap), function[lockFn](below.FxShmLock)
	own.FxShmMap = address(d, func(tls *libc.TLS, file uintptr, region, size, extend int32, out uintptr) int32 {
		op := "map"
		if extend != 0 {
			op = "grow"
		}
		if v := d.judge(op, file); v != 0 {
			*at[uintptr](out) = 0
			return int32(v)
		}
		return mapped(tls, file, region, size, extend, out)
	})
	own.FxShmLock = address(d, func(tls *libc.TLS, file uintptr, offset, n, flags int32) int32 {
		if flags&lib.SQLITE_SHM_LOCK != 0 { // giving a lock back does not fail
			op := "readlock"
			if offset == 0 {
				op = "writelock"
			}
			if v := d.judge(op, file); v != 0 {
				return int32(v)
			}
		}
		return locked(tls, file, offset, n, flags)
	})
}

// broken is how each call ends on a disk that is broken.
var broken = map[string]verdict{
	"read": lib.SQLITE_IOERR_READ, "write": lib.SQLITE_IOERR_WRITE, "truncate": lib.SQLITE_IOERR_TRUNCATE,
	"sync": lib.SQLITE_IOERR_FSYNC,
	"size": lib.SQLITE_IOERR_FSTAT, "lock": lib.SQLITE_IOERR_LOCK, "map": lib.SQLITE_IOERR_SHMMAP,
	"grow":     lib.SQLITE_IOERR_SHMMAP,
	"readlock": lib.SQLITE_IOERR_SHMLOCK, "writelock": lib.SQLITE_IOERR_SHMLOCK, "open": lib.SQLITE_CANTOPEN,
	"delete": lib.SQLITE_IOERR_DELETE, "access": lib.SQLITE_IOERR_ACCESS,
}

// unwritable is how calls end on a disk that can be read and no more.
var unwritable = map[string]verdict{
	"write": lib.SQLITE_IOERR_WRITE, "truncate": lib.SQLITE_IOERR_TRUNCATE, "sync": lib.SQLITE_IOERR_FSYNC,
	"grow": lib.SQLITE_IOERR_SHMMAP, "delete": lib.SQLITE_IOERR_DELETE,
}

// full is how calls end on a disk without room.
var full = map[string]verdict{"write": lib.SQLITE_FULL, "grow": lib.SQLITE_IOERR_SHMSIZE}

// locked is how calls end while another process writes all the time, and crowded, how one ends for
// which SQLite has tried for ten seconds to find a place among the readers.
var (
	locked  = map[string]verdict{"writelock": lib.SQLITE_BUSY}
	crowded = map[string]verdict{"readlock": lib.SQLITE_PROTOCOL}
)
