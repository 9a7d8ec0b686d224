package archive_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/storage/archive"
)

// damage is a change of an archive that breaks one rule.
type damage struct {
	what string
	kind string // of the line that is changed
	nth  int    // of its kind, from 0
	old  string // regular expression; its first match is replaced; "" is the whole line
	new  string // "" removes the line where old is ""
	want string // part of the reason
}

// at returns the number of the line, from 1.
func (d damage) at(t *testing.T, lines []string) int {
	t.Helper()
	n := d.nth
	for i, l := range lines {
		if strings.HasPrefix(l, `{"`+d.kind+`":`) {
			n--
			if n < 0 {
				return i + 1
			}
		}
	}
	t.Fatalf("%s: the archive has no %s %d", d.what, d.kind, d.nth)
	return 0
}

// do returns the archive with the damage, and a last line that agrees with it.
func (d damage) do(t *testing.T, lines []string) []byte {
	t.Helper()
	at := d.at(t, lines)
	line := strings.TrimSuffix(lines[at-1], "\n")
	changed := d.new
	if d.old != "" {
		old := regexp.MustCompile(d.old)
		found := old.FindStringSubmatchIndex(line)
		if found == nil {
			t.Fatalf("%s: nothing like %s in %s", d.what, d.old, line)
		}
		changed = line[:found[0]] + string(old.ExpandString(nil, d.new, line, found)) + line[found[1]:]
	}
	if changed == line {
		t.Fatalf("%s: changes nothing in %s", d.what, line)
	}
	out := slices.Clone(lines)
	if out[at-1] = changed + "\n"; changed == "" {
		out = slices.Delete(out, at-1, at)
	}
	return summed(strings.Join(out, ""))
}

// summed returns the lines of an archive with the last line that belongs to them.
func summed(lines string) []byte {
	return fmt.Appendf([]byte(lines), `{"end":{"lines":%d,"sha256":"%x"}}`+"\n", strings.Count(lines, "\n"), sha256.Sum256([]byte(lines)))
}

// linesOf returns the lines of an archive but the last.
func linesOf(data []byte) []string {
	lines := strings.SplitAfter(string(data), "\n")
	return lines[:len(lines)-2]
}

func encoded(result string) string { return base64.StdEncoding.EncodeToString([]byte(result)) }

func repeated(s string, times int) string { return strings.Repeat(s, times) }

// damages break every rule that the rows of a store keep, one at a time.
func damages() []damage {
	const page = `"groups":\["urn:vitrine:example.test:site=1"\]`
	list := []damage{
		{"a component without a name", "component", 0, `"name":"@scope/poll"(.*"name":)"@scope/poll"`, `"name":""$1""`, "must not be empty"},
		{"a component whose name is not in its manifest", "component", 0, `"name":"@scope/poll"`, `"name":"@scope/other"`, "not the same in the manifest"},
		{"a component whose version is not in its manifest", "component", 0, `"version":"2.0.0"`, `"version":"2.0.1"`, "not the same in the manifest"},
		{"a component whose script runs by itself", "component", 0, `"main":"[^"]*"(.*"main":)"[^"]*"`, `"main":"javascript:1"$1"javascript:1"`, "javascript"},
		{"a manifest without an id", "component", 0, `("manifest":.*)"id":"[^"]*",`, `$1`, "no id"},
		{"a manifest without configSchema", "component", 0, `"configSchema":\{"type":"object"\},`, ``, "configSchema"},
		{"a manifest whose schema is a list", "component", 0, `"configSchema":\{"type":"object"\}`, `"configSchema":[]`, "configSchema"},
		{"a manifest with white space", "component", 0, `"manifest":\{`, `"manifest":{ `, "not in the form"},
		{"a manifest with U+0000", "component", 0, `"more":\[`, `"more":["\u0000",`, "U+0000"},
		{"a manifest that nests too deep", "component", 0, `"more":\[`, `"more":[` + repeated("[", 64) + repeated("]", 64) + `,`, "deeper than 64"},
		{"a component version twice", "component", 1, `"1\.0\.0"(.*)"1\.0\.0"`, `"2.0.0"$1"2.0.0"`, "occurs twice"},
		{"a component id twice", "component", 1, ``, "SAME ID", "another one has the id"},
		{"components out of order", "component", 1, `@scope/poll(.*)@scope/poll`, `@a${1}@a`, "order of names"},

		{"an app that begins with version 1", "version", 0, ``, ``, "version 0 is missing"},
		{"a gap in the versions", "version", 1, ``, ``, "comes after version 0"},
		{"a version twice", "version", 1, `"version":1`, `"version":0`, "each app once"},
		{"a negative version", "version", 1, `"version":1`, `"version":-1`, "is no line"},
		{"a version of another app", "version", 1, `"app":"[^"]*"`, `"app":"other"`, "version 0 is missing"},
		{"an app without an id", "version", 0, `"app":"[^"]*"`, `"app":""`, "must not be empty"},
		{"apps out of order", "version", 0, `"app":"[^"]*"`, `"app":"zzz"`, "version 0 is missing"},
		{"another owner in a later version", "version", 1, `user=me(.*user=me.*)user=me`, `user=you${1}user=you`, "owner"},
		{"an owner that is not the body's", "version", 0, `user=me`, `user=you`, "its owner is another"},
		{"no owner", "version", 0, `"owner":"[^"]*"`, `"owner":""`, "owner"},
		{"no editor", "version", 0, `"updatedBy":"[^"]*"`, `"updatedBy":""`, "updatedBy"},
		{"another createdAt in a later version", "version", 1, `"createdAt":1`, `"createdAt":2`, "createdAt is not"},
		{"an update before the creation", "version", 0, `"updatedAt":1`, `"updatedAt":0`, "is no line"},
		{"an update before the version before", "version", 1, `"updatedAt":\d*`, `"updatedAt":5`, "updatedAt is earlier"},
		{"a time in the year 20000", "version", 0, `"createdAt":\d*,"updatedAt":\d*`, `"createdAt":568971820800000,"updatedAt":568971820800000`, "no year"},
		{"a version restored from itself", "version", 1, `,"body"`, `,"restoredFrom":1,"body"`, "want an older one"},
		{"a first version that was restored", "version", 0, `,"body"`, `,"restoredFrom":0,"body"`, "want an older one"},
		{"a version restored from none", "version", 1, `,"body"`, `,"restoredFrom":-1,"body"`, "is no line"},
		{"a body without elements", "version", 0, `,"elements":.*\]`, ``, "no elements"},
		{"a body without a title", "version", 0, `"title":"[^"]*",`, ``, "no title"},
		{"a body with a member more", "version", 0, `"body":\{`, `"body":{"more":1,`, "not in the form"},
		{"an empty title", "version", 0, `"title":"[^"]*"`, `"title":""`, "must not be empty"},
		{"a long title", "version", 0, `"title":"`, `"title":"` + repeated("x", 1024), "at most 1024"},
		{"no group", "version", 0, page, `"groups":[]`, "at least one"},
		{"101 groups", "version", 0, page, `"groups":[` + repeated(`"urn:v:n",`, 100) + `"urn:v:n"]`, "at most 100"},
		{"a group that is no URN", "version", 0, page, `"groups":["site"]`, "not a URN"},
		{"a group that is a user", "version", 0, page, `"groups":["urn:v:n:user=me"]`, "not a URN of the form"},
		{"a group twice", "version", 0, page, `"groups":["urn:v:n","urn:v:n"]`, "twice"},
		{"an element with another index", "version", 0, `\{"id":"0"`, `{"id":"1"`, "does not begin with"},
		{"1,001 elements", "version", 0, `"elements":\[.*\]\}\}\}`, "TOO MANY", "at most 1000"},
		{"an element without a component", "version", 0, `("elements":.*"component":)\{.*\}(,"config")`, `${1}null$2`, "component"},
		{"an element whose component has no name", "version", 0, `("component":\{)"name":"@scope/poll",`, `$1`, "component"},
		{"an element without a config", "version", 0, `,"config":\{.*?\}`, ``, "no config"},
		{"an element whose config is a list", "version", 0, `"config":\{.*?\}`, `"config":[]`, "compact object"},
		{"an element with a member behind its config", "version", 0, `("config":\{.*?\})`, `$1,"more":1`, "config"},
		{"a config that nests too deep", "version", 0, `"config":\{.*?\}`, `"config":{"a":` + repeated("[", 62) + repeated("]", 62) + `}`, "deeper"},

		{"a tag of no version", "tag", 0, `"version":\d*`, `"version":1000`, "points to version 1000"},
		{"a tag of a version below 0", "tag", 0, `"version":\d*`, `"version":-1`, "is no line"},
		{"a tag of another app", "tag", 0, `"app":"[^"]*"`, `"app":"other"`, "does not follow"},
		{"a tag that no tag can be named", "tag", 0, `"name":"[^"]*"`, `"name":"a b"`, "no tag can be named"},
		{"tags out of order", "tag", 1, `"name":"[^"]*"`, `"name":"a"`, "order of names"},

		{"a move of a tag of another app", "move", 0, `"app":"[^"]*"`, `"app":"other"`, "does not follow"},
		{"a move of a tag that no tag can be named", "move", 0, `"tag":"[^"]*"`, `"tag":"a b"`, "no tag can have this name"},
		{"moves out of the order of names", "move", 3, `"tag":"[^"]*"`, `"tag":"a"`, "order of names"},
		{"a move by nobody", "move", 0, `"by":"[^"]*"`, `"by":""`, "by"},
		{"a move in the year 20000", "move", 0, `"at":\d*`, `"at":568971820800000`, "no year"},
		{"a move that is earlier than the one before", "move", 1, `"at":\d*`, `"at":5`, "at is earlier"},
		{"a move without a number", "move", 0, `"number":\d*`, `"number":0`, "want a number"},
		{"a first move with another number", "move", 0, `"number":\d*`, `"number":2`, "want the number 1"},
		{"a move with the number of another", "move", 1, `"number":\d*`, `"number":1`, "want the number 2"},
		{"a move that is left out", "move", 1, "", "", "want the number 2"},
		{"a last move that is left out", "move", 2, "", "", "and the tag points to \"\""},
		{"a move to where the tag was", "move", 1, `"to":\d*`, `"to":0`, "are the same"},
		{"a move from where the tag was not", "move", 1, `"from":\d*`, `"from":2`, "and the move before leads to"},
		{"a move from nowhere to nowhere", "move", 2, `"from":\d*`, `"from":null`, "are the same"},
		{"a move to no version", "move", 0, `"to":\d*`, `"to":1000`, "names version 1000"},
		{"a move to a version below 0", "move", 0, `"to":\d*`, `"to":-1`, "is no line"},

		{"an answer to nobody", "answer", 0, `"by":"[^"]*"`, `"by":""`, "by"},
		{"an answer to an impossible key", "answer", 0, `"key":"[^"]*"`, `"key":"a b"`, "visible"},
		{"an answer to no key", "answer", 0, `"key":"[^"]*"`, `"key":""`, "visible"},
		{"answers out of order", "answer", 1, `"key":"[^"]*"`, `"key":"a"`, "in the order"},
		{"a short digest of a request", "answer", 0, `"request":"[^"]*"`, `"request":"AAAA"`, "3 bytes"},
		{"a result that is no JSON", "answer", 0, `"result":"[^"]*"`, `"result":"AAAA"`, "result"},
		{"a result that no write has", "answer", 0, `"result":"[^"]*"`, `"result":"` + encoded(`{"ID":5}`) + `"`, "none that a write has"},
		{"a result of no app", "answer", 0, `"result":"[^"]*"`, `"result":"` + encoded(`{"ID":"x","Version":0}`) + `"`, "there is no version 0"},

		{"a library of a network with a colon", "library", 0, `"network":"[^"]*"`, `"network":"a:b"`, "not the name of a network"},
		{"a library without an id", "library", 0, `"id":"[^"]*"`, `"id":""`, "has 1 to 128 characters"},
		{"a library without a key", "library", 0, `"key":"[^"]*"`, `"key":"AAAAAAAAAAAAAAAAAAAAAA=="`, "no key"},
		{"a short key", "library", 0, `"key":"[^"]*"`, `"key":"AAAA"`, "is no line"},
		{"last below the ordinals", "library", 0, `"last":\d*,"at":(\d*),"count":\d*`, `"last":2,"at":$1,"count":0`, "highest ordinal"},
		{"last beyond all ordinals", "library", 0, `"last":\d*`, `"last":1099511627776`, "last is"},
		{"a negative last", "library", 0, `"last":\d*`, `"last":-1`, "last is"},
		{"a negative count", "library", 0, `"count":\d*`, `"count":-1`, "count is"},
		{"a count above last", "library", 0, `"count":\d*`, `"count":1000`, "count is"},
		{"a count that is not that of the assets", "library", 0, `"count":\d*`, `"count":1`, "count is 1"},
		{"libraries out of order", "library", 1, `"id":"[^"]*"`, `"id":"a"`, "in the order"},
		{"the same library twice", "library", 1, `"id":"[^"]*"`, `"id":"example.test"`, "in the order"},
		{"at before the assets", "library", 0, `"at":\d*`, `"at":5`, "createdAt is later"},
		{"at in the year 20000", "library", 0, `"at":\d*`, `"at":568971820800000`, "no year"},

		{"a folder without an id", "folder", 0, `"id":"[^"]*"`, `"id":""`, "must not be empty"},
		{"a folder without a label", "folder", 0, `"label":"[^"]*"`, `"label":""`, "must not be empty"},
		{"a folder with a long label", "folder", 0, `"label":"`, `"label":"` + repeated("x", 128), "at most 128"},
		{"folders out of order", "folder", 1, `"id":"[^"]*"`, `"id":"0"`, "in the order of ids"},
		{"a parent that does not exist", "folder", 0, `"parent":"[^"]*"`, `"parent":"nobody"`, "does not exist"},
		{"a folder in itself", "folder", 0, `"id":"([^"]*)","parent":"[^"]*"`, `"id":"$1","parent":"$1"`, "circle"},
		{"an unknown operation", "folder", -1, `"operation":"edit"`, `"operation":"own"`, "want view, edit or manage"},
		{"a permission without an id", "folder", -1, `"permissions":\[\{"id":"[^"]*"`, `"permissions":[{"id":""`, "must not be empty"},
		{"a permission for another type", "folder", -1, `"rType":"[^"]*"`, `"rType":"asset"`, "rType"},
		{"a permission on another folder", "folder", -1, `:folder=`, `:folder=x`, "not the resource"},
		{"a permission on another library", "folder", -1, `:library=`, `:library=x`, "not the resource"},
		{"a permission on another network", "folder", -1, `"rId":"urn:vitrine:example.test`, `"rId":"urn:vitrine:other.test`, "not the resource"},
		{"a permission on nothing", "folder", -1, `"rId":"[^"]*"`, `"rId":""`, "not the resource"},
		{"a permission for nobody", "folder", -1, `"role":\{[^}]*\}`, `"role":null`, "exactly one of"},
		{"a permission for two", "folder", -1, `"group":null`, `"group":"urn:v:n"`, "exactly one of"},
		{"a permission for a group that is no URN", "folder", -1, `"role":\{[^}]*\},"group":null`, `"role":null,"group":"x"`, "not a URN"},
		{"a permission for a role without an id", "folder", -1, `"role":\{"id":"editors"`, `"role":{"id":""`, "must not be empty"},
		{"the same permission twice", "folder", -1, `"permissions":\[(\{"id":")(.*\})\]`, `"permissions":[$1$2,${1}x$2]`, "grants the same"},
		{"the same permission id twice", "folder", -1, `"permissions":\[(.*)"edit"(.*)\]`, `"permissions":[$1"edit"$2,$1"view"$2]`, "has the id"},

		{"an asset with ordinal 0", "asset", 0, `"ordinal":\d*`, `"ordinal":0`, "lowest upwards"},
		{"assets out of order", "asset", 1, `"ordinal":\d*`, `"ordinal":1`, "lowest upwards"},
		{"an ordinal above last", "asset", 0, `"ordinal":\d*`, `"ordinal":1000`, "highest ordinal"},
		{"an origin that is not the asset's", "asset", 0, `"origin":"[^"]*"`, `"origin":"AAAAAAAAAAAAAAAAAAAAAA=="`, "origin"},
		{"an asset in a folder that does not exist", "asset", 0, `"folders":\[`, `"folders":["nobody",`, "does not exist"},
		{"an asset in one folder twice", "asset", 0, `"folders":\[("[^"]*")`, `"folders":[$1,$1`, "one folder twice"},
		{"an asset in 1,001 folders", "asset", 0, `"folders":\[`, `"folders":[` + repeated(`"x",`, 1000), "at most 1000"},
		{"an asset from after the last was added", "asset", 0, `"createdAt":1`, `"createdAt":2`, "createdAt is later"},
		{"an asset that is older than the one before", "asset", 1, `"createdAt":\d*`, `"createdAt":5`, "createdAt is earlier"},
		{"an asset that was changed before it was added", "asset", 0, `"updatedAt":\d*`, `"updatedAt":5`, "updatedAt is earlier"},
		{"published at another time", "asset", 0, `"published":"2`, `"published":"1`, "published is not createdAt"},
		{"a content without a foreign id", "asset", 0, `"content":\{"id":"2",`, `"content":{`, "must not be empty"},
		{"a content of another foreign id", "asset", 0, `"content":\{"id":"2"`, `"content":{"id":"other"`, "origin"},
		{"a content of another generator", "asset", 0, `"generator":\{"id":"[^"]*"`, `"generator":{"id":"other"`, "origin"},
		{"a content that is a list", "asset", 0, `"body":\{"content":\{.*\},"safe_tags"`, `"body":{"content":[],"safe_tags"`, "stored asset"},
		{"a content whose text is a number", "asset", 0, `"content":"[^"]*"`, `"content":5`, "want a string"},
		{"a content with an address that runs script", "asset", 0, `"extra":1.10`, `"attributedTo":{"url":{"href":"javascript:1"}}`, "/content/attributedTo/url/href"},
		{"a content that nests too deep", "asset", 0, `"extra":1.10`, `"extra":` + repeated("[", 64) + repeated("]", 64), "deeper"},
		{"a body with a member more", "asset", 0, `"body":\{`, `"body":{"more":1,`, "not in the form"},
		{"an empty tag", "asset", 0, `"safe_tags":\[`, `"safe_tags":["",`, "must not be empty"},
		{"a tag with a comma", "asset", 0, `"safe_tags":\[`, `"safe_tags":["a,b",`, "comma"},
		{"an asset's tag twice", "asset", 0, `"safe_tags":\[`, `"safe_tags":["lamp",`, "occurs twice"},
		{"101 tags", "asset", 0, `"safe_tags":\[`, `"safe_tags":[` + repeated(`"x",`, 100), "at most 100"},
		{"an attribute without a key", "asset", 0, `"key":"k"`, `"key":""`, "must not be empty"},
		{"an attribute twice", "asset", 0, `"value":"w"`, `"value":"v"`, "occurs twice"},
		{"an attribute with a long value", "asset", 0, `"value":"w"`, `"value":"` + repeated("x", 1025) + `"`, "at most 1024"},
		{"1,001 attributes", "asset", 0, `"attributes":\[`, `"attributes":[` + repeated(`{"key":"k","value":"v"},`, 1000), "at most 1000"},
		{"via that is no integer", "asset", 0, `"safe_tags":\[.*?\]`, `"safe_tags":[],"via":"x"`, "stored asset"},

		{"a collection of no network", "collection", 0, `"network":"default",`, ``, "has no network"},
		{"a network without a name", "collection", 0, `"network":"default"`, `"network":""`, "not the name of a network"},
		{"a network named by its URN", "collection", 0, `"network":"default"`, `"network":"urn:vitrine:default"`, "not the name of a network"},
		{"networks out of order", "collection", 1, `"network":"default"`, `"network":"a"`, "order of their names"},
		{"a collection that another network has too, moved there", "collection", 2, `"network":"example.test"`, `"network":"default"`, "occurs twice"},
		{"a collection with another id in its fields", "collection", 0, `"id":"[^"]*"`, `"id":"YQ=="`, "the fields are those of"},
		{"a collection with another source in its fields", "collection", 0, `"source":"[^"]*"`, `"source":"x"`, "the fields are those of"},
		{"a collection twice", "collection", 1, `"YmVk"(.*)"YmVk"`, `"bGFtcA=="$1"bGFtcA=="`, "occurs twice"},
		{"a collection whose id is no Base64", "collection", 0, `"bGFtcA=="(.*)"bGFtcA=="`, `"b-+a"$1"b-+a"`, "/id"},
		{"a collection without a title", "collection", 0, `,"title":"A lamp"`, ``, "title"},
		{"a collection with a member more", "collection", 0, `"title":"A lamp"`, `"title":"A lamp","type":1`, "type"},
		{"a collection with reviews in its fields", "collection", 0, `"title":"A lamp"`, `"title":"A lamp","reviews":[]`, "given before"},
		{"a collection with white space", "collection", 0, `"fields":\{`, `"fields":{ `, "not in the form"},
		{"a collection from no day", "collection", 0, `"created":"2019-01-01`, `"created":"2019-02-30`, "/created"},
		{"counts that are not those of the reviews", "collection", 0, `"tally":"[^"]*"`, `"tally":"AAEA"`, "the counts are not"},
		{"counts of another number of dimensions", "collection", 0, `"tally":"[^"]*"`, `"tally":"AAIAAA=="`, "the counts are not"},
		{"a review too few", "review", 1, ``, ``, "the counts are not"},

		{"a review with another id in its data", "review", 0, `"id":"0"`, `"id":"9"`, "the data is that of"},
		{"a review twice", "review", 1, `"id":"1"(.*)"id":"1"`, `"id":"0"$1"id":"0"`, "occurs twice"},
		{"a review without ratings", "review", 0, `"ratings":\[\d*\],`, ``, "ratings"},
		{"a rating of 101", "review", 0, `"ratings":\[\d*\]`, `"ratings":[101]`, "from 1 to 100"},
		{"ratings of another number of dimensions", "review", 0, `"ratings":\[\d*\]`, `"ratings":[1,2]`, "one for each"},
		{"another rating than was counted", "review", 0, `"ratings":\[\d*\]`, `"ratings":[1]`, "the counts are not"},
		{"a review with script", "review", 0, `<p>&lt;</p>`, `<script>`, "/body_html"},
		{"a review by nobody", "review", 0, `"imported_display_name":"Visitor","imported_email":"[^"]*",`, ``, "author_id"},
		{"a review with white space", "review", 0, `"data":\{`, `"data":{ `, "not in the form"},
		{"a review whose parent does not exist", "review", 1, `"parent_id":"0"`, `"parent_id":"nobody"`, "is missing"},
		{"a review that is its own parent", "review", 1, `"parent_id":"0"`, `"parent_id":"1"`, `"1": its parents go round in a circle`},
		{"two reviews that reply to each other", "review", 0, `"ratings"`, `"parent_id":"1","ratings"`, "its parents go round in a circle"},

		{"the format twice", "review", 0, ``, `{"vitrine":2}`, "only line 1 may do"},
		{"an answer before the apps", "component", 0, ``, "ANSWER", "comes too late"},
		{"a folder behind an asset", "asset", 0, ``, "FOLDER", "comes after an asset"},
	}
	return list
}

// place fills in what a change takes from other lines.
func (d damage) place(t *testing.T, lines []string) damage {
	line := func(kind string, nth int) string {
		return strings.TrimSuffix(lines[damage{what: d.what, kind: kind, nth: nth}.at(t, lines)-1], "\n")
	}
	if d.nth < 0 { // the folder with permissions
		for d.nth = 0; !strings.Contains(line(d.kind, d.nth), `"permissions":[{`); d.nth++ {
		}
	}
	id := regexp.MustCompile(`"id":"([^"]*)"`)
	switch d.new {
	case "SAME ID":
		first := id.FindStringSubmatch(line("component", 0))[1]
		d.new = strings.ReplaceAll(line(d.kind, d.nth), id.FindStringSubmatch(line(d.kind, d.nth))[1], first)
	case "TOO MANY":
		element := regexp.MustCompile(`"elements":\[\{"id":"0"(.*)\]\}\}\}`).FindStringSubmatch(line(d.kind, d.nth))[1]
		var list []string
		for i := range 1001 {
			list = append(list, fmt.Sprintf(`{"id":"%d"%s`, i, strings.ReplaceAll(element, "$", "$$")))
		}
		d.new = `"elements":[` + strings.Join(list, ",") + `]}}}`
	case "ANSWER":
		d.new = line("answer", 0) + "\n" + line("component", 0)
		d.new = strings.Replace(d.new, regexp.MustCompile(`"result":"[^"]*"`).FindString(d.new), `"result":"`+encoded("{}")+`"`, 1)
	case "FOLDER":
		d.new = line("asset", 0) + "\n" + line("folder", 0)
	}
	return d
}

func TestAnInconsistentArchiveIsRefused(t *testing.T) {
	source := inMemory()
	fill(t, source, 1)
	whole, _ := export(t, source)
	lines := linesOf(whole)
	if !bytes.Equal(summed(strings.Join(lines, "")), whole) {
		t.Fatal("the test makes another last line than an export")
	}
	target := inMemory()
	for _, d := range damages() {
		t.Run(d.what, func(t *testing.T) {
			d := d.place(t, lines)
			_, err := archive.Import(ctx, target, bytes.NewReader(d.do(t, lines)), nil)
			if !errors.Is(err, archive.ErrDamaged) || !strings.Contains(err.Error(), d.want) || !strings.Contains(err.Error(), ": line ") {
				t.Errorf("error %v, want %v with a line and %q", err, archive.ErrDamaged, d.want)
			}
			if err := target.Empty(ctx); err != nil {
				t.Fatalf("afterwards %v", err)
			}
		})
	}
	if _, err := archive.Import(ctx, target, bytes.NewReader(whole), nil); err != nil {
		t.Errorf("the archive without damage: %v", err)
	}
}
