package reviews_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomFile gives n lines with one collection each, most of them good, some with faults of all
// kinds. The same seed gives the same file.
func randomFile(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var out strings.Builder
	for i := range n {
		line := randomCollection(r, fmt.Sprintf("%d-%d", seed, i))
		if r.IntN(8) == 0 {
			line = damage(r, line)
		}
		out.WriteString(line)
		out.WriteByte('\n')
	}
	return out.String()
}

func randomCollection(r *rand.Rand, name string) string {
	dims := 1 + r.IntN(3)
	list := make([]string, r.IntN(8))
	for i := range list {
		list[i] = randomReview(r, i, dims)
		if r.IntN(10) == 0 {
			list[i] = damage(r, list[i])
		}
	}
	members := []string{
		`"source":"https://example.test/` + name[:1] + `"`,
		fmt.Sprintf(`"title":%q`, "About "+name),
		`"created":"2019-05-06T07:08:09Z"`,
		`"id":"` + base64.StdEncoding.EncodeToString([]byte(name)) + `"`,
		`"reviews":[` + strings.Join(list, ",") + `]`,
	}
	switch dims {
	case 1:
		if r.IntN(4) > 0 {
			members = append(members, `"dimensions":["default"]`)
		}
	case 2:
		members = append(members, `"dimensions":["quality","price"]`)
	default:
		members = append(members, `"dimensions":["quality","price","caf\u00e9"]`)
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ",") + "}"
}

func randomReview(r *rand.Rand, i, dims int) string {
	ratings := make([]string, dims)
	for d := range ratings {
		ratings[d] = fmt.Sprint(1 + r.IntN(100))
	}
	members := []string{
		fmt.Sprintf(`"id":"r%d"`, i),
		fmt.Sprintf(`"title":"Nr %d, caf\u00e9 %s"`, i, strings.Repeat("é", r.IntN(5))),
		`"body_html":"<p>` + strings.Repeat("some words ", r.IntN(30)) +
			`<a href=\"https://example.test/?a=1&amp;b\">link</a> &amp; <\/p>\n<p>end</p>"`,
		`"created":"2020-02-29T23:59:59.5+01:30"`,
		`"ratings":[` + strings.Join(ratings, ", ") + `]`,
	}
	if r.IntN(2) == 0 {
		members = append(members, fmt.Sprintf(`"author_id":"u%d"`, r.IntN(50)))
	} else {
		members = append(members, `"imported_display_name":"Ann \ud83d\ude00"`, `"imported_email":"ann@example.test"`)
		members = append(members,
			[]string{`"imported_url":null`, `"imported_url":""`, `"imported_url":"http:\/\/example.test"`}[r.IntN(3)])
	}
	if r.IntN(3) == 0 {
		members = append(members, `"subparts":{"pro":"much","con":"little"}`)
	}
	if i > 0 && r.IntN(3) == 0 {
		members = append(members, fmt.Sprintf(`"parent_id":"r%d"`, r.IntN(i)))
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ",") + "}"
}

// damage changes something, so that the text may or may not be a record still.
func damage(r *rand.Rand, text string) string {
	swaps := [][2]string{
		{`"title"`, `"titel"`}, {`"created":"`, `"created":"x`}, {`2020-02-29`, `2021-02-29`}, {`"id":"r`, `"id":"r1`},
		{`"ratings":[`, `"ratings":[0,`}, {`"ratings":[`, `"ratings":["1",`}, {`</p>`, `</P`}, {`<p>`, `<b>`},
		{`https:`, `javascript:`},
		{`\u00e9`, `\u0000`}, {`\ude00`, ``}, {`é`, "\xff"}, {`"id":`, `"id":"x","id":`},
		{`"reviews":[`, `"reviews":[7,`}, {`{`, `{"extra":{"a":[{}]},`},
		{`{`, `{"\u0000":[{"a":"\udc00","\u0061":{}}],`}, {`"title":"`, `"title":{"a":1,"a":"\u0000"},"x":"`},
		{`"created":`, `"x":[7],"x":7,"created":`},
		{`"subparts":{`, `"subparts":{"pro":1,`}, {`"parent_id":"r`, `"parent_id":"q`}, {`:`, ` : `}, {`,`, ` ,	`},
		{`}`, ``}, {`"title":"`, `"title":"",`},
		{`"source":"`, `"source":"","x":"`}, {`"default"`, `"other"`}, {`"price"`, `"quality"`},
		{`"dimensions":[`, `"dimensions":["a",`},
	}
	swap := swaps[r.IntN(len(swaps))]
	return strings.Replace(text, swap[0], swap[1], 1)
}
