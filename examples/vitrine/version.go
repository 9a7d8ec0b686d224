package main

import (
	"context"
	"flag"
	"fmt"
	"runtime/debug"
)

// version is the command version: it prints the build information that the Go toolchain has recorded.
func version(*flag.FlagSet) action {
	return func(_ context.Context, p *program) error {
		_, err := fmt.Fprintln(p.stdout, "vitrine "+versionText())
		return err
	}
}

// versionText is the version of the module and the release of Go. The Go toolchain makes the version from the tag or
// the commit, with +dirty if files were changed.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of an unknown build"
	}
	return info.Main.Version + ", " + info.GoVersion
}
