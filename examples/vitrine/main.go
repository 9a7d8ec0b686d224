// Command vitrine serves a store over HTTP, and has the commands that its operator needs: tokens, imports and exports, backups. Run it
// with -h for its commands, and with help COMMAND for the flags of one.
//
// Each command is a function of one file, such as serve in serve.go or token in token.go. It gets the process as a
// *program, so that tests can run it in their own process, and returns an error; main.go turns errors into exit
// statuses (see program.status).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// command is chosen by the first word after the program's name, or by the first two words.
type command struct {
	name string // one word or two
	args string // its flags and arguments, as the usage shows them
	does string // a sentence without its subject and full stop
	run  func(ctx context.Context, p *program, args []string) error
}

// commands returns all commands in the order of the usage. The first one runs if no name is given.
func commands() []command {
	return []command{
		{"serve", "[FLAGS]",
			"answers requests until it is told to stop; it runs also without the word serve", serve},
		{"token", "-urn URN [FLAGS]",
			"prints a signed token for the user that its flags describe", token},
		{"invite", "-name NAME [FLAGS]",
			"prints a link with which a person registers a passkey, and then signs in with the rights that its flags describe", invite},
		{"reviews check", "[FLAGS] FILE…|-",
			"says what is wrong with files of reviews: exit 0 nothing but warnings, 1 errors, 2 could not read them", ofReviews(checkReviews)},
		{"reviews import", "[FLAGS] FILE…|-",
			"stores what is right in files of reviews, in the network default or the one named: exit 0 nothing but warnings, 1 errors and the rest is in, 2 could not go on", ofReviews(importReviews)},
		{"reviews convert", "[FLAGS] IN.csv|- > OUT",
			"turns a table of reviews, as shops export it, into the format that import reads: exit 0 all rows, 1 some were rejected, 2 could not convert it", ofReviews(convertReviews)},
		{"reviews export", "[FLAGS]",
			"writes all stored reviews of a network to standard output, in the format that import reads", ofReviews(exportReviews)},
		{"reviews collections", "[FLAGS]",
			"prints a line for each stored collection of a network: source, id, title, how many reviews, and the mean of each dimension", ofReviews(listCollections)},
		{"reviews delete", "-network N [FLAGS]",
			"erases stored reviews for good: a source, a collection, a review, an author's reviews, or everything in the network: exit 0 erased, 2 nothing to erase, or copies are left in the store's files", ofReviews(deleteReviews)},
		{"reviews rules", "",
			"prints the rules of the format, each with an example of what is wrong and of what is right", ofReviews(printRules)},
		{"reviews schema", "",
			"prints a JSON Schema of one line of the format", ofReviews(printSchema)},
		{"backup", "[FLAGS] OUT",
			"copies a store, which others may be using, without its key", backup},
		{"check", "[FLAGS]",
			"says where the records of a store contradict each other, and builds its search indices anew: exit 0 nothing is wrong, 1 faults, 2 could not look", checkStore},
		{"export", "[FLAGS]",
			"writes what a store holds, but its feeds of changes, to standard output, as an archive that import reads into a store of any kind", exportStore},
		{"import", "-db STORE FILE|-",
			"builds a store from an archive, which may be gzipped, and checks it as the command check does; -db names a file that does not exist yet, or an empty database", importStore},
		{"feed reset", "[FLAGS]",
			"gives the feeds of changes of a store a new identity, after a failover that has lost changes or when an older copy was brought back: every earlier cursor is answered with 410", feedReset},
		{"healthz", "[FLAGS]",
			"exits 0 when the server at that address answers", healthz},
		{"version", "",
			"says what this program was built from", version},
		{"help", "[COMMAND]",
			"explains a command and its flags, or lists the commands", nil},
	}
}

// flags returns the flags that the command defines. It asks the command for its help, which makes the command return them.
func (c command) flags() *flag.FlagSet {
	var help helpError
	_ = errors.As(c.run(context.Background(), &program{}, []string{"-h"}), &help)
	return help.flags
}

// find returns the command that a command line begins with, and the arguments after its name. Without a name the command is serve.
func find(args []string) (command, []string, error) {
	all := commands()
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return all[0], args, nil
	}
	for _, c := range all {
		if words := strings.Fields(c.name); len(args) >= len(words) && slices.Equal(words, args[:len(words)]) {
			return c, args[len(words):], nil
		}
	}
	switch {
	case !isGroup(args[0]):
		return command{}, nil, usageError{fmt.Errorf("there is no command %q", args[0])}
	case len(args) == 1:
		return command{name: args[0]}, nil, usageError{fmt.Errorf("%s: the second word of the command is missing", args[0])}
	}
	return command{name: args[0]}, nil, usageError{fmt.Errorf("%s: there is no command %q", args[0], args[1])}
}

// isGroup reports whether several commands begin with this word.
func isGroup(word string) bool {
	return slices.ContainsFunc(commands(), func(c command) bool { return strings.HasPrefix(c.name, word+" ") })
}

// program is the process as commands see it. Only main knows os.Stdin, os.Stdout, os.Stderr and the environment.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	environ        []string // all variables, as NAME=value
	variables      []string // flags that were set from the environment
}

// Exit statuses beside 0: 1 if a command failed or found its input wrong, 2 for a mistake in the command line. The commands of reviews
// differ: see exitUnable.
const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError is an error of the command line. It is shown with a line of usage, and the exit status is 2.
type usageError struct{ error }

// exitError ends the program with a status of its own. Without an error inside, nothing is printed.
type exitError struct {
	error
	status int
}

// main runs one command. The first SIGINT or SIGTERM ends its context, so that it can stop in order.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, environ: os.Environ()}
	os.Exit(p.run(ctx, os.Args[1:]))
}

// run executes one command line and returns the exit status.
func (p *program) run(ctx context.Context, args []string) int {
	asked := len(args) > 0 && isHelp(args[0])
	if asked {
		args = slices.DeleteFunc(slices.Clone(args), isHelp)
	}
	switch {
	case asked && len(args) == 0:
		p.usage(p.stdout, "")
		return 0
	case len(args) > 0 && isGroup(args[0]) && (asked && len(args) == 1 || len(args) == 2 && isHelp(args[1])):
		p.usage(p.stdout, args[0]+" ")
		return 0
	case len(args) > 0 && isVersion(args[0]):
		args = append([]string{"version"}, args[1:]...)
	}
	chosen, rest, err := find(args)
	if asked && err == nil {
		if len(rest) > 0 && len(rest) < len(args) {
			return p.status(usageError{fmt.Errorf("help: want the name of one command, have %q after it", rest[0])}, "help ")
		}
		rest = []string{"-h"}
	}
	if err == nil {
		err = chosen.run(ctx, p, rest)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%s: interrupted", chosen.name)
	}
	return p.status(err, strings.TrimLeft(chosen.name+" ", " "))
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
		fmt.Fprintf(p.stderr, "usage: %s\n", strings.TrimSpace(usageLine(words)))
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

// complain writes an error on one line. Of several lines that are the same it keeps only the first.
func (p *program) complain(err error) {
	var parts []string
	for part := range strings.Lines(err.Error()) {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	fmt.Fprintf(p.stderr, "vitrine: %s\n", printable(p.inVariables(strings.Join(parts, "; "))))
}
