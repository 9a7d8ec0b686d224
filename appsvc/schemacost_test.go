package appsvc

import (
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/proof"
)

// jsonArray writes n elements, each made by element from its index, as a JSON array.
func jsonArray(n int, element func(int) string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(element(i))
	}
	b.WriteByte(']')
	return b.String()
}

// jsonObject writes n members as a JSON object.
func jsonObject(n int, member func(int) (name, value string)) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		name, value := member(i)
		fmt.Fprintf(&b, "%q:%s", name, value)
	}
	b.WriteByte('}')
	return b.String()
}

func same(s string) func(int) string { return func(int) string { return s } }

func nest(depth int, open, inner, closing string) string {
	return strings.Repeat(open, depth) + inner + strings.Repeat(closing, depth)
}

// attacks are ways to make validation slow. Each grows with n; at some n the guard stops it, and just below that
// validation is slowest.
var attacks = []struct {
	name string
	make func(n int) (schema, config string)
}{
	{"plain numbers", func(n int) (string, string) {
		return `{"items":{"type":"number"}}`, jsonArray(n, same("1"))
	}},
	{"integers", func(n int) (string, string) {
		return `{"items":{"type":"integer"}}`, jsonArray(n, same("1"))
	}},
	{"wrong type everywhere", func(n int) (string, string) {
		return `{"items":{"type":"string"}}`, jsonArray(n, same("1"))
	}},
	{"false everywhere", func(n int) (string, string) {
		return `{"items":false}`, jsonArray(n, same("1"))
	}},
	{"empty objects", func(n int) (string, string) {
		return `{"items":{"required":["a"]}}`, jsonArray(n, same("{}"))
	}},
	{"several faults an item", func(n int) (string, string) {
		return `{"items":{"allOf":[{"type":"string"},{"type":"object"},{"enum":["a"]},{"minimum":5},{"not":{}}]}}`,
			jsonArray(n, same("1"))
	}},
	{"faults deep down", func(n int) (string, string) {
		return `{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"},"type":["array","string"]}}}`,
			nest(60, "[", jsonArray(n, same("1")), "]")
	}},
	{"fan-out of references", func(n int) (string, string) {
		return `{"items":{"$ref":"#/$defs/0"},"$defs":` + jsonObject(9, func(i int) (string, string) {
			if i == 8 {
				return "8", `{"type":"object"}`
			}
			return fmt.Sprint(i), fmt.Sprintf(`{"allOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%[1]d"}]}`, i+1)
		}) + "}", jsonArray(n, same("1"))
	}},
	{"branching recursion", func(n int) (string, string) {
		return `{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["x"]},{"properties":{"a":{"$ref":"#"}},` +
				`"required":["y"]}]}`,
			nest(min(n, 63), `{"a":`, "{}", "}")
	}},
	{"a chain of references", func(n int) (string, string) {
		return `{"items":{"$ref":"#/$defs/0"},"$defs":` + jsonObject(150, func(i int) (string, string) {
			if i == 149 {
				return "149", `{"type":"object"}`
			}
			return fmt.Sprint(i), fmt.Sprintf(`{"$ref":"#/$defs/%d"}`, i+1)
		}) + "}", jsonArray(n, same("1"))
	}},
	{"a chain of references, deep", func(n int) (string, string) {
		return `{"$ref":"#/$defs/0","$defs":` + jsonObject(min(n, 190)+2, func(i int) (string, string) {
			if i == min(n, 190)+1 {
				return fmt.Sprint(i), `{"items":{"$ref":"#/$defs/0"}}`
			}
			return fmt.Sprint(i), fmt.Sprintf(`{"$ref":"#/$defs/%d"}`, i+1)
		}) + "}", nest(63, "[", "", "]")
	}},
	{"unevaluatedProperties", func(n int) (string, string) {
		return `{"unevaluatedProperties":false,"allOf":` + jsonArray(20, same(`{"properties":{"a":true}}`)) + `}`,
			jsonObject(n, func(i int) (string, string) { return fmt.Sprint(i), "1" })
	}},
	{"unevaluatedItems", func(n int) (string, string) {
		return `{"unevaluatedItems":{"type":"string"},"allOf":` +
			jsonArray(20, same(`{"prefixItems":[{"type":"number"}]}`)) + `}`, jsonArray(n, same("1"))
	}},
	{"many small unevaluated objects", func(n int) (string, string) {
		return `{"items":{"unevaluatedProperties":false,"anyOf":[{"properties":{"a":{"type":"number"}}},` +
				`{"properties":{"b":true}}]}}`,
			jsonArray(n, same(`{"a":1,"b":2}`))
	}},
	{"uniqueItems, numbers", func(n int) (string, string) {
		return `{"uniqueItems":true}`, jsonArray(n, func(i int) string { return fmt.Sprint(i) })
	}},
	{"uniqueItems, twenty long ones", func(n int) (string, string) {
		return `{"uniqueItems":true}`,
			jsonArray(20, func(i int) string { return jsonArray(n/20, same("1")) + "" })[:0] +
				jsonArray(20, func(i int) string {
					return jsonArray(n/20, func(j int) string {
						return map[bool]string{true: fmt.Sprint(i), false: "1"}[j == n/20-1]
					})
				})
	}},
	{"uniqueItems, twenty objects", func(n int) (string, string) {
		return `{"uniqueItems":true}`, jsonArray(20, func(i int) string {
			return jsonObject(n/20+1, func(j int) (string, string) {
				return fmt.Sprint(j), map[bool]string{true: fmt.Sprint(i), false: "1"}[j == 0]
			})
		})
	}},
	{"uniqueItems, objects", func(n int) (string, string) {
		return `{"uniqueItems":true}`, jsonArray(n, func(i int) string { return fmt.Sprintf(`{"id":%d,"n":"x"}`, i) })
	}},
	{"uniqueItems at every level", func(n int) (string, string) {
		return `{"uniqueItems":true,"items":{"$ref":"#"}}`,
			nest(50, "[", jsonArray(n, func(i int) string { return fmt.Sprint(i) }), "]")
	}},
	{"pattern on one string", func(n int) (string, string) {
		return `{"pattern":"((a{0,100}){0,10}){0,1}$"}`, `"` + strings.Repeat("a", n) + `"`
	}},
	{"pattern that is anchored", func(n int) (string, string) {
		return `{"pattern":"^[a-z]+$"}`, `"` + strings.Repeat("a", n) + `"`
	}},
	{"pattern on short strings", func(n int) (string, string) {
		return `{"items":{"pattern":"^[a-z0-9_-]{1,64}$"}}`, jsonArray(n, same(`"abcdefgh"`))
	}},
	{"pattern of letters", func(n int) (string, string) {
		return `{"pattern":"([^b\\p{Greek}\\p{Latin}]?|(\\p{L}|\\p{N}|[^a])*){0,50}b$"}`,
			`"` + strings.Repeat("\U00010400", n/4) + `"`
	}},
	{"pattern with many alternatives", func(n int) (string, string) {
		return `{"pattern":"(a|aa|aaa|aaaa|[a-c]+|[a-d]*)*b"}`, `"` + strings.Repeat("a", n) + `"`
	}},
	{"a lookahead from everywhere", func(n int) (string, string) {
		return `{"pattern":"(?!.*foo)x"}`, `"` + strings.Repeat("a", n) + `"`
	}},
	{"lookaheads in lookaheads", func(n int) (string, string) {
		return `{"pattern":"` + nest(100, "(?=.*", "b", ")") + `"}`, `"` + strings.Repeat("a", n) + `"`
	}},
	{"a lookbehind of letters", func(n int) (string, string) {
		return `{"pattern":"(?<!\\p{L}{0,50}[^\\p{Greek}]*)b"}`, `"` + strings.Repeat("\U00010400", n/4) + `"`
	}},
	{"lookaheads on short strings", func(n int) (string, string) {
		return `{"items":{"pattern":"^(?=.*[a-z])(?!x-)(?<=^)[a-z-]+$"}}`, jsonArray(n, same(`"abcdefgh"`))
	}},
	{"a lookahead of many steps on short strings", func(n int) (string, string) {
		return `{"items":{"pattern":"(?=` + strings.Repeat("a{1000}", 9) + `)"}}`, jsonArray(n, same(`"a"`))
	}},
	{"many patterns that look ahead", func(n int) (string, string) {
		return `{"patternProperties":` + jsonObject(100, func(i int) (string, string) {
				return fmt.Sprintf("^(?!x%d).*%d$", i, i), "true"
			}) + `}`,
			jsonObject(n, func(i int) (string, string) { return fmt.Sprintf("ab%d", i), "1" })
	}},
	{"a repetition of many times on short strings", func(n int) (string, string) {
		return `{"items":{"pattern":"^[a-z]{0,6000}$"}}`, jsonArray(n, same(`"abcdefgh"`))
	}},
	{"a repetition of many times from everywhere", func(n int) (string, string) {
		return `{"pattern":"([a-z]?){3000}b"}`, `"` + strings.Repeat("a", n) + `"`
	}},
	{"a back-reference from everywhere", func(n int) (string, string) {
		return `{"pattern":"(a+)\\1b"}`, `"` + strings.Repeat("a", n) + `"`
	}},
	{"a back-reference to long texts", func(n int) (string, string) {
		return `{"pattern":"^(a*)a*?\\1b"}`, `"` + strings.Repeat("a", n) + `"`
	}},
	{"a back-reference in nested loops", func(n int) (string, string) {
		return `{"pattern":"^((a+)*)*\\2b"}`, `"` + strings.Repeat("a", n) + `"`
	}},
	{"a back-reference beside many groups", func(n int) (string, string) {
		return `{"pattern":"^(?:` + strings.Repeat("(a?)", 200) + `a)*?\\1b"}`, `"` + strings.Repeat("a", n) + `"`
	}},
	{"a back-reference behind a lookbehind", func(n int) (string, string) {
		return `{"pattern":"(?<=(a+))\\1b"}`, `"` + strings.Repeat("a", n) + `"`
	}},
	{"back-references on short strings", func(n int) (string, string) {
		return `{"items":{"pattern":"^(['\"]).*\\1$"}}`, jsonArray(n, same(`"'abcdefgh'"`))
	}},
	{"patterns of property names", func(n int) (string, string) {
		return `{"patternProperties":` + jsonObject(100, func(i int) (string, string) {
				return fmt.Sprintf("(a|b)*%d$", i), "true"
			}) + `}`,
			jsonObject(n, func(i int) (string, string) { return fmt.Sprintf("ab%d", i), "1" })
	}},
	{"propertyNames", func(n int) (string, string) {
		return `{"propertyNames":{"pattern":"^x","maxLength":1,"minLength":100}}`,
			jsonObject(n, func(i int) (string, string) { return fmt.Sprint(i), "1" })
	}},
	{"a number of many digits", func(n int) (string, string) {
		return `{"multipleOf":0.37}`, strings.Repeat("7", n)
	}},
	{"a number of many digits, integer", func(n int) (string, string) {
		return `{"type":"integer"}`, strings.Repeat("7", n)
	}},
	{"a huge exponent", func(n int) (string, string) { return `{"multipleOf":0.37}`, fmt.Sprintf("1e%d", n) }},
	{"a huge negative exponent", func(n int) (string, string) {
		return `{"multipleOf":0.37}`, fmt.Sprintf("1e-%d", n)
	}},
	{"many exponents", func(n int) (string, string) {
		return `{"items":{"multipleOf":0.37,"minimum":3,"maximum":1}}`, jsonArray(n, same("1e999"))
	}},
	{"exponents in an enum", func(n int) (string, string) {
		return `{"items":{"enum":[1e900,1e901,1e902,1e903,1e904,1e905]}}`, jsonArray(n, same("1e999"))
	}},
	{"a long enum of strings", func(n int) (string, string) {
		return `{"items":{"enum":` + jsonArray(5000, func(i int) string {
			return fmt.Sprintf("%q", fmt.Sprint("value", i))
		}) + `}}`, jsonArray(n, same(`"value4999"`))
	}},
	{"a long enum of long strings", func(n int) (string, string) {
		return `{"items":{"enum":` + jsonArray(100, func(i int) string {
				return fmt.Sprintf("%q", strings.Repeat("x", 1000)+fmt.Sprint(100+i))
			}) + `}}`,
			jsonArray(n, same(`"`+strings.Repeat("x", 1000)+`199"`))
	}},
	{"a long enum of numbers", func(n int) (string, string) {
		return `{"items":{"enum":` + jsonArray(5000, func(i int) string { return fmt.Sprint(i) }) + `}}`,
			jsonArray(n, same("4999"))
	}},
	{"an enum of objects", func(n int) (string, string) {
		return `{"items":{"enum":` + jsonArray(200, func(i int) string {
			return fmt.Sprintf(`{"a":[1,2,3],"b":%d}`, i)
		}) + `}}`, jsonArray(n, same(`{"a":[1,2,3],"b":199}`))
	}},
	{"contains", func(n int) (string, string) {
		return `{"contains":{"type":"string"},"minContains":5,"maxContains":7}`, jsonArray(n, same("1"))
	}},
	{"contains at every level", func(n int) (string, string) {
		return `{"contains":{"$ref":"#"},"items":{"$ref":"#"}}`, nest(min(n, 63), "[", "", "]")
	}},
	{"dependentSchemas", func(n int) (string, string) {
		return `{"items":{"dependentSchemas":` + jsonObject(50, func(i int) (string, string) {
				return fmt.Sprint(i), `{"required":["z"]}`
			}) + `}}`,
			jsonArray(n, same(jsonObject(10, func(i int) (string, string) { return fmt.Sprint(i), "1" })))
	}},
	{"dependentRequired", func(n int) (string, string) {
		return `{"items":{"dependentRequired":{"a":` + jsonArray(1000, func(i int) string {
			return fmt.Sprintf(`"r%d"`, i)
		}) + `}}}`, jsonArray(n, same(`{"a":1}`))
	}},
	{"required", func(n int) (string, string) {
		return `{"items":{"required":` + jsonArray(1000, func(i int) string { return fmt.Sprintf(`"r%d"`, i) }) + `}}`,
			jsonArray(n, same(`{}`))
	}},
	{"dynamic references", func(n int) (string, string) {
		return `{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"}}`, nest(60, "[", jsonArray(n, same("[]")), "]")
	}},
	{"recursive references", func(n int) (string, string) {
		return `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,` +
				`"items":{"$recursiveRef":"#"}}`,
			nest(60, "[", jsonArray(n, same("[]")), "]")
	}},
	{"a config that is a schema", func(n int) (string, string) {
		return `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`,
			`{"properties":` + jsonObject(n, func(i int) (string, string) {
				return fmt.Sprint(i), `{"type":"string"}`
			}) + `}`
	}},
	{"oneOf of many", func(n int) (string, string) {
		return `{"items":{"oneOf":` + jsonArray(200, func(i int) string {
				return fmt.Sprintf(`{"properties":{"k":{"const":"%d"}},"required":["k"]}`, i)
			}) + `}}`,
			jsonArray(n, same(`{"k":"199"}`))
	}},
	{"lengths", func(n int) (string, string) {
		return `{"allOf":` + jsonArray(200, same(`{"maxLength":5}`)) + `}`, `"` + strings.Repeat("é", n/2) + `"`
	}},
	{"many subschemas", func(n int) (string, string) {
		return `{"properties":` + jsonObject(min(n, 10000), func(i int) (string, string) {
			return fmt.Sprint("p", i), `{"type":"string"}`
		}) + `}`, `{"p1":1}`
	}},
	{"many ids", func(n int) (string, string) {
		return `{"$defs":` + jsonObject(min(n, 8000), func(i int) (string, string) {
			return fmt.Sprint("p", i), fmt.Sprintf(`{"$id":"i%d"}`, i)
		}) + `}`, `{}`
	}},
	{"references to unusual places", func(n int) (string, string) {
		n = min(n, 5000)
		return `{"x":` + jsonArray(n, same(`{"a":1}`)) + `,"allOf":` + jsonArray(n, func(i int) string {
			return fmt.Sprintf(`{"$ref":"#/x/%d"}`, i)
		}) + `}`, `{}`
	}},
	{"long names", func(n int) (string, string) {
		return `{"properties":{"` + strings.Repeat("x", 20000) + `":{"properties":` +
			jsonObject(min(n, 8000), func(i int) (string, string) {
				return fmt.Sprint("p", i), `{"type":"string"}`
			}) + `}}}`, `{}`
	}},
	{"subschemas below long names", func(n int) (string, string) {
		return `{"properties":{"` + strings.Repeat("x", 500) + `":{"properties":` +
			jsonObject(min(n, 8000), func(i int) (string, string) {
				return fmt.Sprint("p", i), `{"type":"string"}`
			}) + `}}}`, `{}`
	}},
	{"an enum to compile", func(n int) (string, string) {
		return `{"$schema":"http://json-schema.org/draft-04/schema#","enum":` + jsonArray(20, func(i int) string {
			return jsonArray(min(n, 120000)/20+1, func(j int) string {
				return map[bool]string{true: fmt.Sprint(i), false: "1"}[j == min(n, 120000)/20]
			})
		}) + `}`, `{}`
	}},
	{"an enum of strings to compile", func(n int) (string, string) {
		return `{"enum":` + jsonArray(min(n, 40000), func(i int) string { return fmt.Sprintf(`"%d"`, i) }) + `}`, `{}`
	}},
}

// TestAttacksEndSoon measures the largest case of each attack that is still accepted, and one that is far too large.
func TestAttacksEndSoon(t *testing.T) {
	if proof.Short() {
		t.Skip("measures the slowest cases")
	}
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			n := largest(attack.make)
			schema, config := attack.make(n)
			best := time.Hour // of three: others may be using the machine
			for i := 0; i < 3 && (i == 0 || best > 200*time.Millisecond); i++ {
				start := time.Now()
				// patterns of package regexp2 may be refused now
				_ = newSchemas(nil).validate([]byte(schema), []byte(config))
				best = min(best, time.Since(start))
			}
			// some 250 ms are usual: this is for what was forgotten, whatever else the machine does
			if best > 5*time.Second {
				t.Errorf("n = %d took %v", n, best)
			}
			for n := 2; n < 1<<20; n *= 2 {
				s, c := attack.make(n)
				if len(s) > schemaguard.MaxBytes || len(c) > 1<<20 {
					break
				}
				schema, config = s, c
			}
			start := time.Now()
			err := newSchemas(nil).validate([]byte(schema), []byte(config))
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("far too large, it took %v: %v", took, err)
			}
		})
	}
}

// largest returns about the largest n at which the guard takes schema and config.
func largest(make func(n int) (schema, config string)) int {
	var last string
	var guard *schemaguard.Schema
	refused := func(n int) bool {
		schema, config := make(n)
		if len(config) > 1<<20 {
			return true
		}
		if schema != last || guard == nil {
			var err error
			if guard, err = schemaguard.Compile([]byte(schema)); err != nil {
				guard = nil
				return true
			}
			last = schema
		}
		decoded, err := decodeJSON([]byte(config))
		if err == nil {
			_, err = guard.Validate(new(schemaguard.Usage), "", decoded)
		}
		return err != nil
	}
	low := 1 << max(0, sort.Search(20, func(i int) bool { return refused(1 << i) })-1)
	return low + sort.Search(16, func(i int) bool { return refused(low + (i+1)*low/16) })*low/16
}
