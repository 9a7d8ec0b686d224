package assets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// Files keeps the bytes of files, each under a name that is used once. The names have letters, digits and hyphens. All
// methods may be called at the same time. Package filestest tests an implementation, and adapters/s3files is one.
//
// A Service never changes bytes: it puts those of a new file or of a replaced one under a new name, and then commits
// the record that has this name. So what an interruption leaves is bytes without a record, which
// [Service.Upkeep] deletes a day later.
type Files interface {
	// Put keeps the size bytes that from yields under a new name. The bytes are durable when it returns nil.
	// After an error some of them may be kept, and List yields the name then. It returns storage.ErrFull if there is no
	// room, and the error of from as it is.
	Put(ctx context.Context, name string, size int64, from io.Reader) error
	// Open returns a reader of size bytes of those that Put has kept under the name, beginning at the offset. If the
	// name has no bytes, Open or the first Read returns an error that wraps fs.ErrNotExist. If the bytes are deleted
	// later, Read returns an error other than io.EOF.
	Open(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error)
	// Delete deletes the bytes with these names, and ignores names without bytes.
	Delete(ctx context.Context, names ...string) error
	// List yields the names that have bytes, also those of a Put that has not ended. An error is the last pair.
	List(ctx context.Context) iter.Seq2[StoredFile, error]
}

// StoredFile is a name that has bytes.
type StoredFile struct {
	Name  string
	Since time.Time // when Put was called
}

// storeFiles are the Files in the store itself. The bytes of a name are in one of the spaces files/0 to files/f, so
// that a slow disk delays no update of a library for longer than it takes to write a chunk:
//
//	object/<name>      a storedObject, as JSON; put with the first chunk, and deleted after the last one
//	data/<name> <n>    the n-th chunk; each has chunkBytes bytes, except the last one
//	file/<id>          which library has the file, see fileHome
type storeFiles struct {
	db  storage.Store
	now func() time.Time
}

const (
	objectKind = "object/"
	chunkKind  = "data/"
	homeKind   = "file/"

	fileSpaces = "files/"
	fileShards = "0123456789abcdef"
	chunkBytes = 1 << 20
	// deletedChunks is how many chunks one update deletes. SQLite overwrites them, and other updates wait meanwhile.
	deletedChunks = 4
)

// FileBytes names the entries of a store that have the bytes of files, for an archive without them (archive.Without).
// The records of the files are in other entries. Audit yields a fault with such a key for each file whose bytes are
// missing.
var FileBytes = []string{"files/* data/", "files/* object/"}

// storedObject is the record of bytes in the store. The record of a file's home has its member, too.
type storedObject struct {
	Since int64 `json:"since"` // milliseconds since the epoch
}

// fileSpace returns the space for a name or the id of a file, which begins with a hexadecimal digit.
func fileSpace(name string) string { return fileSpaces + name[:1] }

func chunkKey(name string, n int64) string {
	return keyval.Key(fileSpace(name), chunkKind, name, keyval.Number(n))
}

// Put writes each chunk in an update of its own, while no update waits for from.
func (s storeFiles) Put(ctx context.Context, name string, size int64, from io.Reader) error {
	space, since := fileSpace(name), s.now().UnixMilli()
	for n := int64(0); n == 0 || size > 0; n++ {
		chunk := make([]byte, min(size, chunkBytes)) // a new one each time, since a store may keep it
		if _, err := io.ReadFull(from, chunk); err != nil {
			return err
		}
		size -= int64(len(chunk))
		entries := []storage.Entry{{Key: chunkKey(name, n), Value: chunk}}
		if n == 0 {
			object, err := json.Marshal(storedObject{since})
			if err != nil {
				return err
			}
			entries = append(entries, storage.Entry{Key: keyval.Key(space, objectKind, name), Value: object})
		}
		err := s.db.Update(ctx, space, storage.UpdateOptions{Large: len(chunk) > chunkBytes/2},
			func(t storage.Tx) error { return t.Put(ctx, entries...) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (s storeFiles) Open(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error) {
	return io.NopCloser(&chunkReader{ctx: ctx, db: s.db, name: name, next: offset, end: offset + size}), nil
}

// chunkReader reads chunk by chunk, each in a View of its own, so that a slow client keeps no snapshot.
type chunkReader struct {
	ctx       context.Context
	db        storage.Store
	name      string
	next, end int64  // offsets
	chunk     []byte // what is left of the chunk at next
}

func (r *chunkReader) Read(p []byte) (int, error) {
	if r.next >= r.end {
		return 0, io.EOF
	}
	if len(r.chunk) == 0 {
		key := chunkKey(r.name, r.next/chunkBytes)
		err := r.db.View(r.ctx, func(in storage.Reader) error {
			// SQLite copies a large value less often for a Scan than for a Get.
			for e, err := range in.Scan(r.ctx, storage.Range{From: key, To: key + "\x00", Limit: 1, Expect: 1}) {
				r.chunk = e.Value
				return err
			}
			return fmt.Errorf("%q: %w", key, fs.ErrNotExist)
		})
		if err != nil {
			return 0, err
		}
		r.chunk = r.chunk[min(r.next%chunkBytes, int64(len(r.chunk))):]
		if len(r.chunk) == 0 {
			return 0, fmt.Errorf("%q: %w", key, io.ErrUnexpectedEOF)
		}
	}
	n := copy(p[:min(int64(len(p)), r.end-r.next)], r.chunk)
	r.chunk, r.next = r.chunk[n:], r.next+int64(n)
	return n, nil
}

func (s storeFiles) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		space := fileSpace(name)
		all := storage.Prefix(keyval.Prefix(space, chunkKind, name))
		for n, more := int64(0), true; more; n += deletedChunks {
			err := s.db.Update(ctx, space, storage.UpdateOptions{Large: true}, func(t storage.Tx) error {
				err := t.DeleteRange(ctx, storage.Range{From: chunkKey(name, n), To: chunkKey(name, n+deletedChunks)})
				if err != nil {
					return err
				}
				left, err := t.Estimate(ctx, all)
				if more = left > 0; err != nil || more {
					return err
				}
				return t.Delete(ctx, keyval.Key(space, objectKind, name))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (s storeFiles) List(ctx context.Context) iter.Seq2[StoredFile, error] {
	return listStored(ctx, s.db, objectKind)
}

// listStored yields the names of the records of a kind in all spaces of files, with their times. It reads a space in a
// View of its own.
func listStored(ctx context.Context, db storage.Store, kind string) iter.Seq2[StoredFile, error] {
	return func(yield func(StoredFile, error) bool) {
		for _, shard := range fileShards {
			prefix := keyval.Prefix(fileSpaces+string(shard), kind)
			var all []StoredFile
			err := db.View(ctx, func(r storage.Reader) error {
				all = nil
				for e, err := range r.Scan(ctx, storage.Prefix(prefix)) {
					var o storedObject
					if err == nil {
						err = readJSON(e.Key, e.Value, &o)
					}
					if err != nil {
						return err
					}
					all = append(all, StoredFile{e.Key[len(prefix):], time.UnixMilli(o.Since)})
				}
				return nil
			})
			if err != nil {
				yield(StoredFile{}, err)
				return
			}
			for _, one := range all {
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}

// fileContent reads the bytes of a name, from any place in them.
type fileContent struct {
	ctx    context.Context
	files  Files
	name   string
	size   int64
	still  func() error // nil, or an error if the file is not served any more; it is asked every chunkBytes
	at     int64
	asked  int64 // bytes that were read since still was asked
	opened io.ReadCloser
	err    error // the first one; it stays
}

func (f *fileContent) Read(p []byte) (n int, err error) {
	switch {
	case f.err != nil:
		return 0, f.err
	case f.at >= f.size:
		return 0, io.EOF
	case f.still != nil && f.asked >= chunkBytes:
		if f.err = f.still(); f.err != nil {
			return 0, f.err
		}
		f.asked = 0
	}
	if f.opened == nil {
		if f.opened, f.err = f.files.Open(f.ctx, f.name, f.at, f.size-f.at); f.err != nil {
			return 0, f.err
		}
	}
	n, err = f.opened.Read(p)
	f.asked += int64(n)
	if f.at += int64(n); err == io.EOF && f.at < f.size {
		err = fmt.Errorf("%s ends after %d of %d bytes: %w", f.name, f.at, f.size, io.ErrUnexpectedEOF)
	}
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

func (f *fileContent) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.size
	}
	if offset < 0 {
		return 0, errors.New("before the first byte")
	}
	if offset == f.at {
		return offset, nil
	}
	f.at = offset
	return offset, f.Close()
}

func (f *fileContent) Close() error {
	opened := f.opened
	if f.opened = nil; opened == nil {
		return nil
	}
	return opened.Close()
}
