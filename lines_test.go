package wkwfs_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the length of a line of Go. A tab counts as four columns.
const maxColumns = 120

// TestLinesAreShort checks that lines of Go have at most 120 columns. A string does not count, because a text
// that is broken cannot be searched for, and neither do directives.
func TestLinesAreShort(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, columns := range columnsOfLines(text) {
			if columns > maxColumns {
				t.Errorf("%s:%d: got %d columns, expected at most %d", path, i+1, columns, maxColumns)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// columnsOfLines returns the columns of each line of a Go file, without those of strings and directives.
func columnsOfLines(text []byte) []int {
	var columns []int
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		columns = append(columns, utf8.RuneCountInString(line)+3*strings.Count(line, "\t"))
	}
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return columns
		case kind == token.STRING, kind == token.COMMENT && strings.HasPrefix(literal, "//go:"):
			for i, part := range strings.Split(literal, "\n") {
				columns[file.Line(pos)-1+i] -= utf8.RuneCountInString(part) + 3*strings.Count(part, "\t")
			}
		}
	}
}

func TestColumnsOfLines(t *testing.T) {
	for text, want := range map[string]int{
		"\tx := 1":          10,
		"x := `a\n\tb` + c": 5,
		"x(\"long\", y)":    6,
		"// µ":              4,
		"//go:build x":      0,
	} {
		got := columnsOfLines([]byte(text))
		if got[0] != want {
			t.Errorf("%q: got %d columns, expected %d", text, got[0], want)
		}
	}
}
