package layout

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documented is a public package as go doc sees it.
type documented struct {
	*doc.Package
	dir     string
	fset    *token.FileSet
	private map[string]bool // the unexported names of its types, functions, methods, constants and variables
	mixed   []string        // exported names that are declared together with unexported ones, which go doc prints then
	quoted  map[string]bool // words in strings: members of JSON, keywords and the like may have the name of a function
}

// public returns the packages that other modules can import.
func public(t *testing.T) (all []documented) {
	t.Helper()
	quoted := map[string]bool{}
	for _, p := range packages(t) {
		if p.DepOnly || p.private() && !strings.Contains(p.dir(), "schemaguard") || below(p.dir(), "examples") {
			continue
		}
		d := documented{dir: p.dir(), fset: token.NewFileSet(), private: map[string]bool{}, quoted: quoted}
		names, err := filepath.Glob(filepath.Join(root, strings.TrimPrefix(p.dir(), module), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var files []*ast.File
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file, err := parser.ParseFile(d.fset, name, text, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
			if !strings.HasSuffix(name, "_test.go") {
				d.note(file)
			} else if file.Name.Name == d.name() && len(doc.Examples(file)) > 0 {
				t.Errorf("%s has an example, which can use unexported names: put it into package %s_test", name,
					file.Name.Name)
			}
		}
		if d.Package, err = doc.NewFromFiles(d.fset, files, p.ImportPath); err != nil {
			t.Fatal(p.dir(), err)
		}
		if !p.private() { // the others are read for the keywords of JSON Schema
			all = append(all, d)
		}
	}
	return all
}

// name returns the name of the package.
func (d documented) name() string { return path.Base(d.dir) }

// note notes the unexported names that a file declares outside of functions.
func (d *documented) note(file *ast.File) {
	add := func(names ...*ast.Ident) {
		for _, name := range names {
			if !name.IsExported() && name.Name != "_" {
				d.private[name.Name] = true
			}
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			add(decl.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					add(spec.Names...)
				case *ast.TypeSpec:
					add(spec.Name)
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		var together []*ast.Ident
		switch n := n.(type) {
		case *ast.ValueSpec:
			together = n.Names
		case *ast.StructType:
			for _, field := range n.Fields.List {
				if isMixed(field.Names) {
					together = field.Names
				}
			}
		}
		if isMixed(together) {
			d.mixed = append(d.mixed, fmt.Sprint(together))
		}
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			for _, word := range words.FindAllString(text.Value, -1) {
				d.quoted[word] = true
			}
		}
		return true
	})
}

// isMixed reports whether some of the names are exported, and others are not.
func isMixed(names []*ast.Ident) bool {
	unexported := func(name *ast.Ident) bool { return !name.IsExported() && name.Name != "_" }
	return slices.ContainsFunc(names, unexported) && slices.ContainsFunc(names, (*ast.Ident).IsExported)
}

var words = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// shown calls fn with each thing that go doc shows: its name, its comment and its declaration without the bodies of
// functions.
func (d documented) shown(fn func(name, comment string, decl ast.Node)) {
	fn("package", d.Doc, nil)
	values := func(list []*doc.Value) {
		for _, v := range list {
			fn(strings.Join(v.Names, ", "), v.Doc, v.Decl)
		}
	}
	funcs := func(of string, list []*doc.Func) {
		for _, f := range list {
			fn(of+f.Name, f.Doc, f.Decl.Type)
		}
	}
	values(d.Consts)
	values(d.Vars)
	funcs("", d.Funcs)
	for _, t := range d.Types {
		fn(t.Name, t.Doc, t.Decl)
		values(t.Consts)
		values(t.Vars)
		funcs("", t.Funcs)
		funcs(t.Name+".", t.Methods)
	}
}

// undocumented returns the names of a declaration of constants or variables that have no comment of their own.
func undocumented(decl *ast.GenDecl) (names []string) {
	for _, spec := range decl.Specs {
		if v, ok := spec.(*ast.ValueSpec); ok && v.Doc.Text() == "" && v.Comment.Text() == "" {
			for _, name := range v.Names {
				if name.IsExported() {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// Whoever reads the documentation of a package finds its first use there. The comment of the root has a program;
// storetest and filestest judge drivers and files in tests of their own.
func TestEachPackageHasAnExample(t *testing.T) {
	for _, d := range public(t) {
		all := len(d.Package.Examples)
		for _, f := range d.Funcs {
			all += len(f.Examples)
		}
		for _, typ := range d.Types {
			all += len(typ.Examples)
			for _, f := range slices.Concat(typ.Funcs, typ.Methods) {
				all += len(f.Examples)
			}
		}
		if all == 0 && d.dir != module && !below(d.dir, "storage/storetest assets/filestest") {
			t.Errorf("%s has no example", d.dir)
		}
	}
}

// elsewhere matches a comment that says where another one is, and nothing else.
var elsewhere = regexp.MustCompile(`^(\S+ (is|calls|stands for|does what) \[?\w+\.\w+\b|[Ss]ee )`)

// Whoever reads go doc learns there what each exported name is for.
func TestExportedNamesHaveComments(t *testing.T) {
	for _, d := range public(t) {
		d.shown(func(name, comment string, decl ast.Node) {
			if values, ok := decl.(*ast.GenDecl); ok && values.Tok != token.TYPE {
				for _, name := range undocumented(values) {
					if comment == "" {
						t.Errorf("%s: %s has no comment", d.dir, name)
					}
				}
			} else if len(strings.Fields(comment)) < 3 || elsewhere.MatchString(comment) {
				t.Errorf("%s: the comment of %s does not say what it does: %q", d.dir, name, comment)
			}
		})
	}
}

// named matches the words of a comment that can only be names of Go: behind a type or a bracket, with capitals inside,
// or before a parenthesis.
var named = regexp.MustCompile(`(?:\b[A-Z]\w*\.|\[)([a-z]\w*)|\b([a-z]+[A-Z]\w*)\b|\b([a-z]\w*)\(`)

// No name that a reader cannot look up stands in what go doc prints: in comments, in the types of signatures and
// fields, in values.
func TestDocumentationNamesNothingUnexported(t *testing.T) {
	for _, d := range public(t) {
		for _, names := range d.mixed {
			t.Errorf("%s: %s are declared together, so that go doc shows all of them", d.dir, names)
		}
		parameters := map[string]bool{}
		comment := func(of, text string) {
			for _, match := range named.FindAllStringSubmatch(text, -1) {
				for _, name := range match[1:] {
					if d.private[name] && !d.quoted[name] && !parameters[name] {
						t.Errorf("%s: the comment of %s names %s, which is not exported", d.dir, of, name)
					}
				}
			}
		}
		d.shown(func(of, text string, decl ast.Node) {
			clear(parameters)
			if f, ok := decl.(*ast.FuncType); ok {
				for _, field := range f.Params.List {
					for _, name := range field.Names {
						parameters[name.Name] = true
					}
				}
			}
			comment(of, text)
			if decl == nil {
				return
			}
			own := map[string]bool{} // parameters of types
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					if n.TypeParams != nil {
						for _, p := range n.TypeParams.List {
							own[p.Names[0].Name] = true
						}
					}
				case *ast.CommentGroup:
					comment(of, n.Text())
					return false
				case *ast.SelectorExpr: // a name of another package
					return false
				case *ast.Field:
					ast.Inspect(n.Type, func(n ast.Node) bool { return d.exported(t, of, own, n) })
					for _, group := range []*ast.CommentGroup{n.Doc, n.Comment} {
						comment(of, group.Text())
					}
					return true
				case *ast.ValueSpec:
					for _, value := range append(slices.Clone(n.Values), n.Type) {
						if value != nil {
							ast.Inspect(value, func(n ast.Node) bool { return d.exported(t, of, own, n) })
						}
					}
				}
				return true
			})
		})
	}
}

// exported fails for an identifier that is not exported; it reports whether what is below the node is to be looked at.
func (d documented) exported(t *testing.T, of string, own map[string]bool, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		return false
	case *ast.FieldList: // the fields come by themselves
		return false
	case *ast.Ident:
		if d.private[n.Name] && !own[n.Name] {
			t.Errorf("%s: %s shows %s, which is not exported", d.dir, of, n.Name)
		}
	}
	return true
}
