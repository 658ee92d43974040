package integration

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTools copies the whole tree with the tools that people use.
func TestTools(t *testing.T) {
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
			copied := tempDir(t)
			t.Cleanup(func() { makeRemovable(t, copied) })
			cmd := exec.Command("sh", "-ec", c.script, "sh", source, copied)
			if r := runCommand(t, cmd); r.code != 0 || r.stderr != "" {
				t.Fatalf("exit code %d: %s", r.code, r.stderr)
			}
			compareTrees(t, source, copied)
			compareRanges(t, filepath.Join(copied, "color/1/volume.raw"), sparse.box(sparse.min, sparse.max()))
			for c := range sparse.cubes {
				stem := filepath.Join(copied, fmt.Sprintf("color/1/z%d/y%d/x%d", c[2], c[1], c[0]))
				compareRanges(t, stem+".raw", sparse.flat())
				compareBlocks(t, stem+".blocks", sparse.model)
			}
		})
	}
}

// compareTrees compares names, kinds, permissions, sizes and times.
func compareTrees(t *testing.T, want, got string) {
	t.Helper()
	describe := func(root string) map[string]string {
		all := map[string]string{}
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(root, path)
			all[rel] = info.Mode().Type().String()
			if !d.IsDir() {
				all[rel] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().Unix())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	ours, theirs := describe(want), describe(got)
	for name, about := range ours {
		if theirs[name] != about {
			t.Errorf("%s: %q, copied %q", name, about, theirs[name])
		}
	}
	if len(ours) != len(theirs) || len(ours) < 100 {
		t.Errorf("%d entries, %d copied", len(ours), len(theirs))
	}
}

// makeRemovable lets a copy of a read-only tree be removed.
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
