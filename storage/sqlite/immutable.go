package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrUnreadable says that a store cannot be read where it is without missing commits, or that it has changed while it
// was read as a file that nobody changes.
var ErrUnreadable = errors.New("the store cannot be read here")

// immutableFile is a connection to a file that nobody has open. It takes no lock, creates no file, and needs no right
// to write. SQLite reads nothing but the file, so the file must have no log, and must not change meanwhile.
type immutableFile struct {
	*conn
	path   string
	opened fs.FileInfo
}

// openImmutable opens the file at path, which must be a store without a log.
func openImmutable(path string) (*immutableFile, error) {
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if hasLog(path) {
		return nil, fmt.Errorf(
			"%s has a log, %s-wal, so it is in use, or was not closed: copy it with vitrine backup, "+
				"and use that copy", path, path)
	}
	if info.Size() == 0 {
		return nil, fmt.Errorf("%s is empty: it is no whole copy", path)
	}
	if err := inspect(path, 0, true); err != nil {
		return nil, err
	}
	c, err := dialImmutable(path)
	if err != nil {
		return nil, err
	}
	return &immutableFile{c, path, info}, nil
}

// dialImmutable opens a connection to a file that nobody has open.
func dialImmutable(path string) (*conn, error) {
	return dial(path, alone, "trusted_schema=0", "temp_store=MEMORY", readerCache())
}

// unchanged returns an error if somebody has opened or changed the file since it was opened.
func (f *immutableFile) unchanged() error { return unchanged(f.path, f.opened) }

func unchanged(path string, opened fs.FileInfo) error {
	info, err := os.Stat(path)
	if err == nil && os.SameFile(info, opened) && info.Size() == opened.Size() &&
		info.ModTime().Equal(opened.ModTime()) &&
		!hasLog(path) {
		return nil
	}
	return errors.Join(fmt.Errorf("%w: another process has changed %s meanwhile: try again", ErrUnreadable, path), err)
}

// absolute returns the absolute path of a file. It returns an error for what other packages take in place of a path.
func absolute(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New(`the path is empty: want that of a file, such as "vitrine.db"`)
	case path == ":memory:":
		return "", fmt.Errorf("%q is not the path of a file: a store in memory is made by memory.New of package "+
			"storage/memory", path)
	case strings.HasPrefix(path, "file:"):
		return "", fmt.Errorf(`%q is an address: want the path of a file, such as "vitrine.db", and Options`, path)
	}
	return filepath.Abs(path)
}

// realPath returns the absolute path of a file, without symbolic links if it exists. SQLite derives the name of the log
// from the path, so all processes must use the same one.
func realPath(path string) (string, error) {
	path, err := absolute(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path, nil
}
