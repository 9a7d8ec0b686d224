package main

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"
)

// noFlags returns the flags of a command without any.
func noFlags() *flag.FlagSet {
	f, _ := command{define: func(*flag.FlagSet) action { return nil }}.flags()
	return f
}

func TestFlagsMayStandAnywhere(t *testing.T) {
	for _, c := range []struct {
		args  string
		files []string
	}{
		{"-json -network n one", []string{"one"}},
		{"one -json -network n", []string{"one"}},
		{"-json one -network n", []string{"one"}},
		{"-network=n one two -json", []string{"one", "two"}},
		{"one -network n two three -json", []string{"one", "two", "three"}},
		{"- -network n -json", []string{"-"}},
		{"one -json -network n -- -two -json", []string{"one", "-two", "-json"}},
		{"-json -network n -- one", []string{"one"}},
	} {
		f := noFlags()
		asJSON, network := f.Bool("json", false, ""), f.String("network", "", "")
		p := &program{getenv: func(string) string { return "" }}
		err := p.parse(f, strings.Fields(c.args), "FILE…")
		if err != nil || !*asJSON || *network != "n" || !slices.Equal(f.Args(), c.files) {
			t.Errorf("%s: %v, %v, %q, %q", c.args, err, *asJSON, *network, f.Args())
		}
	}
	for args, wants := range map[string]string{
		"": "FILE…", "-json": "FILE", "one two": "FILE", "one": "",
		"one -spam": "FILE", "one -network": "FILE",
	} {
		f := noFlags()
		f.Bool("json", false, "")
		f.String("network", "", "")
		p := &program{getenv: func(string) string { return "" }}
		if err := p.parse(f, strings.Fields(args), wants); err == nil {
			t.Errorf("%q is taken for %q", args, wants)
		}
	}
}

func TestMistakesInFlagsAreTold(t *testing.T) {
	for args, want := range map[string]string{
		"-dmeo":           "there is no flag -dmeo; did you mean -demo?",
		"-adr :1":         "there is no flag -adr; did you mean -addr?",
		"-spam":           "there is no flag -spam; -h lists the flags",
		"-db":             "-db: a value is missing",
		"-demo=perhaps":   `-demo="perhaps": want true or false`,
		"-public-cache=9": `-public-cache="9": want a time with its unit, such as 30s`,
		"-keep-changes 3": `-keep-changes="3": want a duration above 0 with its unit, such as 12h or 30d`,
	} {
		f, _ := commands()[0].flags()
		p := &program{getenv: func(string) string { return "" }}
		if err := p.parse(f, strings.Fields(args), ""); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestMistypedCommandsAreTold(t *testing.T) {
	for args, want := range map[string]string{
		"peeple":       `there is no command "peeple"; did you mean people?`,
		"servee -demo": `there is no command "servee"; did you mean serve?`,
		"revews check": `there is no command "revews"; did you mean reviews?`,
		"reviews chek": `there is no command "chek"; did you mean check?`,
		"frobnicate":   `there is no command "frobnicate"`,
	} {
		if _, _, err := find(strings.Fields(args)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestFlagsFromTheEnvironment(t *testing.T) {
	type values struct {
		path string
		demo bool
		ttl  time.Duration
	}
	for _, c := range []struct {
		environment map[string]string
		args        string
		want        values
		refused     string
	}{
		{nil, "", values{"/", false, time.Hour}, ""},
		{map[string]string{"VITRINE_BASE_PATH": "/v4", "VITRINE_DEMO": "1", "VITRINE_TTL": "2h"}, "",
			values{"/v4", true, 2 * time.Hour}, ""},
		{map[string]string{"VITRINE_BASE_PATH": "/v4", "VITRINE_DEMO": "true"}, "-base-path /v5 -demo=false",
			values{"/v5", false, time.Hour}, ""},
		{map[string]string{"VITRINE_BASE_PATH": "", "VITRINE_DEMO": "", "VITRINE_TTL": ""}, "",
			values{"/", false, time.Hour}, ""},
		{map[string]string{"VITRINE_DEMO": "F"}, "", values{"/", false, time.Hour}, ""},
		{map[string]string{"VITRINE_DEMO": "maybe"}, "", values{}, `VITRINE_DEMO="maybe": want true or false`},
		{map[string]string{"VITRINE_DEMO": "maybe"}, "-demo", values{"/", true, time.Hour}, ""},
		{map[string]string{"VITRINE_TTL": "soon"}, "", values{}, `VITRINE_TTL="soon": `},
	} {
		f := noFlags()
		path, demo, ttl := f.String("base-path", "/", ""), f.Bool("demo", false, ""), f.Duration("ttl", time.Hour, "")
		p := &program{getenv: func(name string) string { return c.environment[name] }}
		err := p.parse(f, strings.Fields(c.args), "")
		if c.refused != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.refused) {
				t.Errorf("%v: %v, want %q", c.environment, err, c.refused)
			}
			continue
		}
		if have := (values{*path, *demo, *ttl}); err != nil || have != c.want {
			t.Errorf("%v %s: %+v, %v, want %+v", c.environment, c.args, have, err, c.want)
		}
	}
}

// A value that only the command itself refuses names its variable too.
func TestABadValueNamesItsVariable(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		environment, args string
		status            int
		says              string
	}{
		{"VITRINE_ADDR=nowhere", "healthz", 2, `VITRINE_ADDR="nowhere": no address: want host:port`},
		{"VITRINE_BASE_PATH=/a/../b", "serve -addr 127.0.0.1:0 -db memory:", 2,
			"(-base-path comes from VITRINE_BASE_PATH)"},
		{"VITRINE_TTL=-1h", "token -db memory: -urn urn:vitrine:example.test:user=x", 2,
			`VITRINE_TTL="-1h": want a duration above 0`},
		{"VITRINE_DB=no/such/dir/v.db", "serve -addr 127.0.0.1:0", 2, "(-db comes from VITRINE_DB)"},
		{"VITRINE_DB=no/such/dir/v.db", "serve -addr 127.0.0.1:0 -db x://y", 2, "addresses"},
		{"VITRINE_PUBLIC_CACHE=9", "serve", 2, `VITRINE_PUBLIC_CACHE="9": want a time with its unit, such as 30s`},
		{"VITRINE_JSON=7", "reviews check x", 2, `VITRINE_JSON="7": want true or false`},
		{"VITRINE_ADDR=127.0.0.1:1", "healthz", 1,
			"the server does not run, or listens elsewhere: give its -addr (-addr comes from VITRINE_ADDR)"},
		{"", "restore vitrine.db", 1,
			"no such file or directory (-db is vitrine.db here, since it was not given)"},
	} {
		out := run(t, dir, []string{c.environment}, strings.Fields(c.args)...)
		if out.status != c.status || out.stdout != "" || !strings.Contains(out.stderr, c.says) ||
			strings.Contains(c.args, "x://y") && strings.Contains(out.stderr, "VITRINE_DB") {
			t.Errorf("%s %s: %+v, want %q", c.environment, c.args, out, c.says)
		}
	}
	const mend = "v.db is damaged: stop the server, and: vitrine restore -db v.db COPY"
	if have := (&program{variables: []string{"db"}}).inVariables(mend); have != mend {
		t.Errorf("the command cannot be copied from %q", have)
	}
}

// A misspelt variable is told, once and without its value, which may be a secret. One environment may be for all
// commands.
func TestUnknownVariablesAreWarnedAbout(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		want    string
	}{
		"none":  {[]string{"PATH=/bin", "MY_VITRINE_ADR=x", "VITRINE=x"}, ""},
		"known": {[]string{"VITRINE_DB=v.db", "VITRINE_URN=x", "VITRINE_DRY_RUN=1", "VITRINE_KEY=secret"}, ""},
		"empty": {[]string{"VITRINE_ADR=", "VITRINE_"}, ""},
		"one":   {[]string{"VITRINE_ADR=secret"}, "vitrine: warning: no command reads VITRINE_ADR: "},
		"more": {[]string{"VITRINE_PASSWORD=secret", "VITRINE_DB=v.db", "VITRINE_BASEPATH=se=cret", "VITRINE_=x"},
			"vitrine: warning: no command reads VITRINE_, VITRINE_BASEPATH, VITRINE_PASSWORD: "},
		"case": {[]string{"VITRINE_db=secret"}, "vitrine: warning: no command reads VITRINE_db: "},
		"characters": {[]string{"VITRINE_\x1b[2J\r\n\xff\u202e=secret"},
			`vitrine: warning: no command reads VITRINE_\x1b[2J\r\n\xff\u202e: `},
	} {
		var stderr strings.Builder
		p := &program{stderr: &stderr, getenv: func(string) string { return "" }, environ: c.environ}
		if err := p.parse(noFlags(), nil, ""); err != nil {
			t.Error(err)
		}
		if have := stderr.String(); !strings.HasPrefix(have, c.want) || strings.Contains(have, "secret") ||
			c.want == "" && have != "" || strings.Count(have, "\n") > 1 {
			t.Errorf("%s: %s", name, have)
		}
	}
	out := run(t, t.TempDir(), []string{"VITRINE_ADR=secret"}, "version")
	if out.status != 0 || strings.Count(out.stdout, "\n") != 1 ||
		!strings.HasPrefix(out.stderr, "vitrine: warning: no command reads VITRINE_ADR: ") {
		t.Errorf("%+v", out)
	}
}
