//go:build proof

package attack

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// newAsset is an asset as it is added.
func newAsset(id, content string) string {
	return fmt.Sprintf(`{"id":%q,"generator":{"id":"g.example"},"content":{"content":%s}}`, id, content)
}

// quoted is a text as a JSON string, of characters that need no escape but quotes and backslashes.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// texts are assets with as much of a text in each as a content may have.
func texts(id string, pieces ...string) string {
	const most = 256<<10 - len(`{"content":""}`)
	var list []string
	var text strings.Builder
	end := func() {
		list = append(list, newAsset(fmt.Sprint(id, len(list)), quoted(text.String())))
		text.Reset()
	}
	for _, piece := range pieces {
		if text.Len()+len(piece) > most {
			end()
		}
		text.WriteString(piece)
	}
	end()
	return strings.Join(list, ",")
}

// TestSearchesAndLibraries sends search texts that an index might take for commands, texts and lists
// without measure, and requests of a great many items.
func TestSearchesAndLibraries(t *testing.T) {
	s := start(t)
	s.post(library+"/assets",
		`{"add":[`+newAsset("1", `"one NEAR two col tea"`)+`,`+newAsset("2", `"<p>one</p>"`)+`]}`).want(200)
	search := func(query string) func(*server) reply {
		return func(s *server) reply { return s.get(library + "/assets?query=" + url.QueryEscape(query)) }
	}
	post := func(path, body string) func(*server) reply {
		return func(s *server) reply { return s.post(library+path, body) }
	}
	attacks := []attack{
		{name: "512 bytes of marks", want: "200 400", send: search("a" + strings.Repeat("\u0301", 255))},
		{name: "16 words of brackets", want: "200", send: search(strings.Repeat("(a) ", 16))},
		{name: "16 tags", want: "200", send: func(s *server) reply {
			return s.get(library + "/assets?tags=" + repeat(16, "tag#") + "&query=" +
				url.QueryEscape(strings.Repeat("one ", 16)))
		}},
		{name: "a prefix of 500 bytes", want: "200", send: search(strings.Repeat("x", 500) + "*")},
		{name: "20,000 ids of folders", want: "400", send: func(s *server) reply {
			return s.get(library + "/folders?id=" + repeat(20_000, "f#"))
		}},
		{name: "a path of 50,000 folders", want: "200", send: func(s *server) reply {
			return s.get(library + "/folders?path=" + strings.Repeat("/f", 50_000))
		}},
		{name: "a content of 4 MiB", want: "413",
			send: post("/assets", `{"add":[`+newAsset("large", quoted(strings.Repeat("x", 4_000_000)))+`]}`)},
		{name: "texts of 500,000 words", want: "200 400", cpu: 4 * time.Second,
			send: post("/assets", `{"add":[`+texts("words", strings.SplitAfter(repeat(480_000, "w#"), ",")...)+`]}`)},
		{name: "prefixes of all these words, with facets", want: "200", cpu: 4 * time.Second,
			send: func(s *server) reply {
				return s.get(library + "/assets?query=" + url.QueryEscape("w1* w2* w3* w4* w5* w6* w7* w8* w9*") +
					"&facets=" + repeat(8, "attribute:#"))
			}},
		{name: "texts of 2 MiB without a space", want: "200", cpu: 3 * time.Second,
			send: post("/assets", `{"add":[`+texts("long", slices.Repeat([]string{"x"}, 2<<20)...)+`]}`)},
		{name: "a million tags of HTML", want: "200", cpu: 4 * time.Second,
			send: post("/assets", `{"add":[`+texts("html", slices.Repeat([]string{"<b>"}, 1_000_000)...)+`]}`)},
		{name: "HTML that never closes", want: "200", cpu: 4 * time.Second,
			send: post("/assets", `{"add":[`+texts("open", slices.Repeat([]string{"<!--<a b='"}, 300_000)...)+`]}`)},
		{name: "600,000 entities", want: "200", cpu: 4 * time.Second,
			send: post("/assets",
				`{"add":[`+texts("entities", slices.Repeat([]string{"&CounterClockwiseContourIntegral;"}, 100_000)...)+
					`]}`)},
		{name: "a million marks", want: "200", cpu: 4 * time.Second,
			send: post("/assets", `{"add":[`+texts("marks", slices.Repeat([]string{"\u0301\u0323"}, 500_000)...)+`]}`)},
		{name: "characters that grow when they are folded", want: "200", cpu: 4 * time.Second,
			send: post("/assets", `{"add":[`+texts("grow", slices.Repeat([]string{"\ufdfa "}, 400_000)...)+`]}`)},
		{name: "30,000 assets of nothing", want: "400",
			send: post("/assets",
				`{"add":[`+repeat(30_000, `{"id":"many#","generator":{"id":"g"},"content":{}}`)+`]}`)},
		{name: "one asset 1,000 times", want: "200",
			send: post("/assets", `{"add":[`+repeat(1000, `{"id":"same","generator":{"id":"g"},"content":{}}`)+`]}`)},
		{name: "100,000 ids to remove", want: "400",
			send: post("/assets", `{"remove":[`+repeat(100_000, `"AAAAAAAAAAAAAAAAAAAAAA"`)+`]}`)},
		{name: "100,000 ids to label", want: "400",
			send: post("/attributes",
				`{"assets":[`+repeat(100_000, `"AAAAAAAAAAAAAAAAAAAAAA"`)+`],"add":[{"key":"k","value":"v"}]}`)},
		{name: "20,000 folders", want: "400",
			send: post("/folders", `{"create":[`+repeat(20_000, `{"label":"folder #"}`)+`]}`)},
		{name: "1,000 folders", want: "200",
			send: post("/folders", `{"create":[`+repeat(1000, `{"label":"folder #"}`)+`]}`)},
		{name: "and all of them listed", want: "200", send: func(s *server) reply {
			return s.get(library + "/folders?limit=500")
		}},
	}
	run(t, s, attacks)
}
