package main

import (
	"flag"
	"fmt"
	"strings"
	"unicode/utf8"
)

// isHelp reports whether an argument asks for help.
func isHelp(arg string) bool {
	return arg == "help" || arg == "-h" || arg == "-help" || arg == "--help"
}

// helpWidth is the length of the longest line of help, in characters.
const helpWidth = 80

// usage prints a list of the commands whose names begin with words. For "" it prints all commands, and notes about all
// of them.
func (p *program) usage(words string) {
	w := p.stdout
	fmt.Fprintf(w, "usage: vitrine %sCOMMAND [FLAGS] [FILES]\n\n", words)
	for _, c := range commands() {
		if !strings.HasPrefix(c.name+" ", words) {
			continue
		}
		fmt.Fprintf(w, "  %-21s%s\n", c.name, wrapped(c.does, 23))
	}
	fmt.Fprintln(w, "\nvitrine help COMMAND, or vitrine COMMAND -h, explains a command and its flags.")
	if words != "" {
		return
	}
	fmt.Fprintf(w, "\n%s\n",
		wrapped(`Flags may stand before and after file names. Each can also be given in the environment: `+
			`VITRINE_BASE_PATH stands for -base-path. A flag wins over its variable.`, 0))
	fmt.Fprintf(w, "\n%s\n",
		wrapped(`-db is the path of a SQLite file, made on its first use, or memory:, or `+
			`postgres://USER@HOST/DATABASE, an empty database at its first use. The keys that sign tokens are in `+
			`<db>.key beside a SQLite file, made with it, unless -key-file names another file or VITRINE_KEY holds `+
			`the keys themselves.`, 0))
}

// usageLine returns the line of usage for the command of this name or, if several begin with it, for all of them.
func usageLine(name string) string {
	for _, c := range commands() {
		if c.name == name {
			return strings.TrimSpace("vitrine " + name + " " + c.args)
		}
	}
	if name != "" {
		name += " "
	}
	return strings.TrimSpace(fmt.Sprintf("vitrine %sCOMMAND [FLAGS] [FILES]; see vitrine help %s", name, name))
}

// help prints what a command does, and its flags.
func (p *program) help(c command, f *flag.FlagSet) {
	w := p.stdout
	fmt.Fprintf(w, "usage: vitrine %s\n\n%s\n", strings.TrimSpace(c.name+" "+c.args), wrapped("It "+c.does+".", 0))
	f.VisitAll(func(one *flag.Flag) {
		value, usage := flag.UnquoteUsage(one)
		if isBool(one) {
			value = ""
		}
		if value != "" {
			value = " " + strings.ToUpper(value)
		}
		initial := ""
		if one.DefValue != "" && one.DefValue != "false" && one.DefValue != "0" {
			initial = ", default: " + one.DefValue
		}
		fmt.Fprintf(w, "\n  -%s%s  (%s%s)\n      %s\n", one.Name, value, variable(one.Name), initial, wrapped(usage, 6))
	})
	if text := examples[c.name]; text != "" {
		fmt.Fprintf(w, "\nExamples:\n%s", text)
	}
}

// examples end the help of a command.
var examples = map[string]string{
	"serve": `
  # Try it out with sample data, which is gone when the server stops.
  vitrine serve -demo -db memory:

  # Serve a store over TLS.
  vitrine serve -db vitrine.db -addr :443 \
      -tls-cert cert.pem -tls-key key.pem
`,
	"token": `
  # For an editor of the apps and assets of a network.
  vitrine token -urn urn:vitrine:example.test:user=editor \
      -moderates urn:vitrine:example.test -ttl 30d

  # For a public page: it reads what the tag production points to.
  vitrine token -urn urn:vitrine:example.test:user=page \
      -reads urn:vitrine:example.test -tags production -ttl 365d
`,
}

// wrapped breaks a text into lines of helpWidth characters at most, each but the first indented.
func wrapped(text string, indent int) string {
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > helpWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
