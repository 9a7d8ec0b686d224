package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// keyVariable is the environment variable that may hold the signing key.
const keyVariable = "VITRINE_KEY"

// keyUsage says what -key-file wants.
const keyUsage = "`file` with keys, one a line: the first signs tokens, all verify them (default: $" + keyVariable + ", else the file <db>.key, made on its first use)"

// errNoKey: there is no place beside the store. One in memory has no key but that of the process
// which serves it.
var errNoKey error = usageError{errors.New("-db: only a SQLite file has its key beside it: name one with -key-file, or set " + keyVariable)}

// signer returns what signs and verifies tokens, by the key of -key-file, else of the environment,
// else of the file beside the store. Only the last is made when it is not there, so db is to be looked
// at before: a -key-file that is not there may be mistyped.
func (p *program) signer(db, file string) (*httpapi.Tokens, error) {
	return p.signerBy(db, file, p.keyBeside)
}

// keyIsBeside reports that the key is in the file beside the store: neither -key-file nor the environment gives one.
func (p *program) keyIsBeside(db, file string) bool {
	return file == "" && p.getenv(keyVariable) == "" && inFile(db)
}

// signerAgain is signer for a process that has one already: no key is made.
func (p *program) signerAgain(db, file string) (*httpapi.Tokens, error) {
	return p.signerBy(db, file, func(db string) ([]byte, error) { return ownKey(db + ".key") })
}

// signerBy is signer with the way to read the key beside the store. What is wrong with a key that was given is a
// mistake of the command line.
func (p *program) signerBy(db, file string, beside func(db string) ([]byte, error)) (*httpapi.Tokens, error) {
	variable := p.getenv(keyVariable)
	var text []byte
	var source string
	var err error
	switch {
	case file != "" && variable != "":
		return nil, usageError{errors.New("-key-file and " + keyVariable + ": want one of the two")}
	case file != "":
		source = "the key file " + file
		text, err = p.keyIn(file)
	case variable != "":
		source, text = "the key in "+keyVariable, []byte(variable)
	case !inFile(db):
		return nil, errNoKey
	default:
		source = "the key file " + db + ".key"
		text, err = beside(db)
	}
	var keys [][]byte
	if err == nil {
		keys, err = httpapi.ParseKeys(text)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", source, err)
		if !p.keyIsBeside(db, file) {
			err = usageError{err}
		}
		return nil, err
	}
	return httpapi.NewTokens(keys[0], &httpapi.TokenOptions{Verify: keys[1:]})
}

// readKey reads a key file and tells by its mode whether others than its owner may have to do with it.
// Windows has no such modes.
func readKey(file string) (text []byte, mode fs.FileMode, shared bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, false, err
	}
	text, err = io.ReadAll(f)
	mode = info.Mode().Perm()
	return text, mode, mode&0o077 != 0 && runtime.GOOS != "windows", err
}

// keyIn reads the file that -key-file names. Others may be allowed to read it, as where a container
// mounts its secrets, so that is only said.
func (p *program) keyIn(file string) ([]byte, error) {
	text, mode, shared, err := readKey(file)
	if err == nil && shared {
		fmt.Fprintf(p.stderr, "vitrine: warning: the key file %s has mode %04o: others than its owner may use it, and sign tokens\n", file, mode)
	}
	return text, err
}

// keyBeside returns the key beside a store, and makes it at its first use.
func (p *program) keyBeside(db string) ([]byte, error) {
	file := db + ".key"
	text, err := ownKey(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
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
		fmt.Fprintf(p.stderr, "vitrine: made the key file %s%s\n", file, there)
	}
	return ownKey(file)
}

// ownKey reads a key file that this program made, for its owner alone.
func ownKey(file string) ([]byte, error) {
	text, mode, shared, err := readKey(file)
	if err == nil && shared {
		return nil, fmt.Errorf("its mode is %04o, so others than its owner may use it and sign tokens: want 0600 (chmod 600 %s), and a new key if others have read it", mode, file)
	}
	return text, err
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
