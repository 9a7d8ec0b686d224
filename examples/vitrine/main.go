// Command vitrine serves a store over HTTP, and has the commands that its operator needs: tokens, imports and exports,
// backups. Run it with -h for its commands, and with help COMMAND for the flags of one.
//
// Each command is a function of one file, such as serve in serve.go or token in token.go. It defines the flags of the
// command, and returns what the command does once they are parsed: an action. That gets the process as a *program, so
// that tests can run it in their own process, and returns an error; main.go turns errors into exit statuses (see
// program.status).
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"os/user"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // for zones in mappings of reviews
)

// command is chosen by the first word after the program's name, or by the first two words.
type command struct {
	name   string // one word or two
	args   string // its flags and arguments, as the usage shows them
	wants  string // its argument, as errors call it; "" = none. If it ends in "…", there may be several
	failed int    // the exit status for an error without one of its own
	define func(*flag.FlagSet) action
	does   string // a sentence without its subject and full stop
}

// action runs a command, after its flags were parsed.
type action func(context.Context, *program) error

// What commands want beside their flags.
const (
	aFile     = "FILE (or - for standard input)"
	someFiles = aFile + "…"
)

// commands returns all commands in the order of the usage. The first one runs if no name is given.
func commands() []command {
	return []command{
		{"serve", "[FLAGS]", "", exitFailed, serve,
			"answers requests until it is told to stop; it runs also without the word serve"},
		{"token", "-urn URN [FLAGS]", "", exitFailed, token,
			"prints a signed token for the user that its flags describe"},
		{"invite", "(-name NAME | -urn URN) [FLAGS]", "", exitFailed, invite,
			"prints a link with which a person registers a passkey, and then signs in with the rights that its " +
				"flags describe"},
		{"people", "[FLAGS]", "", exitFailed, people,
			"prints a line for each person who has an account: URN, name, whether an administrator, the number of " +
				"passkeys, when seen last; invite -urn URN is a new link for who has lost a passkey"},
		{"reviews check", "[FLAGS] FILE…|-", someFiles, exitUnable, checkReviews,
			"says what is wrong with files of reviews: exit 0 nothing but warnings, 1 errors, 2 could not read them"},
		{"reviews import", "[FLAGS] FILE…|-", someFiles, exitUnable, importReviews,
			"stores what is right in files of reviews, in the network default or the one named: exit 0 nothing but " +
				"warnings, 1 errors and the rest is in, 2 could not go on"},
		{"reviews convert", "[FLAGS] IN.csv|IN.json|- > OUT", "IN.csv or IN.json (or - for standard input)", exitUnable,
			convertReviews,
			"turns a table of reviews, as shops export it, into the format that import reads: exit 0 all rows, 1 " +
				"some were rejected, 2 could not convert it"},
		{"reviews export", "[FLAGS]", "", exitUnable, exportReviews,
			"writes all stored reviews of a network, in the format that import reads"},
		{"reviews collections", "[FLAGS]", "", exitUnable, listCollections,
			"prints a line for each stored collection of a network: source, id, title, how many reviews, and the " +
				"mean of each dimension"},
		{"reviews delete", "-network N [FLAGS]", "", exitUnable, deleteReviews,
			"erases stored reviews for good: a source, a collection, a review, an author's reviews, or everything " +
				"in the network: exit 0 erased, 2 nothing to erase, or copies are left in the store's files"},
		{"reviews rules", "", "", exitUnable, printRules,
			"prints the rules of the format, each with an example of what is wrong and of what is right"},
		{"reviews schema", "", "", exitUnable, printSchema,
			"prints a JSON Schema of one line of the format"},
		{"assets import", "[FLAGS] FILE…|DIR…|-", "FILE or DIR (or - for standard input)…", exitUnable, importAssets,
			"adds assets to a library: of files of JSON, as HTTP takes them or assets export writes them, and " +
				"pictures and other files, also of whole directories, which become folders: exit 0 all is in, 1 " +
				"errors and the rest is in, 2 could not go on; what is there already is not added again"},
		{"assets export", "[FLAGS]", "", exitUnable, exportAssets,
			"writes the assets of a library, one a line, in the form that assets import reads"},
		{"backup", "[FLAGS] OUT", "OUT", exitFailed, backup,
			"copies a store, which others may be using, without its key, to the new file OUT, or into the directory " +
				"OUT, where it checks the whole copy and may keep earlier ones for a while"},
		{"restore", "[FLAGS] COPY", "COPY", exitFailed, restore,
			"puts a copy that backup has made in the place of a store, which nobody may have open, after it has " +
				"checked all of it; the store that was there is put aside"},
		{"check", "[FLAGS]", "", exitUnable, checkStore,
			"says where the records of a store contradict each other, and builds its search indices anew: exit 0 " +
				"nothing is wrong, 1 faults, 2 could not look"},
		{"export", "[FLAGS]", "", exitFailed, exportStore,
			"writes what a store holds, but its feeds of changes, as an archive that import reads into a store of " +
				"any kind"},
		{"import", "[FLAGS] FILE|-", aFile, exitFailed, importStore,
			"builds a store from an archive, which may be gzipped, and checks it as the command check does; -db " +
				"names a file that does not exist yet, or an empty database"},
		{"feed reset", "[FLAGS]", "", exitFailed, feedReset,
			"gives the feeds of changes of a store a new identity, after a failover that has lost changes, or in an " +
				"older copy that vitrine backup did not make, such as a snapshot of the disk: every earlier cursor " +
				"is answered with 410"},
		{"doctor", "[FLAGS]", "", exitFailed, doctor,
			"prints what somebody who helps would ask for, without secrets: version, sizes, room on the disk, the " +
				"feed, webhooks, ids of keys, and whether the server answers; exit 0 nothing is wrong, 1 faults; it " +
				"changes nothing, and runs beside a server"},
		{"healthz", "[FLAGS]", "", exitFailed, healthz,
			"exits 0 when the server at that address answers"},
		{"version", "", "", exitFailed, version,
			"says what this program was built from"},
		{name: "help", args: "[COMMAND]", does: "explains a command and its flags, or lists the commands"},
	}
}

// flags returns the flags of the command, which are not parsed yet, and what it does then.
func (c command) flags() (*flag.FlagSet, action) {
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f, c.define(f)
}

// find returns the command that a command line begins with, and the arguments after its name. Without a name the
// command is serve.
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
		return command{}, nil, noCommand("", args[0])
	case len(args) == 1:
		return command{name: args[0]}, nil, usageError{errors.New("the second word of the command is missing")}
	}
	return command{name: args[0]}, nil, noCommand(args[0]+" ", args[1])
}

// noCommand returns the error for a word that no command has after the words before it.
func noCommand(before, word string) error {
	var names []string
	for _, c := range commands() {
		if rest, ok := strings.CutPrefix(c.name, before); ok {
			names = append(names, strings.Fields(rest)[0])
		}
	}
	if near := nearest(word, names); near != "" {
		return usageError{fmt.Errorf("there is no command %q; did you mean %s?", word, near)}
	}
	return usageError{fmt.Errorf("there is no command %q", word)}
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
	ownStore       string   // the value of -db if it was not given
}

// Exit statuses beside 0: 1 if a command failed or found its input wrong, 2 for a mistake in the command line. Commands
// that judge their input have 2 for a failure too, so that a script can tell a bad file from a store that cannot be
// reached.
const (
	exitFailed = 1
	exitUsage  = 2
	exitUnable = 2
)

// usageError is an error of the command line. It is shown with a line of usage, and the exit status is 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitError ends the program with a status of its own. Without an error inside, nothing is printed.
type exitError struct {
	error
	status int
}

func (e exitError) Unwrap() error { return e.error }

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
		p.usage("")
		return 0
	case len(args) > 0 && isGroup(args[0]) && (asked && len(args) == 1 || len(args) == 2 && isHelp(args[1])):
		p.usage(args[0] + " ")
		return 0
	case len(args) > 0 && (args[0] == "-version" || args[0] == "--version"):
		args = append([]string{"version"}, args[1:]...)
	}
	chosen, rest, err := find(args)
	switch {
	case err != nil:
		return p.status(chosen, err)
	case asked && len(rest) > 0 && len(rest) < len(args):
		return p.status(command{name: "help"},
			usageError{fmt.Errorf("want the name of one command, have %q after it", rest[0])})
	case asked:
		rest = []string{"-h"}
	}
	f, do := chosen.flags()
	err = p.parse(f, rest, chosen.wants)
	if errors.Is(err, flag.ErrHelp) {
		p.help(chosen, f)
		return 0
	}
	if err == nil {
		err = do(ctx, p)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	return p.status(chosen, err)
}

// status reports the error of a command and turns it into an exit status.
func (p *program) status(c command, err error) int {
	var usage usageError
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.error == nil:
		return exit.status
	case c.name != "":
		err = fmt.Errorf("%s: %w", c.name, err)
	}
	if errors.As(err, &usage) {
		fmt.Fprintf(p.stderr, "usage: %s\n", usageLine(c.name))
		exit.status = exitUsage
	}
	p.complain(err) // last, where it is seen
	return cmp.Or(exit.status, c.failed)
}

// withUser is the text of an error. If it is one of rights, it says who this process is.
func withUser(err error) string {
	const runs = "this process runs as "
	text := err.Error()
	if !errors.Is(err, fs.ErrPermission) || strings.Contains(text, runs) {
		return text
	}
	if u, err := user.Current(); err == nil {
		return text + ": " + runs + u.Username
	}
	return fmt.Sprintf("%s: %suser %d", text, runs, os.Geteuid())
}

// complain writes an error on one line. Of several lines that are the same it keeps only the first.
func (p *program) complain(err error) {
	var parts []string
	for part := range strings.Lines(withUser(err)) {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	fmt.Fprintf(p.stderr, "vitrine: %s\n", printable(p.inVariables(strings.Join(parts, "; "))))
}
