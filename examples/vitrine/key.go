package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// keyVariable is the environment variable that may contain the signing key.
const keyVariable = variablePrefix + "KEY"

// keyUsage says what -key-file wants.
const keyUsage = "`file` with keys, one a line: the first signs tokens, all verify them (default: $" + keyVariable +
	", else the file <db>.key, made with the store)"

// errNoKey is the error for a store that has no key file beside it, when no key is given either.
var errNoKey error = usageError{errors.New("-db: only a SQLite file has its key beside it: name a key file with " +
	"-key-file, or set " + keyVariable)}

// keyIsBeside reports whether the keys are in the file beside the store: neither -key-file nor the environment names
// others.
func (p *program) keyIsBeside(db, file string) bool {
	return file == "" && p.getenv(keyVariable) == "" && inFile(db)
}

// signer returns an httpapi.Tokens with the keys of -key-file, else of the environment, else of the file beside the
// store. It creates no key: only building a store does, see keyMaker. The error of a key that was given by a flag or
// the environment is a usageError.
func (p *program) signer(db, file string) (*httpapi.Tokens, error) {
	variable := p.getenv(keyVariable)
	var text []byte
	var source string
	var err error
	switch {
	case file != "" && variable != "":
		return nil, usageError{errors.New("-key-file and " + keyVariable + ": want one of the two")}
	case file != "":
		source = "the key file " + file
		text, err = p.readShared("key file", file)
	case variable != "":
		source, text = "the key in "+keyVariable, []byte(variable)
	case !inFile(db):
		return nil, errNoKey
	default:
		source = "the key file " + db + ".key"
		if text, err = ownKey(db + ".key"); errors.Is(err, fs.ErrNotExist) {
			return nil, exitError{errors.New("there is no key file " + db + ".key: if the server has its keys " +
				"elsewhere, give -key-file or " + keyVariable + " here too; if the file was lost, put it back. Only " +
				"if it cannot be found, start serve once with -new-keys, which ends all tokens"), exitUsage}
		}
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

// readSecret reads a file with keys. shared is its mode in words if others than its owner may use it, else ""; Windows
// has no such modes.
func readSecret(file string) (text []byte, shared string, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, "", err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		shared = fmt.Sprintf("mode %04o: others than its owner may use it", mode)
	}
	text, err = os.ReadFile(file)
	return text, shared, err
}

// readShared reads a file with keys that a flag names. If its mode lets others read it, readShared only warns, since
// containers mount secrets with such modes. what names the file in the warning.
func (p *program) readShared(what, file string) ([]byte, error) {
	text, shared, err := readSecret(file)
	if err == nil && shared != "" {
		fmt.Fprintf(p.stderr, "vitrine: warning: the %s %s has %s\n", what, file, shared)
	}
	return text, err
}

// keyMaker returns a function that creates the key file beside a store unless it exists. It is called while a store is
// built, before the store gets its name, so that there is never a store without its key. It does nothing if the keys
// are elsewhere. told ends the line that tells the operator of a new key. If it is "", there is no such line.
func (p *program) keyMaker(db, file, told string) func() error {
	return func() error {
		if !p.keyIsBeside(db, file) {
			return nil
		}
		made, err := makeKey(db + ".key")
		if err != nil {
			return fmt.Errorf("making the key file %s.key: %w", db, err)
		}
		if made && told != "" {
			fmt.Fprintf(p.stderr, "vitrine: made the key file %s.key%s", db, told)
		}
		return nil
	}
}

// ownKey reads a key file that this program has created. It returns an error if others than its owner may read it.
func ownKey(file string) ([]byte, error) {
	text, shared, err := readSecret(file)
	if err == nil && shared != "" {
		return nil, fmt.Errorf("it has %s and sign tokens: want 0600 (chmod 600 %s), and a new key if others have "+
			"read it", shared, file)
	}
	return text, err
}

// newKey returns 32 random bytes as text.
func newKey() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return []byte(hex.EncodeToString(b))
}

// makeKey creates a key file unless there is one. The file ends with a newline, so that a key can be appended. makeKey
// writes the key to a temporary file, which it then links to the name. So a key file is never incomplete, and two
// processes that create one at the same time use the same key. made is false if another process was faster.
func makeKey(file string) (made bool, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".new-*") // mode 0600
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(newKey(), '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, err
	}
	err = os.Link(f.Name(), file)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}
