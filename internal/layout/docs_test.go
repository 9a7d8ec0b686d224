package layout

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mixed matches a name of more than one word, which is no word of a sentence.
var mixed = regexp.MustCompile(`\b[a-z][a-z0-9]*[A-Z]\w*\b`)

// wire are words of JSON that are names here, too.
const wire = "anyOf createdAt mayApprove"

// What programs import has an example for its first use, and its documentation names nothing that they cannot see.
func TestDocumentationIsForWhoImports(t *testing.T) {
	for _, p := range packages(t) {
		if p.DepOnly || p.private() || below(p.dir(), "examples") {
			continue
		}
		dir := filepath.Join(root, p.dir())
		if p.ImportPath == module {
			dir = root
		}
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files, examples := token.NewFileSet(), 0
		var sources []*ast.File
		for _, name := range names {
			file, err := parser.ParseFile(files, name, nil, parser.ParseComments)
			switch {
			case err != nil:
				t.Fatal(err)
			case strings.HasSuffix(name, "_test.go"):
				examples += len(doc.Examples(file))
			default:
				sources = append(sources, file)
			}
		}
		// Drivers and files are judged by these two, in tests of their own.
		if examples == 0 && !below(p.dir(), "storage/storetest assets/filestest") {
			t.Errorf("%s has no example", p.dir())
		}
		hidden := map[string]bool{} // what is declared here and not exported
		for _, file := range sources {
			for _, d := range file.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					hidden[d.Name.Name] = !d.Name.IsExported()
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						switch spec := spec.(type) {
						case *ast.TypeSpec:
							hidden[spec.Name.Name] = !spec.Name.IsExported()
						case *ast.ValueSpec:
							for _, name := range spec.Names {
								hidden[name.Name] = !name.IsExported()
							}
						}
					}
				}
			}
		}
		judge := func(of, text string) {
			for _, name := range mixed.FindAllString(text, -1) {
				if hidden[name] && !below(name, wire) {
					t.Errorf("%s: the documentation of %s names %s, which is not exported", p.dir(), of, name)
				}
			}
		}
		// NewFromFiles removes what is not exported.
		shown, err := doc.NewFromFiles(files, sources, p.ImportPath)
		if err != nil {
			t.Fatal(err)
		}
		judge("the package", shown.Doc)
		decl := func(of string, d ast.Decl) {
			ast.Inspect(d, func(n ast.Node) bool {
				if c, ok := n.(*ast.CommentGroup); ok {
					judge(of, c.Text())
				}
				_, body := n.(*ast.BlockStmt)
				return !body
			})
		}
		values := func(list []*doc.Value) {
			for _, v := range list {
				decl(strings.Join(v.Names, ", "), v.Decl)
				judge(strings.Join(v.Names, ", "), v.Doc)
			}
		}
		funcs := func(list []*doc.Func) {
			for _, f := range list {
				judge(f.Name, f.Doc)
			}
		}
		values(shown.Consts)
		values(shown.Vars)
		funcs(shown.Funcs)
		for _, typ := range shown.Types {
			decl(typ.Name, typ.Decl)
			judge(typ.Name, typ.Doc)
			values(typ.Consts)
			values(typ.Vars)
			funcs(typ.Funcs)
			funcs(typ.Methods)
		}
	}
}
