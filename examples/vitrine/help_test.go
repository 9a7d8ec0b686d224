package main

import (
	"crypto/x509"
	"io"
	"os"
	"strings"
	"testing"
)

func TestEveryCommandExplainsItself(t *testing.T) {
	dir := t.TempDir()
	for command, flags := range map[string]string{
		"serve": "-addr -db -base-path -base-url -oidc -asset-names -key-file -new-keys -access-log -demo " +
			"-keep-changes -keep-deleted -public-cache -mcp -files -max-file -max-files -tls-cert -tls-key " +
			"-trust-proxy -log -webhooks -webhooks-allow -smtp -protect-tags -approve -languages -metrics-addr",
		"token":          "-db -urn -moderates -reads -tags -roles -groups -components -ttl -key-file",
		"reviews check":  "-json -all -rejects -max-line",
		"reviews import": "-db -network -dry-run -json -all -rejects -max-line",
		"reviews export": "-db -network -out",

		"reviews collections": "-db -network -source -json",
		"reviews delete":      "-db -network -source -collection -review -author -email -everything -dry-run",
		"reviews rules":       "",
		"reviews schema":      "",

		"assets import": "-db -network -library -dry-run -json -all -rejects -files -bucket",
		"assets export": "-db -network -library -out -files -bucket",

		"feed reset": "-db",
		"backup":     "-db -every -keep -without-files",
		"restore":    "-db -without-files",
		"check":      "-db -rebuild -files -without-files",
		"export":     "-db -out -with-access -without-files",
		"invite":     "-db -base-url -name -email -urn -network -admin -moderates -reads -roles -groups -components",
		"import":     "-db",
		"people":     "-db",
		"doctor":     "-db -json -key-file -base-url -tls-cert",
		"healthz":    "-addr -tls-cert",
		"version":    "",
	} {
		words := strings.Fields(command)
		for _, ask := range [][]string{
			append(words, "-h"), append(words, "-help"), append(words, "--help"),
			append([]string{"help"}, words...),
		} {
			out := run(t, dir, nil, ask...)
			if out.status != 0 || out.stderr != "" || strings.Count(out.stdout, "usage:") != 1 ||
				!strings.HasPrefix(out.stdout, "usage: vitrine "+command) {
				t.Errorf("%s: %+v", ask, out)
			}
			if n := strings.Count(out.stdout, "\n  -"); n != len(strings.Fields(flags)) {
				t.Errorf("%s has %d flags in its help: %s", command, n, out.stdout)
			}
			for _, flag := range strings.Fields(flags) {
				_, rest, found := strings.Cut(out.stdout, "\n  "+flag)
				line, explained, _ := strings.Cut(rest, "\n")
				if !found || !strings.Contains(line, "("+variable(flag[1:])) ||
					!strings.HasPrefix(explained, "      ") {
					t.Errorf("%s does not explain %s: %s", command, flag, out.stdout)
				}
			}
			fits(t, out.stdout)
		}
		out := run(t, dir, nil, append(words, "-spam")...)
		if out.status != 2 || out.stdout != "" || !strings.HasPrefix(out.stderr, "usage: vitrine "+command) ||
			strings.Count(out.stderr, "\n") != 2 ||
			!strings.HasSuffix(out.stderr, "\nvitrine: "+command+": there is no flag -spam; -h lists the flags\n") {
			t.Errorf("%s -spam: %+v", command, out)
		}
		fits(t, out.stderr)
	}
	for _, ask := range [][]string{{"reviews", "-h"}, {"reviews", "help"}, {"help", "reviews"}} {
		if out := run(t, dir, nil, ask...); out.status != 0 || strings.Count(out.stdout, "\n  reviews ") < 3 ||
			strings.Contains(out.stdout, "\n  backup") {
			t.Errorf("%s: %+v", ask, out)
		}
	}
	for _, wrong := range []string{
		"tokn", "help tokn", "reviews chek", "help serve x", "-h serve x", "help serve -db",
		"help reviews check x", "help reviews x", "help tokn x y", "help feed reset x", "help version x",
		"help help serve x", "reviews",
	} {
		out := run(t, dir, nil, strings.Fields(wrong)...)
		if out.status != 2 || out.stdout != "" || strings.Count(out.stderr, "\n") != 2 ||
			!strings.HasPrefix(out.stderr, "usage: vitrine ") || !strings.Contains(out.stderr, "\nvitrine: ") {
			t.Errorf("%s: %+v", wrong, out)
		}
		fits(t, out.stderr)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// fits checks that no line is longer than a terminal is wide.
func fits(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
}

func TestTheUsageHasEveryCommand(t *testing.T) {
	for _, ask := range [][]string{{"help"}, {"-h"}, {"--help"}, {"help", "help"}} {
		var out strings.Builder
		p := &program{stdout: &out, stderr: io.Discard}
		if status := p.run(t.Context(), ask); status != 0 {
			t.Errorf("status %d", status)
		}
		plain := strings.Join(strings.Fields(out.String()), " ")
		for _, c := range commands() {
			if !strings.Contains(plain, " "+c.name+" "+c.does) {
				t.Errorf("%s: %s is not in %s", ask, c.name, out.String())
			}
		}
		fits(t, out.String())
	}
}

// The examples of a command's help run as they stand there, apart from the port.
func TestTheExamplesOfTheHelpRun(t *testing.T) {
	dir := t.TempDir()
	writeCertificate(t, dir, 1, x509.Certificate{})
	for _, command := range []string{"serve", "token"} {
		_, text, _ := strings.Cut(run(t, dir, nil, "help", command).stdout, "\nExamples:\n")
		ran := 0
		for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
			words := strings.Fields(line)
			if len(words) == 0 || words[0] == "#" {
				continue
			}
			ran++
			if len(words) < 2 || words[0] != "vitrine" || words[1] != command {
				t.Fatalf("%s has the example %s", command, line)
			}
			if command == "serve" {
				start(t, dir, nil, append(words[2:], "-addr", "127.0.0.1:0")...).stop()
			} else if out := run(t, dir, nil, words[1:]...); out.status != 0 || out.stderr != "" ||
				strings.Count(out.stdout, ".") != 2 {
				t.Errorf("%s: %+v", line, out)
			}
		}
		if ran != 2 {
			t.Errorf("%s has %d examples", command, ran)
		}
	}
}
