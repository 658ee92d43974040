package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestEditCommands checks the lines and the exit codes of the commands for annotations and directories of edits.
func TestEditCommands(t *testing.T) {
	dir := refdata.Dir(t, "annotations")
	base := filepath.Join(dir, "base_wkw")
	edits := writable(t, filepath.Join(dir, "unpacked_both"))
	out := filepath.Join(t.TempDir(), "out.zip")
	block := filepath.Join(edits, "data_Volume/4-4-2/z0/y0/x0.wkw")
	left := filepath.Join(edits, "data_Volume/1/z0/y1/.x1.wkw.ABCDEF.tmp")
	old := time.Now().Add(-time.Hour)
	for _, step := range []struct {
		name           string
		change         func() error
		args           []string
		code           int
		stdout, stderr string // patterns
	}{
		{"an archive", nil, []string{"cp", "--annotation", edits, out}, 0, `^$`,
			`an annotation of 1 volume, 12 blocks, `},
		{"it exists", nil, []string{"cp", "--annotation", edits, out}, 1, `^$`, `out\.zip: it exists\nhint: --force`},
		{"it is replaced", nil, []string{"cp", "--annotation", "--force", "-q", edits, out}, 0, `^$`, `^$`},
		{"the same voxels", nil, []string{"diff", "--over", base, edits, out}, 0, `^equal$`, `^$`},
		{"a dry run", nil, []string{"cp", "--annotation", "--dry-run", edits, out + "2"}, 0, `^$`,
			`would be an annotation of .*\n.*nothing is written`},
		{"a directory", nil, []string{"cp", "--annotation", edits, filepath.Dir(out)}, 2, `^$`, `is a directory`},
		{"a dataset", nil, []string{"cp", "--annotation", base, out}, 2, `^$`, `is not a volume annotation`},
		{"no zip", nil, []string{"cp", "--annotation", edits}, 2, `^$`, `missing DEST`},
		{"a flag", nil, []string{"cp", "--annotation", "--all", edits, out}, 2, `^$`, `--all is not for --annotation`},

		{"sound", nil, []string{"check", edits}, 0, `no faults`, ``},
		{"a killed writer", func() error { return cmp.Or(os.WriteFile(left, nil, 0o644), os.Chtimes(left, old, old)) },
			[]string{"check", edits}, 1,
			`^error: data_Volume/1/z0/y1/\.x1\.wkw\.ABCDEF\.tmp: expected no temporary file`, ``},
		{"a writer", func() error { return os.Chtimes(left, time.Now(), time.Now()) }, []string{"check", edits}, 0,
			`no faults`, ``},

		{"some blocks", nil, []string{"edit", "revert", "--dry-run", "--mag", "1", edits, "0-96_0-96_0-96"}, 0,
			`^Volume/1: would remove 5 blocks: `, `^$`},
		{"in part", nil, []string{"edit", "revert", "--mag", "1", edits, "0-90_0-96_0-96"}, 1, `^$`,
			`are in the box in part, such as .*\nhint: --round`},
		{"rounded", nil, []string{"edit", "revert", "--mag", "1", "--round", "--json", edits, "32-60_64-90_0-32"}, 0,
			`^{"layer":"Volume","mag":"1","blocks":1,"boxes":\["32-64_64-96_0-32"\]}$`, `^$`},
		{"again", nil, []string{"edit", "revert", "--mag", "1", "--round", edits, "32-60_64-90_0-32"}, 0,
			`^no blocks in the box$`, `^$`},
		{"seen", nil, []string{"diff", "--over", base, "--mag", "1", out, edits}, 1, `^Volume/1: 32-64_64-96_5-32: `,
			`^$`},
		{"no box", nil, []string{"edit", "revert", edits, "all"}, 2, `^$`, `expected X0-X1_Y0-Y1_Z0-Z1`},
		{"no mag", nil, []string{"edit", "revert", "--mag", "8", edits, "0-1_0-1_0-1"}, 2, `^$`,
			`mag 8: not in the annotation`},
		{"a file", nil, []string{"edit", "revert", out, "0-1_0-1_0-1"}, 2, `^$`, `is not a directory`},
		{"nothing there", nil, []string{"edit", "revert", edits + "2", "0-1_0-1_0-1"}, 1, `^$`, `no such file`},
		{"no command", nil, []string{"edit"}, 2, `^$`, `no command`},
		{"another command", nil, []string{"edit", "rever"}, 2, `^$`, `did you mean revert`},

		{"damage", func() error { return os.Truncate(block, 100) }, []string{"check", edits}, 1,
			`error: data_Volume/4-4-2/`, ``},
		{"no archive of damage", nil, []string{"cp", "--annotation", edits, out + "2"}, 1, `^$`, `x0\.wkw`},
		{"it is removed", nil, []string{"edit", "revert", "--mag", "4-4-2", edits, "0-32_0-32_0-32"}, 0,
			`removing 1 block: 0-32_0-32_0-32`, `^$`},
		{"sound again", nil, []string{"check", edits}, 0, `no faults`, ``},
		{"no NML file", func() error { return os.Remove(filepath.Join(edits, "ann.nml")) }, []string{"check", edits}, 1,
			`^error: expected an NML file beside data_Volume`, `^$`},
	} {
		if step.change != nil {
			if err := step.change(); err != nil {
				t.Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		code := run(step.args, &stdout, &stderr)
		if code != step.code || !regexp.MustCompile("(?m)"+step.stdout).Match(stdout.Bytes()) ||
			!regexp.MustCompile("(?m)"+step.stderr).Match(stderr.Bytes()) {
			t.Errorf("%s: exit code %d, want %d, with %q and %q\n%s%s", step.name, code, step.code, step.stdout,
				step.stderr, stdout.String(), stderr.String())
		}
	}
	if _, err := os.Stat(out + "2"); !os.IsNotExist(err) {
		t.Errorf("a file is left: %v", err)
	}
}

// TestCopyAnnotation: the archives of annotations of all formats show the same voxels over their dataset as their
// sources.
func TestCopyAnnotation(t *testing.T) {
	dir := refdata.Dir(t, "annotations")
	for _, name := range []string{"wkw.zip", "z1b.zip", "z2.zip", "zl.zip", "unpacked_zarr3", "two_layers.zip",
		"topfolder.zip", "backslash.zip", "noname.zip", "edited_mapping.zip"} {
		out := filepath.Join(t.TempDir(), "out.zip")
		var stdout, stderr bytes.Buffer
		if code := run([]string{"cp", "--annotation", filepath.Join(dir, name), out}, &stdout, &stderr); code != 0 {
			t.Errorf("%s: exit code %d: %s", name, code, stderr.String())
			continue
		}
		runDiff(t, 0, "--over", filepath.Join(dir, "base_wkw"), filepath.Join(dir, name), out)
	}
}
