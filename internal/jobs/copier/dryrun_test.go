package copier

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/small/paths"
)

// TestDryRun compares dry runs with copies, of which some files exist, differ or cannot be opened. A dry run writes
// nothing.
func TestDryRun(t *testing.T) {
	for _, c := range []struct {
		name  string
		force bool
		part  batch.Part
	}{{"all", false, batch.Part{}}, {"with force", true, batch.Part{}}, {"a part", false, batch.Part{I: 2, N: 3}}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			files := []*fakeFile{
				{name: "d/f0", size: 5}, {name: "d/f1", size: 3 * rangeBytes}, {name: "d/f2", size: 7},
				{name: "d/f3", size: 0}, {name: "d/f4", size: 11},
			}
			mustRun(t, newFake(files[:3]...), "d", dir, "d")
			if err := os.WriteFile(filepath.Join(dir, "d/f2"), []byte("mine"), 0o666); err != nil {
				t.Fatal(err)
			}
			change := func(o *Options) { o.Force, o.Part = c.force, c.part }
			before := listing(t, dir)
			var would, kept, bytes int64
			output, stats, err := run(t, t.Context(), newFake(files...), "d", dir, "d", func(o *Options) {
				change(o)
				o.DryRun = func(name string, size int64, keep bool) {
					if keep {
						kept++
						return
					}
					would, bytes = would+1, bytes+size
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("a dry run has written:\n%s\nbefore:\n%s", after, before)
			}
			real, did, err := run(t, t.Context(), newFake(files...), "d", dir, "d", change)
			if err != nil || output != real {
				t.Errorf("got %q, and of the copy %q, %v", output, real, err)
			}
			if would != did.CopiedFiles.Load() || bytes != did.CopiedBytes.Load() || kept != did.KeptFiles.Load() ||
				stats.FailedFiles.Load() != did.FailedFiles.Load() {
				t.Errorf("would copy %d files of %d bytes and keep %d, copied %d of %d and kept %d", would, bytes, kept,
					did.CopiedFiles.Load(), did.CopiedBytes.Load(), did.KeptFiles.Load())
			}
			if c.name == "all" && (would != 2 || kept != 2 || !strings.Contains(output, ErrExists.Error())) {
				t.Errorf("would copy %d and keep %d: %s", would, kept, output)
			}
		})
	}
}

// listing returns the names, sizes and times of all that is in a directory.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().Format(time.RFC3339Nano))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDryTarget: a dry run finds the target of a copy, with its errors, and creates nothing.
func TestDryTarget(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"ds", "there"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	source, err := paths.Real("ds")
	if err != nil {
		t.Fatal(err)
	}
	before := listing(t, ".")
	for _, c := range []struct {
		r         Request
		directory bool
		root      string // its name; "": it does not exist
		name      string
		fails     bool
	}{
		{Request{source, "color/1", false, "out"}, true, "", ".", false},
		{Request{source, "color/1", true, "out"}, true, "", ".", false},
		{Request{source, "color/1", true, "there"}, true, "there", ".", false},
		{Request{source, "color/1", false, "there"}, true, "", ".", false},
		{Request{source, "color/1", false, "file"}, true, "", "", true},
		{Request{source, "color/1", false, "no/out"}, true, "", "", true},
		{Request{source, "color/1", false, "ds/out"}, true, "", "", true},
		{Request{source, "color/v.raw", false, "there"}, false, "there", "v.raw", false},
		{Request{source, "color/v.raw", false, "there/w"}, false, "there", "w", false},
		{Request{source, "color/v.raw", false, "no/w"}, false, "", "", true},
		{Request{source, "color/v.raw", false, "file/w"}, false, "", "", true},
	} {
		to, err := c.r.DryTarget(c.directory)
		if (err != nil) != c.fails {
			t.Errorf("%+v: got %v", c.r, err)
		}
		if err != nil {
			continue
		}
		to.Close()
		root := ""
		if to.Root != nil {
			root = filepath.Base(to.Root.Name())
		}
		if root != c.root || to.Name != c.name {
			t.Errorf("%+v: got %q in %q, want %q in %q", c.r, to.Name, root, c.name, c.root)
		}
		if err := to.Complete(); err != nil {
			t.Error(err)
		}
	}
	if after := listing(t, "."); after != before {
		t.Errorf("got %s\nbefore:\n%s", after, before)
	}
}
