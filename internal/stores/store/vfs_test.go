package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/vfstest"
)

// TestFileSystems: a directory is a file system with its abilities, however its names are resolved, and so is one that
// is scheduled.
func TestFileSystems(t *testing.T) {
	const ofDir = "tree.ChecksKind tree.Stat tree.Lstat tree.ReadDir tree.List tree.Describe file.WillNeed file.Seek"
	const scheduled = " tree.Speed file.Speed file.ReadAtContext file.ReadRanges"
	schedule := func(late bool) func(d *Dir) fs.FS {
		return func(d *Dir) fs.FS {
			s := Schedule(d, Options{})
			setLate(s, late)
			return s
		}
	}
	for what, c := range map[string]struct {
		has  string
		make func(d *Dir) fs.FS
	}{
		"as it is":            {ofDir, func(d *Dir) fs.FS { return d }},
		"resolved by os.Root": {ofDir, func(d *Dir) fs.FS { undecided(d); return d }},
		"guarded":             {ofDir, func(d *Dir) fs.FS { d.Guard(false); return d }},
		"prompt":              {ofDir + scheduled, schedule(false)},
		"late":                {ofDir + scheduled, schedule(true)},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			vfstest.WriteShapes(t, dir)
			if err := os.Symlink("dir", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			d, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			fsys := c.make(d)
			vfstest.Test(t, fsys, vfstest.Expect{
				Files: vfstest.Shapes(), Some: true, Has: c.has,
				Replace: func(name string, content []byte) { vfstest.Write(t, filepath.Join(dir, name), content) },
			})
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := fsys.Open("dir"); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("after Close: got %v", err)
			}
		})
	}
}

func TestScheduledForwards(t *testing.T) {
	const measured = "Scheduled measures how its source answers, or Options say it"
	const inside = "a directory and an object do not have it: the files of a mount do, which are not scheduled"
	i := vfstest.NewInside([]byte("content"))
	vfstest.Forwards(t, i, Schedule(i, Options{}), vfstest.Name, vfstest.Reasons{
		"tree.Speed":      measured,
		"file.Speed":      measured,
		"file.ReadRanges": "it divides ranges among requests itself",
		"file.ReadParts":  "ReadRanges uses it",
		"file.ReadCached": "ReadRanges uses it",
		"file.SeekData":   inside, "file.SeekHole": inside, "file.ReadOnce": inside, "file.Push": inside,
		"file.WriteAtContext": inside, "file.Sync": inside,
	})
}
