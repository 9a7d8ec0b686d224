// Package migration reads the steps of a driver's schema: numbered SQL files. A release may add files, and never
// changes or removes one. It also has the rule that a process stops writing when a newer release has migrated its store.
package migration

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Step is one step of a schema: it changes the schema of the step before.
type Step struct {
	Number int64
	Name   string // of its file: NNNN_name.sql
	SQL    string
}

// Steps reads the directory migrations and returns its steps in the order of their numbers.
func Steps(files fs.FS) ([]Step, error) {
	const dir = "migrations"
	list, err := fs.ReadDir(files, dir) // in the order of names
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, f := range list {
		prefix, _, _ := strings.Cut(f.Name(), "_")
		n, err := strconv.ParseInt(prefix, 10, 32)
		if err != nil || len(steps) > 0 && n <= steps[len(steps)-1].Number {
			return nil, fmt.Errorf("migration %s: want NNNN_name.sql with a number of its own", f.Name())
		}
		sql, err := fs.ReadFile(files, dir+"/"+f.Name())
		if err != nil {
			return nil, err
		}
		steps = append(steps, Step{n, f.Name(), string(sql)})
	}
	return steps, nil
}

// ErrNewer is the error of an update when a newer release has migrated the store while this process had it open. The newer
// schema may have rules that this process does not know, so it must not write. A driver makes it the ErrBusy of its domain, since
// the same update succeeds when the process was restarted with the newer release.
var ErrNewer = errors.New("a newer release has migrated the store")

// CheckKnown returns ErrNewer if the store has a schema with a higher number than known, the highest that this process knows. Every
// update asks it before it commits anything.
func CheckKnown(schema, known int64) error {
	if schema > known {
		return fmt.Errorf("%w: it has schema %d now, and this process knows schema %d: restart it with the newer release", ErrNewer, schema, known)
	}
	return nil
}
