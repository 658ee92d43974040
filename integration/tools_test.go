package integration

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTools copies the whole tree with common tools.
func TestTools(t *testing.T) {
	parallelHeavy(t)
	source := mount(t, sparse.write(t))
	for _, c := range []struct{ tool, script string }{
		{"cp", `cp -a "$1/." "$2"`},
		{"tar", `tar -C "$1" -cf - . | tar -C "$2" -xpf -`},
		{"tar", `tar -C "$1" --sparse -cf - . | tar -C "$2" -xpf -`},
		{"rsync", `rsync -a "$1/" "$2"`},
		{"find", `cd "$1" && find . -type d -exec mkdir -p "$2/{}" \; && find . -type f -exec cp -p {} "$2/{}" \;`},
	} {
		t.Run(c.script, func(t *testing.T) {
			if _, err := exec.LookPath(c.tool); err != nil {
				skipUnlessRequired(t, err.Error())
			}
			target := tempDir(t)
			t.Cleanup(func() { makeRemovable(t, target) })
			cmd := exec.Command("sh", "-ec", c.script, "sh", source, target)
			if r := runCommand(t, cmd); r.code != 0 || r.stderr != "" {
				t.Fatalf("exit code %d: %s", r.code, r.stderr)
			}
			compareTrees(t, source, target)
			compareRanges(t, filepath.Join(target, "color/1/volume.raw"), sparse.box(sparse.min, sparse.max()))
			for c := range sparse.cubes {
				stem := filepath.Join(target, fmt.Sprintf("color/1/z%d/y%d/x%d", c[2], c[1], c[0]))
				compareRanges(t, stem+".raw", sparse.flat())
				compareBlocks(t, stem+".blocks", sparse.model)
			}
		})
	}
}

// compareTrees compares names, kinds, permissions, sizes and times of modification.
func compareTrees(t *testing.T, want, got string) {
	t.Helper()
	describe := func(root string) map[string]string {
		entries := map[string]string{}
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(root, path)
			entries[rel] = info.Mode().Type().String()
			if !d.IsDir() {
				entries[rel] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().Unix())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	original, copied := describe(want), describe(got)
	for name, description := range original {
		if copied[name] != description {
			t.Errorf("%s: the copy is %q, want %q", name, copied[name], description)
		}
	}
	if len(original) != len(copied) || len(original) < 100 {
		t.Errorf("%d entries in the copy, want %d, and at least 100", len(copied), len(original))
	}
}

// makeRemovable makes the directories of a copied read-only tree writable, so that the tree can be removed.
func makeRemovable(t *testing.T, root string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
