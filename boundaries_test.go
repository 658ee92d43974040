package wkwfs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// commandsOnly are packages and files that no server runs. They may die of a panic.
var commandsOnly = []string{
	"integration/", "internal/write/importer/", "internal/write/pyramid/", "internal/jobs/copier/",
	"internal/jobs/check/", "internal/serve/preview/", "internal/jobs/sample/",
	"internal/tests/refdata/", "internal/tests/voxeltest/", "internal/tests/vfstest/", "precomputed/internal/",
	"wkw/writer.go", "cmd/wkwfs/cp.go", "cmd/wkwfs/progress.go",
	"cmd/wkwfs/import_screen.go",
}

// TestBoundaries checks the source of servers: a goroutine starts behind a boundary of package guard, the statement
// after a lock is taken defers its release, and each boundary has a place where tests inject a panic. The table in
// ARCHITECTURE.md lists the boundaries.
func TestBoundaries(t *testing.T) {
	found := map[string]string{} // place → file
	passes := map[string]bool{}
	for _, file := range serverFiles(t) {
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := &source{t: t, files: files, named: map[string]bool{}}
		ast.Walk(s, parsed)
		for _, place := range s.boundaries {
			found[place] = file
		}
		for _, place := range s.passes {
			passes[place] = true
		}
	}
	for place, file := range found {
		if !passes[place] {
			t.Errorf("%s: the boundary %s has no guard.Pass(%q)", file, place, place)
		}
	}
	listed := boundariesIn(t, "ARCHITECTURE.md")
	for place, file := range found {
		if !slices.Contains(listed, place) {
			t.Errorf("ARCHITECTURE.md has no row for the boundary %s of %s", place, file)
		}
	}
	for _, place := range listed {
		if found[place] == "" {
			t.Errorf("ARCHITECTURE.md has a row for the boundary %s, which the source has not", place)
		}
	}
}

// boundariesIn returns the places in the first column of the table of boundaries.
func boundariesIn(t *testing.T, document string) (places []string) {
	t.Helper()
	b, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "\n## Boundaries\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([a-z]+\\.[a-z]+)`").FindAllStringSubmatch(cells[1], -1) {
				places = append(places, m[1])
			}
		}
	}
	return places
}

// serverFiles returns the Go files of servers, without tests.
func serverFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.HasPrefix(name, "internal/small/guard/"):
		case !slices.ContainsFunc(commandsOnly, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
			files = append(files, name)
		}
		return nil
	})
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// source is a file that is being walked.
type source struct {
	t                  *testing.T
	files              *token.FileSet
	boundaries, passes []string
	named              map[string]bool // variables with a function behind a boundary
}

func (s *source) errorf(at token.Pos, format string, args ...any) {
	s.t.Helper()
	s.t.Errorf("%s: %s", s.files.Position(at), fmt.Sprintf(format, args...))
}

// Visit implements ast.Visitor.
func (s *source) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.ImportSpec:
		if strings.HasSuffix(n.Path.Value, `/sync/errgroup"`) {
			s.errorf(n.Pos(), "a panic of an errgroup.Group ends the program: use sync.WaitGroup.Go(guard.FuncElse(…))")
		}
	case *ast.AssignStmt:
		for i, right := range n.Rhs {
			if left, ok := n.Lhs[i%len(n.Lhs)].(*ast.Ident); ok && s.isBoundary(right) {
				s.named[left.Name] = true
			}
		}
	case *ast.GoStmt:
		if !s.isBoundary(n.Call.Fun) {
			s.errorf(n.Pos(), "a goroutine starts without a boundary: write go guard.Func(place, f)()")
		}
	case *ast.CallExpr:
		s.visitCall(n)
	case *ast.BlockStmt:
		s.visitStatements(n.List)
	case *ast.CaseClause:
		s.visitStatements(n.Body)
	case *ast.CommClause:
		s.visitStatements(n.Body)
	}
	return s
}

func (s *source) visitCall(n *ast.CallExpr) {
	name := selected(n.Fun)
	if name == "Go" && len(n.Args) == 1 || name == "AfterFunc" && len(n.Args) == 2 {
		if f := n.Args[len(n.Args)-1]; !s.isBoundary(f) {
			s.errorf(n.Pos(), "%s starts a goroutine without a boundary: write %s(guard.Func(place, f))", name, name)
		}
	}
	if len(n.Args) == 0 {
		return
	}
	literal, ok := n.Args[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	place, err := strconv.Unquote(literal.Value)
	if err != nil || !regexp.MustCompile(`^[a-z]+\.[a-z]+$`).MatchString(place) {
		return
	}
	switch name {
	case "Pass":
		s.passes = append(s.passes, place)
	case "Func", "FuncElse", "Do", "Call", "Recover", "Recovered", "Seq":
		s.boundaries = append(s.boundaries, place)
		if name == "Seq" { // it passes its place itself
			s.passes = append(s.passes, place)
		}
	}
}

// visitStatements checks the locks in a block.
func (s *source) visitStatements(list []ast.Stmt) {
	unlock := map[string]string{"Lock": "Unlock", "RLock": "RUnlock"}
	for i, statement := range list {
		call, ok := expression(statement)
		if !ok || unlock[selected(call.Fun)] == "" || len(call.Args) > 0 {
			continue
		}
		if i+1 < len(list) {
			if next, ok := list[i+1].(*ast.DeferStmt); ok && selected(next.Call.Fun) == unlock[selected(call.Fun)] {
				continue
			}
		}
		s.errorf(call.Pos(),
			"the next statement must be the deferred release of the lock: a panic would leave it locked")
	}
}

// expression returns the call that a statement consists of.
func expression(s ast.Stmt) (*ast.CallExpr, bool) {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil, false
	}
	call, ok := e.X.(*ast.CallExpr)
	return call, ok
}

// isBoundary reports whether an expression is a function behind a boundary: a call of guard.Func and the like, or a
// variable that has one.
func (s *source) isBoundary(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return s.named[e.Name]
	case *ast.CallExpr:
		name := selected(e.Fun)
		return (name == "Func" || name == "FuncElse") && len(e.Args) > 1
	}
	return false
}

// selected returns the name after the point of a selector. That of a generic function may be followed by types.
func selected(e ast.Expr) string {
	if i, ok := e.(*ast.IndexExpr); ok {
		e = i.X
	}
	if s, ok := e.(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return ""
}

// TestInjection: only tests, and the program that is built for tests, inject panics.
func TestInjection(t *testing.T) {
	for _, file := range serverFiles(t) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "guard.Inject(") && !strings.HasPrefix(string(b), "//go:build panics\n") {
			t.Errorf("%s injects panics without the build tag", file)
		}
	}
}
