package webhook

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// secretOf returns a secret with a key of n bytes, all of them b.
func secretOf(b byte, n int) string {
	return "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, n))
}

// canary is a secret that no output may repeat. In URLs of these tests the word CANARY is one too.
var canary = secretOf('C', 32)

// entry returns the JSON text of an endpoint, with some members replaced; a replacement of "" leaves the member out.
func entry(replace ...string) string {
	members := map[string]string{"name": `"cdn"`, "url": `"https://receiver.example/hook"`,
		"secret": `"` + canary + `"`}
	for i := 0; i < len(replace); i += 2 {
		members[replace[i]] = replace[i+1]
	}
	var out []string
	for _, name := range []string{"name", "url", "secret", "types", "groups", "tags", "headers", "wait", "more"} {
		if members[name] != "" {
			out = append(out, fmt.Sprintf("%q: %s", name, members[name]))
		}
	}
	return "{" + strings.Join(out, ", ") + "}"
}

func TestParse(t *testing.T) {
	long := "https://receiver.example/"
	long += strings.Repeat("x", MaxURL-len(long))
	groups := `["urn:vitrine:example.test"` + strings.Repeat(`,"urn:vitrine:example.test:site=1"`, MaxGroups-1) + `]`
	for name, text := range map[string]string{
		"no endpoint": `[]`,
		"the least":   `[` + entry() + `]`,
		"two":         `[` + entry() + `,` + entry("name", `"log"`) + `]`,
		"types and groups": `[` +
			entry("types", `["tag.set","assets.changed"]`, "groups",
				`["urn:vitrine:example.test","urn:vitrine:example.test:site=1"]`) + `]`,
		"two secrets":              `[` + entry("secret", `["`+canary+`","`+secretOf('D', 24)+`"]`) + `]`,
		"a secret with escapes":    `[` + entry("secret", `"\u0077`+canary[1:]+`"`) + `]`,
		"the shortest secret":      `[` + entry("secret", `"`+secretOf('C', 24)+`"`) + `]`,
		"the longest secret":       `[` + entry("secret", `"`+secretOf('C', 64)+`"`) + `]`,
		"the longest name":         `[` + entry("name", `"`+strings.Repeat("ü", MaxName)+`"`) + `]`,
		"the longest URL":          `[` + entry("url", `"`+long+`"`) + `]`,
		"http, an address, a port": `[` + entry("url", `"http://[::1]:8080/?a=b"`) + `]`,
		"the most groups":          `[` + entry("groups", groups) + `]`,
		"tags, headers, wait": `[` + entry("tags", `["production"]`, "types", `["tag.set"]`, "headers",
			`{"Authorization": "Bearer x", "x-a": ""}`, "wait", `"1h"`) + `]`,
	} {
		if _, err := Parse([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	list, err := Parse([]byte(`[` + entry("types", `["tag.set"]`, "groups", `["urn:vitrine:a"]`) + `]`))
	if err != nil || len(list) != 1 || list[0].Name != "cdn" || list[0].URL != "https://receiver.example/hook" ||
		len(list[0].Secrets) != 1 ||
		list[0].Types[0] != "tag.set" || list[0].Groups[0] != "urn:vitrine:a" ||
		string(list[0].Secrets[0].key()) != strings.Repeat("C", 32) {
		t.Errorf("%+v, %v", list, err)
	}
	list, err = Parse([]byte(`[` + entry("tags", `["b","a","b"]`, "headers", `{"x-key": "1"}`, "wait", `"90s"`) + `]`))
	if err != nil || !slices.Equal(list[0].Tags, []string{"a", "b"}) || list[0].Wait != 90*time.Second ||
		!slices.Equal(list[0].Types, []string{"tag.deleted", "tag.set"}) || list[0].Header().Get("X-Key") != "1" {
		t.Errorf("%+v, %v", list, err)
	}
	many := strings.Repeat(entry()+",", MaxEndpoints-1)
	for i := range MaxEndpoints {
		many = strings.Replace(many, `"cdn"`, fmt.Sprintf(`"n%d"`, i), 1)
	}
	if list, err := Parse([]byte("[" + many + entry() + "]")); err != nil || len(list) != MaxEndpoints {
		t.Errorf("%d endpoints: %v", len(list), err)
	}
	if _, err := Parse([]byte("[" + many + entry() + "," + entry("name", `"one more"`) + "]")); err == nil ||
		!strings.Contains(err.Error(), "at most 100") {
		t.Errorf("one more than %d: %v", MaxEndpoints, err)
	}
	full := "[" + entry() + strings.Repeat(" ", MaxConfig-len(entry())-2) + "]"
	if _, err := Parse([]byte(full)); err != nil {
		t.Errorf("%d bytes: %v", len(full), err)
	}
	if _, err := Parse([]byte(full + " ")); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%d bytes: %v", len(full)+1, err)
	}
}

// However often a file repeats a type or a group, a change is compared with each once. The order makes no other
// endpoint.
func TestParseReadsSets(t *testing.T) {
	const network, site = `"urn:vitrine:example.test"`, `"urn:vitrine:example.test:site=1"`
	parse := func(types, groups string) Endpoint {
		t.Helper()
		list, err := Parse([]byte("[" + entry("types", types, "groups", groups) + "]"))
		if err != nil {
			t.Fatal(err)
		}
		return list[0]
	}
	many := parse(`["tag.set"`+strings.Repeat(`,"tag.set","app.left"`, 29_000)+`]`,
		"["+site+strings.Repeat(","+network+","+site, 40)+"]")
	if few := parse(`["tag.set","app.left"]`, "["+network+","+site+"]"); len(many.Types) != 2 ||
		len(many.Groups) != 2 || !slices.Equal(many.Types, few.Types) || !slices.Equal(many.Groups, few.Groups) {
		t.Errorf("%q and %q, want %q and %q", many.Types, many.Groups, few.Types, few.Groups)
	}
	if all := parse("", ""); all.Types != nil || all.Groups != nil {
		t.Errorf("an endpoint without lists has %q and %q", all.Types, all.Groups)
	}
}

// Each refusal names the place, says what would be right, and repeats no secret and no URL.
func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, at, says string }{
		"nothing":               {``, "", "a JSON value is missing"},
		"an object":             {entry(), "", "want an array, have an object"},
		"something after it":    {`[] []`, "", "something after"},
		"an entry of no object": {`[1]`, "/0", "want an object"},
		"an unknown member":     {`[` + entry("more", "1") + `]`, "/0/more", `unknown member "more"`},
		"a member in other case": {`[` + strings.Replace(entry(), `"name"`, `"Name"`, 1) + `]`, "/0/Name",
			"unknown member"},
		"a member twice": {`[` + strings.Replace(entry(), `"name"`, `"name":"x","name"`, 1) + `]`, "/0/name",
			"duplicate"},
		"no name":            {`[` + entry("name", "") + `]`, "/0/name", "needs a name"},
		"a name of null":     {`[` + entry("name", "null") + `]`, "/0/name", "null"},
		"a name of a number": {`[` + entry("name", "1") + `]`, "/0/name", "want a string"},
		"a name too long": {`[` + entry("name", `"`+strings.Repeat("ü", MaxName+1)+`"`) + `]`, "/0/name",
			"at most 128"},
		"a name with a newline": {`[` + entry("name", `"a\nb"`) + `]`, "/0/name", "control"},
		"a repeated name":       {`[` + entry() + `,` + entry() + `]`, "/1/name", "earlier webhook"},
		"no url":                {`[` + entry("url", "") + `]`, "/0/url", "needs a url"},
		"a relative url":        {`[` + entry("url", `"/CANARY"`) + `]`, "/0/url", "absolute"},
		"another scheme":        {`[` + entry("url", `"ftp://CANARY/"`) + `]`, "/0/url", "https://"},
		"a url that is none":    {`[` + entry("url", `"https://CANARY:x/"`) + `]`, "/0/url", "https://"},
		"a url with a bad escape": {`[` + entry("url", `"https://receiver.example/%zCANARY"`) + `]`, "/0/url",
			"https://"},
		"a url without a host": {`[` + entry("url", `"https://:443/CANARY"`) + `]`, "/0/url", "absolute"},
		"a url with a password": {`[` + entry("url", `"https://user:CANARY@receiver.example/"`) + `]`, "/0/url",
			"user"},
		"a url with a fragment": {`[` + entry("url", `"https://receiver.example/#CANARY"`) + `]`, "/0/url",
			"fragment"},
		"a url too long": {`[` +
			entry("url", `"https://receiver.example/`+strings.Repeat("x", MaxURL-24)+`"`) + `]`, "/0/url",
			"at most 2048"},
		"no secret":            {`[` + entry("secret", "") + `]`, "/0/secret", "needs a secret"},
		"a secret of null":     {`[` + entry("secret", "null") + `]`, "/0/secret", "want a string"},
		"a secret of a number": {`[` + entry("secret", "1") + `]`, "/0/secret", "want a string"},
		"a list of one secret": {`[` + entry("secret", `["`+canary+`"]`) + `]`, "/0/secret", "two"},
		"a list of three": {`[` + entry("secret", `["`+canary+`","`+canary+`","`+canary+`"]`) + `]`,
			"/0/secret", "two"},
		"a list of two kinds": {`[` + entry("secret", `["`+canary+`",1]`) + `]`, "/0/secret", "two"},
		"the same secret twice": {`[` + entry("secret", `["`+canary+`","`+canary+`"]`) + `]`, "/0/secret",
			"the same"},
		"a secret without prefix": {`[` + entry("secret", `"`+canary[6:]+`"`) + `]`, "/0/secret", "begins with whsec_"},
		"a bad second secret": {`[` + entry("secret", `["`+canary+`","whsec_CANARY"]`) + `]`, "/0/secret/1",
			"base64"},
		"a secret of bad base64": {`[` + entry("secret", `"`+canary+`CANARY"`) + `]`, "/0/secret", "base64"},
		"base64 without padding": {`[` + entry("secret", `"`+strings.TrimRight(canary, "=")+`"`) + `]`, "/0/secret",
			"base64"},
		"a newline in base64": {`[` + entry("secret", `"`+canary[:20]+`\n`+canary[20:]+`"`) + `]`, "/0/secret",
			"base64"},
		"a secret too short": {`[` + entry("secret", `"`+secretOf('C', 23)+`"`) + `]`, "/0/secret",
			"23 bytes: want 24 to 64"},
		"a secret too long": {`[` + entry("secret", `"`+secretOf('C', 65)+`"`) + `]`, "/0/secret",
			"65 bytes: want 24 to 64"},
		"an unknown type": {`[` + entry("types", `["tag.set","tag.moved"]`) + `]`, "/0/types",
			`"tag.moved" is no type`},
		"no type":       {`[` + entry("types", `[]`) + `]`, "/0/types", "leave it out"},
		"types of null": {`[` + entry("types", `null`) + `]`, "/0/types", "null"},
		"a user for a group": {`[` + entry("groups", `["urn:vitrine:example.test:user=1"]`) + `]`, "/0/groups",
			"not a URN"},
		"no tag":        {`[` + entry("tags", `[]`) + `]`, "/0/tags", "leave it out"},
		"a bad tag":     {`[` + entry("tags", `["a b"]`) + `]`, "/0/tags", "cannot name"},
		"tags of types": {`[` + entry("tags", `["a"]`, "types", `["app.created"]`) + `]`, "/0/types", "has no tag"},
		"no wait":       {`[` + entry("wait", `"30"`) + `]`, "/0/wait", "such as 30s"},
		"a short wait":  {`[` + entry("wait", `"1ms"`) + `]`, "/0/wait", "such as 30s"},
		"a long wait":   {`[` + entry("wait", `"61m"`) + `]`, "/0/wait", "such as 30s"},
		"a header of the signature": {`[` + entry("headers", `{"webhook-Id": "CANARY"}`) + `]`, "/0/headers",
			"Webhook-Id is set"},
		"a header of HTTP": {`[` + entry("headers", `{"host": "CANARY"}`) + `]`, "/0/headers", "Host is set"},
		"a header twice": {`[` + entry("headers", `{"X-a": "CANARY", "x-A": "CANARY"}`) + `]`, "/0/headers",
			"given twice"},
		"no header":         {`[` + entry("headers", `{"a:b": "CANARY"}`) + `]`, "/0/headers", "cannot name"},
		"a line in a value": {`[` + entry("headers", `{"a": "CANARY\nb"}`) + `]`, "/0/headers", "one line"},
		"too many headers": {`[` + entry("headers", `{"a": "`+strings.Repeat("x", MaxHeader)+`"}`) + `]`, "/0/headers",
			"more than 8192 bytes"},
		"no group": {`[` + entry("groups", `[]`) + `]`, "/0/groups", "leave it out"},
		"too many groups": {`[` +
			entry("groups", `["urn:vitrine:a"`+strings.Repeat(`,"urn:vitrine:a"`, MaxGroups)+`]`) + `]`, "/0/groups",
			"at most 100"},
	} {
		_, err := Parse([]byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.at) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s and %q", name, err, c.at, c.says)
		}
		if err != nil && (strings.Contains(err.Error(), "CANARY") || strings.Contains(err.Error(), canary[6:])) {
			t.Errorf("%s: the error repeats what may be a secret: %v", name, err)
		}
	}
}

// However a value with a secret is printed, the secret is not among the text.
func TestSecretsAreNotPrinted(t *testing.T) {
	list, err := Parse([]byte(`[` + entry("headers", `{"a": "CCCC"}`) + `]`))
	if err != nil {
		t.Fatal(err)
	}
	type outer struct {
		endpoints []Endpoint
		one       *Endpoint
		any       any
	}
	o := outer{list, &list[0], list[0].Secrets[0]}
	var out bytes.Buffer
	for _, v := range []any{list, list[0], &list[0], list[0].Secrets, list[0].Secrets[0], &list[0].Secrets[0], o, &o,
		Secret{}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		out.Write(text)
		slog.New(slog.NewTextHandler(&out, nil)).Info("v", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("v", "v", v)
	}
	for _, form := range []string{canary[6:], "CCCC", "67676767", "67 67 67", "43434343", "0x43"} {
		if strings.Contains(out.String(), form) {
			t.Errorf("the secret is printed as %s", form)
		}
	}
	if !strings.Contains(out.String(), "whsec_…") {
		t.Error("nothing is printed: this shows nothing")
	}
}

func TestMatches(t *testing.T) {
	const network, site1, site10 = "urn:vitrine:a", "urn:vitrine:a:site=1", "urn:vitrine:a:site=10"
	app := change{Type: "tag.set", Groups: []string{site10, "urn:vitrine:b"}}
	component := change{Type: "component.created"}
	assets := change{Type: "assets.changed", Groups: []string{network}}
	for name, c := range map[string]struct {
		types, groups []string
		change        change
		want          bool
	}{
		"all":                              {nil, nil, app, true},
		"all, a component":                 {nil, nil, component, true},
		"its type":                         {[]string{"app.left", "tag.set"}, nil, app, true},
		"another type":                     {[]string{"tag.deleted"}, nil, app, false},
		"its group":                        {nil, []string{site10}, app, true},
		"one of its groups":                {nil, []string{"urn:vitrine:c", "urn:vitrine:b"}, app, true},
		"the network of its site":          {nil, []string{network}, app, true},
		"a site whose number begins alike": {nil, []string{site1}, app, false},
		"a component, with groups":         {nil, []string{network}, component, false},
		"assets of the network":            {nil, []string{network}, assets, true},
		"assets, of a site":                {nil, []string{site1}, assets, false},
		"its group and another type":       {[]string{"tag.deleted"}, []string{site10}, app, false},
	} {
		if got := (Endpoint{Types: c.types, Groups: c.groups}).matches(c.change); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What is accepted can be used, and what is refused is refused with a sentence.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`[]`, `[` + entry() + `]`,
		`[` + entry("types", `["tag.set"]`, "groups", `["urn:vitrine:a"]`) + `,` +
			entry("name", `"b"`, "secret", `["`+canary+`","`+secretOf('D', 24)+`"]`) + `]`, `[{"name":null}]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Parse(text)
		if err != nil && (len(list) > 0 || err.Error() == "") {
			t.Errorf("%v, %v", list, err)
		}
		for _, e := range list {
			r, err := http.NewRequest("POST", e.URL, nil)
			if err != nil || r.URL.Host == "" || r.URL.User != nil || e.Name == "" || len(e.Secrets) < 1 ||
				len(e.Secrets) > 2 || len(e.Secrets[0].key()) < minKey {
				t.Errorf("%+v, %v", e, err)
			}
		}
	})
}
