package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// disk is the room on the disk of a file, in bytes.
type disk struct {
	free, size int64 // free is what this process may take
	readOnly   bool
}

// reserve is the room that the log of a store may need: 64 MiB, or half of a small disk.
func (d disk) reserve() int64 { return min(64<<20, d.size/2) }

// nearlyFull reports whether the disk has less than the reserve.
func (d disk) nearlyFull() bool { return d.free < d.reserve() }

// diskNear is diskOf for the directory of a store. It follows a symbolic link to the store.
func diskNear(db string) (disk, bool) {
	if real, err := filepath.EvalSymlinks(db); err == nil {
		db = real
	}
	return diskOf(filepath.Dir(db))
}

// inUnits is a number of bytes for people.
func inUnits(bytes int64) string {
	size, units := float64(bytes), []string{"bytes", "KB", "MB", "GB", "TB"}
	for size >= 1000 && len(units) > 1 {
		size, units = size/1000, units[1:]
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", size), ".0") + " " + units[0]
}

// copyNote is the file beside a store that has the time and the name of its newest copy, for doctor and for the metrics
// of a server.
func copyNote(db string) string { return db + ".copied" }

// noteCopy writes the note. It replaces the note of another user, who may have made the copy before.
func noteCopy(db, copied string, made time.Time) error {
	name := copyNote(db)
	if full, err := filepath.Abs(copied); err == nil {
		copied = full
	}
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = fmt.Fprintf(file, "%s %s\n", made.UTC().Format(time.RFC3339), copied)
	// The server may be another user than the one who made the copy.
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}

// lastCopy reads the note. It returns an error if no copy is known.
func lastCopy(db string) (made time.Time, copied string, err error) {
	text, err := os.ReadFile(copyNote(db))
	if err != nil {
		return made, "", err
	}
	at, copied, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	made, err = time.Parse(time.RFC3339, at)
	return made, copied, err
}
