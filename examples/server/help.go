package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// helpError asks for the help of one command.
type helpError struct{ flags *flag.FlagSet }

func (helpError) Error() string { return flag.ErrHelp.Error() }

// isHelp says whether an argument asks for help.
func isHelp(arg string) bool {
	return arg == "help" || arg == "-h" || arg == "-help" || arg == "--help"
}

// isVersion says whether an argument asks for the version.
func isVersion(arg string) bool { return arg == "-version" || arg == "--version" }

// usage shows all commands whose names begin with words; "" is all, with what they have in common.
func (p *program) usage(w io.Writer, words string) {
	fmt.Fprintln(w, "usage:")
	for i, c := range commands() {
		line := c.name + " " + c.usage
		if !strings.HasPrefix(line+" ", words) {
			continue
		}
		if i == 0 && words == "" {
			line = "[" + c.name + "] " + c.usage
		}
		fmt.Fprintf(w, "  server %s\n      %s\n", strings.TrimSpace(line), c.does)
	}
	if words != "" {
		fmt.Fprint(w, "server COMMAND -h explains the flags of a command, server help lists all commands.\n\n")
		return
	}
	fmt.Fprint(w, `
-db is the path of a SQLite file, made on its first use, or memory:, or postgres://USER@HOST/DATABASE,
an empty database at its first use. The key that signs tokens is in <db>.key beside a SQLite file,
made on its first use, unless -key-file names another file or VITRINE_KEY holds the key itself. server COMMAND -h explains the flags of a command.
`)
}

// help explains one command and its flags.
func (p *program) help(w io.Writer, f *flag.FlagSet) {
	for _, c := range commands() {
		if line := c.name + " " + c.usage; strings.HasPrefix(line, f.Name()+" ") {
			fmt.Fprintf(w, "usage: server %s\n\nIt %s.\n\n", line, c.does)
		}
	}
	f.SetOutput(w)
	f.PrintDefaults()
	f.SetOutput(io.Discard)
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
			return helpError{f}
		}
		return usageError{fmt.Errorf("%s: %w", f.Name(), err)}
	}
	if f.NArg() != len(names) {
		if len(names) == 0 {
			return usageError{fmt.Errorf("%s: %q is no flag, and no argument is wanted", f.Name(), f.Arg(0))}
		}
		return usageError{fmt.Errorf("%s: want %s after the flags, have %d arguments", f.Name(), strings.Join(names, " and "), f.NArg())}
	}
	return nil
}
