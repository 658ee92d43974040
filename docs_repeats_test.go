package wkwfs_test

import (
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repeatWords is how many equal words in a row are a repeat.
const repeatWords = 10

// TestDocumentsSayThingsOnce finds the same ten words in a row at two places of the documents and the package comments.
// Code, tables' lines of dashes and links do not count.
func TestDocumentsSayThingsOnce(t *testing.T) {
	type place struct {
		path string
		word int
	}
	seen := map[string]place{}
	all := documents(t)
	maps.Copy(all, packageComments(t))
	for _, path := range slices.Sorted(maps.Keys(all)) {
		words := wordsIn(all[path])
		last := -repeatWords
		for i := 0; i+repeatWords <= len(words); i++ {
			key := strings.Join(words[i:i+repeatWords], " ")
			if strings.Contains(key, "|") {
				continue // goes over the end of a sentence or of a cell
			}
			before, repeated := seen[key]
			if repeated && i >= last+repeatWords {
				t.Errorf("%s repeats %s: %s", path, before.path, key)
				last = i
			}
			if !repeated {
				seen[key] = place{path, i}
			}
		}
	}
}

var (
	codeBlock   = regexp.MustCompile("(?ms)^```.*?^```$|^    .*?$")
	linkTarget  = regexp.MustCompile(`\]\([^)]*\)`)
	endOfPhrase = regexp.MustCompile(`[.:;!?]+(\s|$)|\||\n\n+|(?m)^[*#] `)
	wordPattern = regexp.MustCompile(`[\pL\pN_'.-]+|\|`)
)

// wordsIn returns the words of a text in Markdown in lower case, with "|" at the end of each sentence and cell.
func wordsIn(text string) []string {
	text = codeBlock.ReplaceAllString(text, " | ")
	text = linkTarget.ReplaceAllString(text, "]")
	text = endOfPhrase.ReplaceAllString(text, " | ")
	return wordPattern.FindAllString(strings.ToLower(text), -1)
}

// packageComments returns the comments of packages by the paths of their files. Each text has the form of Markdown.
func packageComments(t *testing.T) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err == nil && f.Doc != nil {
			all[path] = string(new(comment.Printer).Markdown(new(comment.Parser).Parse(f.Doc.Text())))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
