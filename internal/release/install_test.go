package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// What is committed makes a module that `go install …@latest` takes, and the program that comes of it says its version. In
// the short form the program is not built.
func TestTheModuleCanBeInstalled(t *testing.T) {
	const path, version = "github.com/vitrine-go/vitrine", "v0.9.7"
	dir := repository(t, "module", whole(t))
	var content bytes.Buffer
	if err := zip.CreateFromDir(&content, module.Version{Path: path, Version: version}, dir); err != nil {
		t.Fatal(err)
	}
	if !*long {
		return
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := t.TempDir()
	served := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(served, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": version + "\n", version + ".info": `{"Version":"` + version + `","Time":"2001-02-03T04:05:06Z"}`,
		version + ".mod": string(mod), version + ".zip": content.String()} {
		if err := os.WriteFile(filepath.Join(served, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known, err := output(dir, "go", "env", "GOMODCACHE")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	install := exec.Command("go", "install", path+"/examples/vitrine@latest")
	install.Dir = bin
	install.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw -trimpath", "GOSUMDB=off",
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(filepath.Join(known, "cache", "download")))
	if said, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	said, err := exec.Command(filepath.Join(bin, "vitrine"), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), "vitrine "+version+", go1.") {
		t.Errorf("it says %q, %v", said, err)
	}
}
