// Command server is Vitrine in one binary: it serves a store over HTTP and does what its operator
// needs beside that. Run it with -h for its commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// command is one of the words that follow the program's name.
type command struct {
	name  string
	usage string // what follows the name
	run   func(ctx context.Context, p *program, args []string) error
}

// commands lists them as the usage shows them; the first is what runs without a name.
func commands() []command {
	return []command{
		{"serve", "[-addr 127.0.0.1:8080] [-db vitrine.db] [-base-path /] [-base-url URL] [-key-file F] [-access-log] [-demo]", serve},
		{"token", "-urn URN [-moderates URN,URN] [-roles R,R] [-groups G,G] [-components] [-ttl 24h] [-db vitrine.db] [-key-file F]", token},
		{"reviews", "check [-json] FILE|-", reviewCommand},
		{"reviews", "import [-db vitrine.db] [-dry-run] [-json] FILE|-", reviewCommand},
		{"reviews", "export [-db vitrine.db]", reviewCommand},
		{"backup", "[-db vitrine.db] OUT", backup},
		{"healthz", "[-addr 127.0.0.1:8080]", healthz},
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
	return p.status(chosen.run(ctx, p, args))
}

// status reports an error and turns it into an exit status.
func (p *program) status(err error) int {
	var usage usageError
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		p.usage(p.stdout)
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(p.stderr, "server: %v\n\n", err)
		p.usage(p.stderr)
		return exitUsage
	case errors.As(err, &exit):
		if exit.error != nil {
			fmt.Fprintf(p.stderr, "server: %v\n", err)
		}
		return exit.status
	}
	fmt.Fprintf(p.stderr, "server: %v\n", err)
	return exitFailed
}

func unknown(_ context.Context, _ *program, args []string) error {
	if args[0] == "help" {
		return flag.ErrHelp
	}
	return usageError{fmt.Errorf("there is no command %q", args[0])}
}

func (p *program) usage(w io.Writer) {
	fmt.Fprintln(w, "usage:")
	for i, c := range commands() {
		name := c.name
		if i == 0 {
			name = "[" + name + "]"
		}
		fmt.Fprintf(w, "  server %s %s\n", name, c.usage)
	}
	fmt.Fprint(w, `
-db is the path of a SQLite file, made on its first use, or memory:
The key that signs tokens is in <db>.key, made on its first use, unless -key-file names another
file or VITRINE_KEY holds the key itself.
`)
}

// flags returns an empty flag set whose errors come back to the caller of parse.
func flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f
}

// parse reads the flags and checks that as many arguments follow as names.
func parse(f *flag.FlagSet, args []string, names ...string) error {
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usageError{err}
	}
	if f.NArg() != len(names) {
		if len(names) == 0 {
			return usageError{fmt.Errorf("%s: %q is no flag, and no argument is wanted", f.Name(), f.Arg(0))}
		}
		return usageError{fmt.Errorf("%s: want %s after the flags, have %d arguments", f.Name(), strings.Join(names, " and "), f.NArg())}
	}
	return nil
}
