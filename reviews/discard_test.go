package reviews_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

// What is refused is looked into all the same: a file is mended in one go.
func TestRefusedValuesAreSearchedForRepeatedNamesAndBadCharacters(t *testing.T) {
	long := strings.Repeat("n", 300)
	for _, test := range []struct {
		name, line string // a mark stands at each place, in the order of want
		want       []string
	}{
		{"an unknown member given twice", `⟦"x":1,⟦"x":2`,
			[]string{"/x member-unknown", "/x member-unknown", "/x member-repeated"}},
		{"spelled in two ways", `⟦"x":1,⟦"\u0078":2`,
			[]string{"/x member-unknown", "/x member-unknown", "/x member-repeated"}},
		{"inside an unknown member", `⟦"x":{"a":[{"b":1,⟦"b":2}],⟦"a":0}`,
			[]string{"/x member-unknown", "/x/a/0/b member-repeated", "/x/a member-repeated"}},
		{"the same name in other objects", `⟦"x":{"a":{"a":{}},"b":[{"a":1},{"a":1}],"x":{}}`,
			[]string{"/x member-unknown"}},
		{"U+0000 and halves of pairs", `⟦"x⟦\u0000":["⟦\ud800⟦\u0000",{"⟦\udc00":1}]`,
			[]string{"/x\x00 member-unknown", "/x\x00 text-nul", "/x\x00/0 text-surrogate", "/x\x00/0 text-nul",
				"/x\x00/1/\ufffd text-surrogate"}},
		{"a known member given twice", `"title":"t",⟦"title":{"a":1,⟦"a":"⟦\u0000"}`,
			[]string{"/title member-repeated", "/title/a member-repeated", "/title/a text-nul"}},
		{"a value of the wrong type", `"title":⟦["⟦\u0000",{"a":1,⟦"a":1}]`,
			[]string{"/title value-type", "/title/0 text-nul", "/title/1/a member-repeated"}},
		{"a dimension of the wrong type", `"dimensions":["a",⟦["⟦\u0000"]]`,
			[]string{"/dimensions/1 value-type", "/dimensions/1/0 text-nul"}},
		{"very deep", `⟦"` + long + `":{"` + long + `":{"deep":{"deeper":"⟦\u0000"}}}`,
			[]string{"/" + long[:256] + "… member-unknown", "/" + long[:256] + "…/" + long[:256] + "… text-nul"}},
		{"many names", `⟦"x":{` + many(0, 100) + `,⟦"n0":1,⟦"n16":1,⟦"n99":1}`,
			[]string{"/x member-unknown", "/x/n0 member-repeated", "/x/n16 member-repeated", "/x/n99 member-repeated"}},
		{"more names than are compared", `⟦"x":{` + many(0, 4096) + `,⟦"n0":1,⟦"n4095":1,"n4096":1,"n4096":1}`,
			[]string{"/x member-unknown", "/x/n0 member-repeated", "/x/n4095 member-repeated"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rest := `"source":"s","created":"2020-01-02T03:04:05Z","id":"YQ","reviews":[]`
			for member, value := range map[string]string{"title": `"t"`, "dimensions": `["default"]`} {
				if !strings.Contains(test.line, `"`+member+`":`) {
					rest += `,"` + member + `":` + value
				}
			}
			line := "{" + test.line + "," + rest + "}"
			var want []string
			for {
				at := strings.Index(line, markSign)
				if at < 0 {
					break
				}
				want = append(want, fmt.Sprint(at))
				line = strings.Replace(line, markSign, "", 1)
			}
			for _, buffer := range []int{32, 100, 1 << 20} {
				var got, at []string
				for _, p := range check(t, []byte(line), reviews.WithBuffer(reviews.ReadOptions{}, buffer)) {
					got = append(got, p.Pointer+" "+p.Rule)
					at = append(at, fmt.Sprint(p.Offset))
				}
				if at = slices.Compact(at); !slices.Equal(got, test.want) || !slices.Equal(at, want) {
					t.Errorf("buffer %d:\n got %q at %v\nwant %q at %v", buffer, got, at, test.want, want)
				}
			}
			agree(t, []byte(line), nil)
		})
	}
	review := strings.Replace(record, `"title":"t","body`,
		`"x":{"a":1,"a":2},"subparts":{"k":[{"b":1,"b":"\u0000"}]},"ratings":[["\ud800"]],"title":"t","body`, 1)
	review = strings.Replace(review, `,"ratings":[50]`, "", 1)
	var got []string
	for _, p := range check(t, []byte(review), nil) {
		got = append(got, p.Pointer+" "+p.Rule)
	}
	want := []string{"/reviews/0/x member-unknown", "/reviews/0/x/a member-repeated",
		"/reviews/0/subparts/k value-type",
		"/reviews/0/subparts/k/0/b member-repeated", "/reviews/0/subparts/k/0/b text-nul",
		"/reviews/0/ratings/0 value-type", "/reviews/0/ratings/0/0 text-surrogate"}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	agree(t, []byte(review), nil)
}

// many gives members with numbered names.
func many(from, to int) string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf(`"n%d":%d`, i, i))
	}
	return strings.Join(list, ",")
}
