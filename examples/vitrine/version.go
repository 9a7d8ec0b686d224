package main

import (
	"context"
	"flag"
	"fmt"
	"runtime/debug"
	"strings"
)

// version is the command version: it prints the build information that the Go toolchain has recorded.
func version(*flag.FlagSet) action {
	return func(_ context.Context, p *program) error {
		_, err := fmt.Fprintln(p.stdout, "vitrine "+versionText())
		return err
	}
}

// versionText describes the build of this program.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return describe(info)
}

// describe is the module's version, the commit and the release of Go, as far as they are known.
func describe(info *debug.BuildInfo) string {
	var parts []string
	if info.Main.Version != "" {
		parts = append(parts, info.Main.Version)
	}
	noted := map[string]string{}
	for _, s := range info.Settings {
		noted[s.Key] = s.Value
	}
	if commit := noted["vcs.revision"]; commit != "" {
		if noted["vcs.modified"] == "true" {
			commit += " with changes"
		}
		parts = append(parts, "commit "+commit)
	}
	if info.GoVersion != "" {
		parts = append(parts, info.GoVersion)
	}
	return strings.Join(parts, ", ")
}
