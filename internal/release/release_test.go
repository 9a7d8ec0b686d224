package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof"
)

var long = flag.Bool("long", false, "build this program for all platforms, the second time with an empty cache; otherwise a small one, for two platforms")

// files are those of a repository, by name.
type files map[string]string

// small are the files of a program that is built within seconds.
func small(t *testing.T) files {
	t.Helper()
	all := files{
		"LICENSE": "A licence.\n", "CHANGELOG.md": "# Changelog\n", "examples/deploy/README.md": "# Deployment\n", "examples/deploy/vitrine-backup": "#!/bin/sh\n",
		"examples/vitrine/main.go": `package main

import (
	"runtime/debug"

	"golang.org/x/mod/semver"
)

func main() {
	info, _ := debug.ReadBuildInfo()
	if !semver.IsValid(info.Main.Version) {
		panic(info.Main.Version)
	}
	println("vitrine " + info.Main.Version)
}
`}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

// whole are the files of this repository.
func whole(t *testing.T) files {
	t.Helper()
	names, err := output("../..", "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		t.Skipf("needs the repository: %v", err)
	}
	all := files{}
	for name := range strings.SplitSeq(strings.TrimRight(names, "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

// repository makes a repository with files, committed and tagged, in a directory with some name.
func repository(t *testing.T, name string, all files) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for name, text := range all {
		to, mode := filepath.Join(dir, name), os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_AUTHOR_DATE", "2001-02-03T04:05:06Z")
	t.Setenv("GIT_COMMITTER_DATE", "2001-02-03T04:05:06Z")
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "--all"},
		{"-c", "user.name=Test", "-c", "user.email=test@example.test", "commit", "--quiet", "--message=Test"}, {"tag", "v0.9.7"}} {
		if _, err := output(dir, "git", args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// content is the files of a release, by name.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(text)
	}
	return files
}

// Two people who build one commit on two machines, here in two directories, get the same bytes.
func TestReleasesAreReproducible(t *testing.T) {
	if proof.Short() {
		t.Skip("it builds programs from scratch")
	}
	all, which := small(t), []string{runtime.GOOS + "/" + runtime.GOARCH, "windows/arm64"}
	if *long {
		all, which = whole(t), strings.Split(platforms, ",")
	}
	one, other := repository(t, "one", all), repository(t, "another place", all)
	first, second := filepath.Join(t.TempDir(), "dist"), filepath.Join(t.TempDir(), "dist")
	if err := release(one, first, which); err != nil {
		t.Fatal(err)
	}
	if *long {
		t.Setenv("GOCACHE", t.TempDir())
	}
	if err := release(other, second, which); err != nil {
		t.Fatal(err)
	}
	have, want := content(t, first), content(t, second)
	if len(have) != 1+2*len(which) {
		t.Errorf("the release has the files %q", slices.Sorted(keys(have)))
	}
	for name := range want {
		if have[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
	for name, text := range have {
		if sum := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name); name != "SHA256SUMS" && !strings.Contains(have["SHA256SUMS"], sum) {
			t.Errorf("SHA256SUMS does not have %s", sum)
		}
	}
	for _, platform := range which {
		t.Run(platform, func(t *testing.T) { look(t, have, platform) })
	}
	if err := release(one, first, which); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("into a directory that is there: %v", err)
	}
}

func keys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

// look looks at what a release has for a platform.
func look(t *testing.T, files map[string]string, platform string) {
	system, processor, _ := strings.Cut(platform, "/")
	title, name := "vitrine_0.9.7_"+system+"_"+processor, "vitrine"
	var inside map[string]string
	if system == "windows" {
		inside, name = unzip(t, files[title+".zip"]), "vitrine.exe"
	} else {
		inside = untar(t, files[title+".tar.gz"])
	}
	for _, want := range []string{name, "LICENSE", "CHANGELOG.md", "deploy/README.md", "deploy/vitrine-backup", "licenses/go/LICENSE", "licenses/golang.org/x/mod/LICENSE"} {
		if inside[title+"/"+want] == "" {
			t.Errorf("the archive has no %s", want)
		}
	}
	info, err := buildinfo.Read(strings.NewReader(inside[title+"/"+name]))
	if err != nil {
		t.Fatal(err)
	}
	if info.Main.Version != "v0.9.7" {
		t.Errorf("the version is %s", info.Main.Version)
	}
	goroot, err := output(".", "go", "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"vitrine-release-", goroot} {
		if strings.Contains(inside[title+"/"+name], place) {
			t.Errorf("the program has %q, a place on the machine that built it", place)
		}
	}
	var list bill
	if err := json.Unmarshal([]byte(files[title+".cdx.json"]), &list); err != nil {
		t.Fatal(err)
	}
	if list.Format != "CycloneDX" || list.Metadata.Timestamp != "2001-02-03T04:05:06Z" ||
		list.Metadata.Component.URL != "pkg:golang/github.com/vitrine-go/vitrine@v0.9.7#examples/vitrine" {
		t.Errorf("the SBOM is of %+v", list.Metadata)
	}
	listed := map[string]bool{}
	for _, c := range list.Components {
		listed[c.Name+" "+c.Version] = true
	}
	for _, m := range info.Deps {
		if !listed[m.Path+" "+m.Version] {
			t.Errorf("the SBOM does not have %s %s", m.Path, m.Version)
		}
	}
	if want := len(info.Deps) + 1; len(listed) != want || !listed["std "+strings.TrimPrefix(info.GoVersion, "go")] || len(list.Dependencies[0].DependsOn) != want {
		t.Errorf("the SBOM has %d components, want the %d modules and the standard library", len(listed), len(info.Deps))
	}
	if platform != runtime.GOOS+"/"+runtime.GOARCH {
		return
	}
	program := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(program, []byte(inside[title+"/"+name]), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "vitrine v0.9.7") || strings.Contains(string(out), "with changes") {
		t.Errorf("version says %q, %v", out, err)
	}
}

func untar(t *testing.T, text string) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if executable := h.Mode == 0o755; executable != (strings.HasSuffix(h.Name, "/vitrine") || strings.HasPrefix(string(content), "#!")) || h.ModTime.Unix() != 981173106 {
			t.Errorf("%s has mode %o and time %s", h.Name, h.Mode, h.ModTime)
		}
		files[h.Name] = string(content)
	}
}

func unzip(t *testing.T, text string) map[string]string {
	t.Helper()
	r, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var content bytes.Buffer
		_, err = content.ReadFrom(in)
		if err := errors.Join(err, in.Close()); err != nil {
			t.Fatal(err)
		}
		files[f.Name] = content.String()
	}
	return files
}
