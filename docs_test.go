package wkwfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSemanticsNameTheirTests holds that each promise in SEMANTICS.md names a test,
// and that each test that is named exists.
func TestSemanticsNameTheirTests(t *testing.T) {
	exists := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(b, -1) {
			exists[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("SEMANTICS.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`")
	promises := 0
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "* ") {
			continue
		}
		promises++
		tests := named.FindAllStringSubmatch(line, -1)
		if len(tests) == 0 {
			t.Errorf("a promise without a test: %s", line)
		}
		for _, m := range tests {
			if !exists[m[1]] {
				t.Errorf("%s does not exist, but holds: %s", m[1], line)
			}
		}
	}
	if promises == 0 {
		t.Error("no promises found")
	}
}
