package volume_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFormatOutside compiles a format of another module against this one, and runs its tests, without a network. So a
// format needs nothing that is internal: the compiler proves it. The module also has the program of docs/go.md.
func TestFormatOutside(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/outside")); err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(filepath.Join(root, "docs/go.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(document), "```go\n")
	program, _, _ = strings.Cut(program, "```\n")
	if err := os.MkdirAll(filepath.Join(dir, "read"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "read/main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	// The other module needs the same versions of the same modules, and this one.
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		content := string(b)
		if name == "go.mod" {
			content = strings.Replace(content, "module github.com/wkwfs/wkwfs\n", "module example.org/slabs\n", 1) +
				"\nrequire github.com/wkwfs/wkwfs v0.0.0\n\nreplace github.com/wkwfs/wkwfs => " + root + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range []string{"vet ./...", "test -count=1 ."} {
		command := exec.CommandContext(t.Context(), "go", strings.Fields(arguments)...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off", "PWD="+dir)
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", arguments, err, out)
		}
	}
}
