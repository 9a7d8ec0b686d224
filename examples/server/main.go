// Command server is Vitrine in one binary: it serves a store over HTTP and does what its operator
// needs beside that. Run it with -h for its commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// command is one of the words that follow the program's name.
type command struct {
	name  string
	usage string // what follows the name
	does  string // a sentence without its subject and full stop
	run   func(ctx context.Context, p *program, args []string) error
}

// commands lists them as the usage shows them; the first is what runs without a name.
func commands() []command {
	return []command{
		{"serve", "[-addr 127.0.0.1:8080] [-db vitrine.db] [-base-path /] [-base-url URL] [-key-file F] [-access-log] [-demo]",
			"answers requests until it is told to stop", serve},
		{"token", "-urn URN [-moderates URN,URN] [-roles R,R] [-groups G,G] [-components] [-ttl 24h] [-db vitrine.db] [-key-file F]",
			"prints a signed token for the user that its flags describe", token},
		{"reviews", "check [-json] FILE|-",
			"says what is wrong with a file of reviews: exit 0 nothing but warnings, 1 errors, 2 could not read it", reviewCommand},
		{"reviews", "import [-db vitrine.db] [-dry-run] [-json] FILE|-",
			"stores what is right in a file of reviews: exit 0 nothing but warnings, 1 errors and the rest is in, 2 could not go on", reviewCommand},
		{"reviews", "export [-db vitrine.db]",
			"writes all stored reviews to standard output, in the format that import reads", reviewCommand},
		{"backup", "[-db vitrine.db] OUT",
			"copies a store, which others may be using, without its key", backup},
		{"export", "[-db vitrine.db]",
			"writes everything that a store holds to standard output, as an archive that import reads into a store of any kind", exportStore},
		{"import", "-db STORE FILE|-",
			"builds a store of an archive; -db names one that is not there, or an empty database", importStore},
		{"healthz", "[-addr 127.0.0.1:8080]",
			"exits 0 when the server at that address answers", healthz},
		{"version", "",
			"says what this program was built from", version},
	}
}

// program is the process as commands see it.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}

// Exit statuses. What a command found wrong in its input is 1, a command that makes no sense 2.
const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a command line that makes no sense.
type usageError struct{ error }

// exitError is a command that ends with a status of its own.
type exitError struct {
	error
	status int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	p := &program{os.Stdin, os.Stdout, os.Stderr, os.Getenv}
	os.Exit(p.run(ctx, os.Args[1:]))
}

// run carries out one command line and returns the exit status.
func (p *program) run(ctx context.Context, args []string) int {
	if len(args) > 0 && isHelp(args[0]) {
		p.usage(p.stdout, "")
		return 0
	}
	if len(args) > 0 && isVersion(args[0]) {
		return p.status(version(ctx, p, args[1:]), "version")
	}
	all := commands()
	chosen := all[0]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		chosen = command{run: unknown}
		for _, c := range all {
			if c.name == args[0] {
				chosen, args = c, args[1:]
				break
			}
		}
	}
	err := chosen.run(ctx, p, args)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%s: interrupted", chosen.name)
	}
	return p.status(err, chosen.words(args))
}

// words are what the usage of the command begins with: its name, and the word after reviews. Those of
// none are "".
func (c command) words(args []string) string {
	switch {
	case c.name == "":
		return ""
	case c.name == "reviews" && len(args) > 0 && reviewCommands[args[0]] != nil:
		return c.name + " " + args[0] + " "
	}
	return c.name + " "
}

// status reports an error of the command whose usage begins with words and turns it into an exit status.
func (p *program) status(err error, words string) int {
	var usage usageError
	var exit exitError
	var help helpError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &help):
		p.help(p.stdout, help.flags)
		return 0
	case errors.As(err, &usage):
		p.usage(p.stderr, words)
		p.complain(err) // last, where it is seen
		return exitUsage
	case errors.As(err, &exit):
		if exit.error != nil {
			p.complain(err)
		}
		return exit.status
	}
	p.complain(err)
	return exitFailed
}

// complain writes an error as one line, whatever stands in it, without the parts that are said twice.
func (p *program) complain(err error) {
	var parts []string
	for part := range strings.Lines(err.Error()) {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	fmt.Fprintf(p.stderr, "server: %s\n", printable(strings.Join(parts, "; ")))
}

func unknown(_ context.Context, _ *program, args []string) error {
	return usageError{fmt.Errorf("there is no command %q", args[0])}
}
