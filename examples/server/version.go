package main

import (
	"context"
	"fmt"
	"runtime/debug"
)

// version says what the program was built from, as Go has noted it.
func version(_ context.Context, p *program, args []string) error {
	if err := parse(flags("version"), args); err != nil {
		return err
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	_, err := fmt.Fprintln(p.stdout, describe(info))
	return err
}

// describe is the module's version, the commit and the release of Go, as far as they are known.
func describe(info *debug.BuildInfo) string {
	text := "server"
	if info.Main.Version != "" {
		text += " " + info.Main.Version
	}
	noted := map[string]string{}
	for _, s := range info.Settings {
		noted[s.Key] = s.Value
	}
	if commit := noted["vcs.revision"]; commit != "" {
		text += ", commit " + commit
		if noted["vcs.modified"] == "true" {
			text += " with changes"
		}
	}
	if info.GoVersion != "" {
		text += ", " + info.GoVersion
	}
	return text
}
