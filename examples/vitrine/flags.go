package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/internal/spelling"
)

// variablePrefix begins the name of every environment variable that stands for a flag.
const variablePrefix = "VITRINE_"

// variable returns the environment variable of a flag: VITRINE_BASE_PATH for -base-path.
func variable(name string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// parse reads the flags of a command, which may stand before and after its arguments, and checks that there are as many
// arguments as it wants, see command. A flag that is not given has the value of its environment variable, if that is
// set and not empty. parse returns flag.ErrHelp for -h and a usageError for any mistake. Variables that no command
// reads are warned about.
func (p *program) parse(f *flag.FlagSet, args []string, wants string) error {
	if err := parseAnywhere(f, args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return usageError{plainer(f, err)}
	}
	if err := p.parseEnvironment(f); err != nil {
		return usageError{err}
	}
	if unread := p.unreadVariables(); len(unread) > 0 {
		fmt.Fprintf(p.stderr, "vitrine: warning: no command reads %s: -h names the variable of each flag\n",
			printable(strings.Join(unread, ", ")))
	}
	switch {
	case wants == "" && f.NArg() > 0:
		return usageError{fmt.Errorf("%q is no flag, and no argument is wanted", f.Arg(0))}
	case wants != "" && (f.NArg() == 0 || f.NArg() > 1 && !strings.HasSuffix(wants, "…")):
		return usageError{fmt.Errorf("want %s beside the flags, have %d arguments", wants, f.NArg())}
	case slices.Contains(f.Args(), ""): // a variable of a shell, mostly
		return usageError{fmt.Errorf("want %s beside the flags, have an empty argument", wants)}
	}
	return nil
}

// The errors of package flag that plainer rewrites.
var (
	unknownFlag = regexp.MustCompile(`^flag provided but not defined: -(.*)$`)
	missingWord = regexp.MustCompile(`^flag needs an argument: -(.*)$`)
	wrongBool   = regexp.MustCompile(`^invalid boolean value (".*") for -([^ ]*): .*$`)
	wrongValue  = regexp.MustCompile(`^invalid value (".*") for flag -([^ ]*): (.*)$`)
)

// plainer rewrites an error of package flag: it says where the mistake is, and what would be right.
func plainer(f *flag.FlagSet, err error) error {
	said := err.Error()
	if m := unknownFlag.FindStringSubmatch(said); m != nil {
		var names []string
		f.VisitAll(func(one *flag.Flag) { names = append(names, one.Name) })
		if near := nearest(m[1], names); near != "" {
			return fmt.Errorf("there is no flag -%s; did you mean -%s?", m[1], near)
		}
		return fmt.Errorf("there is no flag -%s; -h lists the flags", m[1])
	}
	said = missingWord.ReplaceAllString(said, "-$1: a value is missing")
	said = wrongBool.ReplaceAllString(said, "-$2=$1: want true or false")
	if m := wrongValue.FindStringSubmatch(said); m != nil {
		return fmt.Errorf("-%s=%s: %s", m[2], m[1], wanted(f.Lookup(m[2]), m[3]))
	}
	return errors.New(said)
}

// wanted returns what is wrong with the value of a flag, of which package flag may say "parse error" alone.
func wanted(one *flag.Flag, said string) string {
	switch {
	case isBool(one):
		return "want true or false"
	case said == "parse error": // no flag is a plain number
		return "want a time with its unit, such as 30s"
	}
	return said
}

// nearest returns the name that somebody who typed given has probably meant, "" if none is similar.
func nearest(given string, names []string) (near string) {
	least := 3
	for _, name := range names {
		if far := spelling.Distance(name, given); far < least && far < len(given) {
			near, least = name, far
		}
	}
	return near
}

// parseAnywhere is f.Parse for flags that may also stand behind arguments. Everything after "--" is an argument.
func parseAnywhere(f *flag.FlagSet, args []string) error {
	var plain []string
	for {
		if err := f.Parse(args); err != nil {
			return err
		}
		rest := f.Args()
		read := args[:len(args)-len(rest)]
		if len(rest) == 0 || len(read) > 0 && read[len(read)-1] == "--" {
			return f.Parse(append(append([]string{"--"}, plain...), rest...))
		}
		plain, args = append(plain, rest[0]), rest[1:]
	}
}

// parseEnvironment sets the flags that were not given from the environment.
func (p *program) parseEnvironment(f *flag.FlagSet) (err error) {
	given := map[string]bool{}
	f.Visit(func(one *flag.Flag) { given[one.Name] = true })
	f.VisitAll(func(one *flag.Flag) {
		value := p.getenv(variable(one.Name))
		if one.Name == "db" && value == "" && !given["db"] {
			p.ownStore = one.DefValue
		}
		if value == "" || given[one.Name] || err != nil {
			return
		}
		p.variables = append(p.variables, one.Name)
		if wrong := f.Set(one.Name, value); wrong != nil {
			err = fmt.Errorf("%s=%q: %s", variable(one.Name), value, wanted(one, wrong.Error()))
		}
	})
	return err
}

// unreadVariables returns the names of the variables that look like those of flags, are not empty, and that
// no command reads, most likely because a name is misspelt. Variables of other commands are
// left out, since all commands may share one environment, and values too, since they may be secrets.
func (p *program) unreadVariables() (unread []string) {
	for _, setting := range p.environ {
		if name, value, _ := strings.Cut(setting, "="); value != "" && name != keyVariable && name != mailVariable &&
			strings.HasPrefix(name, variablePrefix) {
			unread = append(unread, name)
		}
	}
	if len(unread) == 0 {
		return nil
	}
	for _, c := range commands() {
		if c.define == nil {
			continue // help has no flags
		}
		f, _ := c.flags()
		f.VisitAll(func(one *flag.Flag) {
			unread = slices.DeleteFunc(unread, func(name string) bool { return name == variable(one.Name) })
		})
	}
	slices.Sort(unread)
	return unread
}

// address is the value of a flag that is host:port. Whether the address is free is known when the server listens.
type address string

// String returns the address.
func (a *address) String() string { return string(*a) }

// Set returns an error for a text that cannot be host:port.
func (a *address) Set(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || strings.ContainsAny(host, "/ ") {
		return errors.New("no address: want host:port, such as " + defaultAddr)
	}
	*a = address(text)
	return nil
}

// isBool reports whether a flag takes no value.
func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// inVariables adds to a sentence about a flag where its value is from, if nobody has given it in the command line.
func (p *program) inVariables(sentence string) string {
	if p.ownStore != "" && strings.Contains(sentence, p.ownStore) && !strings.Contains(sentence, "-db") {
		sentence += fmt.Sprintf(" (-db is %s here, since it was not given)", p.ownStore)
	}
	about, _, _ := strings.Cut(sentence, ": vitrine ") // a command at the end is to be copied, and has flags of its own
	for _, name := range p.variables {
		if regexp.MustCompile(`(^|[ (])-` + regexp.QuoteMeta(name) + `($|[^a-z-])`).MatchString(about) {
			sentence += fmt.Sprintf(" (-%s comes from %s)", name, variable(name))
		}
	}
	return sentence
}

// byteCount is a number of bytes above 0, which may be given with a unit, such as 64MiB or 10GB.
type byteCount int64

var byteUnits = []struct {
	name  string
	bytes uint64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"GB", 1e9}, {"MB", 1e6}, {"", 1}}

// String returns the number as it may be given.
func (b *byteCount) String() string {
	for _, unit := range byteUnits {
		if n := uint64(*b); n%unit.bytes == 0 && n > 0 {
			return strconv.FormatUint(n/unit.bytes, 10) + unit.name
		}
	}
	return "0"
}

// Set reads a number and its unit.
func (b *byteCount) Set(text string) error {
	for _, unit := range byteUnits {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 32)
		if unit.bytes == 1 {
			n, err = strconv.ParseUint(digits, 10, 63)
		}
		if err != nil || n == 0 {
			break
		}
		*b = byteCount(n * unit.bytes)
		return nil
	}
	return errors.New("want a number of bytes above 0, or a number with MB, GB, MiB or GiB")
}
