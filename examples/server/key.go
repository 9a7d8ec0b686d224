package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// keyVariable is the environment variable that may hold the signing key.
const keyVariable = "VITRINE_KEY"

// keyUsage says what -key-file wants.
const keyUsage = "`file` with the key that signs tokens (default: $" + keyVariable + ", else the file <db>.key)"

// errNoKey: there is no place beside the store. One in memory has no key but that of the process
// which serves it.
var errNoKey = errors.New("-db: only a SQLite file has its key beside it: name one with -key-file, or set " + keyVariable)

// signingKey returns the key that signs tokens: that of -key-file, else of the environment, else
// of the file beside the store. A file that is not there is made, so db is to be looked at before.
func signingKey(db, file, variable string) ([]byte, error) {
	switch {
	case file != "":
	case variable != "":
		return bytes.TrimSpace([]byte(variable)), nil
	case !inFile(db):
		return nil, errNoKey
	default:
		file = db + ".key"
	}
	key, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(file); err != nil {
			return nil, fmt.Errorf("making the key file %s: %w", file, err)
		}
		key, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key file: %w", err)
	}
	key = bytes.TrimSpace(key)
	if len(key) == 0 {
		return nil, fmt.Errorf("the key file %s is empty: delete it to have a new one made", file)
	}
	return key, nil
}

// newKey returns 32 random bytes as text.
func newKey() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return []byte(hex.EncodeToString(b))
}

// makeKey writes a new key beside file and links it to its name, so that a key is never there in
// part, and of two processes that make one at the same time both use the first.
func makeKey(file string) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(newKey())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
