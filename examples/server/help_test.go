package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

func TestEveryCommandExplainsItself(t *testing.T) {
	dir := t.TempDir()
	for command, flags := range map[string]string{
		"serve":          "-addr -db -base-path -base-url -key-file -access-log -demo",
		"token":          "-db -urn -moderates -roles -groups -components -ttl -key-file",
		"reviews check":  "-json",
		"reviews import": "-db -dry-run -json",
		"reviews export": "-db",
		"backup":         "-db",
		"export":         "-db",
		"import":         "-db",
		"healthz":        "-addr",
		"version":        "",
	} {
		words := strings.Fields(command)
		for _, ask := range []string{"-h", "-help", "--help"} {
			out := run(t, dir, nil, append(words, ask)...)
			if out.status != 0 || out.stderr != "" || strings.Count(out.stdout, "usage:") != 1 || !strings.Contains(out.stdout, "server "+command+" ") {
				t.Errorf("%s %s: %+v", command, ask, out)
			}
			if n := strings.Count(out.stdout, "\n  -"); n != len(strings.Fields(flags)) {
				t.Errorf("%s has %d flags in its help: %s", command, n, out.stdout)
			}
			for _, flag := range strings.Fields(flags) {
				_, rest, found := strings.Cut(out.stdout, "\n  "+flag)
				_, explained, _ := strings.Cut(rest, "\n")
				if !found || !strings.HasPrefix(explained, "    \t") {
					t.Errorf("%s does not explain %s: %s", command, flag, out.stdout)
				}
			}
		}
		if out := run(t, dir, nil, append(words, "-spam")...); out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, "-spam") || !strings.Contains(out.stderr, "usage:") {
			t.Errorf("%s -spam: %+v", command, out)
		}
	}
	for _, ask := range []string{"-h", "help"} {
		if out := run(t, dir, nil, "reviews", ask); out.status != 0 || strings.Count(out.stdout, "server reviews ") != 3 || strings.Contains(out.stdout, "server backup") {
			t.Errorf("reviews %s: %+v", ask, out)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// The usage is the whole of the table of commands.
func TestTheUsageHasEveryCommand(t *testing.T) {
	var out strings.Builder
	p := &program{stdout: &out, stderr: io.Discard}
	if status := p.run(t.Context(), []string{"help"}); status != 0 {
		t.Errorf("status %d", status)
	}
	for _, c := range commands() {
		if !strings.Contains(out.String(), c.usage) || !strings.Contains(out.String(), c.does) {
			t.Errorf("%s %s is not in %s", c.name, c.usage, out.String())
		}
	}
}
