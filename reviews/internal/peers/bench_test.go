package peers_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vitrine-go/vitrine/reviews"
)

var (
	// benchFile is 32 MiB of good records: some ten reviews a collection, about half of each HTML.
	benchFile = sync.OnceValue(func() []byte {
		return benchRecords(`It does what it should, and it does it &quot;well&quot;. `)
	})
	// benchFileAccents has characters beyond ASCII in its texts, and more escapes.
	benchFileAccents = sync.OnceValue(func() []byte {
		return benchRecords(`Es tut, was es soll, und es tut es größtenteils \"gut\".\n`)
	})
)

func benchRecords(sentence string) []byte {
	var out bytes.Buffer
	body := strings.Repeat(sentence, 5)
	for i := 0; out.Len() < 32<<20; i++ {
		fmt.Fprintf(&out,
			`{"source":"https://shop.example.test","title":"Product %d","created":"2012-03-04T05:06:07Z","id":%q,`+
				`"dimensions":["quality","price"],"reviews":[`,
			i, base64.StdEncoding.EncodeToString(fmt.Append(nil, "article-", i)))
		for n := range 10 {
			if n > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(&out,
				`{"id":"review-%d-%d","imported_display_name":"Visitor Nr %d","title":"Quite good, caf\u00e9",`+
					`"body_html":"<p>%s<a href=\"https://shop.example.test/?a=%d&amp;b\">here</a></p><p>%s</p>",`+
					`"created":"2013-04-05T06:07:08.123Z","ratings":[%d,%d],`+
					`"imported_email":"visitor%d@example.test","imported_url":"https://example.test/~visitor",`+
					`"subparts":{"pro":"cheap","contra":"small"}}`,
				i, n, n, body, n, strings.Repeat(sentence, 2), 1+n*9, 100-n, n)
		}
		out.WriteString("]}\n")
	}
	return out.Bytes()
}

// BenchmarkCheck measures the check with all rules beside readers that check less.
func BenchmarkCheck(b *testing.B) {
	file, accents := benchFile(), benchFileAccents()
	for _, bench := range []struct {
		name string
		run  func(b *testing.B)
	}{
		{"one core", func(b *testing.B) { benchCheck(b, file, 1) }},
		{"two cores", func(b *testing.B) { benchCheck(b, file, 2) }},
		{"ajv", func(b *testing.B) { benchAjv(b, file) }},
		{"accents/one core", func(b *testing.B) { benchCheck(b, accents, 1) }},
		{"accents/ajv", func(b *testing.B) { benchAjv(b, accents) }},
		{"jsontext tokens", func(b *testing.B) { benchTokens(b, file) }},
		{"json structs", func(b *testing.B) { benchStructs(b, file) }},
		{"jsonschema v6", func(b *testing.B) { benchSchema(b, file) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			bench.run(b)
		})
	}
}

// benchCheck checks on so many cores, the reading included.
func benchCheck(b *testing.B, file []byte, cores int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		for p, err := range reviews.Check(bytes.NewReader(file), &reviews.ReadOptions{Workers: cores}).Problems() {
			b.Fatal(p, err)
		}
	}
}

func benchTokens(b *testing.B, file []byte) {
	for b.Loop() {
		d := jsontext.NewDecoder(bytes.NewReader(file))
		for {
			if _, err := d.ReadToken(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func benchStructs(b *testing.B, file []byte) {
	type review struct {
		ID                  string            `json:"id"`
		Title               string            `json:"title"`
		BodyHTML            string            `json:"body_html"`
		Created             string            `json:"created"`
		Ratings             []int             `json:"ratings"`
		AuthorID            string            `json:"author_id"`
		ImportedDisplayName string            `json:"imported_display_name"`
		ImportedEmail       *string           `json:"imported_email"`
		ImportedURL         *string           `json:"imported_url"`
		Subparts            map[string]string `json:"subparts"`
		ParentID            string            `json:"parent_id"`
	}
	type collection struct {
		Source     string   `json:"source"`
		Title      string   `json:"title"`
		Created    string   `json:"created"`
		ID         string   `json:"id"`
		Dimensions []string `json:"dimensions"`
		Reviews    []review `json:"reviews"`
	}
	for b.Loop() {
		d := json.NewDecoder(bytes.NewReader(file))
		for d.More() {
			var c collection
			if err := d.Decode(&c); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func benchSchema(b *testing.B, file []byte) {
	file = file[:bytes.LastIndexByte(file[:4<<20], '\n')+1] // it takes its time
	b.SetBytes(int64(len(file)))
	schema := compileSchema(b)
	for b.Loop() {
		for line := range bytes.SplitSeq(file, []byte("\n")) {
			if len(line) == 0 {
				continue
			}
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			if err != nil {
				b.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(reviews.RecordSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("record.json", v); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("record.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
