package httpapi

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// everyCode is every code that an error can have: those of the statuses, and the constants of package vitrine.
func everyCode(t *testing.T) []string {
	t.Helper()
	codes := map[string]bool{}
	for _, row := range errorTable {
		if row.code != "" {
			codes[row.code] = true
		}
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), "../../vitrine.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Code") {
			code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes[code] = true
		}
		return true
	})
	return slices.Sorted(maps.Keys(codes))
}

func TestOpenAPIHasEveryCodeAndNoOther(t *testing.T) {
	var doc struct {
		Components struct {
			Responses map[string]struct {
				Description string
				Content     map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
					Example struct{ Code string }
				}
			}
			Schemas struct {
				Error struct {
					Properties struct{ Code struct{ Enum []string } }
				}
			}
		}
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	codes := everyCode(t)
	described := slices.Sorted(slices.Values(doc.Components.Schemas.Error.Properties.Code.Enum))
	if !slices.Equal(described, codes) {
		t.Errorf("the schema Error has the codes %q, want %q", described, codes)
	}
	for name, r := range doc.Components.Responses {
		body, ok := r.Content["application/json"]
		if ok && body.Schema.Ref == "#/components/schemas/Error" &&
			!strings.Contains(r.Description, "`"+body.Example.Code+"`") {
			t.Errorf("the description of the response %s does not name the code %q of its example", name,
				body.Example.Code)
		}
	}
}

func TestOpenAPIShowsEveryParameter(t *testing.T) {
	for name, op := range describedRoutes(t) {
		for _, p := range op.Parameters {
			if p.Description == "" || p.Example == nil && p.Examples == nil {
				t.Errorf("%s: the parameter %s has no description or no example", name, p.Name)
			}
		}
	}
}

// A token in a URL ends up in histories and logs, so that no client may be generated that sends one there.
func TestOpenAPINamesNoTokenInURLs(t *testing.T) {
	var doc struct{ Security []map[string]any }
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Security) != 1 || len(doc.Security[0]) != 1 || doc.Security[0]["token"] == nil {
		t.Errorf("by default operations take %v, want the scheme token alone", doc.Security)
	}
	for name, op := range describedRoutes(t) {
		if op.Security != nil && len(*op.Security) > 0 {
			t.Errorf("%s has schemes of its own: %v", name, *op.Security)
		}
	}
}
