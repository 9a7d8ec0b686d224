//go:build proof

package console

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The client of the tests, as npm's lock files name it: what is fetched is these bytes or nothing.
const (
	easyXDM   = "easyxdm@2.4.19-pre.2"
	integrity = "mo9PtViR23l0VKGGzU1DOZ+JsptQc+yIOT9C9JQigdtMmMj7HYRFMwSagmCfVrFR1BY3tcY/2dIfSgSI9CZxrg=="
	source    = "package/lib/easyXDM.js"
)

// fetchEasyXDM returns the source of easyXDM, a CommonJS module.
func fetchEasyXDM(t *testing.T) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	dir := t.TempDir()
	npm := exec.CommandContext(ctx, tool(t, "npm"), "pack", easyXDM, "--prefer-offline", "--ignore-scripts",
		"--pack-destination", dir,
		"--fetch-retries", "2", "--fetch-retry-mintimeout", "1000", "--fetch-retry-maxtimeout", "5000") // milliseconds
	npm.Dir = dir
	if said, err := npm.CombinedOutput(); err != nil {
		t.Logf("npm: %s", said)
		missing(t, "%s does not come from npm: %v", easyXDM, err)
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("npm left %q: %v", packages, err)
	}
	text, err := os.ReadFile(packages[0])
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha512.Sum512(text); base64.StdEncoding.EncodeToString(sum[:]) != integrity {
		t.Fatalf("%s is not the package that was published: its SHA-512 is %x", easyXDM, sum)
	}
	return unpack(t, text)
}

func unpack(t *testing.T, text []byte) []byte {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(plain); ; {
		file, err := files.Next()
		if err != nil {
			t.Fatalf("%s has no %s: %v", easyXDM, source, err)
		}
		if file.Name == source {
			text, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
	}
}
