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

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// keyVariable is the environment variable that may hold the signing key.
const keyVariable = "VITRINE_KEY"

// keyUsage says what -key-file wants.
const keyUsage = "`file` with the key that signs tokens (default: $" + keyVariable + ", else the file <db>.key, made on its first use)"

// errNoKey: there is no place beside the store. One in memory has no key but that of the process
// which serves it.
var errNoKey = errors.New("-db: only a SQLite file has its key beside it: name one with -key-file, or set " + keyVariable)

// signer returns what signs and verifies tokens, by the key of -key-file, else of the environment,
// else of the file beside the store. Only the last is made when it is not there, so db is to be looked
// at before: a -key-file that is not there may be mistyped.
func (p *program) signer(db, file string) (*httpapi.Tokens, error) {
	variable := p.getenv(keyVariable)
	var key []byte
	var source string
	var err error
	switch {
	case file != "":
		source = "the key file " + file
		key, err = os.ReadFile(file)
	case variable != "":
		source, key = "the key in "+keyVariable, []byte(variable)
	case !inFile(db):
		return nil, errNoKey
	default:
		source = "the key file " + db + ".key"
		key, err = p.keyBeside(db)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	switch key = bytes.TrimSpace(key); {
	case len(key) == 0:
		return nil, fmt.Errorf("%s is empty", source)
	case len(key) < httpapi.MinKey:
		return nil, fmt.Errorf("%s has %d bytes: it is too short, want at least %d", source, len(key), httpapi.MinKey)
	}
	return httpapi.NewTokens(key, nil)
}

// keyBeside returns the key beside a store, and makes it at its first use.
func (p *program) keyBeside(db string) ([]byte, error) {
	file := db + ".key"
	key, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	made, err := makeKey(file)
	if err != nil {
		return nil, fmt.Errorf("making it: %w", err)
	}
	if made {
		there := ""
		if absent(db) {
			there = "; there is no store beside it yet"
		}
		fmt.Fprintf(p.stderr, "server: made the key file %s%s\n", file, there)
	}
	return os.ReadFile(file)
}

// newKey returns 32 random bytes as text.
func newKey() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return []byte(hex.EncodeToString(b))
}

// makeKey writes a new key beside file and links it to its name, so that a key is never there in
// part, and of two processes that make one at the same time both use the first. made tells that it
// was this one.
func makeKey(file string) (made bool, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".new-*") // mode 0600
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(newKey())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, err
	}
	err = os.Link(f.Name(), file)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}
