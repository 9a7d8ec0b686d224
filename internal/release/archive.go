package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive.
type file struct {
	name       string // below the directory of the archive, with slashes
	content    []byte
	executable bool
}

// mode is the mode of the file in the archive.
func (f file) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// contents returns the files of an archive, by name: the program, LICENSE and CHANGELOG.md, the examples of deployment,
// and the licences of everything that is linked.
func contents(clone, binary string, info *debug.BuildInfo) ([]file, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	all := []file{{filepath.Base(binary), program, true}}
	for _, name := range []string{"LICENSE", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(clone, name))
		if err != nil {
			return nil, err
		}
		all = append(all, file{name: name, content: text})
	}
	deploy, err := tree(filepath.Join(clone, "examples", "deploy"), "deploy")
	if err != nil {
		return nil, err
	}
	licenses, err := licenses(clone, info)
	if err != nil {
		return nil, err
	}
	all = slices.Concat(all, deploy, licenses)
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// tree returns the files below the directory dir. Their names in the archive are below the directory below.
func tree(dir, below string) (all []file, err error) {
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		within, err := filepath.Rel(dir, name)
		all = append(all, file{path.Join(below, filepath.ToSlash(within)), text, info.Mode()&0o100 != 0})
		return err
	})
	return all, err
}

// licenses returns the licence files of Go and of the modules that are linked. A module without one is an error, since
// it must not be distributed.
func licenses(clone string, info *debug.BuildInfo) ([]file, error) {
	goroot, err := output(clone, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{"go": goroot}
	modules := make([]string, 0, len(info.Deps))
	for _, m := range info.Deps {
		modules = append(modules, m.Path)
	}
	listed, err := output(clone, "go", append([]string{"list", "-m", "-f", "{{.Path}} {{.Dir}}"}, modules...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(listed) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		dirs[name] = dir
	}
	var all []file
	for name, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, entry := range entries {
			if upper := strings.ToUpper(entry.Name()); entry.IsDir() || !licence(upper) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if err != nil {
				return nil, err
			}
			all = append(all, file{name: path.Join("licenses", name, entry.Name()), content: text})
		}
		if len(all) == before {
			return nil, fmt.Errorf("%s has no file with its licence", name)
		}
	}
	return all, nil
}

// licence reports whether a file states the terms of distribution, by its name in capitals.
func licence(upper string) bool {
	return slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"}, func(word string) bool {
		return strings.HasPrefix(upper, word) && path.Ext(upper) != ".GO"
	})
}

// writeTar writes files into a compressed tar archive. Its bytes depend on the files and on at alone, so a release can
// be reproduced.
func writeTar(name, dir string, at time.Time, files []file) error {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // an error is only about the level
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: dir + "/" + f.name, Size: int64(len(f.content)), Mode: int64(f.mode()), ModTime: at}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.content); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o644)
}

// writeZip writes files into a zip archive, as writeTar does.
func writeZip(name, dir string, at time.Time, files []file) error {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: dir + "/" + f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode())
		entry, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.content); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o644)
}

// sums writes the SHA-256 sums of the files of a directory into its file SHA256SUMS, in the form of sha256sum --check.
func sums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(content), entry.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(out.String()), 0o644)
}
