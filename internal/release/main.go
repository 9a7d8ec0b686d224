// Command release builds what people download: for each platform an archive with the program, its documentation and the
// licences of what it links, a list of its modules (an SBOM), and the SHA-256 sums of all files. `.ci/release` runs it.
//
// It builds the commit that is checked out, from a clone of its own, so that the same commit and the same release of Go
// give the same bytes on any machine. The version is that of the tag of the commit, as Go notes it in the program.
package main

import (
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// platforms are the platforms of a release.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	source := flag.String("source", ".", "`directory` of the repository")
	out := flag.String("out", "dist", "`directory` for the release; it must not exist")
	list := flag.String("platforms", platforms, "`platforms`, with commas")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "release: want flags and no arguments, have %q\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := release(*source, *out, strings.Split(*list, ",")); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// release builds the commit that is checked out in source into the directory out. The files are made in out.parts, which is
// renamed to out when all of them are complete, and removed after an error.
func release(source, out string, platforms []string) (err error) {
	if _, err := os.Lstat(out); err == nil {
		return fmt.Errorf("%s exists already: want the name of a new directory", out)
	}
	work, err := os.MkdirTemp("", "vitrine-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	clone := filepath.Join(work, "source")
	if err := cloned(source, clone); err != nil {
		return err
	}
	parts := out + ".parts"
	if err := os.Mkdir(parts, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(parts)
	for _, platform := range platforms {
		if err := build(clone, work, parts, platform); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	if err := sums(parts); err != nil {
		return err
	}
	return os.Rename(parts, out)
}

// cloned clones source, with its tags, and checks out the commit that source has checked out. Changes that are not
// committed are not part of it.
func cloned(source, clone string) error {
	changed, err := output(source, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		fmt.Fprintf(os.Stderr, "release: changes that are not committed are left out:\n%s\n", changed)
	}
	commit, err := output(source, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if _, err := output(source, "git", "clone", "--quiet", "--no-checkout", ".", clone); err != nil {
		return err
	}
	_, err = output(clone, "git", "checkout", "--quiet", "--detach", commit)
	return err
}

// build makes the archive of a platform, and its SBOM.
func build(clone, work, parts, platform string) error {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return errors.New("want a platform such as linux/amd64")
	}
	name := "vitrine"
	if system == "windows" {
		name += ".exe"
	}
	binary := filepath.Join(work, system+"-"+processor, name)
	command := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-buildid= -s -w", "-o", binary, "./examples/vitrine")
	command.Dir = clone
	command.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0", "GOWORK=off",
		"GOFLAGS=-mod=readonly")
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, said)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	version, named := strings.CutPrefix(info.Main.Version, "v")
	if !named || strings.HasSuffix(version, "+dirty") {
		return fmt.Errorf("the version of the program is %q: want that of a commit, with or without a tag", info.Main.Version)
	}
	title := fmt.Sprintf("vitrine_%s_%s_%s", version, system, processor)
	committed, err := commitTime(info)
	if err != nil {
		return err
	}
	list, err := sbom(info, committed)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(parts, title+".cdx.json"), list, 0o644); err != nil {
		return err
	}
	files, err := contents(clone, binary, info)
	if err != nil {
		return err
	}
	if system == "windows" {
		return writeZip(filepath.Join(parts, title+".zip"), title, committed, files)
	}
	return writeTar(filepath.Join(parts, title+".tar.gz"), title, committed, files)
}

// output returns what a command prints, without the newline at its end.
func output(dir, name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Dir = dir
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimRight(string(out), "\n"), nil
}
