package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// createPrivate creates a file that may hold people's data: only its owner may read it, and no symbolic link is
// followed, so nobody who may write into the directory decides where the data go or who reads them. A regular file of
// that name is removed, and the new one takes its place. A device or a named pipe is opened as it is, and so is what
// the system itself links in /dev, such as /dev/stdout.
func createPrivate(name string) (*os.File, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().IsRegular():
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	case info.Mode()&fs.ModeSymlink == 0:
		return openSpecial(name, info)
	case slices.Contains([]string{"/dev", "/dev/fd", "/proc/self/fd"}, filepath.Dir(filepath.Clean(name))):
		return os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	default:
		return nil, fmt.Errorf("%s is a symbolic link, and others may have made it: name the file itself", name)
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// openSpecial opens a file that is not regular, if it is still the one that info describes.
func openSpecial(name string, info fs.FileInfo) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if now, err := file.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, errors.Join(err, file.Close(), fmt.Errorf("%s was replaced while it was opened", name))
	}
	return file, nil
}

// outFlag defines the flag -out.
func outFlag(f *flag.FlagSet) *string {
	return f.String("out", "", "write to `FILE`, which only its owner may read, instead of standard output; "+
		"a file of that name is replaced")
}

// writeOut calls write with the file of -out, or with standard output if name is "". It warns if standard output is a
// file that others may read.
func (p *program) writeOut(name string, write func(io.Writer) error) error {
	if name == "" {
		if file, ok := p.stdout.(*os.File); ok {
			info, err := file.Stat()
			if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0 && runtime.GOOS != "windows" {
				p.complain(fmt.Errorf("warning: standard output is a file that others may read (mode %04o): "+
					"-out FILE makes one that they may not", info.Mode().Perm()))
			}
		}
		return write(p.stdout)
	}
	file, err := createPrivate(name)
	if err != nil {
		return usageError{fmt.Errorf("-out: %w", err)}
	}
	return errors.Join(write(file), file.Close())
}
